"""Writes `operators_order.relay`: sort, argsort and topk, and the kernels that they become."""
import numpy as np

from cases import Program, floats, integers, rng, tame
from values import FLOATS, INTEGERS, Tensor, like


def order(column, ascending):
    """Indices in order: NaN is the greatest, -0 is 0, equal ones stay as they are, both ways."""
    return sorted(range(len(column)), key=lambda i: (bool(np.isnan(column[i])), 0 if np.isnan(column[i]) else column[i]),
                  reverse=not ascending)


def orders(a, axis, ascending):
    """Of every column along the axis; booleans and integers have no NaN."""
    a = a.astype(np.int64) if a.dtype == np.bool_ else a
    if a.size == 0:
        return np.zeros(a.shape, np.int64)
    python = a.astype(object) if a.dtype in (np.int64, np.uint64) else a
    return np.apply_along_axis(lambda c: np.array(order([x if isinstance(x, int) else float(x) for x in c], ascending)),
                               axis, python).astype(np.int64)


def ordering():
    p = Program("operators_order", "Operators that put elements in order.")
    for dtype in ["bool"] + INTEGERS + FLOATS:
        for shape, axis in (((2, 3, 4), 1), ((2, 9), -1), ((5, 1), 0), ((0, 3), 0), ((3, 0), 0), ((12,), 0)):
            if len(shape) == 1 and dtype != "bool":
                x = floats(dtype, 12) if dtype in FLOATS else integers(dtype, 12)
            else:
                x = tame(dtype, *shape) if rng.integers(2) else Tensor(dtype, rng.integers(0, 3, shape))
            r = []
            for up in (True, False):
                o = orders(x.a, axis, up)
                sorted_ = np.take_along_axis(x.a, o, axis)
                r += [(f"sort(%x, axis={axis}, is_ascend={up})", like(x, sorted_)),
                      (f"argsort(%x, axis={axis}, is_ascend={up})", Tensor("int32", o))]
                for k in (0, 1, 2):
                    if k > shape[axis]:
                        continue
                    first = np.take(o, range(k or shape[axis]), axis)
                    both = (like(x, np.take_along_axis(x.a, first, axis)), Tensor("int64", first))
                    call = f'topk(%x, k={k}, axis={axis}, is_ascend={up}, dtype="int64"'
                    r += [(call + ")", both), (call + ', ret_type="values")', both[0]),
                          (call + ', ret_type="indices")', both[1])]
            p.case(f"{dtype}_{'x'.join(map(str, shape))}", r, {"x": x})
    x = tame("float32", 2, 5)
    down = orders(x.a, 1, False)
    p.define("given", ["%x: Tensor[(n, m), float32]", "%k: int64"], ["topk(%x, %k)"])
    for k in (1, 3, 5, 0, -2):
        first = np.take(down, range(k if k > 0 else 5), 1)
        p.run("given", {"x": x, "k": Tensor("int64", k)},
              [(like(x, np.take_along_axis(x.a, first, 1)), Tensor("int32", first))])
    p.fails("given", {"x": x, "k": Tensor("int64", 6)}, "topk: k (6) is greater than the extent of the axis (5)")
    for dtype in ("int8", "uint8", "float32", "int64"):
        p.case(f"indices_{dtype}", [(f'argsort(%x, dtype="{dtype}")', Tensor(dtype, orders(x.a, 1, True)))], {"x": x})
    y = tame("float32", 2, 3, 2)
    o = orders(y.a, 1, True)
    first = np.take(o, range(2), 1)
    p.case("kernels", [("library.sort(%y, True)", like(y, np.take_along_axis(y.a, o, 1))),
                       ('library.argsort(%y, True, dtype="int64")', Tensor("int64", o)),
                       ('library.topk(%y, True, 2i64, dtype="int32")',
                        (like(y, np.take_along_axis(y.a, first, 1)), Tensor("int32", first)))], {"y": y})
    p.write()


if __name__ == "__main__":
    ordering()
