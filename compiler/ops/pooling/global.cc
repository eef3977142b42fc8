// Global pools: reductions over the spatial axes.
#include "compiler/ops/convolution/window.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/pooling/greatest.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

namespace {

struct GlobalPool {
  Layout data;
  Layout result;
};
Result<GlobalPool> globalPoolOf(const OpCall& call) {
  GlobalPool pool;
  BATON_TRY_ASSIGN(pool.data, windowLayout(call, "layout", "NC"));
  BATON_TRY_ASSIGN(pool.result, resultLayout(call, "layout"));
  return pool;
}

}  // namespace

Result<std::optional<StructureResult>> globalPoolStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const GlobalPool pool, globalPoolOf(call));
  BATON_TRY(context.requireRank(0, static_cast<int>(pool.data.size())));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, static_cast<int>(pool.result.size()));
}

Result<std::vector<TensorDims>> globalPoolDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const GlobalPool pool, globalPoolOf(call));
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY(requireBlocks(call, context, 0, pool.data));
  BATON_TRY_ASSIGN(TensorDims result, extentsIn(call, context, pool.result, [&](char name) {
                     return name == 'N' || name == 'C' ? wholeExtent(pool.data, data, name) : one();
                   }));
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> globalPoolLegal(ExpandContext& context) {
  const OpCall& call = context.call();
  BATON_TRY_ASSIGN(const GlobalPool pool, globalPoolOf(call));
  const DType type = context.resultType();
  const bool isMax = call.op->name.find("max") != std::string_view::npos;
  std::vector<int64_t> axes;
  for (const char name : {'H', 'W'}) axes.push_back(static_cast<int64_t>(placeIn(pool.data, {name, 0})));
  ir::Attrs attrs;
  attrs.set("axis", std::move(axes));
  attrs.set("keepdims", true);
  const DType wide = isMax || isFloat(type) ? type : isUnsignedInt(type) ? DType::U64 : DType::I64;
  BATON_TRY_ASSIGN(TensorId result, context.cast(context.input(0), wide));
  BATON_TRY_ASSIGN(result, context.make(isMax ? "max" : "mean", attrs, {result}));
  BATON_TRY_ASSIGN(result, context.cast(result, type));
  const std::string& data = call.attrs->stringOf("layout");
  const std::string& wanted = call.attrs->stringOf("out_layout");
  if (!wanted.empty() && wanted != data) {
    ir::Attrs layouts;
    layouts.set("src_layout", data);
    layouts.set("dst_layout", wanted);
    BATON_TRY_ASSIGN(result, context.make("layout_transform", layouts, {result}));
  }
  context.become({result});
  return success();
}

Result<void> globalPoolReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const GlobalPool pool, globalPoolOf(call.call));
  const bool isMax = call.call.op->name.find("max") != std::string_view::npos;
  const DType type = call.inputs[0].dtype;
  const DType wide = isMax || isFloat(type) ? accumulationType(type)
                     : isUnsignedInt(type)  ? DType::U64
                                            : DType::I64;
  const int64_t rows = call.extent(0, placeIn(pool.data, {'H', 0}));
  const int64_t columns = call.extent(0, placeIn(pool.data, {'W', 0}));
  bool fails = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    dispatchDType(wide, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        std::vector<T> elements;
        for (int64_t h = 0; h < rows; ++h)
          for (int64_t w = 0; w < columns; ++w) {
            const std::vector<int64_t> at = indexIn(pool.data, [&](char name) {
              return name == 'H' ? h : name == 'W' ? w : positionAlong(pool.result, index, name);
            });
            elements.push_back(scalarFromBits<T>(convertScalar(call.load(0, at), type, wide)));
          }
        T result{};
        if (isMax) {
          result = greatest(elements);
        } else if constexpr (std::is_floating_point_v<T>) {
          result = reduceInOrder(elements, T{0}, [](T a, T b) { return a + b; }) /
                   static_cast<T>(static_cast<int64_t>(elements.size()));
        } else {
          fails |= elements.empty();
          for (const T x : elements) result += x;
          if (!elements.empty()) result /= static_cast<T>(elements.size());
        }
        call.store(0, index, convertScalar(scalarBits(result), wide, type));
      }
    });
  });
  if (fails) return programError(call.call, "there are no elements");
  return success();
}

}  // namespace baton::ops
