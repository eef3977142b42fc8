// Rules that every module keeps, before and after every pass.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::ir {

/// Names of the rules, as they stand in messages: "scope: ...".
std::span<const std::string_view> verifierRules();

struct VerifyOptions {
  /// Types are there and must fit.
  bool isTyped = true;
};

/// VerifyFailed on the first rule that is broken; the message names the rule, the function
/// and the variable. The module is not changed (its type table may grow).
Result<void> verify(Module& module, const VerifyOptions& options = {});

}  // namespace baton::ir
