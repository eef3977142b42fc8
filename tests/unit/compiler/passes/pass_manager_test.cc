#include "compiler/passes/pass_manager.h"

#include <set>

#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

std::vector<std::string> namesOf(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const PassInfo* pass : pipeline) names.emplace_back(pass->name);
  return names;
}

TEST_CASE("passes have unique names, summaries and functions", "[pass-manager]") {
  std::set<std::string_view> names;
  for (const PassInfo& pass : allPasses()) {
    CHECK(names.insert(pass.name).second);
    CHECK_FALSE(pass.summary.empty());
    CHECK(pass.run != nullptr);
    CHECK(pass.level >= 0);
    CHECK(pass.level <= 3);
    CHECK(findPass(pass.name) == &pass);
  }
  CHECK(findPass("no-such-pass") == nullptr);
}

TEST_CASE("level 0 is the mandatory passes, and every level has the passes of its own", "[pass-manager]") {
  for (const PassInfo* pass : pipelineOf(0)) CHECK(pass->isMandatory());
  for (int level = 0; level <= 3; ++level) {
    const std::vector<std::string> names = namesOf(pipelineOf(level));
    for (const PassInfo& pass : allPasses())
      if (pass.level <= level) {
        INFO(pass.name << " at -O" << level);
        CHECK(std::find(names.begin(), names.end(), pass.name) != names.end());
      }
  }
  CHECK(pipelineOf(3).size() > pipelineOf(1).size());
  CHECK(pipelineOf(1).size() > pipelineOf(0).size());
}

TEST_CASE("what each pipeline leaves is what lowering needs", "[pass-manager]") {
  for (int level = 0; level <= 3; ++level) {
    Property properties = Property::None;
    for (const PassInfo* pass : pipelineOf(level)) {
      CHECK(includes(properties, pass->requires_));
      properties = (properties & pass->preserves) | pass->establishes;
    }
    CHECK(includes(properties, Property::FlatMatches | Property::Joins | Property::Lifted));
  }
}

TEST_CASE("passes are left out by name, unless they are mandatory or unknown", "[pass-manager]") {
  Pipeline pipeline = pipelineOf(3);
  const size_t before = pipeline.size();
  const std::vector<std::string> inlining{"inline"};
  REQUIRE(disablePasses(pipeline, inlining).has_value());
  CHECK(pipeline.size() < before);
  const std::vector<std::string> mandatory{"flatten-matches"};
  Result<void> refused = disablePasses(pipeline, mandatory);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.assume_error().code() == ErrorCode::InvalidArgument);
  const std::vector<std::string> unknown{"no-such-pass"};
  refused = disablePasses(pipeline, unknown);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.assume_error().message() == "no pass named 'no-such-pass'");
}

TEST_CASE("a pass without what it requires does not run", "[pass-manager]") {
  Program program("def @main(%x: int32) -> int32 { %x }");
  PassContext context{.diagnostics = program.diagnostics};
  const PassInfo needy{
      .name = "needy", .summary = "", .requires_ = Property::Fused, .run = findPass("inline")->run};
  Result<void> result = runPipeline(program.module, {&needy}, context);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::InvalidArgument);
}

TEST_CASE("instruments see the passes go by", "[pass-manager]") {
  Program program("def @main(%x: int32) -> int32 { %x + 1 }");
  PassContext context{.diagnostics = program.diagnostics};
  std::vector<std::string> seen;
  PassPrinter printer({"contify"}, {"all"},
                      [&](const std::string& heading, const ir::Module&) { seen.push_back(heading); });
  PassTimer timer;
  size_t verified = 0;
  PassVerifier verifier([&](ir::Module&) -> Result<void> {
    ++verified;
    return success();
  });
  Instrument* instruments[] = {&printer, &timer, &verifier};
  const Pipeline pipeline = pipelineOf(0);
  REQUIRE(runPipeline(program.module, pipeline, context, instruments).has_value());
  CHECK(seen.size() == pipeline.size() + 1);
  CHECK(std::find(seen.begin(), seen.end(), "before contify") != seen.end());
  CHECK(std::find(seen.begin(), seen.end(), "after contify") != seen.end());
  CHECK(verified == pipeline.size());
  CHECK(timer.report().find("contify") != std::string::npos);
}

TEST_CASE("what a verifier finds names the pass", "[pass-manager]") {
  Program program("def @main(%x: int32) -> int32 { %x + 1 }");
  PassContext context{.diagnostics = program.diagnostics};
  PassVerifier verifier(
      [](ir::Module&) -> Result<void> { return Error(ErrorCode::Internal, "a rule is broken"); });
  Instrument* instruments[] = {&verifier};
  Result<void> result = runPipeline(program.module, pipelineOf(0), context, instruments);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().message() == "after pass prepare: a rule is broken");
}

TEST_CASE("functions that nothing reaches go, and their constants", "[dead-functions]") {
  Program program(R"(
def @used(%x: int32) -> int32 { %x + 5 }
def @value(%x: int32) -> int32 { %x + 6 }
def @main(%x: int32) -> (int32, fn (int32) -> int32) { (@used(%x), @value) })");
  // Typing drops unreachable functions already; a pass may make more.
  ir::Function extra = program.function("used");
  extra.name = "extra";
  program.module.functions.insert(program.module.functions.begin(), extra);
  for (size_t i = 1; i < program.module.functions.size(); ++i)
    for (ir::Block& block : program.module.functions[i].blocks)
      for (ir::Binding& binding : block.bindings) {
        if (auto* call = std::get_if<ir::CallGlobal>(&binding.rhs))
          call->callee = ir::GlobalId(call->callee.value() + 1);
        if (auto* tuple = std::get_if<ir::MakeTuple>(&binding.rhs))
          for (ir::Atom& atom : tuple->elements)
            if (atom.isGlobal()) atom = ir::GlobalId(atom.global().value() + 1);
      }
  const std::string before = program.text("main");
  program.run({"dead-functions"});
  CHECK(program.module.functions.size() == 3);
  CHECK_FALSE(program.module.findFunction("extra").has_value());
  CHECK(program.text("main") == before);
  CHECK(program.module.constants.size() == 2);
}

}  // namespace
}  // namespace baton::passes
