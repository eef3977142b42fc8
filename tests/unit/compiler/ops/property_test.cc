// Every operator on random shapes, types and attributes: what the relations say, what the
// reference version gives and what the interpreted kernel gives agree, with static extents
// and with extents that only the run tells.
#include <catch2/catch.hpp>

#include <iterator>

#include "kernels/loop/printer.h"
#include "tests/unit/compiler/ops/prepared_case.h"
#include "tests/unit/compiler/ops/rounds.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

namespace {

/// Whether it came to run. `isPlain`: without its schedule.
bool runCase(const OpDef& op, const Case& c, Unknown unknown, bool isPlain,
             GuardedBuffer::Side side = GuardedBuffer::Side::End) {
  INFO(describe(op, c) << unknown.text());
  PreparedCase prepared;
  prepare(prepared, op, c, unknown);
  GroupProgram& program = prepared.program;
  const std::vector<Tensor>& inputs = prepared.inputs;
  const Outcome& expected = prepared.expected;
  const std::optional<std::string> typeError = program.typeError();
  if (typeError) {
    // Certainly wrong with any extents is wrong with these.
    std::vector<TensorView> views;
    for (const Tensor& input : c.inputs) views.push_back(input.view());
    ir::Attrs complete = defaultAttrs(op);
    for (const auto& [key, value] : c.attrs.entries()) complete.set(key, value);
    const auto reference = evaluateReference(op, complete, views);
    INFO(*typeError);
    CHECK(!reference);
    return false;
  }
  if (prepared.broken) {
    CHECK(expected.error != std::nullopt);
    return false;
  }
  if (isTooLarge(expected)) return false;
  const auto lowered = isPlain ? program.lowerPlain() : program.lower();
  if (!lowered) FAIL(lowered.assume_error().message());
  if (expected.error) {
    if (op.failure == FailureKind::Never) FAIL(*expected.error);
    const Outcome shapes{program.emptyResults(inputs), std::nullopt};
    CHECK(program.interpret(lowered.assume_value(), inputs, shapes).error != std::nullopt);
    return false;
  }
  const Outcome found = program.interpret(lowered.assume_value(), inputs, expected, side);
  if (found.error) FAIL(*found.error << "\n" << loop::print(lowered.assume_value().kernel));
  for (size_t i = 0; i < expected.results.size(); ++i) {
    const std::string differs = difference(expected.results[i], found.results[i]);
    if (!differs.empty()) FAIL(differs << "\n" << loop::print(lowered.assume_value().kernel));
  }
  return true;
}

}  // namespace

TEST_CASE("every operator: kernel and reference version agree") {
  const Rounds some = rounds(60);
  for (const OpDef* op : loweredOperators()) {
    DYNAMIC_SECTION(op->name) {
      for (uint64_t round = some.first; round < some.first + some.count; ++round)
        runCase(*op, makeCase(*op, round), Unknown::in(round), round % 3 == 0,
                GuardedBuffer::kSides[round / 6 % std::size(GuardedBuffer::kSides)]);
    }
  }
}

// Loops over the huge extents would take until the test is ended.
TEST_CASE("every operator: tensors without elements take no time, whatever their other extents") {
  const Rounds some = rounds(30);
  uint64_t count = 0;
  for (const OpDef* op : loweredOperators())
    for (uint64_t round = some.first; round < some.first + some.count; ++round)
      if (const std::optional<Case> c = withoutElements(makeCase(*op, round), round))
        count += runCase(*op, *c, round % 3 != 0, round % 2 == 0) ? 1 : 0;
  CHECK(count > 700 * some.count / 30);
}
