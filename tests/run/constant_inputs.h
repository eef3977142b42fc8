// A program that is called with one set of inputs only: their values, or their extents, are built in.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "compiler/eval/value.h"
#include "compiler/ir/ir.h"

namespace baton::run {

/// Exports nothing any more.
void dropExports(ir::Module& module);

/// Adds and exports a function without parameters that calls `entry` with these values.
/// Function and cell values cannot be built in: InvalidArgument.
Result<ir::GlobalId> buildInInputs(ir::Module& module, ir::GlobalId entry,
                                   const std::vector<eval::Value>& inputs);

/// Adds and exports a function that calls `entry` with its own parameters, which are tensors of the extents
/// that these values have; none where `entry` has no tensor of an extent that is not known.
std::optional<ir::GlobalId> fixExtents(ir::Module& module, ir::GlobalId entry,
                                       const std::vector<eval::Value>& inputs);

}  // namespace baton::run
