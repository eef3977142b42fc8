"""Writes `operators_scans.relay`, `operators_scatter.relay` and `operators_search.relay`: partial results, updates
at positions, and what finds positions."""
import itertools

import numpy as np

from cases import Program, rng, tame, whole
from values import FLOATS, INTEGERS, Tensor, converted, like, maximum, minimum, wide


def carrier(dtype):
    return np.float32 if dtype in ("float16", "bfloat16") else np.dtype(dtype)


def scanned(x, dtype, axis, exclusive, product):
    """One after the other, in the type in which the result is held."""
    a = x.a.astype(np.float32) if x.dtype in ("float16", "bfloat16") else x.a
    wide_type = carrier(dtype)
    if dtype in INTEGERS and x.dtype in FLOATS:
        a = converted(x, dtype).a
    a = a.astype(wide_type)
    if axis is None:
        a, axis = a.ravel(), 0
    rows = np.moveaxis(a, axis, 0)
    out = np.empty_like(rows)
    total = np.full(rows.shape[1:], 1 if product else 0, wide_type)
    for i in range(rows.shape[0]):
        after = (total * rows[i] if product else total + rows[i]).astype(wide_type)
        out[i] = total if exclusive else after
        total = after
    return Tensor(dtype, np.moveaxis(out, 0, axis))


def scans(p):
    for dtype in INTEGERS + FLOATS:
        for shape in ((2, 5), (2, 3, 2), (0, 3), (3, 0), (1,), ()):
            if dtype != "float32" and shape != (2, 5):
                continue
            axes = [None, *range(len(shape)), -1][:None if shape else 1] if dtype == "float32" else [None, -1]
            x = tame(dtype, *shape)
            r = []
            for axis, exclusive in itertools.product(axes, (False, True)):
                attrs = (f", axis={axis}" if axis is not None else "") + (", exclusive=True" if exclusive else "")
                r += [(f"cumsum(%x{attrs})", scanned(x, dtype, axis, exclusive, False)),
                      (f"cumprod(%x{attrs})", scanned(x, dtype, axis, exclusive, True))]
            p.case(f"scan_{dtype}_{'x'.join(map(str, shape))}", r, {"x": x})
    for source, target in (("int8", "int32"), ("bool", "int64"), ("int32", "float32"), ("float16", "float32"), ("float32", "float16"),
                           ("float32", "int16"), ("int64", "uint8")):
        x = tame(source, 3, 4)
        p.case(f"scan_{source}_to_{target}", [(f'cumsum(%x, axis=1, dtype="{target}")', scanned(x, target, 1, False, False)),
                                              (f'cumprod(%x, axis=0, dtype="{target}")', scanned(x, target, 0, False, True))], {"x": x})
    # Sums are rounded once each, and not what is added next.
    ones = Tensor("float16", [2048] + [1] * 4)
    p.case("scan_rounds_once", [("cumsum(%x, axis=0)", Tensor("float16", [2048, 2049, 2050, 2051, 2052]))], {"x": ones})
    x = tame("float32", 40, 3)
    p.case("scan_fused", [("abs(cumsum(negative(%x), axis=0)) + %x",
                           Tensor("float32", np.abs(scanned(like(x, -x.a), "float32", 0, False, False).a) + x.a))], {"x": x})


FUNCTIONS = {"update": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "min": minimum, "max": maximum}


def scattered(x, places, updates, mode):
    """`places` yields an index of the data and one of the updates, in order."""
    out = wide(x).copy()
    given = wide(updates)
    for to, at in places:
        out[to] = FUNCTIONS[mode](np.asarray(out[to]), np.asarray(given[at])).astype(out.dtype)
    return like(x, out)


def scatters(p):
    for dtype in ("float32", "float16", "bfloat16", "int8", "int64", "uint8", "bool"):
        modes = ["update"] if dtype == "bool" else list(FUNCTIONS)[:5 if dtype in ("float32", "int8") else 2]
        for shape, axis, extent, itype in (((5,), 0, 9, "int64"), ((3, 4), 0, 5, "int32"), ((3, 4), -1, 6, "int64"), ((2, 3, 2), 1, 4, "int32"),
                                           ((0, 3), 1, 2, "int64"), ((2, 3), 1, 0, "int64"), ((1, 1), 0, 3, "int64")):
            if dtype != "float32" and shape != (3, 4):
                continue
            form = list(shape)
            form[axis] = extent
            x, u = tame(dtype, *shape), tame(dtype, *form)
            i = Tensor(itype, rng.integers(-shape[axis], shape[axis], form))

            def places():
                for at in np.ndindex(*form):
                    to = list(at)
                    to[axis] = i.a[at]
                    yield tuple(to), at

            p.case(f"elements_{dtype}_{'x'.join(map(str, shape))}_{axis % len(shape)}_{itype}",
                   [(f'scatter_elements(%x, %i, %u, axis={axis}, reduction="{mode}")', scattered(x, places(), u, mode)) for mode in modes]
                   + [(f"abs(scatter_elements(%x, %i, %u, axis={axis}))",
                       like(x, np.abs(scattered(x, places(), u, "update").a)))] * (dtype == "float32"),
                   {"x": x, "i": i, "u": u})
        for shape, count, form, itype in (((4,), 1, (6,), "int64"), ((3, 4), 1, (5,), "int32"), ((3, 4), 2, (2, 3), "int64"), ((3, 2), 0, (2,), "int64"),
                                          ((2, 3, 2), 2, (4,), "int64"), ((3, 2), 1, (0,), "int64"), ((2, 0), 1, (2,), "int32")):
            if dtype != "float32" and shape != (3, 4):
                continue
            x, u = tame(dtype, *shape), tame(dtype, *form, *shape[count:])
            i = Tensor(itype, np.array([rng.integers(-n, n, form) for n in shape[:count]]).reshape((count,) + form))
            places = [(tuple(i.a[(slice(None),) + at]), at) for at in np.ndindex(*form)]
            p.case(f"nd_{dtype}_{'x'.join(map(str, shape))}_{count}_{itype}",
                   [(f'scatter_nd(%x, %i, %u, mode="{mode}")', scattered(x, places, u, mode)) for mode in modes],
                   {"x": x, "i": i, "u": u})
    p.case("from_the_end", [("scatter_nd(%x, %i, %u)", Tensor("float32", [8, 0, 7]))],
           {"x": Tensor("float32", [0, 0, 0]), "i": Tensor("int64", [[-1, 0]]), "u": Tensor("float32", [7, 8])})
    # Each step in float32: 2048 + 1 + 1 is no 2048.
    p.case("rounded_once", [('scatter_nd(%x, %i, %u, mode="add")', Tensor("float16", [2050]))],
           {"x": Tensor("float16", [2048]), "i": Tensor("int32", [[0, 0]]), "u": Tensor("float16", [1, 1])})
    # An element that is replaced is not computed with.
    p.case("replaced", [("trunc_divide(12, scatter_nd(%x, %i, %u))", Tensor("int32", [4, 3]))],
           {"x": Tensor("int32", [0, 0]), "i": Tensor("int32", [[0, 1]]), "u": Tensor("int32", [3, 4])})
    p.define("too_far", ["%x: Tensor[(n,), float32]", "%i: Tensor[(k,), int64]", "%u: Tensor[(k,), float32]"], ["scatter_elements(%x, %i, %u)"])
    for bad in (3, -4, 2**40, -2**63):
        p.fails("too_far", {"x": tame("float32", 3), "i": Tensor("int64", [0, bad]), "u": tame("float32", 2)},
                "scatter_elements: an index is out of range")
    p.define("nd_too_far", ["%x: Tensor[(n, m), float32]", "%i: Tensor[(2, k), int64]", "%u: Tensor[(k,), float32]"], ["scatter_nd(%x, %i, %u)"])
    p.fails("nd_too_far", {"x": tame("float32", 3, 2), "i": Tensor("int64", [[0], [2]]), "u": tame("float32", 1)},
            "scatter_nd: an index is out of range")
    p.define("larger", ["%x: Tensor[(n, m), float32]", "%i: Tensor[(k, l), int64]", "%u: Tensor[(k, l), float32]"],
             ["scatter_elements(%x, %i, %u, axis=1)"])
    p.fails("larger", {"x": tame("float32", 1, 2), "i": Tensor("int64", np.zeros((2, 1))), "u": tame("float32", 2, 1)},
            "scatter_elements: dimension 0 of the indices (2) exceeds dimension 0 of the data (1)")


def searches(p):
    for dtype in INTEGERS + FLOATS:
        s = np.sort(tame(dtype, 7).a)
        s[3] = s[2]
        v = Tensor(dtype, np.concatenate([s, tame(dtype, 5).a, s[:1] - (dtype[0] != "u"), s[-1:] + 1]).reshape(2, 7))
        for name, sequence in (("", s), ("_empty", s[:0]), ("_one", s[:1])):
            r = []
            for side, otype in itertools.product(("left", "right"), ("int32", "int64")):
                r.append((f'searchsorted(%s, %v, right={side == "right"}, dtype="{otype}")',
                          Tensor(otype, np.searchsorted(sequence, v.a.ravel(), side).reshape(2, 7))))
            p.case(f"search_{dtype}", r, {"s": Tensor(dtype, sequence), "v": v})
    rows = Tensor("float32", np.sort(tame("float32", 2, 3, 6).a, axis=2))
    v = tame("float32", 2, 3, 4)
    found = np.empty((2, 3, 4), np.int64)
    for at in np.ndindex(2, 3):
        found[at] = np.searchsorted(rows.a[at], v.a[at])
    p.case("search_rows", [("searchsorted(%s, %v)", Tensor("int32", found))], {"s": rows, "v": v})
    p.case("search_scalar", [("searchsorted(%s, %v)", Tensor("int32", 2))], {"s": Tensor("int32", [1, 3, 5]), "v": Tensor("int32", 4)})
    nan = Tensor("float32", [-np.inf, 0, np.inf, np.nan, np.nan])
    p.case("search_nan", [("searchsorted(%s, %v)", Tensor("int32", [3, 2, 1])), ("searchsorted(%s, %v, right=True)", Tensor("int32", [5, 3, 2]))],
           {"s": nan, "v": Tensor("float32", [np.nan, np.inf, -0.0])})
    for dtype, n in itertools.product(("int32", "int64"), (6, 1, 0)):
        order = rng.permutation(n)
        p.case(f"inverse_{dtype}", [("invert_permutation(%x)", Tensor(dtype, np.argsort(order)))], {"x": Tensor(dtype, order)})
    p.define("no_permutation", ["%x: Tensor[(n,), int32]"], ["invert_permutation(%x)"])
    p.fails("no_permutation", {"x": Tensor("int32", [0, 2])}, "an index is out of range")


def found(p):
    for dtype in ("bool", "int32", "int8", "float32", "float16", "uint64"):
        for shape in ((5,), (2, 3), (2, 2, 3), (1, 2, 2, 2), (1, 2, 1, 2, 2), (0, 3), (2, 0), (1,), ()):
            if dtype != "bool" and shape != (2, 3):
                continue
            for kind in ("some", "none", "all"):
                a = {"some": rng.integers(0, 2, shape), "none": np.zeros(shape), "all": np.ones(shape)}[kind]
                x = Tensor(dtype, a)
                p.case(f"where_{dtype}_{len(shape)}",
                       [("argwhere(%x)", Tensor("int32", np.argwhere(x.a) if shape else np.zeros((int(x.a != 0), 0))))], {"x": x})
    x = Tensor("float32", [[np.nan, -0.0, 0.0], [-1, np.inf, 0]])
    p.case("where_edges", [("argwhere(%x)", Tensor("int32", [[0, 0], [1, 0], [1, 1]]))], {"x": x})
    # What is found goes on with the extent that it has.
    y = Tensor("float32", [-1, 2, 0, 3])
    p.case("of_those_found", [("exp(take(%y, squeeze(argwhere(greater(%y, 0f)), axis=[1]), axis=0))", Tensor("float32", np.exp([2.0, 3.0]))),
                              ("shape_of(argwhere(%y))", Tensor("int32", [3, 1])),
                              ("gather_nd(%y, transpose(argwhere(%y)), index_rank=1)", Tensor("float32", [-1, 2, 3]))], {"y": y}, 5e-7)
    p.case("rows", [("argwhere.rows(%c, 2i64)", Tensor("int32", [[0], [2]]))], {"c": Tensor("bool", [1, 0, 1])})
    p.define("counted_wrong", ["%c: Tensor[(n,), bool]", "%k: int64"], ["argwhere.rows(%c, %k)"])
    for count in (1, 3):
        p.fails("counted_wrong", {"c": Tensor("bool", [1, 0, 1]), "k": Tensor("int64", count)}, "argwhere.rows: ")
    p.fails("counted_wrong", {"c": Tensor("bool", [1, 0, 1]), "k": Tensor("int64", -1)}, "argwhere.rows: the count is negative (-1)")


if __name__ == "__main__":
    for name, summary, parts in (("scans", "Partial results.", (scans,)), ("scatter", "Updates at positions.", (scatters,)),
                                 ("search", "Where elements are, and where they would be.", (searches, found))):
        program = Program(f"operators_{name}", summary)
        for part in parts:
            part(program)
        program.write()
