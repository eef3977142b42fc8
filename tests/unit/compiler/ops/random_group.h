// Random groups of operators that become one kernel.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/compiler/ops/group_program.h"

namespace baton::ops::test {

struct RandomGroup {
  GroupProgram program;
  std::vector<Tensor> inputs;
  std::optional<std::string> broken;  ///< an obligation that does not hold
  Outcome expected;
  std::string text;  ///< for messages
};

/// Null for a group whose types do not fit. The same seed makes the same group.
std::unique_ptr<RandomGroup> randomGroup(uint64_t seed);

}  // namespace baton::ops::test
