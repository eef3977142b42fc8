// Decides which tensors of a group are stored and in which loops they are computed, and
// writes the loops. A tensor is stored when it is a result of the group, when a call that
// has a nest of its own produces or re-reads it where it cannot be handed on directly, or
// when a reduction would be repeated.
#include "compiler/ops/kernel_lowering.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/ops/group_emission.h"
#include "compiler/ops/loop_nest.h"
#include "kernels/loop/verifier.h"

namespace baton::ops {

using loop::BufferIndex;
using loop::LoopKind;
using loop::Value;

namespace {

class GroupLowering {
 public:
  GroupLowering(Group group, const LoweringOptions& options) : group_(std::move(group)), options_(options) {}

  Result<LoweredKernel> run() {
    for (uint32_t i = 0; i < group_.results.size(); ++i) {
      const TensorId result = group_.results[i];
      if (group_.isScalar(result)) continue;
      // A result that is returned twice, and a parameter that is, are copied.
      roots_.push_back({result, static_cast<int>(outputCount_++)});
      if (isComputed(result) && stored_.count(result) == 0) stored_[result] = roots_.size() - 1;
    }
    BATON_TRY(planStorage());
    BATON_TRY(orderSteps());
    return write();
  }

 private:
  static constexpr int kScratch = -1;
  /// A result that is needed at more indices for one element of another is stored.
  static constexpr int kMostEvaluations = 4;
  struct Root {
    TensorId tensor;
    int output;  ///< number of the output, or kScratch
    /// Call whose nest hands over the elements; nothing: loops of the root's own.
    std::optional<uint32_t> nest = std::nullopt;
  };
  /// Loops that store some roots.
  struct Step {
    std::optional<uint32_t> nest;
    std::vector<size_t> roots;
  };

  bool isComputed(TensorId tensor) const {
    return group_.tensor(tensor).source == GroupTensor::Source::Result;
  }
  const GroupCall& callOf(TensorId tensor) const { return group_.calls[group_.tensor(tensor).index]; }
  bool hasNest(TensorId tensor) const { return isComputed(tensor) && callOf(tensor).op->nest != nullptr; }

  void store(TensorId tensor) {
    if (stored_.count(tensor) != 0) return;
    roots_.push_back({tensor, kScratch});
    stored_[tensor] = roots_.size() - 1;
    hasChanged_ = true;
  }

  // Planning.

  /// An emission in which everything that is stored can be read, but not `except`.
  std::unique_ptr<GroupEmission> emission(std::optional<TensorId> except) const {
    auto result = std::make_unique<GroupEmission>(group_, group_.descriptor);
    for (const auto& [tensor, root] : stored_) {
      const BufferIndex buffer = bufferOf(*result, roots_[root]);
      if (tensor != except) result->setStored(tensor, buffer);
    }
    return result;
  }

  /// For a tensor in scratch that loops of its own store, extents beside its own of the only result: when one
  /// of them is 0 nobody reads it, and it may be as large as it likes.
  std::vector<DimExpr> servedExtents(const Root& root) const {
    std::vector<DimExpr> served;
    if (root.output != kScratch || root.nest || group_.results.size() != 1 || outputCount_ != 1)
      return served;
    const auto own = group_.dims(root.tensor);
    for (const DimExpr& extent : group_.dims(group_.results[0])) {
      const bool mayBeZero = extent.isZero() || !extent.asConstant();
      if (mayBeZero && std::find(own.begin(), own.end(), extent) == own.end()) served.push_back(extent);
    }
    return served;
  }

  BufferIndex bufferOf(GroupEmission& emission, const Root& root) const {
    loop::Builder& builder = emission.emitter().builder();
    if (root.output != kScratch) return builder.output(static_cast<uint32_t>(root.output));
    std::vector<DimExpr> extents;
    for (const DimExpr& dim : group_.dims(root.tensor))
      extents.push_back(emission.emitter().toKernelSymbols(dim));
    if (!extents.empty())
      for (const DimExpr& dim : servedExtents(root))
        extents[0] = extents[0] * min(emission.emitter().toKernelSymbols(dim), DimExpr::constant(1));
    return builder.scratch(group_.dtype(root.tensor), std::move(extents));
  }

  /// Emits the element of a tensor in plain loops over its extents, to see what it needs.
  /// `bound`: a tensor of the same extents that is at hand at each index.
  Result<EmissionNotes> probe(TensorId tensor, std::optional<TensorId> bound, double* cost = nullptr) const {
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

  /// The bits of the axes of a tensor that have more than one index, below `count`.
  uint64_t axisBits(TensorId tensor, size_t count) const {
    uint64_t bits = 0;
    const auto extents = group_.dims(tensor);
    for (size_t axis = 0; axis < std::min(count, extents.size()); ++axis)
      if (!group_.isOne(extents[axis])) bits |= uint64_t{1} << axis;
    return bits;
  }

  /// Number of leading axes of a root that the index of a reduction is made of, when it is
  /// made of all of them and nothing else: then the reduction runs once for each element.
  std::optional<size_t> prefixOf(TensorId root, uint64_t dependencies) const {
    if (dependencies & Emitter::kOtherLoop) return std::nullopt;
    size_t count = 0;
    while (dependencies >> count != 0) ++count;
    if (axisBits(root, count) != dependencies) return std::nullopt;
    return count;
  }

  void storeRepeated(TensorId root, const EmissionNotes& notes, bool isElsewhere) {
    for (const TensorId tensor : notes.repeated)
      if (tensor != root) store(tensor);
    for (const auto& reduction : notes.reductions) {
      if (group_.isScalar(reduction.result) || reduction.result == root) continue;
      if (isElsewhere || !prefixOf(root, reduction.dependencies)) store(reduction.result);
    }
  }

  /// Fixed point: storing a tensor may only remove reasons to store others.
  Result<void> planStorage() {
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

  Result<void> planInputs(const GroupCall& call) {
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

  Result<void> planRoot(size_t i) {
    const TensorId tensor = roots_[i].tensor;
    roots_[i].nest.reset();
    if (stored_.count(tensor) != 0 && stored_[tensor] != i) return success();  // a copy of another output
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

  /// Whether every element of `root` follows from the element of `from` at its own index and
  /// from tensors that are there before.
  Result<bool> canHandOn(TensorId from, TensorId root) {
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

  /// Stored tensors that a tensor is computed from, itself excluded.
  void collectStored(TensorId tensor, std::set<TensorId>& out) const {
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

  bool dependsOn(TensorId tensor, TensorId on) const {
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

  // Order.

  Result<void> orderSteps() {
    std::vector<Step> steps;
    for (size_t i = 0; i < roots_.size(); ++i) {
      const auto same = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
        if (roots_[i].nest) return step.nest == roots_[i].nest;
        // Roots of equal extents share loops unless one is computed from the other.
        return !step.nest && canShare(step, i);
      });
      if (same == steps.end())
        steps.push_back({roots_[i].nest, {i}});
      else
        same->roots.push_back(i);
    }
    // Each step after those that store what it reads.
    std::vector<bool> isDone(steps.size(), false);
    std::set<TensorId> available;
    for (size_t done = 0; done < steps.size();) {
      const size_t before = done;
      for (size_t i = 0; i < steps.size(); ++i) {
        if (isDone[i] || !isReady(steps[i], available)) continue;
        isDone[i] = true;
        ++done;
        for (const size_t root : steps[i].roots) available.insert(roots_[root].tensor);
        steps_.push_back(steps[i]);
      }
      if (done == before)
        return Error(ErrorCode::Internal,
                     fmt::format("group {}: loops depend on each other", group_.descriptor.name));
    }
    return success();
  }

  bool canShare(const Step& step, size_t root) const {
    const TensorId tensor = roots_[root].tensor;
    for (const size_t other : step.roots) {
      const TensorId there = roots_[other].tensor;
      if (!group_.areEqual(group_.dims(there), group_.dims(tensor))) return false;
      std::set<TensorId> needed;
      collectStored(tensor, needed);
      collectStored(there, needed);
      if (there == tensor || needed.count(there) != 0 || needed.count(tensor) != 0) return false;
      // Indirect dependence goes through a stored tensor, too.
      for (const TensorId between : needed)
        if (dependsOn(between, there) || dependsOn(between, tensor)) return false;
    }
    return true;
  }

  bool isReady(const Step& step, const std::set<TensorId>& available) const {
    std::set<TensorId> needed;
    for (const size_t root : step.roots) {
      const TensorId tensor = roots_[root].tensor;
      if (stored_.count(tensor) != 0 && stored_.at(tensor) != root) needed.insert(tensor);
      collectStored(tensor, needed);
    }
    if (step.nest) {
      for (const TensorId input : group_.calls[*step.nest].inputs) {
        if (stored_.count(input) != 0)
          needed.insert(input);
        else
          collectStored(input, needed);
      }
      // What the nest itself stores is handed on inside.
      for (const size_t root : step.roots) needed.erase(roots_[root].tensor);
    }
    return std::all_of(needed.begin(), needed.end(),
                       [&](TensorId tensor) { return available.count(tensor) != 0; });
  }

  // Writing.

  Result<LoweredKernel> write() {
    emission_ = emission(std::nullopt);
    for (size_t i = 0; i < steps_.size(); ++i) BATON_TRY(writeStep(steps_[i]));
    emission_->notes() = {};
    uint32_t scalar = 0;
    for (const TensorId result : group_.results) {
      if (!group_.isScalar(result)) continue;
      BATON_TRY_ASSIGN(const Value value, emission_->element(result, {}));
      emission_->emitter().builder().setScalar(scalar++, value);
    }
    everReadElsewhere_.insert(emission_->notes().readHere.begin(), emission_->notes().readHere.end());
    everReadElsewhere_.insert(emission_->notes().readElsewhere.begin(),
                              emission_->notes().readElsewhere.end());
    dropAliases();
    if (emission_->hasFailed())
      return Error(
          ErrorCode::Unsupported,
          fmt::format("group {}: a position or an extent cannot be computed from the operands' extents",
                      group_.descriptor.name));
    LoweredKernel lowered{emission_->emitter().builder().take(), group_.scalarDims, dependsOnOptions_};
    for (const auto& [output, inputs] : aliases_) lowered.kernel.descriptor.outputs[output].mayAlias = inputs;
    BATON_TRY(loop::verify(lowered.kernel));
    return lowered;
  }

  Result<void> writeStep(const Step& step) {
    if (step.nest) return writeNest(step);
    const TensorId first = roots_[step.roots[0]].tensor;
    NestPlan plan;
    plan.served = servedExtents(roots_[step.roots[0]]);
    plan.cost = 0;
    std::set<std::pair<DimExpr, DimExpr>> unknown;
    std::vector<TensorId> cached;
    for (const size_t root : step.roots) {
      double cost = 0;
      const bool isCopy = stored_.count(roots_[root].tensor) != 0 && stored_.at(roots_[root].tensor) != root;
      if (isCopy || !isComputed(roots_[root].tensor)) {
        plan.cost += 2;
        continue;
      }
      BATON_TRY_ASSIGN(const EmissionNotes notes, probe(roots_[root].tensor, std::nullopt, &cost));
      for (const auto& reduction : notes.reductions) {
        const std::optional<size_t> prefix = prefixOf(first, reduction.dependencies);
        if (!prefix) continue;
        if (*prefix > 0) plan.prefixes.insert(*prefix);
        if (axisBits(first, *prefix) == axisBits(first, 64)) plan.isRowWise |= reduction.isContiguous;
        cost *= 16;
      }
      plan.cost += cost;
      if (step.roots.size() == 1)
        for (const auto& [tensor, use] : notes.rowUses)
          if (use.count > 1 && use.isInRow && tensor != first) cached.push_back(tensor);
      unknown.insert(notes.unknownBroadcasts.begin(), notes.unknownBroadcasts.end());
    }
    if (unknown.empty()) {
      cacheRows(step, plan, cached);
      BATON_TRY(writeLoops(step, plan));
      emission_->clearRowCaches();
      return success();
    }
    // Extents that only may be equal mostly are; else some of them are 1.
    Emitter& emitter = emission_->emitter();
    Value areEqual = emitter.builder().boolean(true);
    bool any = false;
    for (const auto& [a, b] : unknown) {
      const Value isEqual = loop::equal(emitter.dim(a), emitter.dim(b));
      areEqual = any ? areEqual & isEqual : isEqual;
      any = true;
    }
    emitter.beginIf(areEqual);
    emission_->setAssumesEqual(true);
    BATON_TRY(writeLoops(step, plan));
    emitter.beginElse();
    emission_->setAssumesEqual(false);
    BATON_TRY(writeLoops(step, plan));
    emitter.end();
    return success();
  }

  /// Where reductions run over rows of a costly tensor, the rows are computed once: in the
  /// output, when that has room for them, or in scratch.
  void cacheRows(const Step& step, const NestPlan& plan, const std::vector<TensorId>& tensors) {
    const Root& root = roots_[step.roots[0]];
    const auto extents = group_.dims(root.tensor);
    const bool hasRows = !extents.empty() && !group_.isOne(extents.back()) && !plan.isRowWise;
    if (!hasRows) return;
    loop::Builder& builder = emission_->emitter().builder();
    bool isOutputFree = root.output != kScratch;
    for (const TensorId tensor : tensors) {
      if (isOutputFree && group_.dtype(tensor) == group_.dtype(root.tensor)) {
        emission_->setRowCache(tensor, builder.output(static_cast<uint32_t>(root.output)));
        isOutputFree = false;
        continue;
      }
      std::vector<DimExpr> own;
      for (const DimExpr& dim : group_.dims(tensor)) own.push_back(emission_->emitter().toKernelSymbols(dim));
      emission_->setRowCache(tensor, builder.scratch(group_.dtype(tensor), std::move(own)));
    }
  }

  Result<void> writeLoops(const Step& step, const NestPlan& plan) {
    const auto extents = group_.dims(roots_[step.roots[0]].tensor);
    emission_->notes() = {};
    BATON_TRY(
        forEachIndex(emission_->emitter(), extents, plan, [&](std::span<const Value> index) -> Result<void> {
          emission_->setHere(extents, index);
          return storeRoots(step, index);
        }));
    noteAliases(step);
    return success();
  }

  Result<void> writeNest(const Step& step) {
    const GroupCall& call = group_.calls[*step.nest];
    const TensorId own = call.results[0];
    double sinkCost = 0;
    for (const size_t root : step.roots) {
      double cost = 2;
      if (roots_[root].tensor != own) BATON_TRY(probe(roots_[root].tensor, own, &cost));
      sinkCost += cost;
    }
    NestContext context(
        emission_->callContext(*step.nest),
        [&](std::span<const Value> index, Value value) -> Result<void> {
          emission_->bindElement(own, index, value);
          emission_->setHere(group_.dims(own), index);
          BATON_TRY(storeRoots(step, index));
          emission_->unbindElement();
          return success();
        },
        sinkCost, options_);
    emission_->notes() = {};
    BATON_TRY(call.op->nest(context));
    dependsOnOptions_ |= context.hasUsedOptions();
    // Elements come in any order, and inputs are read again later.
    for (const uint32_t input : emission_->notes().readHere) everReadElsewhere_.insert(input);
    for (const uint32_t input : emission_->notes().readElsewhere) everReadElsewhere_.insert(input);
    return success();
  }

  /// First all elements, then the stores: an output may share memory with an input.
  Result<void> storeRoots(const Step& step, std::span<const Value> index) {
    std::vector<Value> values;
    for (const size_t i : step.roots) {
      const TensorId tensor = roots_[i].tensor;
      BATON_TRY_ASSIGN(const Value value, isOwn(i) ? emission_->computedElement(tensor, index)
                                                   : emission_->element(tensor, index));
      values.push_back(value);
    }
    loop::Builder& builder = emission_->emitter().builder();
    for (size_t i = 0; i < step.roots.size(); ++i) {
      const Root& root = roots_[step.roots[i]];
      const BufferIndex buffer = root.output != kScratch ? builder.output(static_cast<uint32_t>(root.output))
                                                         : emission_->storedIn(root.tensor);
      builder.store(buffer, index, values[i]);
    }
    return success();
  }

  bool isOwn(size_t root) const {
    const auto at = stored_.find(roots_[root].tensor);
    return at != stored_.end() && at->second == root;
  }

  /// An output may take the memory of an input that is read only in the loops that write
  /// the output, and only at the index that is written.
  void noteAliases(const Step& step) {
    const EmissionNotes& notes = emission_->notes();
    for (const uint32_t input : notes.readElsewhere) everReadElsewhere_.insert(input);
    for (const uint32_t input : notes.readHere) {
      if (!readInSteps_.insert(input).second) everReadElsewhere_.insert(input);
      for (const size_t i : step.roots) {
        const Root& root = roots_[i];
        if (root.output == kScratch) continue;
        const DType from = group_.descriptor.inputs[input].dtype;
        if (sizeBytes(from) == sizeBytes(group_.dtype(root.tensor)))
          aliases_[static_cast<uint32_t>(root.output)].push_back(input);
      }
    }
  }

  void dropAliases() {
    for (auto& [output, inputs] : aliases_)
      std::erase_if(inputs, [&](uint32_t input) { return everReadElsewhere_.count(input) != 0; });
  }

  Group group_;
  const LoweringOptions& options_;
  std::vector<Root> roots_;
  std::map<TensorId, size_t> stored_;  // root that stores it
  uint32_t outputCount_ = 0;
  bool hasChanged_ = false;
  bool dependsOnOptions_ = false;
  std::vector<Step> steps_;
  std::unique_ptr<GroupEmission> emission_;
  std::set<uint32_t> everReadElsewhere_;
  std::set<uint32_t> readInSteps_;
  std::map<uint32_t, std::vector<uint32_t>> aliases_;
};

}  // namespace

Result<LoweredKernel> lowerGroup(ir::Module& module, const ir::Function& primitive,
                                 const LoweringOptions& options) {
  BATON_TRY_ASSIGN(Group group, buildGroup(module, primitive));
  return GroupLowering(std::move(group), options).run();
}

}  // namespace baton::ops
