// Relations of meshgrid, strided_set, adv_index, unique and einsum.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

TypedCall einsum(const std::string& equation, const std::vector<Dims>& operands) {
  TypedCall call("einsum");
  call.with("equation", equation);
  for (const Dims& dims : operands) call.on(DType::F32, dims);
  return call;
}

TypedCall set(const Dims& data, const Dims& values, const Dims& begin, const Dims& end) {
  TypedCall call("strided_set");
  call.on(DType::F32, data).on(DType::F32, values).onValues(DType::I64, begin).onValues(DType::I64, end);
  return call;
}

}  // namespace

TEST_CASE("grids") {
  CHECK(TypedCall("meshgrid").on(DType::I8, {n}).on(DType::I8, {3}).type() == "int8(n, 3); int8(n, 3)");
  CHECK(TypedCall("meshgrid")
            .with("indexing", std::string("xy"))
            .on(DType::I8, {n})
            .on(DType::I8, {3})
            .on(DType::I8, {})
            .type() == "int8(3, n, 1); int8(3, n, 1); int8(3, n, 1)");
  CHECK(TypedCall("meshgrid").with("indexing", std::string("yx")).on(DType::I8, {n}).type() ==
        "error: meshgrid: indexing is \"yx\"; expected \"ij\" or \"xy\"");
  CHECK(TypedCall("meshgrid").on(DType::I8, {n}).on(DType::I8, {2, 3}).type() ==
        "error: meshgrid: element 1 of the data has rank 2; expected 0 or 1");
  CHECK(TypedCall("meshgrid").type() == "error: meshgrid: the tuple has no elements");
}

TEST_CASE("parts that are replaced") {
  TypedCall rows = set({n, dim(4)}, {m, dim(4)}, {dim(1)}, {dim(3)});
  CHECK(rows.type() == "float32(n, 4)");
  CHECK(rows.checks() == Strings{"m == min(n, 3) - min(n, 1)"});
  CHECK(set({dim(5)}, {dim(2)}, {dim(-3)}, {dim(-1)}).type() == "float32(5)");
  CHECK(set({dim(5)}, {dim(3)}, {dim(-3)}, {dim(-1)}).type() ==
        "error: strided_set: dimension 0 of the values is 3; 2 elements are replaced");
  CHECK(set({dim(5)}, {dim(2)}, {dim(0)}, {dim(4)}).onValues(DType::I32, {dim(2)}).type() == "float32(5)");
  CHECK(set({dim(5)}, {dim(2)}, {dim(0)}, {dim(4)}).onValues(DType::I32, {dim(0)}).type() ==
        "error: strided_set: the stride along axis 0 is 0");
  CHECK(set({dim(5)}, {dim(2)}, {dim(0)}, {dim(4)}).onValues(DType::I32, {n}).type() ==
        "error: strided_set: the strides are not known when compiling");
  CHECK(set({dim(5)}, {dim(2)}, {dim(0), dim(1)}, {dim(4)}).type() ==
        "error: strided_set: 2 begins, 1 ends and 0 strides are given for 1 axes");
}

TEST_CASE("indices of several axes") {
  const auto indexed = [](const Dims& data, const std::vector<Dims>& indices) {
    TypedCall call("adv_index");
    call.on(DType::F32, data);
    for (const Dims& dims : indices) call.on(DType::I32, dims);
    return call;
  };
  TypedCall any = indexed({dim(5), n, m}, {{dim(1), symbol(2)}, {dim(4), dim(1)}});
  CHECK(any.type() == "float32(4, k, m)");
  CHECK(indexed({n, m}, {{}}).type() == "float32(m)");
  CHECK(indexed({dim(0), m}, {{dim(2)}}).type() ==
        "error: adv_index: the data has no elements along axis 0 (0)");
  CHECK(indexed({dim(0), m}, {{dim(0)}}).type() == "float32(0, m)");
  CHECK(indexed({n}, {{n}, {n}}).type() ==
        "error: adv_index: indices of 2 axes are given for data of rank 1");
  CHECK(indexed({n}, {}).type() ==
        "error: adv_index: the tuple has 1 elements; expected the data and one tensor of indices for each of "
        "its "
        "first axes");
  CHECK(TypedCall("adv_index").on(DType::F32, {n}).on(DType::F32, {n}).type() ==
        "error: adv_index: element 1 of the data has element type float32; expected an integer type");
  CHECK(indexed({n, n}, {{dim(2)}, {dim(3)}}).type() ==
        "error: adv_index: the shapes (2,) and (3,) do not broadcast in dimension 0");
}

TEST_CASE("values that are each there once") {
  CHECK(TypedCall("unique").on(DType::F16, {n}).type() == "float16(v100); int32(v100); int32(n); int32(1)");
  CHECK(TypedCall("unique").with("return_counts", true).on(DType::Bool, {3}).type() ==
        "bool(v100); int32(v100); int32(3); int32(1); int32(v100)");
  CHECK(TypedCall("unique").on(DType::I8, {int64_t{1} << 31}).type() ==
        "error: unique: the data has more elements (2147483648) than int32 has indices");
}

TEST_CASE("equations") {
  TypedCall product = einsum("ij,jk->ik", {{n, m}, {dim(3), symbol(2)}});
  CHECK(product.type() == "float32(n, k)");
  CHECK(product.checks() == Strings{"m == 3"});
  CHECK(einsum("ij,jk", {{n, m}, {m, dim(2)}}).type() == "float32(n, 2)");
  CHECK(einsum("ba", {{n, m}}).type() == "float32(m, n)");
  CHECK(einsum("ii", {{n, n}}).type() == "float32()");
  CHECK(einsum("b...a, ...a", {{n, dim(3), dim(2), m}, {dim(2), m}}).type() == "float32(3, 2, n)");
  CHECK(einsum("...", {{n, m}}).type() == "float32(n, m)");
  CHECK(einsum("ij,jk->ik", {{n, dim(2)}, {dim(3), m}}).type() ==
        "error: einsum: dimension 0 of operand 1 is 3; another with its letter is 2");
  CHECK(einsum("ij,jk->ik", {{n, m}}).type() == "error: einsum: the equation has 2 operands; expected 1");
  CHECK(einsum("ijk", {{n, m}}).type() == "error: einsum: operand 0 has rank 2; \"ijk\" is for 3");
  CHECK(einsum("ijk...", {{n, m}}).type() ==
        "error: einsum: operand 0 has rank 2; \"ijk...\" is for 3 to 13");
  CHECK(einsum("i1", {{n, m}}).type() ==
        "error: einsum: the equation has \"1\"; expected letters, commas, `...` and `->`");
  CHECK(einsum("ij->i>", {{n, m}}).type() ==
        "error: einsum: the equation has \">\"; expected letters, commas, `...` and `->`");
  CHECK(einsum("ij->ik", {{n, m}}).type() == "error: einsum: the result has \"k\" which no operand has");
  CHECK(einsum("ij->ii", {{n, m}}).type() == "error: einsum: the result has \"i\" twice");
  CHECK(TypedCall("einsum").with("equation", std::string("->")).type() ==
        "error: einsum: the tuple has no elements");
}
