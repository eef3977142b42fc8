// What budgets count of a call.
#include <catch2/catch.hpp>

#include "compiler/ops/reference.h"
#include "compiler/ops/work.h"

using namespace baton;
using namespace baton::ops;

namespace {

KnownInput matrix(int64_t rows, int64_t columns, DType dtype = DType::F32) {
  return {dtype, {DimExpr::constant(rows), DimExpr::constant(columns)}, std::nullopt, std::nullopt};
}

uint64_t work(std::string_view name, std::vector<KnownInput> inputs, const KnownInput& result) {
  const OpDef* op = OpRegistry::instance().find(name);
  REQUIRE(op != nullptr);
  const ir::Attrs attrs = defaultAttrs(*op);
  return workOf({op, &attrs, inputs.size()}, inputs, std::span(&result, 1));
}

}  // namespace

TEST_CASE("work is what a call reads and makes", "[work]") {
  CHECK(work("add", {matrix(2, 3), matrix(2, 3)}, matrix(2, 3)) == 18);
  CHECK(work("tanh", {matrix(0, 3)}, matrix(0, 3)) == 0);
  CHECK(work("nn.dense", {matrix(2, 5), matrix(3, 5)}, matrix(2, 3)) == 10 + 15 + 6 * 5);
}

TEST_CASE("work that 64 bits do not count is the largest number", "[work]") {
  const int64_t many = int64_t{1} << 40;
  CHECK(work("tanh", {matrix(many, many)}, matrix(many, many)) == UINT64_MAX);
  CHECK(work("add", {matrix(many, many / 65536), matrix(1, 1)}, matrix(many, many)) == UINT64_MAX);
  CHECK(work("tanh", {matrix(many, many), matrix(0, 1)}, matrix(many, 0)) == UINT64_MAX);
}

TEST_CASE("work of an operator that is made of others is theirs", "[work]") {
  const uint64_t alone = work("exp", {matrix(4, 8)}, matrix(4, 8));
  CHECK(work("nn.softmax", {matrix(4, 8)}, matrix(4, 8)) > 3 * alone);
  CHECK(work("nn.log_softmax", {matrix(4, 8)}, matrix(4, 8)) > 3 * alone);
  // Written as one cast, or as nothing: the other tensor is not read.
  CHECK(work("cast_like", {matrix(4, 8), matrix(100, 100, DType::F64)}, matrix(4, 8, DType::F64)) == 64);
  CHECK(work("cast_like", {matrix(4, 8), matrix(100, 100)}, matrix(4, 8)) == 0);
}

TEST_CASE("a budget counts what an operator is made of", "[work]") {
  const OpDef* softmax = OpRegistry::instance().find("nn.softmax");
  const ir::Attrs attrs = defaultAttrs(*softmax);
  const std::vector<float> data(32, 1.0F);
  const std::vector<int64_t> shape{4, 8};
  const TensorView view{DType::F32, shape, reinterpret_cast<const std::byte*>(data.data())};
  // The input and the result alone would fit.
  uint64_t budget = 64;
  const auto refused = evaluateReference(*softmax, attrs, std::span(&view, 1), budget);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.assume_error().code() == ErrorCode::LimitReached);
  CHECK(budget == 64);
  budget = 1000;
  REQUIRE(evaluateReference(*softmax, attrs, std::span(&view, 1), budget).has_value());
  CHECK(budget == 1000 - work("nn.softmax", {matrix(4, 8)}, matrix(4, 8)));
}
