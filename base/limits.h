// What every value obeys, in programs, in files and in the machine.
#pragma once

#include <cstdint>

namespace baton {

/// Dimensions of a tensor.
inline constexpr int kMaxRank = 32;

/// Elements of an array: indices in programs are int32.
inline constexpr uint32_t kMaxArrayLength = INT32_MAX;

}  // namespace baton
