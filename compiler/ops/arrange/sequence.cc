// sequence_mask and reverse_sequence.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// Which axis the positions are along, and which the sequences.
struct SequenceAxes {
  size_t position;
  size_t sequence;
};

Result<SequenceAxes> sequenceAxes(const OpCall& call, int rank) {
  if (call.op->name == "sequence_mask") {
    const int64_t axis = SequenceMaskAttrs{*call.attrs}.axis();
    if (rank < 2) return opError(call, fmt::format("the data has rank {}; expected 2 or more", rank));
    if (axis != 0 && axis != 1) return opError(call, fmt::format("axis is {}; expected 0 or 1", axis));
    return SequenceAxes{static_cast<size_t>(axis), static_cast<size_t>(1 - axis)};
  }
  const ReverseSequenceAttrs attrs{*call.attrs};
  BATON_TRY_ASSIGN(const int position, normaliseAxis(call, "seq_axis", attrs.seqAxis(), rank));
  BATON_TRY_ASSIGN(const int sequence, normaliseAxis(call, "batch_axis", attrs.batchAxis(), rank));
  if (position == sequence)
    return opError(call, fmt::format("seq_axis and batch_axis are both axis {}", position));
  return SequenceAxes{static_cast<size_t>(position), static_cast<size_t>(sequence)};
}

Result<std::optional<StructureResult>> sequenceStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(1, 1));
  if (const std::optional<int> rank = context.rank(0)) BATON_TRY(sequenceAxes(call, *rank));
  return unaryStructure(call, context);
}

Result<std::vector<TensorDims>> sequenceDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const SequenceAxes axes, sequenceAxes(call, static_cast<int>(result.extents.size())));
  DimExpr& extent = result.extents[axes.sequence];
  context.blame(1);
  BATON_TRY_ASSIGN(
      extent,
      requireEqual(context, extent, DimExpr(context.dims(1)[0]),
                   fmt::format("{}: dimension {} of the data ({{0}}) does not match the number of lengths "
                               "({{1}})",
                               call.op->name, axes.sequence)));
  return std::vector<TensorDims>{std::move(result)};
}

int64_t sequenceLength(const ReferenceCall& call, int64_t sequence) {
  return static_cast<int64_t>(call.load(1, sequence));
}

}  // namespace

Result<std::optional<StructureResult>> sequenceMaskStructure(const OpCall& call, StructureContext& context) {
  return sequenceStructure(call, context);
}
Result<std::vector<TensorDims>> sequenceMaskDims(const OpCall& call, DimsContext& context) {
  return sequenceDims(call, context);
}
Result<std::optional<StructureResult>> reverseSequenceStructure(const OpCall& call,
                                                                StructureContext& context) {
  return sequenceStructure(call, context);
}
Result<std::vector<TensorDims>> reverseSequenceDims(const OpCall& call, DimsContext& context) {
  return sequenceDims(call, context);
}

Result<loop::Value> sequenceMaskElement(ElementContext& context, std::span<const loop::Value> index) {
  BATON_TRY_ASSIGN(const SequenceAxes axes, sequenceAxes(context.call(), static_cast<int>(index.size())));
  BATON_TRY_ASSIGN(const loop::Value data, context.read(0, index));
  BATON_TRY_ASSIGN(const loop::Value length, context.read(1, {index[axes.sequence]}));
  const loop::Value masked =
      context.builder().constant(context.wantedType(), SequenceMaskAttrs{*context.call().attrs}.maskValue());
  return loop::select(index[axes.position] < loop::cast(length, DType::I64), data, masked);
}
Result<void> sequenceMaskReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const SequenceAxes axes,
                   sequenceAxes(call.call, static_cast<int>(call.inputs[0].shape.size())));
  const uint64_t masked = convertScalar(scalarBits(SequenceMaskAttrs{*call.call.attrs}.maskValue()),
                                        DType::F64, call.results[0].dtype);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const bool isValid = index[axes.position] < sequenceLength(call, index[axes.sequence]);
    call.store(0, index, isValid ? call.load(0, index) : masked);
  });
  return success();
}

Result<loop::Value> reverseSequenceElement(ElementContext& context, std::span<const loop::Value> index) {
  BATON_TRY_ASSIGN(const SequenceAxes axes, sequenceAxes(context.call(), static_cast<int>(index.size())));
  Emitter& emitter = context.emitter();
  BATON_TRY_ASSIGN(const loop::Value given, context.read(1, {index[axes.sequence]}));
  const loop::Value length =
      loop::min(loop::cast(given, DType::I64), emitter.dim(context.inputDims(0)[axes.position]));
  const loop::Value position = index[axes.position];
  std::vector<loop::Value> at(index.begin(), index.end());
  at[axes.position] = loop::select(position < length, length - emitter.number(1) - position, position);
  return context.read(0, at);
}
Result<void> reverseSequenceReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const SequenceAxes axes,
                   sequenceAxes(call.call, static_cast<int>(call.inputs[0].shape.size())));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t length =
        std::min(sequenceLength(call, index[axes.sequence]), call.extent(0, axes.position));
    std::vector<int64_t> at(index.begin(), index.end());
    int64_t& position = at[axes.position];
    if (position < length) position = length - 1 - position;
    call.store(0, index, call.load(0, at));
  });
  return success();
}

}  // namespace baton::ops
