#include "compiler/passes/instruments.h"

#include <set>

#include <catch2/catch.hpp>

#include "compiler/ir/printer.h"
#include "compiler/passes/document_passes.h"
#include "compiler/passes/fingerprint.h"
#include "program.h"

namespace baton::passes {
namespace {

/// All passes of a pipeline, those of repetitions too.
std::vector<const PassInfo*> passesOf(const Pipeline& pipeline) {
  std::vector<const PassInfo*> passes;
  for (const PipelineStep& step : pipeline) {
    if (step.pass != nullptr) passes.push_back(step.pass);
    for (const PassInfo* inner : passesOf(step.body)) passes.push_back(inner);
  }
  return passes;
}

std::string errorOf(std::string_view pipeline) {
  Result<Pipeline> parsed = parsePipeline(pipeline);
  return parsed.has_value() ? "" : parsed.assume_error().message();
}

Pipeline pipelineFrom(std::string_view text) {
  Result<Pipeline> parsed = parsePipeline(text);
  INFO((parsed.has_value() ? "" : parsed.assume_error().message()));
  REQUIRE(parsed.has_value());
  return std::move(parsed).assume_value();
}

TEST_CASE("records of passes are complete", "[pass-manager]") {
  std::set<std::string_view> names;
  for (const PassInfo* pass : allPasses()) {
    INFO(pass->name);
    CHECK(names.insert(pass->name).second);
    CHECK_FALSE(pass->summary.empty());
    CHECK(pass->documentation.size() > pass->summary.size());
    CHECK(pass->run != nullptr);
    CHECK(pass->level >= 0);
    CHECK(pass->level <= 3);
    CHECK(findPass(pass->name) == pass);
    std::set<std::string_view> options;
    for (const PassOption& option : pass->options) {
      CHECK(options.insert(option.name).second);
      CHECK_FALSE(option.documentation.empty());
    }
    CHECK(documentPasses().find("\n### " + std::string(pass->name) + "\n") != std::string::npos);
    CHECK(listPasses().find(std::string(pass->summary)) != std::string::npos);
  }
  CHECK(findPass("no-such-pass") == nullptr);
}

TEST_CASE("level 0 is the mandatory passes, and every level has the passes of its own", "[pass-manager]") {
  for (int level = 0; level <= 3; ++level) {
    const std::vector<const PassInfo*> passes = passesOf(pipelineOf(level));
    for (const PassInfo* pass : allPasses()) {
      INFO(pass->name << " at -O" << level);
      CHECK((std::find(passes.begin(), passes.end(), pass) != passes.end()) == (pass->level <= level));
    }
    CHECK(print(pipelineOf(level)) == pipelineText(level));
    CHECK(pipelineOf(level) == pipelineFrom("O" + std::to_string(level)));
  }
}

TEST_CASE("what each pipeline leaves is what lowering needs", "[pass-manager]") {
  for (int level = 0; level <= 3; ++level) {
    Result<Property> properties = propertiesAfter(pipelineOf(level));
    REQUIRE(properties.has_value());
    CHECK(includes(properties.assume_value(), kLoweringNeeds));
  }
}

TEST_CASE("what a pipeline prints parses to the same pipeline", "[pipeline]") {
  for (int level = 0; level <= 3; ++level) CHECK(pipelineFrom(print(pipelineOf(level))) == pipelineOf(level));
  const auto again = [](std::string_view text) { return print(pipelineFrom(text)); };
  CHECK(again("") == "");
  CHECK(again("  contify ") == "contify");
  CHECK(again("propagate,inline{max-bindings=7}, propagate") ==
        "propagate, inline{max-bindings=7}, propagate");
  CHECK(again("inline { max-size = 10 , max-bindings = 7 }") == "inline{max-bindings=7,max-size=10}");
  CHECK(again("inline{max-bindings=24}") == "inline");
  CHECK(again("repeat(propagate,\n  repeat{max-rounds=9}(inline))") ==
        "repeat(propagate, repeat{max-rounds=9}(inline))");
  CHECK(again("repeat{max-rounds=3}(fuse)") == "repeat(fuse)");
  CHECK(again("repeat()") == "repeat()");
  CHECK(again("O0, fuse") == print(pipelineOf(0)) + ", fuse");
  CHECK(pipelineFrom("inline{max-bindings=18446744073709551615}")[0].options[0] == UINT64_MAX);
}

TEST_CASE("mistakes in pipelines are located", "[pipeline]") {
  CHECK(errorOf("propagate, inlin") ==
        "passes, column 12: no pass named 'inlin'; did you mean inline?\n"
        "  propagate, inlin\n"
        "             ^");
  CHECK(errorOf("propagate,\n\tinline{size=3}") ==
        "passes, column 9: inline has no option 'size'\n  \tinline{size=3}\n  \t       ^");
  CHECK(errorOf("inline{max-bindngs=3}").find("'max-bindngs'; did you mean max-bindings?") !=
        std::string::npos);
  CHECK(errorOf("inline{max-bindings=3,max-bindings=4}").find("option 'max-bindings' is set twice") !=
        std::string::npos);
  CHECK(errorOf("inline{max-bindings=x}").find("column 21: expected a number, found 'x'") !=
        std::string::npos);
  CHECK(errorOf("inline{max-bindings=18446744073709551616}").find("expected a number") != std::string::npos);
  CHECK(errorOf("inline{max-bindings}").find("expected '=', found '}'") != std::string::npos);
  CHECK(errorOf("inline{max-bindings=3").find("expected '}', found the end") != std::string::npos);
  CHECK(errorOf("inline propagate").find("expected ',' or the end, found 'p'") != std::string::npos);
  CHECK(errorOf("inline,").find("expected a pass, found the end") != std::string::npos);
  CHECK(errorOf(",inline").find("expected a pass, found ','") != std::string::npos);
  CHECK(errorOf("inline)").find("expected ',' or the end, found ')'") != std::string::npos);
  CHECK(errorOf("repeat").find("expected '(', found the end") != std::string::npos);
  CHECK(errorOf("repeat(inline").find("expected ',' or ')', found the end") != std::string::npos);
  CHECK(errorOf("repeat(inline,)").find("expected a pass, found ')'") != std::string::npos);
  CHECK(errorOf("repeat{rounds=3}(inline)").find("repeat has no option 'rounds'") != std::string::npos);
  CHECK(errorOf("prop\xff") != "");
  std::string deep;
  for (size_t i = 0; i < kMaxPipelineNesting; ++i) deep += "repeat(";
  const std::string closed = deep + "inline" + std::string(kMaxPipelineNesting, ')');
  CHECK(print(pipelineFrom(closed)) == closed);
  CHECK(errorOf(deep + "repeat(inline)").find("nested more than 8 deep") != std::string::npos);
}

TEST_CASE("passes are left out by name, unless they are mandatory or unknown", "[pass-manager]") {
  Pipeline pipeline = pipelineFrom("prepare, inline, repeat(inline, propagate, repeat(inline))");
  const std::vector<std::string> inlining{"inline"};
  REQUIRE(disablePasses(pipeline, inlining).has_value());
  CHECK(print(pipeline) == "prepare, repeat(propagate, repeat())");
  const std::vector<std::string> mandatory{"flatten-matches"};
  Result<void> refused = disablePasses(pipeline, mandatory);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.assume_error().code() == ErrorCode::InvalidArgument);
  const std::vector<std::string> unknown{"propagat"};
  refused = disablePasses(pipeline, unknown);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.assume_error().message() == "no pass named 'propagat'; did you mean propagate?");
}

TEST_CASE("a pipeline in which a pass lacks what it requires does not run", "[pass-manager]") {
  Program program("def @main(%x: int32) -> int32 { %x }");
  PassContext context{.diagnostics = program.diagnostics};
  Result<void> result =
      runPipeline(program.module, pipelineFrom("propagate, legalize, flatten-matches, fuse"), context);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::InvalidArgument);
  CHECK(result.assume_error().message() ==
        "pass 'fuse' needs joins (make-loops), lifted functions (lift-lambdas) before it");
  // What a pass takes away is missed in the second round.
  const PassInfo loses{.name = "loses",
                       .requires_ = Property::Fused,
                       .preserves = without(Property::All, Property::Fused),
                       .run = findPass("prepare")->run};
  Pipeline repeated{{.body = {{.pass = &loses}}, .maxRounds = 1}};
  CHECK(propertiesAfter(repeated, Property::Fused).has_value());
  repeated[0].maxRounds = 2;
  CHECK_FALSE(propertiesAfter(repeated, Property::Fused).has_value());
}

TEST_CASE("passes get the options of their step", "[pass-manager]") {
  const char* text =
      "def @f(%x: int32) -> int32 { (%x * 2) + 1 }\ndef @main(%x: int32) -> int32 { @f(@f(%x)) }";
  Program none(text);
  CHECK(count<ir::CallGlobal>(none.run({"inline{max-bindings=1}"}).function("main")) == 2);
  Program all(text);
  CHECK(count<ir::CallGlobal>(all.run({"inline"}).function("main")) == 0);
}

/// Notes the names of the passes that ran.
class Recorder final : public Instrument {
 public:
  Result<void> after(const PipelineStep& step, ir::Module&, std::chrono::nanoseconds) override {
    names += (names.empty() ? "" : " ") + std::string(step.pass->name);
    return success();
  }
  std::string names;
};

TEST_CASE("a repetition ends when a round changes nothing", "[pass-manager]") {
  const auto ran = [](std::string_view pipeline) {
    Program program("def @main(%x: int32) -> int32 { let %y = %x; let %z = %y + 1; %z }");
    PassContext context{.diagnostics = program.diagnostics};
    Recorder recorder;
    Instrument* instruments[] = {&recorder};
    REQUIRE(runPipeline(program.module, pipelineFrom(pipeline), context, instruments).has_value());
    return recorder.names;
  };
  CHECK(ran("repeat(propagate)") == "propagate propagate");
  CHECK(ran("repeat{max-rounds=1}(propagate)") == "propagate");
  CHECK(ran("repeat{max-rounds=0}(propagate)") == "");
  CHECK(ran("repeat()") == "");
  CHECK(ran("repeat(prepare)") == "prepare");
  CHECK(ran("propagate, repeat(prepare, repeat(dead-code)), prepare") ==
        "propagate prepare dead-code prepare");
}

TEST_CASE("fingerprints differ where programs do", "[pass-manager]") {
  const auto of = [](std::string_view text) { return fingerprint(Program(text).module); };
  const uint64_t one = of("def @main(%x: int32) -> int32 { %x + 1 }");
  CHECK(one == of("def @main(%y: int32) -> int32 {\n %y + 1 }"));
  CHECK(one != of("def @main(%x: int32) -> int32 { %x - 1 }"));
  CHECK(one != of("def @main(%x: int32, %y: int32) -> int32 { %y + 1 }"));
  CHECK(of("def @main(%x: Tensor[(2, 3), int32]) { sum(%x, axis=[0]) }") !=
        of("def @main(%x: Tensor[(2, 3), int32]) { sum(%x, axis=[1]) }"));
}

TEST_CASE("instruments see the passes go by", "[pass-manager]") {
  Program program("def @main(%x: int32) -> int32 { let %y = %x; %y + 1 }");
  PassCounters counters;
  PassContext context{.diagnostics = program.diagnostics, .counters = &counters};
  std::vector<std::string> seen;
  std::vector<std::string> changed;
  const auto print = [](const ir::Module& module) { return ir::print(module); };
  PassPrinter printer({{"contify"}, {"all"}, false}, print,
                      [&](const std::string& heading, const std::string&) { seen.push_back(heading); });
  PassPrinter changes({{}, {}, true}, print,
                      [&](const std::string& heading, const std::string&) { changed.push_back(heading); });
  PassTimer timer;
  size_t verified = 0;
  PassVerifier verifier([&](ir::Module&) -> Result<void> {
    ++verified;
    return success();
  });
  Instrument* instruments[] = {&printer, &changes, &timer, &verifier};
  const Pipeline pipeline = pipelineFrom("prepare, contify, repeat(propagate, repeat(dead-code))");
  REQUIRE(runPipeline(program.module, pipeline, context, instruments).has_value());
  CHECK(seen == std::vector<std::string>{"after prepare", "before contify", "after contify",
                                         "after propagate", "after dead-code", "after propagate",
                                         "after dead-code"});
  CHECK(changed == std::vector<std::string>{"after propagate"});
  CHECK(verified == 6);
  const std::string times = timer.report(pipeline);
  CHECK(occurrences(times, "\n") == 7);
  CHECK(times.find("   1 x contify\n") != std::string::npos);
  CHECK(times.find("   2 x repeat\n") != std::string::npos);
  CHECK(times.find("   2 x   propagate\n") != std::string::npos);
  CHECK(times.find("   2 x     dead-code\n") != std::string::npos);
  context.count("events", 2);
  context.count("nothing", 0);
  CHECK(report(counters).find("2 : events\n") != std::string::npos);
  CHECK(report(counters).find("nothing") == std::string::npos);
}

TEST_CASE("a pass that breaks a rule is named, and is the last", "[pass-manager]") {
  Program program("def @main(%x: int32) -> int32 { let %y = %x; %y + 1 }");
  PassContext context{.diagnostics = program.diagnostics};
  size_t verified = 0;
  PassVerifier verifier([&](ir::Module&) -> Result<void> {
    if (++verified == 2) return Error(ErrorCode::Internal, "%y has no type");
    return success();
  });
  Instrument* instruments[] = {&verifier};
  const Result<void> result =
      runPipeline(program.module, pipelineFrom("prepare, contify, propagate"), context, instruments);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().message() == "after pass contify: %y has no type");
  CHECK(verified == 2);
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
