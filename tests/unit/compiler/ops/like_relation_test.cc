// Relations of the operators that take shapes from other tensors.
#include "tests/unit/compiler/ops/relation_test.h"

TEST_CASE("a tensor is broadcast to the shape of another") {
  CHECK(TypedCall("broadcast_to_like").on(DType::F32, {3}).on(DType::Bool, {2, 3}).type() == "float32(2, 3)");
  CHECK(TypedCall("broadcast_to_like").on(DType::F32, {3}).on(DType::F32, {2, 2}).type() ==
        "error: broadcast_to_like: the shape (3,) cannot be broadcast to (2, 2)");
  CHECK(TypedCall("broadcast_to_like").on(DType::F32, {2, 3}).on(DType::F32, {3}).type() ==
        "error: broadcast_to_like: data of rank 2 cannot be broadcast to rank 1");
  TypedCall symbolic("broadcast_to_like");
  CHECK(symbolic.on(DType::F32, {n}).on(DType::I32, {m, n}).type() == "float32(m, n)");
  CHECK(symbolic.checks().empty());
}

TEST_CASE("extents of another tensor take the place of some") {
  CHECK(TypedCall("reshape_like").on(DType::F32, {2, 6}).on(DType::I8, {3, 4}).type() == "float32(3, 4)");
  TypedCall part("reshape_like");
  part.with("lhs_begin", int64_t{1}).with("rhs_begin", int64_t{-2}).with("rhs_end", int64_t{-1});
  CHECK(part.on(DType::F32, {n, dim(3), m}).on(DType::F32, {dim(7), dim(3) * m, dim(2)}).type() ==
        "float32(n, 3*m)");
  CHECK(part.checks().empty());
  CHECK(TypedCall("reshape_like").on(DType::F32, {2, 3}).on(DType::F32, {2, 2}).type() ==
        "error: reshape_like: the shapes (2, 3) and (2, 2) have different numbers of elements");
  CHECK(TypedCall("reshape_like")
            .with("lhs_begin", int64_t{2})
            .with("lhs_end", int64_t{1})
            .on(DType::F32, {2, 3})
            .on(DType::F32, {6})
            .type() == "error: reshape_like: lhs_begin 2 and lhs_end 1 are no range of 2 axes");
  CHECK(TypedCall("reshape_like")
            .with("rhs_begin", int64_t{-3})
            .on(DType::F32, {2, 3})
            .on(DType::F32, {2, 3})
            .type() == "error: reshape_like: rhs_begin -3 and rhs_end 2 are no range of 2 axes");
}

TEST_CASE("the first elements, as many as another tensor has") {
  CHECK(TypedCall("slice_like").on(DType::F32, {3, 4}).on(DType::I8, {2, 3}).type() == "float32(2, 3)");
  CHECK(TypedCall("slice_like").on(DType::F32, {3, 4}).on(DType::I8, {2}).type() == "float32(2, 4)");
  CHECK(TypedCall("slice_like").with("axes", Ints{-1}).on(DType::F32, {3, 4}).on(DType::I8, {9, 3}).type() ==
        "float32(3, 3)");
  CHECK(TypedCall("slice_like").on(DType::F32, {3, 4}).on(DType::I8, {2, 5}).type() ==
        "error: slice_like: dimension 1 of the shape (5) is greater than that of the data (4)");
  CHECK(TypedCall("slice_like").with("axes", Ints{1}).on(DType::F32, {3, 4}).on(DType::I8, {2}).type() ==
        "error: slice_like: the shape has rank 1, and no axis 1");
  CHECK(TypedCall("slice_like").with("axes", Ints{2}).on(DType::F32, {3, 4}).on(DType::I8, {2, 2}).type() ==
        "error: slice_like: axis 2 is outside [-2, 2)");
  TypedCall symbolic("slice_like");
  CHECK(symbolic.on(DType::F32, {n, dim(4)}).on(DType::F32, {m, dim(4)}).type() == "float32(m, 4)");
  CHECK(symbolic.checks() == Strings{"m <= n"});
}

TEST_CASE("reshape from the last extent to the first") {
  const auto reversed = [](Dims data, Ints shape) {
    Dims dims;
    for (const int64_t extent : shape) dims.push_back(dim(extent));
    TypedCall call("contrib_reverse_reshape");
    return call.with("newshape", std::move(dims)).on(DType::F32, std::move(data)).type();
  };
  CHECK(reversed({dim(10), dim(5), dim(4)}, {-1, 0}) == "float32(50, 4)");
  CHECK(reversed({n, m, dim(4)}, {-1, 0}) == "float32(n*m, 4)");
  CHECK(reversed({n, dim(3), dim(4)}, {-2, -3}) == "float32(n, 12)");
  CHECK(reversed({n, dim(3), dim(4)}, {-3, 0}) == "float32(3*n, 4)");
  CHECK(reversed({dim(2), dim(3)}, {-4, 1, 2, 0}) ==
        "error: contrib_reverse_reshape: element 0 of the new shape is -4; expected -3 or more");
  CHECK(reversed({dim(2), dim(3)}, {0, 0, 0}) ==
        "error: contrib_reverse_reshape: 0 in the new shape stands for extent 2 from the end of the data, "
        "which "
        "has 2");
  CHECK(reversed({dim(2), dim(3)}, {4, -1}) ==
        "error: contrib_reverse_reshape: the shapes (2, 3) and (4, 1) have different numbers of elements");
}

TEST_CASE("the number of elements is a dim") {
  TypedCall size("ndarray_size");
  CHECK(size.with("dtype", DType::I64).on(DType::F32, {n, dim(4)}).type() == "int64()");
  CHECK(size.values() == "[4*n]");
  CHECK(size.checks().empty());
  TypedCall narrow("ndarray_size");
  CHECK(narrow.on(DType::F32, {n}).type() == "int32()");
  CHECK(narrow.checks() == Strings{"n <= 2147483647"});
  CHECK(TypedCall("ndarray_size").with("dtype", DType::U8).on(DType::F32, {16, 16}).type() ==
        "error: ndarray_size: 256 does not fit uint8");
  CHECK(TypedCall("ndarray_size").with("dtype", DType::F32).on(DType::F32, {16}).type() ==
        "error: ndarray_size: the result has type float32; expected an integer type");
}

TEST_CASE("axes that are operands") {
  CHECK(TypedCall("dyn.expand_dims").on(DType::F32, {n, dim(3)}).onScalar(DType::I32, dim(-1)).type() ==
        "float32(n, 3, 1)");
  CHECK(TypedCall("dyn.expand_dims").on(DType::F32, {n, dim(3)}).onValues(DType::I64, {dim(1)}).type() ==
        "float32(n, 1, 3)");
  CHECK(TypedCall("dyn.expand_dims").on(DType::F32, {n}).onValues(DType::I64, {dim(1), dim(0)}).type() ==
        "error: dyn.expand_dims: 2 axes are given; expected one");
  CHECK(TypedCall("dyn.expand_dims").on(DType::F32, {n}).onScalar(DType::I64, dim(2)).type() ==
        "error: dyn.expand_dims: axis 2 is outside [-2, 2)");
  CHECK(TypedCall("dyn.expand_dims")
            .with("num_newaxis", int64_t{-1})
            .on(DType::F32, {n})
            .onScalar(DType::I64, dim(0))
            .type() == "error: dyn.expand_dims: num_newaxis is -1; expected 0 to 32");
  CHECK(TypedCall("dyn.squeeze").on(DType::F32, {dim(1), n, dim(1)}).onValues(DType::I64, {dim(-1)}).type() ==
        "float32(1, n)");
  CHECK(TypedCall("dyn.squeeze")
            .on(DType::F32, {dim(1), n, dim(1)})
            .onValues(DType::I64, {dim(2), dim(0)})
            .type() == "float32(n)");
  CHECK(TypedCall("dyn.squeeze").on(DType::F32, {dim(1), dim(3)}).onValues(DType::I64, {dim(1)}).type() ==
        "error: dyn.squeeze: dimension 1 of the data is 3; expected 1");
  CHECK(TypedCall("dyn.squeeze")
            .on(DType::F32, {dim(1), dim(3)})
            .onValues(DType::I64, {dim(0), dim(-2)})
            .type() == "error: dyn.squeeze: an axis is listed twice");
  CHECK(TypedCall("dyn.squeeze").on(DType::F32, {1}).onValues(DType::I64, {dim(0), dim(0)}).type() ==
        "error: dyn.squeeze: 2 axes are given for rank 1");
}
