"""Writes `operators_normalisation.relay` and `operators_moments.relay`: what normalises, and variance, logsumexp
and nn.gelu. In float64 throughout."""
import math

import numpy as np

from cases import Program, tame
from values import FLOATS, Tensor, like

# Some operations more than one function has; float64 itself is what is compared with.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 1e-14}
EPSILON = 1e-5


def exact(t):
    return t.a.astype(np.float64)


def spread(vector, rank, axis):
    shape = [1] * rank
    shape[axis] = -1
    return exact(vector).reshape(shape)


def normalised(x, axes, epsilon):
    mean = x.mean(axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def written(**attrs):
    def value(v):
        return f"{v}f" if isinstance(v, float) else str(v)
    return "".join(f", {k}={value(v)}" for k, v in attrs.items())


def norms(p):
    shapes = [((2, 3, 4), -1), ((2, 3, 4), 1), ((4, 6), 0), ((3, 1), 1), ((5,), 0), ((0, 3), 1), ((3, 0), -1),
              ((2, 1, 5), 2)]
    variants = [{}, {"center": False}, {"scale": False}, {"epsilon": 0.5, "center": False, "scale": False}]
    for dtype in FLOATS:
        for shape, axis in shapes if dtype == "float32" else shapes[:1]:
            rank = len(shape)
            at = axis % rank
            x = tame(dtype, *shape)
            g, b, m = (tame(dtype, shape[at]) for _ in range(3))
            v = tame(dtype, shape[at], low=0.25, high=3)
            inputs = {"x": x, "g": g, "b": b}
            layer, instance, batch = [], [], []
            for attrs in variants if dtype == "float32" and (shape, axis) == ((2, 3, 4), 1) else variants[:1]:
                epsilon = attrs.get("epsilon", EPSILON)

                def finish(y):
                    if attrs.get("scale", True):
                        y = y * spread(g, rank, at)
                    return like(x, y + spread(b, rank, at) if attrs.get("center", True) else y)

                text = written(axis=axis, **attrs)
                layer.append((f"nn.layer_norm(%x, %g, %b{text})", finish(normalised(exact(x), (at,), epsilon))))
                others = tuple(i for i in range(1, rank) if i != at)
                plain = normalised(exact(x), others, epsilon) if others else exact(x) * 0
                instance.append((f"nn.instance_norm(%x, %g, %b{text})", finish(plain)))
                given = (exact(x) - spread(m, rank, at)) / np.sqrt(spread(v, rank, at) + epsilon)
                batch.append((f"nn.batch_norm(%x, %g, %b, %m, %v{text})", (finish(given), m, v)))
            name = f"{dtype}_{rank}_{axis}".replace("-", "last")
            p.case("layer_" + name, layer, inputs, TOLERANCE[dtype])
            p.case("instance_" + name, instance, inputs, TOLERANCE[dtype])
            p.case("batch_" + name, batch, {**inputs, "m": m, "v": v}, TOLERANCE[dtype])
        for shape, axis, groups in (((2, 6, 3), 1, 2), ((2, 6, 3), 1, 3), ((2, 4), 1, 1), ((2, 4), 1, 4),
                                    ((4, 2), 0, 2), ((2, 3, 6), -1, 2), ((0, 4, 2), 1, 2), ((2, 0, 3), 1, 2))[:8 if dtype == "float32" else 1]:
            rank, at = len(shape), axis % len(shape)
            x, g, b = tame(dtype, *shape), tame(dtype, shape[at]), tame(dtype, shape[at])
            grouped = shape[:at] + (groups, shape[at] // groups) + shape[at + 1:]
            y = normalised(exact(x).reshape(grouped), tuple(range(at + 1, rank + 1)), EPSILON).reshape(shape)
            p.case(f"group_{dtype}_{rank}_{axis}_{groups}".replace("-", "last"),
                   [(f"nn.group_norm(%x, %g, %b{written(num_groups=groups, axis=axis)})",
                     like(x, y * spread(g, rank, at) + spread(b, rank, at))),
                    (f"nn.group_norm(%x, %g, %b{written(num_groups=groups, axis=axis, center=False, scale=False)})",
                     like(x, y))],
                   {"x": x, "g": g, "b": b}, TOLERANCE[dtype])
        for shape, axes in (((2, 3), None), ((2, 3), [1]), ((2, 3), [-2]), ((2, 3, 2), [0, 2]), ((2, 3), []), ((), None),
                            ((0, 3), [0]), ((3, 0), [1]), ((1,), [0]))[:9 if dtype == "float32" else 2]:
            x = tame(dtype, *shape)
            over = tuple(a % len(shape) for a in axes) if axes else None
            total = (exact(x) ** 2).sum(axis=over, keepdims=True)
            attrs = {} if axes is None else {"axis": axes}
            p.case(f"l2_{dtype}_{len(shape)}_{'all' if axes is None else len(axes)}_{(axes or [0])[0]}".replace("-", "m"),
                   [(f"nn.l2_normalize(%x{written(eps=1e-5, **attrs)})",
                     like(x, exact(x) / np.sqrt(np.maximum(total, EPSILON)))),
                    (f"nn.l2_normalize(%x{written(eps=100.0, **attrs)})",
                     like(x, exact(x) / np.sqrt(np.maximum(total, 100))))], {"x": x}, TOLERANCE[dtype])
        for shape, axis in (((2, 6, 2), 1), ((7,), 0), ((2, 5), -1), ((2, 1), 1), ((0, 3), 1), ((3, 0), 1))[:6 if dtype == "float32" else 1]:
            x = tame(dtype, *shape)
            w = np.moveaxis(exact(x), axis, 0)
            results = []
            for attrs in ({}, {"size": 1}, {"size": 3, "alpha": 0.5, "beta": 0.5, "bias": 1.0}, {"size": 4, "alpha": 1.0},
                          {"size": 15, "alpha": 2.0}):
                size, bias, beta = attrs.get("size", 5), attrs.get("bias", 2.0), attrs.get("beta", 0.75)
                alpha = attrs.get("alpha", 1e-4)
                before = (size - 1) // 2
                total = np.array([(w[max(i - before, 0):i - before + size] ** 2).sum(axis=0) for i in range(len(w))])
                y = w / (bias + alpha * total.reshape(w.shape) / size) ** beta
                results.append((f"nn.lrn(%x{written(axis=axis, **attrs)})", like(x, np.moveaxis(y, 0, axis))))
            p.case(f"lrn_{dtype}_{len(shape)}_{axis}".replace("-", "last"), results, {"x": x}, TOLERANCE[dtype])
    # The mean is far above the deviations: squares of the data itself would keep nothing of them.
    far = Tensor("float32", 4096 + np.array([[0, 1, 2, 3], [-1, 0.5, 0, 0.25]]))
    one, zero = Tensor("float32", np.ones(4)), Tensor("float32", np.zeros(4))
    p.case("far", [("nn.layer_norm(%x, %g, %b)", like(far, normalised(exact(far), (1,), EPSILON))),
                   ("variance(%x, axis=[1])", like(Tensor("float32", 0), exact(far).var(axis=1)))],
           {"x": far, "g": one, "b": zero}, 1e-5)
    p.define("groups", ["%x: Tensor[(?, ?), float32]", "%g: Tensor[(?,), float32]"],
             ["nn.group_norm(%x, %g, %g, num_groups=3)"])
    p.fails("groups", {"x": tame("float32", 2, 4), "g": tame("float32", 4)},
            "nn.group_norm: 3 groups do not divide dimension 1 (4)")
    p.fails("groups", {"x": tame("float32", 2, 6), "g": tame("float32", 3)},
            "nn.group_norm: dimension 1 of the data (6) does not match the gamma (3)")
    p.fails("layer_float32_1_0", {"x": tame("float32", 3), "g": tame("float32", 3), "b": tame("float32", 4)},
            "nn.layer_norm: dimension 0 of the data (3) does not match the beta (4)")


def reductions(p):
    variants = [({}, None, False), ({"axis": [1]}, (1,), False), ({"axis": [-1], "keepdims": True}, (2,), True),
                ({"axis": [0, 2]}, (0, 2), False), ({"axis": [1], "exclude": True}, (0, 2), False),
                ({"axis": []}, (), False)]
    for dtype in FLOATS:
        for shape in ((2, 3, 4), (1, 1, 5), (2, 1, 3)):
            x = tame(dtype, *shape)
            results = []
            for attrs, axes, keep in variants if dtype == "float32" else variants[1:3]:
                w = exact(x)
                text = written(**attrs)
                mean = w.mean(axis=axes, keepdims=True) if axes != () else w
                rounded = exact(like(x, mean))
                results.append((f"variance(%x{text})", like(x, w.var(axis=axes, keepdims=keep) if axes != () else w * 0)))
                with_mean = f"mean(%x{written(**{**attrs, 'keepdims': True})})"
                squares = (w - rounded) ** 2
                results.append((f"variance(%x, {with_mean}{text})",
                                like(x, squares.mean(axis=axes, keepdims=keep) if axes != () else squares)))
                count = w.size if axes is None else math.prod(shape[a] for a in axes)
                unbiased = w.var(axis=axes, keepdims=keep) * (count / (count - 1)) if count > 1 else \
                    (np.full_like(w, np.nan) if axes == () else w.var(axis=axes, keepdims=keep) * np.nan)
                results.append((f"variance(%x{text}, unbiased=True)", like(x, unbiased)))
                log = np.log(np.exp(w).sum(axis=axes, keepdims=keep)) if axes != () else w
                results.append((f"logsumexp(%x{text})", like(x, log)))
            p.case(f"reduced_{dtype}", results, {"x": x}, TOLERANCE[dtype])
        scalar = tame(dtype)
        p.case(f"scalar_{dtype}", [("variance(%x)", like(scalar, 0.0)), ("logsumexp(%x)", scalar),
                                   ("variance(%x, unbiased=True)", like(scalar, np.nan))], {"x": scalar}, TOLERANCE[dtype])
        empty = tame(dtype, 0, 2)
        p.case(f"empty_{dtype}", [("variance(%x, axis=[0])", like(empty, [np.nan] * 2)),
                                  ("logsumexp(%x, axis=[0])", like(empty, [-np.inf] * 2)),
                                  ("variance(%x, axis=[1])", like(empty, [])),
                                  ("logsumexp(%x)", like(empty, -np.inf))], {"x": empty})
    large = Tensor("float32", [[1000.0, 1000.0], [-1000.0, -1001.0], [np.inf, 1.0], [-np.inf, -np.inf], [np.nan, 1.0],
                               [-np.inf, 2.0]])
    p.case("large", [("logsumexp(%x, axis=[1])",
                      Tensor("float32", [1000 + math.log(2), -1000 + math.log1p(math.exp(-1)), np.inf, -np.inf, np.nan,
                                         2.0]))], {"x": large}, 1e-6)
    # Neither the sum nor the count is a float16.
    half = Tensor("float16", np.ones(100000))
    p.define("many", ["%n: int32"], [f'variance(full(1f16, shape=[100000]))', 'mean(full(1f16, shape=[100000]))'])
    p.run("many", {"n": Tensor("int32", 0)}, [like(half, 0.0), like(half, 1.0)])
    p.define("unlike", ["%x: Tensor[(?, ?), float32]", "%m: Tensor[(?, ?), float32]"], ["variance(%x, %m, axis=[1])"])
    p.fails("unlike", {"x": tame("float32", 2, 3), "m": tame("float32", 2, 3)},
            "variance: dimension 1 of the mean is 3; expected 1")


def gelu(p):
    for dtype in FLOATS:
        for shape in ((9,), (2, 3), (1,), (0,), ()) if dtype == "float32" else ((9,),):
            x = tame(dtype, *shape)
            w = exact(x)
            erf = np.vectorize(math.erf, otypes=[float])
            tanh = 0.5 * w * (1 + np.tanh(math.sqrt(2 / math.pi) * (w + 0.044715 * w ** 3)))
            p.case(f"gelu_{dtype}_{len(shape)}",
                   [("nn.gelu(%x)", like(x, 0.5 * w * (1 + erf(w / math.sqrt(2))))),
                    ('nn.gelu(%x, approximate="tanh")', like(x, tanh)), ('gelu(%x, approximate="none")',
                     like(x, 0.5 * w * (1 + erf(w / math.sqrt(2)))))], {"x": x}, TOLERANCE[dtype])
    edge = Tensor("float32", [0.0, -0.0, np.inf, np.nan, 100.0, -100.0])
    p.case("gelu_edges", [(f'nn.gelu(%x, approximate="{form}")', like(edge, [0.0, -0.0, np.inf, np.nan, 100.0, -0.0]))
                          for form in ("none", "tanh")], {"x": edge})


if __name__ == "__main__":
    np.seterr(all="ignore")
    for name, summary, parts in (("normalisation", "What normalises.", (norms,)),
                                 ("moments", "variance and logsumexp, and gelu.", (reductions, gelu))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()
