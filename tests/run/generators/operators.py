#!/usr/bin/python3
"""Writes programs/operators_*.relay: every operator with the values that numpy gives, over dtypes,
broadcasting, and extents of 0 and 1. What the values mean is said in docs/semantics.md, and numpy's own
answer is used wherever that is the same; `values.py` says where it is not."""

import itertools
import math

import numpy as np

from cases import Program, TOLERANCE, integers, floats, tame, whole, rng
from products import products
from values import FLOATS, INTEGERS, SIGNED, Tensor, converted, like, maximum, minimum, shifted, truncated, wide

COMMON = ["int8", "int32", "int64", "uint8"]  # of tensors; scalars are of all dtypes


def unary():
    p = Program("operators_unary", "Operators of one operand.")
    exact = {
        "negative": np.negative, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
        "round": np.round, "copy": lambda x: x,
        "sign": lambda x: np.where(x > 0, 1, np.where(x < 0, -1, np.where(x == 0, 0, np.nan)))
        if x.dtype.kind == "f" else np.sign(x),
        "nn.relu": lambda x: maximum(x, np.zeros_like(x)),
    }
    predicates = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
    for dtype in FLOATS + INTEGERS:
        name = dtype
        results = [f"{op}(%x)" for op in exact]
        results.append("clip(%x, a_min=1f, a_max=2.25f)")
        isFloat = dtype in FLOATS
        results += [f"{op}(%x)" for op in predicates] if isFloat else ["bitwise_not(%x)"]
        isTensor = dtype in FLOATS + COMMON
        if isTensor:
            p.define(name, [f"%x: Tensor[(?,), {dtype}]"], results)
        p.define(name + "_scalar", [f"%x: {dtype}"], results)
        make = floats if isFloat else integers
        for x in (make(dtype, 17), make(dtype, 1), make(dtype, 0)):
            w = wide(x)
            high = np.asarray(2.25).astype(w.dtype)
            expected = [like(x, w if op in ("floor", "ceil", "trunc", "round") and not isFloat else f(w))
                        for op, f in exact.items()]
            expected.append(like(x, minimum(maximum(w, np.ones_like(w)), high + np.zeros_like(w))))
            expected += ([Tensor("bool", f(w)) for f in predicates.values()] if isFloat
                         else [like(x, np.invert(w))])
            if isTensor:
                p.run(name, {"x": x}, expected)
            for i in range(min(len(x.a), 9)):
                scalar = lambda t: Tensor(t.dtype, t.a[i])
                p.run(name + "_scalar", {"x": scalar(x)}, [scalar(e) for e in expected])
    for shape in ((2, 3), (0, 3), ()):
        x = tame("bool", *shape)
        p.case(f"bools_{len(shape)}",
               [("logical_not(%x)", like(x, ~x.a)), ("bitwise_not(%x)", like(x, ~x.a)), ("copy(%x)", x)],
               {"x": x})
    p.write()

    p = Program("operators_functions", "Functions of floats, to 4 units in the last place.")
    functions = {
        "exp": np.exp, "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
        "erf": np.vectorize(math.erf, otypes=[float]),
    }
    positive = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x)}
    for group, low, table in (("any", -3, functions), ("positive", 0.25, positive)):
        for dtype in FLOATS:
            for shape in ((4,), (1,), (0,), ()):
                x = tame(dtype, *shape, low=low, high=3)
                results = [(f"{op}(%x)", like(x, f(x.a.astype(np.float64)))) for op, f in table.items()]
                p.case(f"{group}_{dtype}_{len(shape)}", results, {"x": x}, TOLERANCE[dtype])
    edge = Tensor("float32", [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 4.0])
    w = edge.a.astype(np.float64)
    p.case("edges", [("exp(%x * %zero + where(isfinite(%x), zeros_like(%x), %x))",
                      Tensor("float32", [1, 1, np.nan, np.nan, np.nan, 1, 1, 1])),
                     ("sqrt(%x)", like(edge, np.sqrt(w))),
                     ("rsqrt(%x)", like(edge, 1 / np.sqrt(w)))],
           {"x": edge, "zero": Tensor("float32", np.zeros(8))})
    limits = Tensor("float32", [np.inf, -np.inf, np.nan, 100, -110])
    p.case("limits", [("exp(%x)", like(limits, [np.inf, 0, np.nan, np.inf, 0])),
                      ("tanh(%x)", like(limits, [1, -1, np.nan, 1, -1])),
                      ("sigmoid(%x)", like(limits, [1, 0, np.nan, 1, 0])),
                      ("erf(%x)", like(limits, [1, -1, np.nan, 1, -1])),
                      ("log(%x)", like(limits, [np.inf, np.nan, np.nan, np.log(100.0), np.nan]))],
           {"x": limits}, 5e-7)
    p.write()


def binary():
    p = Program("operators_arithmetic", "Arithmetic of two operands, with broadcasting.")
    floatOps = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
        "floor_divide": lambda a, b: np.floor(a / b), "trunc_divide": lambda a, b: np.trunc(a / b),
        "mod": np.fmod, "trunc_mod": np.fmod,
        "floor_mod": np.mod,
        "maximum": maximum, "minimum": minimum,
    }
    integerOps = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": truncated,
        "floor_divide": np.floor_divide, "trunc_divide": truncated, "mod": np.fmod, "trunc_mod": np.fmod,
        "floor_mod": np.mod, "maximum": np.maximum, "minimum": np.minimum,
        "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
        "left_shift": lambda a, b: shifted(a, b, True), "right_shift": lambda a, b: shifted(a, b, False),
    }
    shapes = [((2, 3), (3,)), ((0, 3), (3,)), ((1, 3), (1,)), ((4,), (2, 1)), ((), (4,)), ((), (0,)), ((), ())]
    for dtype in FLOATS + INTEGERS:
        isFloat = dtype in FLOATS
        table = floatOps if isFloat else integerOps
        for sa, sb in shapes:
            if (sa, sb) != ((), ()) and dtype not in ("float32", "int32"):
                continue
            a, b = tame(dtype, *sa), tame(dtype, *sb)
            if isFloat:
                b = like(b, np.where(np.abs(b.a) < 0.25, b.a + 1, b.a))
            else:
                b = like(b, np.where(b.a == 0, 3, b.a))
            results = [(f"{op}(%a, %b)", Tensor(dtype, f(wide(a), wide(b)))) for op, f in table.items()]
            p.case(f"{dtype}_{len(sa)}_{len(sb)}", results, {"a": a, "b": b})
    for dtype in INTEGERS:
        a = integers(dtype, 8)
        counts = np.array([1, 2, 100, 3, a.a.dtype.itemsize * 8, a.a.dtype.itemsize * 8 - 1, 0, 5])
        if dtype in SIGNED:
            counts[3] = -1
        b = like(a, counts)
        wraps = {k: integerOps[k] for k in ("add", "subtract", "multiply", "left_shift", "right_shift",
                                            "bitwise_and", "bitwise_or", "bitwise_xor", "maximum", "minimum")}
        results = [(f"{op}(%a, %b)", like(a, f(a.a, b.a))) for op, f in wraps.items()]
        if dtype in COMMON:
            p.case(f"edges_{dtype}", results, {"a": a, "b": b}, dims={"a": "n", "b": "n"})
            c = like(b, np.where(b.a == 0, 3, np.where(b.a == -1, 2, b.a)))
            divisions = {k: f for k, f in integerOps.items() if "div" in k or "mod" in k}
            p.case(f"divisions_{dtype}", [(f"{op}(%a, %b)", like(a, f(a.a, c.a))) for op, f in divisions.items()],
                   {"a": a, "b": c}, dims={"a": "n", "b": "n"})
        for i in range(len(a.a)):
            p.case(f"edges_scalar_{dtype}", [(e, Tensor(v.dtype, v.a[i])) for e, v in results],
                   {"a": Tensor(dtype, a.a[i]), "b": Tensor(dtype, b.a[i])})
    for dtype in FLOATS:
        values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5]
        pairs = np.array(list(itertools.product(values, values)))
        a, b = Tensor(dtype, pairs[:, 0]), Tensor(dtype, pairs[:, 1])
        usual = {k: floatOps[k] for k in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "mod",
                                          "trunc_mod", "floor_mod", "floor_divide", "trunc_divide")}
        p.case(f"edges_{dtype}", [(f"{op}(%a, %b)", like(a, f(wide(a), wide(b)))) for op, f in usual.items()],
               {"a": a, "b": b}, dims={"a": "n", "b": "n"})
    a, b = Tensor("bool", [0, 0, 1, 1]), Tensor("bool", [0, 1, 0, 1])
    p.case("bools", [(f"{op}(%a, %b)", like(a, f(a.a, b.a))) for op, f in {
        "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
        "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
        "add": np.logical_or, "multiply": np.logical_and, "maximum": np.logical_or,
        "minimum": np.logical_and}.items()], {"a": a, "b": b},
           dims={"a": "n", "b": "n"})
    p.write()

    p = Program("operators_comparison", "Comparisons and choices, with broadcasting.")
    comparisons = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
                   "greater": np.greater, "greater_equal": np.greater_equal}
    for dtype in FLOATS + INTEGERS + ["bool"]:
        for sa, sb in (((3, 3), (3,)), ((0, 3), (1,)), ((9,), (9,)), ((0,), (0,)), ((), ())):
            if sa and (dtype not in FLOATS + COMMON + ["bool"] or (len(sa) == 2) != (dtype == "float32")):
                continue
            if dtype in FLOATS and sa in ((3, 3), (9,)):
                a = Tensor(dtype, [1.5, -2, 0, np.nan, np.inf, -np.inf, -0.0, 1.5, 3], sa)
                b = Tensor(dtype, [1.5, np.nan, 0.0] * (sb[0] // 3))
            elif dtype in INTEGERS and sa == (9,):
                a, b = integers(dtype, 9), integers(dtype, 9)
            else:
                a, b = tame(dtype, *sa), tame(dtype, *sb)
            c = tame("bool", *sb)
            results = [(f"{op}(%a, %b)", Tensor("bool", f(a.a, b.a))) for op, f in comparisons.items()]
            results.append(("where(%c, %a, %b)", like(a, np.where(c.a, a.a, b.a))))
            results.append(("where(%c, %b, %a)", like(a, np.where(c.a, b.a, a.a))))
            p.case(f"{dtype}_{len(sa)}", results, {"a": a, "b": b, "c": c},
                   dims=dict.fromkeys("abc", "n") if len(sa) == 1 else {})
    p.write()


def casts():
    p = Program("operators_cast", "Conversions between all dtypes.")
    everything = ["bool"] + INTEGERS + FLOATS
    for dtype in everything:
        if dtype == "bool":
            x = Tensor(dtype, [0, 1, 1])
        elif dtype in INTEGERS:
            x = integers(dtype, 9)
        elif dtype == "float16":
            x = Tensor(dtype, [0.0, -0.0, np.inf, -np.inf, np.nan, 0.75, -0.75, 3.5, -300, 65504, 6e-8])
        else:
            x = Tensor(dtype, [0.0, -0.0, np.inf, -np.inf, np.nan, 0.75, -0.75, 129.5, -129.5, 70000.0, 1e-9,
                               3e9, -3e9, 1e19, -1e19, 1e30, 2049.0, 2051.0, 0.1])
        results = []
        for target in everything:
            results.append((f'cast(%x, dtype="{target}")', converted(x, target)))
        for target in ("int8", "float16", "bool", "float64"):
            results.append((f'cast_like(%x, zeros(shape=[2, 0], dtype="{target}"))', converted(x, target)))
        for target in everything[1:]:
            if target != dtype and dtype != "bool" and "bfloat16" not in (target, dtype) and \
                    np.dtype(target).itemsize == x.a.dtype.itemsize:
                bits = np.where(np.isnan(x.a), np.array(np.nan, x.a.dtype), x.a) if dtype in FLOATS else x.a
                if dtype in FLOATS:
                    bits = np.where(np.isnan(bits), np.abs(bits), bits)
                results.append((f'reinterpret(%x, dtype="{target}")', Tensor(target, bits.view(target))))
        if dtype == "bfloat16":
            top = (np.where(np.isnan(x.a), np.float32(np.nan), x.a).view(np.uint32) >> 16).astype(np.uint16)
            results.append(('reinterpret(%x, dtype="uint16")', Tensor("uint16", top)))
            results.append(('reinterpret(reinterpret(%x, dtype="int16"), dtype="bfloat16")', x))
        if dtype in ("bool", "int8", "int32", "uint64", "float16", "bfloat16", "float32", "float64"):
            p.case(dtype, results, {"x": x})
            p.case(dtype, [(e, Tensor(v.dtype, [])) for e, v in results], {"x": Tensor(dtype, [])})
        for i in range(len(x.a)):
            p.case(dtype + "_scalar", [(e, Tensor(v.dtype, v.a[i])) for e, v in results],
                   {"x": Tensor(dtype, x.a[i])})
    p.write()


def reductions():
    p = Program("operators_reduction", "Reductions.")
    variants = [("", (0, 1, 2), False), ("axis=[0, 2], keepdims=True", (0, 2), True), ("axis=[-1]", (2,), False),
                ("axis=[1], exclude=True", (0, 2), False), ("axis=[]", (), False)]

    def call(op, attrs):
        return f"{op}(%x{', ' if attrs else ''}{attrs})"

    def accumulated(f, x, axes, keep):
        """In the type itself: numpy widens small integers, which wrap here."""
        if x.dtype.kind == "f":
            return f(x, axis=axes, keepdims=keep)
        return f(x, axis=axes, keepdims=keep, dtype=x.dtype)

    def chosen(dtype):
        return variants if dtype in ("float32", "int32") else variants[:2]

    for dtype in FLOATS + COMMON:
        lowest, highest = ((-np.inf, np.inf) if dtype in FLOATS else
                           (np.iinfo(dtype).min, np.iinfo(dtype).max))
        for shape in ((2, 3, 5), (1, 1, 1), (0, 3, 2), (2, 3, 0)):
            x = whole(dtype, *shape)
            w = wide(x)
            results = []
            for attrs, axes, keep in chosen(dtype):
                results.append((call("sum", attrs), like(x, accumulated(np.sum, w, axes, keep))))
                results.append((call("prod", attrs), like(x, accumulated(np.prod, w, axes, keep))))
                results.append((call("max", attrs), like(x, np.max(w, axis=axes, keepdims=keep, initial=lowest))))
                results.append((call("min", attrs), like(x, np.min(w, axis=axes, keepdims=keep, initial=highest))))
            p.case(dtype, results, {"x": x})
        # Means: one division of an exact sum.
        for shape in ((2, 3, 5), (1, 1, 1)) + (((2, 0, 1),) if dtype in FLOATS else ()):
            x = whole(dtype, *shape)
            results = []
            for attrs, axes, keep in chosen(dtype):
                count = int(np.prod([shape[d] for d in axes])) if axes else 1
                total = accumulated(np.sum, wide(x), axes, keep)
                results.append((call("mean", attrs), like(
                    x, total / total.dtype.type(count) if dtype in FLOATS
                    else truncated(total, np.full_like(total, count)))))
            p.case(f"mean_{dtype}", results, {"x": x})
    for shape in ((2, 3, 5), (1, 1, 1), (0, 3, 2), (2, 3, 0)):
        x = tame("bool", *shape)
        results = []
        for attrs, axes, keep in variants[:3]:
            some, every = np.any(x.a, axis=axes, keepdims=keep), np.all(x.a, axis=axes, keepdims=keep)
            results += [(call(op, attrs), like(x, some)) for op in ("any", "sum", "max")]
            results += [(call(op, attrs), like(x, every)) for op in ("all", "prod", "min")]
        p.case("bool", results, {"x": x})

    def position(f, x, axes, keep):
        if not axes:
            return np.zeros(x.shape, np.int32)
        moved = np.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim))
        rest = moved.shape[:x.ndim - len(axes)]
        at = f(moved.reshape(rest + (-1,)), axis=-1).astype(np.int32)
        return np.expand_dims(at, axes) if keep else at

    for dtype in FLOATS + COMMON + ["bool"]:
        for shape in ((2, 3, 5), (1, 1, 1)):
            x = tame("bool", *shape) if dtype == "bool" else whole(dtype, *shape)  # with equal elements
            if dtype in FLOATS and shape != (1, 1, 1):
                x.a[1, 1, 2] = np.nan
                x.a[1, 1, 4] = np.nan
            results = [(call(op, attrs), Tensor("int32", position(f, x.a, axes, keep)))
                       for attrs, axes, keep in chosen(dtype) for op, f in (("argmax", np.argmax), ("argmin", np.argmin))]
            p.case(f"arg_{dtype}", results, {"x": x})
    x = Tensor("float32", [[0.0, -0.0, 0.0], [-0.0, 0.0, -0.0], [1, np.nan, 2], [np.inf, -np.inf, 3]])
    p.case("edges", [("max(%x, axis=[1])", Tensor("float32", [0.0, 0.0, np.nan, np.inf])),
                     ("min(%x, axis=[1])", Tensor("float32", [-0.0, -0.0, np.nan, -np.inf])),
                     ("sum(%x, axis=[1])", Tensor("float32", [0.0, 0.0, np.nan, np.nan]))], {"x": x})
    x = tame("float32", 3, 70)
    w = x.a.astype(np.float64)
    p.case("rounded", [("sum(%x, axis=[1])", like(x, w.sum(1))), ("mean(%x, axis=[0])", like(x, w.mean(0)))],
           {"x": x}, 1e-6)
    p.write()


def moving():
    p = Program("operators_shape", "Operators that move elements.")
    for dtype in ("float32", "bool", "float16", "int64"):  # of 4, 1, 2 and 8 bytes
        for shape in ((2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 3, 0)):
            x = tame(dtype, *shape)
            a = x.a
            n, m, k = shape
            r = []

            def add(expression, value):
                r.append((expression, Tensor(dtype, value)))

            add("reshape(%x, newshape=[-3, 0])", a.reshape(n * m, k))
            add("reshape(%x, newshape=[-3, -2])", a.reshape(n * m, k))
            add("reshape(%x, newshape=[n, -4, 1, -1, -2])", a.reshape(n, 1, m, k))
            add("transpose(%x)", a.transpose())
            add("transpose(%x, axes=[1, 0, 2])", a.transpose(1, 0, 2))
            add("transpose(%x, axes=[2, -3, 1])", a.transpose(2, 0, 1))
            add("expand_dims(%x, axis=1, num_newaxis=2)", a[:, None, None])
            add("expand_dims(%x, axis=-1)", a[..., None])
            add("squeeze(expand_dims(expand_dims(%x, axis=0), axis=-1), axis=[0, -1])", a)
            add("reverse(%x)", a[::-1])
            add("reverse(%x, axis=-1)", a[..., ::-1])
            add("concatenate((%x, %x), axis=1)", np.concatenate([a, a], 1))
            add("concatenate((%x, %x, %x), axis=-1)", np.concatenate([a, a, a], -1))
            add("concatenate((%x,))", a)
            add("stack((%x, %x), axis=0)", np.stack([a, a]))
            add("stack((%x, %x), axis=-1)", np.stack([a, a], -1))
            add("strided_slice(%x, begin=[0, 1], end=[1, 3])", a[0:1, 1:3])
            add("strided_slice(%x, begin=[-1], end=[-9], strides=[-1], axes=[1])", a[:, ::-1])
            add("strided_slice(%x, begin=[3], end=[0], strides=[-2], axes=[2])", a[:, :, 3:0:-2])
            add("strided_slice(%x, begin=[1, 0], end=[-1, 1], slice_mode=\"size\")", a[1:, 0:1])
            add("strided_slice(%x, begin=[5], end=[9])", a[5:9])
            add("broadcast_to(%x, shape=[2, n, m, k])", np.broadcast_to(a, (2,) + shape))
            add("repeat(%x, repeats=2)", np.repeat(a, 2))
            add("repeat(%x, repeats=3, axis=1)", np.repeat(a, 3, 1))
            add("repeat(%x, repeats=0, axis=-1)", np.repeat(a, 0, -1))
            add("tile(%x, reps=[2])", np.tile(a, 2))
            add("tile(%x, reps=[2, 1, 3, 1])", np.tile(a, (2, 1, 3, 1)))
            add("tile(%x, reps=[1, 0, 1])", np.tile(a, (1, 0, 1)))
            if dtype != "float32":
                r = r[3::3]
            p.case(dtype, r, {"x": x}, dims={"x": "n, m, k"})
    x = tame("float32", 2, 6, 5)
    parts = [([1, 3], 2), (3, 1), ([0, 2, 2], 0)]
    p.case("split", [(f"split(%x, indices_or_sections={where}, axis={axis})",
                      [like(x, part) for part in np.split(x.a, where, axis)]) for where, axis in parts],
           {"x": x}, dims={"x": x.known()})
    one = tame("float32", 1, 3, 1)
    p.case("ones", [("squeeze(%x, axis=[0, 2])", like(one, one.a[0, :, 0])), ("squeeze(%x, axis=[-1])", like(one, one.a[..., 0])),
                    ("broadcast_to(%x, shape=[2, 3, 2])", like(one, np.broadcast_to(one.a, (2, 3, 2)))),
                    ("broadcast_to(%x, shape=[0, 3, 1])", like(one, np.broadcast_to(one.a, (0, 3, 1))))],
           {"x": one}, dims={"x": one.known()})
    s = Tensor("float32", 2.5)
    p.case("scalar", [("reshape(%x, newshape=[1, 1])", like(s, [[2.5]])), ("expand_dims(%x, axis=0)", like(s, [2.5])),
                      ("broadcast_to(%x, shape=[2])", like(s, [2.5, 2.5])), ("transpose(%x)", s),
                      ("stack((%x, %x))", like(s, [2.5, 2.5])), ("tile(%x, reps=[2])", like(s, [2.5, 2.5])),
                      ("repeat(%x, repeats=2)", like(s, [2.5, 2.5]))], {"x": s})
    p.write()


def indexing():
    p = Program("operators_index", "Operators that read at positions.")
    for dtype, index in (("float32", "int32"), ("float32", "int64"), ("bool", "uint8"), ("float16", "int32"),
                         ("int64", "int8")):
        x = tame(dtype, 2, 3, 4)
        a = x.a
        ids = np.array([2, 0, 1, 5, 200 if index == "uint8" else -2])
        i = Tensor(index, ids)
        g = Tensor(index, rng.integers(0, 3, (2, 2, 4)))
        batch = Tensor(index, [[2, 0], [1, 1]])
        inside = Tensor(index, [[0, 2], [1, 2]])
        r = [("take(%x, %i, axis=1)", like(x, np.take(a, np.clip(ids, 0, 2), 1))),
             ('take(%x, %i, axis=-1, mode="wrap")', like(x, np.take(a, np.mod(ids, 4), 2))),
             ("take(%x, %i)", like(x, a.ravel()[np.clip(ids, 0, 23)])),
             ('take(%x, %n, axis=1, mode="fast")', like(x, np.take(a, inside.a.astype(int), 1))),
             ("take(%x, %b, axis=1, batch_dims=1)", like(x, np.stack([a[b][batch.a[b].astype(int)] for b in range(2)]))),
             ("gather(%x, %g, axis=1)", like(x, np.take_along_axis(a, g.a.astype(np.int64), 1)))]
        p.case(f"take_{dtype}_{index}", r, {"x": x, "i": i, "g": g, "b": batch, "n": inside})
    x = tame("float32", 3)
    i = Tensor("int32", [-1, -3, 2])
    none = Tensor("int32", np.zeros(0))
    p.case("negative", [('take(%x, %i, axis=0, mode="fast")', like(x, x.a[[2, 0, 2]])),
                        ("gather(%x, %i)", like(x, x.a[[2, 0, 2]])), ("take(%x, %n, axis=0)", like(x, [])),
                        ("gather(%x, %n)", like(x, []))], {"x": x, "i": i, "n": none})
    p.case("scalar", [("take(%x, %i, axis=0)", like(x, x.a[1])), ('take(%x, %i, mode="wrap")', like(x, x.a[1]))],
           {"x": x, "i": Tensor("int64", 1)})
    for dtype, on, off in (("float32", "2f", "-1f"), ("int32", "1i32", "0i32"), ("bool", "True", "False"),
                           ("float16", "0.5f", "0f")):
        for ids in ([0, 2, 1, 7, -1], [1], []):
            i = Tensor("int32", ids)
            values = {"2f": 2, "-1f": -1, "1i32": 1, "0i32": 0, "True": 1, "False": 0, "0.5f": 0.5, "0f": 0}
            hot = i.a[:, None] == np.arange(3)
            value = np.where(hot, values[on], values[off])
            p.case(f"one_hot_{dtype}",
                   [(f'one_hot(%i, {on}, {off}, depth=3, dtype="{dtype}")', Tensor(dtype, value)),
                    (f'one_hot(%i, {on}, {off}, depth=3, axis=0, dtype="{dtype}")', Tensor(dtype, value.T)),
                    (f'one_hot(%i, {on}, {off}, depth=0, dtype="{dtype}")', Tensor(dtype, value[:, :0]))], {"i": i})
    p.write()


def creation():
    p = Program("operators_create", "Operators that make tensors.")
    for dtype in ["bool"] + INTEGERS + FLOATS:
        for shape in ((2, 3), (1, 1), (0, 2), ()):
            if shape and dtype not in ("bool", "int8", "int64", "float16", "float32", "float64"):
                continue
            x = tame(dtype, *shape)
            of = lambda v: Tensor(dtype, np.full(shape, v))
            listed = "[n, m]" if shape else "[]"
            v = tame(dtype)
            r = [("zeros_like(%x)", of(0)), ("ones_like(%x)", of(1)), ("full_like(%x, %v)", of(v.a)),
                 (f'zeros(shape={listed}, dtype="{dtype}")', of(0)),
                 (f'ones(shape={listed}, dtype="{dtype}")', of(1)), (f"full(%v, shape={listed})", of(v.a)),
                 (f'full(2.75f, shape={listed}, dtype="{dtype}")',
                  converted(Tensor("float32", np.full(shape, 2.75)), dtype)),
                 ("shape_of(%x)", Tensor("int32", np.array(shape, np.int32))),
                 ('shape_of(%x, dtype="int64")', Tensor("int64", np.array(shape, np.int64)))]
            p.case(f"{dtype}_{len(shape)}", r, {"x": x, "v": v}, dims={"x": "n, m"} if shape else {})
    for dtype in ("int32", "int64"):
        name = f"arange_{dtype}"
        p.define(name, [f"%{k}: {dtype}" for k in "abc"], ["arange(%a, %b, %c)"])
        for a, b, c in ((1, 10, 3), (10, 1, -3), (0, 0, 1), (5, 1, 1), (0, 1, 100), (-3, 3, 2)):
            p.run(name, {k: Tensor(dtype, v) for k, v in zip("abc", (a, b, c))},
                  [Tensor(dtype, np.arange(a, b, c))])
    p.case("arange_float", [("arange(0f, 1f, 0.25f)", Tensor("float32", [0, 0.25, 0.5, 0.75])),
                            ('arange(1f, -1f, -0.5f, dtype="float16")', Tensor("float16", [1, 0.5, 0, -0.5]))], {})
    n = Tensor("int64", [2, 3])
    p.case("given", [("zeros(%n)", Tensor("float32", np.zeros((2, 3)))),
                     ('ones(%n, dtype="int8")', Tensor("int8", np.ones((2, 3)))),
                     ("full(7f, %n)", Tensor("float32", np.full((2, 3), 7)))], {"n": n}, dims={"n": "2"})
    p.write()


def annotations():
    p = Program("operators_annotation", "Operators whose result is their operand.")
    names = ["on_device", "device_copy", "annotation.checkpoint", "annotation.stop_fusion"]
    for dtype in ["bool"] + INTEGERS + FLOATS:
        for shape in ((2, 3), (0, 2), ()):
            x = tame(dtype, *shape)
            p.case(f"{dtype}_{len(shape)}", [(f"{name}(%x)", x) for name in names], {"x": x},
                   dims={"x": "n, m"} if shape else {})
    p.write()


def flattened():
    p = Program("operators_flatten", "nn.batch_flatten.")
    for dtype in ("float32", "int8", "bool"):
        for shape, dims in (((2, 3), "n, m"), ((2, 3, 4), "n, m, k"), ((2, 3, 4), None), ((3,), "n"),
                            ((1, 2, 1, 3), "n, 2, m, 3"), ((0, 3, 2), "n, m, k"), ((2, 0, 3), "n, m, k"),
                            ((0, 0), None)):
            x = tame(dtype, *shape)
            columns = int(np.prod(shape[1:]))
            name = f"{dtype}_{len(shape)}" if dims else f"{dtype}_{'x'.join(map(str, shape))}"
            p.case(name, [("nn.batch_flatten(%x)", like(x, x.a.reshape(shape[0], columns)))], {"x": x},
                   dims={"x": dims or x.known()})
    p.write()


if __name__ == "__main__":
    unary()
    binary()
    casts()
    reductions()
    products()
    moving()
    indexing()
    creation()
    annotations()
    flattened()
