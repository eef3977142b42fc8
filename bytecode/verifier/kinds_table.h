// Numbers for kinds while a program is verified.
#pragma once

#include <unordered_map>
#include <vector>

#include "bytecode/kind.h"
#include "bytecode/verifier/register_state.h"

namespace baton::bytecode {

class KindsTable final : public KindJoiner {
 public:
  RegisterValue valueOf(const Kind& kind) {
    const auto [found, isNew] =
        values_.try_emplace(kind, kFirstKind + static_cast<RegisterValue>(kinds_.size()));
    if (isNew) kinds_.push_back(kind);
    return found->second;
  }
  /// Of a value that is a kind.
  const Kind& kindOf(RegisterValue value) const { return kinds_[value - kFirstKind]; }

  /// Closures of one signature join to the plain closure.
  RegisterValue joinReferences(RegisterValue a, RegisterValue b) override {
    Kind plain = kindOf(a);
    plain.function.reset();
    return isAssignable(kindOf(b), plain) ? valueOf(plain) : kInconsistent;
  }

 private:
  struct Hash {
    size_t operator()(const Kind& kind) const {
      uint64_t bits = static_cast<uint64_t>(kind.tag) | static_cast<uint64_t>(kind.dtype) << 8 |
                      uint64_t{kind.rank} << 16 | uint64_t{kind.device} << 24 | uint64_t{kind.index} << 32;
      if (kind.function) bits ^= (uint64_t{kind.function->value()} + 1) * 0x9E3779B97F4A7C15u;
      return static_cast<size_t>(bits * 0xD6E8FEB86659FD93u >> 16);
    }
  };
  std::unordered_map<Kind, RegisterValue, Hash> values_;
  std::vector<Kind> kinds_;
};

}  // namespace baton::bytecode
