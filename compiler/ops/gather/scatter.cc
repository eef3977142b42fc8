// scatter_elements and scatter_nd: updates at positions that a tensor holds, in order.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// What an update does to an element; nothing: it replaces it.
struct ScatterMode {
  std::string_view name;
  loop::Value (*scalar)(const ScalarContext&, std::span<const loop::Value>);
  ScalarReferenceFunction reference;
};
constexpr ScatterMode kScatterModes[] = {{"update", nullptr, nullptr},
                                         {"add", addScalar, addReference},
                                         {"mul", multiplyScalar, multiplyReference},
                                         {"min", minimumScalar, minimumReference},
                                         {"max", maximumScalar, maximumReference}};

Result<const ScatterMode*> scatterMode(const OpCall& call) {
  const std::string_view attr = call.op->name == "scatter_nd" ? "mode" : "reduction";
  const std::string& name = call.attrs->stringOf(attr);
  for (const ScatterMode& mode : kScatterModes)
    if (mode.name == name) return &mode;
  return opError(call, fmt::format("{} is \"{}\"; expected \"update\", \"add\", \"mul\", \"min\" or \"max\"",
                                   attr, name));
}

Result<std::optional<StructureResult>> scatterStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const ScatterMode* const mode, scatterMode(call));
  BATON_TRY(context.requireSameDType(0, 2));
  const std::optional<DType> dtype = context.dtype(0);
  if (dtype == DType::Bool && mode->scalar != nullptr)
    return opError(call,
                   fmt::format("the data has element type bool, which cannot be updated by {}", mode->name));
  return unaryStructure(call, context);
}

/// How many positions each place of scatter_nd has.
size_t scatterPositions(size_t dataRank, size_t indicesRank, size_t updatesRank) {
  return dataRank + (indicesRank - 1) - updatesRank;
}

}  // namespace

Result<std::optional<StructureResult>> scatterElementsStructure(const OpCall& call,
                                                                StructureContext& context) {
  BATON_TRY(context.requireSameRank(0, 1));
  BATON_TRY(context.requireSameRank(0, 2));
  if (const std::optional<int> rank = context.rank(0))
    BATON_TRY(normaliseAxis(call, "axis", ScatterElementsAttrs{*call.attrs}.axis(), *rank));
  return scatterStructure(call, context);
}
Result<std::vector<TensorDims>> scatterElementsDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> indices = copyDims(context, 1);
  const std::vector<DimExpr> updates = copyDims(context, 2);
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", ScatterElementsAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(data.size())));
  for (size_t d = 0; d < data.size(); ++d) {
    context.blame(2);
    BATON_TRY(
        context.require(indices[d], Relation::Eq, updates[d],
                        fmt::format("scatter_elements: dimension {0} of the indices ({{0}}) does not match "
                                    "dimension {0} of the updates ({{1}})",
                                    d)));
    context.blame(1);
    if (d == static_cast<size_t>(axis)) continue;
    BATON_TRY(context.require(indices[d], Relation::Le, data[d],
                              fmt::format("scatter_elements: dimension {0} of the indices ({{0}}) exceeds "
                                          "dimension {0} of the data ({{1}})",
                                          d)));
  }
  return std::vector<TensorDims>{{data}};
}

Result<std::optional<StructureResult>> scatterNdStructure(const OpCall& call, StructureContext& context) {
  const std::optional<int> rank = context.rank(0);
  const std::optional<int> indexRank = context.rank(1);
  const std::optional<int> updateRank = context.rank(2);
  if (indexRank == 0) return opError(call, "the indices are a scalar; expected rank 1 or more");
  if (rank && indexRank && updateRank) {
    const int count = *rank + *indexRank - 1 - *updateRank;
    if (count < 0 || count > *rank)
      return opError(
          call, fmt::format(
                    "the updates have rank {}; expected {} to {} for data of rank {} and indices of rank {}",
                    *updateRank, *indexRank - 1, *rank + *indexRank - 1, *rank, *indexRank));
  } else {
    BATON_TRY(scatterMode(call));
    return std::nullopt;
  }
  return scatterStructure(call, context);
}
Result<std::vector<TensorDims>> scatterNdDims(const OpCall&, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> indices = copyDims(context, 1);
  const std::vector<DimExpr> updates = copyDims(context, 2);
  const size_t count = scatterPositions(data.size(), indices.size(), updates.size());
  const size_t placeRank = indices.size() - 1;
  context.blame(1);
  BATON_TRY(context.require(indices[0], Relation::Eq, DimExpr::constant(static_cast<int64_t>(count)),
                            "scatter_nd: the indices hold {0} positions of each place; the ranks say {1}"));
  context.blame(2);
  for (size_t d = 0; d < updates.size(); ++d) {
    const bool isPlace = d < placeRank;
    const size_t other = isPlace ? d + 1 : d - placeRank + count;
    BATON_TRY(context.require(
        updates[d], Relation::Eq, isPlace ? indices[other] : data[other],
        fmt::format("scatter_nd: dimension {} of the updates ({{0}}) does not match dimension {} of the {} "
                    "({{1}})",
                    d, other, isPlace ? "indices" : "data")));
  }
  return std::vector<TensorDims>{{data}};
}

namespace {

using loop::LoopKind;
using loop::Value;

/// The loops around updates: `place(i, update's index)` is where an update goes.
class ScatterWriter {
 public:
  ScatterWriter(NestContext& context, const ScatterMode& mode)
      : context_(context), emitter_(context.emitter()), b_(context.builder()), mode_(mode) {}

  /// `isParallel`: updates with different indices along their first axis never meet.
  template <class Place>
  Result<void> run(bool isParallel, Place&& placeOf) {
    BATON_TRY(begin());
    std::vector<Value> counts;
    for (const DimExpr& extent : context_.inputDims(2)) counts.push_back(emitter_.dim(extent));
    emitter_.skipWhenEmpty(counts);
    std::vector<Value> index;
    for (size_t d = 0; d < counts.size(); ++d)
      index.push_back(d == 0 && isParallel ? beginParallel(emitter_, counts[d], costFrom(1))
                                           : emitter_.beginLoop(LoopKind::Serial, counts[d]));
    BATON_TRY_ASSIGN(const Value update, context_.read(2, index));
    BATON_TRY_ASSIGN(const std::vector<Value> at, placeOf(std::span<const Value>(index)));
    BATON_TRY(apply(at, update));
    for (size_t d = 0; d < counts.size(); ++d) emitter_.end();
    return finish();
  }

 private:
  double costFrom(size_t first) const {
    double cost = 8;
    for (size_t d = first; d < context_.inputDims(2).size(); ++d)
      cost *= static_cast<double>(context_.inputDims(2)[d].asConstant().value_or(256));
    return cost;
  }

  /// All elements of the data: handed on, or where arithmetic finds them.
  Result<void> begin() {
    if (mode_.scalar != nullptr) {
      std::vector<DimExpr> extents;
      for (const DimExpr& extent : context_.resultDims()) extents.push_back(emitter_.toKernelSymbols(extent));
      sums_ = b_.scratch(wide(), std::move(extents));
    }
    return forEachIndex(emitter_, context_.resultDims(), {},
                        [&](std::span<const Value> index) -> Result<void> {
                          BATON_TRY_ASSIGN(const Value element, context_.read(0, index));
                          if (!sums_) return context_.sink(index, element);
                          b_.store(*sums_, index, loop::cast(element, wide()));
                          return success();
                        });
  }

  Result<void> apply(std::span<const Value> at, Value update) {
    // One that replaces an element is handed on after it, so it is what stays.
    if (!sums_) return context_.sink(at, update);
    const Value both[] = {b_.load(*sums_, at), loop::cast(update, wide())};
    b_.store(*sums_, at, mode_.scalar({b_, context_.call(), wide()}, std::span(both)));
    return success();
  }

  Result<void> finish() {
    if (!sums_) return success();
    return forEachIndex(emitter_, context_.resultDims(), {}, [&](std::span<const Value> index) {
      return context_.sink(index, loop::cast(b_.load(*sums_, index), context_.resultType()));
    });
  }

  DType wide() const { return accumulationType(context_.resultType()); }

  NestContext& context_;
  Emitter& emitter_;
  loop::Builder& b_;
  const ScatterMode& mode_;
  std::optional<loop::BufferIndex> sums_;
};

/// The same on numbers; `placeOf` gives nothing for an index that is out of range.
template <class Place>
Result<void> scatterReference(ReferenceCall& call, Place&& placeOf) {
  BATON_TRY_ASSIGN(const ScatterMode* const mode, scatterMode(call.call));
  const DType type = call.results[0].dtype;
  const DType wide = mode->reference != nullptr ? accumulationType(type) : type;
  const DType types[] = {wide, wide};
  std::vector<uint64_t> elements;
  for (int64_t i = 0; i < elementCount(call.results[0].shape); ++i)
    elements.push_back(convertScalar(call.load(0, i), type, wide));
  bool isOutside = false;
  forEachPosition(call.inputs[2].shape, [&](std::span<const int64_t> index) {
    const std::optional<std::vector<int64_t>> at = placeOf(index);
    isOutside |= !at.has_value();
    if (!at) return;
    uint64_t& element = elements[static_cast<size_t>(linearIndex(call.results[0].shape, *at))];
    const uint64_t both[] = {element, convertScalar(call.load(2, index), type, wide)};
    element = mode->reference != nullptr ? mode->reference({call.call, types, wide}, std::span(both)).value()
                                         : both[1];
  });
  if (isOutside) return programError(call.call, "an index is out of range");
  for (size_t i = 0; i < elements.size(); ++i)
    call.store(0, static_cast<int64_t>(i), convertScalar(elements[i], wide, type));
  return success();
}

}  // namespace

Result<void> scatterElementsNest(NestContext& context) {
  BATON_TRY_ASSIGN(const ScatterMode* const mode, scatterMode(context.call()));
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", ScatterElementsAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(context.resultDims().size())));
  return ScatterWriter(context, *mode)
      .run(axis != 0, [&](std::span<const Value> index) -> Result<std::vector<Value>> {
        BATON_TRY_ASSIGN(const Value chosen, context.read(1, index));
        std::vector<Value> at(index.begin(), index.end());
        const auto along = static_cast<size_t>(axis);
        at[along] = position(context, chosen, context.emitter().dim(context.resultDims()[along]), "fast");
        return at;
      });
}
Result<void> scatterElementsReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(call.call, "axis", ScatterElementsAttrs{*call.call.attrs}.axis(),
                                 static_cast<int>(call.inputs[0].shape.size())));
  return scatterReference(call, [&](std::span<const int64_t> index) -> std::optional<std::vector<int64_t>> {
    std::vector<int64_t> at(index.begin(), index.end());
    const auto along = static_cast<size_t>(axis);
    const auto chosen =
        plainPosition(call.load(1, index), call.inputs[1].dtype, call.extent(0, along), "fast");
    if (!chosen) return std::nullopt;
    at[along] = *chosen;
    return at;
  });
}

Result<void> scatterNdNest(NestContext& context) {
  BATON_TRY_ASSIGN(const ScatterMode* const mode, scatterMode(context.call()));
  const size_t indexRank = context.inputDims(1).size();
  const size_t count = scatterPositions(context.resultDims().size(), indexRank, context.inputDims(2).size());
  return ScatterWriter(context, *mode)
      .run(false, [&](std::span<const Value> index) -> Result<std::vector<Value>> {
        const auto place = index.first(indexRank - 1);
        const auto inside = index.subspan(indexRank - 1);
        std::vector<Value> at;
        for (size_t i = 0; i < count; ++i) {
          std::vector<Value> which = {context.emitter().number(static_cast<int64_t>(i))};
          which.insert(which.end(), place.begin(), place.end());
          BATON_TRY_ASSIGN(const Value chosen, context.read(1, which));
          at.push_back(position(context, chosen, context.emitter().dim(context.resultDims()[i]), "fast"));
        }
        at.insert(at.end(), inside.begin(), inside.end());
        return at;
      });
}
Result<void> scatterNdReference(ReferenceCall& call) {
  const auto placeRank = static_cast<std::ptrdiff_t>(call.inputs[1].shape.size()) - 1;
  return scatterReference(call, [&](std::span<const int64_t> index) -> std::optional<std::vector<int64_t>> {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < call.extent(1, 0); ++i) {
      std::vector<int64_t> which = {i};
      which.insert(which.end(), index.begin(), index.begin() + placeRank);
      const auto chosen =
          plainPosition(call.load(1, which), call.inputs[1].dtype, call.extent(0, at.size()), "fast");
      if (!chosen) return std::nullopt;
      at.push_back(*chosen);
    }
    at.insert(at.end(), index.begin() + placeRank, index.end());
    return at;
  });
}

}  // namespace baton::ops
