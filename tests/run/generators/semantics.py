#!/usr/bin/env python3
"""Writes programs/semantics_*.relay: what docs/semantics.md says, sentence by sentence, with values
from Python's integers and numpy.

`// states:` lines quote the sentences; check_sentences.py demands that none is left out."""
import pathlib
import sys

import numpy as np

from values import LONG, Tensor, bfloat16

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
INTS = {"i8": (-2**7, 2**7 - 1), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1), "i64": (-2**63, 2**63 - 1),
        "u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1), "u64": (0, 2**64 - 1)}
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def wrap(value, dtype):
    low, high = INTS[dtype]
    return (value - low) % (high - low + 1) + low


def text(dtype, values):
    """A vector, or a scalar for anything that is not a list."""
    carrier = np.float32 if dtype == "bf16" else LONG[dtype]
    return Tensor(LONG[dtype], np.array(values, carrier)).text()


def vector(dtype):
    return f"Tensor[(n,), {LONG[dtype]}]"


class Program:
    def __init__(self, name, about):
        self.name = name
        self.lines = [f"// {about}", "// Written by tests/run/generators/semantics.py.", ""]
        self.functions = 0

    def states(self, *sentences):
        for sentence in sentences:
            self.lines.append(f"// states: {sentence}")

    def function(self, params, body, *runs, name=None):
        """`runs` are (inputs, expected) or (inputs, None, message)."""
        name = name or f"f{self.functions}"
        self.functions += 1
        self.lines.append(f"// entry: {name}")
        for inputs, expected, *message in runs:
            self.lines.append(f"// run: {'; '.join(inputs)}")
            self.lines.append(f"// fails: {message[0]}" if expected is None else f"// expect: {expected}")
        self.lines.append(f"def @{name}({params}) {{ {body} }}")
        self.lines.append("")

    def write(self):
        path = PROGRAMS / f"semantics_{self.name}.relay"
        path.write_text("\n".join(self.lines).rstrip() + "\n")
        print(path.relative_to(PROGRAMS.parent.parent.parent), self.functions, file=sys.stderr)


def samples(dtype):
    low, high = INTS[dtype]
    picked = [0, 1, 2, 3, 7, high, high - 1, low, low + 1] + ([-1, -2, -3, -7] if low else [])
    return sorted(set(picked))


def pairs(dtype, keep=lambda a, b: True):
    kept = [(a, b) for a in samples(dtype) for b in samples(dtype) if keep(a, b)]
    return [a for a, _ in kept], [b for _, b in kept]


def table(program, dtype, operators, keep=lambda a, b: True, out=None):
    """All operators over all pairs of samples, in one function."""
    a, b = pairs(dtype, keep)
    body = ", ".join(f"{name}(%a, %b)" for name, _ in operators)
    want = ", ".join(text(out or dtype, [result(x, y) for x, y in zip(a, b)]) for _, result in operators)
    program.function(f"%a: {vector(dtype)}, %b: {vector(dtype)}", f"({body})",
                     ([text(dtype, a), text(dtype, b)], f"({want})"))


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def integers():
    p = Program("integers", "Integer arithmetic at its edges, in every type.")
    p.states("Addition, subtraction, multiplication and negation wrap around in the width of the type.")
    for dtype in INTS:
        table(p, dtype, [("add", lambda a, b: wrap(a + b, dtype)), ("subtract", lambda a, b: wrap(a - b, dtype)),
                         ("multiply", lambda a, b: wrap(a * b, dtype))])
        values = samples(dtype)
        p.function(f"%a: {vector(dtype)}", "negative(%a)",
                   ([text(dtype, values)], text(dtype, [wrap(-v, dtype) for v in values])))
    low_of = lambda dtype: INTS[dtype][0]
    p.states("`floor_divide` and `floor_mod` round towards minus infinity; `divide`, `trunc_divide` and `mod`, `trunc_mod` truncate.")
    for dtype in INTS:
        fits = lambda a, b: b != 0 and not (low_of(dtype) and a == low_of(dtype) and b == -1)
        remainder = lambda a, b: a - b * truncated(a, b)
        table(p, dtype, [("floor_divide", lambda a, b: a // b), ("floor_mod", lambda a, b: a % b),
                         ("divide", truncated), ("trunc_divide", truncated), ("mod", remainder),
                         ("trunc_mod", remainder)], fits)
    p.states("Zero as a divisor and the least value divided by -1 are program errors, for remainders too.")
    for dtype in ("i8", "i64", "u16"):
        low = low_of(dtype)
        for name in ("divide", "floor_divide", "trunc_divide", "mod", "floor_mod", "trunc_mod"):
            runs = [([text(dtype, [1, 1]), text(dtype, [1, 0])], None, "divisor")]
            scalar = [([text(dtype, 5), text(dtype, 0)], None, "divisor")]
            if low:
                runs.append(([text(dtype, [1, low]), text(dtype, [1, -1])], None, "divisor"))
                scalar.append(([text(dtype, low), text(dtype, -1)], None, "divisor"))
            p.function(f"%a: {vector(dtype)}, %b: {vector(dtype)}", f"{name}(%a, %b)", *runs)
            p.function(f"%a: {LONG[dtype]}, %b: {LONG[dtype]}", f"{name}(%a, %b)", *scalar)
    p.states("A left or logical right shift by the width or more gives 0, an arithmetic right shift the sign; a negative shift count counts as the width or more.")
    for dtype in INTS:
        low, high = INTS[dtype]
        width = high.bit_length() + (1 if low else 0)
        counts = [0, 1, width - 1, width, width + 1, high] + ([-1, low] if low else [])
        values = [1, 3, high, low, wrap(-1, dtype)]
        a = [v for v in values for _ in counts]
        b = [c for _ in values for c in counts]
        far = lambda c: c < 0 or c >= width
        left = [0 if far(c) else wrap(v << c, dtype) for v, c in zip(a, b)]
        right = [(-1 if v < 0 else 0) if far(c) else v >> c for v, c in zip(a, b)]
        params = f"%a: {vector(dtype)}, %b: {vector(dtype)}"
        p.function(params, "(left_shift(%a, %b), right_shift(%a, %b))",
                   ([text(dtype, a), text(dtype, b)], f"({text(dtype, left)}, {text(dtype, right)})"))
    p.states("`bool` is 0 or 1; a comparison gives `bool`.")
    for dtype in ("i8", "u64", "i64"):
        table(p, dtype, [("less", lambda a, b: a < b), ("greater_equal", lambda a, b: a >= b),
                         ("equal", lambda a, b: a == b)], out="bool")
    p.function("%a: Tensor[(n,), bool]", "(cast(%a, dtype=\"int32\"), %a + %a)",
               (["3xbool=true false true"], "(3xi32=1 0 1, 3xbool=true false true)"))
    p.write()


def floats():
    p = Program("floats", "Float arithmetic: correctly rounded, denormals kept, one rounding per operator.")
    rng = np.random.default_rng(7)
    p.states("`float32` and `float64` follow IEEE 754: addition, subtraction, multiplication, division, square root and `fma` are correctly rounded to nearest even; denormals are kept; nothing traps.")
    with np.errstate(all="ignore"):
        for dtype in ("f32", "f64"):
            kind = FLOATS[dtype]
            info = np.finfo(kind)
            tiny = np.nextafter(kind(0), kind(1))
            edge = np.array([0, -0.0, 1, -1, 3, info.max, info.tiny, tiny, -tiny, np.inf, -np.inf, np.nan, 0.1], kind)
            a = np.repeat(edge, len(edge))
            b = np.tile(edge, len(edge))
            a = np.concatenate([a, rng.standard_normal(64).astype(kind)])
            b = np.concatenate([b, rng.standard_normal(64).astype(kind)])
            for name, result in (("add", a + b), ("subtract", a - b), ("multiply", a * b), ("divide", a / b)):
                p.function(f"%a: {vector(dtype)}, %b: {vector(dtype)}", f"{name}(%a, %b)",
                           ([text(dtype, a), text(dtype, b)], text(dtype, result)))
            p.function(f"%a: {vector(dtype)}", "sqrt(%a)", ([text(dtype, a)], text(dtype, np.sqrt(a))))
            p.function(f"%a: {LONG[dtype]}, %b: {LONG[dtype]}", "(%a + %b, %a * %b, %a / %b, sqrt(%b))",
                       ([text(dtype, kind(0.1)), text(dtype, kind(0.2))],
                        "(" + ", ".join(text(dtype, v) for v in (kind(0.1) + kind(0.2), kind(0.1) * kind(0.2),
                                                                 kind(0.1) / kind(0.2), np.sqrt(kind(0.2)))) + ")"))
        p.states("`float16` and `bfloat16` are storage types: an operator converts its inputs to `float32`, computes there, and rounds its result once - inside a fused kernel too.")
        half = np.concatenate([rng.standard_normal(50), [2048, 0.1, 65504, 6e-8]]).astype(np.float16)
        other = np.concatenate([rng.standard_normal(50), [1, 0.2, 100, 6e-8]]).astype(np.float16)
        wide = lambda x: x.astype(np.float32)
        total = (wide(half) + wide(other)).astype(np.float16)
        product = (wide(total) * wide(half)).astype(np.float16)
        p.function("%a: Tensor[(n,), float16], %b: Tensor[(n,), float16]", "(%a + %b) * %a - %b",
                   ([text("f16", half), text("f16", other)],
                    text("f16", (wide(product) - wide(other)).astype(np.float16))))
        a = bfloat16(rng.standard_normal(50).astype(np.float32))
        b = bfloat16(rng.standard_normal(50).astype(np.float32))
        p.function("%a: Tensor[(n,), bfloat16], %b: Tensor[(n,), bfloat16]", "(%a + %b) * %a - %b",
                   ([text("bf16", a), text("bf16", b)], text("bf16", bfloat16(bfloat16(bfloat16(a + b) * a) - b))))
        p.states("No multiplication and addition are ever contracted into one rounding unless the operator is defined by `fma`; nothing is reassociated.")
        a, b, c = (rng.standard_normal(200).astype(np.float32) for _ in range(3))
        p.function(f"%a: {vector('f32')}, %b: {vector('f32')}, %c: {vector('f32')}",
                   "(%a * %b + %c, (%a + %b) + %c, %a + (%b + %c), %a * 3f * 5f, (%a - %b) + %b)",
                   ([text("f32", v) for v in (a, b, c)],
                    "(" + ", ".join(text("f32", v) for v in (
                        a * b + c, (a + b) + c, a + (b + c), a * np.float32(3) * np.float32(5), (a - b) + b)) + ")"))
    p.states("`maximum`, `minimum`, `max`, `min` are IEEE 754-2019 maximum and minimum: NaN wins, and -0 is below +0.")
    a = [1.0, np.nan, 1.0, -0.0, 0.0, -0.0, np.inf, np.nan]
    b = [2.0, 1.0, np.nan, 0.0, -0.0, -0.0, -np.inf, np.nan]
    high = [2.0, np.nan, np.nan, 0.0, 0.0, -0.0, np.inf, np.nan]
    low = [1.0, np.nan, np.nan, -0.0, -0.0, -0.0, -np.inf, np.nan]
    for dtype in ("f16", "f32", "f64"):
        # The quotient tells the zeros apart.
        p.function(f"%a: {vector(dtype)}, %b: {vector(dtype)}",
                   f"(maximum(%a, %b), minimum(%a, %b), 1{dtype} / maximum(%a, %b), 1{dtype} / minimum(%a, %b))",
                   ([text(dtype, a), text(dtype, b)],
                    "(" + ", ".join(text(dtype, v) for v in (
                        high, low, inverse(dtype, high), inverse(dtype, low))) + ")"))
    p.function("%a: Tensor[(n,), float32]", "(max(%a), min(%a), 1f / max(%a), 1f / min(%a))",
               (["3xf32=-0.0 0.0 -0.0"], "(f32=0.0, f32=-0.0, f32=inf, f32=-inf)"),
               (["3xf32=1 nan 2"], "(f32=nan, f32=nan, f32=nan, f32=nan)"))
    p.states("`argmax` and `argmin` give the first index of the extreme, zeros of both signs being equal; the first NaN wins.")
    p.function("%a: Tensor[(n,), float32]", "(argmax(%a), argmin(%a))",
               (["5xf32=1 3 0 3 0"], "(i32=1, i32=2)"), (["5xf32=1 nan 9 nan -9"], "(i32=1, i32=1)"),
               (["2xf32=-0.0 0.0"], "(i32=0, i32=0)"))
    p.states("The canonical NaN is positive and quiet with an empty payload; `reinterpret` and sign tests see it.")
    p.function("%a: Tensor[(n,), float32]",
               "reinterpret(%a / %a, dtype=\"int32\")", (["2xf32=0 inf"], f"2xi32={0x7fc00000} {0x7fc00000}"))
    p.function("%a: Tensor[(n,), int32]", "reinterpret(reinterpret(%a, dtype=\"float32\") + 1f, dtype=\"int32\")",
               ([f"2xi32={0x7fc00123} {0xffc00000 - 2**32}"], f"2xi32={0x7fc00000} {0x7fc00000}"))
    p.write()


def inverse(dtype, values):
    with np.errstate(all="ignore"):
        return FLOATS[dtype](1) / np.array(values, FLOATS[dtype])


def conversions():
    p = Program("conversions", "Casts between all kinds of numbers.")
    p.states("Integer to integer wraps; integer to float rounds to nearest even; float to integer truncates and saturates, NaN gives 0; anything to `bool` is `!= 0`.")
    for source in INTS:
        values = samples(source)
        results = [(target, [wrap(v, target) for v in values]) for target in INTS]
        # Python rounds an integer to the nearest double; narrower floats must not round twice.
        results += [("f64", [float(v) for v in values]), ("f32", [to_float32(v) for v in values]),
                    ("bool", [v != 0 for v in values])]
        body = ", ".join(f"cast(%a, dtype=\"{LONG[target]}\")" for target, _ in results)
        p.function(f"%a: {vector(source)}", f"({body})",
                   ([text(source, values)], "(" + ", ".join(text(t, v) for t, v in results) + ")"))
    for source in ("f32", "f64"):
        kind = FLOATS[source]
        values = [0.0, -0.0, 0.5, -0.5, 0.999, -0.999, 1.5, -1.5, 126.9, 127.5, 128.0, -128.9, -129.0, 255.9, 256.0,
                  2.0**31, -2.0**31, 2.0**32, 2.0**63, -2.0**63, 2.0**64, 1e30, -1e30, np.inf, -np.inf, np.nan]
        values = [float(kind(v)) for v in values]
        results = [(t, [0 if np.isnan(v) else saturate(v, t) for v in values]) for t in INTS]
        results.append(("bool", [bool(v != 0) for v in values]))
        body = ", ".join(f"cast(%a, dtype=\"{LONG[target]}\")" for target, _ in results)
        p.function(f"%a: {vector(source)}", f"({body})",
                   ([text(source, values)], "(" + ", ".join(text(t, v) for t, v in results) + ")"))
        scalars = ", ".join(f"cast(%a, dtype=\"{LONG[target]}\")" for target, _ in results)
        p.function(f"%a: {LONG[source]}", f"({scalars})",
                   *[([text(source, values[i])], "(" + ", ".join(text(t, v[i]) for t, v in results) + ")")
                     for i in (2, 9, 15, 20, 24, 25)])
    p.write()


def to_float32(value):
    """Nearest even, straight from the integer."""
    if value == 0:
        return 0.0
    size = abs(value)
    drop = max(size.bit_length() - 24, 0)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = (1 << drop) >> 1
    kept += drop > 0 and (rest > half or (rest == half and kept & 1))
    return float((kept << drop) if value > 0 else -(kept << drop))


def saturate(value, dtype):
    low, high = INTS[dtype]
    if value >= high:
        return high
    return low if value <= low else int(value)


def block_reduce(values, op, identity):
    """The order that docs/semantics.md states, one operation after the other."""
    stack = []  # (blocks covered, value)
    for start in range(0, len(values), 4096):
        block = values[start:start + 4096]
        partials = [identity] * 64
        for i, value in enumerate(block):
            partials[i % 64] = op(partials[i % 64], value)
        for h in (32, 16, 8, 4, 2, 1):
            for j in range(h):
                partials[j] = op(partials[j], partials[j + h])
        stack.append((1, partials[0]))
        while len(stack) > 1 and stack[-2][0] == stack[-1][0]:
            (count, left), (_, right) = stack[-2:]
            stack[-2:] = [(2 * count, op(left, right))]
    if not stack:
        return identity
    result = stack.pop()[1]
    while stack:
        result = op(stack.pop()[1], result)
    return result


def reductions():
    p = Program("reductions", "The order of reductions, and of products.")
    p.states("The order depends on the number of elements and on nothing else.",
             "The elements are taken in row-major order over the reduced axes.",
             "They are cut into blocks of 4096.",
             "In a block there are 64 partial results, each starting from the identity; partial `j` takes the elements `j`, `j + 64`, `j + 128`, ... in this order.",
             "For `h` = 32, 16, 8, 4, 2, 1: `p[j] = p[j] op p[j + h]` for all `j < h`.",
             "`p[0]` is the value of the block.",
             "A last, shorter block does the same; partials without elements keep the identity.",
             "The values of the blocks are combined like a binary counter: two neighbours that cover equally many blocks are combined, left `op` right, as soon as both are there; what is left at the end is combined from the right: `acc = left op acc`.",
             "Sums of `float16`, `bfloat16` and `float32` accumulate in `float32`, of `float64` in `float64`, of integers in the type of the result, wrapping.",
             "`mean` is the sum divided once by the count.")
    add = lambda a, b: a + b
    for dtype in ("f32", "f64"):
        kind = FLOATS[dtype]
        runs = []
        for n in (1, 2, 63, 64, 65, 4095, 4096, 4097, 3 * 4096 + 5, 7 * 4096 + 1):
            elements = [kind(1) / (kind(i) + kind(1)) for i in range(n)]
            total = block_reduce(elements, add, kind(0))
            runs.append(([f"i64={n}"], f"({text(dtype, total)}, {text(dtype, total / kind(n))})"))
        one, zero = (f"1{dtype}", f"0{dtype}")
        p.function("%n: int64",
                   f"let %i = cast(arange(0i64, %n, 1i64), dtype=\"{LONG[dtype]}\"); let %x = {one} / (%i + {one}); "
                   f"(sum(%x), mean(%x))", *runs)
    # Rows: the same order for every row, whatever the other extents are.
    rows, columns = 3, 4096 + 130
    kind = np.float32
    table = [[kind(1) / (kind(r * columns + c) + kind(1)) for c in range(columns)] for r in range(rows)]
    by_row = [block_reduce(row, add, kind(0)) for row in table]
    by_column = [block_reduce([row[c] for row in table], add, kind(0)) for c in (0, 1, columns - 1)]
    everything = block_reduce([v for row in table for v in row], add, kind(0))
    p.function("%r: int64, %c: int64",
               "let %i = cast(arange(0i64, %r * %c, 1i64), dtype=\"float32\"); "
               "let %x = reshape(1f / (%i + 1f), stack((%r, %c))); "
               "(sum(%x, axis=[1]), take(sum(%x, axis=[0]), stack((0i64, 1i64, %c - 1i64))), sum(%x))",
               ([f"i64={rows}", f"i64={columns}"],
                f"({text('f32', by_row)}, {text('f32', by_column)}, {text('f32', everything)})"))
    half = [np.float16(1) / (np.float16(i % 100) + np.float16(1)) for i in range(1000)]
    total = block_reduce([np.float32(v) for v in half], add, np.float32(0))
    p.function("%x: Tensor[(n,), float16]", "sum(%x)", ([text("f16", half)], text("f16", np.float16(total))))
    p.function("%x: Tensor[(n,), int8]", "sum(%x)", (["3xi8=100 100 100"], f"i8={wrap(300, 'i8')}"))
    p.states("A reduction over nothing gives the identity - 0 for `sum`, 1 for `prod`, minus or plus infinity or the extreme of the type for `max` and `min` - and is a program error for `mean` of integers, `argmax` and `argmin`.")
    for dtype in ("f32", "i8"):
        least, most = ("-inf", "inf") if dtype == "f32" else ("-128", "127")
        p.function(f"%x: Tensor[(n, 2), {LONG[dtype]}]",
                   "(sum(%x, axis=[0]), prod(%x, axis=[0]), max(%x, axis=[0]), min(%x, axis=[0]))",
                   ([f"0x2x{dtype}="], f"(2x{dtype}=0 0, 2x{dtype}=1 1, 2x{dtype}={least} {least}, 2x{dtype}={most} {most})"))
    p.function("%x: Tensor[(n,), int32]", "mean(%x)", (["3xi32=1 2 4"], "i32=2"), (["0xi32="], None, "mean"))
    p.function("%x: Tensor[(n,), float32]", "argmax(%x)", (["0xf32="], None, "argmax"))
    p.function("%x: Tensor[(n,), float32]", "argmin(%x)", (["0xf32="], None, "argmin"))
    p.states("`nn.dense`, `nn.matmul` and `nn.batch_matmul` start every output element at 0 and take the products in ascending `k`, each with one `fma`.")
    rng = np.random.default_rng(3)
    for m, n, k in ((1, 1, 1), (3, 5, 70), (17, 9, 33)):
        a = rng.standard_normal((m, k)).astype(np.float32)
        b = rng.standard_normal((k, n)).astype(np.float32)
        want = fma_product(a, b)
        shaped = lambda x: text("f32", x)
        p.function("%a: Tensor[(m, k), float32], %b: Tensor[(k, n), float32]",
                   "(nn.matmul(%a, %b), nn.dense(%a, transpose(%b, axes=[1, 0])), "
                   "squeeze(nn.batch_matmul(expand_dims(%a, axis=0), expand_dims(transpose(%b, axes=[1, 0]), axis=0), transpose_b=True), axis=[0]))",
                   ([shaped(a), shaped(b)], f"({shaped(want)}, {shaped(want)}, {shaped(want)})"))
    p.states("`softmax` is `exp(x - max) / sum`, with the reductions above.")
    p.function("%r: int64, %c: int64",
               "let %i = cast(arange(0i64, %r * %c, 1i64), dtype=\"float32\"); "
               "let %x = reshape(10f / (%i + 1f), stack((%r, %c))); "
               "let %e = exp(%x - max(%x, axis=[1], keepdims=True)); "
               "all(equal(nn.softmax(%x, axis=1), %e / sum(%e, axis=[1], keepdims=True)))",
               *[([f"i64={r}", f"i64={c}"], "bool=true") for r, c in ((0, 3), (1, 1), (3, 7), (2, 65), (3, 4100))])
    p.write()


def fma_product(a, b):
    """Float32 fma through exact rational arithmetic: a product of two floats is exact in a double; the sum
    with a float32 is rounded once, to odd, in a double, so that the second rounding is right."""
    out = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            acc = np.float32(0)
            for k in range(a.shape[1]):
                acc = fma32(a[i, k], b[k, j], acc)
            out[i, j] = acc
    return out


def fma32(a, b, c):
    from fractions import Fraction
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return np.float32(0)
    near = np.float32(float(exact))
    candidates = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    best = min(candidates, key=lambda v: (abs(Fraction(float(v)) - exact), int(np.float32(v).view(np.uint32)) & 1))
    return np.float32(best)


if __name__ == "__main__":
    integers()
    floats()
    conversions()
    reductions()
