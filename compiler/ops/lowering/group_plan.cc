#include "compiler/ops/lowering/group_plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton::ops {

using loop::BufferIndex;
using loop::LoopKind;
using loop::Value;

namespace {

/// A result that is needed at more indices for one element of another is stored.
constexpr int kMostEvaluations = 4;

}  // namespace

Result<GroupPlan> GroupPlan::make(Group group) {
  GroupPlan plan(std::move(group));
  BATON_TRY(plan.planStorage());
  BATON_TRY(plan.findServing());
  BATON_TRY(plan.orderSteps());
  return plan;
}

GroupPlan::GroupPlan(Group group) : group_(std::move(group)) {
  for (const TensorId result : group_.results) {
    if (group_.isScalar(result)) continue;
    // A result that is returned twice, and a parameter that is, are copied.
    roots_.push_back({result, static_cast<int>(outputCount_++)});
    if (isComputed(result) && stored_.count(result) == 0) stored_[result] = roots_.size() - 1;
  }
}

void GroupPlan::store(TensorId tensor) {
  if (stored_.count(tensor) != 0) return;
  roots_.push_back({tensor, kScratch});
  stored_[tensor] = roots_.size() - 1;
  hasChanged_ = true;
}

std::unique_ptr<GroupEmission> GroupPlan::emission(std::optional<TensorId> except) const {
  auto result = std::make_unique<GroupEmission>(group_, group_.descriptor);
  for (const auto& [tensor, root] : stored_) {
    const BufferIndex buffer = bufferOf(*result, root);
    if (tensor != except) result->setStored(tensor, buffer);
  }
  return result;
}

std::vector<DimExpr> GroupPlan::servedExtents(size_t root) const {
  std::vector<DimExpr> served;
  if (!roots_[root].servesResult) return served;
  const auto own = group_.dims(roots_[root].tensor);
  for (const DimExpr& extent : group_.dims(group_.results[0])) {
    const bool mayBeZero = extent.isZero() || !extent.asConstant();
    if (mayBeZero && std::find(own.begin(), own.end(), extent) == own.end()) served.push_back(extent);
  }
  return served;
}

/// Whatever is read outside of loops that an empty result leaves out has to be there.
Result<void> GroupPlan::findServing() {
  const bool hasScratch = roots_.size() > outputCount_;
  if (!hasScratch || group_.results.size() != 1 || outputCount_ != 1) return success();
  std::vector<std::set<TensorId>> needed;  // by root, even when the result is empty
  std::vector<std::set<TensorId>> read;
  for (size_t i = 0; i < roots_.size(); ++i) {
    const Root& root = roots_[i];
    read.push_back(readBy(i));
    needed.push_back(read.back());
    if (root.nest || isCopy(i) || !isComputed(root.tensor)) continue;
    BATON_TRY_ASSIGN(const EmissionNotes notes, probe(root.tensor, std::nullopt));
    needed.back() = notes.readOutside;
  }
  // One element takes no room, and no loop that could be left out.
  for (Root& root : roots_)
    root.servesResult =
        root.output == kScratch && !root.nest && axisBits(root.tensor, group_.dims(root.tensor).size()) != 0;
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (size_t i = 0; i < roots_.size(); ++i) {
      const bool isLeftOut = roots_[i].servesResult || roots_[i].output != kScratch;
      for (const TensorId tensor : isLeftOut ? needed[i] : read[i]) {
        bool& servesResult = roots_[stored_.at(tensor)].servesResult;
        hasChanged |= servesResult;
        servesResult = false;
      }
    }
  }
  return success();
}

BufferIndex GroupPlan::bufferOf(GroupEmission& emission, size_t index) const {
  const Root& root = roots_[index];
  loop::Builder& builder = emission.emitter().builder();
  if (root.output != kScratch) return builder.output(static_cast<uint32_t>(root.output));
  std::vector<DimExpr> extents;
  for (const DimExpr& dim : group_.dims(root.tensor))
    extents.push_back(emission.emitter().toKernelSymbols(dim));
  for (const DimExpr& dim : servedExtents(index))
    extents[0] = extents[0] * min(emission.emitter().toKernelSymbols(dim), DimExpr::constant(1));
  return builder.scratch(group_.dtype(root.tensor), std::move(extents));
}

Result<EmissionNotes> GroupPlan::probe(TensorId tensor, std::optional<TensorId> bound, double* cost) const {
  const auto trial = emission(tensor);
  trial->setAssumesEqual(true);
  trial->setEvaluationLimit(kMostEvaluations);
  Emitter& emitter = trial->emitter();
  const auto extents = group_.dims(tensor);
  std::vector<Value> index;
  std::vector<Value> vars;
  for (const DimExpr& extent : extents) {
    vars.push_back(emitter.beginLoop(LoopKind::Serial, emitter.dim(extent)));
    index.push_back(group_.isOne(extent) ? emitter.number(0) : vars.back());
  }
  emitter.watch(vars);
  trial->setHere(extents, index);
  if (bound) trial->bindElement(*bound, index, emitter.builder().constantBits(group_.dtype(*bound), 0));
  const size_t before = emitter.builder().nodeCount();
  BATON_TRY(trial->element(tensor, index));
  if (cost != nullptr) *cost = static_cast<double>(emitter.builder().nodeCount() - before) + 2;
  return std::move(trial->notes());
}

uint64_t GroupPlan::axisBits(TensorId tensor, size_t count) const {
  uint64_t bits = 0;
  const auto extents = group_.dims(tensor);
  for (size_t axis = 0; axis < std::min(count, extents.size()); ++axis)
    if (!group_.isOne(extents[axis])) bits |= uint64_t{1} << axis;
  return bits;
}

std::optional<size_t> GroupPlan::prefixOf(TensorId root, uint64_t dependencies) const {
  if (dependencies & Emitter::kOtherLoop) return std::nullopt;
  size_t count = 0;
  while (dependencies >> count != 0) ++count;
  if (axisBits(root, count) != dependencies) return std::nullopt;
  return count;
}

void GroupPlan::storeRepeated(TensorId root, const EmissionNotes& notes, bool isElsewhere) {
  for (const TensorId tensor : notes.repeated)
    if (tensor != root) store(tensor);
  for (const auto& reduction : notes.reductions) {
    if (group_.isScalar(reduction.result) || reduction.result == root) continue;
    if (isElsewhere || !prefixOf(root, reduction.dependencies)) store(reduction.result);
  }
}

Result<void> GroupPlan::planStorage() {
  do {
    hasChanged_ = false;
    for (uint32_t i = 0; i < group_.calls.size(); ++i)
      if (group_.calls[i].op->nest != nullptr) BATON_TRY(planInputs(group_.calls[i]));
    for (size_t i = 0; i < roots_.size(); ++i) BATON_TRY(planRoot(i));
    for (const TensorId result : group_.results) {
      if (!group_.isScalar(result)) continue;
      BATON_TRY_ASSIGN(const EmissionNotes notes, probe(result, std::nullopt));
      for (const TensorId missing : notes.missing) store(missing);
      storeRepeated(result, notes, false);
    }
  } while (hasChanged_);
  return success();
}

Result<void> GroupPlan::planInputs(const GroupCall& call) {
  for (const TensorId input : call.inputs) {
    if (!isComputed(input) || stored_.count(input) != 0) continue;
    // Matrix products read their inputs many times.
    if (call.op->fusion == FusionKind::Anchor || hasNest(input)) {
      store(input);
      continue;
    }
    BATON_TRY_ASSIGN(const EmissionNotes notes, probe(input, std::nullopt));
    for (const TensorId missing : notes.missing) store(missing);
    storeRepeated(input, notes, true);
    if (!notes.unknownBroadcasts.empty()) store(input);
  }
  return success();
}

Result<void> GroupPlan::planRoot(size_t i) {
  const TensorId tensor = roots_[i].tensor;
  roots_[i].nest.reset();
  if (isCopy(i)) return success();  // a copy of another output
  if (hasNest(tensor)) {
    roots_[i].nest = group_.tensor(tensor).index;
    return success();
  }
  if (!isComputed(tensor)) return success();
  BATON_TRY_ASSIGN(const EmissionNotes notes, probe(tensor, std::nullopt));
  if (notes.missing.empty()) {
    storeRepeated(tensor, notes, false);
    return success();
  }
  // The last of them may hand its elements on; the others are stored.
  const TensorId last = *std::max_element(
      notes.missing.begin(), notes.missing.end(),
      [&](TensorId a, TensorId b) { return group_.tensor(a).index < group_.tensor(b).index; });
  for (const TensorId missing : notes.missing)
    if (missing != last) store(missing);
  if (notes.missing.size() > 1) return success();
  BATON_TRY_ASSIGN(const bool isHandedOn, canHandOn(last, tensor));
  if (isHandedOn)
    roots_[i].nest = group_.tensor(last).index;
  else
    store(last);
  return success();
}

Result<bool> GroupPlan::canHandOn(TensorId from, TensorId root) {
  if (!group_.areEqual(group_.dims(from), group_.dims(root))) return false;
  BATON_TRY_ASSIGN(const EmissionNotes notes, probe(root, from));
  if (!notes.missing.empty() || !notes.unknownBroadcasts.empty()) return false;
  storeRepeated(root, notes, true);
  std::set<TensorId> needed;
  collectStored(root, needed);
  for (const TensorId tensor : needed)
    if (dependsOn(tensor, from)) return false;
  return true;
}

void GroupPlan::collectStored(TensorId tensor, std::set<TensorId>& out) const {
  std::vector<TensorId> stack = {tensor};
  std::set<TensorId> seen = {tensor};
  while (!stack.empty()) {
    const TensorId at = stack.back();
    stack.pop_back();
    if (!isComputed(at)) continue;
    for (const TensorId input : callOf(at).inputs) {
      if (!seen.insert(input).second) continue;
      if (stored_.count(input) != 0)
        out.insert(input);
      else
        stack.push_back(input);
    }
  }
}

bool GroupPlan::dependsOn(TensorId tensor, TensorId on) const {
  std::vector<TensorId> stack = {tensor};
  std::set<TensorId> seen = {tensor};
  while (!stack.empty()) {
    const TensorId at = stack.back();
    stack.pop_back();
    if (at == on) return true;
    if (!isComputed(at)) continue;
    for (const TensorId input : callOf(at).inputs)
      if (seen.insert(input).second) stack.push_back(input);
  }
  return false;
}

Result<void> GroupPlan::orderSteps() {
  std::vector<Step> waiting;  // what one nest hands on is stored in its loops
  for (size_t i = 0; i < roots_.size(); ++i) {
    const auto same = std::find_if(waiting.begin(), waiting.end(), [&](const Step& step) {
      return roots_[i].nest && step.nest == roots_[i].nest;
    });
    if (same == waiting.end())
      waiting.push_back({roots_[i].nest, {i}});
    else
      same->roots.push_back(i);
  }
  std::map<TensorId, size_t> stepOf;  // in which step a tensor is stored
  // The step after those that store what is read; nothing while one of them is not there.
  const auto firstPlace = [&](const Step& step) -> std::optional<size_t> {
    size_t first = 0;
    for (const TensorId tensor : readBy(step)) {
      const auto at = stepOf.find(tensor);
      if (at == stepOf.end()) return std::nullopt;
      first = std::max(first, at->second + 1);
    }
    return first;
  };
  while (!waiting.empty()) {
    const auto next = std::find_if(waiting.begin(), waiting.end(),
                                   [&](const Step& step) { return firstPlace(step).has_value(); });
    if (next == waiting.end())
      return Error(ErrorCode::Internal,
                   fmt::format("group {}: loops depend on each other", group_.descriptor.name));
    size_t place = next->nest ? steps_.size() : *firstPlace(*next);
    while (place < steps_.size() && !canShare(steps_[place], next->roots[0])) ++place;
    if (place == steps_.size()) steps_.push_back({next->nest, {}});
    for (const size_t root : next->roots) {
      steps_[place].roots.push_back(root);
      if (isOwn(root)) stepOf[roots_[root].tensor] = place;
    }
    waiting.erase(next);
  }
  return success();
}

/// Loops over the same extents, for what neither reads of the other.
bool GroupPlan::canShare(const Step& step, size_t root) const {
  if (step.nest) return false;
  const Root& there = roots_[step.roots[0]];
  return there.servesResult == roots_[root].servesResult &&
         group_.areEqual(group_.dims(there.tensor), group_.dims(roots_[root].tensor));
}

std::set<TensorId> GroupPlan::readBy(const Step& step) const {
  std::set<TensorId> read;
  for (const size_t root : step.roots) read.merge(readBy(root));
  // What a nest itself stores is handed on inside.
  if (step.nest)
    for (const size_t root : step.roots) read.erase(roots_[root].tensor);
  return read;
}

std::set<TensorId> GroupPlan::readBy(size_t index) const {
  const Root& root = roots_[index];
  std::set<TensorId> read;
  if (isCopy(index)) read.insert(root.tensor);
  collectStored(root.tensor, read);
  if (!root.nest) return read;
  for (const TensorId input : group_.calls[*root.nest].inputs) {
    if (stored_.count(input) != 0)
      read.insert(input);
    else
      collectStored(input, read);
  }
  return read;
}

}  // namespace baton::ops
