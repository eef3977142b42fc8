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

/// `round` 0, 1, ... of an operator.
Case makeCase(const OpDef& op, uint64_t round);
/// The same with one of the extents 0 and the others huge, so that no tensor that is not constant
/// has an element or none is changed; nothing where that cannot be.
std::optional<Case> withoutElements(const Case& c, uint64_t round);
/// For messages.
std::string describe(const OpDef& op, const Case& c);

}  // namespace baton::ops::test
