// Puts moves that happen at once into an order in which they can happen one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace baton::lir {

struct RegisterMove {
  uint16_t to = 0;
  uint16_t from = 0;
  bool fromDies = false;  ///< after all moves, unless it is itself a destination
};

/// Destinations are distinct. `spare` is used when registers change places, and only then.
/// In the result `fromDies` says that this move is the last to need its source: one that
/// stays where it is, or is needed again, is copied.
std::vector<RegisterMove> orderMoves(std::span<const RegisterMove> moves, uint16_t spare);

}  // namespace baton::lir
