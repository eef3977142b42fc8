// Compares a result with what was expected, number by number, and says where they differ.
#pragma once

#include <optional>
#include <string>

#include "baton/baton.h"

namespace baton::tools {

/// Floats agree when |found - expected| <= absolute + relative * |expected|, or both are NaN;
/// everything else must be equal.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// Nothing when they agree, else one line: where, what was found, what was expected.
std::optional<std::string> findDifference(const baton_value* found, const baton_value* expected,
                                          const Tolerance& tolerance);

}  // namespace baton::tools
