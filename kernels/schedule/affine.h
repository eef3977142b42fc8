// Values as linear combinations, and the range that they are known to lie in. Private to kernels/schedule.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "kernels/schedule/editor.h"

namespace baton::schedule {

/// constant + the sum of coefficient * value; the values are what is no sum or constant multiple.
struct Affine {
  std::map<NodeId, int64_t> terms;  ///< no coefficient is 0
  int64_t constant = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// Of an i64 value. Where a coefficient would not fit, the value is a term itself.
Affine affineOf(const Editor& editor, NodeId value);

/// The value of a combination, made at the end of `out`.
NodeId materialise(Editor& editor, Nodes& out, const Affine& affine);
/// Quotient and remainder of a division by a positive constant, rounding down; without one where the value
/// is a multiple and what is certainly less than the divisor.
std::pair<NodeId, NodeId> divided(Editor& editor, Nodes& out, NodeId value, int64_t divisor);

/// Both ends included; nothing: no bound.
struct Range {
  std::optional<int64_t> low;
  std::optional<int64_t> high;
};
Range rangeOf(const Editor& editor, NodeId value);
Range rangeOf(const Editor& editor, const Affine& affine);

}  // namespace baton::schedule
