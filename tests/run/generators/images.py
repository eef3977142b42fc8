"""Writes `operators_images.relay` and `operators_samples.relay`: resizes and upsamplings; crops, grids and dilation. In
float64 throughout, but for the nearest elements, which are found with fractions."""
import itertools
import math
from fractions import Fraction

import numpy as np

from cases import Program, rng, tame, whole
from values import Tensor, converted, like

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 2e-6, "int32": 0, "uint8": 0}
MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize")
ROUNDINGS = ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


def place(mode, x, n, m, start=0, end=1):
    x, n, m = Fraction(x), Fraction(n), Fraction(m)
    if mode == "tf_crop_and_resize":
        start, end = Fraction(start), Fraction(end)
        return (start + end) * (n - 1) / 2 if m == 1 else start * (n - 1) + x * (end - start) * (n - 1) / (m - 1)
    if mode == "align_corners":
        return Fraction(0) if m == 1 else x * (n - 1) / (m - 1)
    if mode == "asymmetric":
        return x * n / m
    if mode == "tf_half_pixel_for_nn":
        return (x + Fraction(1, 2)) * n / m
    if mode == "pytorch_half_pixel" and m == 1:
        return Fraction(0)
    return (x + Fraction(1, 2)) * n / m - Fraction(1, 2)


def nearest(p, rounding):
    if rounding == "floor":
        return math.floor(p)
    if rounding == "ceil":
        return math.ceil(p)
    return math.ceil(p - Fraction(1, 2)) if rounding == "round_prefer_floor" else math.floor(p + Fraction(1, 2))


def cubic(t, a):
    def near(d):
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1

    def far(d):
        return a * (d ** 3 - 5 * d ** 2 + 8 * d - 4)
    return [far(1 + t), near(t), near(1 - t), far(2 - t)]


def taps(p, n, method, rounding="round", alpha=-0.5, exclude=False):
    """Pairs of an element and its weight."""
    clamp = lambda i: min(max(i, 0), n - 1)
    if method == "nearest_neighbor":
        return [(clamp(nearest(p, rounding)), 1.0)]
    first = math.floor(p)
    t = float(p - first)
    if method == "linear":
        return [(clamp(first), 1 - t), (clamp(first + 1), t)]
    weights = cubic(t, alpha)
    if exclude:
        weights = [w if 0 <= first - 1 + i < n else 0 for i, w in enumerate(weights)]
        weights = [w / sum(weights) for w in weights]
    return [(clamp(first - 1 + i), w) for i, w in enumerate(weights)]


def resized(a, axes, size, method, mode, rounding="round", roi=None, value=0.0, **cubics):
    """One axis after the other."""
    outside = np.zeros(a.shape, bool)
    if method != "nearest_neighbor":
        a = a.astype(np.float64)
    for i, (axis, m) in enumerate(zip(axes, size)):
        rows, gone = [], []
        for x in range(m):
            p = place(mode, x, a.shape[axis], m, *((roi[i], roi[i + len(axes)]) if roi else ()))
            gone.append(mode == "tf_crop_and_resize" and not 0 <= p <= a.shape[axis] - 1)
            parts = [np.take(a, k, axis) * (1 if method == "nearest_neighbor" else w)
                     for k, w in taps(p, a.shape[axis], method, rounding, **cubics)]
            rows.append(sum(parts[1:], parts[0]))
        a = np.stack(rows, axis) if rows else np.take(a, [], axis)
        outside = np.take(outside, [0] * m, axis)
        shape = [1] * a.ndim
        shape[axis] = m
        outside = outside | np.array(gone, bool).reshape(shape)
    return np.where(outside, np.asarray(value), a) if mode == "tf_crop_and_resize" else a


def text(**attrs):
    def one(v):
        if isinstance(v, str):
            return f'"{v}"'
        if isinstance(v, float):
            return f"{v}f"
        return "[" + ", ".join(one(x) for x in v) + "]" if isinstance(v, (list, tuple)) else str(v)
    return ", ".join(f"{k}={one(v)}" for k, v in attrs.items())


def result(x, values, dtype=None):
    return converted(Tensor("float64", values), dtype) if dtype else like(x, values)


def resizes(p):
    plans = {"resize1d": ("NCW", (2, 1, 5), (2,), ((7,),)),
             "resize2d": ("NCHW", (1, 2, 3, 4), (2, 3), ((5, 2),)),
             "resize3d": ("NCDHW", (1, 1, 2, 3, 2), (2, 3, 4), ((3, 1, 2),))}
    for name, (layout, shape, axes, sizes) in plans.items():
        for size, mode in itertools.product(sizes, MODES if name != "resize3d" else MODES[1::4]):
            x = tame("float32", *shape)
            roi = [0.25] * len(axes) + [0.75] * len(axes) if len(axes) == 2 else [-0.125] * len(axes) + [1.0] * len(axes)
            extra = {"roi": roi, "extrapolation_value": 1.5} if mode == "tf_crop_and_resize" else {}
            own = {"roi": roi, "value": 1.5} if extra else {}
            r = []
            for method in ("linear", "cubic") if name != "resize3d" else ("linear",):
                attrs = text(size=size, method=method, coordinate_transformation_mode=mode, **extra)
                r.append((f"image.{name}(%x, {attrs})", like(x, resized(x.a, axes, size, method, mode, **own))))
            if not extra:  # a place of the roi is a rounded number
                for rounding in ROUNDINGS if name == "resize1d" else ("", "round_prefer_floor"):
                    attrs = text(size=size, method="nearest_neighbor", coordinate_transformation_mode=mode, rounding_method=rounding)
                    meant = rounding or ("round" if mode == "align_corners" else "floor")
                    r.append((f"image.{name}(%x, {attrs})", like(x, resized(x.a, axes, size, "nearest_neighbor", mode, meant))))
            p.case(f"{name}_{'x'.join(map(str, size))}_{mode}", r, {"x": x}, TOLERANCE["float32"])
    for dtype in ("bfloat16", "float64", "uint8"):
        x = tame(dtype, 1, 3, 2, 1)
        size = (2, 4)
        for method in ("nearest_neighbor", "cubic"):
            values = resized(x.a, (1, 2), size, method, "half_pixel")
            attrs = text(size=size, method=method, layout="NHWC")
            p.case(f"typed_{dtype}_{method}", [(f"image.resize2d(%x, {attrs})", result(x, values, dtype if dtype == "uint8" else None)),
                                               (f'image.resize2d(%x, {attrs}, out_dtype="float32")', Tensor("float32", values))],
                   {"x": x}, TOLERANCE[dtype] if method == "cubic" else 0)
    x = tame("float32", 1, 1, 3, 4)
    for alpha, exclude in ((-0.75, 0), (-0.5, 1), (-0.75, 1)):
        attrs = text(size=(5, 6), method="cubic", cubic_alpha=alpha, cubic_exclude=exclude)
        p.case(f"cubic_{exclude}_{-alpha:g}".replace(".", "_"),
               [(f"image.resize2d(%x, {attrs})", like(x, resized(x.a, (2, 3), (5, 6), "cubic", "half_pixel", alpha=alpha, exclude=bool(exclude))))],
               {"x": x}, TOLERANCE["float32"])
    # Nearest of [1, 2] to 3 and of [1, 2, 3, 4] to 2.
    pair = Tensor("float32", [[[1, 2]]])
    four = Tensor("float32", [[[1, 2, 3, 4]]])
    near = 'method="nearest_neighbor"'
    p.case("nearest_of_two", [(f'image.resize1d(%a, size=[3], {near}, rounding_method="round_prefer_floor")', Tensor("float32", [[[1, 1, 2]]])),
                              (f'image.resize1d(%a, size=[3], {near}, rounding_method="round_prefer_ceil")', Tensor("float32", [[[1, 2, 2]]])),
                              (f'image.resize1d(%b, size=[2], {near}, coordinate_transformation_mode="asymmetric", rounding_method="floor")',
                               Tensor("float32", [[[1, 3]]]))], {"a": pair, "b": four})
    # Elements that no float32 has, and more of them than one can count.
    big = Tensor("int64", [[[2**62 + 1, -2**62 - 1]]])
    p.case("nearest_is_exact", [(f"image.resize1d(%x, size=[4], {near})", Tensor("int64", [[[2**62 + 1] * 2 + [-2**62 - 1] * 2]]))], {"x": big})
    # By a tensor that is given, and to nothing.
    p.define("given", ["%x: Tensor[(n, c, h, w), float32]", "%s: Tensor[(2,), int64]", "%r: Tensor[(4,), float32]"],
             ["image.resize2d(%x, %s, %r)", 'dyn.image.resize2d(%x, %s, %r, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=-1f)'])
    for size in ((2, 6), (3, 4), (0, 3), (1, 1)):
        roi = Tensor("float32", [0.25, -0.5, 0.5, 0.75])
        p.run("given", {"x": x, "s": Tensor("int64", size), "r": roi},
              [like(x, resized(x.a, (2, 3), size, "linear", "half_pixel")),
               like(x, resized(x.a, (2, 3), size, "linear", "tf_crop_and_resize", roi=[float(v) for v in roi.a], value=-1.0))], 4e-6)
    p.fails("given", {"x": x, "s": Tensor("int64", (2, -1)), "r": roi}, "image.resize2d: element 1 of the size is negative (-1)")
    p.fails("given", {"x": Tensor("float32", np.zeros((1, 1, 0, 2))), "s": Tensor("int64", (2, 1)), "r": roi},
            "image.resize2d: dimension 2 of the data has no elements")


def scaled(extent, scale):
    return math.floor(Fraction(str(scale)) * extent + Fraction(1, 2))


def upsamplings(p):
    x = tame("float32", 1, 2, 3, 4)
    for scales in ((1.5, 3.0), (0.7, 1.1)):
        r = []
        size = [scaled(e, s) for e, s in zip(x.a.shape[2:], scales)]
        for method, align in itertools.product(("nearest_neighbor", "bilinear", "bicubic"), (False, True)):
            mode = "align_corners" if align else "asymmetric"
            plain = {"bilinear": "linear", "bicubic": "cubic"}.get(method, method)
            values = resized(x.a, (2, 3), size, plain, mode, "round" if align else "floor")
            attrs = text(scale_h=scales[0], scale_w=scales[1], method=method, align_corners=align)
            r.append((f"nn.upsampling(%x, {attrs})", like(x, values)))
            attrs = text(method=method, align_corners=align)
            r.append((f"dyn.nn.upsampling(%x, {scales[0]}f, {scales[1]}f, {attrs})", like(x, values)))
        p.case(f"upsampling_{scales[0]}_{scales[1]}".replace(".", "_"), r, {"x": x}, 4e-6)
    v = tame("float32", 1, 2, 3, 2, 1)
    for scales, mode in (((2.0, 1.0, 2.0), "half_pixel"), ((1.5, 0.5, 3.0), "align_corners"), ((1.0, 2.0, 1.0), "asymmetric")):
        r = []
        size = [scaled(e, s) for e, s in zip(v.a.shape[1:4], scales)]
        for method in ("nearest_neighbor", "trilinear"):
            plain = "linear" if method == "trilinear" else method
            values = resized(v.a, (1, 2, 3), size, plain, mode, "round" if mode == "align_corners" else "floor")
            rest = text(layout="NDHWC", method=method, coordinate_transformation_mode=mode)
            r.append((f"nn.upsampling3d(%v, {text(scale_d=scales[0], scale_h=scales[1], scale_w=scales[2])}, {rest})", like(v, values)))
            r.append((f"dyn.nn.upsampling3d(%v, {', '.join(f'{s}f' for s in scales)}, {rest})", like(v, values)))
        p.case(f"upsampling3d_{mode}", r, {"v": v}, 4e-6)
    p.define("by_scalars", ["%x: Tensor[(n, c, h, w), float32]", "%s: float32", "%t: float64"],
             ['dyn.nn.upsampling(%x, %s, %t, method="bilinear")'])
    for s, t in ((2.0, 1.5), (0.25, 3.0), (1.1, 1.0)):
        size = [scaled(3, s), scaled(4, t)]
        p.run("by_scalars", {"x": x, "s": Tensor("float32", s), "t": Tensor("float64", t)},
              [like(x, resized(x.a, (2, 3), size, "linear", "asymmetric"))], 4e-6)
    p.fails("by_scalars", {"x": x, "s": Tensor("float32", -1.0), "t": Tensor("float64", 1.0)}, "-1")


def crops(p):
    for layout, method, dtype in (("NCHW", "bilinear", "float32"), ("NHWC", "nearest_neighbor", "float32"), ("NHWC", "bilinear", "uint8")):
        shape = (2, 1, 3, 4) if layout == "NCHW" else (2, 3, 4, 1)
        axes = (2, 3) if layout == "NCHW" else (1, 2)
        x = tame(dtype, *shape)
        boxes = np.array([[0, 0, 1, 1], [0.25, 0.25, 0.5, 0.75], [-0.25, 0.5, 1.25, 0.0], [0.5, 0.5, 0.5, 0.5]])
        which = [0, 1, -1, 0]
        for size in ((3, 3), (1, 2)):
            rows = [resized(x.a[[w]], axes, size, "linear" if method == "bilinear" else method, "tf_crop_and_resize",
                            roi=[float(b) for b in box], value=2.0) for box, w in zip(boxes, which)]
            values = np.concatenate(rows)
            attrs = text(crop_size=size, layout=layout, method=method, extrapolation_value=2.0)
            p.case(f"crop_{layout}_{method}_{dtype}_{size[0]}",
                   [(f'image.crop_and_resize(%x, %b, %i, {attrs}, out_dtype="float32")', Tensor("float32", values)),
                    (f"image.crop_and_resize(%x, %b, %i, {attrs})", result(x, values, dtype))],
                   {"x": x, "b": Tensor("float32", boxes), "i": Tensor("int32", which)}, 4e-6)
    p.define("wrong_box", ["%x: Tensor[(n, 1, 2, 2), float32]", "%b: Tensor[(k, 4), float32]", "%i: Tensor[(k,), int32]"],
             ["image.crop_and_resize(%x, %b, %i, crop_size=[1, 1])"])
    p.fails("wrong_box", {"x": tame("float32", 1, 1, 2, 2), "b": Tensor("float32", np.zeros((1, 4))), "i": Tensor("int32", [1])},
            "image.crop_and_resize: an index is out of range")
    p.run("wrong_box", {"x": tame("float32", 1, 1, 2, 2), "b": Tensor("float32", np.zeros((0, 4))), "i": Tensor("int32", [])},
          [Tensor("float32", np.zeros((0, 1, 1, 1)))])


def affine(p):
    for dtype in ("float32", "bfloat16"):
        t = tame(dtype, 2, 2, 3)
        a = t.a.astype(np.float64)
        r = []
        for h, w in ((2, 3), (1, 4), (0, 2)):
            ys = np.linspace(-1, 1, h) if h > 1 else np.zeros(h)
            xs = np.linspace(-1, 1, w) if w > 1 else np.zeros(w)
            grid = np.stack(np.broadcast_arrays(xs[None, :], ys[:, None], np.ones((h, w))))
            r.append((f"image.affine_grid(%t, target_shape=[{h}, {w}])", like(t, np.einsum("ndk,khw->ndhw", a, grid))))
        p.case(f"affine_{dtype}", r, {"t": t}, TOLERANCE[dtype])


def sampled(a, g, method, padding, align):
    """For one batch: a (c, ...), g (k, ...)."""
    k = g.shape[0]
    out = np.zeros((a.shape[0],) + g.shape[1:])
    for at in np.ndindex(*g.shape[1:]):
        every = []
        for d in range(k):
            n = a.shape[1 + d]
            v = float(g[(k - 1 - d,) + at])
            p = (v + 1) * (n - 1) / 2 if align else ((v + 1) * n - 1) / 2

            def bring(p):
                if padding == "zeros":
                    return p
                if padding == "reflection":
                    low, high = (0, n - 1) if align else (-0.5, n - 0.5)
                    if low == high:
                        p = low
                    while not low <= p <= high:
                        p = 2 * low - p if p < low else 2 * high - p
                return min(max(p, 0), n - 1)
            if method == "nearest":
                pairs = [(round(bring(p)), 1.0)]
            elif method == "bilinear":
                p = bring(p)
                pairs = [(math.floor(p), 1 - (p - math.floor(p))), (math.floor(p) + 1, p - math.floor(p))]
            else:
                first = math.floor(p)
                pairs = [(math.floor(bring(first - 1 + i)), w) for i, w in enumerate(cubic(p - first, -0.75))]
            every.append([(i, w) for i, w in pairs if 0 <= i < n])
        for combination in itertools.product(*every):
            weight = math.prod(w for _, w in combination)
            out[(slice(None),) + at] += weight * a[(slice(None),) + tuple(i for i, _ in combination)]
    return out


def grids(p):
    for padding, align in itertools.product(("zeros", "border", "reflection"), (True, False)):
        x = tame("float32", 2, 2, 3, 4)
        g = Tensor("float32", np.round(rng.uniform(-2.2, 2.2, (2, 2, 2, 3)), 2))
        r = []
        for method in ("bilinear", "nearest", "bicubic"):
            values = np.stack([sampled(a.astype(np.float64), b, method, padding, align) for a, b in zip(x.a, g.a)])
            r.append((f"image.grid_sample(%x, %g, {text(method=method, padding_mode=padding, align_corners=align)})", like(x, values)))
        p.case(f"grid_{padding}_{align}", r, {"x": x, "g": g}, 2e-5)
        if align:
            continue
        v = tame("float32", 1, 1, 2, 1, 3)
        h = Tensor("float64", np.round(rng.uniform(-1.7, 1.7, (1, 3, 1, 2, 2)), 2))
        r = []
        for method in ("bilinear", "nearest"):
            values = np.stack([sampled(a.astype(np.float64), b, method, padding, align) for a, b in zip(v.a, h.a)])
            attrs = text(method=method, layout="NCDHW", padding_mode=padding, align_corners=align)
            r.append((f"image.grid_sample(%v, %h, {attrs})", like(v, values)))
        p.case(f"volume_{padding}_{align}", r, {"v": v, "h": h}, 2e-5)


def dilations(p):
    for dtype, layout, strides, padding, dilation in (
            ("float32", "NCHW", (1, 1), (0, 0), (1, 1)), ("float32", "NHWC", (2, 1), (1, 2), (1, 2)),
            ("int8", "NCHW", (1, 2), (2, 0, 1, 1), (2, 1)), ("bfloat16", "NHWC", (1, 1), (1,), (1, 1))):
        first = layout == "NCHW"
        x = whole(dtype, *((2, 2, 4, 5) if first else (2, 4, 5, 2)))
        k = whole(dtype, *((2, 2, 3) if first else (2, 3, 2)))
        a = (x.a if first else np.moveaxis(x.a, 3, 1)).astype(np.float64)
        b = (k.a if first else np.moveaxis(k.a, 2, 0)).astype(np.float64)
        top, left, bottom, right = {1: padding * 4, 2: padding * 2, 4: padding}[len(padding)]
        a = np.pad(a, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=-np.inf)
        h = (a.shape[2] - (b.shape[1] - 1) * dilation[0] - 1) // strides[0] + 1
        w = (a.shape[3] - (b.shape[2] - 1) * dilation[1] - 1) // strides[1] + 1
        out = np.full((2, 2, h, w), -np.inf)
        for i, j in np.ndindex(*b.shape[1:]):
            y, z = i * dilation[0], j * dilation[1]
            part = a[:, :, y:y + (h - 1) * strides[0] + 1:strides[0], z:z + (w - 1) * strides[1] + 1:strides[1]]
            out = np.maximum(out, part + b[None, :, i, j, None, None])
        if dtype == "int8":
            out = np.maximum(out, -128)
        out = out if first else np.moveaxis(out, 1, 3)
        attrs = text(strides=strides, padding=padding, dilations=dilation, data_layout=layout, kernel_layout="IHW" if first else "HWI")
        p.case(f"dilation_{dtype}_{layout}", [(f"image.dilation2d(%x, %k, {attrs})", like(x, out))], {"x": x, "k": k})
    p.define("large_kernel", ["%x: Tensor[(n, 1, h, w), float32]", "%k: Tensor[(1, a, b), float32]"], ["image.dilation2d(%x, %k)"])
    p.fails("large_kernel", {"x": tame("float32", 1, 1, 2, 3), "k": tame("float32", 1, 3, 1)},
            "image.dilation2d: a kernel that reaches over 3 places does not fit into dimension 2 (2)")


if __name__ == "__main__":
    for name, summary, parts in (("images", "Resizes and upsamplings.", (resizes, upsamplings)),
                                 ("samples", "Crops, grids and dilation.", (crops, affine, grids, dilations))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()
