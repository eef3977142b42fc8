// Where the results of strided_slice and split begin, axis by axis.
#pragma once

#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

/// Element i of the result along an axis is element `begin + i * stride` of the data.
struct SliceAxis {
  DimExpr begin;
  int64_t stride = 1;
  DimExpr extent;  ///< of the result
};
Result<std::vector<SliceAxis>> sliceAxes(const OpCall& call, DimsContext& context);

/// The parts of a split along its axis.
struct SplitPart {
  DimExpr begin;
  DimExpr extent;
};
Result<std::vector<SplitPart>> splitParts(const OpCall& call, DimsContext& context);

}  // namespace baton::ops
