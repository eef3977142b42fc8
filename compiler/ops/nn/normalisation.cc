// nn.layer_norm, nn.instance_norm, nn.group_norm, nn.batch_norm and nn.l2_normalize.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/reduction/reduction.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

namespace {

Result<size_t> channelAxis(const OpCall& call, size_t rank) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(call, "axis", NormAttrs{*call.attrs}.axis(), static_cast<int>(rank)));
  return static_cast<size_t>(axis);
}

/// Of the data, to which vectors along one of its axes belong.
Result<std::optional<TensorStructure>> dataStructure(const OpCall& call, StructureContext& context) {
  for (size_t i = 1; i < call.inputCount; ++i) {
    BATON_TRY(context.requireSameDType(0, i));
    BATON_TRY(context.requireRank(i, 1));
  }
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(channelAxis(call, static_cast<size_t>(*rank)));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return TensorStructure{*dtype, *rank};
}

}  // namespace

Result<std::optional<StructureResult>> normStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY_ASSIGN(const std::optional<TensorStructure> data, dataStructure(call, context));
  if (!data) return std::nullopt;
  return oneResult(data->dtype, data->rank);
}

Result<std::vector<TensorDims>> normDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(call, result.extents.size()));
  DimExpr& extent = result.extents[axis];
  for (size_t i = 1; i < call.inputCount; ++i) {
    context.blame(i);
    const DimExpr count = context.dims(i)[0];
    BATON_TRY_ASSIGN(extent, requireEqual(context, extent, count,
                                          fmt::format("{}: dimension {} of the data ({{0}}) does not match "
                                                      "the {} ({{1}})",
                                                      call.op->name, axis, inputName(call, i))));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> groupNormStructure(const OpCall& call, StructureContext& context) {
  const int64_t groups = GroupNormAttrs{*call.attrs}.numGroups();
  if (groups < 1) return opError(call, fmt::format("num_groups is {}; expected 1 or more", groups));
  return normStructure(call, context);
}

Result<std::vector<TensorDims>> groupNormDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<TensorDims> results, normDims(call, context));
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(call, results[0].extents.size()));
  const int64_t groups = GroupNormAttrs{*call.attrs}.numGroups();
  const DimExpr extent = results[0].extents[axis];
  context.blame(0);
  BATON_TRY(context.require(
      floorMod(extent, DimExpr::constant(groups)), Relation::Eq, DimExpr(),
      fmt::format("nn.group_norm: {} groups do not divide dimension {} ({{0}})", groups, axis), {extent}));
  return results;
}

Result<std::optional<StructureResult>> batchNormStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const std::optional<TensorStructure> data, dataStructure(call, context));
  if (!data) return std::nullopt;
  return StructureResult{{*data, {data->dtype, 1}, {data->dtype, 1}}, true};
}

Result<std::vector<TensorDims>> batchNormDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<TensorDims> results, normDims(call, context));
  for (size_t i = 3; i < 5; ++i) results.push_back({copyDims(context, i)});
  return results;
}

namespace {

/// Data of which the mean over some axes is 0 and the variance 1. The variance is the mean of the
/// squares of what is left when the mean is gone, which loses nothing where the mean is large.
Result<TensorId> normalised(WideExpansion& expansion, TensorId data, const std::vector<int64_t>& axes,
                            double epsilon) {
  BATON_TRY_ASSIGN(const TensorId mean, expansion.reduce("mean", data, axes));
  BATON_TRY_ASSIGN(const TensorId centred, expansion.apply("subtract", {data, mean}));
  BATON_TRY_ASSIGN(const TensorId square, expansion.apply("multiply", {centred, centred}));
  BATON_TRY_ASSIGN(const TensorId variance, expansion.reduce("mean", square, axes));
  BATON_TRY_ASSIGN(const TensorId raised, expansion.apply("add", {variance, expansion.number(epsilon)}));
  BATON_TRY_ASSIGN(const TensorId factor, expansion.apply("rsqrt", {raised}));
  return expansion.apply("multiply", {centred, factor});
}

/// A vector along an axis, with axes of extent 1 after that: it broadcasts to the data.
Result<TensorId> alongAxis(ExpandContext& context, WideExpansion& expansion, size_t input,
                           const std::vector<DimExpr>& channel, size_t later) {
  std::vector<DimExpr> dims = channel;
  dims.insert(dims.end(), later, one());
  TensorId vector = context.input(input);
  if (dims.size() > 1) {
    BATON_TRY_ASSIGN(vector, context.reshape(vector, std::move(dims)));
  }
  return expansion.wide(vector);
}

/// gamma * x + beta, for inputs 1 and 2. `channel`: the extents that the axis of the channels has become.
Result<TensorId> scaledAndMoved(ExpandContext& context, WideExpansion& expansion, TensorId x,
                                const std::vector<DimExpr>& channel, size_t later) {
  const NormAttrs attrs{*context.call().attrs};
  if (attrs.scale()) {
    BATON_TRY_ASSIGN(const TensorId gamma, alongAxis(context, expansion, 1, channel, later));
    BATON_TRY_ASSIGN(x, expansion.apply("multiply", {x, gamma}));
  }
  if (attrs.center()) {
    BATON_TRY_ASSIGN(const TensorId beta, alongAxis(context, expansion, 2, channel, later));
    BATON_TRY_ASSIGN(x, expansion.apply("add", {x, beta}));
  }
  return expansion.narrow(x);
}

Result<void> expandNorm(ExpandContext& context, size_t axis, const std::vector<int64_t>& reduced) {
  WideExpansion expansion(context);
  const std::vector<DimExpr> dims = context.resultDims();
  BATON_TRY_ASSIGN(const TensorId data, expansion.input(0));
  BATON_TRY_ASSIGN(const TensorId x,
                   normalised(expansion, data, reduced, NormAttrs{*context.call().attrs}.epsilon()));
  BATON_TRY_ASSIGN(const TensorId result,
                   scaledAndMoved(context, expansion, x, {dims[axis]}, dims.size() - 1 - axis));
  context.become({result});
  return success();
}

}  // namespace

Result<void> layerNormLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(context.call(), context.resultDims().size()));
  return expandNorm(context, axis, {static_cast<int64_t>(axis)});
}

Result<void> instanceNormLegal(ExpandContext& context) {
  const size_t rank = context.resultDims().size();
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(context.call(), rank));
  std::vector<int64_t> reduced;
  for (size_t i = 1; i < rank; ++i)
    if (i != axis) reduced.push_back(static_cast<int64_t>(i));
  return expandNorm(context, axis, reduced);
}

/// The channels become two axes, groups and what is in each; then all is as in a layer.
Result<void> groupNormLegal(ExpandContext& context) {
  const GroupNormAttrs attrs{*context.call().attrs};
  WideExpansion expansion(context);
  const std::vector<DimExpr> dims = context.resultDims();
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(context.call(), dims.size()));
  const DimExpr groups = DimExpr::constant(attrs.numGroups());
  const std::vector<DimExpr> channel = {groups, floorDiv(dims[axis], groups)};
  std::vector<DimExpr> grouped = dims;
  grouped.erase(grouped.begin() + static_cast<std::ptrdiff_t>(axis));
  grouped.insert(grouped.begin() + static_cast<std::ptrdiff_t>(axis), channel.begin(), channel.end());
  std::vector<int64_t> reduced;
  for (size_t i = axis + 1; i < grouped.size(); ++i) reduced.push_back(static_cast<int64_t>(i));

  BATON_TRY_ASSIGN(const TensorId view, context.reshape(context.input(0), grouped));
  BATON_TRY_ASSIGN(const TensorId data, expansion.wide(view));
  BATON_TRY_ASSIGN(const TensorId x, normalised(expansion, data, reduced, attrs.epsilon()));
  BATON_TRY_ASSIGN(const TensorId moved,
                   scaledAndMoved(context, expansion, x, channel, dims.size() - 1 - axis));
  BATON_TRY_ASSIGN(const TensorId result, context.reshape(moved, dims));
  context.become({result});
  return success();
}

/// (x - mean) * (gamma / sqrt(variance + epsilon)) + beta: the factor is one of vectors, which are
/// constants in most programs.
Result<void> batchNormLegal(ExpandContext& context) {
  const NormAttrs attrs{*context.call().attrs};
  WideExpansion expansion(context);
  const std::vector<DimExpr> dims = context.resultDims();
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(context.call(), dims.size()));
  const auto vector = [&](size_t input) {
    return alongAxis(context, expansion, input, {dims[axis]}, dims.size() - 1 - axis);
  };
  BATON_TRY_ASSIGN(const TensorId data, expansion.input(0));
  BATON_TRY_ASSIGN(const TensorId mean, vector(3));
  BATON_TRY_ASSIGN(const TensorId variance, vector(4));
  BATON_TRY_ASSIGN(const TensorId raised,
                   expansion.apply("add", {variance, expansion.number(attrs.epsilon())}));
  BATON_TRY_ASSIGN(TensorId factor, expansion.apply("rsqrt", {raised}));
  if (attrs.scale()) {
    BATON_TRY_ASSIGN(const TensorId gamma, vector(1));
    BATON_TRY_ASSIGN(factor, expansion.apply("multiply", {factor, gamma}));
  }
  BATON_TRY_ASSIGN(const TensorId centred, expansion.apply("subtract", {data, mean}));
  BATON_TRY_ASSIGN(TensorId x, expansion.apply("multiply", {centred, factor}));
  if (attrs.center()) {
    BATON_TRY_ASSIGN(const TensorId beta, vector(2));
    BATON_TRY_ASSIGN(x, expansion.apply("add", {x, beta}));
  }
  BATON_TRY_ASSIGN(const TensorId result, expansion.narrow(x));
  context.become({result, context.input(3), context.input(4)});
  return success();
}

namespace {

/// Which axes nn.l2_normalize sums over; all of them where none is listed.
Result<std::vector<int64_t>> lengthAxes(const OpCall& call, size_t rank) {
  const std::vector<int64_t>* listed = L2NormalizeAttrs{*call.attrs}.axis();
  std::vector<bool> isListed(rank, listed == nullptr || listed->empty());
  if (listed != nullptr)
    for (const int64_t axis : *listed) {
      BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, static_cast<int>(rank)));
      if (isListed[static_cast<size_t>(normal)])
        return opError(call, fmt::format("axis {} is listed twice", normal));
      isListed[static_cast<size_t>(normal)] = true;
    }
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < rank; ++axis)
    if (isListed[axis]) axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

}  // namespace

Result<std::optional<StructureResult>> l2NormalizeStructure(const OpCall& call, StructureContext& context) {
  if (const std::optional<int> rank = context.rank(0))
    BATON_TRY(lengthAxes(call, static_cast<size_t>(*rank)));
  return unaryStructure(call, context);
}

Result<void> l2NormalizeLegal(ExpandContext& context) {
  WideExpansion expansion(context);
  BATON_TRY_ASSIGN(const std::vector<int64_t> axes, lengthAxes(context.call(), context.resultDims().size()));
  BATON_TRY_ASSIGN(const TensorId data, expansion.input(0));
  BATON_TRY_ASSIGN(const TensorId square, expansion.apply("multiply", {data, data}));
  BATON_TRY_ASSIGN(const TensorId total, expansion.reduce("sum", square, axes));
  const TensorId least = expansion.number(L2NormalizeAttrs{*context.call().attrs}.eps());
  BATON_TRY_ASSIGN(const TensorId raised, expansion.apply("maximum", {total, least}));
  BATON_TRY_ASSIGN(const TensorId factor, expansion.apply("rsqrt", {raised}));
  BATON_TRY_ASSIGN(const TensorId x, expansion.apply("multiply", {data, factor}));
  BATON_TRY_ASSIGN(const TensorId result, expansion.narrow(x));
  context.become({result});
  return success();
}

namespace {

using Position = std::vector<int64_t>;

/// Elements with one key are normalised together, in row-major order: `f` gets their numbers and
/// changes them. `finish(x, index)` is what becomes of each.
template <class T, class Key, class F, class Finish>
void plainNormalise(ReferenceCall& call, Key&& key, F&& f, Finish&& finish) {
  const DType type = call.inputs[0].dtype;
  const DType wide = accumulationType(type);
  std::map<Position, std::vector<Position>> groups;
  forEachPosition(call.inputs[0].shape, [&](std::span<const int64_t> index) {
    groups[key(index)].emplace_back(index.begin(), index.end());
  });
  for (const auto& [name, members] : groups) {
    std::vector<T> x;
    for (const Position& index : members)
      x.push_back(scalarFromBits<T>(convertScalar(call.load(0, index), type, wide)));
    f(x);
    for (size_t i = 0; i < members.size(); ++i)
      call.store(0, members[i],
                 convertScalar(scalarBits(static_cast<T>(finish(x[i], members[i]))), wide, type));
  }
}

template <class T>
T plainTotal(const std::vector<T>& values) {
  return reduceInOrder(values, T{0}, [](T a, T b) { return a + b; });
}

template <class T>
T vectorElement(const ReferenceCall& call, size_t input, int64_t at) {
  const DType type = call.inputs[input].dtype;
  return scalarFromBits<T>(convertScalar(call.load(input, at), type, accumulationType(type)));
}

/// `key` says which elements have a mean and a variance of their own.
template <class T, class Key>
Result<void> plainNorm(ReferenceCall& call, size_t axis, Key&& key) {
  const NormAttrs attrs{*call.call.attrs};
  const auto normalise = [&](std::vector<T>& x) {
    const auto count = static_cast<T>(static_cast<int64_t>(x.size()));
    const T mean = plainTotal(x) / count;
    std::vector<T> squares;
    for (T& value : x) {
      value = value - mean;
      squares.push_back(value * value);
    }
    const T factor = math::rsqrt(plainTotal(squares) / count + static_cast<T>(attrs.epsilon()));
    for (T& value : x) value = value * factor;
  };
  plainNormalise<T>(call, key, normalise, [&](T x, const Position& index) {
    if (attrs.scale()) x = x * vectorElement<T>(call, 1, index[axis]);
    return attrs.center() ? x + vectorElement<T>(call, 2, index[axis]) : x;
  });
  return success();
}

template <class Key>
Result<void> normReferenceOf(ReferenceCall& call, size_t axis, Key&& key) {
  return call.inputs[0].dtype == DType::F64 ? plainNorm<double>(call, axis, key)
                                            : plainNorm<float>(call, axis, key);
}

template <class T>
Result<void> plainBatchNorm(ReferenceCall& call, size_t axis) {
  const NormAttrs attrs{*call.call.attrs};
  plainNormalise<T>(
      call, [](std::span<const int64_t> index) { return Position(index.begin(), index.end()); },
      [](std::vector<T>&) {},
      [&](T x, const Position& index) {
        const int64_t at = index[axis];
        T factor = math::rsqrt(vectorElement<T>(call, 4, at) + static_cast<T>(attrs.epsilon()));
        if (attrs.scale()) factor = factor * vectorElement<T>(call, 1, at);
        x = (x - vectorElement<T>(call, 3, at)) * factor;
        return attrs.center() ? x + vectorElement<T>(call, 2, at) : x;
      });
  for (size_t i = 1; i < 3; ++i)
    for (int64_t at = 0; at < call.results[i].shape[0]; ++at) call.store(i, at, call.load(i + 2, at));
  return success();
}

template <class T>
Result<void> plainL2Normalize(ReferenceCall& call, const std::vector<int64_t>& axes) {
  const T least = static_cast<T>(L2NormalizeAttrs{*call.call.attrs}.eps());
  plainNormalise<T>(
      call,
      [&](std::span<const int64_t> index) {
        Position key(index.begin(), index.end());
        for (const int64_t axis : axes) key[static_cast<size_t>(axis)] = 0;
        return key;
      },
      [&](std::vector<T>& x) {
        std::vector<T> squares;
        for (const T value : x) squares.push_back(value * value);
        const T total = plainTotal(squares);
        const T factor = math::rsqrt(std::isnan(total) || least < total ? total : least);
        for (T& value : x) value = value * factor;
      },
      [](T x, const Position&) { return x; });
  return success();
}

}  // namespace

Result<void> layerNormReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(call.call, call.inputs[0].shape.size()));
  return normReferenceOf(call, axis, [axis](std::span<const int64_t> index) {
    Position key(index.begin(), index.end());
    key[axis] = 0;
    return key;
  });
}

Result<void> instanceNormReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(call.call, call.inputs[0].shape.size()));
  return normReferenceOf(call, axis,
                         [axis](std::span<const int64_t> index) { return Position{index[0], index[axis]}; });
}

Result<void> groupNormReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(call.call, call.inputs[0].shape.size()));
  const int64_t size = call.extent(0, axis) / GroupNormAttrs{*call.call.attrs}.numGroups();
  return normReferenceOf(call, axis, [axis, size](std::span<const int64_t> index) {
    Position key(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
    key.push_back(index[axis] / size);
    return key;
  });
}

Result<void> batchNormReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const size_t axis, channelAxis(call.call, call.inputs[0].shape.size()));
  return call.inputs[0].dtype == DType::F64 ? plainBatchNorm<double>(call, axis)
                                            : plainBatchNorm<float>(call, axis);
}

Result<void> l2NormalizeReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const std::vector<int64_t> axes, lengthAxes(call.call, call.inputs[0].shape.size()));
  return call.inputs[0].dtype == DType::F64 ? plainL2Normalize<double>(call, axes)
                                            : plainL2Normalize<float>(call, axes);
}

}  // namespace baton::ops
