"""Writes `operators_like.relay`: operators that take shapes from other tensors, and axes that only the run tells."""
import numpy as np

from cases import Program, tame
from values import Tensor, like

DTYPES = ("float32", "bool", "float16", "int64")


def shaped(p):
    for dtype in DTYPES:
        for shape, other in (((3,), (2, 3)), ((2, 1), (2, 4)), ((), (2, 2)), ((), ()), ((1, 3), (0, 3)), ((0,), (2, 0)))[:6 if dtype == "float32" else 2]:
            x, o = tame(dtype, *shape), tame("int32", *other)
            p.case(f"broadcast_{dtype}_{len(shape)}_{len(other)}",
                   [("broadcast_to_like(%x, %o)", like(x, np.broadcast_to(x.a, other)))], {"x": x, "o": o})
        for shape, other, attrs, result in (
                ((2, 6), (3, 4), "", (3, 4)), ((0, 5), (3, 0), "", (3, 0)), ((), (1, 1), "", (1, 1)),
                ((1,), (), "", ()), ((2, 3, 4), (7, 12, 9), "lhs_begin=1, rhs_begin=1, rhs_end=2", (2, 12)),
                ((2, 3, 4), (6, 5), "lhs_begin=0, lhs_end=2, rhs_end=1", (6, 4)),
                ((2, 12), (5, 3, 4), "lhs_begin=-1, rhs_begin=-2", (2, 3, 4)),
                ((4, 1, 2), (4, 9), "lhs_begin=1, lhs_end=-1, rhs_begin=1, rhs_end=-1", (4, 2)))[:8 if dtype == "float32" else 1]:
            x, o = tame(dtype, *shape), tame("float32", *other)
            name = f"reshape_{dtype}_{len(shape)}_{len(other)}_" + "".join(c for c in attrs if c.isdigit())
            p.case(name, [(f"reshape_like(%x, %o{', ' if attrs else ''}{attrs})", like(x, x.a.reshape(result)))],
                   {"x": x, "o": o})
        for shape, other, axes in (((3, 4), (2, 3), None), ((3, 4), (3, 4), None), ((3, 4), (0, 1), None),
                                   ((3, 4), (2,), None), ((3,), (2, 9), None), ((3, 4), (9, 2), [1]),
                                   ((2, 3, 4), (1, 9, 2), [0, -1]), ((3, 4), (1, 1), []), ((), (), None),
                                   ((0, 2), (0, 1), None))[:10 if dtype == "float32" else 2]:
            x, o = tame(dtype, *shape), tame("uint8", *other)
            at = range(min(len(shape), len(other))) if not axes else [a % len(shape) for a in axes]
            part = tuple(slice(other[i] if i in at else None) for i in range(len(shape)))
            call = "slice_like(%x, %o" + ("" if axes is None else f", axes={axes}") + ")"
            name = f"slice_{dtype}_{len(shape)}_{len(other)}_{'all' if axes is None else len(axes)}"
            p.case(name, [(call, like(x, x.a[part]))], {"x": x, "o": o})
        for shape, new, result in (((10, 5, 4), [-1, 0], (50, 4)), ((2, 3, 4), [-3, 0], (6, 4)), ((2, 3, 4), [-2, -3], (2, 12)),
                                   ((2, 3, 4), [-2, 0], (2, 3, 4)), ((2, 12), [2, -1, 4], (2, 3, 4)),
                                   ((6,), [2, -1], (2, 3)), ((1,), [], ()), ((), [1, 1], (1, 1)))[:8 if dtype == "float32" else 1]:
            x = tame(dtype, *shape)
            p.case(f"reverse_{dtype}_{len(shape)}_" + "_".join(map(str, new)).replace("-", "m"),
                   [(f"contrib_reverse_reshape(%x, newshape={new})", like(x, x.a.reshape(result)))], {"x": x})
        x = tame(dtype, 0, 3)
        p.case(f"reverse_empty_{dtype}",
               [("contrib_reverse_reshape(%x, newshape=[3, 0], allowzero=True)", like(x, x.a.reshape(3, 0))),
                ("contrib_reverse_reshape(%x, newshape=[3, 0, 0])", like(x, x.a.reshape(3, 0, 3)))], {"x": x})
        for shape in ((), (4,), (2, 3), (1, 2, 3, 4), (0, 5), (0,))[:6 if dtype == "float32" else 1]:
            x = tame(dtype, *shape)
            p.case(f"size_{dtype}_{len(shape)}",
                   [("ndarray_size(%x)", Tensor("int32", x.a.size)),
                    ('ndarray_size(%x, dtype="int64")', Tensor("int64", x.a.size)),
                    ('ndarray_size(%x, dtype="uint8")', Tensor("uint8", x.a.size)),
                    ("ndarray_size(%x) * 2", Tensor("int32", 2 * x.a.size))], {"x": x})


def dynamic(p):
    for index in ("int32", "int64"):
        for shape in ((2, 3), (4,), (), (0, 2)) if index == "int32" else ((2, 3),):
            x = tame("float32", *shape)
            rank = len(shape)
            for axis in range(-rank - 1, rank + 1):
                at = axis % (rank + 1)
                results = []
                for count in (0, 1, 2):
                    attrs = "" if count == 1 else f", num_newaxis={count}"
                    results.append((f"dyn.expand_dims(%x, %axis{attrs})",
                                    like(x, x.a.reshape(shape[:at] + (1,) * count + shape[at:]))))
                p.case(f"expand_{index}_{rank}", results, {"x": x, "axis": Tensor(index, axis)})
            p.case(f"expand_vector_{index}_{rank}",
                   [("dyn.expand_dims(%x, %axis)", like(x, x.a.reshape(shape + (1,))))],
                   {"x": x, "axis": Tensor(index, [-1])}, dims={"axis": "1"})
            p.case(f"expand_known_{index}_{rank}",
                   [(f"dyn.expand_dims(%x, {0 if index == 'int32' else '0i64'})", like(x, x.a.reshape((1,) + shape)))],
                   {"x": x})
        for shape, axes in (((1, 3, 1), [0]), ((1, 3, 1), [2]), ((1, 3, 1), [0, 2]), ((1, 3, 1), [-1, 0]),
                            ((2, 1), [1]), ((2, 1), [-1]), ((1,), [0]), ((1, 1, 1), [1]), ((1, 1, 1), [2, 0]),
                            ((2, 3), []), ((0, 1), [1]), ((1, 1), [0, 1]))[:12 if index == "int32" else 3]:
            x = tame("float32", *shape)
            result = tuple(n for i, n in enumerate(shape) if i not in [a % len(shape) for a in axes])
            p.case(f"squeeze_{index}_{len(shape)}_{len(axes)}",
                   [("dyn.squeeze(%x, %axes)", like(x, x.a.reshape(result)))], {"x": x, "axes": Tensor(index, axes)},
                   dims={"axes": str(len(axes))})
    x = tame("float32", 2, 3)
    p.fails("expand_int32_2", {"x": x, "axis": Tensor("int32", 3)}, "dyn.expand_dims: axis 3 is outside [-3, 3)")
    p.fails("expand_int32_2", {"x": x, "axis": Tensor("int32", -4)}, "dyn.expand_dims: axis -4 is outside [-3, 3)")
    y = tame("float32", 1, 3, 1)
    p.fails("squeeze_int32_3_1", {"x": y, "axes": Tensor("int32", [1])},
            "dyn.squeeze: dimension 1 of the data is 3; expected 1")
    p.fails("squeeze_int32_3_1", {"x": y, "axes": Tensor("int32", [3])}, "dyn.squeeze: axis 3 is outside [-3, 3)")
    p.fails("squeeze_int32_3_2", {"x": y, "axes": Tensor("int32", [0, -3])}, "dyn.squeeze: an axis is listed twice")


def failures(p):
    x = tame("float32", 2, 3)
    p.fails("broadcast_float32_1_2", {"x": tame("float32", 3), "o": tame("int32", 2, 2)},
            "broadcast_to_like: the shape (3,) cannot be broadcast to (2, 2)")
    p.fails("reshape_float32_2_2_", {"x": x, "o": tame("float32", 2, 2)},
            "reshape_like: the shapes (2, 3) and (2, 2) have different numbers of elements")
    p.fails("slice_float32_2_2_all", {"x": x, "o": tame("uint8", 2, 4)},
            "slice_like: dimension 1 of the shape (4) is greater than that of the data (3)")
    p.fails("reverse_float32_2_2_m1_4", {"x": x},
            "contrib_reverse_reshape: the shapes (2, 3) and (2, 0, 4) have different numbers of elements")
    p.fails("size_float32_2", {"x": tame("float32", 16, 16)}, "ndarray_size: 256 does not fit uint8")


if __name__ == "__main__":
    program = Program("operators_like", "Operators that take shapes from other tensors.")
    shaped(program)
    dynamic(program)
    failures(program)
    program.write()
