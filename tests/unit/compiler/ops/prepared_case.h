// A random call of an operator as a program, and what the reference version gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/compiler/ops/group_program.h"
#include "tests/unit/compiler/ops/operator_cases.h"

namespace baton::ops::test {

/// The call as a program, with constants and symbols as extents, and what it gives.
struct PreparedCase {
  GroupProgram program;
  std::vector<Tensor> inputs;         ///< of the program
  std::optional<std::string> broken;  ///< an obligation that does not hold
  Outcome expected;
};
/// More than the reference version would hold.
bool isTooLarge(const Outcome& outcome);
/// Builds and evaluates. Check `program.typeError()` first.
void prepare(PreparedCase& prepared, const OpDef& op, const Case& c, Unknown unknown);

}  // namespace baton::ops::test
