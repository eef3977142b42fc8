#include "benchmarks/empty_kernel.h"

#include <memory>

#include "bytecode/container/writer.h"
#include "bytecode/owned_bytes.h"
#include "bytecode/vmasm/parser.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/builder.h"

namespace baton::benchmarks {

Result<std::vector<std::byte>> assembleWithEmptyKernel(const std::string& text) {
  BATON_TRY_ASSIGN(bytecode::Program program, bytecode::parseVmasm(text));
  const loop::Kernel kernels[] = {loop::Builder(program.kernels.at(0)).take()};
  BATON_TRY_ASSIGN(codegen::NativeImage native, codegen::compileKernels(kernels, {}));
  auto storage = std::make_unique<bytecode::OwnedBytes>(std::span<const std::byte>(native.bytes));
  bytecode::NativeImage image;
  image.level = native.level;
  image.requiredFeatures = native.requiredFeatures;
  image.entryOffsets = {static_cast<uint32_t>(native.entries.at(0))};
  image.bytes = storage->bytes();
  program.images.push_back(std::move(image));
  program.storage.push_back(std::move(storage));
  return bytecode::writeExecutable(program);
}

}  // namespace baton::benchmarks
