#include "base/scalar_text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace baton {
namespace {

template <class T>
std::string format(T value, DType type) {
  return formatScalar(scalarBits(value), type);
}

template <class T>
T parsed(std::string_view text, DType type) {
  const Result<uint64_t> bits = parseScalar(text, type);
  INFO(text);
  REQUIRE(bits.has_value());
  return scalarFromBits<T>(bits.value());
}

std::string refusal(std::string_view text, DType type) {
  const Result<uint64_t> bits = parseScalar(text, type);
  REQUIRE(!bits.has_value());
  CHECK(bits.error().code() == ErrorCode::Malformed);
  return bits.error().message();
}

TEST_CASE("floats print as their shortest text") {
  CHECK(format(0.1f, DType::F32) == "0.1");
  CHECK(format(0.1, DType::F64) == "0.1");
  CHECK(format(1.0f / 3, DType::F32) == "0.33333334");
  CHECK(format(100000.0f, DType::F32) == "100000");
  CHECK(format(1e20f, DType::F32) == "1e+20");
  CHECK(format(-0.0f, DType::F32) == "-0");
  CHECK(format(NAN, DType::F32) == "nan");
  CHECK(format(-NAN, DType::F32) == "nan");
  CHECK(format(HUGE_VALF, DType::F32) == "inf");
  CHECK(format(-HUGE_VAL, DType::F64) == "-inf");
  CHECK(format(toHalf(0.1f), DType::F16) == "0.1");
  CHECK(format(toHalf(65504.0f), DType::F16) == "65500");
  CHECK(format(Half{1}, DType::F16) == "6e-08");
  CHECK(format(toBFloat16(3.14f), DType::BF16) == "3.14");
  CHECK(format(Half{0xFC00}, DType::F16) == "-inf");
  CHECK(format(BFloat16{0x7FC0}, DType::BF16) == "nan");
}

TEST_CASE("integers and bools print plainly") {
  CHECK(format(int64_t{INT64_MIN}, DType::I64) == "-9223372036854775808");
  CHECK(format(uint64_t{UINT64_MAX}, DType::U64) == "18446744073709551615");
  CHECK(format(int8_t{-1}, DType::I8) == "-1");
  CHECK(format(uint8_t{200}, DType::U8) == "200");
  CHECK(format(true, DType::Bool) == "true");
  CHECK(format(false, DType::Bool) == "false");
}

TEST_CASE("every 16-bit float reads back") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto small = static_cast<uint16_t>(bits);
    const Half half = parsed<Half>(format(Half{small}, DType::F16), DType::F16);
    const BFloat16 bfloat = parsed<BFloat16>(format(BFloat16{small}, DType::BF16), DType::BF16);
    REQUIRE(half.bits == ((small & 0x7FFF) > 0x7C00 ? 0x7E00 : small));
    REQUIRE(bfloat.bits == ((small & 0x7FFF) > 0x7F80 ? 0x7FC0 : small));
  }
}

TEST_CASE("random floats and integers read back") {
  std::mt19937_64 random(9);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const auto wide = std::bit_cast<double>(bits);
    if (!std::isnan(single)) REQUIRE(parsed<float>(format(single, DType::F32), DType::F32) == single);
    if (!std::isnan(wide)) REQUIRE(parsed<double>(format(wide, DType::F64), DType::F64) == wide);
    REQUIRE(parsed<uint64_t>(format(bits, DType::U64), DType::U64) == bits);
    REQUIRE(parsed<int16_t>(format(static_cast<int16_t>(bits), DType::I16), DType::I16) ==
            static_cast<int16_t>(bits));
  }
}

TEST_CASE("decimals are rounded once, even beside the middle of two halves") {
  // 2049 is the middle of 2048 and 2050.
  CHECK(toFloat(parsed<Half>("2049", DType::F16)) == 2048);
  CHECK(toFloat(parsed<Half>("2049.00000000000000000000000000000001", DType::F16)) == 2050);
  CHECK(toFloat(parsed<Half>("2048.99999999999999999999999999999999", DType::F16)) == 2048);
  CHECK(toFloat(parsed<Half>("-2049.00000000000000000000000000000001", DType::F16)) == -2050);
  CHECK(toFloat(parsed<Half>("2051", DType::F16)) == 2052);
  CHECK(toFloat(parsed<Half>("2050.99999999999999999999999999999999", DType::F16)) == 2050);
  CHECK(toFloat(parsed<Half>("65519.9999999999999999999999999999", DType::F16)) == 65504);
  CHECK(toFloat(parsed<BFloat16>("257.0000000000000000000000000001", DType::BF16)) == 258);
  CHECK(parsed<Half>("2.98023223876953125e-8", DType::F16).bits == 0);  // half of the smallest
  CHECK(parsed<Half>("2.980232238769531250000000000001e-8", DType::F16).bits == 1);
}

TEST_CASE("notations that are accepted") {
  CHECK(parsed<float>("+1.5", DType::F32) == 1.5f);
  CHECK(parsed<float>(".5", DType::F32) == 0.5f);
  CHECK(parsed<float>("5.", DType::F32) == 5.0f);
  CHECK(parsed<float>("1E3", DType::F32) == 1000.0f);
  CHECK(parsed<float>("7", DType::F32) == 7.0f);
  CHECK(std::signbit(parsed<float>("-0", DType::F32)));
  CHECK(parsed<float>("1e-9999", DType::F32) == 0.0f);
  CHECK(std::signbit(parsed<float>("-1e-9999", DType::F32)));
  CHECK(parsed<double>("0e9999999999999999999", DType::F64) == 0.0);
  CHECK(std::isnan(parsed<float>("nan", DType::F32)));
  CHECK(parsed<float>("-inf", DType::F32) == -HUGE_VALF);
  CHECK(parsed<double>("+inf", DType::F64) == HUGE_VAL);
  CHECK(parsed<float>("1e-45", DType::F32) == std::numeric_limits<float>::denorm_min());
  CHECK(parsed<int32_t>("+7", DType::I32) == 7);
  CHECK(parsed<bool>("1", DType::Bool) == true);
}

TEST_CASE("what is no number of the type is refused") {
  CHECK(refusal("", DType::F32) == "cannot read '' as float32");
  CHECK(refusal("abc", DType::F32) == "cannot read 'abc' as float32");
  CHECK(refusal("1.5x", DType::F32) == "cannot read '1.5x' as float32");
  CHECK(refusal("--1", DType::F32) == "cannot read '--1' as float32");
  CHECK(refusal("+-1", DType::F32) == "cannot read '+-1' as float32");
  CHECK(refusal("1e", DType::F64) == "cannot read '1e' as float64");
  CHECK(refusal("nan(1)", DType::F64) == "cannot read 'nan(1)' as float64");
  CHECK(refusal(".", DType::F64) == "cannot read '.' as float64");
  CHECK(refusal("1e39", DType::F32) == "number is out of range: '1e39' as float32");
  CHECK(refusal("1e999", DType::F64) == "number is out of range: '1e999' as float64");
  CHECK(refusal("65520", DType::F16) == "number is out of range: '65520' as float16");
  CHECK(refusal("1.5", DType::I32) == "cannot read '1.5' as int32");
  CHECK(refusal("+-1", DType::I32) == "cannot read '+-1' as int32");
  CHECK(refusal("128", DType::I8) == "number is out of range: '128' as int8");
  CHECK(refusal("-1", DType::U8) == "number is out of range: '-1' as uint8");
  CHECK(refusal("-", DType::U8) == "cannot read '-' as uint8");
  CHECK(refusal("2", DType::Bool) == "cannot read '2' as bool");
  CHECK(refusal(std::string(100, '9'), DType::I64).size() < 120);
}

}  // namespace
}  // namespace baton
