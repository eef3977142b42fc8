#include <catch2/catch.hpp>

#include "compiler/eval/evaluator.h"
#include "compiler/ir/op.h"
#include "compiler/ir/verifier.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/relations.h"
#include "compiler/passes/registry.h"
#include "program.h"
#include "tests/unit/compiler/ops/prepared_case.h"
#include "tests/unit/compiler/ops/rounds.h"

namespace baton::passes {
namespace {

using ops::OpDef;
using ops::TensorId;

void legalizeModule(ir::Module& module) {
  frontend::Diagnostics diagnostics;
  PassContext context{.diagnostics = diagnostics};
  const Result<void> result = findPass("legalize")->run(module, context);
  INFO((result.has_value() ? "" : result.assume_error().describe()));
  REQUIRE(result.has_value());
}

bool isLegal(const ir::Function& function) {
  for (const ir::Binding* binding : bindingsOf<ir::CallOp>(function))
    if (std::get<ir::CallOp>(binding->rhs).op->legal != nullptr) return false;
  return true;
}

/// What the last function of a module gives.
ops::test::Outcome evaluated(ir::Module& module, const std::vector<ops::test::Tensor>& inputs) {
  std::vector<eval::Value> arguments;
  for (const ops::test::Tensor& input : inputs)
    arguments.push_back(eval::Value::tensor({input.dtype, input.shape, input.bytes}));
  eval::Evaluator evaluator(module);
  const ir::GlobalId last(static_cast<uint32_t>(module.functions.size() - 1));
  const Result<eval::Value> result = evaluator.call(last, std::move(arguments));
  if (!result) return {{}, result.assume_error().message()};
  const eval::Value& value = result.assume_value();
  ops::test::Outcome outcome;
  const auto add = [&](const eval::HostTensor& tensor) {
    outcome.results.push_back({tensor.dtype, tensor.shape, tensor.bytes});
  };
  if (value.isTensor()) {
    add(value.asTensor());
  } else {
    for (const eval::Value& field : value.fields()) add(field.asTensor());
  }
  return outcome;
}

TEST_CASE("every operator that is made of others has their bits", "[legalize]") {
  const ops::test::Rounds some = ops::test::rounds(60);
  REQUIRE(ops::test::legalisedOperators().size() >= 5);
  for (const OpDef* op : ops::test::legalisedOperators()) {
    uint64_t count = 0;
    for (uint64_t round = some.first; round < some.first + some.count; ++round) {
      const ops::test::Case c = ops::test::makeCase(*op, round);
      ops::test::PreparedCase prepared;
      prepare(prepared, *op, c, round % 2 == 1);
      INFO(describe(*op, c));
      if (prepared.program.typeError() || prepared.broken || isTooLarge(prepared.expected)) continue;
      ops::test::Outcome found;
      prepared.program.rewrite([&](ir::Module& module) {
        legalizeModule(module);
        found = evaluated(module, prepared.inputs);
      });
      CHECK(isLegal(prepared.program.function()));
      if (prepared.expected.error) {
        CHECK(found.error);
        continue;
      }
      INFO(found.error.value_or(""));
      REQUIRE(!found.error);
      REQUIRE(found.results.size() == prepared.expected.results.size());
      for (size_t i = 0; i < found.results.size(); ++i)
        CHECK(difference(prepared.expected.results[i], found.results[i]).empty());
      ++count;
    }
    INFO(op->name);
    CHECK(2 * count >= some.count);
  }
}

/// ((a + b) / 2, a) in the type of b, which is written with an operator that is made of others itself.
Result<void> middle(ops::ExpandContext& context) {
  BATON_TRY_ASSIGN(const TensorId a, context.make("cast_like", {}, {context.input(0), context.input(1)}));
  BATON_TRY_ASSIGN(const TensorId sum, context.make("add", {}, {a, context.input(1)}));
  const TensorId half = context.scalar(context.resultType(), 0.5);
  BATON_TRY_ASSIGN(const TensorId result, context.make("multiply", {}, {sum, half}));
  context.become({result, a});
  return success();
}

/// The second and the first of two equal parts.
Result<void> swapped(ops::ExpandContext& context) {
  ir::Attrs attrs;
  attrs.set("indices_or_sections", int64_t{2});
  BATON_TRY_ASSIGN(const std::vector<TensorId> parts, context.makeAll("split", attrs, {context.input(0)}));
  context.become({parts[1], parts[0]});
  return success();
}

Result<void> wrongType(ops::ExpandContext& context) {
  context.become({context.input(0), context.input(0)});
  return success();
}

/// A program of which the result, a tuple, is made by `op` from the parameters.
struct Composed {
  OpDef op;
  Program program;
  Composed(ops::ExpandFunction legal, std::string_view text) : program(text) {
    op.name = "test.composed";
    op.legal = legal;
    ir::Function& main = program.module.functions[0];
    std::vector<ir::Atom> args(main.params.begin(), main.params.end());
    ir::Binding& binding = main.block(main.body).bindings.back();
    REQUIRE(std::holds_alternative<ir::MakeTuple>(binding.rhs));
    binding.rhs = ir::CallOp{&op, {}, std::move(args)};
  }
  ir::Binding& call() {
    ir::Function& main = program.module.functions[0];
    return main.block(main.body).bindings.back();
  }
  void legalize() {
    program.run({"legalize", "dead-code"});
    const Result<void> verified = ir::verify(program.module);
    INFO((verified.has_value() ? "" : verified.assume_error().message()) << program.text());
    REQUIRE(verified.has_value());
  }
  const std::vector<ir::Binding>& bindings() {
    const ir::Function& main = program.function("main");
    return main.block(main.body).bindings;
  }
};

constexpr std::string_view kMiddle = R"(
def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(m, 3), float64]) {
  let %a = cast(%x, dtype="float64");
  (%a, %a)
})";

TEST_CASE("composites of composites, constants and tuples", "[legalize]") {
  Composed composed(middle, kMiddle);
  const DimExpr n = composed.program.module.functions[0]
                        .var(composed.program.module.functions[0].params[0])
                        .type->dims()[0];
  const DimExpr m = composed.program.module.functions[0]
                        .var(composed.program.module.functions[0].params[1])
                        .type->dims()[0];
  composed.call().obligations.push_back({n, Relation::Eq, m, "rows differ", {}});
  const SourceLocation location = composed.call().location;
  REQUIRE(location.line == 4);
  composed.legalize();
  const std::vector<ir::Binding>& bindings = composed.bindings();
  REQUIRE(bindings.size() == 4);
  std::vector<std::string> names;
  for (const ir::Binding& binding : bindings) {
    CHECK(binding.location == location);
    if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) names.emplace_back(call->op->name);
  }
  CHECK(names == std::vector<std::string>{"cast", "add", "multiply"});
  CHECK(std::holds_alternative<ir::MakeTuple>(bindings.back().rhs));
  // The check stays in front of all; what it says is not checked again.
  REQUIRE(bindings[0].obligations.size() == 1);
  CHECK(bindings[0].obligations[0].message == "rows differ");
  for (size_t i = 1; i < bindings.size(); ++i) CHECK(bindings[i].obligations.empty());
  CHECK(composed.program.evaluate({"1x3xf32=1 2 3", "1x3xf64=3 0 5"}) == "(1x3xf64=2 1 4, 1x3xf64=1 2 3)");
  CHECK(composed.program.evaluate({"1x3xf32=1 2 3", "2x3xf64=3 0 5 3 0 5"}) == "error");
}

TEST_CASE("what the call did not check is checked where it is relied on", "[legalize]") {
  Composed composed(middle, kMiddle);
  composed.legalize();
  const std::vector<ir::Binding>& bindings = composed.bindings();
  REQUIRE(bindings.size() == 4);
  CHECK(bindings[0].obligations.empty());
  REQUIRE(bindings[1].obligations.size() == 1);
  CHECK(bindings[1].obligations[0].message.starts_with("add: "));
  CHECK(bindings[2].obligations.empty());
}

TEST_CASE("operators with several results in what is written", "[legalize]") {
  Composed composed(swapped, R"(
def @main(%x: Tensor[(4,), int32]) {
  let %a = split(%x, indices_or_sections=2);
  (%a.0, %a.1)
})");
  composed.legalize();
  CHECK(count<ir::Project>(composed.program.function("main")) == 2);
  CHECK(composed.program.evaluate({"4xi32=1 2 3 4"}) == "(2xi32=3 4, 2xi32=1 2)");
}

TEST_CASE("what is written must have the types that typing found", "[legalize]") {
  Composed composed(wrongType, kMiddle);
  PassContext context{.diagnostics = composed.program.diagnostics};
  const Result<void> result = findPass("legalize")->run(composed.program.module, context);
  REQUIRE(!result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::Internal);
  CHECK(result.assume_error().message() == "test.composed: written with operators that give another type");
}

TEST_CASE("checks in front of a branch hold inside of it, not after another branch", "[legalize]") {
  const Program program = checkSame(R"(
def @main(%c: bool, %x: Tensor[(n, 2), float32], %y: Tensor[(n, 2), float16]) {
  let %f = fn (%z: Tensor[(k, 2), float32]) -> Tensor[(k, 4), float16] {
    let %w = cast_like(%z, %y);
    concatenate((%w, %w), axis=1)
  };
  if (%c) { nn.batch_flatten(%f(on_device(%x))) } else { concatenate((%y, cast_like(%x, %y)), axis=1) }
})",
                                    {"prepare", "legalize"},
                                    {{"bool=true", "1x2xf32=1 2", "1x2xf16=3 4"},
                                     {"bool=false", "1x2xf32=1 2", "1x2xf16=3 4"},
                                     {"bool=true", "0x2xf32=", "0x2xf16="}});
  CHECK(isLegal(program.function("main")));
}

}  // namespace
}  // namespace baton::passes
