// Hashes of what the IR consists of. Equal parts of one module have equal hashes; those of
// different runs of the compiler need not be the same.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Gathers one hash from parts that are added in order.
class IrHash {
 public:
  void add(uint64_t value) {
    value *= 0x9e3779b97f4a7c15ULL;
    value ^= value >> 32;
    state_ = (std::rotl(state_, 5) ^ value) * 0xff51afd7ed558ccdULL;
  }
  void add(std::string_view text) { add(uint64_t{std::hash<std::string_view>{}(text)}); }
  void add(const ir::Atom& atom) {
    add(static_cast<uint64_t>(atom.kind()));
    add(uint64_t{atom.isVar()        ? atom.var().value()
                 : atom.isConstant() ? atom.constant().value()
                                     : atom.global().value()});
  }
  void add(const DimExpr& expr) { add(uint64_t{expr.hash()}); }
  void add(ir::TypeRef type) { add(type == nullptr ? uint64_t{UINT32_MAX} : uint64_t{type->id()}); }
  void add(const ir::Attrs& attrs) {
    for (const auto& [name, value] : attrs.entries()) {
      add(std::string_view(name));
      add(uint64_t{value.index()});
      std::visit([&](const auto& held) { addHeld(held); }, value);
    }
  }
  uint64_t value() const { return state_; }

 private:
  void addHeld(std::monostate) {}
  void addHeld(bool held) { add(uint64_t{held}); }
  void addHeld(int64_t held) { add(static_cast<uint64_t>(held)); }
  void addHeld(double held) { add(std::bit_cast<uint64_t>(held)); }
  void addHeld(DType held) { add(static_cast<uint64_t>(held)); }
  void addHeld(const std::string& held) { add(std::string_view(held)); }
  void addHeld(const DimExpr& held) { add(held); }
  template <class T>
  void addHeld(const std::vector<T>& held) {
    add(uint64_t{held.size()});
    for (const T& each : held) addHeld(each);
  }

  uint64_t state_ = 0;
};

}  // namespace baton::passes
