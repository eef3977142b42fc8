#!/usr/bin/env python3
"""Writes `field_wide.relay`: reported faults of numbers, in rows that are longer than a vector and no multiple
of one, with the odd element at every kind of place."""
import numpy as np

from cases import Program, TOLERANCE
from values import UNSIGNED, Tensor, like, maximum, minimum, truncated, wide

LENGTH = 37
PLACES = (0, 15, 16, 36)  # the first, the last, those around the parts of a row


def rows(dtype, choice, odd):
    """A row for each place, with an odd element there, and one without."""
    a = choice.integers(-8, 9, (len(PLACES) + 1, LENGTH)) / 4
    for row, place in enumerate(PLACES):
        a[row, place] = odd
    return Tensor(dtype, a)


def extremes(p, dtype, choice):
    """NaN wins in every order; so does an infinity of the right sign."""
    for odd in (np.nan, np.inf, -np.inf):
        x = rows(dtype, choice, odd)
        a = wide(x)
        r = []
        for axis in (1, 0):
            r += [(f"max(%x, axis=[{axis}])", like(x, a.max(axis))), (f"min(%x, axis=[{axis}])", like(x, a.min(axis)))]
            for name, find in (("argmax", np.argmax), ("argmin", np.argmin)):
                r.append((f"{name}(%x, axis=[{axis}])", Tensor("int32", find(a, axis))))
        r += [("nn.relu(%x)", like(x, maximum(a, np.zeros_like(a)))),
              ("max(%x)", like(x, a.max())), ("min(%x)", like(x, a.min()))]
        p.case(f"extremes_{dtype}", r, {"x": x})
    x, y = rows(dtype, choice, np.nan), rows(dtype, choice, -np.inf)
    y.a = y.a[::-1].copy()
    a, b = wide(x), wide(y)
    p.case(f"pairs_{dtype}", [("maximum(%x, %y)", like(x, maximum(a, b))), ("maximum(%y, %x)", like(x, maximum(b, a))),
                              ("minimum(%x, %y)", like(x, minimum(a, b))), ("minimum(%y, %x)", like(x, minimum(b, a))),
                              ("%x < %y", Tensor("bool", a < b)), ("%x >= %y", Tensor("bool", a >= b)),
                              ("%x != %x", Tensor("bool", np.isnan(a))), ("cast(%x, dtype=\"bool\")", Tensor("bool", a != 0))],
           {"x": x, "y": y})


def softmaxes(p, dtype, choice):
    """By exp(x - max) / sum, in every row and column."""
    for odd in (np.nan, np.inf, -np.inf):
        x = rows(dtype, choice, odd)
        if odd == -np.inf:
            x.a[1] = -np.inf
        r = []
        for axis in (1, 0):
            a = wide(x).astype(np.float64)
            e = np.exp(a - a.max(axis, keepdims=True))
            s = e.sum(axis, keepdims=True)
            r += [(f"nn.softmax(%x, axis={axis})", like(x, e / s)),
                  (f"nn.log_softmax(%x, axis={axis})", like(x, a - a.max(axis, keepdims=True) - np.log(s)))]
        p.case(f"softmaxes_{dtype}", r, {"x": x}, 4 * TOLERANCE[dtype])


def edges(p, dtype, choice):
    """Functions whose vectors are computed otherwise than their single elements."""
    names = {"tanh": {np.nan: np.nan, np.inf: 1, -np.inf: -1}, "exp": {np.nan: np.nan, np.inf: np.inf, -np.inf: 0},
             "erf": {np.nan: np.nan, np.inf: 1, -np.inf: -1}, "sigmoid": {np.nan: np.nan, np.inf: 1, -np.inf: 0},
             "log": {np.nan: np.nan, np.inf: np.inf, -np.inf: np.nan}, "floor": {np.nan: np.nan, np.inf: np.inf, -np.inf: -np.inf}}
    for odd in (np.nan, np.inf, -np.inf):
        x = Tensor(dtype, np.full((len(PLACES), LENGTH), 0.0))
        ordinary = {"tanh": 0, "exp": 1, "erf": 0, "sigmoid": 0.5, "log": -np.inf, "floor": 0}
        r = []
        for row, place in enumerate(PLACES):
            x.a[row, place] = odd
        for name, values in names.items():
            a = np.full(x.a.shape, float(ordinary[name]))
            for row, place in enumerate(PLACES):
                a[row, place] = values[odd]
            r.append((f"{name}(%x)", like(x, a)))
        p.case(f"edges_{dtype}", r, {"x": x})


def divisions(p, dtype, choice):
    """Towards zero, down, and of unsigned numbers that have the sign bit."""
    info = np.iinfo(dtype)
    low = 0 if dtype in UNSIGNED else -99
    a = choice.integers(low, 100, LENGTH).astype(dtype)
    b = choice.integers(1, 9, LENGTH).astype(dtype)
    if dtype not in UNSIGNED:
        b[::2] = -b[::2]
    for place, value in zip((0, 1, 15, 16, 31, 36), (info.max, info.min, info.max - 1, info.min + 1, info.max, info.min)):
        a[place] = value
    b[36] = info.max
    x, y = Tensor(dtype, a), Tensor(dtype, b)
    pairs = [(int(m), int(n)) for m, n in zip(a, b)]
    down = np.array([m // n for m, n in pairs], dtype)
    whole = truncated(a, b)
    rest = np.array([m - int(q) * n for (m, n), q in zip(pairs, whole)], dtype)
    p.case(f"divisions_{dtype}", [("%x / %y", like(x, whole)), ("trunc_divide(%x, %y)", like(x, whole)), ("floor_divide(%x, %y)", like(x, down)),
                                  ("mod(%x, %y)", like(x, rest)), ("floor_mod(%x, %y)", like(x, np.array([m % n for m, n in pairs], dtype))),
                                  ('cast(cast(%x, dtype="bool"), dtype="int32")', Tensor("int32", a != 0)), ("max(%x)", like(x, a.max())), ("min(%x)", like(x, a.min())),
                                  ("%x < %y", Tensor("bool", a < b)), ('cast(%x, dtype="float64")', Tensor("float64", a.astype(np.float64)))],
           {"x": x, "y": y})


program = Program("field_wide", "Reported faults of numbers, in rows longer than a vector.")
for dtype in ("float16", "float32", "float64"):
    choice = np.random.default_rng(19579)
    extremes(program, dtype, choice)
    if dtype != "float64":
        softmaxes(program, dtype, choice)
        edges(program, dtype, choice)
for dtype in ("int8", "uint8", "int32", "uint64"):
    divisions(program, dtype, np.random.default_rng(26997))
program.write()
