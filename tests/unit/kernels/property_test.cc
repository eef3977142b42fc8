// Random kernels: the interpreter and native code of every level give the same bits.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "compiled_harness.h"
#include "dims.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/printer.h"
#include "tests/effort.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::LocalIndex;
using loop::LoopKind;
using loop::Op;
using loop::ReduceOp;
using loop::Value;

/// Writes a kernel over x[m, n], y[n], g[m, n] (any i64) with outputs of all shapes.
class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed) : random_(seed) {}

  Kernel make() {
    const DType types[] = {DType::F32, DType::F64,  DType::I32, DType::U8,
                           DType::I64, DType::BF16, DType::F16, DType::Bool};
    stored_ = types[pick(8)];
    computed_ =
        stored_ == DType::F16 || stored_ == DType::BF16 || stored_ == DType::Bool ? DType::F32 : stored_;
    KernelDescriptor d;
    d.name = "random";
    d.symbols = {{.name = "m", .index = 0, .axis = 0}, {.name = "n", .index = 0, .axis = 1}};
    d.inputs = {{.dtype = stored_, .extents = {sym(0), sym(1)}},
                {.dtype = stored_, .extents = {sym(1)}},
                {.dtype = DType::I64, .extents = {sym(0), sym(1)}}};
    d.outputs = {{.dtype = stored_, .extents = {sym(0), sym(1)}},
                 {.dtype = stored_, .extents = {sym(0)}},
                 {.dtype = DType::I64, .extents = {sym(0), sym(1)}}};
    d.scalarInputs = {computed_};
    Builder b(d);
    b_ = &b;
    const LoopKind outer[] = {LoopKind::Serial, LoopKind::Parallel, LoopKind::Serial};
    b.loop(outer[pick(3)], b.symbol(0), [&](Value i) { row(i); });
    return b.take();
  }

  DType storedType() const { return stored_; }
  DType computedType() const { return computed_; }

 private:
  uint32_t pick(uint32_t count) { return random_() % count; }

  Value constant() { return b_->constant(computed_, static_cast<double>(pick(9)) - 4.0); }
  Value input(uint32_t buffer, std::initializer_list<Value> indices) {
    return b_->cast(b_->load(b_->input(buffer), indices), computed_);
  }

  /// A value of the computed type at (i, j).
  Value leaf(Value i, Value j) {
    switch (pick(6)) {
      case 0: return input(1, {j});
      case 1: return constant();
      case 2: return b_->scalarInput(0);
      case 3: {  // a gather, clamped
        const Value at = b_->clampIndex(b_->load(b_->input(2), {i, j}), b_->symbol(1));
        return input(0, {i, at});
      }
      default: return input(0, {i, j});
    }
  }

  Value chain(Value i, Value j, uint32_t length) {
    std::vector<Value> values = {leaf(i, j), leaf(i, j)};
    const auto any = [&] { return values[pick(static_cast<uint32_t>(values.size()))]; };
    const bool isF = isFloat(computed_);
    for (uint32_t step = 0; step < length; ++step) {
      switch (pick(12)) {
        case 0: values.push_back(any() + any()); break;
        case 1: values.push_back(any() - any()); break;
        case 2: values.push_back(any() * any()); break;
        case 3: values.push_back(min(any(), any())); break;
        case 4: values.push_back(max(any(), any())); break;
        case 5: values.push_back(select(any() < any(), any(), any())); break;
        case 6: values.push_back(isF ? any() / any() : any() ^ any()); break;
        case 7: values.push_back(isF ? fma(any(), any(), any()) : b_->binary(Op::Shr, any(), any())); break;
        case 8:
          if (isF) {
            values.push_back(pick(2) == 0 ? exp(any()) : tanh(any()));
          } else {
            values.push_back(
                b_->binary(Op::FloorDiv, any(), b_->constant(computed_, 1 + static_cast<double>(pick(7)))));
          }
          break;
        case 9: values.push_back(isF ? round(any()) : ~any()); break;
        case 10: values.push_back(cast(cast(any(), DType::I32), computed_)); break;
        default: values.push_back(leaf(i, j)); break;
      }
    }
    return values.back();
  }

  void row(Value i) {
    Builder& b = *b_;
    const Value n = b.symbol(1);
    Value scale = constant();
    if (pick(2) == 0) {
      const ReduceOp ops[] = {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min};
      const uint32_t length = pick(6);
      scale = b.reduce(ops[pick(4)], n, [&](Value j) { return chain(i, j, length); });
    }
    const bool hasRowOutput = pick(2) == 0;
    if (hasRowOutput) b.store(b.output(1), {i}, b.cast(scale, stored_));
    const LoopKind inner[] = {LoopKind::Vectorized, LoopKind::Vectorized, LoopKind::Serial};
    b.loop(inner[pick(3)], n, [&](Value j) {
      Value value = chain(i, j, pick(10)) + scale;
      if (pick(3) == 0) {  // through a local and a branch
        const LocalIndex local = b.local(computed_);
        b.set(local, value);
        b.ifThenElse(
            chain(i, j, 2) > constant(), [&] { b.set(local, value + chain(i, j, 2)); },
            [&] {
              if (pick(2) == 0) b.set(local, constant());
            });
        value = b.get(local);
      }
      if (pick(3) == 0) {  // a short inner loop
        const LocalIndex sum = b.local(computed_);
        b.serial(b.i64(static_cast<int64_t>(pick(4))), [&](Value) { b.set(sum, b.get(sum) + value); });
        value = b.get(sum);
      }
      if (pick(4) == 0) {  // each element an own reduction down a column
        value = value + b.reduce(pick(2) == 0 ? ReduceOp::Sum : ReduceOp::Max, b.symbol(0),
                                 [&](Value k) { return input(0, {k, j}); });
      }
      b.store(b.output(0), {i, j}, b.cast(value, stored_));
      if (pick(2) == 0) b.store(b.output(2), {i, j}, b.load(b.input(2), {i, j}) * b.i64(3) + j);
    });
  }

  std::mt19937 random_;
  Builder* b_ = nullptr;
  DType stored_ = DType::F32;
  DType computed_ = DType::F32;
};

std::vector<std::byte> elements(DType type, int64_t count, std::mt19937_64& random) {
  std::vector<std::byte> bytes(static_cast<size_t>(count * sizeBytes(type)));
  for (int64_t i = 0; i < count; ++i) {
    const double special[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1e-44, 3.4e38, -1.0};
    const double value = random() % 16 == 0
                             ? special[random() % 8]
                             : static_cast<double>(static_cast<int64_t>(random() % 20001) - 10000) / 128;
    storeScalar(bytes.data() + i * sizeBytes(type), type, convertScalar(scalarBits(value), DType::F64, type));
  }
  return bytes;
}

std::string check(uint32_t seed) {
  RandomKernel generator(seed);
  const Kernel kernel = generator.make();
  std::mt19937_64 random(seed);
  std::vector<testing::KernelRun> runs;
  const int64_t shapes[][2] = {{0, 5}, {3, 0}, {1, 1}, {2, 7}, {3, 8}, {2, 33}, {1, 67}, {5, 131}, {1, 4300}};
  for (const auto& [m, n] : shapes) {
    testing::KernelRun run;
    run.inputs = {
        elements(generator.storedType(), m * n, random), elements(generator.storedType(), n, random), {}};
    std::vector<int64_t> indices(static_cast<size_t>(m * n));
    for (int64_t& index : indices) index = static_cast<int64_t>(random() % 200) - 20;
    run.inputs[2] = testing::bytesOf(indices);
    for (const KernelOperand& output : kernel.descriptor.outputs) {
      const int64_t count = output.extents.size() == 2 ? m * n : m;
      run.outputBytes.push_back(static_cast<size_t>(count * sizeBytes(output.dtype)));
    }
    const uint64_t scalar = convertScalar(scalarBits(2.5), DType::F64, generator.computedType());
    run.scalars = {m, n, static_cast<int64_t>(scalar)};
    runs.push_back(run);
  }
  // The text form carries the kernel whole.
  const std::string text = loop::print(kernel);
  Result<Kernel> parsed = loop::parseKernel(text);
  if (!parsed.has_value()) return parsed.error().message() + "\n" + text;
  if (loop::print(parsed.value()) != text) return "the text does not survive the round trip\n" + text;
  return testing::compareAll(parsed.value(), runs);
}

TEST_CASE("property: random kernels give the same bits interpreted and compiled") {
  const char* const first = std::getenv("BATON_FIRST_SEED");
  const char* const count = std::getenv("BATON_SEEDS");
  const auto begin = static_cast<uint32_t>(first == nullptr ? 1 : std::atoi(first));
  const auto end = begin + static_cast<uint32_t>(count == nullptr ? effort(60, 15) : std::atoi(count));
  for (uint32_t seed = begin; seed < end; ++seed) {
    INFO("seed " << seed);
    CHECK(check(seed) == "");
  }
}

}  // namespace
}  // namespace baton
