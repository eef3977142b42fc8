// What the world hands to an entry point is checked against its signature before it runs.
#pragma once

#include <vector>

#include "base/error.h"
#include "compiler/eval/value.h"
#include "compiler/ir/ir.h"

namespace baton::eval {

/// Structure, dtypes, ranks and extents of the arguments, inside tuples and data too, and
/// the constraints of the function. InvalidArgument names the parameter.
Result<void> checkEntryArguments(ir::Module& module, const ir::Function& function,
                                 const std::vector<Value>& arguments);

}  // namespace baton::eval
