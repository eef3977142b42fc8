// Where tuples and data of a function come from and what becomes of them, through branches,
// joins and aliases: each variable's value is one that is made, or one that is given.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Of variables that the function had when this was made; bindings may have moved since.
class ValueFlow {
 public:
  explicit ValueFlow(const ir::Function& function);

  /// Whether a tuple or data that the function makes may be the value of the variable.
  bool mayBeMade(ir::VarId var) const { return sources_[var.value()].isMade; }
  /// Whether all values of the variable are data that the function makes, of one constructor.
  bool hasOneConstructor(ir::VarId var) const {
    return sources_[var.value()].constructor.has_value() && !sources_[var.value()].isMixed;
  }
  /// Whether the variable and those that get its value are only taken apart, by projections
  /// and matches: no function, operator, cell or other value holds it, and nothing returns it.
  bool isTakenApart(ir::VarId var) const { return !escapes_[var.value()]; }
  /// The data that the atom is known to be, aliases followed; null when it is not. Its
  /// fields are in scope where the atom is.
  const ir::Construct* madeData(ir::Atom atom) const;

 private:
  struct Sources {
    bool isMade = false;
    bool isMixed = false;  ///< some are given, or of another constructor
    std::optional<ir::ConstructorRef> constructor;
  };
  struct Edge {
    uint32_t from;
    uint32_t to;
  };
  /// Ends of blocks follow the variables.
  uint32_t endOf(ir::BlockId block) const { return static_cast<uint32_t>(varCount_ + block.value()); }
  void flow(ir::Atom from, uint32_t to);
  void look(const ir::Function& function, ir::BlockId block, const ir::Binding& binding,
            std::unordered_map<ir::VarId, const ir::Lambda*>& joins);
  void settle();
  static bool add(Sources& to, const Sources& from);

  size_t varCount_;
  std::vector<Edge> edges_;
  std::vector<Sources> sources_;  // by node
  std::vector<bool> escapes_;
  std::vector<ir::Construct> data_;
  std::unordered_map<ir::VarId, uint32_t> dataOf_;  // into data_; looked up only
};

}  // namespace baton::passes
