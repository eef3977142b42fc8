// The table of passes and what each -O level runs.

#include <array>

#include "compiler/passes/contify.h"
#include "compiler/passes/dead_functions.h"
#include "compiler/passes/flatten_matches.h"
#include "compiler/passes/lift_lambdas.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/prepare.h"

namespace baton::passes {
namespace {

constexpr std::array kPasses = {
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
};

}  // namespace

std::span<const PassInfo> allPasses() { return kPasses; }

Pipeline pipelineOf(int level) {
  Pipeline pipeline;
  auto add = [&](std::string_view name) {
    const PassInfo* pass = findPass(name);
    if (pass->level <= level) pipeline.push_back(pass);
  };
  for (std::string_view name :
       {"prepare", "dead-functions", "flatten-matches", "contify", "lift-lambdas", "make-loops"})
    add(name);
  return pipeline;
}

}  // namespace baton::passes
