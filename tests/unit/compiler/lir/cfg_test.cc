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
