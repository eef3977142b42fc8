// Memory statistics and profiles, for people and for programs.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/vm_run/handles.h"
#include "tools/vm_run/options.h"

namespace baton::tools {

void printMemoryStatistics(const baton_instance* instance);
void printProfile(baton_context* context, bool asJson);
/// `seconds` per run.
void printTimes(std::vector<double> seconds);

}  // namespace baton::tools
