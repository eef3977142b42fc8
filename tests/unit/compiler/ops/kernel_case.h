// Calls of operators, and groups of them, as kernels that something is to run: their inputs and what the
// reference versions give.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/compiler/ops/prepared_case.h"
#include "tests/unit/compiler/ops/random_group.h"

namespace baton::ops::test {

struct KernelCase {
  GroupProgram* program = nullptr;
  std::vector<Tensor> inputs;
  Outcome expected;
  std::string text;
  LoweredKernel lowered;
  // Whatever owns the program.
  std::unique_ptr<PreparedCase> call;
  std::unique_ptr<RandomGroup> group;
};
using KernelCases = std::vector<KernelCase>;

/// Register tiles of both kinds, in turn.
bool isNarrowIn(uint64_t round);
/// Nothing for a case that never comes to run.
std::optional<KernelCase> kernelCase(const OpDef& op, const Case& c, Unknown unknown, bool isNarrow);
std::optional<KernelCase> kernelCaseOfGroup(uint64_t seed);
/// Results without elements whose other extents, or inputs that nobody has to look at, are not what they
/// should be if there were some.
KernelCases casesWithoutElements();
/// The kernels of cases, with names of their own.
std::vector<loop::Kernel> kernelsOf(const KernelCases& cases);
/// Checks what a kernel gives against what is expected, and that it touches no memory but its own.
void runCase(KernelCase& each, const KernelRunner& kernel);

}  // namespace baton::ops::test
