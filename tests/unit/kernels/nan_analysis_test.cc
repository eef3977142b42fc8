// Which reads of a float's bits or sign must see the canonical NaN.
#include <catch2/catch.hpp>
#include <functional>

#include "dims.h"
#include "kernels/codegen/nan_analysis.h"
#include "kernels/loop/builder.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::Node;
using loop::NodeId;
using loop::Op;
using loop::Value;

/// How many of the reads in out[i] = f(in[i]) need it, of how many.
std::pair<int, int> needed(DType type, const std::function<Value(Builder&, Value)>& f) {
  Builder b(testing::vectorDescriptor(DType::F32, type, 1));
  b.vectorized(b.symbol(0), [&](Value i) { b.store(b.output(0), {i}, f(b, b.load(b.input(0), {i}))); });
  const Kernel kernel = b.take();
  const codegen::NanAnalysis analysis(kernel);
  std::pair<int, int> counts;
  for (uint32_t i = 0; i < kernel.nodes.size(); ++i) {
    const Node& node = kernel.nodes[i];
    const bool reads = node.op == Op::CopySign || (node.op == Op::Bitcast && !isFloat(node.type) &&
                                                   isFloat(kernel.node(kernel.operandsOf(node)[0]).type));
    if (!reads) continue;
    ++counts.second;
    counts.first += analysis.needsCanonical(NodeId(i)) ? 1 : 0;
  }
  return counts;
}

}  // namespace

TEST_CASE("bits that are stored, chosen by, or divided by need the canonical NaN") {
  const auto bits = [](Builder& b, Value x) { return b.bitcast(x, DType::U32); };
  CHECK(needed(DType::U32, bits) == std::pair(1, 1));
  CHECK(needed(DType::F32, [&](Builder& b, Value x) {
          return b.cast(b.binary(Op::Add, bits(b, x), b.constantBits(DType::U32, 1)), DType::F32);
        }) == std::pair(1, 1));
  CHECK(needed(DType::F32, [&](Builder& b, Value x) {
          const Value isOdd = b.binary(Op::Lt, bits(b, x), b.constantBits(DType::U32, 7));
          return b.select(isOdd, b.f32(1), b.f32(2));
        }) == std::pair(1, 1));
  // The sign of NaN counts as positive.
  CHECK(needed(DType::F32, [](Builder& b, Value x) { return b.binary(Op::CopySign, b.f32(1), x); }) ==
        std::pair(1, 1));
  // What is added is NaN only where the bits say so.
  CHECK(needed(DType::F32, [&](Builder& b, Value x) {
          return b.bitcast(bits(b, x), DType::F32) + b.f32(1);
        }) == std::pair(1, 1));
  // The chosen one of two may be no NaN.
  CHECK(needed(DType::F32, [&](Builder& b, Value x) {
          const Value y = b.select(b.f32(1) < x, x, b.f32(3));
          return b.binary(Op::CopySign, y, x);
        }) == std::pair(1, 1));
}

TEST_CASE("any NaN will do where the result is one in any case") {
  const auto magic = [](Builder& b, Value x) { return b.bitcast(b.bitcast(x, DType::U32), DType::F32); };
  CHECK(needed(DType::F32, [&](Builder& b, Value x) { return magic(b, x) * x; }) == std::pair(0, 1));
  CHECK(needed(DType::F32, [&](Builder& b, Value x) {
          return b.select(b.f32(1) < x, magic(b, x), x + b.f32(1));
        }) == std::pair(0, 1));
  CHECK(needed(DType::F32, [](Builder& b, Value x) {
          return b.binary(Op::CopySign, b.unary(Op::Abs, x) * b.f32(2), x);
        }) == std::pair(0, 1));
  CHECK(needed(DType::F32, [](Builder&, Value x) { return loop::exp(x); }) == std::pair(0, 1));
  CHECK(needed(DType::F32, [](Builder&, Value x) { return loop::tanh(x); }) == std::pair(0, 2));
  CHECK(needed(DType::F32, [](Builder&, Value x) { return loop::sigmoid(x); }) == std::pair(0, 1));
  CHECK(needed(DType::F32, [](Builder&, Value x) { return loop::erf(x); }) == std::pair(0, 2));
}

}  // namespace baton
