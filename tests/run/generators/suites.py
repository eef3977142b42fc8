"""Writes `relay_any.relay` and `relay_any_*.relay`: the programs of TVM's tests of operators with extents that
are not known, with values; and `relay_dynamic.relay`: those whose shapes are tensors."""
import itertools

import numpy as np

from cases import Program, rng, tame, whole
from values import Tensor


def t(dtype, *shape):
    """Whole numbers, all different where it matters little: exact in every order."""
    return whole(dtype, *shape)


def count(*shape, dtype="float32"):
    return Tensor(dtype, np.arange(1, 1 + int(np.prod(shape))), shape)


def ints(*values, dtype="int64"):
    return Tensor(dtype, np.array(values))


def f32(values):
    return Tensor("float32", values)


def same(dtype, values):
    return Tensor(dtype, values)


def arithmetic(p):
    def four(a, b):
        return [("%a + %b", f32(a.a + b.a)), ("%a - %b", f32(a.a - b.a)), ("maximum(%a, %b)", f32(np.maximum(a.a, b.a))),
                ("%a < %b", same("bool", a.a < b.a))]
    runs = {"known_matrix": ("?", "3, 2", [((1,), (3, 2)), ((2,), (3, 2))]),
            "both_unknown": ("?, 2", "3, ?", [((1, 2), (3, 2)), ((3, 2), (3, 1)), ((1, 2), (3, 1)), ((3, 2), (3, 2))]),
            "ranks": ("?", "?, ?", [((4,), (3, 4)), ((1,), (3, 4)), ((4,), (1, 1)), ((1,), (0, 4)), ((1,), (2, 0))])}
    for name, (left, right, shapes) in runs.items():
        for x, y in shapes:
            a, b = t("float32", *x), t("float32", *y)
            p.case(f"broadcast_{name}", four(a, b), {"a": a, "b": b}, dims={"a": left, "b": right})
    fails = [("?", "3, 2", [((2,), (3, 2)), ((3,), (3, 2)), ((4,), (3, 2))]),
             ("?, 2", "3, ?", [((3, 2), (3, 1)), ((2, 2), (3, 2)), ((3, 2), (3, 3))]),
             ("?, ?", "?, ?, ?", [((2, 1), (3, 2, 4)), ((3, 1), (3, 2, 4)), ((2, 3), (3, 1, 4))])]
    for i, (left, right, shapes) in enumerate(fails):
        for j, (x, y) in enumerate(shapes):
            a, b = t("float32", *x), t("float32", *y)
            if j == 0:
                p.case(f"broadcast_fails_{i}", [("%a + %b", f32(a.a + b.a))], {"a": a, "b": b}, dims={"a": left, "b": right})
            else:
                p.fails(f"broadcast_fails_{i}", {"a": a, "b": b}, "add: the shapes")
    for values in ([0.25, 2.25, 6.25, 2.5], []):
        x = f32(np.array(values))
        p.case("elemwise", [("sqrt(%x)", f32(np.sqrt(x.a))), ("negative(%x)", f32(-x.a)), ("exp(%x)", f32(np.exp(x.a.astype(np.float64)))),
                            ("round(%x)", f32(np.round(x.a)))], {"x": x}, 1e-6)
    for shape in ((2, 3), (1, 1), (0, 4)):
        x = t("float32", *shape)
        p.case("fused_ops", [("(%x + 1f) * 2f", f32((x.a + 1) * 2))], {"x": x})
    for shapes in (((2, 3), (2, 3), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((1, 1), (1, 3), (2, 1))):
        a, b, c = (t("float32", *s) for s in shapes)
        # A tree of seven operators; what its first ones give is used several times.
        s, d = a.a + b.a, a.a - b.a
        e, f = s * d, s + c.a
        g = e - f
        p.case("consecutive_broadcast",
               [("((%a + %b) * (%a - %b) - ((%a + %b) + %c)) * ((%a + %b) + (%a - %b))", f32(g * (s + d)))], {"a": a, "b": b, "c": c})
    for a, b in (((4, 3), (3,)), ((0, 2), (2,))):
        x, y = t("float32", *a), t("float32", *b)
        p.case("bias_added", [("nn.bias_add(%x, %y)", f32(x.a + y.a)), ("nn.relu(%x)", f32(np.maximum(x.a, 0)))], {"x": x, "y": y})
    for shape in ((2, 3), (1, 1), (3, 0)):
        x = tame("float32", *shape)
        wide = x.a.astype(np.float64)
        rows = np.exp(wide - wide.max(1, keepdims=True, initial=-9)) if wide.size else wide
        columns = np.exp(wide - wide.max(0, keepdims=True, initial=-9)) if wide.size else wide
        p.case("softmax", [("nn.softmax(%x)", f32(rows / rows.sum(1, keepdims=True))), ("nn.fast_softmax(%x)", f32(rows / rows.sum(1, keepdims=True))),
                           ("nn.softmax(%x, axis=0)", f32(columns / columns.sum(0, keepdims=True)))], {"x": x}, 1e-6)


def reductions(p):
    def both(axis, exclude, keepdims):
        name = "" if axis is None else f", axis={list(axis)}"
        return f"{name}, keepdims={keepdims}, exclude={exclude}"
    for shape in ((2, 3, 2), (1, 4, 1)):
        x = t("float32", *shape)
        results = []
        for axis, exclude, keepdims in ((None, False, False), ((1,), False, True), ((0, 2), False, False), ((0,), True, True), ((-1,), True, False)):
            over = None if axis is None else tuple(a % 3 for a in axis)
            over = tuple(i for i in range(3) if i not in over) if exclude else over
            end = both(axis, exclude, keepdims)
            for name, f in (("max", np.max), ("min", np.min), ("prod", np.prod), ("sum", np.sum)):
                results.append((f"{name}(%x{end})", f32(f(x.a, axis=over, keepdims=keepdims))))
            results.append((f"mean(%x{end})", f32(np.mean(x.a.astype(np.float64), axis=over, keepdims=keepdims))))
            results.append((f"variance(%x{end})", f32(np.var(x.a.astype(np.float64), axis=over, keepdims=keepdims))))
            results.append((f"all(%x > 0f{end})", same("bool", np.all(x.a > 0, axis=over, keepdims=keepdims))))
            axes = over if over is not None else (0, 1, 2)
            moved = np.moveaxis(x.a, axes, range(len(axes))).reshape((-1,) + tuple(n for i, n in enumerate(shape) if i not in axes))
            for name, f in (("argmax", np.argmax), ("argmin", np.argmin)):
                found = f(moved, axis=0)
                if keepdims:
                    found = found.reshape([1 if i in axes else n for i, n in enumerate(shape)])
                results.append((f"{name}(%x{end})", same("int32", found)))
        p.case("reduces", results, {"x": x}, 1e-6)


def products(p):
    for m, k, n in ((3, 4, 2), (1, 1, 1), (2, 0, 3), (0, 4, 2)):
        x, w = t("float32", m, k), t("float32", n, k)
        p.case("dense", [("nn.dense(%x, %w)", f32(x.a @ w.a.T)), ("nn.dense(%x, %w) + 1f", f32(x.a @ w.a.T + 1))], {"x": x, "w": w})
        p.case("dense_known_weight", [("nn.dense(%x, %w)", f32(x.a @ w.a.T))], {"x": x, "w": w}, dims={"x": "?, k", "w": "n, k"})
    # Which of the extents are known, and which of the operands are transposed.
    for i, (left, right) in enumerate((("?, ?, ?", "?, ?, ?"), ("1, ?, ?", "1, ?, ?"), ("?, 3, 4", "?, 4, 4"), ("2, ?, 4", "2, 4, ?"), ("?, ?, 4", "1, 4, 4"))):
        for a, b in itertools.product((False, True), repeat=2):
            batch = 1 if i in (1, 2) else 2
            x, y = t("float32", batch, 3, 4), t("float32", 1 if i == 4 else batch, 4, 4)
            if a:
                x = f32(np.swapaxes(x.a, 1, 2))
                left_dims = ", ".join(np.array(left.split(", "))[[0, 2, 1]])
            else:
                left_dims = left
            u = np.swapaxes(x.a, 1, 2) if a else x.a
            v = np.swapaxes(y.a, 1, 2) if b else y.a
            p.case(f"batch_matmul_{i}_{int(a)}{int(b)}", [(f"nn.batch_matmul(%x, %y, transpose_a={a}, transpose_b={b})", f32(u @ v))], {"x": x, "y": y},
                   dims={"x": left_dims, "y": right})


def moved(p):
    for rank in (3, 5):
        x = t("float32", *(2, 3, 1, 2, 2)[:rank])
        p.case(f"full_like_{rank}", [("zeros_like(%x)", f32(np.zeros_like(x.a))), ("ones_like(%x)", f32(np.ones_like(x.a))), ("full_like(%x, 2.5f)", f32(np.full_like(x.a, 2.5)))], {"x": x})
    for shape in ((2, 3), (0, 1)):
        s = ints(*shape)
        p.case("full", [('zeros(%s, dtype="float32")', f32(np.zeros(shape))), ('ones(%s, dtype="int32")', same("int32", np.ones(shape))),
                        ("full(2.5f, %s)", f32(np.full(shape, 2.5)))], {"s": s}, dims={"s": "2"})
    for rows in (3, 0, 1):
        x, y = t("float32", rows, 2), t("float32", 1, 2)
        p.case("concat", [("concatenate((%x - 3f, %y * 5f), axis=0)", f32(np.concatenate([x.a - 3, y.a * 5])))], {"x": x, "y": y}, dims={"y": "1, 2", "x": "?, 2"})
    many = {f"x{i}": t("float32", i % 3) for i in range(25)}
    p.case("concat_many", [(f"concatenate(({', '.join('%' + n for n in many)}), axis=0)", f32(np.concatenate([v.a for v in many.values()])))], many)
    parts = {"a": t("float32", 2, 3), "b": t("float32", 4, 3), "c": t("float32", 2, 3), "d": t("float32", 1, 3)}
    p.functions["concat_known_width"] = ("def @concat_known_width(%a: Tensor[(?, 3), float32], %b: Tensor[(?, ?), float32], %c: Tensor[(2, ?), float32], "
                                         "%d: Tensor[(1, ?), float32]) -> Tensor[(?, 3), float32] {\n  concatenate((%a, %b, %c, %d), axis=0)\n}")
    p.start("concat_known_width", parts)
    p.lines.append("// expect: " + f32(np.concatenate([v.a for v in parts.values()])).text())
    p.fails("concat_known_width", {**parts, "b": t("float32", 4, 2)}, "concatenate: dimension 1")
    for shape, code, new in (((3, 4), (1, -1), (1, 12)), ((2, 3, 4), (0, -1), (2, 12)), ((2, 3, 4), (0, -2), (2, 3, 4)), ((6, 3, 4), (-4, -1, 2, -3), (3, 2, 12)),
                             ((6, 3, 4), (-4, 2, -1, -2), (2, 3, 3, 4)), ((2, 3, 4), (1, -1, 0), (1, 6, 4)), ((2, 3, 4), (-1, 1, 0), (6, 1, 4)), ((0, 3, 4), (-4, -1, 2, -3), (0, 2, 12))):
        x = count(*shape)
        name = "reshape_" + "_".join(f"m{-c}" if c < 0 else str(c) for c in code)
        results = [(f"reshape(%x, newshape={list(code)})", f32(x.a.reshape(new)))]
        if min(code) >= -1:
            results.append((f"reshape(%x, stack(({', '.join(f'{c}i64' for c in code)})))", f32(x.a.reshape(new))))
        p.case(name, results, {"x": x})
    for shape, new in (((3, 4), (1, -1)), ((2, 6), (3, 4)), ((4, 3), (0, -1))):
        x, s = count(*shape), ints(*new)
        p.case("reshape_given", [("reshape(%x, %s)", f32(x.a.reshape([x.a.shape[i] if n == 0 else n for i, n in enumerate(new)])))], {"x": x, "s": s}, dims={"s": "2"})
    for axis in (-1, 0, 1):
        i = ints(0, 2, 5, -1, dtype="int32").a.reshape(2, 2)
        hot = np.moveaxis(np.eye(4)[np.clip(i, 0, 3)] * ((i >= 0) & (i < 4))[..., None], -1, axis)
        p.case(f"one_hot_{axis}".replace("-", "m"), [(f"one_hot(%i, 1, 0, depth=4, axis={axis})", same("int32", hot)),
                                                     (f"one_hot(%i, 0.5f, -1f, depth=4, axis={axis})", f32(np.where(hot == 1, .5, -1)))], {"i": same("int32", i)})
    for axis, shape, index in ((0, (3, 2), ()), (1, (3, 2), ()), (None, (3, 2), (4,)), (-1, (3, 2), (2, 2)), (0, (3, 2), (1, 2, 1, 2)), (1, (2, 3, 2), (2,)), (0, (3, 2), (0,))):
        x, i = count(*shape), Tensor("int32", rng.integers(0, 2, index))
        p.case(f"take_{axis}_{len(index)}".replace("-", "m"), [(f"take(%x, %i{'' if axis is None else f', axis={axis}'})", f32(np.take(x.a, i.a, axis)))], {"x": x, "i": i})
    for reps in ((3, 2, 1), (1, 2), (2,), (2, 1, 1, 2), (0, 1, 1)):
        x = count(2, 1, 2)
        p.case(f"tile_{len(reps)}_{reps[0]}", [(f"tile(%x, reps={list(reps)})", f32(np.tile(x.a, reps)))], {"x": x})
    for shape in ((3, 4, 2), (0, 5, 1)):
        x = t("float32", *shape)
        p.case("shape_of", [("shape_of(%x)", ints(*shape, dtype="int32")), ('shape_of(%x, dtype="int64")', ints(*shape)), ("take(shape_of(%x), 1)", same("int32", shape[1]))], {"x": x})
        n = np.arange(shape[0], dtype=np.int32) + 1
        p.case("arange_of_shape", [("arange(0, take(shape_of(%x), 0), 1) + 1", same("int32", n))], {"x": x})
    for shape in ((3, 2), (1, 1), (0, 2)):
        x = count(*shape)
        p.case("expand_dims", [("expand_dims(%x, axis=1)", f32(x.a[:, None])), ("expand_dims(%x, axis=-1)", f32(x.a[..., None])),
                               ("expand_dims(%x, axis=0, num_newaxis=2)", f32(x.a[None, None]))], {"x": x})
    for shape in ((2, 3, 4), (1, 3, 0)):
        x = count(*shape)
        p.case("transpose", [("transpose(%x)", f32(x.a.transpose())), ("transpose(%x, axes=[0, 2, 1])", f32(x.a.transpose(0, 2, 1))),
                             ("transpose(%x, axes=[2, 0, 1])", f32(x.a.transpose(2, 0, 1))), ("transpose(%x, axes=[-1, 0, 1])", f32(x.a.transpose(2, 0, 1)))], {"x": x})
    for n in (3, 1):
        x = f32((np.arange(n * 2) ** 2).reshape(1, n, 2, 1))
        p.case("squeeze", [("squeeze(%x, axis=[0, 3])", f32(x.a[0, ..., 0])), ("squeeze(%x, axis=[0])", f32(x.a[0])), ("squeeze(%x, axis=[-1])", f32(x.a[..., 0])),
                           ("sqrt(squeeze(%x, axis=[0, -1]))", f32(np.sqrt(x.a[0, ..., 0])))], {"x": x})
    p.fails("squeeze", {"x": count(1, 1, 2, 2)}, "squeeze: dimension 3")
    for n in (6, 12, 0):
        x = count(2, n)
        three = np.split(x.a, 3, 1)
        p.case("split", [("split(%x, indices_or_sections=3, axis=1).2", f32(three[2])), ("split(%x, indices_or_sections=3, axis=-1).0", f32(three[0])),
                         ("split(%x, indices_or_sections=1, axis=0).0", f32(x.a)), ("split(%x, indices_or_sections=[1], axis=0).1", f32(x.a[1:])),
                         ("split(%x, indices_or_sections=[1, 1], axis=0).1", f32(x.a[1:1]))], {"x": x})
    for n in (8, 5):
        x = count(n, 1)
        a, b, c = np.split(x.a, [1, 4])
        p.case("split_at", [("split(%x, indices_or_sections=[1, 4], axis=0).0", f32(a)), ("split(%x, indices_or_sections=[1, 4], axis=0).1", f32(b)),
                            ("split(%x, indices_or_sections=[1, 4], axis=0).2", f32(c))], {"x": x})
    p.fails("split", {"x": count(2, 4)}, "split: 3 sections do not divide dimension 1 (4)")
    p.fails("split_at", {"x": count(3, 1)}, "split")
    for shape in ((2, 3, 2), (1, 1, 1), (0, 3, 2), (2, 0, 1)):
        x = count(*shape)
        p.case("batch_flatten", [("nn.batch_flatten(%x)", f32(x.a.reshape(shape[0], -1) if x.a.size else x.a.reshape(shape[0], shape[1] * shape[2])))], {"x": x})
    for shape in ((2, 3), (1, 0)):
        x = count(*shape)
        p.case("repeat", [("repeat(%x, repeats=2, axis=0)", f32(np.repeat(x.a, 2, 0))), ("repeat(%x, repeats=3, axis=-1)", f32(np.repeat(x.a, 3, -1))),
                          ("repeat(%x, repeats=2)", f32(np.repeat(x.a, 2)))], {"x": x})
        y = f32(x.a * 3)
        p.case("stack", [("stack((%x, %y))", f32(np.stack([x.a, y.a]))), ("stack((%x, %y), axis=1)", f32(np.stack([x.a, y.a], 1))),
                         ("stack((%x, %y, %x), axis=-1)", f32(np.stack([x.a, y.a, x.a], -1)))], {"x": x, "y": y})
        p.case("reshape_concat", [("concatenate((reshape(%x, newshape=[-1]), reshape(%y, newshape=[-1])), axis=0)", f32(np.concatenate([x.a.ravel(), y.a.ravel()]))),
                                  ("concatenate((reshape_like(%x, %y), %y), axis=0)", f32(np.concatenate([x.a, y.a])))], {"x": x, "y": y})
    for c, a, b in (((2, 3), (2, 3), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((1, 3), (2, 1), (1, 1)), ((1, 1), (2, 3), (1, 3)), ((2, 3), (1, 1), (1, 3)), ((2, 1), (2, 1), (1, 3)),
                    ((0, 3), (1, 3), (1, 1)), ((1, 1), (1, 1), (1, 1))):
        k, x, y = Tensor("bool", rng.integers(0, 2, c)), count(*a), count(*b)
        p.case("where", [("where(%k, %x, %y)", f32(np.where(k.a, x.a, y.a)))], {"k": k, "x": x, "y": y})
    p.fails("where", {"k": Tensor("bool", np.ones((2, 3))), "x": count(2, 3), "y": count(2, 2)}, "where: the shapes")
    for k in (True, False):
        x = count(3)
        p.case("where_scalar", [("take(%x, where(%k, 0, 2), axis=0)", f32(x.a[0 if k else 2]))], {"k": Tensor("bool", k), "x": x})
    for axis, shape, index in ((0, (2, 3), (2, 3)), (1, (2, 3), (2, 1)), (0, (3,), (4,)), (2, (2, 1, 3), (2, 1, 2))):
        x, i = count(*shape), Tensor("int64", rng.integers(-shape[axis], shape[axis], index))
        p.case(f"gather_{axis}_{len(shape)}", [(f"gather(%x, %i, axis={axis})", f32(np.take_along_axis(x.a, i.a, axis)))], {"x": x, "i": i})
    for values, k in (([3., 1, 2, 5], 2), ([3., 1, 2, 5], 4), ([7.], 1), ([], 0)):
        x = f32(np.array(values).reshape(1, -1))
        order = np.argsort(-x.a, axis=1, kind="stable")[:, :k]
        p.case("topk_given", [("topk(%x, %k).0", f32(np.take_along_axis(x.a, order, 1))), ("topk(%x, %k).1", same("int32", order)),
                              ('topk(%x, %k, ret_type="indices", dtype="int64")', same("int64", order))], {"x": x, "k": same("int64", k)})
        if k == 2:
            p.case("topk_known", [("topk(%x, k=2).0", f32(np.take_along_axis(x.a, order, 1))), ('topk(%x, k=2, ret_type="indices")', same("int32", order))], {"x": x})


def slice_of(p, x, round, begin, end, strides):
    """Bounds that are known when compiling, and when running."""
    n = x.a.ndim
    index = tuple(slice(b, e, k) for b, e, k in zip(begin, end, strides))
    cut = f32(x.a[index])
    words = ", ".join(f"{k}i64" for k in strides)
    p.case(f"slice_{n}_{round}", [(f"strided_slice(%x, begin={begin}, end={end}, strides={strides})", cut),
                                  (f"strided_slice(%x, %b, %e, stack(({words})))", cut)], {"x": x, "b": ints(*begin), "e": ints(*end)},
           dims={"b": str(n), "e": str(n)})


def filled(shape, choice):
    """Bounds and strides of all signs that leave elements, along some axis fewer than there are."""
    while True:
        begin = [int(choice.integers(-s, s)) for s in shape]
        end = [int(choice.integers(-s - 2, s + 2)) for s in shape]
        strides = [int(choice.choice([1, 2, 3, -1, -2])) for _ in shape]
        size = [len(range(*slice(*bounds).indices(s))) for bounds, s in zip(zip(begin, end, strides), shape)]
        if all(size) and max(size) > 1 and size != list(shape) and min(strides) < 0 < max(strides):
            return begin, end, strides


def slices(p):
    choice = np.random.default_rng(72)
    for shape in ((3, 4), (2, 3, 4), (2, 2, 3, 2)):
        for round in range(8):
            n = len(shape)
            x = count(*shape)
            if round > 3:
                slice_of(p, x, round, *filled(shape, choice))
                continue
            begin = [int(rng.integers(-s, s)) for s in shape]
            end = [int(rng.integers(-s - 1, s + 1)) for s in shape]
            strides = [int(rng.choice([1, 2, -1])) for _ in shape]
            if round == 3:
                begin, end, strides = [1000000 if s else -1000000 for s in range(n)], [-1000000 if s else 1000000 for s in range(n)], [-1 if s else 1 for s in range(n)]
            slice_of(p, x, round, begin, end, strides)
    x = count(4, 5)
    for b, s in (((1, 2), (2, -1)), ((0, 0), (4, 5)), ((3, 4), (0, 1))):
        size = tuple(slice(i, None if n < 0 else i + n) for i, n in zip(b, s))
        p.case("slice_sizes", [('strided_slice(%x, %b, %s, stack((1i64, 1i64)), slice_mode="size")', f32(x.a[size]))], {"x": x, "b": ints(*b), "s": ints(*s)}, dims={"b": "2", "s": "2"})
    for shape in ((3, 2, 4), (1, 1, 3)):
        x = count(*shape)
        p.case("slice_axes", [("strided_slice(%x, begin=[0, 1], end=[2, 3], strides=[1, 1], axes=[0, 2])", f32(x.a[0:2, :, 1:3])),
                              ("strided_slice(%x, begin=[-1], end=[-9], strides=[-2], axes=[-1])", f32(x.a[:, :, ::-2]))], {"x": x})


def loops(p):
    p.functions["loops"] = """def @recursive_concat(%n: int32) -> Tensor[(?, 1), int32] { @grown(0, %n, full(0, shape=[1, 1])) }
def @grown(%i: int32, %n: int32, %all: Tensor[(?, 1), int32]) -> Tensor[(?, 1), int32] {
  if (%i < %n) { @grown(%i + 1, %n, concatenate((%all, reshape(%i, newshape=[1, 1])), axis=0)) } else { %all }
}
def @recursive_concat_closure(%n: int32) {
  let %loop = fn (%i: int32, %all: Tensor[(?, 1), int32]) -> Tensor[(?, 1), int32] {
    if (%i < %n) { %loop(%i + 1, concatenate((%all, reshape(%i, newshape=[1, 1])), axis=0)) } else { %all }
  };
  %loop(0, full(0, shape=[1, 1]))
}
def @recursive_concat_wrong(%n: int32) -> Tensor[(?, 1), int32] { @kept(0, %n, full(0, shape=[1, 1])) }
def @kept(%i: int32, %n: int32, %all: Tensor[(1, 1), int32]) -> Tensor[(1, 1), int32] {
  if (%i < %n) { @kept(%i + 1, %n, concatenate((%all, reshape(%i, newshape=[1, 1])), axis=0)) } else { %all }
}
def @tuple_get_item(%x: Tensor[(?, ?), float32]) { split(%x, indices_or_sections=[1, 2], axis=1).0 }
def @mixed_input_type(%x: ((Tensor[(?, 2), float32], Tensor[(?, 2), float32]), Tensor[(?, 2), float32]), %y: float32) {
  %x.0.1 * %y + %x.1
}"""
    for n in (10, 0):
        for name in ("recursive_concat", "recursive_concat_closure"):
            p.start(name, {"n": same("int32", n)})
            p.lines.append("// expect: " + same("int32", np.array([0] + list(range(n))).reshape(-1, 1)).text())
    p.start("recursive_concat_wrong", {"n": same("int32", 0)})
    p.lines.append("// expect: 1x1xi32=0")
    p.fails("recursive_concat_wrong", {"n": same("int32", 10)}, "dimension 0 is 2; 1 is declared")
    for shape in ((3, 4), (0, 2)):
        x = count(*shape)
        p.start("tuple_get_item", {"x": x})
        p.lines.append("// expect: " + f32(x.a[:, :1]).text())
    for n in (2, 1):
        a, b, c = (t("float32", n, 2) for _ in range(3))
        p.lines += ["// entry: mixed_input_type", f"// run: x=(({a.text()}, {b.text()}), {c.text()}); y=f32=2", "// expect: " + f32(b.a * 2 + c.a).text()]


def dynamic(p):
    x = count(2, 3)
    for new in ((3, 2), (-1, 2), (0, 3), (1, 6)):
        full = [x.a.shape[i] if n == 0 else n for i, n in enumerate(new)]
        p.case("reshaped", [("reshape(%x, %s)", f32(x.a.reshape(full))), ("dyn.reshape(%x, %s)", f32(x.a.reshape(full))),
                            ('reshape(%x, cast(%s, dtype="int32"))', f32(x.a.reshape(full)))], {"x": x, "s": ints(*new)}, dims={"s": "2"})
    for shape, other in (((2, 3), (3, 2)), ((4, 0), (0, 7))):
        x, y = count(*shape), t("float32", *other)
        if x.a.size:
            p.case("shape_reshaped", [("dyn.reshape(%x, shape_of(%y))", f32(x.a.reshape(other))), ('reshape(%x, shape_of(%y, dtype="int64"))', f32(x.a.reshape(other)))], {"x": x, "y": y})
    for shape, axes in (((1, 3, 1), (0, 2)), ((1, 2, 1), (-1, 0)), ((1, 0, 1), (2, 0))):
        x = count(*shape)
        p.case("squeezed", [("dyn.squeeze(%x, %a)", f32(x.a.squeeze(tuple(a for a in axes))))], {"x": x, "a": ints(*axes)}, dims={"a": "2"})
    p.fails("squeezed", {"x": count(1, 3, 1), "a": ints(0, 1)}, "squeeze")
    for axis in (0, 1, 2, -1, -3):
        x = count(2, 3)
        p.case("expanded", [("dyn.expand_dims(%x, %a)", f32(np.expand_dims(x.a, axis))), ("dyn.expand_dims(%x, %a, num_newaxis=1)", f32(np.expand_dims(x.a, axis)))],
               {"x": x, "a": same("int64", axis)})
    p.fails("expanded", {"x": count(2, 3), "a": same("int64", 3)}, "expand_dims")
    for reps in ((3, 2), (1, 1), (0, 2)):
        x = count(2, 2)
        p.case("tiled", [("tile(%x, %r)", f32(np.tile(x.a, reps))), ("dyn.tile(%x, %r)", f32(np.tile(x.a, reps)))], {"x": x, "r": ints(*reps)}, dims={"r": "2"})
    for reps in ((2, 1, 2), (1, 3, 1)):
        x = count(2, 2)
        p.case("tiled_more", [("dyn.tile(%x, %r)", f32(np.tile(x.a, reps)))], {"x": x, "r": ints(*reps)}, dims={"r": "3"})
    for shape in ((2, 3), (0, 4), (1, 1)):
        s = ints(*shape)
        p.case("filled", [('dyn.zeros(%s, dtype="float32")', f32(np.zeros(shape))), ('dyn.ones(%s, dtype="int8")', same("int8", np.ones(shape))), ("dyn.full(2.5f, %s)", f32(np.full(shape, 2.5))),
                          ('dyn.full(2.5f, %s, dtype="int32")', same("int32", np.full(shape, 2))), ('ones(%s, dtype="float32")', f32(np.ones(shape)))], {"s": s}, dims={"s": "2"})
    p.fails("filled", {"s": ints(2, -1)}, "zeros: element 1 of the shape is negative (-1)")
    for x, s in ((count(1, 3), (2, 3)), (count(2, 1), (2, 4)), (count(1, 1), (0, 3))):
        p.case("spread", [("broadcast_to(%x, %s)", f32(np.broadcast_to(x.a, s))), ("dyn.broadcast_to(%x, %s)", f32(np.broadcast_to(x.a, s))),
                          ('broadcast_to(%x, shape_of(dyn.ones(%s, dtype="bool")))', f32(np.broadcast_to(x.a, s)))], {"x": x, "s": ints(*s)}, dims={"s": "2"})
    p.fails("spread", {"x": count(2, 1), "s": ints(3, 1)}, "broadcast_to")
    for depth in (3, 1, 0):
        i = ints(0, 2, -1, 5, dtype="int32")
        hot = np.array([[float(v == k) for k in range(depth)] for v in i.a]).reshape(4, depth)
        p.case("one_hot", [("one_hot(%i, 1f, 0f, %d, axis=-1)", f32(hot)), ("dyn.one_hot(%i, 1f, 0f, %d, axis=0)", f32(hot.T)), ("dyn.one_hot(%i, 5i64, -1i64, %d, axis=-1)", same("int64", np.where(hot == 1, 5, -1)))],
               {"i": i, "d": same("int64", depth)})
    for b, e in (((0, 1), (2, 3)), ((-2, -3), (9, -1)), ((1, 1), (1, 9))):
        x = count(3, 4)
        cut = x.a[b[0]:e[0], b[1]:e[1]]
        p.case("sliced", [("strided_slice(%x, %b, %e, stack((1i64, 1i64)))", f32(cut)), ("dyn.strided_slice(%x, %b, %e, stack((1i64, 1i64)))", f32(cut)),
                          ("dyn.strided_slice(%x, %b, %e, stack((2i64, 1i64)))", f32(cut[::2]))], {"x": x, "b": ints(*b), "e": ints(*e)}, dims={"b": "2", "e": "2"})
    for k in (1, 3, 0):
        x = f32(np.array([[3., 1, 2], [5, 9, 7]]))
        order = np.argsort(-x.a, axis=1, kind="stable")[:, :k or 3]
        up = np.argsort(x.a, axis=0, kind="stable")[:1]
        p.case("chosen", [("dyn.topk(%x, %k).0", f32(np.take_along_axis(x.a, order, 1))), ("dyn.topk(%x, %k).1", same("int32", order)),
                          ('topk(%x, %k, ret_type="values")', f32(np.take_along_axis(x.a, order, 1))), ('dyn.topk(%x, 1i64, axis=0, is_ascend=True, ret_type="indices", dtype="int64")', same("int64", up))],
               {"x": x, "k": same("int64", k)})
    for w in (((1, 2), (0, 1)), ((0, 0), (-1, -1)), ((-1, 1), (2, -3))):
        x = count(2, 3)
        wide = np.pad(x.a, [(max(a, 0), max(b, 0)) for a, b in w], constant_values=7)
        cut = tuple(slice(-a if a < 0 else 0, b if b < 0 else None) for a, b in w)
        p.case("padded", [("dyn.nn.pad(%x, %w, 7f)", f32(wide[cut])), ("dyn.nn.pad(%x, reshape(%w, newshape=[-1]), 7f)", f32(wide[cut]))], {"x": x, "w": same("int64", np.array(w))}, dims={"w": "2, 2"})
    for shape in ((2, 3), (0, 1)):
        x = count(*shape)
        p.case("copied", [("copy(%x)", x), ("copy(5i64)", same("int64", 5)), ('cast(%x, dtype="int32")', same("int32", x.a)), ('cast(shape_of(%x), dtype="int64")', ints(*shape))], {"x": x})


for name, summary, parts in (
        ("relay_any", "Arithmetic and reductions of extents that are not known.", (arithmetic, reductions)),
        ("relay_any_products", "Products of extents that are not known.", (products,)),
        ("relay_any_moved", "What makes, moves and picks elements, of extents that are not known.", (moved,)),
        ("relay_any_parts", "Slices of extents that are not known, and loops over tensors that grow.", (slices, loops)),
        ("relay_dynamic", "Shapes, axes, widths and counts that are tensors.", (dynamic,))):
    program = Program(name, summary)
    for part in parts:
        part(program)
    program.write()
