// Images: many kernels in one, the same bytes each time, for every level.
#include <catch2/catch.hpp>
#include <cmath>

#include "compiled_harness.h"
#include "kernels/abi/cpu_features.h"
#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/builder.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::Value;
using testing::vectorDescriptor;

TEST_CASE("codegen: many kernels in one image, the same bytes each time") {
  std::vector<Kernel> kernels;
  constexpr int kCount = 19;  // so that there are several modules
  for (int k = 0; k < kCount; ++k) {
    Builder b(vectorDescriptor(DType::F32, DType::F32));
    if (k % 2 == 0) {
      b.vectorized(b.symbol(0),
                   [&](Value i) { b.store(b.output(0), {i}, exp(b.load(b.input(0), {i}) * b.f32(k))); });
    } else {
      // All zero, by a memory routine that only one of the modules has.
      const loop::LocalIndex zeroes = b.local(DType::F32, {4000});
      b.serial(b.symbol(0), [&](Value i) {
        b.store(b.output(0), {i}, exp(b.load(b.input(0), {i}) * b.f32(k)) + b.get(zeroes, {i}));
      });
    }
    kernels.push_back(b.take());
  }
  Result<codegen::NativeImage> first = codegen::compileKernels(kernels, {.cpu = "x86-64-v3"});
  Result<codegen::NativeImage> second = codegen::compileKernels(kernels, {.cpu = "x86-64-v3"});
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first.value().bytes == second.value().bytes);
  CHECK(first.value().entries == second.value().entries);
  REQUIRE(first.value().entries.size() == kCount);
  CHECK(first.value().requiredFeatures == namesOf(*cpuLevelFeatures("x86-64-v3")));
  Result<NativeCode> code = NativeCode::copy(first.value().bytes);
  REQUIRE(code.has_value());
  for (int k = 0; k < kCount; ++k) {
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

TEST_CASE("codegen: every level can be generated; unknown ones are named") {
  Builder b(vectorDescriptor(DType::F32, DType::F32));
  b.vectorized(b.symbol(0), [&](Value i) { b.store(b.output(0), {i}, b.load(b.input(0), {i})); });
  const Kernel kernel = b.take();
  Result<codegen::NativeImage> v4 = codegen::compileKernels({&kernel, 1}, {.cpu = "x86-64-v4"});
  REQUIRE(v4.has_value());
  CHECK(v4.value().level == "x86-64-v4");
  CHECK(v4.value().requiredFeatures.size() == namesOf(*cpuLevelFeatures("x86-64-v4")).size());
  Result<codegen::NativeImage> arm = codegen::compileKernels({&kernel, 1}, {.cpu = "armv8-a"});
  REQUIRE(arm.has_value());
  CHECK(arm.value().requiredFeatures == std::vector<std::string>{"aarch64"});
  const Result<void> runs = checkCpuFeatures("armv8-a", arm.value().requiredFeatures, hostCpuFeatures());
#ifdef __x86_64__
  REQUIRE(!runs.has_value());
  CHECK_THAT(runs.error().message(), Catch::Contains("this processor lacks aarch64"));
#endif
  Result<codegen::NativeImage> bad = codegen::compileKernels({&kernel, 1}, {.cpu = "z80"});
  REQUIRE(!bad.has_value());
  CHECK(bad.error().message() == "unknown CPU level 'z80': expected native, x86-64-v3, x86-64-v4 or armv8-a");
  CHECK(codegen::compileKernels({}, {.cpu = "x86-64-v3"}).has_value());
}

TEST_CASE("codegen: an output that may share memory with an input is read before it is written") {
  KernelDescriptor d = vectorDescriptor(DType::F32, DType::F32);
  d.outputs[0].mayAlias = {0};
  Builder b(d);
  b.vectorized(b.symbol(0), [&](Value i) {
    const Value x = b.load(b.input(0), {i});
    b.store(b.output(0), {i}, x * x);
    b.store(b.output(0), {i}, b.load(b.input(0), {i}) + b.f32(1));
  });
  const Kernel kernel = b.take();
  Result<codegen::NativeImage> image = codegen::compileKernels({&kernel, 1}, {.cpu = "x86-64-v3"});
  REQUIRE(image.has_value());
  Result<NativeCode> code = NativeCode::copy(image.value().bytes);
  REQUIRE(code.has_value());
  std::vector<float> data = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  void* buffers[] = {data.data(), data.data()};
  int64_t scalars[] = {11};
  testing::TestContext context;
  CHECK(code.value().entry(image.value().entries[0]).value()(context.get(), buffers, scalars) == 0);
  for (size_t i = 0; i < data.size(); ++i) {
    const auto x = static_cast<float>(i + 1);
    CHECK(data[i] == x * x + 1);
  }
}

}  // namespace
}  // namespace baton
