"""Writes `operators_quantised.relay`: what quantised tensors are made of and made into, in plain integers."""
import math

import numpy as np

from cases import Program, rng, tame
from values import Tensor


def fixed(x, ratio, nearest):
    """x * ratio with 31 fractional bits, halves up, or away from zero."""
    significand, exponent = math.frexp(ratio)
    multiplier = int(math.floor(significand * 2 ** 31 + 0.5))
    product = x * 2 ** max(exponent, 0) * multiplier
    shift = 31 + max(-exponent, 0)
    if nearest and product < 0:
        return -((-product + 2 ** (shift - 1)) >> shift)
    return (product + 2 ** (shift - 1)) >> shift


def clipped(x, dtype):
    info = np.iinfo(dtype)
    return min(max(int(x), info.min), info.max)


def f32(x):
    return float(np.float32(x))


def over(f, dtype, *arrays):
    """Elementwise on plain numbers, broadcast and limited."""
    b = np.broadcast(*arrays)
    return Tensor(dtype, np.array([clipped(f(*(v.item() for v in values)), dtype) for values in b], dtype).reshape(b.shape))


def values(dtype, *shape):
    info = np.iinfo(dtype)
    low, high = max(info.min, -128), min(info.max, 255)
    return Tensor(dtype, rng.integers(low, high + 1, shape))


def scalar(kind, value):
    return Tensor(kind, value)


def data(p):
    for out in ("int8", "uint8", "int16", "int32"):
        x = Tensor("float32", [[0.0, 0.25, -0.25, 0.75], [3.0, -300.0, 1e10, -np.inf]])
        s, z = 0.5, 3
        c = Tensor("float32", [0.5, 0.25, 2.0, 1.0])
        k = Tensor("int32", [0, 1, -2, 3])
        r = Tensor("float32", [0.5, 0.125])

        def q(v, scale, zero):
            if np.isinf(v):
                return -2 ** 31 + zero
            v = round(float(np.float32(v) / np.float32(scale)))
            return min(max(v, -2 ** 31), 2 ** 31 - 1) + zero

        inputs = {"x": x, "s": scalar("float32", s), "z": scalar("int32", z), "c": c, "k": k, "r": r}
        p.case(f"quantize_{out}",
               [(f'qnn.quantize(%x, %s, %z, out_dtype="{out}")', over(lambda v: q(v, s, z), out, x.a)),
                (f'qnn.quantize(%x, %c, %k, out_dtype="{out}")', over(q, out, x.a, c.a, k.a)),
                (f'qnn.quantize(%x, %r, %z, axis=0, out_dtype="{out}")', over(lambda v, a: q(v, a, z), out, x.a, r.a[:, None]))], inputs)
        y = values(out, 2, 4)
        p.case(f"dequantize_{out}",
               [("qnn.dequantize(%y, %s, %z)", Tensor("float32", (y.a.astype(np.int64) - z).astype(np.float32) * np.float32(s))),
                ("qnn.dequantize(%y, %c, %k)", Tensor("float32", (y.a.astype(np.int64) - k.a).astype(np.float32) * c.a)),
                ('qnn.dequantize(%y, %r, %z, axis=-2, out_dtype="float16")',
                 Tensor("float16", (y.a.astype(np.int64) - z).astype(np.float32) * r.a[:, None]))],
               {"y": y, "s": scalar("float32", s), "z": scalar("int32", z), "c": c, "k": k, "r": r})
    x = Tensor("int32", [0, 1, -1, 2, -2, 3, -3, 100, -100, 12345, -98765, 2 ** 26, -2 ** 26])
    for number, (scale_in, scale_out) in enumerate(((1.0, 1.0), (0.5, 1.0), (1.0, 2.0), (0.1, 0.03), (1.0, 3.0), (7.5, 0.5), (1e-7, 1.0), (1e-12, 1.0))):
        a, b = f32(scale_in), f32(scale_out)
        results = []
        for rounding in ("UPWARD", "TONEAREST"):
            for out in ("int8", "uint8", "int32"):
                def value(v, nearest=rounding == "TONEAREST"):
                    return fixed(v - 5, a / b, nearest) + 2
                results.append((f'qnn.requantize(%x, %a, %z, %b, %o, rounding="{rounding}", out_dtype="{out}")', over(value, out, x.a)))
        p.case(f"requantize_{number}" if number < 1 else "requantize_0", results,
               {"x": x, "a": scalar("float32", a), "z": scalar("int32", 5), "b": scalar("float32", b), "o": scalar("int32", 2)})
    # Ratios, data and zero points beyond which products of 64 bits wrap around.
    for kind, most in (("int32", 2 ** 31 - 1), ("uint32", 2 ** 32 - 1), ("int64", 2 ** 62)):
        least = 0 if kind == "uint32" else -most - 1
        x = Tensor(kind, [0, 1, 2, 5, most, most - 1, most // 2, max(least, -1), max(least, -3), least, least + 1, 2 ** 30, max(least, -2 ** 31)])
        for zero in (0, -2 ** 31):
            results = []
            for power, significand in ((-33, 1.75), (-32, 1.75), (-31, 1.0), (-1, 1.0), (0, 1.75), (30, 1.0), (31, 1.75), (120, 1.0)):
                ratio = significand * 2.0 ** power
                for rounding in ("UPWARD", "TONEAREST"):
                    def value(v, ratio=ratio, nearest=rounding == "TONEAREST"):
                        return fixed(v - zero, ratio, nearest) - 2 ** 31
                    results.append((f'qnn.requantize(%x, {ratio!r}f, %z, 1f, %o, rounding="{rounding}", out_dtype="int32")', over(value, "int32", x.a)))
            p.case(f"requantize_far_{kind}", results, {"x": x, "z": scalar("int32", zero), "o": scalar("int32", -2 ** 31)})
    y = values("int32", 3, 2)
    s, z = Tensor("float32", [0.3, 0.7, 1.9]), Tensor("int32", [1, -4, 0])
    p.case("requantize_channels", [("qnn.requantize(%y, %s, %z, %b, %o, axis=0)",
           over(lambda v, a, zero: fixed(v - zero, f32(a) / 0.5, False) - 1, "int8", y.a, s.a[:, None], z.a[:, None]))],
           {"y": y, "s": s, "z": z, "b": scalar("float32", 0.5), "o": scalar("int32", -1)})


def sums(p):
    for dtype in ("int8", "uint8"):
        a, b = values(dtype, 2, 3), values(dtype, 3)
        sa, za, sb, zb, so, zo = 0.25, 3, 0.1, -2, 0.2, 7
        inputs = {"a": a, "b": b, "sa": scalar("float32", sa), "za": scalar("int32", za), "sb": scalar("float32", sb),
                  "zb": scalar("int32", zb), "so": scalar("float32", so), "zo": scalar("int32", zo)}
        names = ", ".join("%" + k for k in inputs)
        ra, rb = f32(sa) / f32(so), f32(sb) / f32(so)
        rm = f32(np.float32(sa) * np.float32(sb)) / f32(so)
        joined = Tensor(dtype, np.concatenate([over(lambda x: fixed(x - za, ra, False) + zo, dtype, a.a).a,
                                               over(lambda x: fixed(x - zb, rb, False) + zo, dtype, a.a).a]))
        p.case(f"sums_{dtype}",
               [(f"qnn.add({names})", over(lambda x, y: fixed(x - za, ra, False) + fixed(y - zb, rb, False) + zo, dtype, a.a, b.a)),
                (f"qnn.subtract({names})", over(lambda x, y: fixed(x - za, ra, False) - fixed(y - zb, rb, False) + zo, dtype, a.a, b.a)),
                (f"qnn.mul({names})", over(lambda x, y: fixed((x - za) * (y - zb), rm, False) + zo, dtype, a.a, b.a)),
                ("qnn.concatenate(%so, %zo, (%a, %a, %sa, %sb, %za, %zb))", joined),
                ("qnn.concatenate((%a, %a), (%sa, %sb), (%za, %zb), %so, %zo)", joined)],
               inputs)
        c = Tensor("float32", [0.25, 0.5, 0.1])
        p.case(f"channels_{dtype}",
               [("qnn.add(%a, %b, %c, %za, %sb, %zb, %so, %zo, lhs_axis=1)",
                 over(lambda x, s, y: fixed(x - za, f32(s) / f32(so), False) + fixed(y - zb, rb, False) + zo, dtype, a.a, c.a, b.a))],
               {**inputs, "c": c})


def products(p):
    for one, two in (("int8", "int8"), ("uint8", "int8")):
        x, w = values(one, 2, 5), values(two, 3, 5)
        k = Tensor("int32", [1, -2, 0])
        inputs = {"x": x, "w": w, "zx": scalar("int32", 4), "zw": scalar("int32", -3), "k": k,
                  "s": scalar("float32", 0.5)}
        wide, wide_w = x.a.astype(np.int64) - 4, w.a.astype(np.int64)
        p.case(f"dense_{one}", [("qnn.dense(%x, %w, %zx, %zw, %s, %s)", Tensor("int32", wide @ (wide_w + 3).T)),
                                ("qnn.dense(%x, %w, %zx, %k, %s, %s, units=3)", Tensor("int32", wide @ (wide_w - k.a[:, None]).T)),
                                ('qnn.dense(%x, %w, %zx, %zw, %s, %s, out_dtype="int64")', Tensor("int64", wide @ (wide_w + 3).T))], inputs)
        y, z = values(one, 2, 2, 3), values(two, 2, 4, 3)
        wide, wide_z = y.a.astype(np.int64) - 4, z.a.astype(np.int64) + 3
        p.case(f"batches_{one}", [("qnn.batch_matmul(%y, %z, %zx, %zw, %s, %s, transpose_b=True)", Tensor("int32", wide @ np.swapaxes(wide_z, 1, 2)))],
               {"y": y, "z": z, "zx": scalar("int32", 4), "zw": scalar("int32", -3), "s": scalar("float32", 0.5)})


def convolved(x, w, strides, padding):
    """Of NCHW and OIHW, in whole numbers."""
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    parts = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::strides[0], ::strides[1]]
    return np.einsum("nihwkl,oikl->nohw", parts, w)


def convolutions(p):
    x, w = values("uint8", 1, 2, 4, 3), values("int8", 2, 2, 2, 2)
    k = Tensor("int32", [1, -2])
    inputs = {"x": x, "w": w, "zx": scalar("int32", 4), "zw": scalar("int32", -3), "k": k, "s": scalar("float32", 0.5)}
    wide, wide_w = x.a.astype(np.int64) - 4, w.a.astype(np.int64)
    padded = convolved(wide, wide_w + 3, (2, 1), (1, 2))
    p.case("convolved", [("qnn.conv2d(%x, %w, %zx, %zw, %s, %s, strides=[2, 1], padding=[1, 2], kernel_size=[2, 2], channels=2)",
                          Tensor("int32", padded)),
                         ("qnn.conv2d(%x, %w, %zx, %k, %s, %s)",
                          Tensor("int32", convolved(wide, wide_w - k.a[:, None, None, None], (1, 1), (0, 0)))),
                         ('qnn.conv2d(transpose(%x, axes=[0, 2, 3, 1]), transpose(%w, axes=[2, 3, 1, 0]), %zx, %k, %s, %s, '
                          'data_layout="NHWC", kernel_layout="HWIO")',
                          Tensor("int32", np.moveaxis(convolved(wide, wide_w - k.a[:, None, None, None], (1, 1), (0, 0)), 1, -1)))], inputs)


if __name__ == "__main__":
    np.seterr(all="ignore")
    program = Program("operators_quantised", "Quantised tensors.")
    for part in (data, sums, products, convolutions):
        part(program)
    program.write()
