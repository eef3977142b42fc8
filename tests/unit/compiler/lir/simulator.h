// Runs low-level form, before or after register allocation, over integers and counted
// objects, and checks ownership: a moved-from register is never read, nothing is
// overwritten while it holds a reference, nothing is left over at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lir/lir.h"

namespace baton::lir::test {

struct Outcome {
  std::string problem;           ///< empty: ran to a `ret`
  std::vector<int64_t> scalars;  ///< results
  std::vector<int64_t> objects;  ///< results: the numbers that the objects were made with
  uint64_t moves = 0;            ///< moves executed
};

/// Parameters are given per bank; objects are made with these numbers. `checkOwnership` needs
/// last uses. Understands the instructions that the tests use: see simulator.cc.
Outcome simulate(const Function& function, const std::vector<int64_t>& scalars,
                 const std::vector<int64_t>& objects, bool checkOwnership);

}  // namespace baton::lir::test
