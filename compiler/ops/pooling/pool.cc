// Pools: the maximum or the mean of the elements in each window.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/convolution/window.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/pooling/greatest.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

namespace {

/// The windows of a pool along one axis.
struct PoolAxis {
  WindowAxis window;
  int64_t size = 1;
  bool roundsUp = false;
  std::optional<int64_t> parts;  ///< adaptive: how many windows divide the axis
  bool mayLeave() const { return window.isPadded() || roundsUp; }
};

struct Pool {
  Layout data;
  Layout result;
  std::vector<PoolAxis> axes;
  bool isMax = false;
  bool countsPadding = false;
};

bool isAdaptive(const OpCall& call) { return call.op->name.find("adaptive") != std::string_view::npos; }

Result<Pool> poolOf(const OpCall& call) {
  Pool pool;
  BATON_TRY_ASSIGN(pool.data, windowLayout(call, "layout", "NC"));
  BATON_TRY_ASSIGN(pool.result, resultLayout(call, "layout"));
  pool.isMax = call.op->name.find("max") != std::string_view::npos;
  if (isAdaptive(call)) {
    std::vector<int64_t> parts;
    const bool divides = !AdaptivePoolAttrs{*call.attrs}.outputSize().empty();
    if (divides) {
      BATON_TRY_ASSIGN(parts, perAxis(call, "output_size", 1));
    }
    const std::string_view names = spatialAxes(call);
    for (size_t i = 0; i < names.size(); ++i)
      pool.axes.push_back({{.name = names[i]}, 1, false, divides ? std::optional(parts[i]) : std::nullopt});
    return pool;
  }
  BATON_TRY_ASSIGN(const std::vector<WindowAxis> windows, windowAxes(call));
  BATON_TRY_ASSIGN(const std::vector<int64_t> sizes, perAxis(call, "pool_size", 1));
  for (size_t i = 0; i < windows.size(); ++i)
    pool.axes.push_back({windows[i], sizes[i], WindowPoolAttrs{*call.attrs}.ceilMode(), std::nullopt});
  pool.countsPadding = call.attrs->get<bool>("count_include_pad").value_or(false);
  return pool;
}

Result<std::optional<StructureResult>> poolStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const Pool pool, poolOf(call));
  BATON_TRY(context.requireRank(0, static_cast<int>(pool.data.size())));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, static_cast<int>(pool.result.size()));
}

/// `places` gives the extent of the result along an axis.
Result<std::vector<TensorDims>> poolDims(
    const OpCall& call, DimsContext& context,
    const std::function<Result<DimExpr>(const PoolAxis&, const DimExpr& extent)>& places) {
  BATON_TRY_ASSIGN(const Pool pool, poolOf(call));
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY(requireBlocks(call, context, 0, pool.data));
  std::vector<DimExpr> extents;
  for (const PoolAxis& axis : pool.axes) {
    BATON_TRY_ASSIGN(DimExpr extent, places(axis, data[placeIn(pool.data, {axis.window.name, 0})]));
    extents.push_back(std::move(extent));
  }
  BATON_TRY_ASSIGN(TensorDims result, extentsIn(call, context, pool.result, [&](char name) {
                     for (size_t i = 0; i < extents.size(); ++i)
                       if (pool.axes[i].window.name == name) return extents[i];
                     return wholeExtent(pool.data, data, name);
                   }));
  return std::vector<TensorDims>{std::move(result)};
}

}  // namespace

Result<std::optional<StructureResult>> windowPoolStructure(const OpCall& call, StructureContext& context) {
  return poolStructure(call, context);
}
Result<std::vector<TensorDims>> windowPoolDims(const OpCall& call, DimsContext& context) {
  return poolDims(call, context, [&](const PoolAxis& axis, const DimExpr& extent) {
    const DimExpr span = windowSpan(DimExpr::constant(axis.size), axis.window);
    return windowPlaces(call, context, axis.window, extent, span, axis.roundsUp);
  });
}

Result<std::optional<StructureResult>> adaptivePoolStructure(const OpCall& call, StructureContext& context) {
  return poolStructure(call, context);
}
Result<std::vector<TensorDims>> adaptivePoolDims(const OpCall& call, DimsContext& context) {
  return poolDims(call, context, [&](const PoolAxis& axis, const DimExpr& extent) -> Result<DimExpr> {
    if (!axis.parts) return extent;
    BATON_TRY(
        context.require(extent, Relation::Ge, one(),
                        fmt::format("{}: {} has no elements to pool", call.op->name, axis.window.name)));
    BATON_TRY(context.require(
        extent, Relation::Le, DimExpr::constant(INT32_MAX),
        fmt::format("{}: the extent of {} ({{0}}) is above {{1}}", call.op->name, axis.window.name)));
    return DimExpr::constant(*axis.parts);
  });
}

namespace {

using loop::LoopKind;
using loop::Value;

/// Means of integers are taken in 64 bits.
DType poolType(const Pool& pool, DType type) {
  if (pool.isMax || isFloat(type)) return accumulationType(type);
  return isUnsignedInt(type) ? DType::U64 : DType::I64;
}

class PoolWriter {
 public:
  PoolWriter(NestContext& context, const Pool& pool)
      : context_(context),
        pool_(pool),
        e_(context.emitter()),
        b_(context.builder()),
        type_(poolType(pool, context.inputType(0))) {}

  Result<void> run() {
    double elements = 4;
    for (const PoolAxis& axis : pool_.axes)
      elements *= static_cast<double>(std::min<int64_t>(axis.size, 1024));
    return forEachIndex(e_, context_.resultDims(), {.prefixes = {}, .cost = elements},
                        [&](std::span<const Value> index) { return element(index); });
  }

 private:
  /// Where the window at hand lies along an axis.
  struct Place {
    Value first;
    Value count;   ///< elements of the window
    Value inside;  ///< those of them that are elements of the data
  };

  Value extentOf(const PoolAxis& axis) {
    return e_.dim(context_.inputDims(0)[placeIn(pool_.data, {axis.window.name, 0})]);
  }

  Place placeOf(const PoolAxis& axis, Value position) {
    const WindowAxis& window = axis.window;
    if (isAdaptive(context_.call())) {
      if (!axis.parts) return {position, e_.number(1), e_.number(1)};
      const Value extent = extentOf(axis);
      const Value parts = e_.number(*axis.parts);
      const Value first = e_.floorDiv(e_.mul(position, extent), parts);
      const Value last = e_.add(e_.mul(e_.add(position, e_.number(1)), extent), e_.number(*axis.parts - 1));
      const Value count = e_.sub(e_.floorDiv(last, parts), first);
      return {first, count, count};
    }
    const Value first = e_.sub(e_.mul(position, e_.number(window.stride)), e_.number(window.before));
    const Value size = e_.number(axis.size);
    if (!axis.mayLeave()) return {first, size, size};
    const Value zero = e_.number(0);
    const auto steps = [&](Value distance) {
      return e_.floorDiv(e_.add(distance, e_.number(window.dilation - 1)), e_.number(window.dilation));
    };
    const Value begin = steps(e_.max(e_.sub(zero, first), zero));
    const Value end = e_.min(steps(e_.sub(extentOf(axis), first)), size);
    return {first, size, e_.max(e_.sub(end, begin), zero)};
  }

  Value lowest() {
    if (isFloat(type_)) return b_.constant(type_, -std::numeric_limits<double>::infinity());
    const int bits = 8 * sizeBytes(type_);
    return b_.constantBits(type_, isUnsignedInt(type_) ? 0 : uint64_t{UINT64_MAX} << (bits - 1));
  }

  Result<void> element(std::span<const Value> index) {
    std::vector<Place> places;
    for (const PoolAxis& axis : pool_.axes)
      places.push_back(placeOf(axis, index[placeIn(pool_.result, {axis.window.name, 0})]));
    const loop::LocalIndex sum = b_.local(type_);
    b_.set(sum, pool_.isMax ? lowest() : b_.constant(type_, 0));
    std::vector<Value> at;
    BATON_TRY(accumulate(sum, places, at, index));
    Value result = b_.get(sum);
    if (!pool_.isMax) {
      Value count = e_.number(1);
      for (const Place& place : places)
        count = e_.mul(count, pool_.countsPadding ? place.count : place.inside);
      count = e_.max(count, e_.number(1));
      const std::optional<int64_t> constant = e_.constantOf(count);
      const Value divisor =
          constant ? b_.constant(type_, static_cast<double>(*constant)) : loop::cast(count, type_);
      result = isFloat(type_) ? result / divisor
                              : b_.divide(loop::Op::TruncDiv, result, divisor,
                                          b_.message("division by an extent of zero"));
    }
    return context_.sink(index, loop::cast(result, context_.resultType()));
  }

  /// The elements of the window, `at` being the positions along the first axes.
  Result<void> accumulate(loop::LocalIndex sum, const std::vector<Place>& places, std::vector<Value>& at,
                          std::span<const Value> index) {
    if (at.size() == places.size()) {
      BATON_TRY_ASSIGN(const Value read, context_.read(0, dataIndex(at, index)));
      const Value element = loop::cast(read, type_);
      const Value before = b_.get(sum);
      b_.set(sum, pool_.isMax ? loop::max(before, element) : before + element);
      return success();
    }
    const PoolAxis& axis = pool_.axes[at.size()];
    const Place& place = places[at.size()];
    const Value step = e_.beginLoop(LoopKind::Serial, place.count);
    const Value position = e_.add(place.first, e_.mul(step, e_.number(axis.window.dilation)));
    if (axis.mayLeave()) e_.beginIf((position >= e_.number(0)) & (position < extentOf(axis)));
    at.push_back(position);
    BATON_TRY(accumulate(sum, places, at, index));
    at.pop_back();
    if (axis.mayLeave()) e_.end();
    e_.end();
    return success();
  }

  std::vector<Value> dataIndex(const std::vector<Value>& at, std::span<const Value> index) {
    const auto whole = [&](char name) {
      for (size_t i = 0; i < pool_.axes.size(); ++i)
        if (pool_.axes[i].window.name == name) return at[i];
      return positionAlong(e_, pool_.result, index, name);
    };
    std::vector<Value> own = indexIn(e_, pool_.data, whole);
    // Blocks that stay are not taken apart.
    for (const char name : {'N', 'C'})
      if (blockOf(pool_.data, name) == blockOf(pool_.result, name))
        for (const int64_t block : {0, 1})
          if (const size_t from = placeIn(pool_.result, {name, block}); from < index.size())
            own[placeIn(pool_.data, {name, block})] = index[from];
    return own;
  }

  NestContext& context_;
  const Pool& pool_;
  Emitter& e_;
  loop::Builder& b_;
  DType type_;
};

/// Positions along an axis that the window at a place has inside of the data.
std::vector<int64_t> positionsOf(const PoolAxis& axis, bool isAdaptive, int64_t place, int64_t extent) {
  std::vector<int64_t> positions;
  if (isAdaptive) {
    const int64_t parts = axis.parts.value_or(extent);
    const int64_t end = ((place + 1) * extent + parts - 1) / parts;
    for (int64_t at = place * extent / parts; at < end; ++at) positions.push_back(at);
    return positions;
  }
  for (int64_t k = 0; k < axis.size; ++k) {
    const int64_t at = place * axis.window.stride + k * axis.window.dilation - axis.window.before;
    if (at >= 0 && at < extent) positions.push_back(at);
  }
  return positions;
}

template <class T>
T pooled(const Pool& pool, const std::vector<T>& elements) {
  if (pool.isMax) return greatest(elements);
  int64_t count = static_cast<int64_t>(elements.size());
  if (pool.countsPadding) {
    count = 1;
    for (const PoolAxis& axis : pool.axes) count *= axis.size;
  }
  T sum{};
  for (const T x : elements) {
    if constexpr (std::is_floating_point_v<T>)
      sum += x;
    else
      sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x));
  }
  return sum / static_cast<T>(std::max<int64_t>(count, 1));
}

}  // namespace

Result<void> poolNest(NestContext& context) {
  BATON_TRY_ASSIGN(const Pool pool, poolOf(context.call()));
  return PoolWriter(context, pool).run();
}

Result<void> poolReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const Pool pool, poolOf(call.call));
  const DType type = call.inputs[0].dtype;
  const DType wide = poolType(pool, type);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<std::vector<int64_t>> positions;
    std::vector<int64_t> counts;
    for (const PoolAxis& axis : pool.axes) {
      const int64_t extent = call.extent(0, placeIn(pool.data, {axis.window.name, 0}));
      const int64_t place = index[placeIn(pool.result, {axis.window.name, 0})];
      positions.push_back(positionsOf(axis, isAdaptive(call.call), place, extent));
      counts.push_back(static_cast<int64_t>(positions.back().size()));
    }
    dispatchDType(wide, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        std::vector<T> elements;
        forEachPosition(counts, [&](std::span<const int64_t> step) {
          const std::vector<int64_t> at = indexIn(pool.data, [&](char name) {
            for (size_t i = 0; i < pool.axes.size(); ++i)
              if (pool.axes[i].window.name == name) return positions[i][static_cast<size_t>(step[i])];
            return positionAlong(pool.result, index, name);
          });
          elements.push_back(scalarFromBits<T>(convertScalar(call.load(0, at), type, wide)));
        });
        call.store(0, index, convertScalar(scalarBits(pooled(pool, elements)), wide, type));
      }
    });
  });
  return success();
}

}  // namespace baton::ops
