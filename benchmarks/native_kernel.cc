#include "benchmarks/native_kernel.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/driver/compile.h"

namespace baton::benchmarks {

int64_t Operand::count() const {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

SerialContext::SerialContext() {
  context_.struct_size = sizeof context_;
  context_.abi_version = BATON_KERNEL_ABI_VERSION;
  context_.user = this;
  context_.parallel_for = [](const BatonKernelContext* ctx, int64_t extent, int64_t, BatonParallelBody body,
                             void* closure) -> int32_t { return body(ctx, closure, 0, extent); };
  context_.scratch = [](const BatonKernelContext* ctx, uint64_t sizeBytes) -> void* {
    auto& self = *static_cast<SerialContext*>(ctx->user);
    if (self.used_ == self.scratch_.size()) self.scratch_.emplace_back();
    Memory& memory = self.scratch_[self.used_++];
    if (memory.sizeBytes() < sizeBytes) memory = Memory(sizeBytes);
    return memory.data();
  };
  context_.fail = [](const BatonKernelContext*, uint32_t, const int64_t*, uint32_t) {};
}

Result<NativeKernel> NativeKernel::compile(std::string text) {
  const std::string copy = text;
  BATON_TRY_ASSIGN(driver::CompileOutput output, driver::compile({"kernel", std::move(text)}, {}));
  if (!output.program) {
    std::string problem = copy;
    for (const frontend::Diagnostic& each : output.diagnostics.items()) problem += "\n" + each.message;
    return Error(ErrorCode::CompileError, problem);
  }
  bytecode::Program& program = *output.program;
  if (program.kernels.size() != 1 || program.images.size() != 1)
    return Error(ErrorCode::Unsupported,
                 fmt::format("expected one kernel, found {}, in {}", program.kernels.size(), copy));
  NativeKernel kernel;
  BATON_TRY_ASSIGN(NativeCode code, NativeCode::copy(program.images[0].bytes));
  kernel.code_ = std::make_shared<NativeCode>(std::move(code));
  BATON_TRY_ASSIGN(kernel.function_, kernel.code_->entry(program.images[0].entryOffsets[0]));
  kernel.descriptor_ = std::make_shared<const KernelDescriptor>(std::move(program.kernels[0]));
  return kernel;
}

Result<BoundKernel> BoundKernel::bind(const NativeKernel& kernel, std::span<const Operand> operands,
                                      std::span<void* const> buffers) {
  const KernelDescriptor& descriptor = kernel.descriptor();
  BoundKernel bound(kernel);
  bound.buffers_.assign(buffers.begin(), buffers.end());
  const size_t inputs = descriptor.inputs.size();
  if (operands.size() != inputs + descriptor.outputs.size() || buffers.size() != operands.size() ||
      !descriptor.scalarInputs.empty())
    return Error(
        ErrorCode::InvalidArgument,
        fmt::format("kernel {} has {} inputs, {} scalars and {} outputs; {} operands given", descriptor.name,
                    inputs, descriptor.scalarInputs.size(), descriptor.outputs.size(), operands.size()));
  for (const KernelSymbol& symbol : descriptor.symbols)
    bound.scalars_.push_back(operands[symbol.index].extents.at(symbol.axis));
  const auto valueOf = [&](DimSymbol symbol) -> std::optional<int64_t> {
    return bound.scalars_[symbol.value()];
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    const KernelOperand& expected = i < inputs ? descriptor.inputs[i] : descriptor.outputs[i - inputs];
    std::vector<int64_t> extents;
    for (const DimExpr& extent : expected.extents) {
      BATON_TRY_ASSIGN(extents.emplace_back(), extent.evaluate(valueOf));
    }
    if (expected.dtype != operands[i].dtype || extents != operands[i].extents)
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("operand {} of kernel {} is {}; given is {}", i, descriptor.name,
                               fmt::join(extents, "x"), fmt::join(operands[i].extents, "x")));
  }
  bound.scalars_.resize(bound.scalars_.size() + descriptor.scalarOutputs.size());
  return bound;
}

}  // namespace baton::benchmarks
