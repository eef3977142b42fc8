// The table of passes and what each -O level runs.

#include <array>

#include "base/error.h"
#include "compiler/passes/contify.h"
#include "compiler/passes/dead_code.h"
#include "compiler/passes/dead_functions.h"
#include "compiler/passes/flatten_matches.h"
#include "compiler/passes/fuse.h"
#include "compiler/passes/inline.h"
#include "compiler/passes/lift_lambdas.h"
#include "compiler/passes/pack_weights.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/simplify.h"
#include "compiler/passes/specialise_calls.h"

namespace baton::passes {
namespace {

constexpr std::array kPasses = {
    // Mandatory.
    PassInfo{
        .name = "prepare", .summary = "drop what dumps of other compilers say about kernels", .run = prepare},
    PassInfo{.name = "dead-functions",
             .summary = "drop functions that no entry point reaches",
             .run = dropDeadFunctions},
    PassInfo{.name = "flatten-matches",
             .summary = "nested patterns to decision trees of flat matches",
             .establishes = Property::FlatMatches,
             .run = flattenMatches},
    PassInfo{.name = "contify",
             .summary = "local functions that are only tail-called become joins",
             .run = contify},
    PassInfo{.name = "lift-lambdas",
             .summary = "local functions that are only called become functions of the module",
             .establishes = Property::Lifted,
             .run = liftLambdas},
    PassInfo{.name = "make-loops",
             .summary = "self tail calls become loops",
             .establishes = Property::Joins,
             .run = makeLoops},
    // From -O1.
    PassInfo{.name = "dead-code",
             .summary = "drop bindings whose value is not used",
             .level = 1,
             .run = dropDeadCode},
    PassInfo{.name = "fold-constants",
             .summary = "propagate, and run operators on constants",
             .level = 1,
             .run = foldConstants},
    PassInfo{.name = "inline",
             .summary = "calls of small functions become their bodies",
             .level = 1,
             .run = inlineCalls},
    PassInfo{.name = "propagate",
             .summary = "aliases, known tuples, constructors and conditions",
             .level = 1,
             .run = propagate},
    // From -O2.
    PassInfo{.name = "eliminate-common",
             .summary = "propagate, and share operators with the same operands",
             .level = 2,
             .run = eliminateCommon},
    PassInfo{.name = "fuse",
             .summary = "chains of operators become one kernel each",
             .level = 2,
             .requires_ = Property::FlatMatches | Property::Joins | Property::Lifted,
             .establishes = Property::Fused,
             .run = fuse},
    PassInfo{.name = "pack-weights",
             .summary = "constant weights of matrix products in panels",
             .level = 2,
             .run = packWeights},
    // From -O3.
    PassInfo{.name = "specialise-calls",
             .summary = "copies of functions for known functions and weights as arguments",
             .level = 3,
             .run = specialiseCalls},
};

constexpr std::string_view kOrder[] = {
    "prepare", "dead-functions", "flatten-matches",
    // What is known early decides which functions are known where they are passed.
    "propagate", "inline", "propagate", "specialise-calls", "dead-functions", "contify", "lift-lambdas",
    "make-loops",
    // Loops are no recursion any more, so functions that have them can be inlined.
    "propagate", "inline", "fold-constants", "dead-code", "eliminate-common", "dead-code", "pack-weights",
    "fuse", "dead-functions"};

}  // namespace

std::span<const PassInfo> allPasses() { return kPasses; }

Pipeline pipelineOf(int level) {
  Pipeline pipeline;
  for (std::string_view name : kOrder) {
    const PassInfo* pass = findPass(name);
    BATON_CHECK(pass != nullptr);
    if (pass->level <= level && (pipeline.empty() || pipeline.back() != pass)) pipeline.push_back(pass);
  }
  return pipeline;
}

}  // namespace baton::passes
