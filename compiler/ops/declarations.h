// The functions that the operator records name, each defined in the file of its family,
// and typed access to the attributes of each operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

#include "compiler/ops/generated/attrs.inc"
#include "compiler/ops/generated/declarations.inc"

}  // namespace baton::ops
