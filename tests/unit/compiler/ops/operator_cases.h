// Random calls of every operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/op.h"
#include "tests/unit/compiler/ops/random_tensors.h"

namespace baton::ops::test {

/// Operators that become loops, those that are written with others before, and kernels of the runtime.
std::vector<const OpDef*> loweredOperators();
std::vector<const OpDef*> legalisedOperators();
std::vector<const OpDef*> libraryOperators();

/// One call: inputs by value, some of which are constants of the program.
struct Case {
  std::vector<Tensor> inputs;
  ir::Attrs attrs;
  std::vector<bool> isConstant = {};  ///< by input; shorter means no
};

/// Which extents of the inputs of a call only the run tells.
class Unknown {
 public:
  /// All, or none.
  constexpr Unknown(bool all) : axes_(all ? ~uint64_t{0} : 0) {}
  /// All, none, and any mix in turn.
  static Unknown in(uint64_t round);
  /// Of an axis, by its number when those of all inputs are counted.
  bool at(size_t axis) const { return (axes_ >> axis % 64 & 1) != 0; }
  /// "", " symbolic", or a mix.
  std::string text() const;

 private:
  uint64_t axes_;
};

/// `round` 0, 1, ... of an operator.
Case makeCase(const OpDef& op, uint64_t round);
/// The same with one of the extents 0 and the others huge, so that no tensor that is not constant
/// has an element or none is changed; nothing where that cannot be.
std::optional<Case> withoutElements(const Case& c, uint64_t round);
/// For messages.
std::string describe(const OpDef& op, const Case& c);

}  // namespace baton::ops::test
