"""Writes `operators_blocks.relay` and `operators_windows.relay`: blocks moved between axes, and elements picked by
where they are."""
import itertools

import numpy as np

from cases import Program, rng, tame
from values import Tensor, converted, like

SOME = ("float32", "bfloat16", "bool")


def spaces(p):
    for dtype, layout, (n, c, h, w), b in itertools.product(SOME, ("NCHW", "NHWC"), ((2, 8, 2, 3), (1, 4, 1, 1), (0, 4, 2, 2), (2, 9, 2, 1)),
                                                            (1, 2, 3)):
        if c % (b * b) or (dtype != "float32" and (n, c, h, w) != (2, 8, 2, 3)):
            continue
        first = layout == "NCHW"
        x = tame(dtype, *((n, c, h, w) if first else (n, h, w, c)))
        a = x.a if first else np.moveaxis(x.a, 3, 1)
        r = []
        for mode in ("DCR", "CRD"):
            out = np.empty((n, c // (b * b), h * b, w * b), a.dtype)
            for ni, ci, y, z in np.ndindex(*out.shape):
                place = y % b * b + z % b
                channel = place * out.shape[1] + ci if mode == "DCR" else ci * b * b + place
                out[ni, ci, y, z] = a[ni, channel, y // b, z // b]
            whole = out if first else np.moveaxis(out, 1, 3)
            r.append((f'nn.depth_to_space(%x, block_size={b}, layout="{layout}", mode="{mode}")', like(x, whole)))
            if mode == "DCR":
                back = r[-1][0].replace("depth_to_space", "space_to_depth").replace("%x", r[-1][0])
                r.append((back, x))
        p.case(f"spaces_{dtype}_{layout}_{n}x{c}_{b}", r, {"x": x})
    p.define("not_divided", ["%x: Tensor[(n, c, h, w), float32]"], ["nn.space_to_depth(%x, block_size=2)"])
    p.fails("not_divided", {"x": tame("float32", 1, 1, 2, 3)}, "nn.space_to_depth: 2 does not divide the width (3)")
    p.define("few_channels", ["%x: Tensor[(n, c, h, w), float32]"], ["nn.depth_to_space(%x, block_size=2)"])
    p.fails("few_channels", {"x": tame("float32", 1, 6, 1, 1)}, "nn.depth_to_space: 4 does not divide the number of channels (6)")


def listed(pairs):
    return "[" + ", ".join(f"[{a}, {b}]" for a, b in pairs) + "]"


def batches(p):
    for dtype, shape, blocks, pads in (("float32", (2, 3, 4), (2, 2), ((1, 0), (0, 2))), ("int8", (1, 4, 3, 2), (2,), ((0, 0),)),
                                       ("bool", (2, 2, 2, 3), (2, 1), ((0, 0), (1, 1))), ("float16", (0, 2), (2,), ((0, 0),)),
                                       ("float64", (3, 2), (1,), ((1, 1),)), ("float32", (2, 0, 3), (2,), ((1, 1),))):
        x = tame(dtype, *shape)
        value = converted(Tensor("float64", 1.5), dtype)
        whole = np.pad(x.a, [(0, 0), *pads] + [(0, 0)] * (len(shape) - 1 - len(blocks)), constant_values=value.a)
        n = shape[0]
        out_shape = [n * int(np.prod(blocks))] + [e // b for e, b in zip(whole.shape[1:], blocks)] + list(whole.shape[1 + len(blocks):])
        out = np.empty(out_shape, whole.dtype)
        for at in np.ndindex(*out_shape):
            place, batch = divmod(at[0], n)
            inner = np.unravel_index(place, blocks)
            out[at] = whole[(batch,) + tuple(i * b + j for i, b, j in zip(at[1:], blocks, inner)) + at[1 + len(blocks):]]
        attrs = f"block_shape=[{', '.join(map(str, blocks))}]"
        call = f"nn.space_to_batch_nd(%x, {attrs}, paddings={listed(pads)}, pad_value=1.5f)"
        p.case(f"batches_{dtype}_{'x'.join(map(str, shape))}",
               [(call, like(x, out)), (f"nn.batch_to_space_nd({call}, {attrs}, crops={listed(pads)})", x),
                (f"nn.batch_to_space_nd({call}, {attrs}, crops={listed([(0, 0)] * len(blocks))})", like(x, whole))], {"x": x})
    p.define("cropped", ["%x: Tensor[(n, m), float32]"], ["nn.batch_to_space_nd(%x, block_shape=[2], crops=[[1, 2]])"])
    p.fails("cropped", {"x": tame("float32", 2, 1)}, "nn.batch_to_space_nd: dimension 1 of the result is negative (-1)")
    p.fails("cropped", {"x": tame("float32", 3, 2)}, "nn.batch_to_space_nd: 2 does not divide the number of batches (3)")


def parsed(layout):
    """Letters and their blocks, 0 for a whole axis."""
    out, number = [], ""
    for c in layout:
        if c.isdigit():
            number += c
        else:
            out.append((c.upper(), int(number or 0)))
            number = ""
    return out


def relaid(a, source, target):
    source, target = parsed(source), parsed(target)
    wholes = [name for name, block in source if not block]
    blocks = dict((name, block) for name, block in target if block)
    order = []
    for name in wholes:
        order += [i for i, (n, b) in enumerate(source) if n == name and not b]
        order += [i for i, (n, b) in enumerate(source) if n == name and b]
    own = dict((name, block) for name, block in source if block)
    extents = [a.shape[source.index((name, 0))] * own.get(name, 1) for name in wholes]
    whole = a.transpose(order).reshape(extents)
    shape, names = [], []
    for name, extent in zip(wholes, extents):
        shape.append(extent // blocks.get(name, 1))
        names.append((name, 0))
        if name in blocks:
            shape.append(blocks[name])
            names.append((name, blocks[name]))
    return whole.reshape(shape).transpose([names.index(axis) for axis in target])


def layouts(p):
    for source, shape, target in (("NCHW", (2, 8, 3, 2), "NHWC"), ("NCHW", (2, 8, 3, 2), "NCHW4c"), ("NCHW4c", (2, 2, 3, 2, 4), "NCHW"),
                                  ("NCHW16c", (1, 2, 2, 1, 16), "NCHW2c"), ("NCHW6n", (1, 3, 2, 2, 6), "NHWC"), ("CH", (8, 3), "C4cH"),
                                  ("NCHW", (2, 8, 3, 2), "NCHW"), ("OIHW", (4, 6, 1, 2), "OIHW2i4o"), ("NHWC", (0, 2, 3, 4), "HW2cNC"),
                                  ("NCW", (1, 1, 1), "CNW1c")):
        for dtype in SOME if source == "NCHW" else ("float32",):
            x = tame(dtype, *shape)
            p.case(f"layout_{dtype}_{source}_{target}",
                   [(f'layout_transform(%x, src_layout="{source}", dst_layout="{target}")', like(x, relaid(x.a, source, target)))],
                   {"x": x})
    p.define("odd_channels", ["%x: Tensor[(n, c, w), float32]"], ['layout_transform(%x, src_layout="NCW", dst_layout="NCW4c")'])
    p.fails("odd_channels", {"x": tame("float32", 1, 6, 1)}, "layout_transform: blocks of 4 do not divide the extent of C (6)")
    p.define("other_block", ["%x: Tensor[(n, c, b), float32]"], ['layout_transform(%x, src_layout="NC4c", dst_layout="NC")'])
    p.fails("other_block", {"x": tame("float32", 1, 2, 3)}, "layout_transform: dimension 2 of the data is 3; the layout says 4")


def windows(p):
    for dtype in SOME:
        for shape, strides in (((2, 3), (2, 1)), ((2, 3), (3, 2)), ((0, 2), (2, 2)), ((1, 1), (4, 3)), ((), ()), ((4,), (2,))):
            if dtype != "float32" and strides != (3, 2):
                continue
            x = tame(dtype, *shape)
            value = converted(Tensor("float64", 1.5), dtype)
            out = {}
            for name, v in (("value", value.a), ("zero", np.zeros((), x.a.dtype))):
                out[name] = np.full([max((e - 1) * s + 1, 0) for e, s in zip(shape, strides)], v, x.a.dtype)
                out[name][tuple(slice(None, None, s) for s in strides)] = x.a
            attrs = f"strides=[{', '.join(map(str, strides))}]"
            p.case(f"dilate_{dtype}_{len(shape)}_{'_'.join(map(str, strides))}",
                   [(f"nn.dilate(%x, {attrs}, dilation_value=1.5f)", like(x, out["value"])),
                    (f"nn.dilate(%x, {attrs})", like(x, out["zero"]))], {"x": x})
        for shape, axis, window, strides in (((2, 5, 4), 1, (3, 2), (2, 1)), ((2, 5, 4), -1, (4,), (3,)), ((6,), 0, (2,), (5,)),
                                             ((0, 3), 1, (2,), (1,)), ((1, 1), 0, (1, 1), (1, 2))):
            if dtype != "float32" and len(window) == 1:
                continue
            x = tame(dtype, *shape)
            first = axis % len(shape)
            slid = np.lib.stride_tricks.sliding_window_view(x.a, window, tuple(range(first, len(shape))))
            slid = slid[(slice(None),) * first + tuple(slice(None, None, s) for s in strides)]
            p.case(f"slide_{dtype}_{len(shape)}_{first}_{len(window)}",
                   [(f"sliding_window(%x, axis={axis}, window_shape=[{', '.join(map(str, window))}], "
                     f"strides=[{', '.join(map(str, strides))}])", like(x, slid))], {"x": x})
        for shape, k in itertools.product(((3, 4), (2, 3, 2), (0, 2), (1, 1)), (-2, 0, 1, 9)):
            x = tame(dtype, *shape)
            kt = Tensor("int64" if k else "int32", k)
            p.case(f"trilu_{dtype}_{len(shape)}_{kt.dtype}", [("trilu(%x, %k)", like(x, np.triu(x.a, k))),
                                                              ("trilu(%x, %k, upper=True)", like(x, np.triu(x.a, k))),
                                                              ("trilu(%x, %k, upper=False)", like(x, np.tril(x.a, k)))],
                   {"x": x, "k": kt})
    p.define("too_wide", ["%x: Tensor[(n,), float32]"], ["sliding_window(%x, axis=0, window_shape=[5], strides=[1])"])
    p.fails("too_wide", {"x": tame("float32", 3)}, "sliding_window: a window of 5 does not fit into dimension 0 (3)")


def diagonals(p):
    for dtype, (batch, rows, columns), (k1, k2), above, below in itertools.product(
            ("float32", "bool"), (((), 3, 4), ((2,), 4, 3), ((0,), 2, 2), ((), 1, 1)), ((0, 0), (-1, 1), (1, 1), (-2, -1), (0, 2)),
            (True, False), (True, False)):
        if k1 <= -rows or k2 >= columns or (above, below) != (True, False) and (k1 == k2 or rows == 4) or dtype != "float32" and (
                rows != 3 or (above, below) != (True, False)):
            continue
        x = tame(dtype, *batch, rows, columns)
        longest = min(rows + min(k2, 0), columns - max(k1, 0))
        d = tame(dtype, *batch, *([k2 - k1 + 1] if k1 != k2 else []), longest)
        out = x.a.copy()
        for k in range(k1, k2 + 1):
            line = d.a if k1 == k2 else d.a[..., k2 - k, :]
            places = [(i, i + k) for i in range(rows) if 0 <= i + k < columns]
            isRight = above if k > 0 else below if k < 0 else False
            start = longest - len(places) if isRight else 0
            for n, (i, j) in enumerate(places):
                out[..., i, j] = line[..., start + n]
        p.case(f"diagonal_{dtype}_{len(batch)}_{k1}_{k2}_{above}_{below}".replace("-", "m"),
               [(f"matrix_set_diag(%x, %d, k1={k1}, k2={k2}, super_diag_right_align={above}, sub_diag_right_align={below})",
                 like(x, out))], {"x": x, "d": d})
    p.define("short_diagonal", ["%x: Tensor[(n, m), float32]", "%d: Tensor[(k,), float32]"], ["matrix_set_diag(%x, %d)"])
    p.fails("short_diagonal", {"x": tame("float32", 2, 3), "d": tame("float32", 3)},
            "matrix_set_diag: a diagonal has 3 elements; the longest one of the matrix has 2")


def grids(p):
    for dtype, places, shape, stype in itertools.product(("int32", "uint8"), ((), (3,), (2, 2), (0,)), ((2, 3, 4), (5,), (1, 7)),
                                                         ("int64",)):
        i = Tensor(dtype, rng.integers(0, np.prod(shape), places))
        p.case(f"unravel_{dtype}_{len(places)}_{len(shape)}_{stype}",
               [("unravel_index(%i, %s)", Tensor(dtype, np.array(np.unravel_index(i.a.astype(np.int64), shape))))],
               {"i": i, "s": Tensor(stype, shape)})
    p.define("unravelled_too_far", ["%i: Tensor[(n,), int64]", "%s: Tensor[(2,), int64]"], ["unravel_index(%i, %s)"])
    p.fails("unravelled_too_far", {"i": Tensor("int64", [6]), "s": Tensor("int64", [2, 3])},
            "unravel_index: an index is out of range")
    # Extents below 0 leave no place, and more places than there are numbers are enough for every index.
    p.fails("unravelled_too_far", {"i": Tensor("int64", [5]), "s": Tensor("int64", [-2, -3])}, "an index is out of range")
    p.run("unravelled_too_far", {"i": Tensor("int64", [5, 2 ** 62]), "s": Tensor("int64", [2 ** 33, 2 ** 31])}, [Tensor("int64", [[0, 2 ** 31], [5, 0]])])


if __name__ == "__main__":
    for name, summary, parts in (("blocks", "Blocks moved between axes.", (spaces, batches, layouts)),
                                 ("windows", "Elements spread, or picked by where they are.", (windows, diagonals, grids))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()
