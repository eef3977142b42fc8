// unravel_index.
#include "base/checked_math.h"
#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> unravelIndexStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY(context.requireRank(1, 1));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank + 1);
}
Result<std::vector<TensorDims>> unravelIndexDims(const OpCall&, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  result.extents.insert(result.extents.begin(), DimExpr(context.dims(1)[0]));
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::Op;
using loop::Value;

}  // namespace

Result<Value> unravelIndexElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const Value given, context.read(0, index.subspan(1)));
  const DType type = given.type();
  const Value position = loop::cast(
      type == DType::U64 ? loop::min(given, b.constantBits(DType::U64, INT64_MAX)) : given, DType::I64);
  const Value rank = emitter.dim(context.inputDims(1)[0]);
  const auto extentAt = [&](Value d) -> Result<Value> {
    BATON_TRY_ASSIGN(const Value extent, context.read(1, {d}));
    return loop::cast(extent, DType::I64);
  };
  const loop::LocalIndex total = b.local(DType::I64);
  const loop::LocalIndex rest = b.local(DType::I64);
  b.set(total, emitter.number(1));
  const Value each = emitter.beginLoop(loop::LoopKind::Serial, rank);
  BATON_TRY_ASSIGN(const Value factor, extentAt(each));
  // A negative extent leaves no place, and every index is below more places than there are numbers.
  b.set(total, emitter.mulAtMost(b.get(total), emitter.max(factor, emitter.number(0))));
  emitter.end();
  const Value count = b.get(total);
  const uint32_t message = b.message("unravel_index: an index is out of range: {0} for {1} elements");
  b.ifThen((position < emitter.number(0)) | (position >= count), [&] { b.fail(message, {position, count}); });
  // Without the axes behind this one.
  const uint32_t empty = b.message("unravel_index: the shape has no elements");
  b.set(rest, position);
  const Value behind = emitter.beginLoop(loop::LoopKind::Serial, rank);
  const Value axis = emitter.sub(emitter.sub(rank, emitter.number(1)), behind);
  emitter.beginIf(axis > index[0]);
  BATON_TRY_ASSIGN(const Value divisor, extentAt(axis));
  b.set(rest, b.divide(Op::FloorDiv, b.get(rest), divisor, empty));
  emitter.end();
  emitter.end();
  BATON_TRY_ASSIGN(const Value own, extentAt(index[0]));
  const Value result = b.divide(Op::FloorMod, b.get(rest), own, empty);
  return loop::cast(result, context.wantedType());
}
Result<void> unravelIndexReference(ReferenceCall& call) {
  const int64_t rank = call.extent(1, 0);
  const auto extentOf = [&](int64_t d) { return static_cast<int64_t>(call.load(1, d)); };
  std::vector<int64_t> shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(std::max<int64_t>(extentOf(d), 0));
  const int64_t total = checkedElementCount(shape).value_or(INT64_MAX);
  bool isOutside = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const auto position = plainPosition(call.load(0, index.subspan(1)), call.inputs[0].dtype, total, "fast");
    const bool isNegative =
        isSignedInt(call.inputs[0].dtype) && static_cast<int64_t>(call.load(0, index.subspan(1))) < 0;
    if (!position || isNegative) {
      isOutside = true;
      return;
    }
    int64_t rest = *position;
    for (int64_t d = rank; --d > index[0];) rest /= extentOf(d);
    call.store(
        0, index,
        convertScalar(static_cast<uint64_t>(rest % extentOf(index[0])), DType::I64, call.results[0].dtype));
  });
  if (isOutside) return programError(call.call, "an index is out of range");
  return success();
}

}  // namespace baton::ops
