#include "compiler/ops/lowering/group_emission.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/lowering/loop_nest.h"

namespace baton::ops {

using loop::BufferIndex;
using loop::Value;

loop::Value widen(loop::Value value) {
  const bool isStorage = value.type() == DType::F16 || value.type() == DType::BF16;
  return isStorage ? loop::cast(value, DType::F32) : value;
}

GroupEmission::GroupEmission(const Group& group, KernelDescriptor descriptor)
    : group_(group), emitter_(std::move(descriptor), group.symbols) {
  for (const GroupCall& call : group.calls) opCalls_.push_back({call.op, &call.attrs, call.inputs.size()});
  for (const GroupCall& call : group.calls)
    relations_.push_back(std::make_unique<KnownDims>(call.knownInputs, group.knowledge, UINT32_MAX / 2,
                                                     CertainFailure::StaysOpen));
}

CallContext GroupEmission::callContext(uint32_t index) {
  const GroupCall& call = group_.calls[index];
  return {*this, opCalls_[index], call.inputs, call.results, *relations_[index]};
}

/// Axes of extent 1 are indexed by 0, so that equal elements have equal indices.
std::vector<Value> GroupEmission::normalised(TensorId tensor, std::span<const Value> index) {
  const auto extents = group_.dims(tensor);
  BATON_CHECK(extents.size() == index.size());
  std::vector<Value> out(index.begin(), index.end());
  for (size_t axis = 0; axis < out.size(); ++axis)
    if (group_.isOne(extents[axis])) out[axis] = emitter_.number(0);
  return out;
}

Emitter::Key GroupEmission::elementKey(TensorId tensor, std::span<const Value> index) const {
  Emitter::Key key = {Emitter::kElementKey, tensor.value()};
  for (const Value value : index) key.push_back(value.id().value());
  return key;
}

void GroupEmission::setHere(std::span<const DimExpr> extents, std::span<const Value> index) {
  hereExtents_ = extents;
  here_.assign(index.begin(), index.end());
}

void GroupEmission::bindElement(TensorId tensor, std::span<const Value> index, Value value) {
  bound_ = BoundElement{tensor, normalised(tensor, index), value, emitter_.builder().depth()};
}

void GroupEmission::noteReduction(TensorId result, std::span<const Value> index, bool isContiguous) {
  notes_.reductions.insert({result, emitter_.dependencies(index), isContiguous});
}

Result<Value> GroupEmission::element(TensorId tensor, std::span<const Value> given) {
  const std::vector<Value> index = normalised(tensor, given);
  const auto isSame = [](Value a, Value b) { return a.id() == b.id(); };
  if (bound_ && bound_->tensor == tensor &&
      std::equal(index.begin(), index.end(), bound_->index.begin(), bound_->index.end(), isSame))
    return bound_->value;
  if (rowCaches_.count(tensor) != 0) return cachedElement(tensor, index);
  const size_t depth = emitter_.guarded(index);
  Emitter::Key key = elementKey(tensor, index);
  if (const std::optional<Value> known = emitter_.find(depth, key)) return *known;
  BATON_TRY_ASSIGN(const Value value, compute(tensor, index, depth));
  // What hangs on a bound element is known no further out than that.
  const Value made[] = {value};
  size_t knownAt = std::max(depth, emitter_.deepest(made));
  if (bound_) knownAt = emitter_.builder().depth();
  emitter_.remember(knownAt, std::move(key), value);
  return value;
}

/// Fills the row with a loop of its own, in the block of the row, when it is first read.
Result<Value> GroupEmission::cachedElement(TensorId tensor, std::span<const Value> index) {
  const RowCache cache = rowCaches_.at(tensor);
  loop::Builder& builder = emitter_.builder();
  if (!cache.isFilled) {
    rowCaches_.erase(tensor);
    const size_t rowDepth = emitter_.guarded(index.first(index.size() - 1));
    const auto fill = [&]() -> Result<void> {
      std::vector<Value> at(index.begin(), index.end());
      const DimExpr row[] = {group_.dims(tensor).back()};
      return forEachIndex(emitter_, row, {.cost = 0}, [&](std::span<const Value> inRow) -> Result<void> {
        at.back() = inRow[0];
        BATON_TRY_ASSIGN(const Value value, element(tensor, at));
        builder.store(cache.buffer, at, value);
        return success();
      });
    };
    BATON_TRY(emitter_.at(rowDepth, fill));
    rowCaches_[tensor] = {cache.buffer, true};
  }
  return emitter_.at(emitter_.guarded(index), [&] { return builder.load(cache.buffer, index); });
}

/// Whether an index is along the row at hand: of the element itself, or of a reduction.
bool GroupEmission::isPlace(std::span<const Value> index) const {
  if (index.size() != here_.size() || index.empty()) return false;
  for (size_t axis = 0; axis + 1 < index.size(); ++axis)
    if (!(index[axis].id() == here_[axis].id())) return false;
  const Value last = index.back();
  return last.id() == here_.back().id() || emitter_.isLoopVariable(last);
}

void GroupEmission::noteEvaluation(TensorId tensor, std::span<const Value> index) {
  const OpDef& op = *group_.calls[group_.tensor(tensor).index].op;
  static constexpr std::string_view kCostly[] = {"exp", "erf", "tanh", "sigmoid", "log"};
  if (std::find(std::begin(kCostly), std::end(kCostly), op.name) == std::end(kCostly)) return;
  EmissionNotes::RowUse& use = notes_.rowUses[tensor];
  ++use.count;
  use.isInRow &= isPlace(index) && group_.areEqual(group_.dims(tensor), hereExtents_);
}

Result<Value> GroupEmission::computedElement(TensorId tensor, std::span<const Value> index) {
  const auto stored = stored_.find(tensor);
  if (stored == stored_.end()) return element(tensor, index);
  const BufferIndex buffer = stored->second;
  stored_.erase(stored);
  Result<Value> result = element(tensor, index);
  stored_[tensor] = buffer;
  return result;
}

Result<Value> GroupEmission::compute(TensorId id, std::span<const Value> index, size_t depth) {
  const GroupTensor& tensor = group_.tensor(id);
  loop::Builder& builder = emitter_.builder();
  const auto buffer = stored_.find(id);
  if (buffer != stored_.end()) {
    if ((emitter_.dependencies(index) & ~Emitter::kOtherLoop) == 0) notes_.readOutside.insert(id);
    return emitter_.at(depth, [&] { return builder.load(buffer->second, index); });
  }
  switch (tensor.source) {
    case GroupTensor::Source::Input: return loadInput(id, index, depth);
    case GroupTensor::Source::ScalarInput: return builder.scalarInput(tensor.index);
    case GroupTensor::Source::Constant: return builder.constantBits(tensor.known.dtype, tensor.bits);
    case GroupTensor::Source::Opaque:
      return Error(ErrorCode::Unsupported,
                   fmt::format("group {}: a constant tensor of several values has to be a parameter",
                               group_.descriptor.name));
    case GroupTensor::Source::Result: {
      if (evaluationLimit_ && !index.empty() && ++evaluations_[id] > *evaluationLimit_) {
        notes_.repeated.insert(id);
        return builder.constantBits(tensor.known.dtype, 0);
      }
      noteEvaluation(id, index);
      return computeResult(tensor, index, depth);
    }
  }
  return builder.boolean(false);
}

Value GroupEmission::loadInput(TensorId id, std::span<const Value> index, size_t depth) {
  const GroupTensor& tensor = group_.tensor(id);
  const auto isSame = [](Value a, Value b) { return a.id() == b.id(); };
  const bool isHere = group_.areEqual(tensor.known.dims, hereExtents_) &&
                      std::equal(index.begin(), index.end(), here_.begin(), here_.end(), isSame);
  (isHere ? notes_.readHere : notes_.readElsewhere).insert(tensor.index);
  loop::Builder& builder = emitter_.builder();
  return emitter_.at(depth, [&] { return builder.load(builder.input(tensor.index), index); });
}

Result<Value> GroupEmission::computeResult(const GroupTensor& tensor, std::span<const Value> index,
                                           size_t depth) {
  const GroupCall& call = group_.calls[tensor.index];
  loop::Builder& builder = emitter_.builder();
  if (call.op->nest != nullptr) {
    notes_.missing.insert(call.results[tensor.result]);
    return builder.constantBits(tensor.known.dtype, 0);
  }
  if (call.op->scalar != nullptr) {
    std::vector<Value> inputs;
    for (const TensorId input : call.inputs) {
      BATON_TRY_ASSIGN(const Value value, broadcastElement(input, tensor.known.dims, index));
      inputs.push_back(value);
    }
    const ScalarContext context{builder, opCalls_[tensor.index], tensor.known.dtype};
    return emitter_.at(emitter_.guarded(inputs), [&] { return call.op->scalar(context, inputs); });
  }
  BATON_CHECK(call.op->element != nullptr);
  ElementContext context(callContext(tensor.index), tensor.result);
  const auto run = [&] { return call.op->element(context, index); };
  return bound_ ? run() : emitter_.at(depth, run);
}

Result<Value> GroupEmission::broadcastElement(TensorId input, std::span<const DimExpr> target,
                                              std::span<const Value> index) {
  const auto extents = group_.dims(input);
  BATON_CHECK(extents.size() <= target.size());
  const size_t offset = target.size() - extents.size();
  const DimExpr one = DimExpr::constant(1);
  std::vector<Value> own;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const DimExpr& extent = extents[axis];
    const DimExpr& wanted = target[offset + axis];
    const Value position = index[offset + axis];
    if (extent == wanted || group_.knowledge.decide(extent, Relation::Eq, wanted) == Truth::True) {
      own.push_back(position);
    } else if (group_.knowledge.decide(extent, Relation::Eq, one) == Truth::True) {
      own.push_back(emitter_.number(0));
    } else if (group_.knowledge.decide(extent, Relation::Ne, one) == Truth::True) {
      own.push_back(position);
    } else {
      notes_.unknownBroadcasts.insert({extent, wanted});
      if (assumesEqual_) {
        own.push_back(position);
        continue;
      }
      // 0 or 1 times the position; the same in all loops.
      const Value isWide = emitter_.at(0, [&] {
        return loop::cast(loop::notEqual(emitter_.dim(extent), emitter_.number(1)), DType::I64);
      });
      own.push_back(emitter_.mul(position, isWide));
    }
  }
  return element(input, own);
}

}  // namespace baton::ops
