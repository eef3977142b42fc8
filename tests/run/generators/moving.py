"""Writes `operators_padding.relay` and `operators_positions.relay`: elements put around others, and elements
at positions that tensors hold."""
import itertools

import numpy as np

from cases import Program, rng, tame
from values import FLOATS, INTEGERS, Tensor, converted, like


def padded(a, widths, mode, value=None):
    """Axis by axis: where each element of the result comes from, as a list of positions."""
    for axis, (before, after) in enumerate(widths):
        n = a.shape[axis]
        wanted = range(-before, n + after)
        if mode == "constant":
            shape = list(a.shape)
            shape[axis] = len(wanted)
            out = np.full(shape, value, a.dtype)
            for at, source in enumerate(wanted):
                if 0 <= source < n:
                    out[(slice(None),) * axis + (at,)] = a[(slice(None),) * axis + (source,)]
            a = out
            continue
        there = list(range(n))
        if mode == "edge":
            positions = [there[0] if i < 0 else there[-1] if i >= n else i for i in wanted]
        else:
            back = there[-2:0:-1] if mode == "reflect" else there[::-1]
            positions = [(there + back)[i % len(there + back)] for i in wanted]
        a = np.take(a, positions, axis) if positions else np.take(a, np.zeros(0, int), axis)
    return a


def text(widths):
    return "[" + ", ".join(f"[{b}, {a}]" for b, a in widths) + "]"


def padding():
    p = Program("operators_padding", "Elements put around a tensor.")
    shapes = {(2, 3): [((1, 2), (0, 3)), ((0, 0), (-1, 4)), ((5, 0), (-2, -1))], (1, 4): [((3, 1), (7, 2))],
              (0, 3): [((2, 1), (1, 0))], (5,): [((-2, -3),), ((0, 1),)], (): [()]}
    for dtype in ["bool"] + INTEGERS + FLOATS:
        for shape, choices in shapes.items():
            if shape != (2, 3) and dtype not in ("float32", "int64", "bool"):
                continue
            x = tame(dtype, *shape)
            v = Tensor(dtype, 1 if dtype == "bool" else 3)
            r = []
            for widths in choices if dtype == "float32" else choices[:1]:
                constant = like(x, padded(x.a, widths, "constant", v.a))
                r += [(f"nn.pad(%x, %v, pad_width={text(widths)})", constant),
                      (f"nn.pad(%x, 3f, pad_width={text(widths)}, pad_mode=\"constant\")", constant),
                      (f"nn.pad(%x, pad_value=3f, pad_width={text(widths)})", constant),
                      (f"nn.pad(%x, pad_width={text(widths)})", like(x, padded(x.a, widths, "constant", 0)))]
                if 0 in shape:
                    continue
                r += [(f'nn.pad(%x, %v, pad_width={text(widths)}, pad_mode="edge")', like(x, padded(x.a, widths, "edge"))),
                      (f'nn.pad(%x, %v, pad_width={text(widths)}, pad_mode="reflect")',
                       like(x, padded(x.a, widths, "reflect"))),
                      (f"nn.mirror_pad(%x, pad_width={text(widths)})", like(x, padded(x.a, widths, "symmetric"))),
                      (f'nn.mirror_pad(%x, pad_width={text(widths)}, mode="REFLECT")',
                       like(x, padded(x.a, widths, "reflect")))]
            p.case(f"{dtype}_{'x'.join(map(str, shape))}", r, {"x": x, "v": v})
    for mode, wtype in itertools.product(("constant", "edge", "reflect"), ("int32", "int64")):
        name = f"given_{mode}_{wtype}"
        p.define(name, ["%x: Tensor[(n, m), float32]", "%v: float32", f"%w: Tensor[(2, 2), {wtype}]",
                        f"%f: Tensor[(4,), {wtype}]"],
                 [f'dyn.nn.pad(%x, %w, %v, pad_mode="{mode}")', f'dyn.nn.pad(%x, %f, %v, pad_mode="{mode}")',
                  f'nn.pad(%x, %v, %f, pad_mode="{mode}")'])
        v = Tensor("float32", -1.5)

        def inputs(x, widths):
            w = Tensor(wtype, np.array(widths))
            return {"x": x, "v": v, "w": w, "f": Tensor(wtype, w.a.ravel())}

        for shape, widths in (((2, 3), ((1, 2), (0, 3))), ((1, 4), ((3, 1), (-2, 2))), ((3, 2), ((-3, 0), (1, 1)))):
            x = tame("float32", *shape)
            p.run(name, inputs(x, widths), [like(x, padded(x.a, widths, mode, v.a))] * 3)
        p.fails(name, inputs(tame("float32", 2, 2), ((-2, -1), (0, 0))), "nn.pad: dimension 0 of the result is negative")
        if mode != "constant":
            p.fails(name, inputs(Tensor("float32", np.zeros((0, 2))), ((1, 0), (0, 0))),
                    "nn.pad: dimension 0 of the data has no elements to continue")
    # An axis of one element reflects itself, and an axis that loses more than it has is no tensor.
    p.case("one_element", [('nn.pad(%x, pad_width=[[1, 1], [1, 1]], pad_mode="reflect")',
                            Tensor("float32", [[6, 5, 6, 5]] * 3))], {"x": Tensor("float32", [[5, 6]])})
    p.define("too_short", ["%x: Tensor[(n,), float32]"], ["nn.pad(%x, pad_width=[[-2, -1]])"])
    p.fails("too_short", {"x": tame("float32", 2)}, "nn.pad: dimension 0 of the result is negative")
    p.define("nothing", ["%x: Tensor[(n,), float32]"], ["nn.mirror_pad(%x, pad_width=[[1, 0]])"])
    p.fails("nothing", {"x": Tensor("float32", [])}, "nn.mirror_pad: dimension 0 of the data has no elements to continue")
    p.write()


def gathered(a, indices, batch):
    places = indices.shape[1:]
    out = np.zeros(places + a.shape[batch + indices.shape[0]:], a.dtype)
    for place in np.ndindex(*places):
        out[place] = a[place[:batch] + tuple(indices[(slice(None),) + place])]
    return out


def positions():
    p = Program("operators_positions", "Elements at positions that tensors hold.")
    for dtype in ("float32", "float16", "int8", "bool", "uint64"):
        for itype in ("int32", "int64", "uint8"):
            if dtype != "float32" and itype != "int64":
                continue
            for shape, count, places, batch in (((3, 2), 2, (4,), 0), ((3, 2), 1, (2, 2), 0), ((3, 2), 0, (2,), 0),
                                                ((2, 3, 4), 1, (2, 5), 1), ((2, 3, 4), 2, (2,), 1), ((2, 3, 4), 1, (2, 3), 2),
                                                ((5,), 1, (), 0), ((3, 0, 2), 1, (2,), 0), ((3, 2), 2, (0,), 0)):
                if (dtype, itype) != ("float32", "int64") and (shape, count, places) not in (((3, 2), 2, (4,)), ((2, 3, 4), 1, (2, 5))):
                    continue
                x = tame(dtype, *shape)
                low = 0 if itype == "uint8" else -1
                values = [rng.integers(low * n, n, places) for n in shape[batch:batch + count]]
                i = Tensor(itype, np.array(values).reshape((count,) + places))
                name = f"nd_{dtype}_{itype}_{len(shape)}_{count}_{len(places)}_{batch}"
                known = ", ".join([str(count)] + ["?"] * len(places))
                expected = like(x, gathered(x.a, i.a.astype(np.int64), batch))
                p.case(name, [(f"gather_nd(%x, %i, batch_dims={batch})", expected)], {"x": x, "i": i}, dims={"i": known})
                p.case(name + "_rank", [(f"gather_nd(%x, %i, batch_dims={batch}, index_rank={count})", expected)],
                       {"x": x, "i": i})
    table = Tensor("float32", [[1, 2], [3, 4], [5, 6]])
    for itype in ("int32", "int64"):
        p.case(f"from_the_end_{itype}", [("gather_nd(%x, %i)", Tensor("float32", [6, 1]))],
               {"x": table, "i": Tensor(itype, [[-1, 0], [-1, -2]])}, dims={"i": "2, ?"})
    p.case("of_stacked", [("gather_nd(%x, stack((%a, %b)))", Tensor("float32", [6, 1]))],
           {"x": table, "a": Tensor("int64", [-1, 0]), "b": Tensor("int64", [-1, -2])})
    p.define("out_of_range", ["%x: Tensor[(n, m), float32]", "%i: Tensor[(2, k), int64]"], ["gather_nd(%x, %i)"])
    p.fails("out_of_range", {"x": table, "i": Tensor("int64", [[0], [2]])},
            "gather_nd: an index is out of range")
    p.fails("out_of_range", {"x": table, "i": Tensor("int64", [[-4], [0]])}, "gather_nd: an index is out of range")
    for dtype, shape, axis in itertools.product(("float32", "bfloat16", "int32", "bool"), ((3, 4), (4, 2, 2), (0, 3), (2, 0), (1, 1)),
                                                (0, 1)):
        if dtype != "float32" and shape != (4, 2, 2):
            continue
        x = tame(dtype, *shape)
        lengths = Tensor("int32" if axis else "int64", rng.integers(-1, shape[axis] + 2, shape[1 - axis]))
        masked = np.empty(shape, bool)
        for at in np.ndindex(*shape):
            masked[at] = at[axis] >= lengths.a[at[1 - axis]]
        value = converted(Tensor("float64", 2.5), dtype)
        r = [(f"sequence_mask(%x, %l, mask_value=2.5f, axis={axis})", like(x, np.where(masked, value.a, x.a))),
             (f"sequence_mask(%x, %l, axis={axis})", like(x, np.where(masked, np.zeros_like(x.a), x.a)))]
        for seq, batch in ((axis, 1 - axis), (axis - len(shape), 1 - axis - len(shape))):
            turned = x.a.copy()
            for b in range(shape[1 - axis]):
                n = min(max(int(lengths.a[b]), 0), shape[axis])
                part = [slice(None)] * len(shape)
                part[1 - axis] = b
                part[axis] = slice(0, n)
                moved = np.moveaxis(x.a, (axis, 1 - axis), (0, 1))[:n, b][::-1]
                np.moveaxis(turned, (axis, 1 - axis), (0, 1))[:n, b] = moved
            r.append((f"reverse_sequence(%x, %l, seq_axis={seq}, batch_axis={batch})", like(x, turned)))
        p.case(f"sequences_{dtype}_{'x'.join(map(str, shape))}_{axis}", r, {"x": x, "l": lengths})
    p.define("lengths_differ", ["%x: Tensor[(n, m), float32]", "%l: Tensor[(k,), int32]"], ["sequence_mask(%x, %l)"])
    p.fails("lengths_differ", {"x": table, "l": Tensor("int32", [1])},
            "sequence_mask: dimension 1 of the data (2) does not match the number of lengths (1)")
    p.write()


if __name__ == "__main__":
    padding()
    positions()
