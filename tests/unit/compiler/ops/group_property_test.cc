// Random groups of operators: one kernel gives the bits that the operators give one by one.
#include <catch2/catch.hpp>

#include "kernels/loop/printer.h"
#include "tests/unit/compiler/ops/random_group.h"
#include "tests/unit/compiler/ops/rounds.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

namespace {

/// `isPlain`: without its schedule.
void compare(RandomGroup& group, bool isPlain) {
  INFO(group.text);
  const Outcome& expected = group.expected;
  if (group.broken) {
    CHECK(expected.error != std::nullopt);
    return;
  }
  if (expected.error) FAIL(*expected.error);
  const auto lowered = isPlain ? group.program.lowerPlain() : group.program.lower();
  if (!lowered) FAIL(lowered.assume_error().message());
  const Outcome found = group.program.interpret(lowered.assume_value(), group.inputs, expected);
  if (found.error) FAIL(*found.error << "\n" << loop::print(lowered.assume_value().kernel));
  for (size_t i = 0; i < expected.results.size(); ++i) {
    const std::string differs = difference(expected.results[i], found.results[i]);
    if (!differs.empty()) FAIL(differs << "\n" << loop::print(lowered.assume_value().kernel));
  }
  CHECK(expected.results.size() == found.results.size());
}

}  // namespace

TEST_CASE("random groups: fused and one by one agree") {
  const Rounds some = rounds(1500);
  for (uint64_t seed = some.first; seed < some.first + some.count; ++seed)
    if (const auto group = randomGroup(seed)) compare(*group, seed % 3 == 0);
}
