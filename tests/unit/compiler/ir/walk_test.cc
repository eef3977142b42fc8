#include "compiler/ir/walk.h"

#include <catch2/catch.hpp>

#include "compiler/ir/free_variables.h"
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
  const auto& inner = std::get<ir::Lambda>(main.block(lambda.body).bindings[1].rhs);
  const ir::FreeVariables free(main);
  auto namesOf = [&](const ir::Lambda& function) {
    std::vector<std::string> names;
    for (ir::VarId var : free.of(function)) names.push_back(main.var(var).name);
    return names;
  };
  CHECK(namesOf(lambda) == std::vector<std::string>{"c", "f", "a"});
  CHECK(namesOf(inner) == std::vector<std::string>{"f", "y", "a"});
}

TEST_CASE("a walk goes on where it was interrupted") {
  testing::Program program = testing::parse(
      "def @main(%b: bool) {\n"
      "  let %r = if (%b) { let %x = 1 + 2; %x } else { 4 };\n"
      "  let %y = %r + 1;\n"
      "  %y\n"
      "}");
  REQUIRE(program.messages() == "");
  const ir::Function& main = program.function("main");
  std::string trace;
  ir::Walker* walker = nullptr;
  ir::WalkCallbacks callbacks;
  bool isSecond = false;
  callbacks.enterBinding = [&](ir::BlockId block, size_t index) {
    trace += main.var(main.block(block).bindings[index].var).name;
    isSecond = !isSecond;
    if (isSecond) walker->pause();
    return !isSecond;
  };
  callbacks.leaveBinding = [&](ir::BlockId, size_t) { trace += ';'; };
  ir::Walker walk(main, main.body, callbacks);
  walker = &walk;
  size_t pauses = 0;
  while (!walk.run()) ++pauses;
  CHECK(pauses == 3);
  CHECK(trace == "rrxx;;yy;");
}

}  // namespace
}  // namespace baton
