#include "compiler/ir/verifier.h"

#include <set>

#include <catch2/catch.hpp>

#include "tests/unit/compiler/program.h"

namespace baton {
namespace {

using ir::Atom;
using ir::Binding;
using testing::Program;

/// A module that keeps every rule; each case breaks one.
Program good() {
  Program program = testing::type(
      "type T { A(int32), B }\n"
      "def @main(%x: Tensor[(n, 4), float32], %t: T) {\n"
      "  let %s = sum(%x, axis=[1]);\n"
      "  let %r = {\n"
      "    let %j = fn (%i: int32, join=1) { if (%i == 0) { %i } else { %j(%i - 1) } };\n"
      "    %j(3)\n"
      "  };\n"
      "  let %m = match (%t) { A(%a) => %a, B => %r };\n"
      "  let %f = fn (%p: int32) { %p };\n"
      "  (%s, %f(%m))\n"
      "}");
  REQUIRE(program.messages() == "");
  return program;
}

ir::Function& mainOf(Program& program) { return program.module.functions[0]; }
Binding& named(Program& program, const std::string& name) {
  ir::Function& main = mainOf(program);
  for (ir::Block& block : main.blocks)
    for (Binding& binding : block.bindings)
      if (main.var(binding.var).name == name) return binding;
  throw std::runtime_error("no binding " + name);
}

std::set<std::string>& brokenRules() {
  static std::set<std::string> rules;
  return rules;
}

void expectBroken(Program& program, const std::string& rule) {
  Result<void> verified = ir::verify(program.module);
  REQUIRE(!verified.has_value());
  INFO(verified.error().message());
  CHECK(verified.error().code() == ErrorCode::VerifyFailed);
  CHECK(verified.error().message().substr(0, verified.error().message().find(':')) == rule);
  brokenRules().insert(rule);
}

TEST_CASE("a good module keeps all rules") {
  Program program = good();
  Result<void> verified = ir::verify(program.module);
  CHECK((verified.has_value() ? "" : verified.error().message()) == "");
}

TEST_CASE("broken rules are named") {
  Program p = good();
  ir::Function& main = mainOf(p);
  SECTION("a variable that does not exist") {
    main.block(main.body).result = ir::VarId(9999);
    expectBroken(p, "index");
  }
  SECTION("a constant that does not exist") {
    main.block(main.body).result = ir::ConstantId(9999);
    expectBroken(p, "index");
  }
  SECTION("a block that does not exist") {
    std::get<ir::NestedBlock>(named(p, "r").rhs).block = ir::BlockId(77);
    expectBroken(p, "index");
  }
  SECTION("a block inside itself") {
    std::get<ir::NestedBlock>(named(p, "r").rhs).block = main.body;
    expectBroken(p, "tree");
  }
  SECTION("a pattern used twice") {
    auto& match = std::get<ir::Match>(named(p, "m").rhs);
    match.clauses[1].pattern = match.clauses[0].pattern;
    expectBroken(p, "tree");
  }
  SECTION("a variable bound twice") {
    named(p, "m").var = named(p, "s").var;
    expectBroken(p, "bound-once");
  }
  SECTION("a use before the binding") {
    auto& call = std::get<ir::CallOp>(named(p, "s").rhs);
    call.args[0] = named(p, "m").var;
    expectBroken(p, "scope");
  }
  SECTION("a use outside the block") {
    ir::VarId param = std::get<ir::Lambda>(named(p, "f").rhs).params[0];
    auto& tuple = std::get<ir::MakeTuple>(main.block(main.body).bindings.back().rhs);
    tuple.elements[1] = param;
    expectBroken(p, "scope");
  }
  SECTION("too many inputs") {
    auto& call = std::get<ir::CallOp>(named(p, "s").rhs);
    call.args.push_back(call.args[0]);
    expectBroken(p, "operands");
  }
  SECTION("too few fields") {
    for (ir::Pattern& pattern : main.patterns)
      if (pattern.kind == ir::Pattern::Kind::Constructor) pattern.children.clear();
    expectBroken(p, "operands");
  }
  SECTION("a missing attribute") {
    std::get<ir::CallOp>(named(p, "s").rhs).attrs.erase("axis");
    expectBroken(p, "attributes");
  }
  SECTION("an attribute too many") {
    std::get<ir::CallOp>(named(p, "s").rhs).attrs.set("zz", int64_t{1});
    expectBroken(p, "attributes");
  }
  SECTION("a join as a value") {
    std::get<ir::MakeTuple>(main.block(main.body).bindings.back().rhs).elements[1] = named(p, "j").var;
    expectBroken(p, "join-value");
  }
  SECTION("a jump to what is no join") {
    ir::BlockId block = std::get<ir::NestedBlock>(named(p, "r").rhs).block;
    auto& jump = std::get<ir::CallJoin>(main.block(block).bindings.back().rhs);
    std::get<ir::Lambda>(named(p, "j").rhs).isJoin = false;
    std::get<ir::Lambda>(named(p, "j").rhs).isLoop = false;
    CHECK(jump.args.size() == 1);
    expectBroken(p, "join-value");
  }
  SECTION("a jump that is not last") {
    ir::BlockId block = std::get<ir::NestedBlock>(named(p, "r").rhs).block;
    main.block(block).result = p.module.addScalar(DType::I32, 0);
    expectBroken(p, "join-tail");
  }
  SECTION("a loop that is none") {
    std::get<ir::Lambda>(named(p, "j").rhs).isLoop = false;
    expectBroken(p, "join-loop");
  }
  SECTION("type parameters") {
    main.var(main.params[0]).type = p.module.types.variable(p.module.addTypeVar("A"));
    expectBroken(p, "specialised");
  }
  SECTION("no type") {
    main.var(named(p, "s").var).type = nullptr;
    expectBroken(p, "types");
  }
  SECTION("types that do not fit") {
    main.var(named(p, "m").var).type = p.module.types.scalar(DType::F32);
    expectBroken(p, "types");
  }
  SECTION("a dim that nothing gives") {
    DimExpr lost = DimExpr::symbol(p.module.dimSymbols.add("lost")) + DimExpr::constant(1);
    main.var(named(p, "s").var).type = p.module.types.tensor(DType::F32, std::vector<DimExpr>{lost});
    expectBroken(p, "dims");
  }
  SECTION("a check on a dim that nothing gives") {
    DimExpr lost = DimExpr::symbol(p.module.dimSymbols.add("lost"));
    named(p, "s").obligations.push_back({lost, Relation::Eq, DimExpr(), "", {}});
    expectBroken(p, "dims");
  }
}

TEST_CASE("every rule has a module that breaks it") {
  for (std::string_view rule : ir::verifierRules()) {
    INFO(rule);
    CHECK(brokenRules().contains(std::string(rule)));
  }
}

}  // namespace
}  // namespace baton
