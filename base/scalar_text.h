// Scalars as text, for every dtype: the shortest text that reads back as the same value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/error.h"

namespace baton {

/// Appends the value (in the 64-bit form of dtype.h): "true", "-3", "0.1", "1e+20", "nan",
/// "inf", "-inf", "-0". All NaNs are one value.
void appendScalar(std::string& out, uint64_t bits, DType type);
std::string formatScalar(uint64_t bits, DType type);

/// Reads what formatScalar writes, and for floats any decimal notation, rounded once to
/// nearest even; all of `text` must be the number. Malformed when it is no number of the
/// type or out of its range (a float too small to be told from zero is zero).
Result<uint64_t> parseScalar(std::string_view text, DType type);

}  // namespace baton
