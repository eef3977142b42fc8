// What a run gave, and whether it may.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "case_file.h"
#include "formats/value_text.h"

namespace baton::run {

/// A result as text, or an error.
struct Outcome {
  std::optional<TextValue> value;
  std::string error;
  ErrorCode code = ErrorCode::Internal;
};

/// What a compiled program gave as text.
Outcome outcomeOf(Result<std::string> result);

/// How what the evaluator gave differs from what the comments of the program say; nothing where it does not.
std::string differenceFromComments(const Run& run, const Outcome& oracle);

/// How what another way gave differs from what the evaluator gave.
std::string differenceFromOracle(const Run& run, const Outcome& oracle, const Outcome& other);

}  // namespace baton::run
