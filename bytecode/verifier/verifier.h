// The verifier: proves of a program what the interpreter relies on without looking. Nothing
// runs that it has not passed. Time is close to linear in the code; memory is bounded.
//
// Proven of every function: operands in range and of their kind on every path, registers
// defined before use and not used after a move, reference registers that are full or empty
// the same way on all paths to a block, never overwritten while full and empty at every
// return, branch targets, arity and kinds of calls, kernels, closures, constructors, fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"
#include "bytecode/verifier/rules.h"

namespace baton::bytecode {

struct Violation {
  Rule rule = Rule::KindIndex;
  std::string message;                    ///< found and expected
  std::optional<FunctionIndex> function;  ///< nothing: a table
  std::optional<uint32_t> pc;             ///< word in the function
};

inline constexpr size_t kDefaultViolationLimit = 1000;

/// All violations, up to a limit, in order of tables and then functions. Those of code are
/// looked for only when the tables have none.
std::vector<Violation> findViolations(const Program& program, size_t limit = kDefaultViolationLimit);

/// "use-after-move: r1 is read after its last use, in @main at word 12: `r2 = move r1!`".
std::string describeViolation(const Program& program, const Violation& violation);
/// The same for all of them, at the price of one.
std::vector<std::string> describeViolations(const Program& program, const std::vector<Violation>& violations);

/// VerifyFailed with the first violation.
Result<void> verify(const Program& program);

}  // namespace baton::bytecode
