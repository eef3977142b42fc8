#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

TEST_CASE("a recursive local function becomes a function with its captures in front", "[lift-lambdas]") {
  Program program(R"(
def @main(%n: int32, %k: int32) -> int32 {
  let %f = fn (%i: int32) -> int32 { if (%i == 0) { %k } else { %i * %f(%i - 1) } };
  %f(%n) + %f(2)
})");
  program.run({"lift-lambdas"});
  CHECK(count<ir::Lambda>(program.function("main")) == 0);
  const ir::Function& lifted = program.function("main_f");
  REQUIRE(lifted.params.size() == 2);
  CHECK(lifted.var(lifted.params[0]).name == "k");
  CHECK(lifted.var(lifted.params[1]).name == "i");
  CHECK(count<ir::CallGlobal>(program.function("main")) == 2);
  const auto& self = std::get<ir::CallGlobal>(bindingsOf<ir::CallGlobal>(lifted)[0]->rhs);
  CHECK(self.args[0] == ir::Atom(lifted.params[0]));
}

TEST_CASE("what a callee captures, its local caller captures", "[lift-lambdas]") {
  Program program(R"(
def @main(%n: int32, %k: int32, %m: int32) -> int32 {
  let %f = fn (%i: int32) -> int32 { %i + %k };
  let %g = fn (%i: int32) -> int32 { %f(%i) * %f(%m) };
  %g(%n) + %g(2)
})");
  program.run({"lift-lambdas"});
  CHECK(program.function("main_f").params.size() == 2);
  CHECK(program.function("main_g").params.size() == 3);
  CHECK(count<ir::Lambda>(program.function("main")) == 0);
}

TEST_CASE("a function inside of a lifted one is lifted by itself", "[lift-lambdas]") {
  Program program(R"(
def @main(%n: int32, %k: int32) -> int32 {
  let %f = fn (%i: int32) -> int32 {
    let %g = fn (%j: int32) -> int32 { if (%j == 0) { %f(%i) } else { %k + %g(%j - 1) } };
    %g(%i) + %g(1)
  };
  %f(%n) + %f(2)
})");
  program.run({"lift-lambdas"});
  const ir::Function& inner = program.function("main_g");
  // k of f, i of f itself, and j.
  CHECK(inner.params.size() == 3);
  CHECK(count<ir::Lambda>(program.function("main_f")) == 0);
  CHECK(count<ir::Lambda>(inner) == 0);
  CHECK(count<ir::CallValue>(inner) == 0);
}

TEST_CASE("a function that is a value is not lifted", "[lift-lambdas]") {
  Program program(R"(
def @main(%n: int32) -> (int32, fn (int32) -> int32) {
  let %f = fn (%i: int32) -> int32 { %i + %n };
  (%f(1), %f)
})");
  program.run({"lift-lambdas"});
  CHECK(count<ir::Lambda>(program.function("main")) == 1);
  CHECK(program.module.functions.size() == 1);
}

TEST_CASE("an extent that only the type tells is captured with the variable that has it", "[lift-lambdas]") {
  Program program(R"(
def @main(%x: Tensor[(m, 4), float32], %n: int32) -> Tensor[(m, 4), float32] {
  let %f = fn (%i: int32, %y: Tensor[(m, 4), float32]) -> Tensor[(m, 4), float32] {
    if (%i == 0) { %y } else { tanh(%f(%i - 1, %y)) }
  };
  add(%f(%n, %x), %f(2, %x))
})");
  program.run({"lift-lambdas"});
  const ir::Function& lifted = program.function("main_f");
  // Types are in symbols of its own.
  const DimExpr inside = lifted.var(lifted.params.back()).type->dims()[0];
  const DimExpr outside = program.function("main").var(program.function("main").params[0]).type->dims()[0];
  CHECK_FALSE(inside == outside);
  CHECK(lifted.result->dims()[0] == inside);
}

}  // namespace
}  // namespace baton::passes
