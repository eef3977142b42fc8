// Encodes functions of low-level form, generically over the descriptors.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lir/lir.h"

namespace baton::emit {

struct EncodedFunction {
  std::vector<uint64_t> code;
  struct Position {
    uint32_t pc;
    SourceLocation location;
    lir::NameId name;
  };
  std::vector<Position>
      positions;  ///< one where the source changes; what has no place of its own belongs to what precedes it
};

/// Registers must have been assigned.
EncodedFunction encode(const lir::Function& function);

}  // namespace baton::emit
