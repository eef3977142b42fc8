// Which axes a reduction reduces.
#pragma once

#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

/// By axis; the attributes `axis` and `exclude` of the call applied to a rank.
Result<std::vector<bool>> reducedAxes(const OpCall& call, int rank);

}  // namespace baton::ops
