#include "compiler/passes/exact_arithmetic.h"

#include <cmath>

namespace baton::passes {
namespace {

/// Whether every value of `from` is a value of `to`.
bool holdsAll(DType from, DType to) {
  if (from == to || from == DType::Bool) return true;
  if (to == DType::Bool) return false;
  if (isFloat(from)) {
    if (!isFloat(to)) return false;
    return to == DType::F64 || (to == DType::F32 && from != DType::F64);
  }
  const int bits = 8 * sizeBytes(from) - (isSignedInt(from) ? 1 : 0);  // of the magnitude
  if (isFloat(to)) {
    // Of the significand, the hidden bit included. The range is never the limit but for f16.
    const int significand = to == DType::F64 ? 53 : to == DType::F32 ? 24 : to == DType::F16 ? 11 : 8;
    return bits <= significand;
  }
  if (isSignedInt(from) && !isSignedInt(to)) return false;
  return bits <= 8 * sizeBytes(to) - (isSignedInt(to) ? 1 : 0);
}

}  // namespace

bool castsOnce(DType source, DType through, DType to) {
  if (holdsAll(source, through))
    // Integers wrap and floats saturate, so a detour through floats counts where `to` is narrow.
    return isFloat(source) || !isFloat(through) || !isInteger(to) || holdsAll(source, to);
  return isInteger(source) && isInteger(through) && isInteger(to) && sizeBytes(to) <= sizeBytes(through);
}

std::optional<uint64_t> exactReciprocal(DType dtype, uint64_t bits) {
  const auto reciprocal = [](auto value) -> std::optional<decltype(value)> {
    int exponent = 0;
    if (!std::isnormal(value) || std::abs(std::frexp(value, &exponent)) != 0.5) return std::nullopt;
    const auto result = decltype(value){1} / value;
    return std::isnormal(result) ? std::optional(result) : std::nullopt;
  };
  if (dtype == DType::F32) {
    if (auto result = reciprocal(scalarFromBits<float>(bits))) return scalarBits(*result);
  } else if (dtype == DType::F64) {
    if (auto result = reciprocal(scalarFromBits<double>(bits))) return scalarBits(*result);
  }
  return std::nullopt;
}

}  // namespace baton::passes
