"""Writes `operators_functions_wide.relay`: functions of floats that are computed in binary64, and power; and
`operators_activation.relay`: functions of neural networks, and other names of functions."""
import itertools
import math

import numpy as np

from cases import Program, TOLERANCE, integers, rng, tame
from values import FLOATS, INTEGERS, SIGNED, Tensor, like

SHAPES = ((5,), (2, 3), (1,), (0,), (0, 2), ())


def exact(t):
    return t.a.astype(np.float64)


def wide_functions():
    p = Program("operators_functions_wide", "Functions of floats that are computed in float64, and power.")
    groups = {
        "any": (-3, 3, {"sin": np.sin, "cos": np.cos, "atan": np.arctan, "asinh": np.arcsinh, "sinh": np.sinh,
                        "cosh": np.cosh}),
        "tangent": (-1.25, 1.25, {"tan": np.tan}),
        "unit": (-0.9, 0.9, {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}),
        "positive": (0.25, 9, {"log2": np.log2, "log10": np.log10}),
        "above_one": (1, 9, {"acosh": np.arccosh}),
    }
    for name, (low, high, table) in groups.items():
        for dtype in FLOATS:
            for shape in SHAPES if dtype == "float32" else ((3,), ()):
                x = tame(dtype, *shape, low=low, high=high)
                p.case(f"{name}_{dtype}_{len(shape)}", [(f"{op}(%x)", like(x, f(exact(x)))) for op, f in table.items()],
                       {"x": x}, TOLERANCE[dtype])
    everything = {op: f for _, _, table in groups.values() for op, f in table.items()}
    for dtype in ("float32", "float64"):
        edge = Tensor(dtype, [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0])
        for i in range(len(edge.a)):
            x = Tensor(dtype, edge.a[i:i + 1])
            p.case(f"edges_{dtype}", [(f"{op}(%x)", like(x, f(exact(x)))) for op, f in everything.items()], {"x": x},
                   TOLERANCE[dtype])
    large = Tensor("float32", [1e6, -12345.678, 3e30, 1e-40])
    p.case("large", [(f"{op}(%x)", like(large, everything[op](exact(large)))) for op in ("sin", "cos", "tan")],
           {"x": large}, TOLERANCE["float32"])

    for dtype in FLOATS:
        for sa, sb in (((4,), ()), ((2, 3), (3,)), ((0, 3), (1,)), ((1,), (0,)), ((), ())) if dtype == "float32" else (((4,), ()),):
            a, b = tame(dtype, *sa, low=0.25, high=3), tame(dtype, *sb)
            p.case(f"power_{dtype}_{len(sa)}_{len(sb)}", [("power(%a, %b)", like(a, exact(a) ** exact(b)))],
                   {"a": a, "b": b}, TOLERANCE[dtype])
        whole = Tensor(dtype, [-2.0, -1.0, 3.0, 0.5, -0.5])
        for exponent in (2.0, 3.0, 0.0, -1.0, 1.0, -2.0):
            p.case(f"power_whole_{dtype}", [("power(%a, %b)", like(whole, exact(whole) ** exponent))],
                   {"a": whole, "b": Tensor(dtype, exponent)}, TOLERANCE[dtype])
        values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -3.0, 0.5]
        pairs = [(x, y) for x, y in itertools.product(values, values)
                 if not np.isfinite(np.float64(x) ** y) or np.float64(x) ** y in (0.0, 1.0, -1.0)]
        a, b = Tensor(dtype, [x for x, _ in pairs]), Tensor(dtype, [y for _, y in pairs])
        p.case(f"power_edges_{dtype}", [("power(%a, %b)", like(a, exact(a) ** exact(b)))], {"a": a, "b": b},
               dims={"a": "n", "b": "n"})
    square = Tensor("float32", rng.uniform(-1e3, 1e3, 9))
    p.case("squares", [("power(%x, 2f)", like(square, square.a * square.a))], {"x": square})

    def power(x, y, dtype):
        """Of Python's integers, wrapped; a quotient is rounded towards zero."""
        bits = np.iinfo(dtype).bits
        if y < 0:
            value = {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)
        else:
            value = pow(x, y, 2**bits)
        value %= 2**bits
        return value - 2**bits if dtype in SIGNED and value >= 2**(bits - 1) else value

    for dtype in INTEGERS:
        small = [0, 1, 2, 3, 7, 13]
        if dtype in SIGNED:
            small += [-1, -2, -3, -7]
        pairs = list(itertools.product(small, small))
        info = np.iinfo(dtype)
        pairs += [(3, info.max), (2, info.max), (info.max, info.max), (info.max, 3), (info.min, 2), (info.min, 1),
                  (2, info.bits - 1), (2, info.bits), (1, info.min), (5, info.min)]
        a = Tensor(dtype, np.array([x for x, _ in pairs], dtype))
        b = Tensor(dtype, np.array([y for _, y in pairs], dtype))
        expected = np.array([power(x, y, dtype) for x, y in pairs], dtype)
        p.case(f"power_{dtype}", [("power(%a, %b)", Tensor(dtype, expected))], {"a": a, "b": b},
               dims={"a": "n", "b": "n"})
    a = integers("int32", 9)
    for exponent in (2, 3):
        p.case(f"power_{exponent}", [(f"power(%a, {exponent})", like(a, [power(int(x), exponent, "int32") for x in a.a]))],
               {"a": a})
    p.write()


def activations():
    p = Program("operators_activation", "Functions of neural networks, and other names of functions.")

    def leaky(x, slope):
        return np.where(x > 0, x, x * slope)

    for dtype in FLOATS:
        for shape in SHAPES if dtype == "float32" else ((3,), ()):
            x = tame(dtype, *shape)
            p.case(f"leaky_{dtype}_{len(shape)}",
                   [("nn.leaky_relu(%x)", like(x, leaky(exact(x), 0.25))),
                    ("nn.leaky_relu(%x, alpha=0.125f)", like(x, leaky(exact(x), 0.125))),
                    ("nn.leaky_relu(%x, alpha=-2f)", like(x, leaky(exact(x), -2))),
                    ("nn.leaky_relu(%x, alpha=0f)", like(x, leaky(exact(x), 0))),
                    ("fast_exp(%x)", like(x, np.exp(exact(x)))), ("fast_tanh(%x)", like(x, np.tanh(exact(x)))),
                    ("fast_erf(%x)", like(x, np.vectorize(math.erf, otypes=[float])(exact(x)))),
                    ("nn.dropout(%x)", (x, like(x, np.ones(shape)))),
                    ("nn.dropout(%x, rate=0.9f).0", x), ("nn.dropout(%x, rate=1f).1", like(x, np.ones(shape)))],
                   {"x": x}, TOLERANCE[dtype])
        for shape, axis in (((2, 3), None), ((2, 3, 2), 1), ((4,), 0), ((2, 3), 0), ((2, 1, 4), -1), ((0, 3), 1),
                            ((3, 0), -1))[:7 if dtype == "float32" else 2]:
            x = tame(dtype, *shape)
            at = 1 if axis is None else axis
            s = tame(dtype, shape[at])
            column = [1] * len(shape)
            column[at] = shape[at]
            attrs = "" if axis is None else f", axis={axis}"
            p.case(f"prelu_{dtype}_{len(shape)}_{axis}".replace("-", "last"),
                   [(f"nn.prelu(%x, %s{attrs})", like(x, leaky(exact(x), exact(s).reshape(column))))],
                   {"x": x, "s": s}, TOLERANCE[dtype])
        x = tame(dtype, 2, 5)
        power = np.exp(exact(x) - exact(x).max(axis=1, keepdims=True))
        p.case(f"softmax_{dtype}", [("nn.fast_softmax(%x)", like(x, power / power.sum(axis=1, keepdims=True)))],
               {"x": x}, TOLERANCE[dtype])
    edge = Tensor("float32", [np.nan, np.inf, -np.inf, 0.0, -0.0])
    p.case("edges", [("nn.leaky_relu(%x)", like(edge, [np.nan, np.inf, -np.inf, 0.0, -0.0])),
                     ("nn.prelu(%x, full(2f, shape=[5]), axis=0)", like(edge, [np.nan, np.inf, -np.inf, 0.0, -0.0]))],
           {"x": edge})
    p.define("unlike", ["%x: Tensor[(?, ?), float32]", "%s: Tensor[(?,), float32]"], ["nn.prelu(%x, %s)"])
    p.fails("unlike", {"x": tame("float32", 2, 3), "s": tame("float32", 2)},
            "nn.prelu: dimension 1 of the data (3) does not match the alpha (2)")
    p.write()


def fixed_point():
    p = Program("operators_fixed_point", "Products with fixed-point numbers.")

    def product(x, multiplier, shift):
        """Exact, and wrapped: in 64 bits before it is rounded, and in 32 after."""
        wide = (x * 2**max(shift, 0) * multiplier + 2**63) % 2**64 - 2**63
        right = 31 - min(shift, 0)
        return ((wide + 2**(right - 1)) // 2**right + 2**31) % 2**32 - 2**31

    edges = [0, 1, -1, 2, 3, -3, 5, 1000, -1000, 2**31 - 1, -2**31, 123456789, 2**30]
    x = Tensor("int32", edges)
    pairs = [(2**30, 0), (2**30, 1), (-2**30, 1), (2**31 - 1, 0), (-2**31, 0), (1395864371, -9), (1395864371, 5), (0, 3),
             (1, 0), (77777, -31), (2**30, -40), (-2**31, -32), (2**30, 31)]
    results = [(f"fixed_point_multiply(%x, multiplier={m}, shift={s})",
                like(x, [product(v, m, s) for v in edges])) for m, s in pairs]
    p.case("vector", results, {"x": x})
    for i in range(3):
        p.case("scalar", [(e, Tensor("int32", t.a[i + 8])) for e, t in results[:6]], {"x": Tensor("int32", edges[i + 8])})
    p.case("vector", [(e, Tensor("int32", [])) for e, _ in results], {"x": Tensor("int32", [])})
    p.write()


if __name__ == "__main__":
    wide_functions()
    fixed_point()
    activations()
