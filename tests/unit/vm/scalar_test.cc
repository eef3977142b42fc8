// Every scalar instruction in both dispatch loops, against plain C++ written for this test.
#include "scalar_programs.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "runtime.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

/// Nothing: the program ends in an error.
template <class T>
using BinaryFunctions = std::map<std::string_view, std::function<std::optional<T>(T, T)>>;
template <class T>
using UnaryFunctions = std::map<std::string_view, std::function<T(T)>>;
template <class T>
using Comparisons = std::map<std::string_view, std::function<bool(T, T)>>;

template <class T>
constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, bool>) return DType::Bool;
  if constexpr (std::is_same_v<T, float>) return DType::F32;
  if constexpr (std::is_same_v<T, double>) return DType::F64;
  constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<DType>(static_cast<int>(std::is_signed_v<T> ? DType::I8 : DType::U8) + kLog);
}

template <class T>
Ref<Value> scalarOf(T value) {
  return Value::scalar(dtypeOf<T>(), loadScalar(&value, dtypeOf<T>()));
}

template <class T>
bool isSame(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  }
  return a == b;
}

/// Integers, in the wide integers of the compiler.
template <class T>
BinaryFunctions<T> integerFunctions() {
  using Wide = __int128;
  const auto wrap = [](Wide value) { return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value)); };
  const auto fits = [](Wide value) { return value == static_cast<Wide>(static_cast<T>(value)); };
  constexpr int kBits = 8 * sizeof(T);
  const auto floorDiv = [](Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  const auto isOut = [](T count) { return Wide(count) < 0 || Wide(count) >= kBits; };
  BinaryFunctions<T> f;
  f["add"] = [=](T a, T b) { return wrap(Wide(a) + b); };
  f["sub"] = [=](T a, T b) { return wrap(Wide(a) - b); };
  f["mul"] = [=](T a, T b) { return wrap(Wide(a) * b); };
  f["min"] = [](T a, T b) { return a < b ? a : b; };
  f["max"] = [](T a, T b) { return a < b ? b : a; };
  f["floor_div"] = [=](T a, T b) -> std::optional<T> {
    if (b == 0 || !fits(floorDiv(a, b))) return std::nullopt;
    return wrap(floorDiv(a, b));
  };
  f["floor_mod"] = [=](T a, T b) -> std::optional<T> {
    if (b == 0) return std::nullopt;
    return wrap(Wide(a) - Wide(b) * floorDiv(a, b));
  };
  f["trunc_div"] = [=](T a, T b) -> std::optional<T> {
    if (b == 0 || !fits(Wide(a) / b)) return std::nullopt;
    return wrap(Wide(a) / b);
  };
  f["trunc_mod"] = [=](T a, T b) -> std::optional<T> {
    if (b == 0) return std::nullopt;
    return wrap(Wide(a) % b);
  };
  f["and"] = [](T a, T b) { return static_cast<T>(a & b); };
  f["or"] = [](T a, T b) { return static_cast<T>(a | b); };
  f["xor"] = [](T a, T b) { return static_cast<T>(a ^ b); };
  f["shl"] = [=](T a, T b) { return isOut(b) ? T(0) : wrap(Wide(a) * (Wide(1) << b)); };
  f["shr"] = [=](T a, T b) { return isOut(b) ? T(a < 0 ? -1 : 0) : wrap(floorDiv(a, Wide(1) << b)); };
  return f;
}

template <class T>
BinaryFunctions<T> floatFunctions() {
  const auto extreme = [](T a, T b, bool isLeast) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return (std::signbit(a) == isLeast) ? a : b;
    return (a < b) == isLeast ? a : b;
  };
  BinaryFunctions<T> f;
  f["add"] = [](T a, T b) { return a + b; };
  f["sub"] = [](T a, T b) { return a - b; };
  f["mul"] = [](T a, T b) { return a * b; };
  f["div"] = [](T a, T b) { return a / b; };
  f["min"] = [=](T a, T b) { return extreme(a, b, true); };
  f["max"] = [=](T a, T b) { return extreme(a, b, false); };
  f["trunc_mod"] = [](T a, T b) { return std::fmod(a, b); };
  f["floor_mod"] = [](T a, T b) {
    const T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  };
  return f;
}

template <class T>
Comparisons<T> comparisons() {
  Comparisons<T> f;
  f["lt"] = [](T a, T b) { return a < b; };
  f["le"] = [](T a, T b) { return a <= b; };
  f["eq"] = [](T a, T b) { return a == b; };
  f["ne"] = [](T a, T b) { return !(a == b); };
  return f;
}

template <class T>
UnaryFunctions<T> unaryFunctions() {
  UnaryFunctions<T> f;
  if constexpr (std::is_floating_point_v<T>) {
    f["neg"] = [](T a) { return std::copysign(a, std::signbit(a) ? T(1) : T(-1)); };
    f["abs"] = [](T a) { return std::copysign(a, T(1)); };
    f["sqrt"] = [](T a) { return std::sqrt(a); };
    f["floor"] = [](T a) { return std::floor(a); };
    f["ceil"] = [](T a) { return std::ceil(a); };
    f["trunc"] = [](T a) { return std::trunc(a); };
    f["round"] = [](T a) { return std::nearbyint(a); };
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    f["neg"] = [](T a) { return static_cast<T>(Unsigned(0) - static_cast<Unsigned>(a)); };
    f["abs"] = [](T a) { return a < 0 ? static_cast<T>(Unsigned(0) - static_cast<Unsigned>(a)) : a; };
    f["not"] = [](T a) { return static_cast<T>(~a); };
  }
  return f;
}

template <class T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return {0,
            T(-0.0),
            1,
            -1,
            T(0.5),
            T(-0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(7.25),
            T(-3),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            Limits::max(),
            Limits::lowest(),
            Limits::min(),
            Limits::denorm_min(),
            T(1e30),
            T(0.1)};
  return {0,
          1,
          static_cast<T>(-1),
          2,
          3,
          static_cast<T>(-3),
          7,
          8,
          Limits::min(),
          Limits::max(),
          static_cast<T>(Limits::max() - 1),
          static_cast<T>(Limits::min() + 1),
          static_cast<T>(sizeof(T) * 8 - 1),
          static_cast<T>(sizeof(T) * 8)};
}

/// The value, or that there is none.
template <class T>
std::optional<T> run(const Runtime& runtime, std::string_view name, const std::vector<Ref<Value>>& inputs) {
  const Result<Ref<Value>> result = runtime.run(name, inputs);
  if (result.has_value()) return element<T>(*result.assume_value());
  CHECK(result.assume_error().code() == ErrorCode::ProgramError);
  return std::nullopt;
}

template <class T>
void checkAll(const ScalarOps& ops, const BinaryFunctions<T>& binary) {
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(programOf(ops), {.useSwitch = useSwitch});
    for (const T a : edges<T>()) {
      for (const T b : edges<T>()) {
        for (const std::string_view name : ops.binary) {
          const std::optional<T> expected = binary.at(name)(a, b);
          const std::optional<T> found = run<T>(runtime, name, {scalarOf(a), scalarOf(b)});
          INFO(name << "." << dtypeShortName(ops.type) << " of " << +a << " and " << +b);
          REQUIRE(found.has_value() == expected.has_value());
          if (found) {
            CAPTURE(+*found, +*expected);
            CHECK(isSame(*found, *expected));
          }
        }
        for (const std::string_view name : ops.comparisons) {
          INFO(name << "." << dtypeShortName(ops.type) << " of " << +a << " and " << +b);
          CHECK(run<bool>(runtime, name, {scalarOf(a), scalarOf(b)}) == comparisons<T>().at(name)(a, b));
        }
      }
      for (const std::string_view name : ops.unary) {
        INFO(name << "." << dtypeShortName(ops.type) << " of " << +a);
        CHECK(isSame(*run<T>(runtime, name, {scalarOf(a)}), unaryFunctions<T>().at(name)(a)));
      }
    }
  }
}

template <class T>
void checkIntegers() {
  for (const ScalarOps& ops : allScalarOps())
    if (ops.type == dtypeOf<T>()) checkAll<T>(ops, integerFunctions<T>());
}
template <class T>
void checkFloats() {
  for (const ScalarOps& ops : allScalarOps())
    if (ops.type == dtypeOf<T>()) checkAll<T>(ops, floatFunctions<T>());
}

}  // namespace

TEST_CASE("instructions of narrow integers") {
  checkIntegers<int8_t>();
  checkIntegers<uint8_t>();
  checkIntegers<int16_t>();
  checkIntegers<uint16_t>();
}

TEST_CASE("instructions of wide integers") {
  checkIntegers<int32_t>();
  checkIntegers<uint32_t>();
  checkIntegers<int64_t>();
  checkIntegers<uint64_t>();
}

TEST_CASE("instructions of floats") {
  checkFloats<float>();
  checkFloats<double>();
}

TEST_CASE("instructions of bools") {
  const ScalarOps ops = allScalarOps().front();
  REQUIRE(ops.type == DType::Bool);
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(programOf(ops), {.useSwitch = useSwitch});
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        CHECK(run<bool>(runtime, "and", {scalarOf(a), scalarOf(b)}) == (a && b));
        CHECK(run<bool>(runtime, "or", {scalarOf(a), scalarOf(b)}) == (a || b));
        CHECK(run<bool>(runtime, "xor", {scalarOf(a), scalarOf(b)}) == (a != b));
        CHECK(run<bool>(runtime, "eq", {scalarOf(a), scalarOf(b)}) == (a == b));
        CHECK(run<bool>(runtime, "ne", {scalarOf(a), scalarOf(b)}) == (a != b));
      }
      CHECK(run<bool>(runtime, "not", {scalarOf(a)}) == !a);
    }
  }
}

TEST_CASE("extents, choices, tags, bits and boxes") {
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(kChoices, {.useSwitch = useSwitch});
    const auto extents = [&](std::string_view name, int64_t a, int64_t b) {
      return run<int64_t>(runtime, name, {Runtime::i64(a), Runtime::i64(b)});
    };
    CHECK(extents("extent_add", 2, 3) == 5);
    CHECK(extents("extent_add", INT64_MAX, 0) == INT64_MAX);
    CHECK(extents("extent_add", INT64_MAX, 1) == std::nullopt);
    CHECK(extents("extent_add", 2, -3) == std::nullopt);
    CHECK(extents("extent_sub", 3, 3) == 0);
    CHECK(extents("extent_sub", 3, 4) == std::nullopt);
    CHECK(extents("extent_sub", 0, INT64_MIN) == std::nullopt);
    CHECK(extents("extent_mul", 1 << 20, 1 << 20) == int64_t{1} << 40);
    CHECK(extents("extent_mul", 0, INT64_MAX) == 0);
    CHECK(extents("extent_mul", int64_t{1} << 32, int64_t{1} << 31) == std::nullopt);
    CHECK(extents("extent_mul", 2, -1) == std::nullopt);
    CHECK(messageOf(runtime.run("extent_sub", {Runtime::i64(3), Runtime::i64(4)})) ==
          "extent out of range: 3 - 4 is negative or exceeds 64 bits");
    CHECK(extents("ceil_div", 7, 2) == 4);
    CHECK(extents("ceil_div", 8, 2) == 4);
    CHECK(extents("ceil_div", 0, 5) == 0);
    CHECK(extents("ceil_div", -7, 2) == -3);
    CHECK(extents("ceil_div", 7, -2) == -3);
    CHECK(extents("ceil_div", INT64_MAX, 1) == INT64_MAX);
    CHECK(extents("ceil_div", 1, 0) == std::nullopt);
    CHECK(extents("ceil_div", INT64_MIN, -1) == std::nullopt);

    for (const bool c : {false, true})
      CHECK(run<double>(runtime, "select", {scalarOf(c), scalarOf(1.5), scalarOf(-2.5)}) == (c ? 1.5 : -2.5));
    const std::pair<int64_t, int64_t> chosen[] = {{0, 10},  {1, 11},         {2, 12},        {3, 12},
                                                  {-1, 12}, {INT64_MIN, 12}, {INT64_MAX, 12}};
    for (const auto& [number, expected] : chosen)
      CHECK(runtime.runI64("switch", {Runtime::i64(number)}) == expected);
    for (const int64_t tag : {0, 1, 2}) CHECK(runtime.runI64("tag", {Runtime::i64(tag)}) == tag);

    CHECK(run<int32_t>(runtime, "bits", {scalarOf(1.0f)}) == 0x3F800000);
    CHECK(run<int32_t>(runtime, "bits", {scalarOf(-0.0f)}) == INT32_MIN);
    CHECK(run<int32_t>(runtime, "bits", {scalarOf(-std::nanf("3"))}) == 0x7FC00000);
    CHECK(run<float>(runtime, "float", {scalarOf(int32_t{0x40490FDB})}) == 3.14159274f);
    CHECK(run<uint16_t>(runtime, "half_bits", {Value::scalar(DType::F16, 0xC000)}) == 0xC000);
    CHECK(run<uint16_t>(runtime, "half_bits", {Value::scalar(DType::F16, 0xFE01)}) == 0x7E00);
    CHECK(run<float>(runtime, "box", {scalarOf(0.1f)}) == 0.1f);

    CHECK(extents("refuse", 2, 3) == 2);
    CHECK(messageOf(runtime.run("refuse", {Runtime::i64(3), Runtime::i64(3)})) == "3 is not below 3");
    CHECK(messageOf(runtime.run("end", {Runtime::i64(-1), Runtime::i64(5)})) == "-1 is not below 5");
    CHECK(runtime.context->heap().inUseBytes() == 0);
  }
}
