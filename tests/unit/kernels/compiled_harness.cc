#include "compiled_harness.h"

#include <fmt/format.h>

#include "dims.h"
#include "kernels/loop/interpreter.h"
#include "kernels/loop/printer.h"
#include "kernels/loop/verifier.h"

namespace baton::testing {

namespace {

Outcome runOnce(const KernelRun& run, const CompiledKernel& call) {
  Outcome outcome;
  outcome.scalars = run.scalars;
  std::vector<void*> buffers;
  std::vector<std::vector<std::byte>> inputs = run.inputs;
  for (auto& input : inputs) buffers.push_back(input.data());
  // A pattern behind each output shows writes past its end; the same one within shows what was
  // left alone.
  constexpr size_t kGuard = 64;
  for (const size_t size : run.outputBytes) outcome.outputs.emplace_back(size + kGuard, std::byte{0x5A});
  for (auto& output : outcome.outputs) buffers.push_back(output.data());
  TestContext context;
  outcome.status = call(context.get(), buffers.data(), outcome.scalars.data());
  outcome.message = context.message;
  outcome.values = context.values;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != run.inputs[i]) outcome.status = -1;
  return outcome;
}

std::string difference(const loop::Kernel& kernel, const Outcome& a, const Outcome& b) {
  if (a.status != b.status) return fmt::format("status {} and {}", a.status, b.status);
  if (a.status != 0) {
    if (a.message != b.message || a.values != b.values) return "failures differ";
    return "";
  }
  const size_t first = kernel.descriptor.symbols.size() + kernel.descriptor.scalarInputs.size();
  for (size_t i = 0; i < kernel.descriptor.scalarOutputs.size(); ++i) {
    const DType type = kernel.descriptor.scalarOutputs[i];
    std::byte x[8] = {};
    std::byte y[8] = {};
    storeScalar(x, type, static_cast<uint64_t>(a.scalars[first + i]));
    storeScalar(y, type, static_cast<uint64_t>(b.scalars[first + i]));
    const auto size = static_cast<size_t>(sizeBytes(type));
    if (!sameElements(type, {x, size}, {y, size}))
      return fmt::format("scalar output {}: 0x{:x} and 0x{:x}", i, a.scalars[first + i],
                         b.scalars[first + i]);
  }
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const DType type = kernel.descriptor.outputs[i].dtype;
    const auto size = static_cast<size_t>(sizeBytes(type));
    for (size_t at = 0; at < a.outputs[i].size(); at += size) {
      const std::span<const std::byte> x(a.outputs[i].data() + at, size);
      const std::span<const std::byte> y(b.outputs[i].data() + at, size);
      if (!sameElements(type, x, y))
        return fmt::format("output {} element {}: 0x{:x} and 0x{:x}", i, at / size,
                           loadScalar(x.data(), type), loadScalar(y.data(), type));
    }
  }
  return "";
}

}  // namespace

KernelDescriptor vectorDescriptor(DType in, DType out, size_t inputs, size_t outputs) {
  KernelDescriptor d;
  d.name = "vector";
  d.symbols = {{.name = "n", .index = 0, .axis = 0}};
  d.inputs.assign(inputs, {.dtype = in, .extents = {sym(0)}});
  d.outputs.assign(outputs, {.dtype = out, .extents = {sym(0)}});
  return d;
}

std::string compareAll(const loop::Kernel& kernel, const std::vector<KernelRun>& runs) {
  const Result<void> verified = loop::verify(kernel);
  if (!verified.has_value()) return verified.assume_error().message() + "\n" + loop::print(kernel);
  const Result<loop::InterpretedKernel> interpreted = loop::InterpretedKernel::compile(kernel);
  if (!interpreted.has_value()) return interpreted.assume_error().message();
  std::vector<Outcome> expected;
  for (const KernelRun& run : runs)
    expected.push_back(
        runOnce(run, [&](const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
          return interpreted.assume_value().run(ctx, buffers, scalars);
        }));
  return forEachCompiled(kernel, [&](const std::string& how, const CompiledKernel& compiled) -> std::string {
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::string found = difference(kernel, expected[i], runOnce(runs[i], compiled));
      if (!found.empty())
        return fmt::format("run {} interpreted and {}: {}\n{}", i, how, found, loop::print(kernel));
    }
    return {};
  });
}

}  // namespace baton::testing
