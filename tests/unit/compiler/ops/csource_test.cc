// Every operator, and random groups, as C give the bits of the reference versions: a second opinion of what
// native_test.cc tests.
#include <catch2/catch.hpp>
#include <optional>

#include "tests/unit/compiler/ops/kernel_case.h"
#include "tests/unit/compiler/ops/random_tensors.h"
#include "tests/unit/compiler/ops/rounds.h"
#include "tests/unit/kernels/c_harness.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

namespace {

void runAsC(KernelCases& cases) {
  const Result<baton::testing::LoadedSource> loaded =
      baton::testing::LoadedSource::make(kernelsOf(cases), "-O0");
  if (!loaded.has_value()) FAIL(loaded.assume_error().message());
  for (size_t i = 0; i < cases.size(); ++i) runCase(cases[i], loaded.assume_value().function(i));
  cases.clear();
}

}  // namespace

TEST_CASE("every operator: C and reference version agree") {
  const Rounds some = rounds(4);
  KernelCases cases;
  size_t total = 0;
  for (const OpDef* op : loweredOperators()) {
    uint64_t kept = 0;
    for (uint64_t round = some.first; round < some.first + 7 * some.count && kept < some.count; ++round) {
      std::optional<KernelCase> each =
          kernelCase(*op, makeCase(*op, round), round % 2 == 0, isNarrowIn(round / 2));
      if (!each) continue;
      each->text += " round " + std::to_string(round);
      cases.push_back(*std::move(each));
      ++kept;
      ++total;
      if (cases.size() == 200) runAsC(cases);
    }
  }
  runAsC(cases);
  CHECK(total > 85 * some.count);
}

TEST_CASE("results without elements: C and reference version agree") {
  KernelCases cases = casesWithoutElements();
  runAsC(cases);
}

TEST_CASE("random groups: C and one by one agree") {
  const Rounds some = rounds(120);
  KernelCases cases;
  for (uint64_t seed = some.first; seed < some.first + some.count; ++seed)
    if (std::optional<KernelCase> each = kernelCaseOfGroup(seed)) cases.push_back(*std::move(each));
  CHECK(!cases.empty());
  runAsC(cases);
}
