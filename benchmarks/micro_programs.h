// The programs of B9, written in bytecode text: each loops main(turns) over what it measures.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace baton::benchmarks {

struct MicroProgram {
  std::string id;
  std::string what;
  /// Turns of the add-and-branch loop that an item may cost; nothing: the figure is only reported.
  std::optional<double> most;
  double itemsPerTurn;
  double overheadInstructions;  ///< scalar instructions and moves per turn that are not items
  std::function<Result<std::vector<std::byte>>()> build;  ///< the bytes of a .vmexe
};

/// The first is the scalar instruction, whose cost is taken off the others' loops.
std::vector<MicroProgram> microPrograms();

}  // namespace baton::benchmarks
