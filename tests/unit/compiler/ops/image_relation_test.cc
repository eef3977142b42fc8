// Types and shapes of resizes, upsamplings, crops, grids and dilation.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {
std::vector<DimExpr> sizes(std::initializer_list<DimExpr> values) { return values; }
}  // namespace

TEST_CASE("a resize has the size that is given", "[relations][image]") {
  TypedCall call("image.resize2d");
  CHECK(call.with("size", sizes({dim(5), m})).on(DType::F16, {n, dim(3), dim(4), dim(4)}).type() ==
        "float16(n, 3, 5, m)");
  CHECK(call.checks().empty());
  CHECK(TypedCall("image.resize2d")
            .with("layout", std::string("NHWC4c"))
            .with("out_dtype", DType::U8)
            .with("size", sizes({dim(5), dim(6)}))
            .on(DType::F32, {dim(1), dim(4), dim(4), n, dim(4)})
            .type() == "uint8(1, 5, 6, n, 4)");
  // By a tensor of which the elements are known, or only their number.
  CHECK(TypedCall("dyn.image.resize2d")
            .on(DType::F32, {n, dim(3), dim(4), dim(4)})
            .onValues(DType::I64, {dim(7), m})
            .on(DType::F32, {4})
            .type() == "float32(n, 3, 7, m)");
  CHECK(TypedCall("image.resize1d").with("size", sizes({dim(2)})).on(DType::I32, {n, m, dim(9)}).type() ==
        "int32(n, m, 2)");
  CHECK(TypedCall("image.resize3d")
            .with("size", sizes({dim(2), dim(3), dim(4)}))
            .with("layout", std::string("NDHWC"))
            .on(DType::F32, {dim(1), dim(9), dim(9), dim(9), n})
            .type() == "float32(1, 2, 3, 4, n)");
}

TEST_CASE("a resize of nothing is refused where it makes something", "[relations][image]") {
  TypedCall call("image.resize1d");
  CHECK(call.with("size", sizes({m})).on(DType::F32, {dim(1), dim(1), n}).type() == "float32(1, 1, m)");
  CHECK(call.checks() == std::vector<std::string>{"n >= min(m, 1)"});
  CHECK(TypedCall("image.resize1d").with("size", sizes({dim(0)})).on(DType::F32, {1, 1, 0}).type() ==
        "float32(1, 1, 0)");
  CHECK(TypedCall("image.resize1d").with("size", sizes({dim(1)})).on(DType::F32, {1, 1, 0}).type() ==
        "error: image.resize1d: dimension 2 of the data has no elements");
}

TEST_CASE("extents of an upsampling are exact multiples", "[relations][image]") {
  const auto height = [](double scale, DimExpr extent) {
    return TypedCall("nn.upsampling")
        .with("scale_h", scale)
        .on(DType::F32, {dim(1), dim(1), extent, m})
        .type();
  };
  CHECK(height(2.0, n) == "float32(1, 1, 2*n, m)");
  CHECK(height(1.5, n) == "float32(1, 1, n + ceil_div(n, 2), m)");
  // The fraction that is meant, not the one that a binary number is.
  CHECK(height(1.1, n) == "float32(1, 1, n + floor_div(n + 5, 10), m)");
  CHECK(height(0.7, dim(5)) == "float32(1, 1, 4, m)");
  CHECK(height(1.0 / 3, dim(9)) == "float32(1, 1, 3, m)");
  CHECK(height(1e6, dim(7)) == "float32(1, 1, 7000000, m)");
  CHECK(height(0.30000001192092896, dim(10)) == "float32(1, 1, 3, m)");
  CHECK(height(0.0, n) == "error: nn.upsampling: a scale is 0; expected 1e-6 to 1e6");
  CHECK(height(std::numeric_limits<double>::quiet_NaN(), n).substr(0, 6) == "error:");
  CHECK(TypedCall("nn.upsampling3d")
            .with("scale_d", 2.0)
            .on(DType::U8, {dim(1), dim(1), n, m, dim(3)})
            .type() == "uint8(1, 1, 2*n, m, 3)");
}

TEST_CASE("extents of an upsampling by scalars that are not known are found when running",
          "[relations][image]") {
  CHECK(TypedCall("dyn.nn.upsampling")
            .on(DType::F32, {n, dim(1), m, dim(3)})
            .on(DType::F32, std::initializer_list<int64_t>{})
            .on(DType::F64, std::initializer_list<int64_t>{})
            .type() == "float32(n, 1, v100, v101)");
}

TEST_CASE("crops, grids and their types", "[relations][image]") {
  TypedCall crop("image.crop_and_resize");
  CHECK(crop.with("crop_size", sizes({dim(3), dim(4)}))
            .with("layout", std::string("NHWC"))
            .on(DType::U8, {dim(2), dim(8), dim(8), dim(3)})
            .on(DType::F32, {n, dim(4)})
            .on(DType::I32, {m})
            .type() == "uint8(n, 3, 4, 3)");
  CHECK(crop.checks() == std::vector<std::string>{"n == m"});
  CHECK(TypedCall("image.affine_grid")
            .with("target_shape", sizes({dim(4), m}))
            .on(DType::F32, {n, dim(2), dim(3)})
            .type() == "float32(n, 2, 4, m)");
  CHECK(TypedCall("image.grid_sample")
            .on(DType::F16, {n, dim(3), dim(8), dim(8)})
            .on(DType::F32, {n, dim(2), m, dim(5)})
            .type() == "float16(n, 3, m, 5)");
}

TEST_CASE("a dilation is as large as the places where its kernel fits", "[relations][image]") {
  TypedCall call("image.dilation2d");
  CHECK(call.with("strides", std::vector<int64_t>{2, 1})
            .with("padding", std::vector<int64_t>{1, 0, 2, 0})
            .with("dilations", std::vector<int64_t>{1, 2})
            .on(DType::F32, {n, dim(3), dim(6), m})
            .on(DType::F32, {3, 3, 2})
            .type() == "float32(n, 3, 4, m - 2)");
  CHECK(call.checks() == std::vector<std::string>{"m > 2"});
}
