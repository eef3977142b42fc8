// Relations of what normalises, and of the reductions that are made of others.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

/// Data, and vectors of the same type.
TypedCall norm(std::string_view name, Dims data, const Dims& vectors) {
  TypedCall call(name);
  call.on(DType::F32, std::move(data));
  for (const DimExpr& extent : vectors) call.on(DType::F32, Dims{extent});
  return call;
}

}  // namespace

TEST_CASE("vectors lie along the axis that is normalised") {
  CHECK(norm("nn.layer_norm", {n, dim(4)}, {dim(4), dim(4)}).type() == "float32(n, 4)");
  TypedCall symbolic = norm("nn.layer_norm", {n, m}, {dim(4), m});
  CHECK(symbolic.type() == "float32(n, 4)");
  CHECK(symbolic.checks() == Strings{"m == 4", "4 == m"});
  CHECK(norm("nn.layer_norm", {n, dim(4)}, {dim(4), dim(3)}).type() ==
        "error: nn.layer_norm: dimension 1 of the data (4) does not match the beta (3)");
  CHECK(norm("nn.instance_norm", {n, dim(4), m}, {dim(4), dim(4)}).type() == "float32(n, 4, m)");
  CHECK(norm("nn.instance_norm", {n}, {n, n}).type() == "error: nn.instance_norm: axis 1 is outside [-1, 1)");
  CHECK(norm("nn.batch_norm", {n, dim(4)}, Dims(4, dim(4))).type() ==
        "float32(n, 4); float32(4); float32(4)");
  CHECK(norm("nn.batch_norm", {n, dim(4)}, {dim(4), dim(4), dim(4), dim(1)}).type() ==
        "error: nn.batch_norm: dimension 1 of the data (4) does not match the variance (1)");
  CHECK(TypedCall("nn.layer_norm")
            .on(DType::F16, {4})
            .on(DType::F32, {4})
            .on(DType::F32, {4})
            .type()
            .substr(0, 6) == "error:");
}

TEST_CASE("groups divide the channels") {
  const auto groups = [](int64_t count, const DimExpr& channels) {
    TypedCall call = norm("nn.group_norm", {n, channels}, {channels, channels});
    call.with("num_groups", count);
    return call;
  };
  CHECK(groups(2, dim(4)).type() == "float32(n, 4)");
  CHECK(groups(3, dim(4)).type() == "error: nn.group_norm: 3 groups do not divide dimension 1 (4)");
  CHECK(groups(0, dim(4)).type() == "error: nn.group_norm: num_groups is 0; expected 1 or more");
  TypedCall symbolic = groups(2, m);
  CHECK(symbolic.type() == "float32(n, m)");
  CHECK(symbolic.checks().size() == 1);
}

TEST_CASE("lengths and windows") {
  CHECK(TypedCall("nn.l2_normalize").with("eps", 1e-5).with("axis", Ints{-1}).on(DType::F32, {n, m}).type() ==
        "float32(n, m)");
  CHECK(TypedCall("nn.l2_normalize").with("eps", 1e-5).with("axis", Ints{2}).on(DType::F32, {n, m}).type() ==
        "error: nn.l2_normalize: axis 2 is outside [-2, 2)");
  CHECK(TypedCall("nn.l2_normalize")
            .with("eps", 1e-5)
            .with("axis", Ints{0, -2})
            .on(DType::F32, {n, m})
            .type() == "error: nn.l2_normalize: axis 0 is listed twice");
  CHECK(TypedCall("nn.lrn").on(DType::F32, {n, m}).type() == "float32(n, m)");
  CHECK(TypedCall("nn.lrn").with("size", int64_t{0}).on(DType::F32, {n, m}).type() ==
        "error: nn.lrn: size is 0; expected 1 or more");
  CHECK(TypedCall("nn.lrn").on(DType::F32, {n}).type() == "error: nn.lrn: axis 1 is outside [-1, 1)");
}

TEST_CASE("variance with a mean that is given") {
  TypedCall call("variance");
  call.with("axis", Ints{1}).on(DType::F32, {n, m}).on(DType::F32, {n, dim(1)});
  CHECK(call.type() == "float32(n)");
  CHECK(call.checks().empty());
  CHECK(TypedCall("variance").with("axis", Ints{1}).on(DType::F32, {2, 3}).on(DType::F32, {2, 3}).type() ==
        "error: variance: dimension 1 of the mean is 3; expected 1");
  CHECK(TypedCall("variance").with("keepdims", true).on(DType::F32, {n, m}).type() == "float32(1, 1)");
  CHECK(TypedCall("variance").on(DType::I32, {2}).type() ==
        "error: variance: the data has element type int32; expected a float type");
  CHECK(TypedCall("logsumexp").with("axis", Ints{0}).on(DType::F32, {n, m}).type() == "float32(m)");
  CHECK(TypedCall("logsumexp").with("axis", Ints{2}).on(DType::F32, {n, m}).type() ==
        "error: logsumexp: axis 2 is outside [-2, 2)");
}

TEST_CASE("forms of gelu, and fixed-point factors") {
  CHECK(TypedCall("nn.gelu").with("approximate", std::string("fast")).on(DType::F32, {n}).type() ==
        "error: nn.gelu: approximate is \"fast\"; expected \"none\" or \"tanh\"");
  TypedCall product("fixed_point_multiply");
  product.with("shift", int64_t{1}).with("multiplier", int64_t{1} << 31).on(DType::I32, {n});
  CHECK(product.type() == "error: fixed_point_multiply: the multiplier is 2147483648; expected an int32");
  product.with("multiplier", int64_t{1} << 30);
  CHECK(product.type() == "int32(n)");
  CHECK(TypedCall("fixed_point_multiply")
            .with("shift", int64_t{1})
            .with("multiplier", int64_t{1})
            .on(DType::I16, {n})
            .type()
            .substr(0, 6) == "error:");
}
