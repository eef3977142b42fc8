#include "kernels/loop/interpreter.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernel_harness.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/math/plain.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/verifier.h"

namespace baton::loop {
namespace {

using testing::TestContext;

struct Outcome {
  int32_t status;
  uint32_t message;
  std::vector<int64_t> values;
};

Outcome interpret(const Kernel& kernel, std::vector<void*> buffers, std::vector<int64_t>& scalars,
                  const InterpreterLimits& limits = {}) {
  Result<void> verified = verify(kernel);
  if (!verified.has_value()) FAIL(verified.error().message());
  Result<InterpretedKernel> compiled = InterpretedKernel::compile(kernel);
  REQUIRE(compiled.has_value());
  TestContext context;
  const int32_t status = compiled.value().run(context.get(), buffers.data(), scalars.data(), limits);
  return {status, context.message, context.values};
}

Kernel parsed(const std::string& text) {
  Result<Kernel> kernel = parseKernel(text);
  if (!kernel.has_value()) FAIL(kernel.error().message());
  return std::move(kernel).value();
}

/// The scalar output of a kernel without operands.
uint64_t evaluate(const std::string& type, const std::string& body) {
  std::vector<int64_t> scalars(1, -99);
  const Outcome outcome = interpret(
      parsed("kernel \"k\" { scalar_output " + type + " message \"division by zero\"\n" + body + "}"), {},
      scalars);
  REQUIRE(outcome.status == BATON_KERNEL_OK);
  return static_cast<uint64_t>(scalars[0]);
}
int64_t integer(const std::string& type, const std::string& body) {
  return static_cast<int64_t>(evaluate(type, body + " set_scalar 0, %9"));
}
float number(const std::string& body) {
  return scalarFromBits<float>(evaluate("f32", body + " set_scalar 0, %9"));
}

TEST_CASE("interpreter: integer arithmetic wraps and divides as the language says") {
  CHECK(integer("i8", "%9 = add i8 i8(127), i8(1)") == -128);
  CHECK(integer("u8", "%9 = sub u8 u8(0), u8(1)") == 255);
  CHECK(integer("i16", "%9 = mul i16 i16(-32768), i16(-32768)") == 0);
  CHECK(integer("u16", "%9 = mul u16 u16(65535), u16(65535)") == 1);
  CHECK(integer("i64", "%9 = neg i64 -9223372036854775808") == INT64_MIN);
  CHECK(integer("i32", "%9 = abs i32 i32(-2147483648)") == INT32_MIN);
  CHECK(integer("i64", "%9 = floordiv i64 -7, 3") == -3);
  CHECK(integer("i64", "%9 = floormod i64 -7, 3") == 2);
  CHECK(integer("i64", "%9 = floormod i64 7, -3") == -2);
  CHECK(integer("i64", "%9 = truncdiv i64 -7, 3") == -2);
  CHECK(integer("i64", "%9 = truncmod i64 -7, 3") == -1);
  CHECK(integer("u8", "%9 = floordiv u8 u8(200), u8(3)") == 66);
  CHECK(integer("i8", "%9 = shl i8 i8(1), i8(7)") == -128);
  CHECK(integer("i8", "%9 = shl i8 i8(1), i8(8)") == 0);
  CHECK(integer("i8", "%9 = shr i8 i8(-128), i8(100)") == -1);
  CHECK(integer("i8", "%9 = shr i8 i8(-128), i8(-1)") == -1);
  CHECK(integer("u8", "%9 = shr u8 u8(128), u8(8)") == 0);
  CHECK(integer("u32", "%9 = not u32 u32(0)") == 0xFFFFFFFF);
  CHECK(integer("bool", "%9 = not bool true") == 0);
}

TEST_CASE("interpreter: a division that fails reports its message") {
  for (const char* body :
       {"%9 = floordiv i64 1, 0 or_fail 0", "%9 = truncmod i8 i8(-128), i8(-1) or_fail 0"}) {
    std::vector<int64_t> scalars;
    const Outcome outcome =
        interpret(parsed(std::string("kernel \"k\" { message \"m\" ") + body + "}"), {}, scalars);
    CHECK(outcome.status == BATON_KERNEL_FAILED);
    CHECK(outcome.message == 0);
  }
}

TEST_CASE("interpreter: float minimum, maximum, rounding and signs") {
  CHECK(std::isnan(number("%9 = max f32 f32(0x7fc00000), f32(1)")));
  CHECK(std::isnan(number("%9 = min f32 f32(1), f32(0x7fc00000)")));
  CHECK(!std::signbit(number("%9 = max f32 f32(-0), f32(0)")));
  CHECK(std::signbit(number("%9 = min f32 f32(0), f32(-0)")));
  CHECK(number("%9 = round f32 f32(2.5)") == 2);
  CHECK(number("%9 = round f32 f32(-3.5)") == -4);
  CHECK(number("%9 = ceil f32 f32(-0.5)") == 0);
  CHECK(number("%9 = copysign f32 f32(2), f32(0xffc00000)") == 2);  // a negative NaN
  CHECK(number("%9 = copysign f32 f32(2), f32(-0)") == -2);
  CHECK(number("%9 = fma f32 f32(16777217), f32(3), f32(1)") == std::fma(16777217.0f, 3.0f, 1.0f));
}

TEST_CASE("interpreter: casts") {
  CHECK(integer("i32", "%9 = cast i32 f32(3e9)") == INT32_MAX);
  CHECK(integer("i32", "%9 = cast i32 f32(-3e9)") == INT32_MIN);
  CHECK(integer("u8", "%9 = cast u8 f32(-1)") == 0);
  CHECK(integer("u8", "%9 = cast u8 f32(255.9)") == 255);
  CHECK(integer("i64", "%9 = cast i64 f32(0x7fc00000)") == 0);
  CHECK(integer("u64", "%9 = cast u64 f64(1.8446744073709552e+19)") == -1);
  CHECK(integer("bool", "%9 = cast bool 256") == 1);
  CHECK(integer("i8", "%9 = cast i8 171") == -85);
  CHECK(integer("f16", "%9 = cast f16 f32(1)") == 0x3C00);
  CHECK(integer("f32", "%9 = cast f32 bf16(0x3f80)") == 0x3F800000);
  CHECK(integer("u32", "%9 = bitcast u32 f32(0xffc12345)") == 0x7FC00000);
  CHECK(integer("i32", "%9 = bitcast i32 f32(-0)") == INT32_MIN);
  CHECK(integer("u16", "%9 = bitcast u16 f16(0xfe01)") == 0x7E00);
}

TEST_CASE("interpreter: casts between all types agree with convertScalar") {
  const double samples[] = {0,       -0.0,   1,    -1,    0.5,   -0.5, 2.5,      127,       128,
                            255,     256,    -129, 65504, 65520, 1e9,  3e9,      -3e9,      9.3e18,
                            -9.3e18, 1.9e19, 1e39, -1e39, 1e-40, NAN,  INFINITY, -INFINITY, 1.0000001};
  for (int from = 0; from < kDTypeCount; ++from)
    for (int to = 0; to < kDTypeCount; ++to) {
      KernelDescriptor d;
      d.scalarInputs = {static_cast<DType>(from)};
      d.scalarOutputs = {static_cast<DType>(to)};
      Builder b(d);
      b.setScalar(0, cast(b.scalarInput(0), static_cast<DType>(to)));
      const Kernel kernel = b.take();
      for (const double sample : samples) {
        const uint64_t bits = convertScalar(scalarBits(sample), DType::F64, static_cast<DType>(from));
        std::vector<int64_t> scalars = {static_cast<int64_t>(bits), 0};
        REQUIRE(interpret(kernel, {}, scalars).status == 0);
        const uint64_t expected = convertScalar(bits, static_cast<DType>(from), static_cast<DType>(to));
        INFO(from << " to " << to << " of " << sample);
        CHECK(static_cast<uint64_t>(scalars[1]) == expected);
      }
    }
}

/// Sums in[n] in the contract's order, written out naively.
float contractSum(const std::vector<float>& x) {
  std::vector<float> blocks;
  for (size_t start = 0; start < x.size(); start += 4096) {
    float p[64] = {};
    for (size_t i = start; i < std::min(x.size(), start + 4096); ++i) p[(i - start) % 64] += x[i];
    for (int h = 32; h > 0; h /= 2)
      for (int j = 0; j < h; ++j) p[j] += p[j + h];
    blocks.push_back(p[0]);
  }
  // Pairwise with a binary counter: (count, value) of the completed neighbours.
  std::vector<std::pair<size_t, float>> stack;
  for (const float block : blocks) {
    std::pair<size_t, float> top = {1, block};
    while (!stack.empty() && stack.back().first == top.first) {
      top = {top.first * 2, stack.back().second + top.second};
      stack.pop_back();
    }
    stack.push_back(top);
  }
  if (stack.empty()) return 0;
  float result = stack.back().second;
  for (size_t i = stack.size() - 1; i-- > 0;) result = stack[i].second + result;
  return result;
}

constexpr const char* kSum = R"(kernel "sum" {
  symbol n = operand 0 axis 0
  input f32[n]
  scalar_output f32
  %0 = reduce sum (%1 < $n) { %2 = load in0[%1] yield %2 }
  set_scalar 0, %0
})";

TEST_CASE("interpreter: sums have the order of the numeric contract") {
  const Kernel kernel = parsed(kSum);
  for (const int64_t n : {0, 1, 2, 63, 64, 65, 127, 4095, 4096, 4097, 8192, 3 * 4096, 5 * 4096 + 17, 70001}) {
    std::vector<float> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 12.9898f) * 1000.0f;
    std::vector<int64_t> scalars = {n, 0};
    REQUIRE(interpret(kernel, {x.data()}, scalars).status == 0);
    INFO(n);
    CHECK(scalarFromBits<float>(static_cast<uint64_t>(scalars[1])) == contractSum(x));
  }
  std::vector<float> negativeZero = {-0.0f};
  std::vector<int64_t> scalars = {1, 0};
  REQUIRE(interpret(kernel, {negativeZero.data()}, scalars).status == 0);
  CHECK(scalars[1] == 0);
}

/// What a result of `count` operations that round may be off by, relative to the sum of the magnitudes.
double boundOf(int64_t count) {
  const double all = static_cast<double>(count) * 0x1p-24;
  return all / (1 - all);
}

// states: In a sum of `n` elements each goes through at most `k = 69 + ceil(log2(ceil(n / 4096)))` additions
// that round, so the sum is off by at most `k * u / (1 - k * u)` times the sum of the magnitudes, with `u =
// 2^-24` in `float32` and `2^-53` in `float64`.
TEST_CASE("interpreter: sums are as close as the numeric contract says") {
  const Kernel kernel = parsed(kSum);
  double closest = 1;
  for (const int64_t n : {1, 64, 100, 4096, 4097, 3 * 4096, 7 * 4096, 9 * 4096 + 1, 200001})
    for (int spread = 0; spread < 3; ++spread) {
      // Nearly equal, of both signs, and of very different sizes.
      std::vector<float> x(static_cast<size_t>(n));
      double exact = 0;
      double magnitudes = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const float wave = std::sin(static_cast<float>(i) * 12.9898f);
        x[i] = spread == 0   ? 1.0f + wave * 0.001f
               : spread == 1 ? wave
                             : std::exp(20 * wave) * (i % 2 ? 1 : -1);
        exact += x[i];
        magnitudes += std::fabs(x[i]);
      }
      std::vector<int64_t> scalars = {n, 0};
      REQUIRE(interpret(kernel, {x.data()}, scalars).status == 0);
      const double found = scalarFromBits<float>(static_cast<uint64_t>(scalars[1]));
      const int64_t blocks = (n + 4095) / 4096;
      const int64_t additions = 69 + static_cast<int64_t>(std::ceil(std::log2(static_cast<double>(blocks))));
      INFO(n << " elements of kind " << spread);
      CHECK(std::fabs(found - exact) <= boundOf(additions) * magnitudes);
      if (n > 64) closest = std::min(closest, 1 - std::fabs(found - exact) / magnitudes);
    }
  CHECK(closest < 1);  // something was rounded
}

// states: Such an element is off by at most `k * u / (1 - k * u)` times the sum of the magnitudes of its `k`
// products.
TEST_CASE("interpreter: products of matrices are as close as the numeric contract says") {
  const Kernel kernel = parsed(R"(kernel "product" {
    symbol n = operand 0 axis 0
    input f32[n]
    input f32[n]
    scalar_output f32
    local l0 f32[1]
    for %0 < $n {
      %1 = load in0[%0]
      %2 = load in1[%0]
      %3 = get l0[0]
      %4 = fma f32 %1, %2, %3
      set l0[0], %4
    }
    %5 = get l0[0]
    set_scalar 0, %5
  })");
  for (const int64_t n : {1, 3, 100, 5000}) {
    std::vector<float> x(static_cast<size_t>(n));
    std::vector<float> y(static_cast<size_t>(n));
    double exact = 0;
    double magnitudes = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<float>(i) * 12.9898f);
      y[i] = 1.0f + std::sin(static_cast<float>(i) * 78.233f);
      exact += static_cast<double>(x[i]) * y[i];
      magnitudes += std::fabs(static_cast<double>(x[i]) * y[i]);
    }
    std::vector<int64_t> scalars = {n, 0};
    REQUIRE(interpret(kernel, {x.data(), y.data()}, scalars).status == 0);
    INFO(n);
    CHECK(std::fabs(scalarFromBits<float>(static_cast<uint64_t>(scalars[1])) - exact) <=
          boundOf(n) * magnitudes);
  }
}

TEST_CASE("interpreter: reductions of nothing and of NaN") {
  const auto of = [](const char* op, const char* type, const char* value, const char* extent) {
    const std::string result = std::string(op).substr(0, 3) == "arg" ? "i64" : type;
    return evaluate(result, std::string("%9 = reduce ") + op + " (%1 < " + extent + ") { yield " + value +
                                " } set_scalar 0, %9");
  };
  CHECK(of("sum", "i32", "i32(7)", "0") == 0);
  CHECK(of("prod", "u8", "u8(2)", "9") == 0);
  CHECK(of("prod", "f64", "f64(2)", "0") == scalarBits(1.0));
  CHECK(of("max", "f32", "f32(1)", "0") == scalarBits(-INFINITY));
  CHECK(of("min", "f32", "f32(1)", "-3") == scalarBits(INFINITY));
  CHECK(of("max", "i32", "i32(1)", "0") == scalarBits(INT32_MIN));
  CHECK(of("all", "bool", "false", "0") == 1);
  CHECK(of("any", "bool", "true", "0") == 0);
  CHECK(of("argmax", "f32", "f32(1)", "0") == 0);
  CHECK(of("argmin", "f32", "f32(1)", "5") == 0);

  const Kernel kernel = parsed(R"(kernel "k" {
    symbol n = operand 0 axis 0  input f32[n]  scalar_output i64  scalar_output i64  scalar_output f32
    %0 = reduce argmax (%1 < $n) { %2 = load in0[%1] yield %2 }
    set_scalar 0, %0
    %3 = reduce argmin (%4 < $n) { %5 = load in0[%4] yield %5 }
    set_scalar 1, %3
    %6 = reduce max (%7 < $n) { %8 = load in0[%7] yield %8 }
    set_scalar 2, %6
  })");
  std::vector<float> x = {3, 7, 7, -2, -2};
  std::vector<int64_t> scalars = {5, 0, 0, 0};
  REQUIRE(interpret(kernel, {x.data()}, scalars).status == 0);
  CHECK(scalars == std::vector<int64_t>{5, 1, 3, static_cast<int64_t>(scalarBits(7.0f))});
  x = {3, NAN, 9, NAN, -5};
  REQUIRE(interpret(kernel, {x.data()}, scalars).status == 0);
  CHECK(scalars[1] == 1);
  CHECK(scalars[2] == 1);
  CHECK(std::isnan(scalarFromBits<float>(static_cast<uint64_t>(scalars[3]))));
}

TEST_CASE("interpreter: a reduction over several variables runs in row-major order") {
  const Kernel kernel = parsed(R"(kernel "k" {
    symbol b = operand 0 axis 0 symbol m = operand 0 axis 1 symbol n = operand 0 axis 2
    input f32[b, m, n] output f32[m]
    for %0 < $m {
      %1 = reduce sum (%2 < $b, %3 < $n) { %4 = load in0[%2, %0, %3] yield %4 }
      store out0[%0], %1
    }
  })");
  const int64_t b = 37;
  const int64_t m = 3;
  const int64_t n = 131;
  std::vector<float> x(static_cast<size_t>(b * m * n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<float>(i)) * 100.0f;
  std::vector<float> y(static_cast<size_t>(m));
  std::vector<int64_t> scalars = {b, m, n};
  REQUIRE(interpret(kernel, {x.data(), y.data()}, scalars).status == 0);
  for (int64_t j = 0; j < m; ++j) {
    std::vector<float> column;
    for (int64_t i = 0; i < b; ++i)
      for (int64_t k = 0; k < n; ++k) column.push_back(x[static_cast<size_t>((i * m + j) * n + k)]);
    CHECK(y[static_cast<size_t>(j)] == contractSum(column));
  }
}

TEST_CASE("interpreter: transcendentals are those of math/plain.h") {
  KernelDescriptor d;
  d.symbols = {{.name = "n", .index = 0, .axis = 0}};
  const DimExpr n = DimExpr::symbol(DimSymbol(0));
  d.inputs = {{.dtype = DType::F32, .extents = {n}}};
  d.outputs = {{.dtype = DType::F32, .extents = {DimExpr::constant(20), n}}};
  Builder b(d);
  b.vectorized(b.symbol(0), [&](Value i) {
    const Value x = b.load(b.input(0), {i});
    const Value results[] = {exp(x),   log(x),   tanh(x), sigmoid(x), erf(x),
                             rsqrt(x), sin(x),   cos(x),  tan(x),     asin(x),
                             acos(x),  atan(x),  sinh(x), cosh(x),    asinh(x),
                             acosh(x), atanh(x), log2(x), log10(x),   pow(abs(x), b.f32(0.3))};
    for (int64_t r = 0; r < 20; ++r) b.store(b.output(0), {b.i64(r), i}, results[r]);
  });
  const Kernel kernel = b.take();
  std::vector<float> x;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 1000003)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  std::vector<float> y(x.size() * 20);
  std::vector<int64_t> scalars = {static_cast<int64_t>(x.size())};
  REQUIRE(interpret(kernel, {x.data(), y.data()}, scalars).status == 0);
  std::vector<float> expected;
  float (*const functions[])(float) = {
      math::exp,   math::log,   math::tanh,  math::sigmoid,
      math::erf,   math::rsqrt, math::sin,   math::cos,
      math::tan,   math::asin,  math::acos,  math::atan,
      math::sinh,  math::cosh,  math::asinh, math::acosh,
      math::atanh, math::log2,  math::log10, [](float v) { return math::pow(std::fabs(v), 0.3f); }};
  for (const auto function : functions)
    for (const float value : x) expected.push_back(function(value));
  CHECK(testing::sameElements(DType::F32, testing::bytesOf(y), testing::bytesOf(expected)));
}

TEST_CASE("interpreter: every index is checked") {
  const Kernel kernel = parsed(R"(kernel "k" {
    symbol m = operand 0 axis 0 symbol n = operand 0 axis 1
    input f32[m, n] output f32[m, n, 2] scalar_input i64 scalar_input i64 scalar_input i64
    %0 = load in0[arg0, arg1]
    store out0[arg0, arg1, arg2], %0
    local l0 i64[3]
    set l0[arg2], arg0
  })");
  std::vector<float> x(6, 1);
  std::vector<float> y(12);
  const auto run = [&](int64_t i, int64_t j, int64_t k) {
    std::vector<int64_t> scalars = {2, 3, i, j, k};
    return interpret(kernel, {x.data(), y.data()}, scalars);
  };
  CHECK(run(1, 2, 1).status == BATON_KERNEL_OK);
  const Outcome row = run(2, 0, 0);
  CHECK(row.status == BATON_KERNEL_FAILED);
  CHECK(row.message == InterpretedKernel::kIndexOutOfRange);
  CHECK(row.values == std::vector<int64_t>{2, 2, 0, 0});
  CHECK(run(0, -1, 0).values == std::vector<int64_t>{-1, 3, 0, 1});
  CHECK(run(0, 0, 2).values == std::vector<int64_t>{2, 2, 1, 2});
  CHECK(run(INT64_MIN, 0, 0).values == std::vector<int64_t>{INT64_MIN, 2, 0, 0});
}

TEST_CASE("interpreter: scratch, locals, branches and failure") {
  const Kernel kernel = parsed(R"(kernel "k" {
    symbol n = scalar 0
    scalar_input i64 scalar_output i64 message "negative {0}"
    scratch i64[n]
    local l0 i64
    for %0 < $n { store tmp0[%0], %0 }
    for %1 < $n {
      %2 = load tmp0[%1]
      %3 = floormod i64 %2, 2
      %4 = eq i64 %3, 0
      if %4 { %5 = get l0 %6 = add i64 %5, %2 set l0, %6 } else { %7 = get l0 %8 = sub i64 %7, 1 set l0, %8 }
    }
    %9 = get l0
    %10 = lt i64 %9, 0
    if %10 { fail 0, %9 }
    set_scalar 0, %9
  })");
  const auto run = [&](int64_t n) {
    std::vector<int64_t> scalars = {n, n, 77};
    Outcome outcome = interpret(kernel, {}, scalars);
    outcome.values.push_back(scalars[2]);
    return outcome;
  };
  CHECK(run(7).values == std::vector<int64_t>{0 + 2 + 4 + 6 - 3});
  CHECK(run(0).values == std::vector<int64_t>{0});
  CHECK(run(2).values == std::vector<int64_t>{-1, 77});
  CHECK(run(2).status == BATON_KERNEL_FAILED);
  CHECK(run(-5).values == std::vector<int64_t>{0});
  CHECK(run(INT64_MAX).status == BATON_KERNEL_OUT_OF_MEMORY);
}

TEST_CASE("interpreter: the progress callback bounds a run") {
  const Kernel kernel = parsed("kernel \"k\" { for %0 < 9223372036854775807 { } }");
  uint64_t calls = 0;
  InterpreterLimits limits;
  limits.user = &calls;
  limits.interval = 1000;
  limits.onProgress = [](void* user, uint64_t instructions) -> int32_t {
    CHECK(instructions >= 1000);
    return ++*static_cast<uint64_t*>(user) == 5 ? 42 : 0;
  };
  std::vector<int64_t> scalars;
  CHECK(interpret(kernel, {}, scalars, limits).status == 42);
  CHECK(calls == 5);
}

}  // namespace
}  // namespace baton::loop
