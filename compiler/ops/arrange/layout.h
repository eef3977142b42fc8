// Attributes of the operators on axes, applied to a rank.
#pragma once

#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

/// Which axis of the data each axis of the result of `transpose` is.
Result<std::vector<int>> transposedAxes(const OpCall& call, int rank);
/// Position of a new axis in a result, from an attribute in [-rank - 1, rank].
Result<int> newAxis(const OpCall& call, int64_t axis, int rank);
/// By axis of the data: whether `squeeze` removes it.
Result<std::vector<bool>> squeezedAxes(const OpCall& call, int rank);

}  // namespace baton::ops
