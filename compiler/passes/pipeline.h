// Pipelines: what runs in which order, as text and as data. The text is
//
//   pipeline = [ step { "," step } ]
//   step     = NAME [ options ]                 a pass, or O0 to O3 for all that -O0 to -O3 run
//            | "repeat" [ options ] "(" pipeline ")"
//   options  = "{" NAME "=" NUMBER { "," NAME "=" NUMBER } "}"
//
// with white space anywhere between words. What `print` gives parses to an equal pipeline.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/pass.h"

namespace baton::passes {

struct PipelineStep;
using Pipeline = std::vector<PipelineStep>;

/// A pass, or a pipeline that runs again while it changes the module.
struct PipelineStep {
  const PassInfo* pass = nullptr;  ///< null: `body` is repeated
  std::vector<uint64_t> options;   ///< of the pass, one for each that its record has
  Pipeline body;
  uint64_t maxRounds = 0;  ///< of a repetition
};

/// Repetitions inside repetitions.
inline constexpr size_t kMaxPipelineNesting = 8;
inline constexpr uint64_t kDefaultRounds = 3;

bool operator==(const PipelineStep& a, const PipelineStep& b);

/// InvalidArgument with the column and a caret under the text.
Result<Pipeline> parsePipeline(std::string_view text);
/// Options that have their default are left out.
std::string print(const Pipeline& pipeline);

/// A step with the defaults of the pass.
PipelineStep stepOf(const PassInfo& pass);

/// What -O`level` runs, as text. Levels are 0 to 3.
std::string_view pipelineText(int level);
Pipeline pipelineOf(int level);

/// InvalidArgument: "no pass named 'fuze'; did you mean fuse?".
Error noPassNamed(std::string_view name);

/// Leaves out passes by name. An error for an unknown name, and for a mandatory pass.
Result<void> disablePasses(Pipeline& pipeline, std::span<const std::string> names);

/// What holds after the pipeline, in whichever round a repetition ends. InvalidArgument for
/// a pass that lacks what it requires: names the pass, the property, and who establishes it.
Result<Property> propertiesAfter(const Pipeline& pipeline, Property before = Property::None);
/// "joins (make-loops)": the properties and the passes that establish them.
std::string describeMissing(Property properties);

}  // namespace baton::passes
