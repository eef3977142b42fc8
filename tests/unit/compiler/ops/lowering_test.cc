// Single operators and small groups: the lowered kernel, interpreted, gives the bits of the
// reference versions.
#include <catch2/catch.hpp>

#include "kernels/loop/printer.h"
#include "tests/unit/compiler/ops/group_program.h"
#include "tests/unit/compiler/ops/random_tensors.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;
using Ints = std::vector<int64_t>;

namespace {

ir::Attrs attrs(std::initializer_list<std::pair<std::string_view, ir::AttrValue>> list) {
  ir::Attrs out;
  for (const auto& [name, value] : list) out.set(name, value);
  return out;
}

/// Runs both ways; they must agree in results or in failing.
Outcome check(GroupProgram& program, const std::vector<Tensor>& inputs) {
  REQUIRE(program.typeError() == std::nullopt);
  const Outcome expected = program.evaluate(inputs);
  const auto lowered = program.lower();
  if (!lowered) FAIL(lowered.assume_error().message());
  if (expected.error) return expected;
  INFO(loop::print(lowered.assume_value().kernel));
  const Outcome found = program.interpret(lowered.assume_value(), inputs, expected);
  if (found.error) FAIL(*found.error);
  REQUIRE(found.results.size() == expected.results.size());
  for (size_t i = 0; i < found.results.size(); ++i)
    CHECK(difference(expected.results[i], found.results[i]) == "");
  return expected;
}

}  // namespace

TEST_CASE("an elementwise operator in its simplest form") {
  GroupProgram program;
  const Handle x = program.param(DType::F32, {2, 3});
  program.result(program.call("negative", {x}));
  const Outcome outcome = check(program, {tensorOf(DType::F32, {2, 3}, {1, 2, 3, 4, 5, -6})});
  CHECK(textOf(outcome.results[0]) == "-1 -2 -3 -4 -5 6");
}

TEST_CASE("scalars are scalars of the kernel") {
  GroupProgram program;
  const Handle x = program.param(DType::F32, {3});
  const Handle s = program.param(DType::F32, std::initializer_list<int64_t>{});
  const Handle t = program.call("multiply", {s, s});
  program.result(program.call("add", {x, t}));
  program.result(t);
  const Outcome outcome =
      check(program, {tensorOf(DType::F32, {3}, {1, 2, 3}), tensorOf(DType::F32, {}, {3})});
  CHECK(textOf(outcome.results[0]) == "10 11 12");
  CHECK(textOf(outcome.results[1]) == "9");
}

TEST_CASE("kernels broadcast extents that only the run tells") {
  for (const auto& [left, right] :
       {std::pair<int64_t, int64_t>{3, 3}, {1, 3}, {3, 1}, {1, 1}, {0, 1}, {0, 0}}) {
    GroupProgram program;
    const Handle x = program.param(DType::F32, {program.symbol("n"), DimExpr::constant(2)});
    const Handle y = program.param(DType::F32, {program.symbol("m"), DimExpr::constant(2)});
    program.result(program.call("add", {x, y}));
    Random random(7);
    const std::vector<Tensor> inputs = {random.tensor(DType::F32, {left, 2}),
                                        random.tensor(DType::F32, {right, 2})};
    CHECK(program.checkObligations(inputs) == std::nullopt);
    check(program, inputs);
  }
}

TEST_CASE("softmax and a normalisation are one kernel each, without scratch") {
  Random random(11);
  GroupProgram softmax;
  const DimExpr n = softmax.symbol("n");
  softmax.result(softmax.call("nn.softmax", {softmax.param(DType::F32, {n, DimExpr::constant(37)})}));
  check(softmax, {random.tensor(DType::F32, {5, 37})});
  CHECK(softmax.lower().value().kernel.scratch.empty());

  GroupProgram norm;
  const Handle x = norm.param(DType::F32, {4, 70});
  const Handle scale = norm.param(DType::F32, {70});
  const ir::Attrs last = attrs({{"axis", Ints{-1}}, {"keepdims", true}});
  const Handle centred = norm.call("subtract", {x, norm.call("mean", {x}, last)});
  const Handle variance = norm.call("mean", {norm.call("multiply", {centred, centred})}, last);
  const Handle epsilon = norm.constant(tensorOf(DType::F32, {}, {1e-5}));
  const Handle factor = norm.call("rsqrt", {norm.call("add", {variance, epsilon})});
  norm.result(norm.call("multiply", {norm.call("multiply", {centred, factor}), scale}));
  check(norm, {random.tensor(DType::F32, {4, 70}), random.tensor(DType::F32, {70})});
  CHECK(norm.lower().value().kernel.scratch.empty());
}

TEST_CASE("rows of powers are computed once") {
  Random random(23);
  for (const DType dtype : {DType::F32, DType::F16}) {
    GroupProgram program;
    program.result(program.call("nn.softmax", {program.param(dtype, {5, 40})}));
    check(program, {random.tensor(dtype, {5, 40})});
    const loop::Kernel kernel = program.lower().value().kernel;
    // exp is two shifts by the mantissa's width; once, not twice.
    const std::string text = loop::print(kernel);
    size_t shifts = 0;
    for (size_t at = text.find(" = shl "); at != std::string::npos; at = text.find(" = shl ", at + 1))
      ++shifts;
    CHECK(shifts == 3);
    // Of f16 the powers stay f32, and the output has no room for them.
    CHECK(kernel.scratch.size() == (dtype == DType::F16 ? 1 : 0));
  }
}

TEST_CASE("what is needed at many indices is stored, not computed again and again") {
  Random random(29);
  GroupProgram program;
  Handle x = program.param(DType::F32, {20});
  const Handle a = program.param(DType::I32, {20});
  const Handle b = program.param(DType::I32, {20});
  for (int i = 0; i < 40; ++i)
    x = program.call("maximum", {program.call("take", {x, a}), program.call("take", {x, b})});
  program.result(x);
  check(program, {random.tensor(DType::F32, {20}), random.integers(DType::I32, {20}, 0, 19),
                  random.integers(DType::I32, {20}, 0, 19)});
  CHECK(program.lower().value().kernel.nodes.size() < 5000);
}

TEST_CASE("groups have a greatest size") {
  GroupProgram program;
  Handle x = program.param(DType::F32, {3});
  for (size_t i = 0; i < kMaxGroupSize; ++i) x = program.call("negative", {x});
  program.result(x);
  check(program, {tensorOf(DType::F32, {3}, {1, 2, 3})});
  GroupProgram larger;
  x = larger.param(DType::F32, {3});
  for (size_t i = 0; i <= kMaxGroupSize; ++i) x = larger.call("negative", {x});
  larger.result(x);
  CHECK(larger.lower().error().message() == "group group: more than 256 operators");
}

TEST_CASE("constants of several values have to be parameters") {
  GroupProgram program;
  const Handle x = program.param(DType::F32, {2});
  program.result(program.call("add", {x, program.constant(tensorOf(DType::F32, {2}, {1, 2}))}));
  CHECK(program.lower().error().code() == ErrorCode::Unsupported);
  GroupProgram splat;
  const Handle y = splat.param(DType::F32, {2});
  splat.result(splat.call("add", {y, splat.constant(tensorOf(DType::F32, {2}, {3, 3}))}));
  CHECK(textOf(check(splat, {tensorOf(DType::F32, {2}, {1, 2})}).results[0]) == "4 5");
}

TEST_CASE("a reduction that would be repeated is stored") {
  Random random(13);
  GroupProgram program;
  const Handle x = program.param(DType::F32, {6, 9});
  const Handle sums = program.call("sum", {x}, attrs({{"axis", Ints{0}}}));
  program.result(program.call("divide", {x, sums}));
  check(program, {random.tensor(DType::F32, {6, 9})});
  CHECK(program.lower().value().kernel.scratch.size() == 1);
}

TEST_CASE("a matrix that all batches share is packed once") {
  Random random(37);
  GroupProgram program;
  const Handle left = program.param(DType::F32, {3, 20, 9});
  const Handle right = program.param(DType::F32, {70, 20});
  program.result(
      program.call("nn.matmul", {left, right}, attrs({{"transpose_a", true}, {"transpose_b", true}})));
  check(program, {random.tensor(DType::F32, {3, 20, 9}), random.tensor(DType::F32, {70, 20})});
  const loop::Kernel kernel = program.lower().value().kernel;
  REQUIRE(kernel.scratch.size() == 1);
  std::vector<std::optional<int64_t>> extents;
  for (const DimExpr& extent : kernel.scratch[0].extents) extents.push_back(extent.asConstant());
  CHECK(extents == std::vector<std::optional<int64_t>>{2, 20, 64});
}

TEST_CASE("a product hands its elements to its consumers") {
  Random random(17);
  GroupProgram program;
  const Handle x = program.param(DType::F32, {7, 5});
  const Handle w = program.param(DType::F32, {70, 5});
  const Handle bias = program.param(DType::F32, {70});
  const Handle h = program.call("nn.bias_add", {program.call("nn.dense", {x, w}), bias});
  program.result(program.call("tanh", {h}));
  check(program, {random.tensor(DType::F32, {7, 5}), random.tensor(DType::F32, {70, 5}),
                  random.tensor(DType::F32, {70})});
}

TEST_CASE("two products, the first of which is stored") {
  Random random(19);
  GroupProgram program;
  const Handle x = program.param(DType::F32, {7, 5});
  const Handle w = program.param(DType::F32, {9, 5});
  const Handle v = program.param(DType::F32, {9, 9});
  const Handle h = program.call("nn.relu", {program.call("nn.dense", {x, w})});
  const Handle y = program.call("nn.dense", {h, v});
  program.result(program.call("add", {y, h}));
  program.result(program.call("nn.softmax", {y}));
  check(program, {random.tensor(DType::F32, {7, 5}), random.tensor(DType::F32, {9, 5}),
                  random.tensor(DType::F32, {9, 9})});
}

TEST_CASE("outputs may take the memory of inputs that are read in place") {
  GroupProgram program;
  const Handle x = program.param(DType::F32, {4, 3});
  const Handle row = program.param(DType::F32, {3});
  program.result(program.call("add", {x, row}));
  const auto lowered = program.lower();
  REQUIRE(lowered);
  CHECK(lowered.assume_value().kernel.descriptor.outputs[0].mayAlias == std::vector<uint32_t>{0});
  GroupProgram transposed;
  const Handle y = transposed.param(DType::F32, {3, 3});
  transposed.result(transposed.call("add", {y, transposed.call("transpose", {y})}));
  CHECK(transposed.lower().value().kernel.descriptor.outputs[0].mayAlias.empty());
  GroupProgram softmax;
  softmax.result(softmax.call("nn.softmax", {softmax.param(DType::F32, {3, 3})}));
  CHECK(softmax.lower().value().kernel.descriptor.outputs[0].mayAlias.empty());
}

TEST_CASE("a costly epilogue of a product is written once, a cheap one into each tile") {
  const auto nodesOf = [](const std::string& epilogue) {
    GroupProgram program;
    const Handle a = program.param(DType::F32, {program.symbol("n"), program.symbol("k")});
    const Handle b = program.param(DType::F32, {program.symbol("k"), DimExpr::constant(96)});
    const Handle product = program.call("nn.matmul", {a, b});
    program.result(epilogue.empty() ? product : program.call(epilogue, {product}));
    const auto lowered = program.lower();
    REQUIRE(lowered);
    return static_cast<int64_t>(lowered.assume_value().kernel.nodes.size());
  };
  const int64_t plain = nodesOf("");
  CHECK(nodesOf("nn.relu") < plain + 200);
  CHECK(nodesOf("erf") < plain + 200);
  CHECK(nodesOf("tanh") < plain + 200);
}
