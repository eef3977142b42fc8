// The comments of a program that say how to run it and what comes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace baton::run {

struct Run {
  std::string entry = "main";
  std::vector<std::string> inputs;  ///< as written: `x=VALUE` or `VALUE`
  std::string expected;             ///< a value, unless `fails`
  double tolerance = 0;             ///< 0: exactly
  bool agrees = false;              ///< nothing is expected but agreement
  bool fails = false;
  std::string message;  ///< part of the error's message
  int line = 0;
};

struct CaseFile {
  std::vector<Run> runs;
  std::vector<std::string> compileErrors;  ///< parts of what is reported; not empty: it is refused
  bool isOnce = false;                     ///< evaluate once per level
};

/// Malformed for comments that do not make sense, and for a file without any.
Result<CaseFile> parseCaseFile(std::string_view text);

}  // namespace baton::run
