// Relations of the operators on quantised tensors.
#include "tests/unit/compiler/ops/relation_test.h"

namespace {

TypedCall requantized(const Dims& data, const Dims& scale, const Dims& zeroPoint) {
  TypedCall call("qnn.requantize");
  call.on(DType::I32, data)
      .on(DType::F32, scale)
      .on(DType::I32, zeroPoint)
      .on(DType::F32, {})
      .on(DType::I32, {});
  return call;
}

TypedCall quantisedProduct(std::string_view name, const Dims& data, const Dims& weight,
                           const Dims& kernelZero) {
  TypedCall call(name);
  call.on(DType::U8, data).on(DType::I8, weight).on(DType::I32, {}).on(DType::I32, kernelZero);
  call.on(DType::F32, {}).on(DType::F32, {});
  return call;
}

}  // namespace

TEST_CASE("scales and zero points") {
  CHECK(requantized({n, dim(3)}, {}, {}).type() == "int8(n, 3)");
  CHECK(requantized({n, dim(3)}, {dim(3)}, {}).type() == "int8(n, 3)");
  TypedCall channels = requantized({n, dim(3)}, {m}, {});
  CHECK(channels.with("axis", int64_t{0}).with("out_dtype", DType::U8).type() == "uint8(n, 3)");
  CHECK(channels.checks() == Strings{"m == n"});
  CHECK(requantized({n, dim(3)}, {dim(2)}, {}).type() ==
        "error: qnn.requantize: the input scale has 2 elements for dimension 1 (3)");
  CHECK(requantized({n, dim(3)}, {n, n}, {}).type() ==
        "error: qnn.requantize: the input scale has rank 2; expected 0 or 1");
  CHECK(requantized({n, dim(3)}, {n}, {}).with("axis", int64_t{2}).type() ==
        "error: qnn.requantize: axis 2 is outside [-2, 2)");
  CHECK(requantized({n}, {}, {}).with("rounding", std::string("DOWNWARD")).type() ==
        "error: qnn.requantize: rounding is \"DOWNWARD\"; expected \"UPWARD\" or \"TONEAREST\"");
  CHECK(requantized({n}, {}, {}).with("compute_dtype", std::string("float32")).type() ==
        "error: qnn.requantize: compute_dtype is \"float32\"; expected \"int64\"");
  CHECK(requantized({n}, {}, {}).with("out_dtype", DType::I64).type() ==
        "error: qnn.requantize: out_dtype is int64; expected an integer type of at most 32 bits");
  CHECK(TypedCall("qnn.quantize").on(DType::F32, {n}).on(DType::F32, {}).on(DType::I32, {}).type() ==
        "int8(n)");
  TypedCall floats("qnn.dequantize");
  floats.on(DType::U8, {n}).on(DType::F32, {}).on(DType::I32, {});
  CHECK(floats.type() == "float32(n)");
  CHECK(floats.with("out_dtype", DType::I32).type() ==
        "error: qnn.dequantize: out_dtype is int32; expected a float type");
}

TEST_CASE("arithmetic on quantised tensors") {
  const auto sum = [](DType dtype, const Dims& a, const Dims& b) {
    TypedCall call("qnn.add");
    call.on(dtype, a).on(dtype, b);
    for (int i = 0; i < 3; ++i) call.on(DType::F32, {}).on(DType::I32, {});
    return call;
  };
  CHECK(sum(DType::U8, {n, dim(3)}, {dim(3)}).type() == "uint8(n, 3)");
  CHECK(sum(DType::U8, {dim(4), dim(3)}, {dim(2)}).type() ==
        "error: qnn.add: the shapes (4, 3) and (2,) do not broadcast in dimension 1");
  CHECK(sum(DType::I64, {n}, {n}).type() ==
        "error: qnn.add: the operands have element type int64; expected an integer type of at most 32 bits");
  const auto joined = [](const std::vector<Dims>& parts, size_t scales) {
    TypedCall call("qnn.concatenate");
    call.on(DType::F32, {}).on(DType::I32, {});
    for (const Dims& dims : parts) call.on(DType::U8, dims);
    for (size_t i = 0; i < scales; ++i) call.on(DType::F32, {});
    for (size_t i = 0; i < parts.size(); ++i) call.on(DType::I32, {});
    return call;
  };
  CHECK(joined({{n, dim(2)}, {m, dim(2)}}, 2).type() == "uint8(n + m, 2)");
  CHECK(joined({{n, dim(2)}, {m, dim(3)}}, 2).type() ==
        "error: qnn.concatenate: dimension 1 of element 0 of the tuple (2) does not match dimension 1 of "
        "element 1 "
        "(3)");
  CHECK(joined({{n}, {m}}, 1).type() ==
        "error: qnn.concatenate: the tuple has 5 elements; expected tensors, then as many scales, then as "
        "many zero "
        "points");
  TypedCall wrong("qnn.concatenate");
  wrong.on(DType::F32, {}).on(DType::I32, {}).on(DType::U8, {n}).on(DType::I32, {}).on(DType::I32, {});
  CHECK(wrong.type() ==
        "error: qnn.concatenate: element 1 of the tuple has element type int32; expected a float type");
}

TEST_CASE("products of quantised tensors") {
  CHECK(quantisedProduct("qnn.dense", {n, dim(4)}, {dim(3), dim(4)}, {}).type() == "int32(n, 3)");
  CHECK(quantisedProduct("qnn.dense", {n, dim(4)}, {dim(3), dim(4)}, {dim(3)})
            .with("out_dtype", DType::I64)
            .type() == "int64(n, 3)");
  CHECK(quantisedProduct("qnn.dense", {n, dim(4)}, {dim(3), dim(4)}, {dim(4)}).type() ==
        "error: qnn.dense: the kernel zero point has 4 elements for dimension 0 (3)");
  CHECK(quantisedProduct("qnn.dense", {}, {dim(3), dim(4)}, {}).type() ==
        "error: qnn.dense: the data is a scalar; expected rank 1 or more");
  CHECK(
      quantisedProduct("qnn.dense", {n, dim(4)}, {dim(3), dim(4)}, {}).with("out_dtype", DType::I8).type() ==
      "error: qnn.dense: out_dtype is int8; expected int32 or int64");
  const Dims image = {n, dim(2), dim(5), dim(5)};
  const Dims window = {dim(4), dim(2), dim(3), dim(3)};
  CHECK(quantisedProduct("qnn.conv2d", image, window, {dim(4)}).type() == "int32(n, 4, 3, 3)");
  CHECK(quantisedProduct("qnn.conv2d", image, window, {dim(3)}).type() ==
        "error: qnn.conv2d: the kernel zero point has 3 elements for dimension 0 (4)");
  CHECK(quantisedProduct("qnn.conv2d", image, window, {}).with("out_dtype", DType::F32).type() ==
        "error: qnn.conv2d: out_dtype is float32; expected int32 or int64");
  CHECK(quantisedProduct("qnn.batch_matmul", {n, m, dim(4)}, {n, dim(4), dim(3)}, {}).type() ==
        "int32(n, m, 3)");
}
