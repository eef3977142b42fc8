// The programs of B9, written in bytecode text: each loops main(turns) over what it measures.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace baton::benchmarks {

struct MicroProgram {
  std::string id;
  std::string what;
  double most;  ///< turns of the add-and-branch loop that an item may cost
  double itemsPerTurn;
  double overheadInstructions;                            ///< scalar instructions per turn that are not items
  std::function<Result<std::vector<std::byte>>()> build;  ///< the bytes of a .vmexe
};

std::vector<MicroProgram> microPrograms();

}  // namespace baton::benchmarks
