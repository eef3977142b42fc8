// Which axes of a tensor a layout calls height, width and the like.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

struct LayoutAxes {
  std::vector<size_t> axes;  ///< of each letter that was asked for
  int rank = 0;
};

/// "NCHW4c" has five axes, the last one a block of channels. An error unless each of the letters is
/// there once and stays whole.
Result<LayoutAxes> layoutAxes(const OpCall& call, std::string_view letters);

/// An axis that is read from must have elements where the result has.
Result<void> requireElements(const OpCall& call, DimsContext& context, size_t input, size_t axis,
                             const DimExpr& wanted);

/// The error of a string attribute that is none of those.
Error unknownValue(const OpCall& call, std::string_view attribute, std::string_view expected);

}  // namespace baton::ops
