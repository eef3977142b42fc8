#include "base/dtype.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace baton {

namespace {

constexpr std::array<std::string_view, kDTypeCount> kNames = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
constexpr std::array<std::string_view, kDTypeCount> kShortNames = {
    "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};

/// Rounds a double to a binary format of 16 bits with the given field widths, to nearest
/// even, with gradual underflow; overflow goes to infinity. NaN becomes the quiet NaN.
template <int kExponentBits, int kMantissaBits>
uint16_t roundToSmallFloat(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr uint16_t kInfinity = static_cast<uint16_t>(((1 << kExponentBits) - 1) << kMantissaBits);
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(kInfinity | (1 << (kMantissaBits - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | kInfinity;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - kBias) exponent = 1 - kBias;  // denormals share the lowest exponent
  // In units of the last place the value is below 2^(mantissa bits + 1), so it is exact in
  // a double and nearbyint rounds it once.
  double units = std::nearbyint(std::ldexp(magnitude, kMantissaBits - exponent));
  // Adding the fields carries a rounding overflow into the exponent by itself.
  const uint32_t bits =
      static_cast<uint32_t>(units) + (static_cast<uint32_t>(exponent + kBias - 1) << kMantissaBits);
  return bits >= kInfinity ? static_cast<uint16_t>(sign | kInfinity) : static_cast<uint16_t>(sign | bits);
}

template <class To, class From>
To floatToInt(From value) {
  if (std::isnan(value)) return 0;
  // Both bounds are powers of two (or zero), hence exact in any float type.
  constexpr int kDigits = std::numeric_limits<To>::digits;
  const double wide = static_cast<double>(value);
  if (wide >= std::ldexp(1.0, kDigits)) return std::numeric_limits<To>::max();
  if (wide <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(wide);
}

template <class To, class From>
To convert(From value) {
  constexpr bool kSmallFrom = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (kSmallFrom)
    return convert<To>(toFloat(value));
  else if constexpr (std::is_same_v<To, bool>)
    return value != From{0};
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    // A 64-bit integer does not fit a double exactly, but one beyond 2^53 is rounded to odd
    // below so that the second rounding sees the sticky bit.
    double wide;
    if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
      const bool negative = std::is_signed_v<From> && value < From{0};
      uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
      if (magnitude >> 53) {
        const bool sticky = (magnitude & 0xFFF) != 0;
        magnitude = (magnitude & ~uint64_t{0xFFF}) | (sticky ? 0x1000 : 0);
      }
      wide = static_cast<double>(magnitude);
      if (negative) wide = -wide;
    } else {
      wide = static_cast<double>(value);
    }
    if constexpr (std::is_same_v<To, Half>)
      return toHalf(wide);
    else
      return toBFloat16(wide);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return floatToInt<To>(value);
  else
    return static_cast<To>(value);
}

}  // namespace

std::string_view dtypeName(DType type) { return kNames[static_cast<int>(type)]; }
std::string_view dtypeShortName(DType type) { return kShortNames[static_cast<int>(type)]; }

std::optional<DType> parseDType(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (text == kNames[i] || text == kShortNames[i]) return static_cast<DType>(i);
  return std::nullopt;
}

float toFloat(Half value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t exponent = (value.bits >> 10) & 31;
  const uint32_t mantissa = value.bits & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float toFloat(BFloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

Half toHalf(double value) { return {roundToSmallFloat<5, 10>(value)}; }
BFloat16 toBFloat16(double value) { return {roundToSmallFloat<8, 7>(value)}; }

Half toHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  if (magnitude > 0x7F800000u) return {0x7E00};
  if (magnitude >= 0x477FF000u) return {static_cast<uint16_t>(sign | 0x7C00u)};  // 65520 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: in units of 2^-24, which the addition rounds to
    const float units = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(units) - 0x3F000000u))};
  }
  // 13 bits go; the carry of the rounding may reach the exponent.
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return {static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13))};
}

BFloat16 toBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return {0x7FC0};
  return {static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16)};
}

uint64_t convertScalar(uint64_t bits, DType from, DType to) {
  return dispatchDType(from, [&](auto fromTag) {
    return dispatchDType(to, [&](auto toTag) {
      using From = typename decltype(fromTag)::type;
      using To = typename decltype(toTag)::type;
      return scalarBits<To>(convert<To>(scalarFromBits<From>(bits)));
    });
  });
}

uint64_t loadScalar(const void* address, DType type) {
  return dispatchDType(type, [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return *static_cast<const uint8_t*>(address) != 0;
    } else {
      T value;
      std::memcpy(&value, address, sizeof value);
      return scalarBits(value);
    }
  });
}

void storeScalar(void* address, DType type, uint64_t bits) {
  dispatchDType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = scalarFromBits<T>(bits);
    std::memcpy(address, &value, sizeof value);
  });
}

}  // namespace baton
