// qnn.conv2d: a convolution of what is left without the zero points, so that padding is zeros.
#include <fmt/format.h>

#include "compiler/ops/convolution/convolution.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/quantised/fixed_point.h"

namespace baton::ops {

namespace {

constexpr size_t kDataZero = 2;
constexpr size_t kChannelZero = 3;
constexpr size_t kChannelScale = 5;

const OpDef& plainConvolution() { return *OpRegistry::instance().find("nn.conv2d"); }
ir::Attrs convolutionAttrs(const OpCall& call) {
  ir::Attrs attrs = defaultAttrs(plainConvolution());
  for (const AttrSpec& attr : plainConvolution().attrs)
    if (const ir::AttrValue* value = call.attrs->find(attr.name)) attrs.set(attr.name, *value);
  return attrs;
}

/// Zero point or scale of the weight, along its output channels.
AxisVector ofChannels(const OpCall& call, size_t input) {
  // The structure has looked at the layout.
  return {input, 1, static_cast<int64_t>(QnnConv2dAttrs{*call.attrs}.kernelLayout().find('O'))};
}

}  // namespace

Result<std::optional<StructureResult>> qnnConv2dStructure(const OpCall& call, StructureContext& context) {
  const DType type = QnnConv2dAttrs{*call.attrs}.outDtype();
  if (!isInClass(type, DTypeClass::Index))
    return opError(call, fmt::format("out_dtype is {}; expected int32 or int64", dtypeName(type)));
  BATON_TRY(context.provideResultDType(0, type));
  const ir::Attrs attrs = convolutionAttrs(call);
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf({&plainConvolution(), &attrs, 2}));
  BATON_TRY(context.requireRank(0, static_cast<int>(convolution.data.size())));
  BATON_TRY(context.requireRank(1, static_cast<int>(convolution.weight.size())));
  bool isKnown = true;
  for (size_t i = 2; i < call.inputCount; ++i) {
    if (i != kChannelZero && i != kChannelScale) {
      BATON_TRY(context.requireRank(i, 0));
      continue;
    }
    BATON_TRY_ASSIGN(const bool known, checkAxisVector(call, context, ofChannels(call, i)));
    isKnown = isKnown && known;
  }
  if (!isKnown || !context.dtype(0) || !context.dtype(1)) return std::nullopt;
  return oneResult(type, static_cast<int>(convolution.result.size()));
}
Result<std::vector<TensorDims>> qnnConv2dDims(const OpCall& call, DimsContext& context) {
  for (const size_t i : {kChannelZero, kChannelScale})
    BATON_TRY(requireAxisVector(call, context, ofChannels(call, i)));
  const ir::Attrs attrs = convolutionAttrs(call);
  return plainConvolution().dims({&plainConvolution(), &attrs, 2}, context);
}
Result<void> qnnConv2dLegal(ExpandContext& context) {
  FixedPointExpansion e(context);
  const DType type = context.resultType();
  BATON_TRY_ASSIGN(const TensorId data, e.centred(context.input(0), {kDataZero, 0, 0}, type));
  BATON_TRY_ASSIGN(const TensorId weight,
                   e.centred(context.input(1), ofChannels(context.call(), kChannelZero), type));
  BATON_TRY_ASSIGN(const TensorId result,
                   context.make("nn.conv2d", convolutionAttrs(context.call()), {data, weight}));
  context.become({result});
  return success();
}
Result<void> qnnConv2dReference(ReferenceCall& call) {
  const DType type = call.results[0].dtype;
  const auto centred = [&](size_t input, const AxisVector& zeroPoint) {
    std::vector<std::byte> bytes;
    forEachPosition(call.inputs[input].shape, [&](std::span<const int64_t> index) {
      const uint64_t x = convertScalar(call.load(input, index), call.inputs[input].dtype, DType::I64) -
                         static_cast<uint64_t>(vectorZeroPoint(call, zeroPoint, index));
      bytes.resize(bytes.size() + static_cast<size_t>(sizeBytes(type)));
      storeScalar(bytes.data() + bytes.size() - sizeBytes(type), type, convertScalar(x, DType::I64, type));
    });
    return bytes;
  };
  const std::vector<std::byte> data = centred(0, {kDataZero, 0, 0});
  const std::vector<std::byte> weight = centred(1, ofChannels(call.call, kChannelZero));
  const TensorView views[] = {{type, call.inputs[0].shape, data.data()},
                              {type, call.inputs[1].shape, weight.data()}};
  BATON_TRY_ASSIGN(std::vector<ReferenceResult> results,
                   evaluateReference(plainConvolution(), convolutionAttrs(call.call), views, call.work));
  call.results[0] = std::move(results[0]);
  return success();
}

}  // namespace baton::ops
