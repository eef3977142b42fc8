"""Writes `operators_indexing.relay`: grids, parts that are replaced, positions along several axes, values that are
each there once; and `operators_einsum.relay`."""
import numpy as np

from cases import Program, rng, tame, whole
from values import FLOATS, Tensor, like

SOME = ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64"]


def grids(p):
    for dtype in ("bool", "int8", "bfloat16", "float64"):
        for indexing in ("ij", "xy"):
            x, y, z = tame(dtype, 2), tame(dtype, 3), tame(dtype)
            for names in ("x", "xy", "yxz", "zx") if dtype == "float64" else ("yxz",):
                inputs = {k: {"x": x, "y": y, "z": z}[k] for k in names}
                grid = np.meshgrid(*(v.a for v in inputs.values()), indexing=indexing)
                p.case(f"grid_{dtype}_{indexing}_{names}",
                       [(f'meshgrid(({", ".join(f"%{k}" for k in names)},), indexing="{indexing}")',
                         tuple(like(x, g) for g in grid))], inputs)
    empty = Tensor("float32", np.zeros(0))
    p.case("grid_empty", [("meshgrid((%x, %y))", (like(empty, np.zeros((0, 2))),) * 2)],
           {"x": empty, "y": tame("float32", 2)})
    # Extents that only the run tells, in what is fused with a grid.
    x, y = tame("float32", 3), tame("float32", 2)
    a, b = np.meshgrid(x.a, y.a, indexing="ij")
    p.define("grid_used", ["%x: Tensor[(n,), float32]", "%y: Tensor[(m,), float32]"],
             ["{ let %g = meshgrid((%x, %y)); %g.0 * %g.1 + expand_dims(%x, axis=1) }"])
    p.run("grid_used", {"x": x, "y": y}, [like(x, a * b + x.a[:, None])], 1e-6)


def replaced(p):
    cases = [((5,), [1], [4], [1]), ((5,), [-3], [-1], [1]), ((5,), [4], [-6], [-2]), ((5,), [0], [9], [2]), ((3, 4), [1], [2], []),
             ((3, 4), [0, 1], [3, 4], [2, 2]), ((3, 4), [0, -1], [3, 0], [1, -1]), ((2, 2), [1, 1], [1, 2], [1, 1]), ((), [], [], [])]
    for dtype in SOME:
        for i, (shape, begin, end, strides) in enumerate(cases if dtype == "float32" else cases[1:2]):
            x = tame(dtype, *shape)
            part = tuple(slice(b, None if s < 0 and e < -n else e, s)
                         for b, e, s, n in zip(begin, end, strides or [1] * len(begin), shape))
            v = tame(dtype, *x.a[part].shape)
            y = x.a.copy()
            y[part] = v.a
            inputs = {"x": x, "v": v, "b": Tensor("int64", np.array(begin)), "e": Tensor("int32", np.array(end))}
            call = "strided_set(%x, %v, %b, %e" + (f", [{', '.join(map(str, strides))}]" if strides else "") + ")"
            p.define(f"set_{dtype}_{i}", [f"%x: {x.type()}", f"%v: {v.type()}", f"%b: Tensor[({len(begin)},), int64]",
                                          f"%e: Tensor[({len(end)},), int32]"], [constant_strides(call)])
            p.run(f"set_{dtype}_{i}", inputs, [like(x, y)])
    p.fails("set_float32_0", {"x": tame("float32", 5), "v": tame("float32", 2), "b": Tensor("int64", [1]), "e": Tensor("int32", [4])},
            "strided_set: dimension 0 of the values is 2; 3 elements are replaced")


def constant_strides(call):
    """A list of numbers as an operand: numbers that are put together."""
    head, _, tail = call.partition(", [")
    if not tail:
        return call
    numbers = tail.rstrip("])").split(", ")
    return f"{head}, stack(({', '.join(n + 'i64' for n in numbers)},)))"


def positions(p):
    for dtype in ("bool", "uint64", "float16", "float32"):
        x = tame(dtype, 3, 4, 2)
        places = [((2,), (2,)), ((1, 3), (2, 1)), ((), (2,)), ((0,), (0,)), ((2, 2), ())]
        for index, (i, j) in enumerate(places if dtype == "float32" else places[1:2]):
            a = Tensor("int64", rng.integers(-3, 3, i))
            b = Tensor("int8", rng.integers(-4, 4, j))
            k = Tensor("uint8", rng.integers(0, 2, j))
            p.case(f"index_{dtype}_{index}",
                   [("adv_index((%x, %a))", like(x, x.a[a.a])), ("adv_index((%x, %a, %b))", like(x, x.a[a.a, b.a])),
                    ("adv_index((%x, %a, %b, %k))", like(x, x.a[a.a, b.a, k.a]))], {"x": x, "a": a, "b": b, "k": k})
    p.define("outside", ["%x: Tensor[(?, ?), float32]", "%i: Tensor[(?,), int32]"], ["adv_index((%x, %i))"])
    x = tame("float32", 3, 2)
    for wrong in (3, -4):
        p.fails("outside", {"x": x, "i": Tensor("int32", [0, wrong])}, "adv_index: an index is out of range")
    p.fails("outside", {"x": tame("float32", 0, 2), "i": Tensor("int32", [0])}, "adv_index: the data has no elements along axis 0 (0)")
    p.run("outside", {"x": tame("float32", 0, 2), "i": Tensor("int32", np.zeros(0))}, [Tensor("float32", np.zeros((0, 2)))])


def distinct(p):
    for dtype in ["bool", "int8", "uint64", "int32"] + FLOATS:
        for count in (9, 1, 0) if dtype == "float32" else (7,):
            x = Tensor(dtype, rng.integers(0, 2 if dtype == "bool" else 4, count))
            if dtype in FLOATS and count > 6:
                x = Tensor(dtype, np.array([2, np.nan, -0.0, 1, np.nan, 0.0, -np.inf, 2, np.inf][:count]))
            results = []
            for is_sorted in (True, False):
                values, first, inverse, counts = np.unique(x.a, return_index=True, return_inverse=True, return_counts=True)
                if not is_sorted:
                    order = np.argsort(first)
                    place = np.argsort(order)
                    first, counts, inverse = first[order], counts[order], place[inverse] if count else inverse
                values = x.a[first]
                for with_counts in (False, True):
                    result = (like(x, values), Tensor("int32", first), Tensor("int32", inverse), Tensor("int32", [len(values)]))
                    results.append((f"unique(%x, sorted={is_sorted}, return_counts={with_counts})",
                                    result + ((Tensor("int32", counts),) if with_counts else ())))
            p.case(f"unique_{dtype}_{count}", results, {"x": x})


def equations(p):
    shapes = {"a": 3, "i": 2, "j": 3, "k": 4, "l": 2, "b": 2, "h": 1, "q": 3, "d": 2}
    cases = ["ij,jk->ik", "ij,jk", "bij,bjk->bik", "bhqd,bhkd->bhqk", "ij->ji", "ij->", "i,i", "i,j->ij", "ii", "ii->i",
             "ij,kj,kl->il", "ij,ij->i", "ijk,jil->kl", "iij->j", ",ij->i", "kij,j->ik", "ij,k->", "ba", "ijij->ij"]
    for dtype in ("int8", "float16", "bfloat16", "float32", "float64"):
        for number, equation in enumerate(cases if dtype == "float32" else cases[1:2]):
            operands = equation.split("->")[0].split(",")
            inputs = {f"x{i}": whole(dtype, *(shapes[c] for c in labels)) for i, labels in enumerate(operands)}
            exact = [t.a.astype(np.float64 if dtype in FLOATS else np.int64) for t in inputs.values()]
            value = np.einsum(equation, *exact)
            value = Tensor(dtype, value) if dtype in FLOATS else Tensor(dtype, np.asarray(value).astype(dtype))
            p.case(f"einsum_{dtype}_{number}",
                   [(f'einsum(({", ".join("%" + k for k in inputs)},), equation="{equation}")', value)], inputs)
    a, b = whole("float32", 2, 3, 4), whole("float32", 2, 4, 2)
    v = whole("float32", 4)
    p.case("ellipses", [('einsum((%a, %b), equation="...ij,...jk->...ik")', like(a, a.a @ b.a)),
                        ('einsum((%a, %v), equation="...j,j->...")', like(a, a.a @ v.a)),
                        ('einsum((%a,), equation="i...->...i")', like(a, np.moveaxis(a.a, 0, -1))),
                        ('einsum((%v, %a), equation="...,ij...->ij...")', like(a, v.a * a.a + 0))],
           {"a": a, "b": b, "v": v})
    empty = whole("float32", 0, 3)
    p.case("nothing", [('einsum((%x, %y), equation="ij,jk->ik")', Tensor("float32", np.zeros((0, 2)))),
                       ('einsum((%x, %x), equation="ij,ik->jk")', Tensor("float32", np.zeros((3, 3)))),
                       ('einsum((%x,), equation="ij->j")', Tensor("float32", np.zeros(3)))], {"x": empty, "y": whole("float32", 3, 2)})
    # Sums and products that overflow float16 on the way.
    half = Tensor("float16", [[256.0, 256.0, -256.0, -256.0]])
    p.case("wide", [('einsum((%x, %y), equation="ij,ij->i")', Tensor("float16", [0.0]))],
           {"x": half, "y": Tensor("float16", [[256.0, 256.0, 256.0, 256.0]])})
    p.define("letters", ["%x: Tensor[(?, ?), float32]", "%y: Tensor[(?, ?), float32]"], ['einsum((%x, %y), equation="ij,jk->ik")'])
    p.fails("letters", {"x": whole("float32", 2, 3), "y": whole("float32", 2, 3)},
            "einsum: dimension 0 of operand 1 is 2; another with its letter is 3")


if __name__ == "__main__":
    for name, summary, parts in (("indexing", "Grids, parts, positions and distinct values.", (grids, replaced, positions, distinct)),
                                 ("einsum", "Sums of products over named axes.", (equations,))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()
