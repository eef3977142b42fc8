"""Writes `operators_pooling.relay`, `operators_convolution.relay` `operators_convolution_transpose.relay`
and `operators_sampling.relay`: pools and convolutions, written out as
sums over windows. Elements are small whole numbers, whose sums are exact in every order."""
import itertools
import math

import numpy as np

from cases import Program, whole
from values import FLOATS, Tensor, like

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def written(**attrs):
    def value(v):
        if isinstance(v, str):
            return f'"{v}"'
        return str(list(v)) if isinstance(v, tuple) else str(v)
    return "".join(f", {k}={value(v)}" for k, v in attrs.items())


def each(value, count):
    return (value,) * count if isinstance(value, int) else tuple(value)


def paddings(padding, count):
    padding = each(padding, count)
    return padding[:count], padding[count:] if len(padding) == 2 * count else padding


# ---- Layouts: arrays of axes N, C and the spatial ones, in that order, and back -------------------


def moved(a, source, target):
    """From one order of axes to another; a last small letter after a number is a place in blocks."""
    def parts(layout):
        return layout[:-2] if layout[-1].islower() else layout
    if source[-1].islower():
        axis = parts(source).index(source[-1].upper())
        a = np.moveaxis(a, -1, axis + 1)
        a = a.reshape(a.shape[:axis] + (-1,) + a.shape[axis + 2:])
    a = np.transpose(a, [parts(source).index(c) for c in parts(target)])
    if target[-1].islower():
        axis, block = parts(target).index(target[-1].upper()), int(target[-2])
        a = a.reshape(a.shape[:axis] + (-1, block) + a.shape[axis + 1:])
        a = np.moveaxis(a, axis + 1, -1)
    return a


# ---- Pools --------------------------------------------------------------------------------------


def pooled(x, kind, size, strides=1, dilation=1, padding=0, ceil_mode=False, count_include_pad=False):
    count = x.ndim - 2
    size, strides, dilation = each(size, count), each(strides, count), each(dilation, count)
    before, after = paddings(padding, count)
    windows = []
    for i in range(count):
        extent = x.shape[2 + i]
        left = extent + before[i] + after[i] - (size[i] - 1) * dilation[i] - 1
        places = (math.ceil(left / strides[i]) if ceil_mode else left // strides[i]) + 1
        windows.append([[at for k in range(size[i]) if 0 <= (at := p * strides[i] + k * dilation[i] - before[i]) < extent]
                        for p in range(places)])
    return gathered(x, kind, windows, math.prod(size) if count_include_pad else None)


def gathered(x, kind, windows, divisor=None):
    out = np.zeros(x.shape[:2] + tuple(map(len, windows)), x.dtype)
    for place in np.ndindex(out.shape):
        inside = [windows[i][p] for i, p in enumerate(place[2:])]
        elements = [x[place[:2] + at] for at in itertools.product(*inside)]
        if kind == "max":
            lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
            out[place] = max(elements, default=lowest)
        elif x.dtype.kind == "f":
            out[place] = sum(map(float, elements)) / max(divisor or len(elements), 1)
        else:
            total = sum(map(int, elements))
            out[place] = abs(total) // max(divisor or len(elements), 1) * (1 if total >= 0 else -1)
    return out


def adaptive(x, kind, size):
    count = x.ndim - 2
    windows = [[range(p * n // s, -(-(p + 1) * n // s)) for p in range(s)] if s else [[p] for p in range(n)]
               for n, s in zip(x.shape[2:], each(size, count) if size else (0,) * count)]
    return gathered(x, kind, windows)


def pools(p):
    variants = [dict(pool_size=(2,)), dict(pool_size=(2,), strides=(2,)), dict(pool_size=(3,), padding=(1,)),
                dict(pool_size=(2,), strides=(2,), ceil_mode=True), dict(pool_size=(2,), dilation=(2,)),
                dict(pool_size=(3,), strides=(2,), padding=(2,), ceil_mode=True)]
    names = dict(pool_size="size")

    def case(dtype, shape, layout, attrs, kinds=("max", "avg")):
        count = len(shape) - 2
        x = whole(dtype, *shape)
        plain = "NC" + SPATIAL[count]
        given = Tensor(dtype, moved(x.a, plain, layout))
        results = []
        for kind in kinds:
            own = dict(attrs)
            if kind == "max":
                own.pop("count_include_pad", None)
            y = pooled(x.a, kind, **{names.get(k, k): v if isinstance(v, bool) else v[0] if len(v) == 1 else v
                                     for k, v in own.items()})
            text = written(**own, **({"layout": layout} if layout != plain else {}))
            results.append((f"nn.{kind}_pool{count}d(%x{text})", Tensor(dtype, moved(y, plain, layout))))
        return results, {"x": given}

    index = 0
    def add(*args, called=None, **kwargs):
        nonlocal index
        results, inputs = case(*args, **kwargs)
        p.case(called or f"pool_{index}", results, inputs, 1e-2 if args[0] in ("float16", "bfloat16") else 1e-6 if args[0] in FLOATS else 0)
        index += 1

    for attrs in variants:
        add("float32", (1, 2, 5), "NCW", attrs)
        add("float32", (1, 1, 5, 4), "NCHW", attrs)
    add("float32", (1, 2, 4, 5), "NCHW", dict(pool_size=(2, 3), strides=(1, 2), padding=(0, 1, 1, 0), count_include_pad=True), called="pool2d_nchw")
    add("float32", (1, 4, 3, 4), "NHWC", dict(pool_size=(2, 2), strides=(2, 2)), called="pool2d_nhwc")
    add("float32", (1, 8, 3, 4), "NCHW4c", dict(pool_size=(2, 2), padding=(1, 1), count_include_pad=True), called="pool2d_NCHW4c")
    add("float32", (1, 2, 3, 2, 4), "NCDHW", dict(pool_size=(2, 1, 2), strides=(1,), padding=(1,)))
    add("float32", (2, 1, 1, 1), "NCHW", dict(pool_size=(1,)))
    add("float32", (0, 2, 3, 3), "NCHW", dict(pool_size=(2,)))
    add("float32", (1, 0, 3, 3), "NCHW", dict(pool_size=(2,)))
    add("float32", (1, 1, 0, 2), "NCHW", dict(pool_size=(2,), padding=(1,)))
    for dtype in ("int8", "uint8", "int32", "int64", "uint64", "float16", "bfloat16", "float64"):
        add(dtype, (1, 1, 4, 3), "NCHW", dict(pool_size=(2,), padding=(1,), strides=(2,)))
    full = Tensor("int8", np.full((1, 1, 3, 3), 127))
    p.case("pool_wide", [("nn.avg_pool2d(%x, pool_size=[3, 3])", Tensor("int8", [[[[127]]]]))], {"x": full})
    p.states("A pool adds the elements of a window that are inside of the data one after the other in row-major order, and divides the sum once.")
    x = Tensor("float32", [[[1e8, 1.0, -1e8, 1.0]]])
    p.case("pool_order", [("nn.avg_pool1d(%x, pool_size=[4])", Tensor("float32", [[[0.25]]]))], {"x": x})
    edge = Tensor("float32", [[[np.nan, 1, -0.0, 0.0, -0.0, -np.inf]]])
    p.case("pool_edges", [("nn.max_pool1d(%x, pool_size=[2])", like(edge, [[[np.nan, 1, 0, 0, -0.0]]]))], {"x": edge})
    p.define("small", ["%x: Tensor[(1, 1, ?, ?), float32]"], ["nn.max_pool2d(%x, pool_size=[3, 3])"])
    p.fails("small", {"x": whole("float32", 1, 1, 3, 2)},
            "nn.max_pool2d: a window that spans 3 does not fit into W, which is 2 with its padding")


def adaptive_pools(p):
    index = 0
    for dtype, shape, size in (("float32", (1, 2, 7), (3,)), ("float32", (1, 2, 5, 7), (2, 3)), ("float32", (1, 1, 3, 2), (5,)),
                               ("float32", (2, 1, 4, 5), ()), ("float32", (1, 1, 3, 4, 5), (2, 2, 2)), ("int8", (1, 2, 5, 5), (2,)),
                               ("float32", (0, 2, 5, 7), (2, 3)), ("float16", (1, 1, 5), (2,)), ("uint8", (1, 1, 5), (2,))):
        x = whole(dtype, *shape)
        count = len(shape) - 2
        attrs = written(output_size=size) if size else ""
        p.case(f"adaptive_{index}", [(f"nn.adaptive_{kind}_pool{count}d(%x{attrs})",
                                      like(x, adaptive(x.a, kind, size[0] if len(size) == 1 else size))) for kind in ("max", "avg")],
               {"x": x}, 1e-2 if dtype == "float16" else 1e-6 if dtype in FLOATS else 0)
        index += 1
    p.define("divided", ["%x: Tensor[(?, ?, ?), float32]"], ["nn.adaptive_max_pool1d(%x, output_size=[2])"])
    p.fails("divided", {"x": whole("float32", 1, 1, 0)}, "nn.adaptive_max_pool1d: W has no elements to pool")


def global_pools(p):
    for index, (dtype, shape) in enumerate((("float32", (2, 3, 4, 2)), ("float32", (1, 2, 1, 1)), ("float32", (0, 2, 3, 3)),
                                            ("int8", (1, 1, 4, 4)), ("float16", (1, 2, 3, 3)))):
        x = Tensor(dtype, np.full(shape, 100)) if dtype == "int8" else whole(dtype, *shape)
        y = {"max": x.a.max(axis=(2, 3), keepdims=True), "avg": x.a.astype(float).mean(axis=(2, 3), keepdims=True)}
        p.case(f"global_{index}", [(f"nn.global_{kind}_pool2d(%x)", like(x, y[kind])) for kind in y], {"x": x},
               1e-2 if dtype == "float16" else 1e-6 if dtype in FLOATS else 0)
    x = whole("float32", 1, 4, 2, 3)
    p.case("global_layouts", [
        ('nn.global_avg_pool2d(%x, layout="NHWC")', Tensor("float32", moved(x.a.mean(axis=(2, 3), keepdims=True), "NCHW", "NHWC"))),
        ('nn.global_max_pool2d(%x, layout="NHWC", out_layout="NCHW2c")',
         Tensor("float32", moved(x.a.max(axis=(2, 3), keepdims=True), "NCHW", "NCHW2c")))],
        {"x": Tensor("float32", moved(x.a, "NCHW", "NHWC"))}, 1e-6)
    none = Tensor("float32", np.zeros((1, 1, 0, 2)))
    p.case("global_none", [("nn.global_max_pool2d(%x)", Tensor("float32", [[[[-np.inf]]]])),
                           ("nn.global_avg_pool2d(%x)", Tensor("float32", [[[[np.nan]]]]))], {"x": none})
    p.define("global_whole", ["%x: Tensor[(?, ?, ?, ?), int8]"], ["nn.global_avg_pool2d(%x)"])
    p.fails("global_whole", {"x": Tensor("int8", np.zeros((1, 1, 0, 2)))}, "there are no elements")


# ---- Convolutions -------------------------------------------------------------------------------


def convolved(x, w, strides=1, padding=0, dilation=1, groups=1):
    """x: N, C, ...; w: O, I, ..."""
    count = x.ndim - 2
    strides, dilation = each(strides, count), each(dilation, count)
    before, after = paddings(padding, count)
    x = np.pad(x.astype(object), [(0, 0), (0, 0)] + list(zip(before, after)))
    window = w.shape[2:]
    places = [(x.shape[2 + i] - (window[i] - 1) * dilation[i] - 1) // strides[i] + 1 for i in range(count)]
    y = np.zeros((x.shape[0], w.shape[0], *places), object)
    per = w.shape[0] // groups
    for place in np.ndindex(y.shape):
        n, o, *at = place
        first = o // per * w.shape[1]
        y[place] = sum(x[(n, first + i, *(a * s + k * d for a, s, k, d in zip(at, strides, ks, dilation)))] * int(w[(o, i, *ks)])
                       for i in range(w.shape[1]) for ks in np.ndindex(window))
    return y


def spread(x, w, strides=1, padding=0, dilation=1, groups=1, output_padding=0):
    """Transposed: each element of the data adds the weight to its place. w: I, O of a group, ..."""
    count = x.ndim - 2
    strides, dilation, extra = each(strides, count), each(dilation, count), each(output_padding, count)
    before, after = paddings(padding, count)
    window, per = w.shape[2:], x.shape[1] // groups
    wide = [(n - 1) * s + (k - 1) * d + 1 + e for n, s, k, d, e in zip(x.shape[2:], strides, window, dilation, extra)]
    y = np.zeros((x.shape[0], w.shape[1] * groups, *wide), object)
    for n, i, *at in np.ndindex(x.shape):
        for o in range(w.shape[1]):
            for ks in np.ndindex(window):
                y[(n, i // per * w.shape[1] + o, *(a * s + k * d for a, s, k, d in zip(at, strides, ks, dilation)))] += \
                    int(x[(n, i, *at)]) * int(w[(i, o, *ks)])
    return y[(slice(None), slice(None), *(slice(b, n - a) for b, a, n in zip(before, after, wide)))]


class Cases:
    """Calls of convolutions, each in a function of its own."""

    def __init__(self, program):
        self.program = program
        self.index = 0

    def add(self, data, weight, dtype="float32", layout=None, kernel=None, transposed=False, out_dtype=None, name=None, unknown=False,
            called=None, **attrs):
        count = len(data) - 2
        x, w = whole(dtype, *data), whole(dtype, *weight)
        plain, plain_kernel = "NC" + SPATIAL[count], ("IO" if transposed else "OI") + SPATIAL[count]
        options = {k: v[0] if isinstance(v, tuple) and len(v) == 1 else v for k, v in attrs.items() if k not in ("channels", "kernel_size", "out_layout")}
        y = (spread if transposed else convolved)(x.a, w.a, **options)
        y = y.astype(np.int64).astype(np.dtype(out_dtype or dtype) if (out_dtype or dtype) != "bfloat16" else np.float32)
        texts = dict(attrs)
        if layout:
            texts["data_layout"] = layout
        if kernel:
            texts["kernel_layout"] = kernel
        if out_dtype:
            texts["out_dtype"] = out_dtype
        out = attrs.get("out_layout") or layout or plain
        name = name or f"nn.conv{count}d" + ("_transpose" if transposed else "")
        wt = moved(w.a, plain_kernel, kernel) if kernel and not kernel.endswith("i4o") else w.a
        if kernel and kernel.endswith("i4o"):  # OIHW2i4o
            o, i, *k = w.a.shape
            wt = w.a.reshape(o // 4, 4, i // 2, 2, *k).transpose(0, 2, 4, 5, 3, 1)
        inputs = {"x": Tensor(dtype, moved(x.a, plain, layout or plain)), "w": Tensor(dtype, wt)}
        # A kernel for weights of any extents is large.
        self.program.case(called or f"conv_{self.index}", [(f"{name}(%x, %w{written(**texts)})", Tensor(out_dtype or dtype, moved(y, plain, out)))], inputs,
                          dims={} if unknown else {"w": inputs["w"].known()})
        self.index += 1


def convolutions(p):
    add = Cases(p).add
    add((1, 2, 6), (3, 2, 3))
    add((2, 2, 6), (3, 2, 3), padding=(1,), strides=(2,), unknown=True)
    add((1, 1, 6), (2, 1, 2), padding=(0, 1), dilation=(2,))
    add((1, 2, 5), (3, 2, 2), layout="NWC", kernel="WIO")
    add((1, 2, 4, 5), (3, 2, 3, 3), padding=(1, 1), called="conv2d_nchw")
    add((1, 2, 7, 5), (3, 2, 3, 3), padding=(1, 1), dilation=(2, 2), called="conv2d_dilated")
    add((1, 2, 5, 4), (2, 2, 3, 2), padding=(1, 0, 0, 2), strides=(2, 1), channels=2, kernel_size=(3, 2))
    add((1, 4, 4, 4), (4, 2, 2, 2), groups=2)
    add((1, 4, 4, 4), (4, 1, 3, 3), groups=4, padding=(1,))
    add((1, 2, 4, 4), (4, 1, 2, 2), groups=2, layout="NHWC", kernel="HWOI", dilation=(1, 2))
    add((1, 3, 4, 4), (2, 3, 1, 1), layout="NHWC", kernel="HWIO", unknown=True, called="conv2d_nhwc")
    add((1, 3, 4, 4), (2, 3, 1, 1), out_layout="NHWC", strides=(2, 2))
    add((1, 3, 3, 4), (2, 3, 2, 2), layout="NHWC", kernel="OHWI")
    add((2, 16, 3, 3), (16, 16, 1, 1))
    add((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), padding=(1, 0, 0), strides=(2, 1, 1))
    add((1, 1, 2, 3, 4), (2, 1, 1, 2, 2), padding=(0, 1, 0, 1, 0, 1), layout="NDHWC", kernel="DHWIO")
    add((1, 4, 3, 3), (8, 4, 2, 2), layout="NCHW2c", kernel="OIHW2i4o", channels=8, out_layout="NCHW4c")
    add((1, 4, 3, 3), (8, 4, 2, 2), layout="NCHW2c", kernel="OIHW2i4o", channels=8, out_layout="NCHW4c", name="nn.contrib_conv2d_NCHWc",
        padding=(1, 1), called="conv2d_NCHWc")
    p.define("any_extents", ["%x: Tensor[(?, ?, ?, ?), float32]", "%w: Tensor[(?, ?, ?, ?), float32]"], ["nn.conv2d(%x, %w, padding=[1])"])
    for data, weight in (((1, 2, 4, 5), (3, 2, 3, 3)), ((0, 2, 4, 4), (3, 2, 3, 3)), ((1, 0, 4, 4), (3, 0, 3, 3)), ((1, 2, 4, 4), (0, 2, 3, 3)),
                         ((1, 1, 1, 1), (1, 1, 1, 1)), ((1, 2, 0, 3), (3, 2, 2, 2)), ((1, 1, 7, 7), (9, 1, 2, 2))):
        x, w = whole("float32", *data), whole("float32", *weight)
        p.run("any_extents", {"x": x, "w": w}, [like(x, convolved(x.a, w.a, padding=1).astype(float))])
    for dtype in ("int8", "uint8", "int32", "int64", "float16", "bfloat16", "float64"):
        add((1, 2, 4, 4), (2, 2, 2, 2), dtype, padding=(1,))
    add((1, 4, 4, 4), (4, 4, 3, 3), "int8", out_dtype="int32", padding=(1,))
    add((1, 2, 4, 4), (2, 2, 2, 2), "float16", out_dtype="float32")

    p.states("A convolution does so over the input channels of the group and, for each of them, over the window in row-major order; padding is zeros, which are multiplied.")
    x = Tensor("float32", [[[1e8, 1.0], [-1e8, 1.0]]])
    p.case("order", [("nn.conv1d(%x, %w)", Tensor("float32", [[[1.0]]]))], {"x": x, "w": Tensor("float32", np.ones((1, 2, 2)))})
    # Zero times infinity is NaN.
    x, w = Tensor("float32", [[[1.0, 2.0]]]), Tensor("float32", [[[np.inf, 1.0, 1.0]]])
    p.case("padding", [("nn.conv1d(%x, %w, padding=[1])", Tensor("float32", [[[np.nan, np.inf]]]))], {"x": x, "w": w})
    p.define("refused", ["%x: Tensor[(?, ?, ?), float32]", "%w: Tensor[(?, ?, ?), float32]"], ["nn.conv1d(%x, %w)"])
    for data, weight, message in (((1, 2, 3), (1, 3, 2), "nn.conv1d: the data has 2 channels, and the weight takes 3"),
                                  ((1, 2, 3), (1, 2, 0), "nn.conv1d: the weight has no elements along W"),
                                  ((1, 2, 3), (1, 2, 4), "nn.conv1d: a window that spans 4 does not fit into W, which is 3 with its padding")):
        p.fails("refused", {"x": whole("float32", *data), "w": whole("float32", *weight)}, message)


def transposed_convolutions(p):
    add = Cases(p).add
    add((1, 2, 4), (2, 3, 3), transposed=True)
    add((2, 2, 4), (2, 3, 3), transposed=True, strides=(2,), padding=(1,), output_padding=(1,), called="transposed_ncw")
    add((1, 2, 3, 4), (2, 3, 3, 2), transposed=True, strides=(2, 3), padding=(1, 0), unknown=True, called="transposed_nchw")
    add((1, 2, 3, 3), (2, 2, 2, 2), transposed=True, dilation=(2, 1), padding=(0, 1, 1, 0))
    add((1, 4, 3, 3), (4, 2, 2, 2), transposed=True, groups=2, strides=(2,))
    add((1, 4, 3, 3), (4, 1, 3, 3), transposed=True, groups=4, strides=(2,), padding=(1,), output_padding=(1, 1))
    add((1, 2, 3, 3), (2, 3, 2, 2), transposed=True, layout="NHWC", kernel="HWIO", strides=(2, 1))
    add((1, 2, 3, 3), (2, 3, 2, 2), transposed=True, kernel="OIHW", channels=3, kernel_size=(2, 2))
    add((1, 2, 2, 2, 3), (2, 2, 2, 1, 2), transposed=True, strides=(2, 1, 2))
    add((0, 2, 3, 3), (2, 3, 2, 2), transposed=True)
    add((1, 2, 0, 3), (2, 3, 3, 2), transposed=True, layout="NCHW")
    add((1, 2, 3, 3), (2, 3, 3, 3), "int8", transposed=True, out_dtype="int32", strides=(2,))
    p.define("shrunk", ["%x: Tensor[(?, ?, ?), float32]", "%w: Tensor[(?, ?, ?), float32]"], ["nn.conv1d_transpose(%x, %w, padding=[3])"])
    p.fails("shrunk", {"x": whole("float32", 1, 2, 1), "w": whole("float32", 2, 2, 1)},
            "nn.conv1d_transpose: the result would have -5 elements along W")


# ---- Made of convolutions, or like them ---------------------------------------------------------


def dense_packs(p):
    x, w = whole("float32", 3, 4), whole("float32", 8, 4)
    y = Tensor("float32", x.a @ w.a.T)
    blocks = {"NC": w.a, "CN": w.a.T, "NC4n": w.a.reshape(2, 4, 4).transpose(0, 2, 1),
              "NC4n2c": w.a.reshape(2, 4, 2, 2).transpose(0, 2, 1, 3)}
    for index, (layout, packed) in enumerate(blocks.items()):
        p.case(f"dense_{index}", [(f'nn.contrib_dense_pack(%x, %w, weight_layout="{layout}")', y),
                                  (f'nn.contrib_dense_pack(%x, %w, weight_layout="{layout}", units=8)', y)],
               {"x": x, "w": Tensor("float32", packed)})
    x, w = whole("int8", 2, 3), whole("int8", 4, 3)
    p.case("dense_int8", [('nn.contrib_dense_pack(%x, %w, weight_layout="NC2n", out_dtype="int32")',
                           Tensor("int32", x.a.astype(np.int32) @ w.a.T.astype(np.int32)))],
           {"x": x, "w": Tensor("int8", w.a.reshape(2, 2, 3).transpose(0, 2, 1))})


def correlated(a, b, size=1, far=1, stride1=1, stride2=1, padding=0, multiplies=True):
    before, after = paddings(padding, 2)
    a, b = (np.pad(t.astype(float), [(0, 0), (0, 0)] + list(zip(before, after))) for t in (a, b))
    radius = far // stride2
    moves = [(u * stride2, v * stride2) for u in range(-radius, radius + 1) for v in range(-radius, radius + 1)]
    border = far + size // 2
    rows, columns = (math.ceil((n - 2 * border) / stride1) for n in a.shape[2:])
    y = np.zeros((a.shape[0], len(moves), rows, columns))
    for n, q, i, j in np.ndindex(y.shape):
        h, w = far + i * stride1, far + j * stride1
        u, v = moves[q]
        s, t = a[n, :, h:h + size, w:w + size], b[n, :, h + u:h + u + size, w + v:w + v + size]
        y[n, q, i, j] = (s * t if multiplies else abs(s - t)).sum() / s.size
    return y


def correlations(p):
    names = {"size": "kernel_size", "far": "max_displacement", "multiplies": "is_multiply"}
    for index, (shape, attrs) in enumerate((((1, 2, 4, 5), {}), ((2, 1, 5, 6), dict(size=3, padding=1)), ((1, 3, 5, 5), dict(far=2, stride2=2, padding=(2, 1, 1, 2))),
                                            ((1, 2, 6, 5), dict(stride1=2, multiplies=False)), ((1, 1, 1, 1), dict(far=0)), ((0, 2, 4, 4), {}))):
        for dtype in FLOATS if index == 0 else ("float32",):
            a, b = whole(dtype, *shape), whole(dtype, *shape)
            texts = {names.get(k, k): (v,) if k == "padding" and isinstance(v, int) else v for k, v in attrs.items()}
            p.case(f"correlation_{index}_{dtype}", [(f"nn.correlation(%a, %b{written(**texts)})", Tensor(dtype, correlated(a.a, b.a, **attrs)))],
                   {"a": a, "b": b}, 1e-2 if dtype in ("float16", "bfloat16") else 1e-6)


def sampled(x, offset, window, strides=1, padding=0, dilation=1, groups=1):
    """N, C, window..., places...: the data between its elements."""
    n, c, rows, columns = x.shape
    strides, dilation = each(strides, 2), each(dilation, 2)
    before, _ = paddings(padding, 2)
    y = np.zeros((n, c, *window, *offset.shape[2:]))
    for b, i, u, v, p, q in np.ndindex(y.shape):
        pair = 2 * ((i // (c // groups) * window[0] + u) * window[1] + v)
        h = p * strides[0] - before[0] + u * dilation[0] + float(offset[b, pair, p, q])
        w = q * strides[1] - before[1] + v * dilation[1] + float(offset[b, pair + 1, p, q])
        if not (0 <= h < rows and 0 <= w < columns):
            continue
        for r, part in ((math.floor(h), 1 - h % 1), (min(math.ceil(h), rows - 1), h % 1)):
            for s, share in ((math.floor(w), 1 - w % 1), (min(math.ceil(w), columns - 1), w % 1)):
                y[b, i, u, v, p, q] += part * share * float(x[b, i, r, s])
    return y


def deformed(p):
    for index, (data, weight, attrs) in enumerate((
            ((1, 2, 4, 4), (2, 2, 2, 2), {}), ((1, 4, 5, 4), (4, 2, 3, 2), dict(padding=(1,), strides=(2, 1), groups=2)),
            ((2, 2, 4, 4), (9, 2, 2, 2), dict(deformable_groups=2, dilation=(2, 1))), ((0, 2, 3, 3), (2, 2, 2, 2), {}))):
        options = {k: v[0] if isinstance(v, tuple) and len(v) == 1 else v for k, v in attrs.items()}
        groups, moved_groups = options.pop("groups", 1), options.pop("deformable_groups", 1)
        x, w = whole("float32", *data), whole("float32", *weight)
        places = convolved(x.a, w.a, **options, groups=groups).shape[2:]
        offset = Tensor("float32", np.random.default_rng(index).integers(-6, 7, (data[0], 2 * moved_groups * weight[2] * weight[3], *places)) / 4)
        y = sampled(x.a, offset.a, weight[2:], **options, groups=moved_groups)
        flat = y.reshape(data[0], math.prod(y.shape[1:4]), *places)
        out = np.zeros((data[0], weight[0], *places))
        per, taken = weight[0] // groups, flat.shape[1] // groups
        for o in range(weight[0]):
            first = o // per * taken
            out[:, o] = np.einsum("nk...,k->n...", flat[:, first:first + taken], w.a[o].reshape(-1))
        window = {k: v for k, v in attrs.items() if k != "groups"}
        p.case(f"deformed_{index}", [(f"nn.deformable_conv2d(%x, %o, %w{written(**attrs)})", Tensor("float32", out)),
                                     (f"nn.deformable_conv2d.samples(%x, %o, %w{written(**window)})", Tensor("float32", flat))],
               {"x": x, "o": offset, "w": w}, 1e-5, dims={"w": w.known()})
    x, w = whole("float32", 1, 1, 2, 2), whole("float32", 1, 1, 1, 1)
    far = Tensor("float32", [[[[np.nan, 1e30], [-np.inf, 0.25]], [[0.0, 0.0], [0.0, 0.0]]]])
    p.case("deformed_far", [("nn.deformable_conv2d.samples(%x, %o, %w)", Tensor("float32", [[[[0, 0], [0, x.a[0, 0, 1, 1]]]]]))],
           {"x": x, "o": far, "w": w})


if __name__ == "__main__":
    np.seterr(all="ignore")
    for name, summary, parts in (("pooling", "Pools.", (pools, adaptive_pools, global_pools)),
                                 ("convolution", "Convolutions.", (convolutions,)),
                                 ("convolution_transpose", "Transposed convolutions.", (transposed_convolutions,)),
                                 ("sampling", "Products and convolutions of what is moved or packed first; correlations.",
                                  (dense_packs, correlations, deformed))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()
