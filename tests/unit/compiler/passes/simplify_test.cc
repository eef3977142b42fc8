#include <catch2/catch.hpp>

#include "compiler/ir/verifier.h"
#include "program.h"
#include "tests/effort.h"

namespace baton::passes {
namespace {

TEST_CASE("aliases become what they stand for", "[propagate]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {
  let %a = %x; let %b = %a; let %c = tanh(%b); let %d = %c; %d
})");
  program.run({"propagate"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::AtomRhs>(main) == 0);
  const auto& call = std::get<ir::CallOp>(bindingsOf<ir::CallOp>(main)[0]->rhs);
  CHECK(call.args[0] == ir::Atom(main.params[0]));
}

TEST_CASE("nested lets do not capture one another", "[propagate]") {
  Program program(R"(
def @main() -> int32 { let %y = 10; let %x = { let %y = 2; %y * %y }; %x + %y })");
  program.run({"propagate"});
  CHECK(occurrences(program.text("main"), "multiply(2, 2)") == 1);
  CHECK(occurrences(program.text("main"), ", 10)") == 1);
}

TEST_CASE("fields of known tuples and clauses of known constructors are taken directly", "[propagate]") {
  Program program(R"(
type L { C(int32, L), N }
def @main(%a: int32, %b: int32) -> int32 {
  let %p = (%a, (%b, 7));
  let %l = C(%p.1.0, N);
  match (%l) { C(%x, _) => %x * %p.0, N => 0 }
})");
  program.run({"flatten-matches", "propagate", "dead-code"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::Match>(main) == 0);
  CHECK(count<ir::MakeTuple>(main) == 0);
  CHECK(count<ir::Construct>(main) == 0);
  CHECK(occurrences(program.text("main"), "multiply(%b, %a)") == 1);
}

TEST_CASE("a tag that was looked at is known inside its clause", "[propagate]") {
  Program program(R"(
type L { C(int32, L), N }
def @main(%l: L) -> int32 {
  match (%l) { C(%x, _) => match (%l) { C(%y, _) => %x + %y, N => 1 }, N => 2 }
})");
  program.run({"propagate"});
  CHECK(count<ir::Match>(program.function("main")) == 1);
  CHECK(occurrences(program.text("main"), "add(%x, %x)") == 1);
}

TEST_CASE("what holds in one branch is not believed in the other", "[propagate]") {
  Program program(R"(
def @main(%b: bool) -> int32 {
  let %u = if (%b) { if (%b) { 1 } else { 2 } } else { if (%b) { 3 } else { 4 } };
  if (%b) { %u } else { 0 }
})");
  program.run({"propagate"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::If>(main) == 2);
  const std::string text = program.text("main");
  CHECK(occurrences(text, "    1\n") == 1);
  CHECK(occurrences(text, "    4\n") == 1);
  CHECK(occurrences(text, "2\n") == 0);
  CHECK(occurrences(text, "3\n") == 0);
}

TEST_CASE("a join with one jump is put in line, one with two is not", "[propagate]") {
  Program program(R"(
type L { C(int32, L), N }
def @main(%a: L, %b: L) -> int32 {
  match ((%a, %b)) { (C(%x, _), C(%y, _)) => %x + %y, _ => 5 * 5 }
})");
  program.run({"flatten-matches", "propagate"});
  CHECK(count<ir::CallJoin>(program.function("main")) == 2);
  Program single(R"(
def @main(%n: int32) -> int32 { let %f = fn (%x: int32) -> int32 { %x * 3 }; let %y = %f(%n); %y + 1 })");
  single.run({"contify", "propagate", "propagate"});
  CHECK(count<ir::Lambda>(single.function("main")) == 0);
  CHECK(count<ir::NestedBlock>(single.function("main")) == 0);
}

TEST_CASE("values of unlike extents keep the type of their branch", "[propagate]") {
  Program program(R"(
def @main(%b: bool, %p: Tensor[(3,), float32], %q: Tensor[(n,), float32]) -> Tensor[(?,), float32] {
  let %r = if (%b) { %p } else { %q };
  tanh(%r)
})");
  program.run({"propagate"});
  const ir::Function& main = program.function("main");
  REQUIRE(count<ir::If>(main) == 1);
  CHECK_FALSE(main.var(bindingsOf<ir::If>(main)[0]->var).type->dims()[0].isConstant());
}

TEST_CASE("operators with the same operands are shared where the first is in scope", "[eliminate-common]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32], %b: bool) -> Tensor[(n, 4), float32] {
  let %a = tanh(%x);
  let %c = tanh(%x);
  let %d = if (%b) { let %e = exp(%x); tanh(%x) + %e } else { exp(%x) };
  %a + %c + %d
})");
  program.run({"eliminate-common"});
  const std::string text = program.text("main");
  CHECK(occurrences(text, "tanh(") == 1);
  // Neither branch sees what the other computed.
  CHECK(occurrences(text, "exp(") == 2);
}

TEST_CASE("operators with other attributes are not shared", "[eliminate-common]") {
  Program program(R"(
def @main(%x: Tensor[(4, 4), float32]) -> Tensor[(4,), float32] { sum(%x, axis=[0]) + sum(%x, axis=[1]) })");
  program.run({"eliminate-common"});
  CHECK(occurrences(program.text("main"), "sum(") == 2);
}

TEST_CASE("what nobody uses goes, even if it might fail", "[dead-code]") {
  Program program(R"(
def @main(%x: int32, %y: int32) -> int32 {
  let %q = %x / %y;
  let %unused = if (%x == 0) { %q } else { 1 };
  %x + 1
})");
  program.run({"dead-code"});
  CHECK(program.function("main").block(program.function("main").body).bindings.size() == 1);
}

TEST_CASE("writes to cells stay, and what they need", "[dead-code]") {
  Program program(R"(
def @bump(%r: ref(int32)) -> () { ref_write(%r, ref_read(%r) + 1) }
def @main(%b: bool) -> int32 {
  let %r = ref(1);
  let %u = if (%b) { @bump(%r) } else { () };
  let %v = ref_read(%r);
  let %w = ref_read(%r);
  %w
})");
  program.run({"dead-code"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::If>(main) == 1);
  CHECK(count<ir::CallGlobal>(main) == 1);
  CHECK(occurrences(program.text("main"), "ref_read") == 1);
  CHECK(count<ir::WriteRef>(program.function("bump")) == 1);
}

TEST_CASE("parameters of a loop that only feed themselves go", "[dead-code]") {
  Program program(R"(
def @main(%n: int32) -> int32 {
  let %loop = fn (%i: int32, %acc: int32, %idle: int32) -> int32 {
    if (%i < %n) { %loop(%i + 1, %acc + %i, %idle * 2) } else { %acc }
  };
  %loop(0, 0, 1)
})");
  program.run({"contify", "dead-code"});
  const ir::Function& main = program.function("main");
  const auto& loop = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  REQUIRE(loop.params.size() == 2);
  for (const ir::Binding* jump : bindingsOf<ir::CallJoin>(main))
    CHECK(std::get<ir::CallJoin>(jump->rhs).args.size() == 2);
  CHECK(main.var(bindingsOf<ir::Lambda>(main)[0]->var).type->elements().size() == 2);
  CHECK(occurrences(program.text("main"), "multiply") == 0);
}

TEST_CASE("a long chain with a dead twin", "[dead-code][depth]") {
  std::string text = "def @main(%x: int32) -> int32 {\n  let %a0 = %x; let %b0 = %x;\n";
  constexpr int kLength = effort(20000, 2000);
  for (int i = 1; i <= kLength; ++i) {
    text += "  let %a" + std::to_string(i) + " = %a" + std::to_string(i - 1) + " + 1;\n";
    text += "  let %b" + std::to_string(i) + " = %b" + std::to_string(i - 1) + " + 2;\n";
  }
  text += "  %a" + std::to_string(kLength) + "\n}";
  Program program(text);
  program.run({"flatten-matches", "propagate", "dead-code", "eliminate-common", "inline", "contify",
               "lift-lambdas", "make-loops"});
  CHECK(count<ir::CallOp>(program.function("main")) == kLength);
}

/// `if`s in one another, deeper than any text may be.
void nest(ir::Module& module, ir::Function& function, int depth) {
  const ir::Block& body = function.block(function.body);
  const ir::VarInfo condition = function.var(body.bindings[0].var);
  const ir::VarInfo value = function.var(body.bindings[1].var);
  const ir::CallOp equal = std::get<ir::CallOp>(body.bindings[0].rhs);
  for (int i = 1; i < depth; ++i) {
    const ir::Atom number = module.addScalar(DType::I32, static_cast<uint64_t>(i));
    ir::If branch{.thenBlock = function.addBlock(), .elseBlock = function.body};
    function.block(branch.thenBlock).result = number;
    const ir::VarId test = function.addVar(condition);
    branch.condition = test;
    ir::CallOp call = equal;
    call.args[1] = number;
    const ir::VarId result = function.addVar(value);
    function.body = function.addBlock();
    function.block(function.body) = {{{test, std::move(call), {}, {}}, {result, branch, {}, {}}}, result};
  }
}

TEST_CASE("passes do not recurse on nesting", "[depth]") {
  Program program("def @main(%x: int32) -> int32 { if (%x == 0) { 0 } else { 7 } }");
  constexpr int kDepth = effort(20'000, 4000);
  nest(program.module, program.module.function(*program.module.findFunction("main")), kDepth);
  REQUIRE(ir::verify(program.module).has_value());
  program.run({"flatten-matches", "propagate", "dead-code", "eliminate-common", "inline", "contify",
               "lift-lambdas", "make-loops", "fold-constants", "fuse", "dead-functions"});
  CHECK(ir::verify(program.module).has_value());
  CHECK(count<ir::If>(program.function("main")) == kDepth);
}

TEST_CASE("a loop that never comes round again is none", "[propagate]") {
  Program program(R"(
def @main(%x: int32) -> int32 {
  let %loop = fn (%i: int32, %s: int32) -> int32 {
    if (%i < 3) { if (False) { %loop(%i + 1, %s * %x) } else { %s + 1 } } else { %s }
  };
  %loop(0, 1)
})");
  program.run({"contify"});
  const auto loop = [&] {
    return std::get<ir::Lambda>(bindingsOf<ir::Lambda>(program.function("main"))[0]->rhs);
  };
  CHECK(loop().isLoop);
  program.run({"propagate"});
  CHECK(loop().isJoin);
  CHECK(!loop().isLoop);
  CHECK(ir::verify(program.module).has_value());
  program.run({"propagate"});
  CHECK(count<ir::CallJoin>(program.function("main")) == 0);
}

}  // namespace
}  // namespace baton::passes
