"""Writes `operators_sparse.relay`: matrices of rows with pointers, and tensors of positions."""
import numpy as np

from cases import Program, rng, tame, whole
from values import FLOATS, Tensor, like


def rows_of(matrix, index):
    """Data, indices and pointers."""
    at = [np.nonzero(row)[0] for row in matrix]
    return (np.concatenate([row[i] for row, i in zip(matrix, at)] or [np.zeros(0)]),
            Tensor(index, np.concatenate(at + [np.zeros(0, int)])), Tensor(index, np.cumsum([0] + [len(i) for i in at])))


def rows(p):
    for dtype in ("int8", "uint32", "float16", "bfloat16", "float32", "float64"):
        for shape, index in (((4, 4), "int32"), ((1, 1), "int64"), ((0, 0), "int32")) if dtype == "float32" else (((3, 3), "int64"),):
            s = np.where(rng.integers(0, 2, shape), whole(dtype, *shape).a.astype(np.float64), 0)
            data, indices, pointers = rows_of(s, index)
            d = whole(dtype, 2, shape[1])
            inputs = {"d": d, "e": whole(dtype, *shape), "s": Tensor(dtype, data), "i": indices, "p": pointers}
            product = d.a.astype(np.float64) @ s.T
            turned = rows_of(s.T, index)

            def whole_number(v):
                return like(d, np.asarray(v) if dtype in FLOATS else np.asarray(v).astype(np.int64).astype(d.a.dtype))

            p.case(f"rows_{dtype}_{shape[0]}",
                   [("nn.sparse_dense(%d, %s, %i, %p)", whole_number(product)),
                    ("nn.sparse_dense(%d, %s, %i, %p, sparse_lhs=True)", whole_number(product.T)),
                    ("nn.sparse_transpose(%s, %i, %p)", (whole_number(turned[0]), turned[1], turned[2])),
                    ("nn.sparse_add(%e, %s, %i, %p)", whole_number(inputs["e"].a.astype(np.float64) + s))], inputs)
    # Blocks of 2 x 3; the second block row has none.
    blocks = whole("float32", 3, 2, 3)
    matrix = np.zeros((6, 9))
    for place, (row, column) in zip(blocks.a, ((0, 2), (0, 0), (2, 1))):
        matrix[2 * row:2 * row + 2, 3 * column:3 * column + 3] = place
    d = whole("float32", 2, 9)
    inputs = {"d": d, "s": blocks, "i": Tensor("int32", [2, 0, 1]), "p": Tensor("int32", [0, 2, 2, 3])}
    p.case("blocks", [("nn.sparse_dense(%d, %s, %i, %p)", like(d, d.a @ matrix.T)),
                      ("nn.sparse_dense(%d, %s, %i, %p, sparse_lhs=True)", like(d, matrix @ d.a.T))], inputs)
    twice = {"d": tame("float32", 1, 2), "e": whole("float32", 1, 2), "s": Tensor("float32", [1, 2, 3]),
             "i": Tensor("int32", [1, 1, 0]), "p": Tensor("int32", [0, 3])}
    p.case("twice", [("nn.sparse_add(%e, %s, %i, %p)", like(twice["e"], twice["e"].a + [[3, 3]])),
                     ("sparse.rows(%p, 3i32)", Tensor("int64", [0, 0, 0]))], twice)
    p.define("product", ["%d: Tensor[(?, ?), float32]", "%s: Tensor[(?,), float32]", "%i: Tensor[(?,), int32]", "%p: Tensor[(?,), int32]"],
             ["nn.sparse_dense(%d, %s, %i, %p)"])
    p.define("turned", ["%d: Tensor[(?, ?), float32]", "%s: Tensor[(?,), float32]", "%i: Tensor[(?,), int32]", "%p: Tensor[(?,), int32]"],
             ["nn.sparse_transpose(%s, %i, %p)"])
    p.define("added", ["%d: Tensor[(?, ?), float32]", "%s: Tensor[(?,), float32]", "%i: Tensor[(?,), int32]", "%p: Tensor[(?,), int32]"],
             ["nn.sparse_add(%d, %s, %i, %p)"])
    d, s = tame("float32", 2, 2), tame("float32", 3)
    for name in ("product", "turned", "added"):
        for pointers in ([0, 4, 3], [1, 2, 3], [0, 2, 2], [0, -1, 3], [0, 2147483647, 3]):
            p.fails(name, {"d": d, "s": s, "i": Tensor("int32", [0, 1, 0]), "p": Tensor("int32", pointers)},
                    "row pointers")
        for wrong in (2, -1, 2147483647):
            p.fails(name, {"d": d, "s": s, "i": Tensor("int32", [0, 1, wrong]), "p": Tensor("int32", [0, 1, 3])},
                    " is out of range")


def positions(p):
    for dtype in ("bool", "int16", "uint64", "float16", "bfloat16", "float32"):
        v, o = tame(dtype, 3), tame(dtype)
        at = np.array([[0, 1], [2, 0], [0, 1]])
        dense = np.full((3, 2), o.a)
        for place, value in zip(at, v.a):
            dense[tuple(place)] = value
        vector = np.full(4, o.a)
        vector[[3, 0, 1]] = v.a
        one = np.full(4, o.a)
        one[2] = v.a[0]
        zeros = np.zeros(4, v.a.dtype)
        zeros[[3, 0, 1]] = v.a
        inputs = {"i": Tensor("int64", at), "v": v, "o": o, "l": Tensor("int32", [3, 0, 1]), "s": Tensor("int32", [3, 2]),
                  "k": Tensor("int32", 2), "w": Tensor(dtype, v.a[0])}
        p.case(f"dense_{dtype}",
               [("sparse_to_dense(%i, %v, %o, output_shape=[3, 2])", like(v, dense)),
                ("dyn.sparse_to_dense(%i, %s, %v, %o)", like(v, dense)),
                ("sparse_to_dense(%l, %v, %o, output_shape=[4])", like(v, vector)),
                ("sparse_to_dense(%l, %v, output_shape=[4])", like(v, zeros)),
                ("sparse_to_dense(%k, %w, %o, output_shape=[4])", like(v, one))], inputs, dims={"s": "2"})
    p.case("spread", [("sparse_to_dense(%l, %v, output_shape=[4])", Tensor("float32", [2, 0, 0, 2]))],
           {"l": Tensor("int32", [0, 3]), "v": Tensor("float32", 2)})
    filled = {"i": Tensor("int64", [[0, 1], [0, 3], [2, 0], [3, 1]]), "v": Tensor("float32", [1, 2, 3, 4]),
              "s": Tensor("int64", [5, 6]), "o": Tensor("float32", [10])}
    p.case("filled", [("sparse_fill_empty_rows(%i, %v, %s, %o)",
                       (Tensor("int64", [[0, 1], [0, 3], [1, 0], [2, 0], [3, 1], [4, 0]]), Tensor("float32", [1, 2, 10, 3, 4, 10]),
                        Tensor("bool", [False, True, False, False, True])))], filled, dims={"s": "2", "i": "?, 2"})
    p.run("filled", {"i": Tensor("int64", np.zeros((0, 2))), "v": Tensor("float32", []), "s": Tensor("int64", [2, 6]), "o": Tensor("float32", [7])},
          [(Tensor("int64", [[0, 0], [1, 0]]), Tensor("float32", [7, 7]), Tensor("bool", [True, True]))])
    p.run("filled", {"i": Tensor("int64", [[1, 1], [0, 2]]), "v": Tensor("float32", [5, 6]), "s": Tensor("int64", [2, 6]), "o": Tensor("float32", [7])},
          [(Tensor("int64", [[0, 2], [1, 1]]), Tensor("float32", [6, 5]), Tensor("bool", [False, False]))])
    p.fails("filled", {**filled, "i": Tensor("int64", [[0, 1], [0, 3], [2, 0], [5, 1]])}, "a position is out of range")
    old, new = (2, 3, 6), (9, 4)
    at = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 2, 3]])
    flat = np.ravel_multi_index(at.T, old)
    for shape, resolved in ((new, new), ((9, -1), new), ((-1,), (36,)), ((3, -1, 2), (3, 6, 2))):
        p.case(f"reshaped_{len(shape)}", [("sparse_reshape(%i, %s, %n)",
               (Tensor("int64", np.stack(np.unravel_index(flat, resolved), axis=1)), Tensor("int64", resolved)))],
               {"i": Tensor("int64", at), "s": Tensor("int64", old), "n": Tensor("int64", shape)})
    p.case("checked", [("sparse.positions(%i, %s)", Tensor("int64", [[1, 0]]))], {"i": Tensor("int32", [[1, 0]]), "s": Tensor("int64", [2, 1])})
    p.fails("checked", {"i": Tensor("int32", [[1, -1]]), "s": Tensor("int64", [2, 1])}, "a position is out of range")
    p.fails("spread", {"l": Tensor("int32", [0, 4]), "v": Tensor("float32", 2)}, "a position is out of range")
    p.fails("reshaped_2", {"i": Tensor("int64", [[0, 3, 0]]), "s": Tensor("int64", old), "n": Tensor("int64", new)}, "a position is out of range")
    p.fails("reshaped_2", {"i": Tensor("int64", [[1, 2, 5]]), "s": Tensor("int64", old), "n": Tensor("int64", (2, 3))}, "the shapes do not fit")
    p.case("shape", [("sparse.shape(%s, %n)", Tensor("int64", [3, 12]))], {"s": Tensor("int64", old), "n": Tensor("int32", [3, -1])})
    p.run("shape", {"s": Tensor("int64", [0, 5]), "n": Tensor("int32", [-1, 0])}, [Tensor("int64", [0, 0])])
    p.run("shape", {"s": Tensor("int64", []), "n": Tensor("int32", [])}, [Tensor("int64", [])])
    for before, after, message in (
            (old, (5, -1), "the shapes do not fit"), (old, (-1, 0), "the shapes do not fit"),
            (old, (), "the shapes do not fit"), (old, (-1, -1), "a shape is wrong"),
            ((36, -1), (36,), "a shape is wrong"), (old, (36, -2), "a shape is wrong"),
            ((2 ** 32, 2 ** 32), (0,), "a shape is wrong"), ((2 ** 62, 3), (2 ** 30, -1), "a shape is wrong")):
        p.fails("shape", {"s": Tensor("int64", before), "n": Tensor("int32", after)}, message)


if __name__ == "__main__":
    program = Program("operators_sparse", "Sparse matrices and tensors.")
    rows(program)
    positions(program)
    program.write()
