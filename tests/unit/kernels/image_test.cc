// Images: many kernels in one, the same bytes each time, from several threads, for every level.
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "kernels/abi/cpu_features.h"
#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/builder.h"
#include "native_harness.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::Value;
using testing::vectorDescriptor;

TEST_CASE("codegen: many kernels in one image, the same bytes each time") {
  std::vector<Kernel> kernels;
  for (int k = 0; k < 5; ++k) {
    Builder b(vectorDescriptor(DType::F32, DType::F32));
    b.vectorized(b.symbol(0),
                 [&](Value i) { b.store(b.output(0), {i}, exp(b.load(b.input(0), {i}) * b.f32(k))); });
    kernels.push_back(b.take());
  }
  Result<codegen::NativeImage> first = codegen::compileKernels(kernels, {.cpu = "x86-64-v3"});
  Result<codegen::NativeImage> second = codegen::compileKernels(kernels, {.cpu = "x86-64-v3"});
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first.value().bytes == second.value().bytes);
  CHECK(first.value().entries == second.value().entries);
  REQUIRE(first.value().entries.size() == 5);
  CHECK(first.value().requiredFeatures == namesOf(*cpuLevelFeatures("x86-64-v3")));
  Result<NativeCode> code = NativeCode::copy(first.value().bytes);
  REQUIRE(code.has_value());
  for (int k = 0; k < 5; ++k) {
    float x = 1;
    float y = 0;
    void* buffers[] = {&x, &y};
    int64_t scalars[] = {1};
    testing::TestContext context;
    CHECK(code.value()
              .entry(first.value().entries[static_cast<size_t>(k)])
              .value()(context.get(), buffers, scalars) == 0);
    CHECK(y == Approx(std::exp(k)));
  }
}

TEST_CASE("codegen: several threads may compile at once") {
  Builder b(vectorDescriptor(DType::F32, DType::F32));
  b.vectorized(b.symbol(0), [&](Value i) { b.store(b.output(0), {i}, tanh(b.load(b.input(0), {i}))); });
  const Kernel kernel = b.take();
  std::vector<std::vector<std::byte>> images(2);
  std::vector<std::thread> threads;
  for (std::vector<std::byte>& image : images)
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        Result<codegen::NativeImage> compiled = codegen::compileKernels({&kernel, 1}, {.cpu = "x86-64-v3"});
        if (compiled.has_value()) image = std::move(compiled).value().bytes;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(!images[0].empty());
  CHECK(images[0] == images[1]);
}

TEST_CASE("codegen: every level can be generated; unknown ones are named") {
  Builder b(vectorDescriptor(DType::F32, DType::F32));
  b.vectorized(b.symbol(0), [&](Value i) { b.store(b.output(0), {i}, b.load(b.input(0), {i})); });
  const Kernel kernel = b.take();
  Result<codegen::NativeImage> v4 = codegen::compileKernels({&kernel, 1}, {.cpu = "x86-64-v4"});
  REQUIRE(v4.has_value());
  CHECK(v4.value().level == "x86-64-v4");
  CHECK(v4.value().requiredFeatures.size() == namesOf(*cpuLevelFeatures("x86-64-v4")).size());
  Result<codegen::NativeImage> bad = codegen::compileKernels({&kernel, 1}, {.cpu = "z80"});
  REQUIRE(!bad.has_value());
  CHECK(bad.error().message() == "unknown CPU level 'z80': expected native, x86-64-v3 or x86-64-v4");
  CHECK(codegen::compileKernels({}, {.cpu = "x86-64-v3"}).has_value());
}

}  // namespace
}  // namespace baton
