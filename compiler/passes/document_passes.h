// docs/passes.md, made from the records of the passes.
#pragma once

#include <string>

namespace baton::passes {

std::string documentPasses();

/// A line a pass for `--list-passes`: name, lowest level, summary.
std::string listPasses();

}  // namespace baton::passes
