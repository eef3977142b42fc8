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

TEST_CASE("a good module keeps all rules") {
  Program program = good();
  Result<void> verified = ir::verify(program.module);
  CHECK((verified.has_value() ? "" : verified.error().message()) == "");
}

/// One way to break a rule.
struct Breakage {
  const char* what;
  const char* rule;
  void (*apply)(Program& p, ir::Function& main);
};

const Breakage kBreakages[] = {
    {"a variable that does not exist", "index",
     [](Program&, ir::Function& main) { main.block(main.body).result = ir::VarId(9999); }},
    {"a constant that does not exist", "index",
     [](Program&, ir::Function& main) { main.block(main.body).result = ir::ConstantId(9999); }},
    {"a block that does not exist", "index",
     [](Program& p, ir::Function&) { std::get<ir::NestedBlock>(named(p, "r").rhs).block = ir::BlockId(77); }},
    {"a block inside itself", "tree",
     [](Program& p, ir::Function& main) { std::get<ir::NestedBlock>(named(p, "r").rhs).block = main.body; }},
    {"a pattern used twice", "tree",
     [](Program& p, ir::Function&) {
       auto& match = std::get<ir::Match>(named(p, "m").rhs);
       match.clauses[1].pattern = match.clauses[0].pattern;
     }},
    {"a variable bound twice", "bound-once",
     [](Program& p, ir::Function&) { named(p, "m").var = named(p, "s").var; }},
    {"a use before the binding", "scope",
     [](Program& p, ir::Function&) {
       auto& call = std::get<ir::CallOp>(named(p, "s").rhs);
       call.args[0] = named(p, "m").var;
     }},
    {"a use outside the block", "scope",
     [](Program& p, ir::Function& main) {
       ir::VarId param = std::get<ir::Lambda>(named(p, "f").rhs).params[0];
       auto& tuple = std::get<ir::MakeTuple>(main.block(main.body).bindings.back().rhs);
       tuple.elements[1] = param;
     }},
    {"too many inputs", "operands",
     [](Program& p, ir::Function&) {
       auto& call = std::get<ir::CallOp>(named(p, "s").rhs);
       call.args.push_back(call.args[0]);
     }},
    {"too few fields", "operands",
     [](Program&, ir::Function& main) {
       for (ir::Pattern& pattern : main.patterns)
         if (pattern.kind == ir::Pattern::Kind::Constructor) pattern.children.clear();
     }},
    {"a missing attribute", "attributes",
     [](Program& p, ir::Function&) { std::get<ir::CallOp>(named(p, "s").rhs).attrs.erase("axis"); }},
    {"an attribute too many", "attributes",
     [](Program& p, ir::Function&) { std::get<ir::CallOp>(named(p, "s").rhs).attrs.set("zz", int64_t{1}); }},
    {"a join as a value", "join-value",
     [](Program& p, ir::Function& main) {
       std::get<ir::MakeTuple>(main.block(main.body).bindings.back().rhs).elements[1] = named(p, "j").var;
     }},
    {"a jump to what is no join", "join-value",
     [](Program& p, ir::Function& main) {
       ir::BlockId block = std::get<ir::NestedBlock>(named(p, "r").rhs).block;
       auto& jump = std::get<ir::CallJoin>(main.block(block).bindings.back().rhs);
       std::get<ir::Lambda>(named(p, "j").rhs).isJoin = false;
       std::get<ir::Lambda>(named(p, "j").rhs).isLoop = false;
       CHECK(jump.args.size() == 1);
     }},
    {"a jump that is not last", "join-tail",
     [](Program& p, ir::Function& main) {
       ir::BlockId block = std::get<ir::NestedBlock>(named(p, "r").rhs).block;
       main.block(block).result = p.module.addScalar(DType::I32, 0);
     }},
    {"a loop that is none", "join-loop",
     [](Program& p, ir::Function&) { std::get<ir::Lambda>(named(p, "j").rhs).isLoop = false; }},
    {"type parameters", "specialised",
     [](Program& p, ir::Function& main) {
       main.var(main.params[0]).type = p.module.types.variable(p.module.addTypeVar("A"));
     }},
    {"no type", "types", [](Program& p, ir::Function& main) { main.var(named(p, "s").var).type = nullptr; }},
    {"types that do not fit", "types",
     [](Program& p, ir::Function& main) {
       main.var(named(p, "m").var).type = p.module.types.scalar(DType::F32);
     }},
    {"a dim that nothing gives", "dims",
     [](Program& p, ir::Function& main) {
       DimExpr lost = DimExpr::symbol(p.module.dimSymbols.add("lost")) + DimExpr::constant(1);
       main.var(named(p, "s").var).type = p.module.types.tensor(DType::F32, std::vector<DimExpr>{lost});
     }},
    {"a check on a dim that nothing gives", "dims",
     [](Program& p, ir::Function&) {
       DimExpr lost = DimExpr::symbol(p.module.dimSymbols.add("lost"));
       named(p, "s").obligations.push_back({lost, Relation::Eq, DimExpr(), "", {}});
     }},
};

TEST_CASE("broken rules are named") {
  for (const Breakage& breakage : kBreakages) {
    INFO(breakage.what);
    Program program = good();
    breakage.apply(program, mainOf(program));
    const Result<void> verified = ir::verify(program.module);
    REQUIRE(!verified.has_value());
    const std::string& message = verified.error().message();
    INFO(message);
    CHECK(verified.error().code() == ErrorCode::VerifyFailed);
    CHECK(message.substr(0, message.find(':')) == breakage.rule);
  }
}

TEST_CASE("every rule has a module that breaks it") {
  std::set<std::string_view> broken;
  for (const Breakage& breakage : kBreakages) broken.insert(breakage.rule);
  for (std::string_view rule : ir::verifierRules()) {
    INFO(rule);
    CHECK(broken.contains(rule));
  }
}

}  // namespace
}  // namespace baton
