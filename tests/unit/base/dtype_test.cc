#include "base/dtype.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace baton {
namespace {

// The value of a 16-bit float from its definition, exact in a double.
double definition(uint16_t bits, int exponentBits, int mantissaBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  const int mantissa = bits & ((1 << mantissaBits) - 1);
  double value = 0;
  if (exponent == (1 << exponentBits) - 1)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
  else if (exponent == 0)
    value = mantissa * std::pow(2.0, 1 - bias - mantissaBits);
  else
    value = (1 + mantissa * std::pow(2.0, -mantissaBits)) * std::pow(2.0, exponent - bias);
  return bits & 0x8000 ? -value : value;
}

double halfValue(uint16_t bits) { return definition(bits, 5, 10); }
double bfloatValue(uint16_t bits) { return definition(bits, 8, 7); }

template <class To>
To convertTo(uint64_t bits, DType from, DType to) {
  return scalarFromBits<To>(convertScalar(bits, from, to));
}

TEST_CASE("names of dtypes read back") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    CHECK(parseDType(dtypeName(type)) == type);
    CHECK(parseDType(dtypeShortName(type)) == type);
  }
  CHECK(dtypeName(DType::BF16) == "bfloat16");
  CHECK(dtypeShortName(DType::U8) == "u8");
  CHECK(parseDType("float") == std::nullopt);
  CHECK(parseDType("") == std::nullopt);
  CHECK(isValidDType(12));
  CHECK_FALSE(isValidDType(13));
}

TEST_CASE("classes and sizes of dtypes") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    CHECK(isFloat(type) + isInteger(type) + (type == DType::Bool) == 1);
    CHECK(isInteger(type) == (isSignedInt(type) || isUnsignedInt(type)));
    const int size =
        dispatchDType(type, [](auto tag) { return static_cast<int>(sizeof(typename decltype(tag)::type)); });
    CHECK(sizeBytes(type) == size);
  }
}

TEST_CASE("every half and bfloat16 has the value of its definition") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto small = static_cast<uint16_t>(bits);
    const double half = halfValue(small);
    const double bfloat = bfloatValue(small);
    if (std::isnan(half)) {
      REQUIRE(std::isnan(toFloat(Half{small})));
      REQUIRE(toHalf(toFloat(Half{small})).bits == 0x7E00);
    } else {
      REQUIRE(static_cast<double>(toFloat(Half{small})) == half);
      REQUIRE(std::signbit(toFloat(Half{small})) == std::signbit(half));
      REQUIRE(toHalf(half).bits == small);
      REQUIRE(toHalf(static_cast<float>(half)).bits == small);
    }
    if (std::isnan(bfloat)) {
      REQUIRE(std::isnan(toFloat(BFloat16{small})));
      REQUIRE(toBFloat16(toFloat(BFloat16{small})).bits == 0x7FC0);
    } else {
      REQUIRE(static_cast<double>(toFloat(BFloat16{small})) == bfloat);
      REQUIRE(toBFloat16(bfloat).bits == small);
      REQUIRE(toBFloat16(static_cast<float>(bfloat)).bits == small);
    }
  }
}

// Between neighbours: below the middle down, above it up, at it to the even one.
TEST_CASE("rounding to 16 bits at and beside every midpoint") {
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const double low = halfValue(static_cast<uint16_t>(bits));
    const double high = bits + 1 == 0x7C00 ? 65536.0 : halfValue(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(toHalf(middle).bits == even);
    REQUIRE(toHalf(std::nextafter(middle, 0.0)).bits == bits);
    REQUIRE(toHalf(std::nextafter(middle, 1e9)).bits == bits + 1);
    REQUIRE(toHalf(-middle).bits == (even | 0x8000));
    const auto narrow = static_cast<float>(middle);  // exact: 12 significant bits
    REQUIRE(toHalf(narrow).bits == even);
    REQUIRE(toHalf(std::nextafterf(narrow, 0.0f)).bits == bits);
    REQUIRE(toHalf(std::nextafterf(narrow, 1e9f)).bits == bits + 1);
  }
  for (uint32_t bits = 0; bits < 0x7F80; ++bits) {
    const double low = bfloatValue(static_cast<uint16_t>(bits));
    const double high =
        bits + 1 == 0x7F80 ? std::pow(2.0, 128) : bfloatValue(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(toBFloat16(middle).bits == even);
    REQUIRE(toBFloat16(std::nextafter(middle, 0.0)).bits == bits);
    REQUIRE(toBFloat16(std::nextafter(middle, 1e300)).bits == bits + 1);
    const auto narrow = static_cast<float>(middle);
    REQUIRE(toBFloat16(narrow).bits == even);
    REQUIRE(toBFloat16(std::nextafterf(narrow, 0.0f)).bits == bits);
    REQUIRE(toBFloat16(std::nextafterf(narrow, HUGE_VALF)).bits == bits + 1);
  }
}

TEST_CASE("rounding from float equals rounding from double") {
  std::mt19937 random(5);
  for (int i = 0; i < 400000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    REQUIRE(toHalf(value).bits == toHalf(static_cast<double>(value)).bits);
    REQUIRE(toBFloat16(value).bits == toBFloat16(static_cast<double>(value)).bits);
  }
}

TEST_CASE("integers round once to floats") {
  const auto i64 = [](int64_t value) { return scalarBits(value); };
  const auto u64 = [](uint64_t value) { return scalarBits(value); };
  // 2^24 + 1 is a tie for float; one more bit far below breaks it.
  const int64_t tie = (int64_t{1} << 40) + (int64_t{1} << 16);
  CHECK(convertTo<float>(i64(tie), DType::I64, DType::F32) == std::ldexp(1.0f, 40));
  CHECK(convertTo<float>(i64(tie + 1), DType::I64, DType::F32) ==
        std::nextafterf(std::ldexp(1.0f, 40), 1e30f));
  CHECK(convertTo<float>(i64(INT64_MAX), DType::I64, DType::F32) == std::ldexp(1.0f, 63));
  CHECK(convertTo<double>(u64(UINT64_MAX), DType::U64, DType::F64) == std::ldexp(1.0, 64));
  CHECK(convertTo<float>(i64(INT64_MIN), DType::I64, DType::F32) == -std::ldexp(1.0f, 63));
  // 2049 is the tie between 2048 and 2050
  CHECK(halfValue(convertTo<Half>(i64(2049), DType::I64, DType::F16).bits) == 2048);
  CHECK(halfValue(convertTo<Half>(i64(2051), DType::I64, DType::F16).bits) == 2052);
  CHECK(convertTo<Half>(i64(65519), DType::I64, DType::F16).bits == 0x7BFF);
  CHECK(convertTo<Half>(i64(65520), DType::I64, DType::F16).bits == 0x7C00);
  CHECK(convertTo<Half>(i64(-65520), DType::I64, DType::F16).bits == 0xFC00);
  CHECK(convertTo<Half>(u64(UINT64_MAX), DType::U64, DType::F16).bits == 0x7C00);
  // The tie of bfloat16 above 2^62 is at 2^54; a last bit of one decides it, though a
  // double would lose that bit.
  const int64_t bfloatTie = (int64_t{1} << 62) + (int64_t{1} << 54);
  const double step = std::ldexp(1.0, 55);
  CHECK(bfloatValue(convertTo<BFloat16>(i64(bfloatTie), DType::I64, DType::BF16).bits) ==
        std::ldexp(1.0, 62));
  CHECK(bfloatValue(convertTo<BFloat16>(i64(bfloatTie + 1), DType::I64, DType::BF16).bits) ==
        std::ldexp(1.0, 62) + step);
  CHECK(bfloatValue(convertTo<BFloat16>(i64(bfloatTie - 1), DType::I64, DType::BF16).bits) ==
        std::ldexp(1.0, 62));
  CHECK(bfloatValue(convertTo<BFloat16>(i64(-bfloatTie - 1), DType::I64, DType::BF16).bits) ==
        -std::ldexp(1.0, 62) - step);
}

TEST_CASE("floats become integers by truncation and saturation") {
  const auto f64 = [](double value) { return scalarBits(value); };
  CHECK(convertTo<int32_t>(f64(-2.9), DType::F64, DType::I32) == -2);
  CHECK(convertTo<int8_t>(f64(127.9), DType::F64, DType::I8) == 127);
  CHECK(convertTo<int8_t>(f64(200), DType::F64, DType::I8) == 127);
  CHECK(convertTo<int8_t>(f64(-200), DType::F64, DType::I8) == -128);
  CHECK(convertTo<uint8_t>(f64(-1), DType::F64, DType::U8) == 0);
  CHECK(convertTo<uint8_t>(f64(-0.5), DType::F64, DType::U8) == 0);
  CHECK(convertTo<int64_t>(f64(1e300), DType::F64, DType::I64) == INT64_MAX);
  CHECK(convertTo<int64_t>(f64(-HUGE_VAL), DType::F64, DType::I64) == INT64_MIN);
  CHECK(convertTo<int64_t>(f64(-std::ldexp(1.0, 63)), DType::F64, DType::I64) == INT64_MIN);
  CHECK(convertTo<int64_t>(f64(std::ldexp(1.0, 63)), DType::F64, DType::I64) == INT64_MAX);
  CHECK(convertTo<uint64_t>(f64(std::ldexp(1.0, 64)), DType::F64, DType::U64) == UINT64_MAX);
  CHECK(convertTo<uint64_t>(f64(std::ldexp(1.0, 63)), DType::F64, DType::U64) == uint64_t{1} << 63);
  CHECK(convertTo<int32_t>(f64(NAN), DType::F64, DType::I32) == 0);
  CHECK(convertTo<bool>(f64(NAN), DType::F64, DType::Bool) == true);
  CHECK(convertTo<bool>(f64(-0.0), DType::F64, DType::Bool) == false);
  CHECK(convertTo<bool>(f64(1e-300), DType::F64, DType::Bool) == true);
  CHECK(convertTo<int32_t>(scalarBits(Half{0x7C00}), DType::F16, DType::I32) == INT32_MAX);
  CHECK(convertTo<int32_t>(scalarBits(BFloat16{0xFF80}), DType::BF16, DType::I32) == INT32_MIN);
}

TEST_CASE("integers wrap and bools are 0 or 1") {
  CHECK(convertTo<int8_t>(scalarBits(int64_t{171}), DType::I64, DType::I8) == -85);
  CHECK(convertTo<int32_t>(scalarBits(int64_t{1} << 32), DType::I64, DType::I32) == 0);
  CHECK(convertTo<uint8_t>(scalarBits(int64_t{-1}), DType::I64, DType::U8) == 255);
  CHECK(convertTo<bool>(scalarBits(int64_t{256}), DType::I64, DType::Bool) == true);
  CHECK(convertTo<int32_t>(scalarBits(true), DType::Bool, DType::I32) == 1);
  CHECK(halfValue(convertTo<Half>(scalarBits(true), DType::Bool, DType::F16).bits) == 1.0);
  CHECK(convertTo<uint64_t>(scalarBits(int8_t{-1}), DType::I8, DType::U64) == UINT64_MAX);
  CHECK(scalarBits(int8_t{-1}) == UINT64_MAX);
  CHECK(scalarBits(uint8_t{255}) == 255);
}

// For values that every type can hold, any path of conversions keeps them.
TEST_CASE("every pair of dtypes converts small values exactly") {
  for (int from = 0; from < kDTypeCount; ++from)
    for (int to = 0; to < kDTypeCount; ++to)
      for (const int64_t value : {0, 1, 2, 3, 100, 127}) {
        const auto source = static_cast<DType>(from);
        const auto target = static_cast<DType>(to);
        const uint64_t bits = convertScalar(scalarBits(value), DType::I64, source);
        const int64_t back = convertTo<int64_t>(convertScalar(bits, source, target), target, DType::I64);
        const bool throughBool = source == DType::Bool || target == DType::Bool;
        INFO(dtypeName(source) << " to " << dtypeName(target) << ": " << value);
        CHECK(back == (throughBool ? (value != 0) : value));
      }
}

TEST_CASE("elements are stored in their own width, at any address") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    unsigned char bytes[17];
    std::fill(std::begin(bytes), std::end(bytes), 0xAA);
    const uint64_t bits = convertScalar(scalarBits(int64_t{1}), DType::I64, type);
    storeScalar(bytes + 3, type, bits);
    CHECK(loadScalar(bytes + 3, type) == bits);
    CHECK(bytes[2] == 0xAA);
    CHECK(bytes[3 + sizeBytes(type)] == 0xAA);
  }
  unsigned char two = 2;
  CHECK(loadScalar(&two, DType::Bool) == 1);
}

}  // namespace
}  // namespace baton
