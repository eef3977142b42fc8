// Sets of registers that are emptied in no time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bytecode/verifier/register_state.h"

namespace baton::bytecode {

/// Marks registers within one instruction, without clearing between instructions.
class Stamps {
 public:
  void next() { ++now_; }
  /// Whether it was marked already.
  bool mark(RegisterBank bank, uint32_t index) {
    std::vector<uint64_t>& stamps = stamps_[static_cast<int>(bank)];
    if (index >= stamps.size()) stamps.resize(index + 1, 0);
    return std::exchange(stamps[index], now_) == now_;
  }
  bool isMarked(RegisterBank bank, uint32_t index) const {
    const std::vector<uint64_t>& stamps = stamps_[static_cast<int>(bank)];
    return index < stamps.size() && stamps[index] == now_;
  }

 private:
  std::vector<uint64_t> stamps_[2];
  uint64_t now_ = 0;
};

}  // namespace baton::bytecode
