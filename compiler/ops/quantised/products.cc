// qnn.dense and qnn.batch_matmul: products of what is left without the zero points.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/quantised/fixed_point.h"

namespace baton::ops {

namespace {

// data, weight, input zero point, kernel zero point, input scale, kernel scale
constexpr size_t kInputZero = 2;
constexpr size_t kKernelZero = 3;
constexpr size_t kKernelScale = 5;

DType productType(const OpCall& call) { return std::get<DType>(*call.attrs->find("out_dtype")); }

/// Of the product that this one is without its zero points, which has the attributes of this one.
const OpDef& plainOperator(const OpCall& call) {
  return *OpRegistry::instance().find(call.op->name == "qnn.dense" ? "nn.dense" : "nn.batch_matmul");
}
ir::Attrs plainAttrs(const OpCall& call) {
  const OpDef& op = plainOperator(call);
  ir::Attrs attrs = defaultAttrs(op);
  for (const AttrSpec& attr : op.attrs)
    if (const ir::AttrValue* value = call.attrs->find(attr.name)) attrs.set(attr.name, *value);
  return attrs;
}

/// `hasChannels`: the weight may have a zero point and a scale for each row.
Result<std::optional<StructureResult>> productStructure(const OpCall& call, StructureContext& context,
                                                        int weightRank, bool hasChannels) {
  const DType type = productType(call);
  if (!isInClass(type, DTypeClass::Index))
    return opError(call, fmt::format("out_dtype is {}; expected int32 or int64", dtypeName(type)));
  BATON_TRY(context.provideResultDType(0, type));
  BATON_TRY(context.requireRank(1, weightRank));
  if (!hasChannels) BATON_TRY(context.requireRank(0, weightRank));
  bool isKnown = true;
  for (size_t i = 2; i < call.inputCount; ++i) {
    const bool isOfKernel = i == kKernelZero || i == kKernelScale;
    if (!hasChannels || !isOfKernel) {
      BATON_TRY(context.requireRank(i, 0));
      continue;
    }
    BATON_TRY_ASSIGN(const bool known, checkAxisVector(call, context, {i, 1, 0}));
    isKnown = isKnown && known;
  }
  context.blame(0);
  const std::optional<int> rank = context.rank(0);
  if (rank == 0) return opError(call, "the data is a scalar; expected rank 1 or more");
  if (!isKnown || !rank || !context.dtype(0) || !context.dtype(1)) return std::nullopt;
  return oneResult(type, *rank);
}

Result<std::vector<TensorDims>> productDims(const OpCall& call, DimsContext& context) {
  for (const size_t i : {kKernelZero, kKernelScale}) BATON_TRY(requireAxisVector(call, context, {i, 1, 0}));
  const ir::Attrs attrs = plainAttrs(call);
  return plainOperator(call).dims({&plainOperator(call), &attrs, 2}, context);
}

Result<void> writeCentredProduct(ExpandContext& context) {
  FixedPointExpansion e(context);
  const DType type = context.resultType();
  BATON_TRY_ASSIGN(const TensorId data, e.centred(context.input(0), {kInputZero, 0, 0}, type));
  BATON_TRY_ASSIGN(const TensorId weight, e.centred(context.input(1), {kKernelZero, 1, 0}, type));
  BATON_TRY_ASSIGN(const TensorId result, context.make(plainOperator(context.call()).name,
                                                       plainAttrs(context.call()), {data, weight}));
  context.become({result});
  return success();
}

/// An element without its zero point, in 64 bits, of which the result keeps as many as it has.
uint64_t plainFactor(const ReferenceCall& call, size_t input, std::span<const int64_t> index) {
  const AxisVector zeroPoint{input == 0 ? kInputZero : kKernelZero, input, 0};
  return convertScalar(call.load(input, index), call.inputs[input].dtype, DType::I64) -
         static_cast<uint64_t>(vectorZeroPoint(call, zeroPoint, index));
}

}  // namespace

Result<std::optional<StructureResult>> qnnDenseStructure(const OpCall& call, StructureContext& context) {
  return productStructure(call, context, 2, true);
}
Result<std::vector<TensorDims>> qnnDenseDims(const OpCall& call, DimsContext& context) {
  return productDims(call, context);
}
Result<void> qnnDenseLegal(ExpandContext& context) { return writeCentredProduct(context); }
Result<void> qnnDenseReference(ReferenceCall& call) {
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> row(index.begin(), index.end());
    uint64_t sum = 0;
    for (int64_t k = 0; k < call.extent(1, 1); ++k) {
      row.back() = k;
      const int64_t column[] = {index.back(), k};
      sum += plainFactor(call, 0, row) * plainFactor(call, 1, column);
    }
    call.store(0, index, convertScalar(sum, DType::I64, call.results[0].dtype));
  });
  return success();
}

Result<std::optional<StructureResult>> qnnBatchMatmulStructure(const OpCall& call,
                                                               StructureContext& context) {
  return productStructure(call, context, 3, false);
}
Result<std::vector<TensorDims>> qnnBatchMatmulDims(const OpCall& call, DimsContext& context) {
  return productDims(call, context);
}
Result<void> qnnBatchMatmulLegal(ExpandContext& context) { return writeCentredProduct(context); }
Result<void> qnnBatchMatmulReference(ReferenceCall& call) {
  const QnnBatchMatmulAttrs attrs{*call.call.attrs};
  const bool a = attrs.transposeA();
  const bool b = attrs.transposeB();
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < call.extent(0, a ? 1 : 2); ++k) {
      const int64_t first = call.extent(0, 0) == 1 ? 0 : index[0];
      const int64_t second = call.extent(1, 0) == 1 ? 0 : index[0];
      const int64_t left[] = {first, a ? k : index[1], a ? index[1] : k};
      const int64_t right[] = {second, b ? index[2] : k, b ? k : index[2]};
      sum += plainFactor(call, 0, left) * plainFactor(call, 1, right);
    }
    call.store(0, index, convertScalar(sum, DType::I64, call.results[0].dtype));
  });
  return success();
}

}  // namespace baton::ops
