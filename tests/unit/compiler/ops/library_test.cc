// Every operator that is a kernel of the runtime: the kernel and the reference version agree, and the
// kernel touches no memory but its operands'.
#include <catch2/catch.hpp>
#include <set>

#include "compiler/ops/lowering/library_call.h"
#include "kernels/abi/descriptor_check.h"
#include "kernels/abi/dim_program.h"
#include "kernels/library/library.h"
#include "tests/unit/compiler/ops/operator_cases.h"
#include "tests/unit/compiler/ops/random_tensors.h"
#include "tests/unit/compiler/ops/rounds.h"
#include "tests/unit/kernels/kernel_harness.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

namespace {

struct Operands {
  std::vector<GuardedBuffer> memory;
  std::vector<void*> buffers;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t> scalars;  // inputs

  void add(DType dtype, const std::vector<int64_t>& shape, const std::vector<std::byte>& bytes,
           GuardedBuffer::Side side) {
    memory.emplace_back(bytes.size(), static_cast<size_t>(sizeBytes(dtype)), side);
    if (!bytes.empty()) std::memcpy(memory.back().data(), bytes.data(), bytes.size());
    buffers.push_back(memory.back().data());
    shapes.push_back(shape);
  }
};

std::vector<TensorStructure> structures(const auto& tensors) {
  std::vector<TensorStructure> out;
  for (const auto& tensor : tensors) out.push_back({tensor.dtype, static_cast<int>(tensor.shape.size())});
  return out;
}

void runKernel(const OpDef& op, const std::vector<Tensor>& inputs,
               const std::vector<ReferenceResult>& expected, GuardedBuffer::Side side) {
  const KernelDescriptor* descriptor = libraryKernel(op, structures(inputs), structures(expected));
  REQUIRE(descriptor != nullptr);
  Operands operands;
  for (const Tensor& input : inputs)
    if (input.shape.empty())
      operands.scalars.push_back(static_cast<int64_t>(loadScalar(input.bytes.data(), input.dtype)));
    else
      operands.add(input.dtype, input.shape, input.bytes, side);
  for (const ReferenceResult& result : expected)
    operands.add(result.dtype, result.shape, std::vector<std::byte>(result.bytes.size(), std::byte{0x5a}),
                 side);

  std::vector<int64_t> scalars;
  for (const KernelSymbol& symbol : descriptor->symbols)
    scalars.push_back(symbol.from == KernelSymbol::From::Scalar ? operands.scalars[symbol.index]
                                                                : operands.shapes[symbol.index][symbol.axis]);
  const std::vector<int64_t> symbols = scalars;
  scalars.insert(scalars.end(), operands.scalars.begin(), operands.scalars.end());
  // What the descriptor says of the operands holds: that is what is checked before each call.
  for (size_t i = 0; i < operands.shapes.size(); ++i) {
    const bool isInput = i < descriptor->inputs.size();
    const KernelOperand& operand =
        isInput ? descriptor->inputs[i] : descriptor->outputs[i - descriptor->inputs.size()];
    REQUIRE(operand.extents.size() == operands.shapes[i].size());
    for (size_t axis = 0; axis < operand.extents.size(); ++axis)
      CHECK(DimProgram(operand.extents[axis]).evaluate(symbols.data()) == operands.shapes[i][axis]);
  }

  baton::testing::TestContext context;
  REQUIRE(library::findKernel(descriptor->name)
              ->function(context.get(), operands.buffers.data(), scalars.data()) == BATON_KERNEL_OK);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto* data = static_cast<const std::byte*>(operands.buffers[descriptor->inputs.size() + i]);
    CHECK(
        baton::testing::sameElements(expected[i].dtype, expected[i].bytes, {data, expected[i].bytes.size()}));
  }
}

/// Whether the reference version gives results.
bool runCase(const OpDef& op, const Case& c) {
  INFO(describe(op, c));
  std::vector<TensorView> views;
  for (const Tensor& input : c.inputs) views.push_back(input.view());
  const auto expected = evaluateReference(op, completeAttrs(op, c.attrs), views);
  if (!expected) return false;
  for (const auto side : GuardedBuffer::kSides) runKernel(op, c.inputs, expected.assume_value(), side);
  return true;
}

}  // namespace

TEST_CASE("every operator of the library: kernel and reference version agree") {
  const Rounds some = rounds(150);
  REQUIRE(libraryOperators().size() >= 3);
  for (const OpDef* op : libraryOperators()) {
    uint64_t count = 0;
    for (uint64_t round = some.first; round < some.first + some.count; ++round) {
      const Case c = makeCase(*op, round);
      count += runCase(*op, c) ? 1 : 0;
    }
    INFO(op->name);
    CHECK(count > some.count / 2);
  }
}

TEST_CASE("long columns are sorted by the bytes of their keys") {
  const OpDef& op = *OpRegistry::instance().find("library.argsort");
  Random random(7);
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::I16, DType::U8})
    for (const bool isAscending : {true, false}) {
      Case c{{random.tensor(dtype, {1, 6000, 2}), tensorOf(DType::Bool, {}, {isAscending ? 1.0 : 0.0})}, {}};
      c.attrs.set("dtype", DType::I32);
      CHECK(runCase(op, c));
    }
}

TEST_CASE("every kernel of the library has an operator and a descriptor that is valid") {
  std::set<std::string> algorithms;
  for (const OpDef* op : libraryOperators()) algorithms.emplace(op->library);
  for (const library::LibraryKernel& kernel : library::allKernels()) {
    INFO(kernel.descriptor.name);
    CHECK(validateDescriptor(kernel.descriptor).has_value());
    CHECK(kernel.descriptor.source == KernelSource::Library);
    CHECK(algorithms.contains(kernel.descriptor.name.substr(0, kernel.descriptor.name.find('.'))));
    CHECK(library::findKernel(kernel.descriptor.name) == &kernel);
  }
  CHECK(library::findKernel("sort.f32") == nullptr);
}
