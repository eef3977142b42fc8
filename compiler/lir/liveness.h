// Which registers are live at block boundaries, of a function in SSA form.
#pragma once

#include <span>
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

/// A snapshot. Parameters of a block are not live into it; arguments of a jump are read by it.
class Liveness {
 public:
  Liveness(const Function& function, const ControlFlow& flow);

  /// In order of register number.
  std::span<const Register> liveIn(BlockId block) const { return liveIn_[block.value()]; }

 private:
  std::vector<std::vector<Register>> liveIn_;
};

/// A set of registers that is emptied in constant time.
class RegisterSet {
 public:
  explicit RegisterSet(size_t registerCount) : stamps_(registerCount) {}
  void clear() { ++now_; }
  /// Whether it was not there.
  bool insert(Register reg) {
    if (contains(reg)) return false;
    stamps_[reg.value()] = now_;
    return true;
  }
  void erase(Register reg) { stamps_[reg.value()] = 0; }
  bool contains(Register reg) const { return stamps_[reg.value()] == now_; }

 private:
  std::vector<uint32_t> stamps_;
  uint32_t now_ = 1;
};

}  // namespace baton::lir
