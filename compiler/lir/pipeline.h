// The passes over low-level form, in order, and the function that runs them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

struct PassInfo {
  std::string_view name;  ///< "lir-simplify"
  std::string_view summary;
  int level = 0;  ///< lowest -O level that runs it; 0 is mandatory
  Result<void> (*run)(Module& module) = nullptr;
};

/// In the order in which they run; one that runs twice is there twice.
std::span<const PassInfo> allPasses();

struct PipelineOptions {
  int level = 3;
  std::span<const std::string> disabled;  ///< by name; unknown names are somebody else's passes
  bool verifyEach = false;
  /// Called before (isAfter false) and after each pass; may be empty.
  std::function<void(const PassInfo& pass, bool isAfter, const Module& module)> observer;
};

/// InvalidArgument for a mandatory pass that is disabled.
Result<void> runPipeline(Module& module, const PipelineOptions& options);

}  // namespace baton::lir
