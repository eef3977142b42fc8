#include "compiler/ir/walk.h"

#include <catch2/catch.hpp>

#include "tests/unit/compiler/program.h"

namespace baton {
namespace {

TEST_CASE("a walk sees blocks and bindings in program order") {
  testing::Program program = testing::parse(
      "type T { A(int32), B }\n"
      "def @main(%t: T, %b: bool) {\n"
      "  let %x = 1 + 2;\n"
      "  let %r = if (%b) { match (%t) { A(%a) => %a + %x, B => 3 } } else { 4 };\n"
      "  let %f = fn (%p: int32) { %p * %x };\n"
      "  %f(%r)\n"
      "}");
  REQUIRE(program.messages() == "");
  const ir::Function& main = program.function("main");
  std::string trace;
  ir::WalkCallbacks callbacks;
  callbacks.enterBlock = [&](ir::BlockId) { trace += '{'; };
  callbacks.leaveBlock = [&](ir::BlockId) { trace += '}'; };
  callbacks.enterBinding = [&](ir::BlockId block, size_t index) {
    const ir::VarInfo& info = main.var(main.block(block).bindings[index].var);
    trace += info.name.empty() ? "_" : info.name;
    return true;
  };
  callbacks.enterChild = [&](ir::BlockId, size_t, size_t child, ir::BlockId) {
    trace += std::to_string(child);
  };
  callbacks.leaveBinding = [&](ir::BlockId, size_t) { trace += ';'; };
  ir::walk(main, main.body, callbacks);
  CHECK(trace == "{x;r0{_0{_;}1{};}1{};f0{_;};_;}");
  CHECK(ir::blocksInOrder(main, main.body).size() == 6);
}

TEST_CASE("free variables come in order of first use, bound ones do not count") {
  testing::Program program = testing::parse(
      "def @main(%a: int32, %b: int32, %c: int32) {\n"
      "  let %f = fn (%x: int32) { let %y = %c + %x; let %g = fn (%z: int32) { %f(%z) + %y + %a }; %g(%c) "
      "};\n"
      "  %f(%b)\n"
      "}");
  REQUIRE(program.messages() == "");
  const ir::Function& main = program.function("main");
  const auto& lambda = std::get<ir::Lambda>(main.block(main.body).bindings[0].rhs);
  std::vector<std::string> names;
  for (ir::VarId var : ir::freeVariables(main, lambda)) names.push_back(main.var(var).name);
  CHECK(names == std::vector<std::string>{"c", "f", "a"});
}

}  // namespace
}  // namespace baton
