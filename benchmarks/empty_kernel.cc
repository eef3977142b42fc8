#include "benchmarks/empty_kernel.h"

#include <memory>

#include "bytecode/container/writer.h"
#include "bytecode/vmasm/parser.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/builder.h"

namespace baton::benchmarks {

namespace {

class OwnedImage : public bytecode::ByteStorage {
 public:
  explicit OwnedImage(std::vector<std::byte> image) : bytes(std::move(image)) {}
  const std::vector<std::byte> bytes;
};

}  // namespace

Result<std::vector<std::byte>> assembleWithEmptyKernel(const std::string& text) {
  BATON_TRY_ASSIGN(bytecode::Program program, bytecode::parseVmasm(text));
  const loop::Kernel kernels[] = {loop::Builder(program.kernels.at(0)).take()};
  BATON_TRY_ASSIGN(codegen::NativeImage native, codegen::compileKernels(kernels, {}));
  auto storage = std::make_unique<OwnedImage>(std::move(native.bytes));
  bytecode::NativeImage image;
  image.level = native.level;
  image.requiredFeatures = native.requiredFeatures;
  image.entryOffsets = {static_cast<uint32_t>(native.entries.at(0))};
  image.bytes = storage->bytes;
  program.images.push_back(std::move(image));
  program.storage.push_back(std::move(storage));
  return bytecode::writeExecutable(program);
}

}  // namespace baton::benchmarks
