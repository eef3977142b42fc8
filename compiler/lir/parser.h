// Reads low-level form as text: functions in SSA form. What functions refer to by number
// (types, kernels, messages, ...) is in tables that the caller supplies.
#pragma once

#include <string_view>

#include "base/error.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

/// Functions of `text`; the tables are left empty. ErrorCode::Malformed with line and column.
Result<Module> parseModule(std::string_view text);

}  // namespace baton::lir
