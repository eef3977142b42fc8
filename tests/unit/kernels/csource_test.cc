// C source: names, many kernels in one text, memory that cannot be had. What it computes is in
// compiled_test.cc.
#include "kernels/csource/csource.h"

#include <catch2/catch.hpp>

#include "c_harness.h"
#include "compiled_harness.h"
#include "dims.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/verifier.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::Value;
using testing::LoadedSource;

Kernel adding(const std::string& name, double number) {
  KernelDescriptor d = testing::vectorDescriptor(DType::F32, DType::F32);
  d.name = name;
  Builder b(d);
  b.parallel(b.symbol(0),
             [&](Value i) { b.store(b.output(0), {i}, b.load(b.input(0), {i}) + b.f32(number)); });
  Kernel kernel = b.take();
  const Result<void> verified = loop::verify(kernel);
  if (!verified.has_value()) FAIL(verified.assume_error().message());
  return kernel;
}

TEST_CASE("csource: many kernels in one text, whatever their names are") {
  const std::vector<Kernel> kernels = {adding("a.b", 1), adding("a_b", 2), adding("main", 3),
                                       adding("a b", 4)};
  const csource::Source source = csource::printSource(kernels);
  CHECK(source.functions ==
        std::vector<std::string>{"kernel_a_b", "kernel_a_b_1", "kernel_main", "kernel_a_b_3"});
  const Result<LoadedSource> loaded = LoadedSource::make(kernels, "-O0");
  if (!loaded.has_value()) FAIL(loaded.assume_error().message());
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<float> x = {1, 2, 3};
    std::vector<float> y(3);
    void* buffers[] = {x.data(), y.data()};
    int64_t scalars[] = {3};
    testing::TestContext context;
    REQUIRE(loaded.assume_value().function(k)(context.get(), buffers, scalars) == BATON_KERNEL_OK);
    for (size_t i = 0; i < 3; ++i) CHECK(y[i] == x[i] + static_cast<float>(k + 1));
  }
}

TEST_CASE("csource: scratch of a size that no memory has, or that divides by zero, is refused") {
  KernelDescriptor d = testing::vectorDescriptor(DType::F32, DType::F32);
  d.symbols.push_back({.name = "m", .from = KernelSymbol::From::Scalar, .index = 0});
  d.scalarInputs = {DType::I64};
  Builder b(d);
  b.scratch(DType::F64, {sym(0) * sym(0), ceilDiv(sym(0), sym(1))});
  const Kernel kernel = b.take();
  const Result<LoadedSource> loaded = LoadedSource::make({&kernel, 1}, "-O0");
  if (!loaded.has_value()) FAIL(loaded.assume_error().message());
  const auto status = [&](int64_t n, int64_t m) {
    void* buffers[] = {nullptr, nullptr};
    int64_t scalars[] = {n, m, m};
    testing::TestContext context;
    return loaded.assume_value().function(0)(context.get(), buffers, scalars);
  };
  CHECK(status(4, 2) == BATON_KERNEL_OK);
  CHECK(status(0, 2) == BATON_KERNEL_OK);
  CHECK(status(4, 0) == BATON_KERNEL_OUT_OF_MEMORY);
  CHECK(status(int64_t{1} << 31, 1) == BATON_KERNEL_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace baton
