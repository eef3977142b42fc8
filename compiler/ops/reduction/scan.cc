// cumsum and cumprod.
#include <utility>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> scanStructure(const OpCall& call, StructureContext& context) {
  const ScanAttrs attrs{*call.attrs};
  BATON_TRY_ASSIGN(const std::optional<DType> dtype, givenOrInputDType(context, attrs.dtype()));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  if (attrs.axis()) BATON_TRY(normaliseAxis(call, "axis", *attrs.axis(), *rank));
  if (!dtype) return std::nullopt;
  if (dtype == DType::Bool)
    return opError(call, "the type of the result is bool; expected an integer or float type");
  return oneResult(*dtype, attrs.axis() ? *rank : 1);
}

Result<std::vector<TensorDims>> scanDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  if (!ScanAttrs{*call.attrs}.axis()) result.extents = {product(result.extents)};
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::Value;

/// The index of element number `linear`.
std::vector<Value> unflattened(Emitter& emitter, Value linear, std::span<const DimExpr> extents) {
  std::vector<Value> at(extents.size(), emitter.number(0));
  for (size_t axis = extents.size(); axis-- > 0;) {
    at[axis] = axis == 0 ? linear : emitter.floorMod(linear, emitter.dim(extents[axis]));
    if (axis > 0) linear = emitter.floorDiv(linear, emitter.dim(extents[axis]));
  }
  return at;
}

Result<void> writeScan(NestContext& context, bool isProduct) {
  const ScanAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const auto data = context.inputDims(0);
  std::vector<DimExpr> others(context.resultDims().begin(), context.resultDims().end());
  size_t axis = 0;
  if (attrs.axis()) {
    BATON_TRY_ASSIGN(const int normal,
                     normaliseAxis(context.call(), "axis", *attrs.axis(), static_cast<int>(data.size())));
    axis = static_cast<size_t>(normal);
  }
  const DimExpr extent = others[axis];
  NestPlan plan;
  plan.served = {extent};
  plan.isRowWise = axis + 1 == others.size();
  plan.cost = 4 * static_cast<double>(extent.asConstant().value_or(256));
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
  const DType wide = accumulationType(context.resultType());
  return forEachIndex(emitter, others, plan, [&](std::span<const Value> index) -> Result<void> {
    const loop::LocalIndex total = b.local(wide);
    if (isProduct) b.set(total, b.constant(wide, 1));
    const Value position = emitter.beginLoop(loop::LoopKind::Serial, emitter.dim(extent));
    std::vector<Value> at(index.begin(), index.end());
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), position);
    BATON_TRY_ASSIGN(const Value element,
                     context.read(0, attrs.axis() ? at : unflattened(emitter, position, data)));
    const Value before = b.get(total);
    const Value value = loop::cast(element, wide);
    const Value after = isProduct ? before * value : before + value;
    b.set(total, after);
    BATON_TRY(context.sink(at, loop::cast(attrs.exclusive() ? before : after, context.resultType())));
    emitter.end();
    return success();
  });
}

Result<void> scanReferenceOf(ReferenceCall& call, double identity, ScalarReferenceFunction combine) {
  const ScanAttrs attrs{*call.call.attrs};
  std::vector<int64_t> shape(call.inputs[0].shape.begin(), call.inputs[0].shape.end());
  if (!attrs.axis()) shape = {elementCount(shape)};
  BATON_TRY_ASSIGN(const int normal, normaliseAxis(call.call, "axis", attrs.axis().value_or(0),
                                                   static_cast<int>(shape.size())));
  const auto axis = static_cast<size_t>(normal);
  const DType type = call.results[0].dtype;
  const DType wide = accumulationType(type);
  const DType types[] = {wide, wide};
  const TensorView data{call.inputs[0].dtype, shape, call.inputs[0].data};
  const ReferenceCall along{call.call, std::span(&data, 1), call.results, call.relations, call.work};
  forEachColumn(along, axis, [&](std::vector<int64_t>& at, std::span<const uint64_t> column) {
    uint64_t total = convertScalar(scalarBits(identity), DType::F64, wide);
    for (const uint64_t bits : column) {
      const uint64_t both[] = {total, convertScalar(bits, data.dtype, wide)};
      const uint64_t before =
          std::exchange(total, combine({call.call, types, wide}, std::span(both)).value());
      call.store(0, at, convertScalar(attrs.exclusive() ? before : total, wide, type));
      ++at[axis];
    }
  });
  return success();
}

}  // namespace

Result<void> cumsumNest(NestContext& context) { return writeScan(context, false); }
Result<void> cumprodNest(NestContext& context) { return writeScan(context, true); }

Result<void> cumsumReference(ReferenceCall& call) { return scanReferenceOf(call, 0, addReference); }
Result<void> cumprodReference(ReferenceCall& call) { return scanReferenceOf(call, 1, multiplyReference); }

}  // namespace baton::ops
