"""programs/operators_product.relay: products of matrices, what normalises their rows, and biases; written with
the others of operators.py, from one sequence of random numbers."""
import itertools

import numpy as np

from cases import Program, TOLERANCE, tame, whole
from values import FLOATS, Tensor, like, wide


def products():
    p = Program("operators_product", "Matrix products, softmax and bias.")
    for dtype in FLOATS + ["int8", "int32", "uint8"]:
        for m, k, n in ((2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3), (2, 3, 0)):
            a, b = whole(dtype, m, k), whole(dtype, k, n)
            batch_a, batch_b = whole(dtype, 2, m, k), whole(dtype, 2, k, n)
            one = whole(dtype, 1, k, n)
            vector = whole(dtype, k)
            matmul = lambda x, y: like(a, np.matmul(wide(x), wide(y)))
            results = [("nn.dense(%a, %bt)", matmul(a, b)), ("nn.dense(%v, %bt)", matmul(vector, b)),
                       ("nn.matmul(%v, %b)", matmul(vector, b))]
            for ta, tb in itertools.product((False, True), repeat=2):
                x, y = "%at" if ta else "%a", "%bt" if tb else "%b"
                attrs = f"transpose_a={ta}, transpose_b={tb}"
                results.append((f"nn.matmul({x}, {y}, {attrs})", matmul(a, b)))
                x, y = "%ct" if ta else "%c", "%dt" if tb else "%d"
                results.append((f"nn.batch_matmul({x}, {y}, {attrs})", matmul(batch_a, batch_b)))
            results.append(("nn.batch_matmul(%c, %e, transpose_b=False)", matmul(batch_a, one)))
            if dtype == "int8":
                results.append(('nn.dense(%a, %bt, out_dtype="int32")',
                                Tensor("int32", np.matmul(a.a.astype(np.int32), b.a.astype(np.int32)))))
            if dtype != "float32":  # one of each operator
                results = [r for r in results if "%at" not in r[0] and "%ct" not in r[0]][-5::2] + results[:1]
            swap = lambda t: like(t, t.a.swapaxes(-1, -2))
            p.case(dtype, results,
                   {"a": a, "b": b, "at": swap(a), "bt": swap(b), "c": batch_a, "d": batch_b, "ct": swap(batch_a),
                    "dt": swap(batch_b), "e": one, "v": vector})
    # Wrapping, and what a product of many terms rounds to.
    a = Tensor("int8", [[100, 100], [-128, 127]])
    p.case("wraps", [("nn.matmul(%a, %b)", Tensor("int8", (a.a.astype(int) @ a.a.astype(int)) % 256 - 0))],
           {"a": a, "b": a})
    a, b = tame("float32", 3, 40), tame("float32", 40, 70)
    p.case("rounded", [("nn.matmul(%a, %b)", Tensor("float32", a.a.astype(np.float64) @ b.a))],
           {"a": a, "b": b}, 1e-6)
    # A weight in panels of 64 rows, as the compiler packs them.
    for rows in (3, 64, 66):
        x, w = whole("float32", 2, 3), whole("float32", rows, 3)
        panels = np.zeros((-(-rows // 64) * 64, 3), np.float32)
        panels[:rows] = w.a
        packed = Tensor("float32", panels.reshape(-1, 64, 3).transpose(0, 2, 1))
        p.case(f"packed_{rows}", [(f"nn.dense_packed(%x, %w, units={rows})", like(x, x.a @ w.a.T))],
               {"x": x, "w": packed}, dims={"w": packed.known()})
    for dtype in FLOATS:
        for shape in ((2, 3, 4), (1, 1, 1), (2, 0, 3), (0, 2, 2)):
            x = tame(dtype, *shape)
            results = []
            for axis in (0, 1, -1) if dtype == "float32" else (-1,):
                w = x.a.astype(np.float64)
                shifted_x = w - w.max(axis, keepdims=True, initial=-np.inf)
                total = np.exp(shifted_x).sum(axis, keepdims=True)
                results.append((f"nn.softmax(%x, axis={axis})", like(x, np.exp(shifted_x) / total)))
                results.append((f"nn.log_softmax(%x, axis={axis})", like(x, shifted_x - np.log(total))))
            p.case(f"softmax_{dtype}", results, {"x": x},
                   TOLERANCE[dtype] * (4 if dtype in ("float32", "float64") else 1))
    x = Tensor("float32", [[1000, 1000, -np.inf], [-2000, -2000, -2000], [1, np.nan, 2], [np.inf, 1, 2]])
    third = np.float64(1) / 3
    p.case("softmax_edges", [("nn.softmax(%x)", like(x, [[0.5, 0.5, 0], [third] * 3, [np.nan] * 3, [np.nan] * 3]))],
           {"x": x}, 1e-7)
    for dtype in ("float32", "float16", "int32"):
        x = whole(dtype, 2, 3, 4)
        ends = [whole(dtype, n) for n in x.a.shape]
        p.case(f"bias_{dtype}", [("nn.bias_add(%x, %b)", like(x, x.a + ends[1].a[:, None])),
                                 ("nn.bias_add(%x, %c, axis=-1)", like(x, x.a + ends[2].a)),
                                 ("nn.bias_add(%x, %a, axis=0)", like(x, x.a + ends[0].a[:, None, None]))],
               {"x": x, "a": ends[0], "b": ends[1], "c": ends[2]})
    x = whole("float32", 2, 0)
    p.case("bias_none", [("nn.bias_add(%x, %b)", x)], {"x": x, "b": Tensor("float32", [])})
    p.write()
