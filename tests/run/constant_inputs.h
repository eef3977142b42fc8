// A program with its inputs built in.
#pragma once

#include <vector>

#include "base/error.h"
#include "compiler/eval/value.h"
#include "compiler/ir/ir.h"

namespace baton::run {

/// Adds and exports a function without parameters that calls `entry` with these values, and
/// exports nothing else. Function and cell values cannot be built in: InvalidArgument.
Result<ir::GlobalId> buildInInputs(ir::Module& module, ir::GlobalId entry,
                                   const std::vector<eval::Value>& inputs);

}  // namespace baton::run
