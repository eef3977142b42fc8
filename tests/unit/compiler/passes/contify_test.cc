#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

TEST_CASE("a local loop becomes a loop join in a block of its own", "[contify]") {
  Program program(R"(
def @main(%n: int32, %step: float32) -> float32 {
  let %loop = fn (%i: int32, %acc: float32) -> float32 {
    if (%i < %n) { %loop(%i + 1, %acc + %step) } else { %acc }
  };
  let %sum = %loop(0, 0f);
  %sum * 2f
})");
  program.run({"contify"});
  const ir::Function& main = program.function("main");
  REQUIRE(count<ir::NestedBlock>(main) == 1);
  REQUIRE(count<ir::Lambda>(main) == 1);
  const auto& loop = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  CHECK(loop.isJoin);
  CHECK(loop.isLoop);
  CHECK(count<ir::CallJoin>(main) == 2);
  CHECK(count<ir::CallValue>(main) == 0);
}

TEST_CASE("a local function that several branches end with is a join where it stands", "[contify]") {
  Program program(R"(
def @main(%a: int32) -> int32 {
  let %end = fn (%x: int32) -> int32 { %x * 3 };
  if (%a > 0) { %end(%a) } else { if (%a > -5) { %end(1) } else { 0 } }
})");
  program.run({"contify"});
  const ir::Function& main = program.function("main");
  const auto& join = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  CHECK(join.isJoin);
  CHECK_FALSE(join.isLoop);
  CHECK(count<ir::CallJoin>(main) == 2);
  CHECK(count<ir::NestedBlock>(main) == 0);
}

TEST_CASE("a function that calls itself in the middle is no join", "[contify]") {
  Program program(R"(
def @main(%n: int32) -> int32 {
  let %fact = fn (%i: int32) -> int32 { if (%i == 0) { 1 } else { %i * %fact(%i - 1) } };
  %fact(%n)
})");
  program.run({"contify"});
  CHECK_FALSE(std::get<ir::Lambda>(bindingsOf<ir::Lambda>(program.function("main"))[0]->rhs).isJoin);
  CHECK(count<ir::CallJoin>(program.function("main")) == 0);
}

TEST_CASE("a function that is a value stays one", "[contify]") {
  Program program(R"(
def @main(%n: int32) -> (int32, fn (int32) -> int32) {
  let %f = fn (%i: int32) -> int32 { %i + %n };
  let %v = %f(3);
  (%v, %f)
})");
  program.run({"contify"});
  CHECK_FALSE(std::get<ir::Lambda>(bindingsOf<ir::Lambda>(program.function("main"))[0]->rhs).isJoin);
}

TEST_CASE("two calls in the middle of a block have two continuations", "[contify]") {
  Program program(R"(
def @main(%n: int32) -> int32 {
  let %f = fn (%i: int32) -> int32 { %i + %n };
  %f(1) * %f(2)
})");
  program.run({"contify"});
  CHECK(count<ir::CallJoin>(program.function("main")) == 0);
}

TEST_CASE("loops within loops, and a loop that ends in another", "[contify]") {
  Program program(R"(
def @main(%n: int32) -> int32 {
  let %outer = fn (%i: int32, %total: int32) -> int32 {
    if (%i == %n) { %total } else {
      let %inner = fn (%j: int32, %sum: int32) -> int32 {
        if (%j == %i) { %outer(%i + 1, %sum) } else { %inner(%j + 1, %sum + %j) }
      };
      %inner(0, %total)
    }
  };
  %outer(0, 0)
})");
  program.run({"contify"});
  const ir::Function& main = program.function("main");
  for (const ir::Binding* binding : bindingsOf<ir::Lambda>(main)) {
    CHECK(std::get<ir::Lambda>(binding->rhs).isJoin);
    CHECK(std::get<ir::Lambda>(binding->rhs).isLoop);
  }
  CHECK(count<ir::CallJoin>(main) == 4);
  CHECK(count<ir::NestedBlock>(main) == 0);
}

TEST_CASE("an alias of a local function is no use of it as a value", "[contify]") {
  Program program(R"(
def @main(%n: int32) -> int32 {
  let %f = fn (%i: int32) -> int32 { %i + %n };
  let %g = %f;
  %g(1)
})");
  program.run({"contify"});
  CHECK(count<ir::CallJoin>(program.function("main")) == 1);
}

TEST_CASE("local functions that nobody calls go, with what they alone call", "[contify]") {
  Program program(R"(
def @main(%n: int32) -> int32 {
  let %f = fn (%i: int32) -> int32 { %i + %n };
  let %g = fn (%i: int32) -> int32 { %f(%i) };
  %n
})");
  program.run({"contify"});
  CHECK(count<ir::Lambda>(program.function("main")) == 0);
}

TEST_CASE("self tail calls of a function are a loop; what they pass on stays outside", "[make-loops]") {
  Program program(R"(
def @main(%n: int32, %x: Tensor[(m, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(m, 4), float32] {
  if (%n == 0) { %x } else { @main(%n - 1, nn.dense(%x, %w), %w) }
})");
  program.run({"make-loops"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::CallGlobal>(main) == 0);
  REQUIRE(count<ir::Lambda>(main) == 1);
  const auto& loop = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  CHECK(loop.isLoop);
  REQUIRE(loop.params.size() == 2);
  CHECK(main.var(loop.params[0]).name == "n");
  CHECK(main.var(loop.params[1]).name == "x");
  REQUIRE(main.params.size() == 3);
  // The extent m is kept by every turn, so it is one symbol inside and outside.
  CHECK(main.var(main.params[1]).type == main.var(loop.params[1]).type);
}

TEST_CASE("an extent that turns change has a symbol of the loop's", "[make-loops]") {
  Program program(R"(
def @main(%x: Tensor[(m, 4), float32], %k: int32) -> Tensor[(?, 4), float32] {
  if (%k <= 0) { %x } else { @main(concatenate((%x, %x), axis=0), %k - 1) }
})");
  program.run({"make-loops"});
  const ir::Function& main = program.function("main");
  const auto& loop = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  const DimExpr outside = main.var(main.params[0]).type->dims()[0];
  const DimExpr inside = main.var(loop.params[0]).type->dims()[0];
  CHECK_FALSE(outside == inside);
  CHECK(inside.asSymbol().has_value());
}

TEST_CASE("a self call that is no tail call stays a call", "[make-loops]") {
  Program program(R"(
def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { %n + @main(%n - 1) } })");
  program.run({"make-loops"});
  CHECK(count<ir::CallGlobal>(program.function("main")) == 1);
  CHECK(count<ir::Lambda>(program.function("main")) == 0);
}

TEST_CASE("mutual recursion stays calls", "[make-loops]") {
  Program program(R"(
def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }
def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }
def @main(%n: int32) -> bool { @even(%n) })");
  program.run({"make-loops"});
  CHECK(count<ir::CallGlobal>(program.function("even")) == 1);
  CHECK(count<ir::CallJoin>(program.function("even")) == 0);
}

}  // namespace
}  // namespace baton::passes
