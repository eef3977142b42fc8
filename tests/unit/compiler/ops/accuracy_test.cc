// How far elementwise operators are from the true values in the storage types, which have few enough values
// to try all of them. f32 and f64: tests/unit/kernels/math_test.cc.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>

#include <catch2/catch.hpp>

#include "compiler/ops/reference.h"
#include "tests/effort.h"
#include "tests/unit/compiler/ops/random_tensors.h"

namespace baton::ops::test {

namespace {

using Exact = double (*)(double);
using ExactOfTwo = double (*)(double, double);

/// Values that differ by at most one unit in the last place of the storage type are neighbours.
constexpr int kMostSteps = 1;

double exactRound(double x) { return std::nearbyint(x); }
double exactSign(double x) { return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; }

const std::map<std::string_view, Exact>& exactFunctions() {
  static const std::map<std::string_view, Exact> all = {
      {"annotation.stop_fusion", [](double x) { return x; }},
      {"abs", std::fabs},
      {"acos", std::acos},
      {"acosh", std::acosh},
      {"asin", std::asin},
      {"asinh", std::asinh},
      {"atan", std::atan},
      {"atanh", std::atanh},
      {"ceil", std::ceil},
      {"copy", [](double x) { return x; }},
      {"cos", std::cos},
      {"cosh", std::cosh},
      {"erf", std::erf},
      {"exp", std::exp},
      {"floor", std::floor},
      {"log", std::log},
      {"log10", std::log10},
      {"log2", std::log2},
      {"negative", [](double x) { return -x; }},
      {"nn.relu", [](double x) { return x > 0 || std::isnan(x) ? x : 0; }},
      {"round", exactRound},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sign", exactSign},
      {"sin", std::sin},
      {"sinh", std::sinh},
      {"sqrt", std::sqrt},
      {"tan", std::tan},
      {"tanh", std::tanh},
      {"trunc", std::trunc},
  };
  return all;
}

const std::map<std::string_view, ExactOfTwo>& exactFunctionsOfTwo() {
  static const std::map<std::string_view, ExactOfTwo> all = {
      {"add", [](double a, double b) { return a + b; }},
      {"subtract", [](double a, double b) { return a - b; }},
      {"multiply", [](double a, double b) { return a * b; }},
      {"divide", [](double a, double b) { return a / b; }},
      {"power", [](double a, double b) { return std::pow(a, b); }},
  };
  return all;
}

uint64_t bitsAt(const std::byte* data, int64_t index) {
  uint16_t bits = 0;
  std::memcpy(&bits, data + 2 * index, sizeof bits);
  return bits;
}

double valueOf(DType dtype, uint64_t bits) {
  return scalarFromBits<double>(convertScalar(bits, dtype, DType::F64));
}

/// Numbers in order of their values, one apart where no other is between them.
int64_t place(uint64_t bits) {
  const auto magnitude = static_cast<int64_t>(bits & 0x7FFF);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

int64_t stepsBetween(DType dtype, uint64_t found, double exact) {
  if (std::isnan(exact)) return std::isnan(valueOf(dtype, found)) ? 0 : INT64_MAX;
  if (std::isnan(valueOf(dtype, found))) return INT64_MAX;
  return std::abs(place(found) - place(convertScalar(scalarBits(exact), DType::F64, dtype)));
}

/// Values of a type of two bytes: `step` apart, from `start` on.
std::vector<std::byte> values(size_t count, uint32_t step, uint32_t start) {
  std::vector<std::byte> bytes(2 * count);
  uint32_t at = start;
  for (size_t i = 0; i < count; ++i, at += step) {
    const auto bits = static_cast<uint16_t>(at);
    std::memcpy(bytes.data() + 2 * i, &bits, sizeof bits);
  }
  return bytes;
}

bool isUnaryOfFloats(const OpDef& op) {
  if (op.scalar == nullptr || op.inputs.size() != 1 || !op.attrs.empty()) return false;
  return isInClass(DType::F16, op.inputs[0].types) && op.name.find("is") != 0;
}

}  // namespace

TEST_CASE("accuracy: elementwise operators of one operand, every float16 and bfloat16") {
  constexpr int64_t kCount = effort(65536, 4096);
  constexpr uint32_t kStep = effort(1, 145);  // all of them, or some of every exponent
  const std::vector<int64_t> shape = {kCount};
  for (const OpDef* op : OpRegistry::instance().all()) {
    if (!isUnaryOfFloats(*op)) continue;
    INFO(op->name);
    const auto exact = exactFunctions().find(op->name);
    REQUIRE(exact != exactFunctions().end());
    for (const DType dtype : {DType::F16, DType::BF16}) {
      const std::vector<std::byte> data = values(kCount, kStep, 0);
      const TensorView inputs[] = {{dtype, shape, data.data()}};
      const auto results = evaluateReference(*op, defaultAttrs(*op), inputs);
      REQUIRE(results);
      const ReferenceResult& result = results.assume_value()[0];
      int64_t worst = 0;
      double worstAt = 0;
      for (int64_t i = 0; i < kCount; ++i) {
        const double x = valueOf(dtype, bitsAt(data.data(), i));
        const int64_t steps = stepsBetween(dtype, bitsAt(result.bytes.data(), i), exact->second(x));
        if (steps > worst) {
          worst = steps;
          worstAt = x;
        }
      }
      INFO(dtypeName(dtype) << ": " << worst << " steps at " << worstAt);
      CHECK(worst <= kMostSteps);
    }
  }
}

TEST_CASE("accuracy: elementwise operators of two operands in the storage types") {
  constexpr size_t kPairs = effort(200'000, 10'000);
  const std::vector<int64_t> shape = {static_cast<int64_t>(kPairs)};
  for (const auto& [name, exact] : exactFunctionsOfTwo()) {
    INFO(name);
    const OpDef& op = *OpRegistry::instance().find(name);
    for (const DType dtype : {DType::F16, DType::BF16}) {
      const std::vector<std::byte> left = values(kPairs, 40503, 1);
      const std::vector<std::byte> right = values(kPairs, 12289, 77);
      const TensorView inputs[] = {{dtype, shape, left.data()}, {dtype, shape, right.data()}};
      const auto results = evaluateReference(op, defaultAttrs(op), inputs);
      REQUIRE(results);
      const ReferenceResult& result = results.assume_value()[0];
      int64_t worst = 0;
      for (size_t i = 0; i < kPairs; ++i) {
        const auto at = static_cast<int64_t>(i);
        const double x = valueOf(dtype, bitsAt(left.data(), at));
        const double y = valueOf(dtype, bitsAt(right.data(), at));
        worst = std::max(worst, stepsBetween(dtype, bitsAt(result.bytes.data(), at), exact(x, y)));
      }
      INFO(dtypeName(dtype) << ": " << worst << " steps");
      CHECK(worst <= kMostSteps);
    }
  }
}

namespace {

/// Numbers of both signs over the exponents for which gelu is neither 0 nor the number itself.
template <class T>
std::vector<T> spread(size_t count) {
  std::vector<T> out;
  Random random(1);
  for (size_t i = 0; i < count; ++i) {
    const auto exponent = static_cast<int>(random.between(-12, 3));
    const double sign = random.chance(50) ? 1 : -1;
    out.push_back(
        static_cast<T>(sign * std::ldexp(1 + std::ldexp(double(random.next() >> 11), -53), exponent)));
  }
  return out;
}

/// The greatest error, as a part of |x|.
template <class T, class Exact>
double worstPartOfX(DType dtype, const char* approximate, const Exact& exact) {
  const std::vector<T> data = spread<T>(effort(200'000, 10'000));
  const std::vector<int64_t> shape = {static_cast<int64_t>(data.size())};
  const OpDef& op = *OpRegistry::instance().find("nn.gelu");
  ir::Attrs attrs = defaultAttrs(op);
  attrs.set("approximate", std::string(approximate));
  const TensorView inputs[] = {{dtype, shape, reinterpret_cast<const std::byte*>(data.data())}};
  const auto results = evaluateReference(op, attrs, inputs);
  if (!results) return std::numeric_limits<double>::infinity();
  const std::byte* const bytes = results.assume_value()[0].bytes.data();
  long double worst = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    T found;
    std::memcpy(&found, bytes + i * sizeof found, sizeof found);
    const auto x = static_cast<long double>(data[i]);
    worst = std::max(worst, std::fabs(found - exact(x)) / std::fabs(x));
  }
  return static_cast<double>(worst);
}

}  // namespace

// states: `gelu` is its formula, operation by operation. 1 + erf has few digits where erf is close to -1, so
// it is within two units in the last place of its operand, which below -4 are many of its result.
TEST_CASE("accuracy: gelu is within two units in the last place of its operand") {
  const auto erf = [](long double x) { return x * std::erfc(-x / std::sqrt(2.0L)) / 2; };
  const auto tanh = [](long double x) {
    const long double root = std::sqrt(2 / 3.14159265358979323846264338327950288L);
    return x / (1 + std::exp(-2 * root * (x + 0.044715L * x * x * x)));
  };
  CHECK(worstPartOfX<float>(DType::F32, "none", erf) <= std::ldexp(1.0, -22));
  CHECK(worstPartOfX<double>(DType::F64, "none", erf) <= std::ldexp(1.0, -51));
  CHECK(worstPartOfX<float>(DType::F32, "tanh", tanh) <= std::ldexp(1.0, -22));
  CHECK(worstPartOfX<double>(DType::F64, "tanh", tanh) <= std::ldexp(1.0, -51));
}

}  // namespace baton::ops::test
