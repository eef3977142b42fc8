// Operators that are in scope, found by what they compute.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/alias.h"

namespace baton::passes {

/// Operator bindings of one function while it is walked in program order.
class CommonOperators {
 public:
  /// Extents are compared with what `aliases` knows of them.
  explicit CommonOperators(const AliasTypes& aliases) : aliases_(aliases) {}

  /// The variable of an operator with the same operands, attributes and obligations that is in
  /// scope. When there is none, the binding, an operator, is in scope from now on.
  std::optional<ir::VarId> findOrAdd(const ir::Binding& binding);

  /// Where a block begins, and the return to there when it ends: what was added since is no
  /// longer in scope.
  size_t mark() const { return added_.size(); }
  void takeBack(size_t mark);

 private:
  bool hasSameObligations(const ir::Binding& a, const ir::Binding& b) const;

  const AliasTypes& aliases_;
  std::unordered_map<uint64_t, std::vector<ir::Binding>> byHash_;
  std::vector<uint64_t> added_;  // their hashes, in order
};

}  // namespace baton::passes
