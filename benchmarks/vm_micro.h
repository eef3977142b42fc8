// B9: what the machine's own work costs, per instruction, call, object and kernel call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "benchmarks/sampler.h"

namespace baton::benchmarks {

/// A figure of B9: how a workload's time becomes a cost, and what it must not exceed.
struct MicroFigure {
  std::string id;
  std::string what;
  std::optional<double> most;  ///< in turns of the add-and-branch loop; nothing: only reported
  Workload workload;           ///< one run is one turn of the program's loop
  double itemsPerRun;          ///< instructions (calls, objects) that share the time of one run
  double overheadItems;        ///< scalar instructions and moves per run that do not count as items
};

/// Builds the programs and loads them. The workloads keep what they need alive.
Result<std::vector<MicroFigure>> microFigures();

}  // namespace baton::benchmarks
