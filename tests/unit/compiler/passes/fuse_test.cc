#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

std::vector<const ir::Function*> groupsOf(const Program& program) {
  std::vector<const ir::Function*> groups;
  for (const ir::Function& function : program.module.functions)
    if (function.attrs.find("Primitive") != nullptr) groups.push_back(&function);
  return groups;
}

TEST_CASE("a chain of elementwise operators is one group, whatever the extents", "[fuse]") {
  for (const char* type : {"Tensor[(3, 4), float32]", "Tensor[(n, 4), float32]", "Tensor[(?, ?), float32]"}) {
    Program program(std::string("def @main(%x: ") + type + ") -> " + type + " { tanh(exp(%x) * 2f + 1f) }");
    program.run({"fuse"});
    REQUIRE(groupsOf(program).size() == 1);
    const ir::Function& group = *groupsOf(program)[0];
    CHECK(group.name == "fused_exp_multiply_add_tanh");
    CHECK(group.params.size() == 1);
    CHECK(count<ir::CallOp>(group) == 4);
    CHECK(count<ir::CallOp>(program.function("main")) == 0);
    CHECK(count<ir::CallGlobal>(program.function("main")) == 1);
  }
}

TEST_CASE("types of a group are in symbols of its own", "[fuse]") {
  Program program("def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] { tanh(exp(%x)) }");
  program.run({"fuse"});
  const ir::Function& group = *groupsOf(program)[0];
  const ir::Function& main = program.function("main");
  CHECK_FALSE(group.var(group.params[0]).type == main.var(main.params[0]).type);
  CHECK(group.result == group.var(group.params[0]).type);
}

TEST_CASE("a value that is also used elsewhere is a further result", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32]) -> (Tensor[(n, 4), float32], Tensor[(n, 4), float32]) {
  let %a = exp(%x);
  (tanh(%a), %a)
})");
  program.run({"fuse"});
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(groupsOf(program)[0]->result->isTuple());
  CHECK(groupsOf(program)[0]->result->elements().size() == 2);
  CHECK(count<ir::Project>(program.function("main")) == 2);
}

TEST_CASE("a value that something between needs does not wait for the group", "[fuse]") {
  Program program(R"(
def @f(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] { %x }
def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {
  let %a = exp(%x);
  let %b = @f(%a);
  tanh(%a + %b)
})");
  program.run({"fuse"});
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(groupsOf(program)[0]->name == "fused_add_tanh");
  CHECK(count<ir::CallOp>(program.function("main")) == 1);
}

TEST_CASE("a reduction takes in what it reads and what follows", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n,), float32] { tanh(sum(exp(%x), axis=[1]) * 2f) })");
  program.run({"fuse"});
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(groupsOf(program)[0]->name == "fused_exp_sum_multiply_tanh");
}

TEST_CASE("rows that are broadcast back stay in the group", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {
  let %d = %x - mean(%x, axis=[1], keepdims=True);
  %d / sqrt(mean(%d * %d, axis=[1], keepdims=True) + 1e-5f)
})");
  program.run({"fuse"});
  CHECK(groupsOf(program).size() == 1);
  CHECK(count<ir::CallOp>(program.function("main")) == 0);
}

TEST_CASE("a product takes elementwise operators of its shape, and nothing before it", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(8, 4), float32], %b: Tensor[(8,), float32], %r: Tensor[(n, 8), float32])
    -> Tensor[(n, 8), float32] { nn.relu(nn.bias_add(nn.dense(exp(%x), %w), %b) + %r) })");
  program.run({"fuse"});
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(groupsOf(program)[0]->name == "fused_nn_dense_nn_bias_add_add_nn_relu");
  REQUIRE(count<ir::CallOp>(program.function("main")) == 1);
  CHECK(occurrences(program.text("main"), "exp(") == 1);
}

TEST_CASE("two products are two kernels", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n, 4), float32], %w: Tensor[(4, 4), float32]) -> Tensor[(n, 4), float32] {
  nn.dense(%x, %w) + nn.dense(tanh(%x), %w)
})");
  program.run({"fuse"});
  for (const ir::Function* group : groupsOf(program))
    CHECK(occurrences(program.text(group->name), "nn.dense(") <= 1);
}

TEST_CASE("what is dear is not computed again for every element it is broadcast to", "[fuse]") {
  Program dear(R"(
def @main(%x: Tensor[(n, 4), float32], %b: Tensor[(4,), float32]) -> Tensor[(n, 4), float32] { tanh(%x) + exp(%b) })");
  dear.run({"fuse"});
  CHECK(occurrences(dear.text("main"), "exp(") == 1);
  Program cheap(R"(
def @main(%x: Tensor[(n, 4), float32], %b: Tensor[(4,), float32]) -> Tensor[(n, 4), float32] { tanh(%x) + (%b + 1f) })");
  cheap.run({"fuse"});
  CHECK(count<ir::CallOp>(cheap.function("main")) == 0);
}

TEST_CASE("split and its parts go into the group that uses them all", "[fuse]") {
  Program program(R"(
def @main(%g: Tensor[(n, 8), float32], %c: Tensor[(n, 2), float32]) -> (Tensor[(n, 2), float32], Tensor[(n, 2), float32]) {
  let %s = split(%g, indices_or_sections=4, axis=1);
  let %c1 = sigmoid(%s.0) * %c + sigmoid(%s.1) * tanh(%s.2);
  (sigmoid(%s.3) * tanh(%c1), %c1)
})");
  program.run({"fuse"});
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(occurrences(program.text(groupsOf(program)[0]->name), "split(") == 1);
  CHECK(count<ir::CallOp>(program.function("main")) == 0);
}

TEST_CASE("split whose parts go different ways stays", "[fuse]") {
  Program program(R"(
def @main(%g: Tensor[(n, 4), float32]) -> (Tensor[(n, 2), float32], Tensor[(n, 2), float32]) {
  let %s = split(%g, indices_or_sections=2, axis=1);
  (tanh(exp(%s.0)), %s.1)
})");
  program.run({"fuse"});
  CHECK(occurrences(program.text("main"), "split(") == 1);
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(groupsOf(program)[0]->params.size() == 1);
}

TEST_CASE("scalars of the program are parameters, constants are inside", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n,), float32], %s: float32) -> Tensor[(n,), float32] { tanh(%x * %s + 2f) })");
  program.run({"fuse"});
  const ir::Function& group = *groupsOf(program)[0];
  REQUIRE(group.params.size() == 2);
  CHECK(group.var(group.params[1]).type->isScalar());
}

TEST_CASE("views and scalar arithmetic stay outside", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(4, 4), float32], %s: float32) -> Tensor[(16,), float32] {
  tanh(exp(reshape(exp(%x), newshape=[16]) * (%s + 1f)))
})");
  program.run({"fuse"});
  const std::string text = program.text("main");
  CHECK(occurrences(text, "reshape(") == 1);
  CHECK(occurrences(text, "add(") == 1);
  REQUIRE(groupsOf(program).size() == 1);
  CHECK(groupsOf(program)[0]->name == "fused_multiply_exp_tanh");
}

TEST_CASE("checks stay where they were", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) -> Tensor[(?,), float32] { tanh(exp(%x + %y)) })");
  program.run({"fuse"});
  const ir::Function& main = program.function("main");
  const auto calls = bindingsOf<ir::CallGlobal>(main);
  REQUIRE(calls.size() <= 1);
  if (calls.size() == 1) CHECK(calls[0]->obligations.empty());
}

TEST_CASE("nothing is fused across branches", "[fuse]") {
  Program program(R"(
def @main(%x: Tensor[(n,), float32], %b: bool) -> Tensor[(n,), float32] {
  let %a = exp(%x);
  if (%b) { tanh(%a) } else { %a }
})");
  program.run({"fuse"});
  CHECK(groupsOf(program).empty());
}

TEST_CASE("a group has at most as many operators as its limit", "[fuse]") {
  std::string text = "def @main(%x0: Tensor[(n,), float32]) -> Tensor[(n,), float32] {\n";
  for (int i = 0; i < 600; ++i)
    text += "let %x" + std::to_string(i + 1) + " = tanh(%x" + std::to_string(i) + ");\n";
  text += "%x600 }";
  Program program(text);
  program.run({"fuse"});
  CHECK(groupsOf(program).size() == 3);
  for (const ir::Function* group : groupsOf(program)) CHECK(count<ir::CallOp>(*group) <= 256);
}

}  // namespace
}  // namespace baton::passes
