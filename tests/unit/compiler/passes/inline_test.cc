#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

TEST_CASE("a small function becomes its body, in the extents of the caller", "[inline]") {
  Program program(R"(
def @twice(%x: Tensor[(k, 4), float32]) -> Tensor[(k, 4), float32] { tanh(tanh(%x)) }
def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) -> (Tensor[(n, 4), float32], Tensor[(m, 4), float32]) {
  (@twice(%x), @twice(%y))
})");
  program.run({"inline", "propagate", "dead-code"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::CallGlobal>(main) == 0);
  const auto calls = bindingsOf<ir::CallOp>(main);
  REQUIRE(calls.size() == 4);
  CHECK(main.var(calls[0]->var).type == main.var(main.params[0]).type);
  CHECK(main.var(calls[3]->var).type == main.var(main.params[1]).type);
  CHECK(count<ir::AtomRhs>(main) == 0);
}

TEST_CASE("extents that a callee finds out are new for each copy", "[inline]") {
  Program program(R"(
def @grow(%x: Tensor[(k,), float32], %b: bool) -> Tensor[(?,), float32] {
  if (%b) { concatenate((%x, %x)) } else { %x }
}
def @main(%x: Tensor[(n,), float32], %b: bool) -> (Tensor[(?,), float32], Tensor[(?,), float32]) {
  (@grow(%x, %b), @grow(%x, True))
})");
  program.run({"inline"});
  const ir::Function& main = program.function("main");
  const auto branches = bindingsOf<ir::If>(main);
  REQUIRE(branches.size() == 2);
  CHECK_FALSE(main.var(branches[0]->var).type == main.var(branches[1]->var).type);
}

TEST_CASE("recursive functions are not inlined", "[inline]") {
  Program program(R"(
def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }
def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }
def @fact(%n: int32) -> int32 { if (%n == 0) { 1 } else { %n * @fact(%n - 1) } }
def @main(%n: int32) -> (bool, int32) { (@even(%n), @fact(%n)) })");
  program.run({"inline"});
  CHECK(count<ir::CallGlobal>(program.function("main")) == 2);
}

TEST_CASE("a large function is inlined only for its one caller", "[inline]") {
  std::string body = "%x";
  for (int i = 0; i < 60; ++i) body += " + %x * " + std::to_string(i + 2);
  Program once("def @big(%x: int32) -> int32 { " + body + " }\ndef @main(%x: int32) -> int32 { @big(%x) }");
  once.run({"inline"});
  CHECK(count<ir::CallGlobal>(once.function("main")) == 0);
  Program twice("def @big(%x: int32) -> int32 { " + body +
                " }\ndef @main(%x: int32) -> int32 { @big(%x) + @big(3) }");
  twice.run({"inline"});
  CHECK(count<ir::CallGlobal>(twice.function("main")) == 2);
}

TEST_CASE("a callee that is a loop is inlined into a block of its own", "[inline]") {
  Program program(R"(
def @sum(%i: int32, %acc: int32) -> int32 { if (%i == 0) { %acc } else { @sum(%i - 1, %acc + %i) } }
def @main(%n: int32) -> int32 { @sum(%n, 0) * 2 })");
  program.run({"make-loops", "inline"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::CallGlobal>(main) == 0);
  CHECK(count<ir::NestedBlock>(main) == 1);
  CHECK(std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs).isLoop);
}

TEST_CASE("the checks of a call come before the body of the callee", "[inline]") {
  Program program(R"(
def @both(%x: Tensor[(k,), float32], %y: Tensor[(k,), float32]) -> Tensor[(k,), float32] { %x + %y }
def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) -> Tensor[(?,), float32] { @both(%x, %y) })");
  program.run({"inline"});
  const ir::Function& main = program.function("main");
  const auto& bindings = main.block(main.body).bindings;
  REQUIRE_FALSE(bindings.empty());
  CHECK(bindings[0].obligations.size() == 1);
  CHECK(std::holds_alternative<ir::MakeTuple>(bindings[0].rhs));
  program.run({"propagate", "dead-code"});
  CHECK(program.function("main").block(main.body).bindings[0].obligations.size() == 1);
}

TEST_CASE("a known function as argument gets a copy in which it is called directly", "[specialise-calls]") {
  Program program(R"(
import "prelude"
def @main(%xs: List[int32], %k: int32) -> List[int32] {
  @map(fn (%x: int32) -> int32 { %x * %k }, @map(fn (%x: int32) -> int32 { %x + %k }, %xs))
})");
  program.run({"flatten-matches", "specialise-calls", "dead-functions", "contify", "lift-lambdas",
               "propagate", "propagate", "dead-code"});
  CHECK_FALSE(program.module.findFunction("map").has_value());
  const ir::Function& first = program.function("map_1");
  const ir::Function& second = program.function("map_2");
  for (const ir::Function* copy : {&first, &second}) {
    CHECK(count<ir::CallValue>(*copy) == 0);
    CHECK(count<ir::Lambda>(*copy) == 0);
    REQUIRE(copy->params.size() == 2);
    CHECK(copy->var(copy->params[0]).name == "k");
    // The recursive call is of the copy itself.
    const auto& self = std::get<ir::CallGlobal>(bindingsOf<ir::CallGlobal>(*copy)[0]->rhs);
    CHECK(&program.module.function(self.callee) == copy);
  }
  CHECK(count<ir::Lambda>(program.function("main")) == 0);
}

TEST_CASE("a function of the module as argument is known, too", "[specialise-calls]") {
  Program program(R"(
import "prelude"
def @inc(%x: int32) -> int32 { %x + 1 }
def @main(%xs: List[int32]) -> List[int32] { @map(@inc, %xs) })");
  program.run({"specialise-calls", "dead-functions"});
  const ir::Function& copy = program.function("map_1");
  CHECK(copy.params.size() == 1);
  CHECK(count<ir::CallValue>(copy) + count<ir::CallGlobal>(copy) == 2);
}

TEST_CASE("functions within functions within data: map over trees", "[specialise-calls]") {
  Program program(R"(
import "prelude"
def @main(%t: Tree[int32], %k: int32) -> Tree[int32] { @tmap(fn (%x: int32) -> int32 { %x + %k }, %t) })");
  program.run({"flatten-matches", "specialise-calls", "dead-functions", "contify", "lift-lambdas",
               "propagate", "propagate", "dead-code", "dead-functions"});
  for (const ir::Function& function : program.module.functions) {
    INFO(program.text(function.name));
    CHECK(count<ir::CallValue>(function) == 0);
    CHECK(count<ir::Lambda>(function) == 0);
  }
}

TEST_CASE("a weight is built into a copy, through any depth of calls", "[specialise-calls]") {
  Program program(R"(
def @cell(%x: Tensor[(n, 2), float32], %w: Tensor[(2, 2), float32]) -> Tensor[(n, 2), float32] { tanh(nn.dense(%x, %w)) }
def @run(%i: int32, %x: Tensor[(n, 2), float32], %w: Tensor[(2, 2), float32]) -> Tensor[(n, 2), float32] {
  if (%i == 0) { %x } else { @run(%i - 1, @cell(%x, %w), %w) }
}
def @main(%x: Tensor[(n, 2), float32], %i: int32) -> Tensor[(n, 2), float32] {
  @run(%i, %x, zeros(shape=[2, 2], dtype="float32"))
})");
  // A constant of two dimensions, as folding would make it.
  ir::Constant weight{.dtype = DType::F32, .shape = {2, 2}};
  weight.bytes.resize(16);
  const ir::ConstantId id = program.module.addConstant(std::move(weight));
  ir::Function& main = program.module.function(*program.module.findFunction("main"));
  for (ir::Block& block : main.blocks)
    for (ir::Binding& binding : block.bindings)
      if (auto* call = std::get_if<ir::CallGlobal>(&binding.rhs)) call->args[2] = id;
  program.run({"specialise-calls", "dead-functions"});
  const ir::Function& run = program.function("run_1");
  CHECK(run.params.size() == 2);
  const ir::Function& cell = program.function("cell_1");
  REQUIRE(cell.params.size() == 1);
  const auto& dense = std::get<ir::CallOp>(bindingsOf<ir::CallOp>(cell)[0]->rhs);
  CHECK(dense.args[1] == ir::Atom(id));
  CHECK_FALSE(program.module.findFunction("cell").has_value());
}

TEST_CASE("a constant weight is packed once for all its products", "[pack-weights]") {
  Program program(R"(
def @main(%x: Tensor[(n, 3), float32]) -> (Tensor[(n, 100), float32], Tensor[(n, 100), float32], Tensor[(n, 4), float32]) {
  let %w = zeros(shape=[100, 3], dtype="float32");
  (nn.dense(%x, %w), nn.dense(tanh(%x), %w), nn.dense(%x, zeros(shape=[4, 3], dtype="float32")))
})");
  program.run({"fold-constants", "dead-code", "pack-weights", "dead-functions"});
  const std::string text = program.text("main");
  CHECK(occurrences(text, "nn.dense_packed(") == 2);
  CHECK(occurrences(text, "units=100") == 2);
  // Four rows would be mostly filling.
  CHECK(occurrences(text, "nn.dense(") == 1);
  size_t panels = 0;
  for (const ir::Constant& constant : program.module.constants)
    if (constant.shape == std::vector<int64_t>{2, 3, 64}) ++panels;
  CHECK(panels == 1);
}

TEST_CASE("a weight that only the run knows is not packed", "[pack-weights]") {
  Program program(R"(
param @w : Tensor[(100, 3), float32] = "w"
def @main(%x: Tensor[(n, 3), float32], %v: Tensor[(100, 3), float32]) -> (Tensor[(n, 100), float32], Tensor[(n, 100), float32]) {
  (nn.dense(%x, %v), nn.dense(%x, @w))
})");
  program.run({"pack-weights"});
  CHECK(occurrences(program.text("main"), "nn.dense(") == 2);
}

TEST_CASE("a chain of functions is copied once, from its head", "[inline]") {
  std::string text = "def @f0(%x: int64) -> int64 { %x + 1i64 }\n";
  for (int i = 1; i < 1500; ++i)
    text += "def @f" + std::to_string(i) + "(%x: int64) -> int64 { @f" + std::to_string(i - 1) +
            "(%x * 3i64) }\n";
  Program program(text + "def @main(%x: int64) -> int64 { @f1499(%x) }");
  const size_t symbols = program.module.dimSymbols.size();
  program.run({"inline"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::CallGlobal>(main) == 0);
  CHECK(count<ir::CallOp>(main) == 1500);
  CHECK(program.module.inlineSites.size() == 1500);
  CHECK(program.module.dimSymbols.size() == symbols);
}

TEST_CASE("what does not fit into its one caller takes in what it calls itself", "[inline]") {
  std::string body = "%x";
  for (int i = 0; i < 900; ++i) body += " + %x";
  std::string text = "def @f0(%x: int64) -> int64 { " + body + " }\n";
  for (int i = 1; i < 5; ++i)
    text += "def @f" + std::to_string(i) + "(%x: int64) -> int64 { let %y = @f" + std::to_string(i - 1) +
            "(%x); " + body + " + %y }\n";
  Program program(text + "def @main(%x: int64) -> int64 { @f4(%x) }");
  program.run({"inline", "dead-functions"});
  REQUIRE(program.module.functions.size() == 3);  // main with two of them, two others, and the last
  CHECK(count<ir::CallOp>(program.function("main")) == 2 * 901);
  CHECK(count<ir::CallOp>(program.function("f2")) == 2 * 901);
  CHECK(count<ir::CallOp>(program.function("f0")) == 900);
}

TEST_CASE("a function that passes itself ever larger functions is copied for one of them",
          "[specialise-calls]") {
  Program program(R"(
def @f(%g: fn (int32) -> int32, %n: int32) -> int32 {
  if (%n == 0) { %g(0) } else { @f(fn (%x: int32) -> int32 { %g(%x) + 1 }, %n - 1) }
}
def @main(%n: int32) -> int32 { @f(fn (%x: int32) -> int32 { %x }, %n) })");
  program.run({"specialise-calls"});
  CHECK(program.module.functions.size() <= 5);
}

TEST_CASE("copies without end stop at a limit", "[specialise-calls]") {
  Program program(R"(
def @f(%g: fn (int32) -> int32, %n: int32) -> int32 {
  if (%n == 0) { %g(0) } else { @f(fn (%x: int32) -> int32 { %g(%x) + 1 }, %n - 1) }
}
def @main(%n: int32) -> int32 { @f(fn (%x: int32) -> int32 { %x }, %n) })");
  program.run({"specialise-calls"});
  CHECK(program.module.functions.size() < 300);
}

}  // namespace
}  // namespace baton::passes
