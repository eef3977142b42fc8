// Element types of tensors and kinds of scalars. A scalar travels in 64 bits: integers
// sign- or zero-extended, bool as 0 or 1, floats as their bits in the low end.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace baton {

/// Values are on disk and in the C API: append only.
enum class DType : uint8_t {
  Bool = 0,
  I8 = 1,
  I16 = 2,
  I32 = 3,
  I64 = 4,
  U8 = 5,
  U16 = 6,
  U32 = 7,
  U64 = 8,
  F16 = 9,
  BF16 = 10,
  F32 = 11,
  F64 = 12,
};
inline constexpr int kDTypeCount = 13;

constexpr bool isValidDType(uint8_t value) { return value < kDTypeCount; }

constexpr int sizeBytes(DType type) {
  constexpr uint8_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kSizes[static_cast<int>(type)];
}
constexpr bool isFloat(DType type) { return type >= DType::F16; }
constexpr bool isSignedInt(DType type) { return type >= DType::I8 && type <= DType::I64; }
constexpr bool isUnsignedInt(DType type) { return type >= DType::U8 && type <= DType::U64; }
constexpr bool isInteger(DType type) { return type >= DType::I8 && type <= DType::U64; }

/// "float32", as in program text.
std::string_view dtypeName(DType type);
/// "f32", as in value text and bytecode text.
std::string_view dtypeShortName(DType type);
/// Accepts both names.
std::optional<DType> parseDType(std::string_view text);

/// Storage types: arithmetic is done in float, rounded to nearest even when stored.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

float toFloat(Half value);
float toFloat(BFloat16 value);
Half toHalf(float value);
BFloat16 toBFloat16(float value);
/// One rounding from double, which two steps through float would not give.
Half toHalf(double value);
BFloat16 toBFloat16(double value);

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls `f(TypeTag<T>{})` with the C++ type that stores `type` (bool as uint8_t is not
/// distinguished from U8: bool is passed as TypeTag<bool>).
template <class F>
constexpr decltype(auto) dispatchDType(DType type, F&& f) {
  switch (type) {
    case DType::Bool: return f(TypeTag<bool>{});
    case DType::I8: return f(TypeTag<int8_t>{});
    case DType::I16: return f(TypeTag<int16_t>{});
    case DType::I32: return f(TypeTag<int32_t>{});
    case DType::I64: return f(TypeTag<int64_t>{});
    case DType::U8: return f(TypeTag<uint8_t>{});
    case DType::U16: return f(TypeTag<uint16_t>{});
    case DType::U32: return f(TypeTag<uint32_t>{});
    case DType::U64: return f(TypeTag<uint64_t>{});
    case DType::F16: return f(TypeTag<Half>{});
    case DType::BF16: return f(TypeTag<BFloat16>{});
    case DType::F32: return f(TypeTag<float>{});
    case DType::F64: return f(TypeTag<double>{});
  }
  __builtin_unreachable();
}

/// A scalar of type T in the 64-bit form of the `s` bank, and back.
template <class T>
constexpr uint64_t scalarBits(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return value.bits;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else
    return static_cast<uint64_t>(value);
}

template <class T>
constexpr T scalarFromBits(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T{static_cast<uint16_t>(bits)};
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

/// Converts a scalar between types with the semantics of the language: integers wrap,
/// float to integer truncates and saturates, NaN gives 0, anything to bool is `!= 0`,
/// results of float type are rounded once, to nearest even.
uint64_t convertScalar(uint64_t bits, DType from, DType to);

/// Loads and stores one element at an address that need not be aligned.
uint64_t loadScalar(const void* address, DType type);
void storeScalar(void* address, DType type, uint64_t bits);

}  // namespace baton
