// Matrix products.
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/lowering/product_nest.h"
#include "compiler/ops/nn/product_type.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<DType> productDType(const OpCall& call, DType data, std::optional<DType> requested) {
  const DType out = requested.value_or(data);
  if (out == data) return out;
  const bool isSameClass = isFloat(out) ? isFloat(data) : isInteger(out) && isInteger(data);
  if (!isSameClass || sizeBytes(out) < sizeBytes(data))
    return opError(call,
                   fmt::format("out_dtype {} cannot hold products of {}", dtypeName(out), dtypeName(data)));
  return out;
}

Result<std::optional<StructureResult>> productStructure(const OpCall& call, StructureContext& context,
                                                        std::optional<DType> requested,
                                                        std::optional<int> rank) {
  BATON_TRY(context.requireSameDType(0, 1));
  if (requested)
    BATON_TRY(context.provideResultDType(0, *requested));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  BATON_TRY_ASSIGN(const DType result, productDType(call, *dtype, requested));
  return oneResult(result, *rank);
}

namespace {

Result<void> requireMatrix(const OpCall& call, StructureContext& context, int least) {
  const std::optional<int> rank = context.rank(0);
  if (!rank || *rank >= least) return success();
  context.blame(0);
  return opError(call,
                 fmt::format("the {} has rank {}; expected {} or more", inputName(call, 0), *rank, least));
}

Result<void> requireInner(const OpCall& call, DimsContext& context, const DimExpr& a, size_t aAxis,
                          const DimExpr& b, size_t bAxis) {
  context.blame(0);
  return context.require(
      a, Relation::Eq, b,
      fmt::format("{}: dimension {} of the {} ({{0}}) does not match dimension {} of the {} ({{1}})",
                  call.op->name, aAxis, inputName(call, 0), bAxis, inputName(call, 1)));
}

/// The extent along the rows of the weight, held against `units`.
Result<DimExpr> outerExtent(const OpCall& call, DimsContext& context, const DimExpr& extent, size_t axis,
                            std::optional<int64_t> units) {
  if (!units) return extent;
  return requireEqual(context, extent, DimExpr::constant(*units),
                      fmt::format("{}: dimension {} of the {} ({{0}}) does not match units ({{1}})",
                                  call.op->name, axis, inputName(call, 1)));
}

}  // namespace

Result<std::optional<StructureResult>> denseStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(requireMatrix(call, context, 1));
  return productStructure(call, context, DenseAttrs{*call.attrs}.outDtype(), context.rank(0));
}

Result<std::vector<TensorDims>> denseDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, 1);
  BATON_TRY(requireInner(call, context, data.back(), data.size() - 1, weight[1], 1));
  TensorDims result{data};
  BATON_TRY_ASSIGN(result.extents.back(),
                   outerExtent(call, context, weight[0], 0, DenseAttrs{*call.attrs}.units()));
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> matmulStructure(const OpCall& call, StructureContext& context) {
  const MatmulAttrs attrs{*call.attrs};
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(requireMatrix(call, context, attrs.transposeA() ? 2 : 1));
  return productStructure(call, context, attrs.outDtype(), context.rank(0));
}

Result<std::vector<TensorDims>> matmulDims(const OpCall& call, DimsContext& context) {
  const MatmulAttrs attrs{*call.attrs};
  const std::vector<DimExpr> a = copyDims(context, 0);
  const std::vector<DimExpr> b = copyDims(context, 1);
  const size_t inner = attrs.transposeA() ? a.size() - 2 : a.size() - 1;
  const size_t rows = attrs.transposeB() ? 1 : 0;
  BATON_TRY(requireInner(call, context, a[inner], inner, b[rows], rows));
  TensorDims result{a};
  if (attrs.transposeA()) result.extents[a.size() - 2] = a.back();
  BATON_TRY_ASSIGN(result.extents.back(), outerExtent(call, context, b[1 - rows], 1 - rows, attrs.units()));
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> batchMatmulStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 3));
  return productStructure(call, context, BatchMatmulAttrs{*call.attrs}.outDtype(), 3);
}

Result<std::vector<TensorDims>> batchMatmulDims(const OpCall& call, DimsContext& context) {
  const BatchMatmulAttrs attrs{*call.attrs};
  const std::vector<DimExpr> a = copyDims(context, 0);
  const std::vector<DimExpr> b = copyDims(context, 1);
  const size_t aInner = attrs.transposeA() ? 1 : 2;
  const size_t bInner = attrs.transposeB() ? 2 : 1;
  BATON_TRY(requireInner(call, context, a[aInner], aInner, b[bInner], bInner));
  BATON_TRY_ASSIGN(
      DimExpr batch,
      broadcastExtent(context, a[0], b[0],
                      "nn.batch_matmul: batches of {0} and of {1} matrices do not broadcast", {a[0], b[0]}));
  return std::vector<TensorDims>{{{std::move(batch), a[3 - aInner], b[3 - bInner]}}};
}

namespace {

using loop::Value;

/// A tensor of any rank times a matrix: all leading axes are rows.
Result<void> productOfRows(NestContext& context, std::function<Result<Value>(const PanelPosition&)> right,
                           RightLayout layout) {
  const auto data = context.inputDims(0);
  const std::vector<DimExpr> leading(data.begin(), data.end() - 1);
  ProductSpec spec;
  spec.rows = product(leading);
  spec.inner = {data.back()};
  spec.columns = context.resultDims().back();
  spec.layout = layout;
  spec.right = std::move(right);
  spec.left = [&context, leading](std::span<const Value>, Value row, std::span<const Value> inner) {
    std::vector<Value> index = splitRow(context.emitter(), leading, row);
    index.push_back(inner[0]);
    return context.read(0, index);
  };
  spec.index = [&context, leading](std::span<const Value>, Value row, Value column) {
    std::vector<Value> index = splitRow(context.emitter(), leading, row);
    index.push_back(column);
    return index;
  };
  return writeProduct(context, std::move(spec));
}

/// The second operand is a matrix.
Result<void> productWithMatrix(NestContext& context, bool transposesRight) {
  return productOfRows(
      context,
      [&context, transposesRight](const PanelPosition& at) {
        return transposesRight ? context.read(1, {at.column, at.inner[0]})
                               : context.read(1, {at.inner[0], at.column});
      },
      transposesRight ? RightLayout::Strided : RightLayout::Rows);
}

/// Matrices with their leading axes as batches; `right` may lack them, or have one for all.
Result<void> productOfBatches(NestContext& context, bool transposesLeft, bool transposesRight) {
  const auto left = context.inputDims(0);
  const auto right = context.inputDims(1);
  const auto result = context.resultDims();
  ProductSpec spec;
  spec.batch.assign(result.begin(), result.end() - 2);
  if (right.size() == 2) spec.batchOfRight = 0;
  spec.rows = result[result.size() - 2];
  spec.columns = result.back();
  spec.inner = {transposesLeft ? left[left.size() - 2] : left.back()};
  spec.layout = transposesRight ? RightLayout::Strided : RightLayout::Rows;
  // Axes of batches broadcast.
  const auto batchOf = [&context](std::span<const DimExpr> own, std::span<const DimExpr> wanted,
                                  std::span<const Value> batch) {
    std::vector<Value> index;
    const size_t count = own.size() - 2;
    Emitter& emitter = context.emitter();
    for (size_t axis = 0; axis < count; ++axis) {
      const Value position = batch[batch.size() - count + axis];
      const DimExpr& extent = own[axis];
      DimsContext& known = context.relations();
      if (known.decide(extent, Relation::Eq, wanted[wanted.size() - 2 - count + axis]) == Truth::True ||
          known.decide(extent, Relation::Ne, DimExpr::constant(1)) == Truth::True) {
        index.push_back(position);
        continue;
      }
      const Value isWide = emitter.at(
          0, [&] { return loop::cast(loop::notEqual(emitter.dim(extent), emitter.number(1)), DType::I64); });
      index.push_back(emitter.mul(position, isWide));
    }
    return index;
  };
  spec.left = [&context, left, result, batchOf, transposesLeft](std::span<const Value> batch, Value row,
                                                                std::span<const Value> inner) {
    std::vector<Value> index = batchOf(left, result, batch);
    index.insert(index.end(), {transposesLeft ? inner[0] : row, transposesLeft ? row : inner[0]});
    return context.read(0, index);
  };
  spec.right = [&context, right, result, batchOf, transposesRight](const PanelPosition& at) {
    std::vector<Value> index = batchOf(right, result, at.batch);
    index.insert(index.end(),
                 {transposesRight ? at.column : at.inner[0], transposesRight ? at.inner[0] : at.column});
    return context.read(1, index);
  };
  spec.index = [](std::span<const Value> batch, Value row, Value column) {
    std::vector<Value> index(batch.begin(), batch.end());
    index.insert(index.end(), {row, column});
    return index;
  };
  return writeProduct(context, std::move(spec));
}

/// acc = fma(a, b, acc) in ascending order of the reduced index, in the type of accumulation.
/// Strides are in elements.
struct PlainMatrix {
  size_t input;
  int64_t start;
  int64_t rowStride;
  int64_t innerStride;
};
template <class T>
T plainDot(const std::vector<T>& a, const std::vector<T>& b, const PlainMatrix& left,
           const PlainMatrix& right, int64_t row, int64_t column, int64_t count) {
  T sum{};
  for (int64_t k = 0; k < count; ++k) {
    const T x = a[static_cast<size_t>(left.start + row * left.rowStride + k * left.innerStride)];
    const T y = b[static_cast<size_t>(right.start + column * right.rowStride + k * right.innerStride)];
    if constexpr (std::is_floating_point_v<T>)
      sum = std::fma(x, y, sum);
    else
      sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  }
  return sum;
}

/// Then the other extents may be as large as they like, and so may their products.
bool hasNoElements(const ReferenceCall& call) { return elementCount(call.results[0].shape) == 0; }

/// For each of `batches` pairs of matrices (of which `starts` says where they begin).
Result<void> plainProduct(ReferenceCall& call, int64_t batches, int64_t rows, int64_t columns, int64_t inner,
                          const std::function<std::pair<PlainMatrix, PlainMatrix>(int64_t)>& matrices) {
  const DType wide = accumulationType(call.results[0].dtype);
  dispatchDType(wide, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      const auto numbers = [&](size_t input) {
        std::vector<T> out;
        for (int64_t i = 0; i < elementCount(call.inputs[input].shape); ++i)
          out.push_back(
              scalarFromBits<T>(convertScalar(call.load(input, i), call.inputs[input].dtype, wide)));
        return out;
      };
      const std::vector<T> a = numbers(0);
      const std::vector<T> b = numbers(1);
      int64_t at = 0;
      for (int64_t batch = 0; batch < batches; ++batch) {
        const auto [left, right] = matrices(batch);
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t column = 0; column < columns; ++column)
            call.store(0, at++,
                       convertScalar(scalarBits(plainDot(a, b, left, right, row, column, inner)), wide,
                                     call.results[0].dtype));
      }
    }
  });
  return success();
}

}  // namespace

Result<std::optional<StructureResult>> densePackedStructure(const OpCall& call, StructureContext& context) {
  const DensePackedAttrs attrs{*call.attrs};
  BATON_TRY(context.requireRank(1, 3));
  BATON_TRY(requireMatrix(call, context, 1));
  if (attrs.units() < 0) return opError(call, fmt::format("units is {}; expected 0 or more", attrs.units()));
  return productStructure(call, context, attrs.outDtype(), context.rank(0));
}

Result<std::vector<TensorDims>> densePackedDims(const OpCall& call, DimsContext& context) {
  const int64_t units = DensePackedAttrs{*call.attrs}.units();
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, 1);
  BATON_TRY(requireInner(call, context, data.back(), data.size() - 1, weight[1], 1));
  const DimExpr width = DimExpr::constant(kPanelColumns);
  BATON_TRY(context.require(weight[2], Relation::Eq, width,
                            "nn.dense_packed: dimension 2 of the weight is {0}; expected {1}"));
  BATON_TRY(context.require(weight[0], Relation::Eq, ceilDiv(DimExpr::constant(units), width),
                            "nn.dense_packed: the weight has {0} panels; expected {1}"));
  TensorDims result{data};
  result.extents.back() = DimExpr::constant(units);
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> densePackedNest(NestContext& context) {
  return productOfRows(
      context,
      [&context](const PanelPosition& at) { return context.read(1, {at.panel, at.inner[0], at.inPanel}); },
      RightLayout::Padded);
}
Result<void> densePackedReference(ReferenceCall& call) {
  if (hasNoElements(call)) return success();
  const auto data = call.inputs[0].shape;
  const int64_t inner = data.back();
  // Unpacked, it is nn.dense.
  const int64_t units = call.results[0].shape.back();
  ReferenceResult weight{call.inputs[1].dtype, {units, inner}, {}};
  weight.bytes.resize(static_cast<size_t>(units * inner * sizeBytes(weight.dtype)));
  for (int64_t row = 0; inner > 0 && row < units; ++row)
    for (int64_t k = 0; k < inner; ++k) {
      const int64_t at[] = {row / kPanelColumns, k, row % kPanelColumns};
      storeScalar(weight.bytes.data() + (row * inner + k) * sizeBytes(weight.dtype), weight.dtype,
                  call.load(1, at));
    }
  const TensorView inputs[] = {call.inputs[0], {weight.dtype, weight.shape, weight.bytes.data()}};
  ReferenceCall unpacked{call.call, inputs, call.results, call.relations, call.work};
  return denseReference(unpacked);
}

Result<void> denseNest(NestContext& context) { return productWithMatrix(context, true); }
Result<void> denseReference(ReferenceCall& call) {
  if (hasNoElements(call)) return success();
  const int64_t inner = call.inputs[0].shape.back();
  const int64_t columns = call.results[0].shape.back();
  const int64_t rows = elementCount(call.inputs[0].shape.first(call.inputs[0].shape.size() - 1));
  return plainProduct(call, 1, rows, columns, inner, [&](int64_t) {
    return std::pair(PlainMatrix{0, 0, inner, 1}, PlainMatrix{1, 0, inner, 1});
  });
}

Result<void> matmulNest(NestContext& context) {
  const MatmulAttrs attrs{*context.call().attrs};
  if (attrs.transposeA()) return productOfBatches(context, true, attrs.transposeB());
  return productWithMatrix(context, attrs.transposeB());
}
Result<void> matmulReference(ReferenceCall& call) {
  if (hasNoElements(call)) return success();
  const MatmulAttrs attrs{*call.call.attrs};
  const auto a = call.inputs[0].shape;
  const int64_t columns = call.results[0].shape.back();
  const int64_t inner = attrs.transposeA() ? a[a.size() - 2] : a.back();
  const PlainMatrix right = attrs.transposeB() ? PlainMatrix{1, 0, inner, 1} : PlainMatrix{1, 0, 1, columns};
  if (!attrs.transposeA())
    return plainProduct(call, 1, elementCount(a.first(a.size() - 1)), columns, inner,
                        [&](int64_t) { return std::pair(PlainMatrix{0, 0, inner, 1}, right); });
  const int64_t rows = a.back();
  return plainProduct(call, elementCount(a.first(a.size() - 2)), rows, columns, inner, [&](int64_t batch) {
    return std::pair(PlainMatrix{0, batch * inner * rows, 1, rows}, right);
  });
}

Result<void> batchMatmulNest(NestContext& context) {
  const BatchMatmulAttrs attrs{*context.call().attrs};
  return productOfBatches(context, attrs.transposeA(), attrs.transposeB());
}
Result<void> batchMatmulReference(ReferenceCall& call) {
  if (hasNoElements(call)) return success();
  const BatchMatmulAttrs attrs{*call.call.attrs};
  const auto result = call.results[0].shape;
  const int64_t rows = result[1];
  const int64_t columns = result[2];
  const int64_t inner = call.inputs[0].shape[attrs.transposeA() ? 1 : 2];
  return plainProduct(call, result[0], rows, columns, inner, [&](int64_t batch) {
    const int64_t a = call.extent(0, 0) == 1 ? 0 : batch * rows * inner;
    const int64_t b = call.extent(1, 0) == 1 ? 0 : batch * columns * inner;
    return std::pair(attrs.transposeA() ? PlainMatrix{0, a, 1, rows} : PlainMatrix{0, a, inner, 1},
                     attrs.transposeB() ? PlainMatrix{1, b, inner, 1} : PlainMatrix{1, b, 1, columns});
  });
}

}  // namespace baton::ops
