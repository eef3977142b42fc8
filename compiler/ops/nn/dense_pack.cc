// nn.contrib_dense_pack: nn.dense with a weight in blocks.
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/convolution/window.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/nn/product_type.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

namespace {

Result<Layout> weightLayoutOf(const OpCall& call) {
  BATON_TRY_ASSIGN(Layout layout, readLayout(call, "weight_layout"));
  if (lettersOf(layout) != "CN")
    return opError(call, fmt::format("weight_layout is \"{}\"; expected the axes N and C",
                                     call.attrs->stringOf("weight_layout")));
  return layout;
}

}  // namespace

Result<std::optional<StructureResult>> densePackStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const Layout layout, weightLayoutOf(call));
  BATON_TRY(context.requireRank(0, 2));
  BATON_TRY(context.requireRank(1, static_cast<int>(layout.size())));
  return productStructure(call, context, DensePackAttrs{*call.attrs}.outDtype(), 2);
}

Result<std::vector<TensorDims>> densePackDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const Layout layout, weightLayoutOf(call));
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, 1);
  BATON_TRY(requireBlocks(call, context, 1, layout));
  BATON_TRY(context.require(data[1], Relation::Eq, wholeExtent(layout, weight, 'C'),
                            "nn.contrib_dense_pack: the data has {0} columns, and the weight {1}"));
  DimExpr rows = wholeExtent(layout, weight, 'N');
  if (const std::optional<int64_t> units = DensePackAttrs{*call.attrs}.units()) {
    BATON_TRY_ASSIGN(rows, requireEqual(context, rows, DimExpr::constant(*units),
                                        "nn.contrib_dense_pack: the weight has {0} rows, and units is {1}"));
  }
  return std::vector<TensorDims>{{{data[0], std::move(rows)}}};
}

Result<void> densePackLegal(ExpandContext& context) {
  const OpCall& call = context.call();
  TensorId weight = context.input(1);
  if (call.attrs->stringOf("weight_layout") != "NC") {
    ir::Attrs layouts;
    layouts.set("src_layout", call.attrs->stringOf("weight_layout"));
    layouts.set("dst_layout", std::string("NC"));
    BATON_TRY_ASSIGN(weight, context.make("layout_transform", layouts, {weight}));
  }
  ir::Attrs attrs;
  attrs.set("out_dtype", context.resultType());
  BATON_TRY_ASSIGN(const TensorId result, context.make("nn.dense", attrs, {context.input(0), weight}));
  context.become({result});
  return success();
}

Result<void> densePackReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const Layout layout, weightLayoutOf(call.call));
  const DType wide = accumulationType(call.results[0].dtype);
  const int64_t columns = call.extent(0, 1);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    dispatchDType(wide, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        const auto load = [&](size_t input, std::span<const int64_t> at) {
          return scalarFromBits<T>(convertScalar(call.load(input, at), call.inputs[input].dtype, wide));
        };
        T sum{};
        for (int64_t k = 0; k < columns; ++k) {
          const T x = load(0, std::vector{index[0], k});
          const T w = load(1, indexIn(layout, [&](char name) { return name == 'N' ? index[1] : k; }));
          if constexpr (std::is_floating_point_v<T>)
            sum = std::fma(x, w, sum);
          else
            sum = static_cast<T>(static_cast<uint64_t>(sum) +
                                 static_cast<uint64_t>(x) * static_cast<uint64_t>(w));
        }
        call.store(0, index, convertScalar(scalarBits(sum), wide, call.results[0].dtype));
      }
    });
  });
  return success();
}

}  // namespace baton::ops
