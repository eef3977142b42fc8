#include "benchmarks/limits.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "benchmarks/memory.h"
#include "benchmarks/twins/twins.h"

namespace baton::benchmarks {

namespace {

volatile float sink;  // what loops compute goes here, so that they are not dropped

/// Turns of a loop that does `perTurn` each time, for `runs` of `count`.
uint64_t turnsFor(uint64_t runs, double count, int64_t perTurn) {
  return static_cast<uint64_t>(
      std::llround(static_cast<double>(runs) * count / static_cast<double>(perTurn)));
}

constexpr float kNearOne = 0.999f;
constexpr int64_t kStep = 128;  // elements

/// Elements of one half of `bytes`, whole steps.
int64_t halfOf(double bytes) {
  return std::max<int64_t>(static_cast<int64_t>(bytes / 2 / sizeof(float)) / kStep, 1) * kStep;
}

Workload copyWith(const char* name, double bytes, void (*copy)(float*, const float*, int64_t)) {
  const int64_t count = halfOf(bytes);
  const auto size = static_cast<size_t>(count) * sizeof(float);
  auto memory = std::make_shared<std::pair<Memory, Memory>>(Memory(size), Memory(size));
  // The size is rounded; a run is what was asked for.
  const double share = bytes / static_cast<double>(2 * size);
  return {name, [=](uint64_t runs) {
            const auto times = std::max<uint64_t>(turnsFor(runs, share, 1), 1);
            for (uint64_t i = 0; i < times; ++i)
              copy(static_cast<float*>(memory->second.data()), static_cast<float*>(memory->first.data()),
                   count);
          }};
}

}  // namespace

Workload addAndBranchLoop() {
  return {"add-and-branch loop", [](uint64_t turns) {
            uint64_t sum = 0;
            for (uint64_t i = 0; i < turns; ++i) {
              sum += i;
              asm volatile("" : "+r"(sum));  // neither vectorised, unrolled away, nor folded into a formula
            }
          }};
}

Workload multiplyAddLoop(double count) {
  return {"fused multiply-adds", [count](uint64_t runs) {
            sink = twins()->multiplyAdd(turnsFor(runs, count, twins()->multiplyAddsPerTurn), kNearOne);
          }};
}

Workload issueLoop(double count) {
  return {"vector instructions", [count](uint64_t runs) {
            sink = twins()->issue(turnsFor(runs, count, twins()->issuesPerTurn), kNearOne);
          }};
}

Workload divideLoop(double count) {
  return {"vector divisions", [count](uint64_t runs) {
            sink = twins()->divide(turnsFor(runs, count, twins()->divisionsPerTurn), kNearOne);
          }};
}

Workload readLoop(double bytes) {
  const int64_t count = halfOf(2 * bytes);
  auto memory = std::make_shared<Memory>(static_cast<size_t>(count) * sizeof(float));
  const double share = bytes / static_cast<double>(memory->sizeBytes());
  return {"reading", [=](uint64_t runs) {
            const auto times = std::max<uint64_t>(turnsFor(runs, share, 1), 1);
            for (uint64_t i = 0; i < times; ++i)
              sink = twins()->read(static_cast<float*>(memory->data()), count);
          }};
}

Workload copyLoop(double bytes) { return copyWith("copying", bytes, twins()->copy); }
Workload streamLoop(double bytes) { return copyWith("copying past the caches", bytes, twins()->stream); }

}  // namespace baton::benchmarks
