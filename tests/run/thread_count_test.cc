// The bits of a result do not depend on how many threads work on a kernel.
#include <catch2/catch.hpp>

#include <memory>

#include <fmt/format.h>

#include "baton/baton.hpp"
#include "compiled_program.h"

using namespace baton;

namespace {

constexpr const char* kProgram = R"(
def @sums(%x: Tensor[(n, m), float32]) {
  (sum(%x), sum(%x, axis=[0]), sum(%x, axis=[1]), mean(%x, axis=[1]), max(%x, axis=[0]), prod(%x, axis=[-1]))
}
def @wide(%x: Tensor[(n, m), float64]) { (sum(%x), mean(%x, axis=[0])) }
def @product(%x: Tensor[(n, m), float32], %w: Tensor[(m, k), float32]) {
  (nn.matmul(%x, %w), nn.dense(%x, transpose(%w)))
}
def @rows(%x: Tensor[(n, m), float32]) {
  (nn.softmax(%x), nn.log_softmax(%x, axis=0), tanh(%x) * exp(%x) + %x)
}
)";

/// The same numbers for the same shape.
template <class T>
api::Value numbers(const api::Instance& instance, int64_t rows, int64_t columns) {
  std::vector<T> data(static_cast<size_t>(rows * columns));
  uint32_t state = 12345;
  for (T& x : data) {
    state = state * 1664525 + 1013904223;
    x = static_cast<T>(static_cast<int32_t>(state >> 8) - (1 << 23)) / T(1 << 22);
  }
  return api::Value::tensor<T>(instance, {rows, columns}, data);
}

}  // namespace

TEST_CASE("one, two and three threads give the same bits") {
  const run::CompiledProgram program =
      run::compileProgram("threads.relay", kProgram, 3, {"sums", "wide", "product", "rows"}).value();
  std::vector<std::string> expected;
  for (const uint32_t threadCount : {1, 2, 3}) {
    baton_instance_options options = BATON_INSTANCE_OPTIONS_INIT;
    options.thread_count = threadCount;
    const api::Instance instance = api::Instance::create(options);
    const api::Executable executable =
        api::Executable::load(instance, program.bytes.data(), program.bytes.size());
    const api::Context context(executable);
    std::vector<std::string> results;
    for (const auto& [n, m] :
         {std::pair<int64_t, int64_t>{0, 5}, {1, 1}, {3, 70}, {64, 64}, {257, 300}, {5, 9000}}) {
      const api::Value x = numbers<float>(instance, n, m);
      results.push_back(api::run(context, "sums", {x}).format());
      results.push_back(api::run(context, "wide", {numbers<double>(instance, n, m)}).format());
      results.push_back(api::run(context, "rows", {x}).format());
      if (m <= 300)
        for (const int64_t k : {1, 65})
          results.push_back(api::run(context, "product", {x, numbers<float>(instance, m, k)}).format());
    }
    if (expected.empty()) expected = results;
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      INFO(threadCount << " threads, result " << i);
      CHECK(results[i] == expected[i]);
      CHECK(results[i].size() > 10);
    }
  }
}
