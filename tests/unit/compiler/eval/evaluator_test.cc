#include "compiler/eval/evaluator.h"

#include <catch2/catch.hpp>

#include "compiler/eval/text.h"
#include "compiler/frontend/parser.h"
#include "compiler/types/typing.h"
#include "formats/value_text.h"
#include "tests/effort.h"

namespace baton::eval {
namespace {

struct Program {
  ir::Module module;
  explicit Program(std::string text) {
    frontend::Diagnostics diagnostics;
    REQUIRE(frontend::parseProgram("test.relay", std::move(text), {}, ops::OpRegistry::instance(), module,
                                   diagnostics)
                .has_value());
    if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
    INFO(frontend::render(diagnostics, module.sources));
    REQUIRE(!diagnostics.hasErrors());
  }
  ir::GlobalId main() const { return *module.findFunction("main"); }
  const ir::Function& function() const { return module.function(main()); }
  Value value(size_t param, const std::string& text) {
    Result<TextValue> parsed = parseValue(text);
    REQUIRE(parsed.has_value());
    Result<Value> result =
        fromText(module, function().var(function().params[param]).type, parsed.assume_value());
    INFO((result.has_value() ? "" : result.assume_error().message()));
    REQUIRE(result.has_value());
    return result.assume_value();
  }
  std::string text(const Value& result) { return formatValue(toText(module, function().result, result)); }
};

std::string run(std::string text, std::initializer_list<const char*> inputs, EvaluatorOptions options = {}) {
  Program program(std::move(text));
  std::vector<Value> values;
  for (const char* input : inputs) values.push_back(program.value(values.size(), input));
  Evaluator evaluator(program.module, std::move(options));
  Result<Value> result = evaluator.call(program.main(), std::move(values));
  if (!result.has_value())
    return std::string(errorCodeName(result.assume_error().code())) + ": " + result.assume_error().message();
  return program.text(result.assume_value());
}

TEST_CASE("values go through text and back", "[text]") {
  Program program(R"(
type List[A] { Cons(A, List[A]), Nil }
type T { Leaf, Node(T, (int32, List[int32]), T) }
def @main(%x: T) -> T { %x })");
  for (const char* text : {"Leaf", "Node(Leaf, (i32=1, []), Leaf)",
                           "Node(Node(Leaf, (i32=1, [i32=2, i32=3]), Leaf), (i32=4, [i32=5]), Leaf)"})
    CHECK(program.text(program.value(0, text)) == text);
  const ir::TypeRef type = program.function().var(program.function().params[0]).type;
  for (const char* wrong :
       {"i32=1", "Twig", "Node(Leaf)", "(Leaf, Leaf)", "[Leaf]", "Node(Leaf, (i32=1, i32=1), Leaf)"}) {
    INFO(wrong);
    Result<Value> result = fromText(program.module, type, parseValue(wrong).assume_value());
    REQUIRE_FALSE(result.has_value());
    CHECK(result.assume_error().code() == ErrorCode::InvalidArgument);
  }
}

TEST_CASE("arguments are held against the signature", "[entry]") {
  const std::string text = R"(
type List[A] { Cons(A, List[A]), Nil }
def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32], %l: List[Tensor[(n,), float32]]) -> Tensor[(n,), float32]
    where n <= 3 { %y })";
  CHECK(run(text, {"1x2xf32=1 2", "1xf32=3", "[1xf32=4]"}) == "1xf32=3");
  CHECK(
      run(text, {"1x2xf32=1 2", "2xf32=3 4", "[]"}) ==
      "invalid argument: argument %y: dimension 0 is 2, but n was bound to 1 by dimension 0 of argument %x");
  CHECK(run(text, {"1x2xf32=1 2", "1xf32=3", "[1xf32=4, 2xf32=5 6]"}) ==
        "invalid argument: argument %l: item 1: dimension 0 is 2, but n was bound to 1 by dimension 0 of "
        "argument %x");
  CHECK(run(text, {"4x2xf32=1 2 3 4 5 6 7 8", "4xf32=1 2 3 4", "[]"}) ==
        "invalid argument: n <= 3 does not hold: n is 4, bound by dimension 0 of argument %x");
  CHECK(run(text, {"1x3xf32=1 2 3", "1xf32=3", "[]"}) ==
        "invalid argument: argument %x: dimension 1 is 3, expected 2");
  CHECK(run(text, {"1x2xi32=1 2", "1xf32=3", "[]"})
            .starts_with("invalid argument: argument %x: expected Tensor[(n, 2), float32]"));
  CHECK(run(text, {"1x2xf32=1 2", "1xf32=3"}) == "invalid argument: @main takes 3 arguments, found 2");
}

TEST_CASE("a failing program says where", "[evaluator]") {
  Program program(R"(
def @inner(%x: int32, %d: int32) -> int32 { 1 + %x / %d }
def @main(%d: int32) -> int32 { 2 + @inner(7, %d) })");
  Evaluator evaluator(program.module);
  Result<Value> result = evaluator.call(program.main(), {Value::scalar(DType::I32, 0)});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::ProgramError);
  const auto& trail = result.assume_error().programTrail();
  REQUIRE(trail.size() == 2);
  CHECK(trail[0].function == "inner");
  CHECK(trail[0].line == 2);
  CHECK(trail[0].file == "test.relay");
  CHECK(trail[1].function == "main");
  CHECK(trail[1].line == 3);
  // The evaluator is as good as new.
  Result<Value> again = evaluator.call(program.main(), {Value::scalar(DType::I32, 7)});
  REQUIRE(again.has_value());
  CHECK(program.text(again.assume_value()) == "i32=4");
}

TEST_CASE("runs end at their limits", "[evaluator]") {
  const std::string forever = "def @main(%x: int32) -> int32 { @main(%x + 1) }";
  CHECK(run(forever, {"i32=0"}, {.maxSteps = 1000}) == "limit reached: more than 1000 steps");
  // Tail calls need no frame.
  CHECK(run(forever, {"i32=0"}, {.maxSteps = 1000, .maxFrames = 2}) == "limit reached: more than 1000 steps");
  const std::string deep = "def @main(%x: int32) -> int32 { 1 + @main(%x) }";
  CHECK(run(deep, {"i32=0"}, {.maxFrames = 50}) == "limit reached: more than 50 calls within calls");
}

TEST_CASE("obligations fail with the values in the message", "[evaluator]") {
  const std::string text = R"(
def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) -> Tensor[(?,), float32] { concatenate((%x, %y)) + %x })";
  const std::string message = run(text, {"2xf32=1 2", "3xf32=1 2 3"});
  CHECK(message.starts_with("program error: add"));
  CHECK(message.find('5') != std::string::npos);
  CHECK(message.find('2') != std::string::npos);
}

TEST_CASE("a claim of a type that does not hold is a defect, and found", "[evaluator]") {
  Program program("def @main(%x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { let %y = tanh(%x); %y }");
  ir::Function& main = program.module.function(program.main());
  for (ir::VarInfo& info : main.vars)
    if (info.name == "y") info.type = program.module.types.tensor(DType::F32, {7});
  Evaluator evaluator(program.module);
  Result<Value> result = evaluator.call(program.main(), {program.value(0, "2xf32=1 2")});
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::Internal);
  CHECK(result.assume_error().message().starts_with("%y has type Tensor[(7,), float32]"));
}

TEST_CASE("external constants come from outside", "[evaluator]") {
  const std::string text = R"(
param @w : Tensor[(2,), float32] = "weights.w"
def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] { %x + @w })";
  CHECK(run(text, {"2xf32=1 2"}).starts_with("invalid argument: no value for param @w"));
  HostTensor weight{.dtype = DType::F32, .shape = {2}, .bytes = std::vector<std::byte>(8)};
  storeScalar(weight.bytes.data(), DType::F32, scalarBits(10.0F));
  storeScalar(weight.bytes.data() + 4, DType::F32, scalarBits(20.0F));
  EvaluatorOptions options;
  options.externals.emplace("weights.w", weight);
  CHECK(run(text, {"2xf32=1 2"}, std::move(options)) == "2xf32=11 22");
}

TEST_CASE("cells that hold each other go with the evaluator", "[evaluator]") {
  CHECK(run(R"(
def @main(%n: int32) -> int32 {
  let %r = ref(fn (%i: int32) -> int32 { %i });
  let %f = fn (%i: int32) -> int32 { let %g = ref_read(%r); if (%i == 0) { 0 } else { 1 + %g(%i - 1) } };
  ref_write(%r, %f);
  %f(%n)
})",
            {"i32=5"}) == "i32=5");
}

TEST_CASE("a depth of 10^6 calls is no depth of the C stack", "[evaluator][depth]") {
  CHECK(run("def @main(%n: int32) -> int32 { if (%n == 0) { 0 } else { 1 + @main(%n - 1) } }",
            {effort("i32=1000000", "i32=20000")}) == effort("i32=1000000", "i32=20000"));
}

TEST_CASE("joins of blocks in blocks end where their block ends", "[evaluator]") {
  const std::string text = R"(
def @main(%n: int32) -> (int32, int32) {
  let %a = {
    let %outer = fn (%i: int32, %t: int32, join=1) -> int32 {
      let %leave = fn (%v: int32, join=1) -> int32 { let %w = %v + 1000; %w };
      if (%i == %n) { let %r = %leave(%t); %r } else {
        let %again = fn (%j: int32, %s: int32, join=1) -> int32 {
          if (%j == %i) { let %r = %outer(%i + 1, %s); %r } else { let %r = %again(%j + 1, %s + 1); %r }
        };
        let %r = %again(0, %t);
        %r
      }
    };
    let %r = %outer(0, 0);
    %r
  };
  (%a, %n)
})";
  CHECK(run(text, {"i32=4"}) == "(i32=1006, i32=4)");
}

}  // namespace
}  // namespace baton::eval
