#include <catch2/catch.hpp>

#include "dims.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/printer.h"
#include "kernels/loop/verifier.h"

namespace baton::loop {
namespace {

KernelDescriptor rowsDescriptor() {
  KernelDescriptor d;
  d.name = "scale rows \"x\"";
  d.symbols = {{.name = "b", .index = 0, .axis = 0}, {.name = "n", .index = 0, .axis = 1}};
  d.inputs = {{.dtype = DType::F32, .alignmentBytes = 64, .extents = {sym(0), sym(1)}}};
  d.outputs = {{.dtype = DType::F32, .extents = {sym(0), sym(1)}, .mayAlias = {0}, .independentAxis = 0}};
  d.scalarInputs = {DType::F32};
  d.scalarOutputs = {DType::I64};
  d.constraints = {{sym(1), Relation::Le, DimExpr::constant(512)}};
  return d;
}

Kernel rowsKernel() {
  Builder b(rowsDescriptor());
  const BufferIndex temporary =
      b.scratch(DType::F32, {floorDiv(sym(1) + DimExpr::constant(3), DimExpr::constant(4))});
  b.parallel(
      b.symbol(0),
      [&](Value i) {
        const Value sum =
            b.reduce(ReduceOp::Sum, b.symbol(1), [&](Value j) { return b.load(b.input(0), {i, j}); });
        b.ifThenElse(
            sum > b.f32(0.5),
            [&] {
              b.vectorized(b.symbol(1), [&](Value j) {
                b.store(b.output(0), {i, j}, b.load(b.input(0), {i, j}) * b.scalarInput(0) / sum);
              });
            },
            [&] { b.fail(b.message("row {0} is too small"), {i}); });
      },
      16);
  const LocalIndex count = b.local(DType::I64, {2, 3});
  b.unrolled(3, [&](Value i) { b.set(count, {b.i64(1), i}, i); });
  b.store(temporary, {b.i64(0)}, b.f32(-0.0));
  b.setScalar(0, b.get(count, {b.i64(1), b.i64(2)}));
  return b.take();
}

constexpr const char* kRowsText = R"(kernel "scale rows \"x\"" {
  symbol b = operand 0 axis 0
  symbol n = operand 0 axis 1
  input f32[b, n] align 64
  output f32[b, n] alias 0 independent 0
  scalar_input f32
  scalar_output i64
  message "row {0} is too small"
  where n <= 512
  scratch f32[ceil_div(n, 4)]
  parallel %0 < $b grain 16 {
    %1 = reduce sum (%2 < $n) {
      %3 = load in0[%0, %2]
      yield %3
    }
    %4 = gt f32 %1, f32(0.5)
    if %4 {
      vectorized %5 < $n {
        %6 = load in0[%0, %5]
        %7 = mul f32 %6, arg0
        %8 = div f32 %7, %1
        store out0[%0, %5], %8
      }
    } else {
      fail 0, %0
    }
  }
  local l0 i64[2, 3]
  unrolled %9 < 3 {
    set l0[1, %9], %9
  }
  store tmp0[0], f32(-0)
  %10 = get l0[1, 2]
  set_scalar 0, %10
}
)";

TEST_CASE("loop text: a kernel prints as expected and survives the round trip") {
  const Kernel kernel = rowsKernel();
  REQUIRE(verify(kernel).has_value());
  CHECK(print(kernel) == kRowsText);
  Result<Kernel> parsed = parseKernel(print(kernel));
  REQUIRE(parsed.has_value());
  CHECK(verify(parsed.value()).has_value());
  CHECK(print(parsed.value()) == kRowsText);
  CHECK(parsed.value().descriptor.constraints[0].rhs == DimExpr::constant(512));
  CHECK(parsed.value().descriptor.outputs[0].mayAlias == std::vector<uint32_t>{0});
}

TEST_CASE("loop text: constants of every type survive the round trip") {
  const char* text = R"(kernel "constants" {
  scalar_output f32
  scalar_output f64
  scalar_output f16
  scalar_output bf16
  scalar_output i8
  scalar_output u64
  scalar_output bool
  scalar_output i64
  set_scalar 0, f32(1e-45)
  set_scalar 0, f32(3.4028235e+38)
  set_scalar 0, f32(0x7fc00001)
  set_scalar 0, f32(0xff800000)
  set_scalar 1, f64(0.1)
  set_scalar 1, f64(5e-324)
  set_scalar 1, f64(0x7ff0000000000000)
  set_scalar 2, f16(0x3c00)
  set_scalar 3, bf16(0x3f80)
  set_scalar 4, i8(-128)
  set_scalar 5, u64(18446744073709551615)
  set_scalar 6, true
  set_scalar 7, -9223372036854775808
}
)";
  Result<Kernel> parsed = parseKernel(text);
  REQUIRE(parsed.has_value());
  REQUIRE(verify(parsed.value()).has_value());
  CHECK(print(parsed.value()) == text);
}

TEST_CASE("loop text: errors name line and column") {
  const auto messageOf = [](const std::string& text) {
    Result<Kernel> parsed = parseKernel(text);
    REQUIRE(!parsed.has_value());
    CHECK(parsed.error().code() == ErrorCode::Malformed);
    return parsed.error().message();
  };
  CHECK(messageOf("") == "1:1: expected 'kernel', found end of text");
  CHECK(messageOf("kernel \"k\" {\n  foo\n}") == "2:3: expected a statement, found 'foo'");
  CHECK(messageOf("kernel \"k\" {\n  %1 = add i64 %2, 1\n}") ==
        "2:16: expected a value that is defined above, found '2'");
  CHECK(messageOf("kernel \"k\" {\n %1 = add i64 1, 1\n %1 = add i64 1, 1 }") ==
        "3:20: %1 is defined twice, found '}'");
  CHECK(messageOf("kernel \"k\" { input f33[] }") == "1:20: expected an element type, found 'f33'");
  CHECK(messageOf("kernel \"k\" { %0 = load in0 }") == "1:24: expected a declared input, found 'in0'");
  CHECK(messageOf("kernel \"k\" { fail 99999999999999999999 }") ==
        "1:19: expected a message of at most 1048576, found '99999999999999999999'");
  CHECK(messageOf("kernel \"k\" { %0 = add i8 i8(128), i8(1) }") ==
        "1:29: expected a constant that fits i8, found '128'");
  CHECK(messageOf("kernel \"k") == "1:8: string without end");
  CHECK(messageOf("kernel \"k\" { \x01 }") == "1:14: unexpected character 0x01");
  CHECK(messageOf("kernel \"k\" { } x") == "1:16: expected the end of the text, found 'x'");
}

TEST_CASE("loop text: nesting is bounded") {
  std::string text = "kernel \"deep\" {\n";
  for (int i = 0; i < 100000; ++i) text += "if true {\n";
  Result<Kernel> parsed = parseKernel(text);
  REQUIRE(!parsed.has_value());
  CHECK(parsed.error().message() == "66:1: expected blocks nested at most 64 deep, found 'if'");
  const std::string dims = "kernel \"deep\" { input f32[" + std::string(100000, '(') + "1";
  parsed = parseKernel(dims);
  REQUIRE(!parsed.has_value());
  CHECK(parsed.error().message() == "1:92: expected a dim expression nested at most 64 deep, found '('");
}

TEST_CASE("loop text: every prefix of a kernel is rejected cleanly") {
  const std::string text = kRowsText;
  for (size_t length = 0; length + 2 < text.size(); ++length)
    CHECK(!parseKernel(std::string_view(text).substr(0, length)).has_value());
}

TEST_CASE("loop text: several kernels in one text") {
  const std::string one = print(rowsKernel());
  Result<std::vector<Kernel>> parsed = parseKernels(one + "// comment\n" + one);
  REQUIRE(parsed.has_value());
  CHECK(parsed.value().size() == 2);
  CHECK(parseKernels("").value().empty());
}

}  // namespace
}  // namespace baton::loop
