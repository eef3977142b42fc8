// Kinds of tensors, storages and kernel calls. Extents are checked when executed; here it is
// dtypes, ranks and devices.
#include <fmt/format.h>

#include "bytecode/verifier/typing.h"

namespace baton::bytecode {

namespace {

std::optional<Kind> tensorOf(Typing& typing, ReferenceOperand operand) {
  const auto kind = typing.kindOf(operand);
  return kind && kind->tag == KindTagValue::Tensor ? kind : std::nullopt;
}

/// The kind of a tensor with as many extents as the list has.
std::optional<Kind> shaped(Typing& typing, DType dtype, OperandList<ScalarOperand> extents, uint8_t device) {
  if (extents.size() <= kMaxRank) return Kind::tensor(dtype, static_cast<uint8_t>(extents.size()), device);
  typing.fail(Rule::Rank, [&] { return fmt::format("rank {}: at most {}", extents.size(), kMaxRank); });
  return std::nullopt;
}

void defineShaped(Typing& typing, ReferenceOperand dst, DType dtype, OperandList<ScalarOperand> extents,
                  uint8_t device) {
  if (const auto kind = shaped(typing, dtype, extents, device)) typing.define(dst, *kind);
}

std::optional<uint8_t> deviceOf(Typing& typing, uint16_t device) {
  if (device <= UINT8_MAX) return static_cast<uint8_t>(device);
  typing.fail(Rule::Device, [&] { return fmt::format("device {}: at most {}", device, UINT8_MAX); });
  return std::nullopt;
}

bool expectRank(Typing& typing, ReferenceOperand operand, const Kind& kind, bool isGood,
                const std::string& expected) {
  if (!isGood)
    typing.fail(Rule::TensorRank, [&] {
      return fmt::format("r{} is {}: expected {}", operand.index(), typing.text(kind), expected);
    });
  return isGood;
}

}  // namespace

void verifyInstruction(AllocTensor view, Typing& typing) {
  if (const auto device = deviceOf(typing, view.device()))
    defineShaped(typing, view.dst(), view.dtype(), view.extents(), *device);
}

void verifyInstruction(AllocStorage view, Typing& typing) {
  if (view.alignmentLog2() > 12)
    typing.fail(Rule::StorageAlignment,
                [&] { return fmt::format("alignment 2^{}: at most 4096", view.alignmentLog2()); });
  if (const auto device = deviceOf(typing, view.device())) typing.define(view.dst(), Kind::storage(*device));
}

void verifyInstruction(TensorAt view, Typing& typing) {
  const auto storage = typing.kindOf(view.storage());
  if (storage && storage->tag == KindTagValue::Storage)
    defineShaped(typing, view.dst(), view.dtype(), view.extents(), storage->device);
}

void verifyInstruction(AllocReuse view, Typing& typing) {
  if (const auto source = tensorOf(typing, view.source()))
    defineShaped(typing, view.dst(), view.dtype(), view.extents(), source->device);
}

void verifyInstruction(Dim view, Typing& typing) {
  typing.define(view.dst(), Kind::scalar(DType::I64));
  if (const auto tensor = tensorOf(typing, view.tensor()))
    expectRank(typing, view.tensor(), *tensor, view.axis() < tensor->rank,
               fmt::format("an axis {} of a tensor", view.axis()));
}

void verifyInstruction(ExpectTensor view, Typing& typing) {
  if (const auto tensor = tensorOf(typing, view.tensor()))
    expectRank(typing, view.tensor(), *tensor, view.extents().size() == tensor->rank,
               fmt::format("a tensor of rank {}", view.extents().size()));
}

void verifyInstruction(Reshape view, Typing& typing) {
  if (const auto source = tensorOf(typing, view.source()))
    defineShaped(typing, view.dst(), source->dtype, view.extents(), source->device);
}

void verifyInstruction(SliceOuter view, Typing& typing) {
  const auto source = tensorOf(typing, view.source());
  if (source && expectRank(typing, view.source(), *source, source->rank >= 1, "a tensor of rank 1 or more"))
    typing.define(view.dst(), *source);
}

void verifyInstruction(IndexOuter view, Typing& typing) {
  const auto source = tensorOf(typing, view.source());
  if (source && expectRank(typing, view.source(), *source, source->rank >= 1, "a tensor of rank 1 or more"))
    typing.define(view.dst(),
                  Kind::tensor(source->dtype, static_cast<uint8_t>(source->rank - 1), source->device));
}

void verifyInstruction(StoreOuter view, Typing& typing) {
  const auto target = tensorOf(typing, view.target());
  if (!target || !expectRank(typing, view.target(), *target, target->rank >= 1, "a tensor of rank 1 or more"))
    return;
  typing.check(Rule::OperandKindRule,
               Kind::tensor(target->dtype, static_cast<uint8_t>(target->rank - 1), target->device),
               view.row(), "row");
  typing.define(view.dst(), *target);
}

void verifyInstruction(StoreOuterScalar view, Typing& typing) {
  const auto target = tensorOf(typing, view.target());
  if (!target || !expectRank(typing, view.target(), *target, target->rank == 1, "a tensor of rank 1")) return;
  typing.check(Rule::OperandKindRule, Kind::scalar(target->dtype), view.value(), "value");
  typing.define(view.dst(), *target);
}

void verifyInstruction(ExtendOuter view, Typing& typing) {
  const auto source = tensorOf(typing, view.source());
  if (source && expectRank(typing, view.source(), *source, source->rank >= 1, "a tensor of rank 1 or more"))
    typing.define(view.dst(), *source);
}

void verifyInstruction(LoadScalar view, Typing& typing) {
  const auto tensor = tensorOf(typing, view.tensor());
  if (tensor && expectRank(typing, view.tensor(), *tensor, view.indices().size() == tensor->rank,
                           fmt::format("a tensor of rank {}", view.indices().size())))
    typing.define(view.dst(), Kind::scalar(tensor->dtype));
}

void verifyInstruction(BoxScalar view, Typing& typing) {
  typing.check(Rule::OperandKindRule, Kind::scalar(view.dtype()), view.value(), "value");
  typing.define(view.dst(), Kind::tensor(view.dtype(), 0));
}

void verifyInstruction(CallKernel view, Typing& typing) {
  const KernelKinds& kernel = typing.tables.kernel(view.kernel());
  typing.checkList(Rule::KernelArguments, kernel.inputs, view.inputs(), "input");
  typing.checkList(Rule::KernelArguments, kernel.outputs, view.outputs(), "output");
  typing.checkList(Rule::KernelArguments, kernel.scalarInputs, view.scalars(), "scalar");
  typing.defineList(Rule::KernelArguments, kernel.scalarOutputs, view.scalarResults());
}

}  // namespace baton::bytecode
