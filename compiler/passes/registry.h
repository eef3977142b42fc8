// The list of all passes.
#pragma once

#include <span>
#include <string_view>

#include "compiler/passes/pass.h"

namespace baton::passes {

// Each record is defined beside its pass.
#define BATON_PASS(record) extern const PassInfo record;
#include "compiler/passes/passes.def"
#undef BATON_PASS

/// In the order of passes.def.
std::span<const PassInfo* const> allPasses();
/// Null when there is none of that name.
const PassInfo* findPass(std::string_view name);

}  // namespace baton::passes
