// Relations of the operators on sparse tensors.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

TypedCall sparseProduct(const Dims& data, const Dims& elements, const DimExpr& indices,
                        const DimExpr& pointers) {
  TypedCall call("nn.sparse_dense");
  call.on(DType::F32, data)
      .on(DType::F32, elements)
      .on(DType::I32, Dims{indices})
      .on(DType::I32, Dims{pointers});
  return call;
}

}  // namespace

TEST_CASE("sparse matrices of rows") {
  TypedCall plain = sparseProduct({n, dim(4)}, {m}, m, dim(6));
  CHECK(plain.type() == "float32(n, 5)");
  CHECK(plain.checks().empty());
  CHECK(sparseProduct({n, dim(4)}, {m}, m, dim(6)).with("sparse_lhs", true).type() == "float32(5, n)");
  CHECK(sparseProduct({n, dim(4)}, {m, dim(3), dim(2)}, m, symbol(2)).type() == "float32(n, 3*k - 3)");
  CHECK(sparseProduct({n, dim(4)}, {dim(3)}, dim(2), dim(1)).type() ==
        "error: nn.sparse_dense: 2 indices are given for 3 elements");
  CHECK(sparseProduct({n, dim(4)}, {dim(3)}, dim(3), dim(0)).type() ==
        "error: nn.sparse_dense: 0 row pointers are given; expected 1 or more");
  CHECK(sparseProduct({n, dim(4)}, {m, dim(3), dim(3)}, m, dim(2)).type() ==
        "error: nn.sparse_dense: the data has 4 columns, which are no whole number of blocks of 3");
  CHECK(sparseProduct({n, dim(4)}, {m, dim(3), dim(0)}, m, dim(2)).type() ==
        "error: nn.sparse_dense: the blocks have 0 columns; expected 1 or more");
  CHECK(sparseProduct({n, dim(4)}, {m, dim(3)}, m, dim(2)).type() ==
        "error: nn.sparse_dense: the data of the sparse matrix has rank 2; expected 1 or 3");
  CHECK(TypedCall("nn.sparse_transpose").on(DType::I8, {n}).on(DType::I64, {n}).on(DType::I64, {m}).type() ==
        "int8(n); int64(n); int64(m)");
  TypedCall sum("nn.sparse_add");
  sum.on(DType::F32, {n, dim(2)}).on(DType::F32, {3}).on(DType::I32, {3}).on(DType::I32, {m});
  CHECK(sum.type() == "float32(n, 2)");
  CHECK(TypedCall("nn.sparse_add")
            .on(DType::F32, {2, 2})
            .on(DType::F32, {3})
            .on(DType::I32, {3})
            .on(DType::I32, {2})
            .type() == "error: nn.sparse_add: 2 row pointers are given; expected 3");
  CHECK(TypedCall("sparse.rows").on(DType::I32, {n}).onScalar(DType::I64, m).type() == "int64(m)");
}

TEST_CASE("sparse tensors of positions") {
  const auto dense = [](const Dims& positions, const Dims& values) {
    TypedCall call("sparse_to_dense");
    call.with("output_shape", Dims{n, dim(3)}).on(DType::I32, positions).on(DType::F16, values);
    return call;
  };
  CHECK(dense({m, dim(2)}, {m}).type() == "float16(n, 3)");
  CHECK(dense({m, dim(2)}, {}).type() == "float16(n, 3)");
  CHECK(dense({m, dim(3)}, {m}).type() ==
        "error: sparse_to_dense: the positions have 3 numbers for a shape of 2 extents");
  CHECK(dense({m}, {m}).type() ==
        "error: sparse_to_dense: positions of rank 1 are of one axis; the shape has 2 extents");
  CHECK(dense({m, dim(2)}, {m, m}).type() ==
        "error: sparse_to_dense: the values have rank 2; expected 0 or 1");
  CHECK(dense({dim(4), dim(2)}, {dim(3)}).type() ==
        "error: sparse_to_dense: 3 values are given for 4 positions");
  CHECK(dense({m, m, m}, {}).type() ==
        "error: sparse_to_dense: the positions have rank 3; expected 0, 1 or 2");
  CHECK(TypedCall("dyn.sparse_to_dense")
            .on(DType::I32, {m, dim(2)})
            .onValues(DType::I64, {n, dim(3)})
            .on(DType::F32, {m})
            .type() == "float32(n, 3)");
  CHECK(TypedCall("sparse_fill_empty_rows")
            .on(DType::I64, {m, dim(2)})
            .on(DType::F32, {m})
            .onValues(DType::I64, {n, dim(3)})
            .on(DType::F32, {1})
            .type() == "int64(v100, 2); float32(v100); bool(n)");
  CHECK(TypedCall("sparse_reshape")
            .on(DType::I64, {m, dim(2)})
            .on(DType::I64, {2})
            .on(DType::I32, {3})
            .type() == "int64(m, 3); int32(3)");
  CHECK(TypedCall("sparse_reshape")
            .on(DType::I64, {m, dim(2)})
            .on(DType::I64, {3})
            .on(DType::I32, {3})
            .type() == "error: sparse_reshape: the positions have 2 numbers for a shape of 3 extents");
  CHECK(TypedCall("sparse.shape").on(DType::I32, {2}).on(DType::I64, {m}).type() == "int64(m)");
  CHECK(TypedCall("sparse.positions").on(DType::I32, {m, dim(2)}).on(DType::I64, {2}).type() ==
        "int64(m, 2)");
}
