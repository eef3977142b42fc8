#include <random>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "compiler/lir/cfg.h"
#include "compiler/lir/liveness.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/parser.h"

namespace baton::lir {
namespace {

Function parseOne(std::string_view text) {
  Result<Module> module = parseModule(text);
  REQUIRE(module.has_value());
  return module.assume_value().functions[0];
}

std::vector<uint32_t> numbers(std::span<const BlockId> blocks) {
  std::vector<uint32_t> result;
  for (BlockId block : blocks) result.push_back(block.value());
  return result;
}
std::vector<uint32_t> numbers(std::span<const Register> registers) {
  std::vector<uint32_t> result;
  for (Register reg : registers) result.push_back(reg.value());
  return result;
}

// Two nested loops; the exit of the inner one is written before its body.
constexpr const char* kNest = R"(func @f signature<0> {
b0(%0: bool, %9: i64):
  jump b1
b1:
  branch %0, b2, b6
b2:
  jump b3
b3:
  branch %0, b5, b4
b4:
  %1: i64 = add.i64 %9, %9
  jump b3
b5:
  jump b1
b6:
  ret (%9), ()
b7:
  jump b6
}
)";

TEST_CASE("loops stay together, dominators come first, what cannot be reached is left out") {
  const Function function = parseOne(kNest);
  const ControlFlow flow(function);
  CHECK(numbers(flow.order()) == std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(!flow.isReachable(BlockId(7)));
  CHECK(numbers(flow.predecessors(BlockId(6))) == std::vector<uint32_t>{1});
  CHECK(flow.dominator(BlockId(0)) == kNoBlock);
  CHECK(flow.dominator(BlockId(5)) == BlockId(3));
  CHECK(flow.dominator(BlockId(6)) == BlockId(1));
  CHECK(flow.dominates(BlockId(1), BlockId(4)));
  CHECK(flow.dominates(BlockId(4), BlockId(4)));
  CHECK(!flow.dominates(BlockId(4), BlockId(5)));
  CHECK(flow.loopHeader(BlockId(4)) == BlockId(3));
  CHECK(flow.loopHeader(BlockId(5)) == BlockId(1));
  CHECK(flow.loopHeader(BlockId(3)) == BlockId(3));
  CHECK(flow.outerLoop(BlockId(3)) == BlockId(1));
  CHECK(flow.loopHeader(BlockId(6)) == kNoBlock);
}

TEST_CASE("values live round a loop are live in all of it") {
  const Function function = parseOne(kNest);
  const ControlFlow flow(function);
  const Liveness liveness(function, flow);
  CHECK(numbers(liveness.liveIn(BlockId(0))).empty());
  for (uint32_t block : {1, 2, 3, 4, 5})
    CHECK(numbers(liveness.liveIn(BlockId(block))) == std::vector<uint32_t>{0, 9});
  CHECK(numbers(liveness.liveIn(BlockId(6))) == std::vector<uint32_t>{9});
}

/// A block for each number, with jumps to any other but the entry, and one value defined in each that
/// blocks which it dominates use.
Function randomFunction(std::mt19937& random, uint32_t count) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  std::vector<std::string> ends;
  for (uint32_t b = 0; b < count; ++b) {
    const auto target = [&] { return 1 + below(count - 1); };
    ends.push_back(below(5) == 0 ? "ret (%0), ()" : fmt::format("branch %100, b{}, b{}", target(), target()));
  }
  const auto text = [&](const std::vector<std::vector<uint32_t>>& uses) {
    std::string out = "func @f signature<0> {\n";
    for (uint32_t b = 0; b < count; ++b) {
      out += b == 0 ? "b0(%100: bool, %101: i64):\n" : fmt::format("b{}:\n", b);
      out += fmt::format("  %{}: i64 = add.i64 %101, %101\n", b);
      for (size_t i = 0; i < uses[b].size(); ++i)
        out += fmt::format("  %{}: i64 = add.i64 %{}, %101\n", 1000 + 100 * b + i, uses[b][i]);
      out += fmt::format("  {}\n", ends[b]);
    }
    return out + "}\n";
  };
  std::vector<std::vector<uint32_t>> uses(count);
  const Function plain = parseOne(text(uses));
  const ControlFlow flow(plain);
  for (uint32_t b = 0; b < count; ++b)
    for (uint32_t def = 0; def < count; ++def)
      if (flow.isReachable(BlockId(b)) && flow.isReachable(BlockId(def)) && below(4) == 0 &&
          flow.dominates(BlockId(def), BlockId(b)))
        uses[b].push_back(def);
  return parseOne(text(uses));
}

/// By its definition: a register is live into the blocks from which a use is reached without passing
/// its definition.
std::vector<std::set<uint32_t>> liveByDefinition(const Function& function, const ControlFlow& flow) {
  std::vector<std::set<uint32_t>> defined(function.blocks.size());
  for (BlockId id : flow.order()) {
    for (Register param : function.block(id).params) defined[id.value()].insert(param.value());
    for (const Instruction& instruction : function.block(id).instructions)
      forEachDef(function, instruction,
                 [&](uint64_t slot, OperandKind) { defined[id.value()].insert(registerOf(slot).value()); });
  }
  std::vector<std::set<uint32_t>> live(function.blocks.size());
  const auto reach = [&](BlockId use, Register reg) {
    std::vector<BlockId> work{use};
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      if (defined[block.value()].contains(reg.value()) || !live[block.value()].insert(reg.value()).second)
        continue;
      for (BlockId predecessor : flow.predecessors(block)) work.push_back(predecessor);
    }
  };
  for (BlockId id : flow.order())
    for (const Instruction& instruction : function.block(id).instructions)
      forEachUse(function, instruction, [&](uint64_t slot, OperandKind) { reach(id, registerOf(slot)); });
  return live;
}

TEST_CASE("what is live is what the definition says, in loops of several entries as well") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Function function = randomFunction(random, 2 + static_cast<uint32_t>(round % 19));
    const ControlFlow flow(function);
    const Liveness liveness(function, flow);
    const std::vector<std::set<uint32_t>> expected = liveByDefinition(function, flow);
    for (BlockId id : flow.order()) {
      INFO("round " << round << ", block " << id.value());
      const std::set<uint32_t>& live = expected[id.value()];
      CHECK(numbers(liveness.liveIn(id)) == std::vector<uint32_t>(live.begin(), live.end()));
    }
  }
}

TEST_CASE("laying out renumbers the targets") {
  Function function = parseOne(R"(func @f signature<0> {
b0(%0: bool):
  branch %0, b3, b2
b1:
  ret (), ()
b2:
  jump b1
b3:
  jump b1
}
)");
  layOutBlocks(function);
  REQUIRE(function.blocks.size() == 4);
  CHECK(fixedOperand(function, function.blocks[0].instructions[0], 1) == 1);
  CHECK(fixedOperand(function, function.blocks[0].instructions[0], 2) == 2);
  CHECK(fixedOperand(function, function.blocks[1].instructions[0], 0) == 3);
  CHECK(function.blocks[3].instructions[0].opcode == Opcode::Ret);
}

TEST_CASE("a chain of 50,000 blocks needs no deep stack") {
  std::string text = "func @f signature<0> {\nb0(%0: bool):\n  branch %0, b1, b2\n";
  constexpr int kCount = 25000;
  for (int i = 0; i < kCount; ++i) {
    const int b = 2 * i + 1;
    text += "b" + std::to_string(b) + ":\n  ret (), ()\nb" + std::to_string(b + 1) + ":\n";
    text += i + 1 < kCount ? "  branch %0, b" + std::to_string(b + 2) + ", b" + std::to_string(b + 3) + "\n"
                           : "  ret (), ()\n";
  }
  const Function function = parseOne(text + "}\n");
  const ControlFlow flow(function);
  CHECK(flow.order().size() == 2 * kCount + 1);
  CHECK(flow.dominates(kEntryBlock, BlockId(2 * kCount)));
  CHECK(Liveness(function, flow).liveIn(BlockId(2 * kCount - 2)).size() == 1);
}

}  // namespace
}  // namespace baton::lir
