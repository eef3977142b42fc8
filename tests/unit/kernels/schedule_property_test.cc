// No bit of a result changes, whatever primitives are applied to whatever.
#include <map>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "kernel_harness.h"
#include "kernels/loop/interpreter.h"
#include "kernels/loop/printer.h"
#include "kernels/loop/verifier.h"
#include "kernels/schedule/schedule.h"
#include "tests/effort.h"
#include "tests/unit/kernels/schedule_kernels.h"

namespace baton::schedule::test {
namespace {

/// Kernels with stages, products, reductions; all loops have names.
const std::vector<std::string>& kernels() {
  static const std::vector<std::string> all = {
      kRows,
      kStages,
      kProduct,
      kSums,
      // So many rows that their sums can be put aside.
      R"(kernel "chunks" {
  symbol n = operand 0 axis 1
  input i32[7, n]
  input i32[n, 5]
  output i32[7, 5]
  for %0 < 7 as i {
    local l0 i32[5]
    for %1 < $n as k {
      %2 = load in0[%0, %1]
      for %3 < 5 as j {
        %4 = load in1[%1, %3] %5 = get l0[%3] %6 = mul i32 %2, %4 %7 = add i32 %5, %6 set l0[%3], %7 }
    }
    for %8 < 5 as r { %9 = get l0[%8] store out0[%0, %8], %9 }
  }
})",
      kTurned,
      R"(kernel "two stages" {
  symbol m = operand 0 axis 0
  symbol n = operand 0 axis 1
  input i32[m, n]
  output i32[m, n]
  scratch i32[m, n]
  scratch i32[n, m]
  for %0 < $m as a { for %1 < $n as b {
    %2 = load in0[%0, %1] %3 = add i32 %2, i32(7) store tmp0[%0, %1], %3 } }
  for %4 < $n as c { for %5 < $m as d {
    %6 = load tmp0[%5, %4] %7 = mul i32 %6, %6 store tmp1[%4, %5], %7 } }
  for %8 < $m as e { for %9 < $n as f {
    %10 = load tmp1[%9, %8] %11 = load tmp0[%8, %9] %12 = sub i32 %10, %11 store out0[%8, %9], %12 } }
})",
      R"(kernel "blocks" {
  symbol n = operand 0 axis 0
  input f32[n, 8]
  output f32[n, 4]
  output f32[n]
  scratch f32[n, 8]
  for %0 < $n as a { for %1 < 8 as b { %2 = load in0[%0, %1] %3 = abs f32 %2 store tmp0[%0, %1], %3 } }
  for %4 < $n as i {
    for %5 < 4 as j {
      %6 = load tmp0[%4, %5] %7 = add i64 %5, 4 %8 = load tmp0[%4, %7] %9 = add f32 %6, %8
      store out0[%4, %5], %9 }
    %10 = reduce max (%11 < 8) as r { %12 = load tmp0[%4, %11] yield %12 }
    store out1[%4], %10
  }
})",
      R"(kernel "totals" {
  symbol n = operand 0 axis 0
  input i32[n]
  output i32[3]
  %0 = reduce sum (%1 < $n) as r { %2 = load in0[%1] yield %2 }
  %3 = reduce min (%4 < $n) as q { %5 = load in0[%4] yield %5 }
  for %6 < 3 as i { %7 = eq i64 %6, 1 %8 = select i32 %7, %0, %3 store out0[%6], %8 }
})",
      R"(kernel "running" {
  symbol n = operand 0 axis 0
  input i32[n]
  output i32[n, 5]
  for %0 < $n as i { for %1 < 5 as j {
    %2 = load in0[%0] %3 = sub i64 %0, 1 %4 = max i64 %3, 0 %5 = eq i64 %0, 0 local l0 i32
    if %5 { set l0, %2 } else { %6 = load out0[%4, %1] %7 = add i32 %6, %2 set l0, %7 }
    %8 = get l0 store out0[%0, %1], %8 } }
})",
      // Steps of two that touch three elements each.
      R"(kernel "overlap" {
  symbol n = operand 0 axis 0
  input i32[n]
  output i32[2*n + 1]
  for %0 < $n as i { %1 = load in0[%0] %2 = mul i64 %0, 2 for %3 < 3 as j {
    %4 = add i64 %2, %3 %5 = cast i32 %3 %6 = add i32 %1, %5 store out0[%4], %6 } }
  for %7 < $n as k { %8 = mul i64 %7, 2 for %9 < 2 as l { %10 = add i64 %8, %9
    %11 = load out0[%10] %12 = neg i32 %11 store out0[%10], %12 } }
})",
      // Each loop hands something on to its next iteration.
      R"(kernel "diagonal" {
  output i32[9, 9]
  for %0 < 9 as a { for %1 < 9 as b { %2 = mul i64 %0, 10 %3 = add i64 %2, %1 %4 = cast i32 %3
    store out0[%0, %1], %4 } }
  for %5 < 8 as i { for %6 < 8 as j { %7 = add i64 %5, 1 %8 = add i64 %6, 1 %9 = load out0[%7, %6]
    %10 = load out0[%5, %8] %11 = mul i32 %9, i32(3) %12 = sub i32 %11, %10 store out0[%5, %8], %12 } }
})",
  };
  return all;
}

class RandomSchedule {
 public:
  explicit RandomSchedule(uint32_t seed) : random_(seed) {}

  Primitive next(const loop::Kernel& kernel) {
    const auto loop = [&] {
      return kernel.loopNames.empty() ? std::string("none") : kernel.loopNames[pick(kernel.loopNames.size())];
    };
    const auto buffer = [&] {
      const std::string kinds[] = {"in0", "in1", "out0", "out1", "tmp0", "tmp1"};
      return kinds[pick(6)];
    };
    const auto number = [&] { return static_cast<int64_t>(1 + pick(9)); };
    const auto fresh = [&] { return fmt::format("x{}", count_++); };
    Primitive p{.kind = static_cast<Kind>(pick(kKindCount))};
    switch (p.kind) {
      case Kind::Split:
        p.targets = {loop()};
        p.numbers = {number()};
        p.results = {fresh(), fresh()};
        break;
      case Kind::Fuse:
        p.targets = {loop(), loop()};
        p.results = {fresh()};
        break;
      case Kind::Reorder:
        p.targets = {loop(), loop()};
        if (pick(2) == 0) p.targets.push_back(loop());
        break;
      case Kind::Tile:
        p.targets = {loop(), loop()};
        p.numbers = {number(), number()};
        p.results = {fresh(), fresh(), fresh(), fresh()};
        break;
      case Kind::Vectorize:
      case Kind::Unroll: p.targets = {loop()}; break;
      case Kind::Parallel:
        p.targets = {loop()};
        p.numbers = {number()};
        break;
      case Kind::ComputeInline: p.targets = {buffer()}; break;
      case Kind::ComputeAt:
      case Kind::CacheRead:
      case Kind::CacheWrite: p.targets = {buffer(), loop()}; break;
      case Kind::Rfactor:
        p.targets = {loop()};
        p.numbers = {number()};
        p.results = {fresh()};
        break;
      case Kind::Pack:
        p.targets = {buffer()};
        p.numbers = {static_cast<int64_t>(pick(3)), number()};
        break;
      case Kind::Transpose:
        p.targets = {loop(), loop()};
        p.numbers = {static_cast<int64_t>(2) << pick(3)};
        break;
      case Kind::Tensorize:
        p.targets = {loop()};
        p.numbers = {number(), static_cast<int64_t>(1 << pick(3)), static_cast<int64_t>(2 + pick(20)),
                     static_cast<int64_t>(pick(4))};
        break;
    }
    return p;
  }
  size_t pick(size_t count) { return random_() % count; }

 private:
  std::mt19937 random_;
  int count_ = 0;
};

/// With iterations in lanes as parallel ones, where the rules allow it: those run in any order here.
loop::Kernel withoutLanes(const loop::Kernel& kernel) {
  loop::Kernel changed = kernel;
  for (loop::Node& node : changed.nodes)
    if (node.op == loop::Op::For && node.loopKind == loop::LoopKind::Vectorized) {
      node.loopKind = loop::LoopKind::Parallel;
      node.bits = 1;
    }
  return loop::verify(changed).has_value() ? changed : kernel;
}

/// Runs parallel iterations from the last to the first.
std::vector<std::vector<std::byte>> run(const loop::Kernel& kernel, const std::vector<int64_t>& symbols) {
  const Result<loop::InterpretedKernel> interpreted = loop::InterpretedKernel::compile(kernel);
  if (!interpreted.has_value()) FAIL(interpreted.assume_error().message());
  std::mt19937 random(1);
  const auto sizeOf = [&](const KernelOperand& operand) {
    int64_t size = sizeBytes(operand.dtype);
    for (const DimExpr& extent : operand.extents)
      size *=
          extent.evaluate([&](DimSymbol symbol) { return std::optional(symbols[symbol.value()]); }).value();
    return static_cast<size_t>(size);
  };
  std::vector<std::vector<std::byte>> inputs;
  std::vector<void*> buffers;
  for (const KernelOperand& input : kernel.descriptor.inputs) {
    inputs.emplace_back(sizeOf(input));
    for (size_t at = 0; at < inputs.back().size(); at += static_cast<size_t>(sizeBytes(input.dtype)))
      storeScalar(
          inputs.back().data() + at, input.dtype,
          convertScalar(scalarBits(static_cast<double>(random() % 2001) - 1000), DType::F64, input.dtype));
  }
  std::vector<std::vector<std::byte>> outputs;
  for (const KernelOperand& output : kernel.descriptor.outputs) outputs.emplace_back(sizeOf(output));
  for (auto& input : inputs) buffers.push_back(input.data());
  for (auto& output : outputs) buffers.push_back(output.data());
  std::vector<int64_t> scalars = symbols;
  scalars.resize(symbols.size() + 1);
  baton::testing::TestContext context;
  BatonKernelContext backwards = *context.get();
  backwards.parallel_for = [](const BatonKernelContext* ctx, int64_t extent, int64_t, BatonParallelBody body,
                              void* closure) -> int32_t {
    for (int64_t i = extent; i-- > 0;)
      if (const int32_t failed = body(ctx, closure, i, i + 1)) return failed;
    return BATON_KERNEL_OK;
  };
  const int32_t status = interpreted.assume_value().run(&backwards, buffers.data(), scalars.data());
  if (status != BATON_KERNEL_OK) FAIL("status " << status << "\n" << loop::print(kernel));
  return outputs;
}

TEST_CASE("property: whatever is applied to whatever, results keep their bits") {
  std::map<Kind, int> accepted;
  const uint32_t rounds = effort(4000, 400);
  for (uint32_t seed = 0; seed < rounds; ++seed) {
    const loop::Kernel original = kernelOf(kernels()[seed % kernels().size()]);
    RandomSchedule random(seed);
    loop::Kernel kernel = original;
    Schedule schedule;
    for (int step = 0; step < 14; ++step) {
      const Primitive primitive = random.next(kernel);
      Result<loop::Kernel> result = schedule::apply(kernel, Schedule{primitive});
      INFO(loop::print(kernel) << print(Schedule{primitive}));
      if (!result.has_value()) {
        if (result.assume_error().code() != ErrorCode::InvalidArgument)
          FAIL(result.assume_error().describe());
        continue;
      }
      kernel = std::move(result).assume_value();
      schedule.push_back(primitive);
      ++accepted[primitive.kind];
    }
    if (schedule.empty()) continue;
    INFO(print(schedule) << loop::print(kernel));
    CHECK(loop::print(schedule::apply(original, parse(print(schedule)).value()).value()) ==
          loop::print(kernel));
    for (const int64_t m : {0, 1, 3, 9})
      for (const int64_t n : {0, 1, 7, 16}) {
        std::vector<int64_t> symbols = {m, n};
        symbols.resize(kernel.descriptor.symbols.size());
        CHECK(run(withoutLanes(kernel), symbols) == run(original, symbols));
      }
  }
  for (int kind = 0; kind < kKindCount; ++kind) {
    INFO(print(Schedule{{static_cast<Kind>(kind), {"x"}, {}, {}}}));
    CHECK(accepted[static_cast<Kind>(kind)] >= static_cast<int>(rounds / 200));
  }
}

}  // namespace
}  // namespace baton::schedule::test
