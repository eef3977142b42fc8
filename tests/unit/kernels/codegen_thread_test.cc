// What several threads may do at once: compile kernels, and run one kernel's parallel loops.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "bytecode/owned_bytes.h"
#include "bytecode/vmasm/parser.h"
#include "compiled_harness.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/builder.h"
#include "vm/call.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::Value;
using testing::vectorDescriptor;

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

/// y = 3x + 1, in pieces of at least 64 elements.
constexpr std::string_view kProgram = R"vmasm(vmasm 1
meta {
}
kernel $k compiled {
  symbol n = operand 0 axis 0
  input f32[n]
  output f32[n]
}
entry "main" @main {
  symbols [n]
  param "x" f32[n]
  result f32[n]
}
fn @main (tensor<f32, 1>) -> (tensor<f32, 1>) regs s1 r2 {
  s0 = dim r0, 0
  r1 = alloc_tensor f32, 0, [s0]
  call_kernel $k, [r0!], [r1], []
  ret [], [r1!]
}
)vmasm";

bytecode::Program parallelProgram() {
  bytecode::Program program = bytecode::parseVmasm(kProgram).value();
  Builder b(program.kernels.at(0));
  b.parallel(
      b.symbol(0), [&](Value i) { b.store(b.output(0), {i}, b.load(b.input(0), {i}) * b.f32(3) + b.f32(1)); },
      64);
  const Kernel kernel = b.take();
  codegen::NativeImage native = codegen::compileKernels({&kernel, 1}, {}).value();
  auto storage = std::make_unique<bytecode::OwnedBytes>(std::span<const std::byte>(native.bytes));
  bytecode::NativeImage image;
  image.level = native.level;
  image.requiredFeatures = native.requiredFeatures;
  image.entryOffsets = {static_cast<uint32_t>(native.entries.at(0))};
  image.bytes = storage->bytes();
  program.images.push_back(std::move(image));
  program.storage.push_back(std::move(storage));
  return program;
}

TEST_CASE("codegen: parallel loops of several calls share the threads of an instance") {
  for (const int threadCount : {1, 2, 3}) {
    vm::InstanceOptions options;
    options.threads.threadCount = threadCount;
    const vm::Ref<vm::Instance> instance = vm::Instance::create(std::move(options)).value();
    const vm::Ref<vm::Executable> executable = vm::Executable::load(instance, parallelProgram()).value();
    const auto makeInput = [&](int64_t n) {
      return vm::Value::tensor(instance->values()
                                   .make([&](vm::Heap& heap) -> vm::Object* {
                                     vm::Tensor* made =
                                         heap.allocateTensor(DType::F32, 0, {&n, 1}, n * sizeof(float));
                                     for (int64_t i = 0; made && i < n; ++i)
                                       reinterpret_cast<float*>(made->data)[i] = static_cast<float>(i);
                                     return made;
                                   })
                                   .value());
    };
    std::atomic<int> wrong{0};
    const auto work = [&] {
      const vm::Ref<vm::Context> context = vm::Context::create(executable, {}).assume_value();
      vm::ErrorDetails details;
      for (const int64_t n : {0, 1, 63, 64, 1000, 20000}) {
        vm::Call call(context, *executable->findEntryPoint("main"));
        if (!call.setInput(0, makeInput(n), false, details).has_value()) ++wrong;
        if (!call.advance(std::nullopt, details).has_value()) ++wrong;
        const vm::Ref<vm::Value> result = call.result().assume_value();
        const auto* y = static_cast<const float*>(result->elements());
        for (int64_t i = 0; i < n; ++i)
          if (y[i] != 3 * static_cast<float>(i) + 1) ++wrong;
      }
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace baton
