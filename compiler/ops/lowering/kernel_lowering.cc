#include "compiler/ops/lowering/kernel_lowering.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/ops/lowering/default_schedule.h"
#include "compiler/ops/lowering/group_plan.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "kernels/loop/verifier.h"

namespace baton::ops {

using loop::BufferIndex;
using loop::Value;

namespace {

/// Writes the loops of a plan.
class GroupWriter {
 public:
  explicit GroupWriter(const GroupPlan& plan) : plan_(plan) {}

  Result<LoweredKernel> run() {
    emission_ = plan_.emission(std::nullopt);
    for (const Step& step : plan_.steps()) BATON_TRY(writeStep(step));
    emission_->notes() = {};
    uint32_t scalar = 0;
    for (const TensorId result : group().results) {
      if (!group().isScalar(result)) continue;
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
                      group().descriptor.name));
    LoweredKernel lowered{emission_->emitter().builder().take(), group().scalarDims, {}};
    for (const auto& [output, inputs] : aliases_) lowered.kernel.descriptor.outputs[output].mayAlias = inputs;
    BATON_TRY(loop::verify(lowered.kernel));
    const std::vector<LoopNest>& nests = emission_->emitter().nests();
    BATON_TRY_ASSIGN(lowered.schedule, defaultSchedule(lowered.kernel, nests, kWideVectors));
    const bool dependsOnVectors = std::any_of(nests.begin(), nests.end(),
                                              [](const LoopNest& nest) { return nest.product.has_value(); });
    if (dependsOnVectors) {
      BATON_TRY_ASSIGN(lowered.narrowSchedule, defaultSchedule(lowered.kernel, nests, kNarrowVectors));
    }
    return lowered;
  }

 private:
  using Root = GroupPlan::Root;
  using Step = GroupPlan::Step;
  const Group& group() const { return plan_.group(); }

  Result<void> writeStep(const Step& step) {
    if (step.nest) return writeNest(step);
    const TensorId first = plan_.root(step.roots[0]).tensor;
    NestPlan nest;
    nest.served = plan_.servedExtents(step.roots[0]);
    nest.cost = 0;
    std::set<std::pair<DimExpr, DimExpr>> unknown;
    std::vector<TensorId> cached;
    for (const size_t root : step.roots) {
      double cost = 0;
      if (plan_.isCopy(root) || !plan_.isComputed(plan_.root(root).tensor)) {
        nest.cost += 2;
        continue;
      }
      BATON_TRY_ASSIGN(const EmissionNotes notes, plan_.probe(plan_.root(root).tensor, std::nullopt, &cost));
      for (const auto& reduction : notes.reductions) {
        const std::optional<size_t> prefix = plan_.prefixOf(first, reduction.dependencies);
        if (!prefix) continue;
        if (*prefix > 0) nest.prefixes.insert(*prefix);
        if (plan_.axisBits(first, *prefix) == plan_.axisBits(first, 64))
          nest.isRowWise |= reduction.isContiguous;
        cost *= 16;
      }
      nest.cost += cost;
      if (step.roots.size() == 1)
        for (const auto& [tensor, use] : notes.rowUses)
          if (use.count > 1 && use.isInRow && tensor != first) cached.push_back(tensor);
      unknown.insert(notes.unknownBroadcasts.begin(), notes.unknownBroadcasts.end());
    }
    if (unknown.empty()) {
      cacheRows(step, nest, cached);
      BATON_TRY(writeLoops(step, nest));
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
    BATON_TRY(writeLoops(step, nest));
    emitter.beginElse();
    emission_->setAssumesEqual(false);
    BATON_TRY(writeLoops(step, nest));
    emitter.end();
    return success();
  }

  /// Where reductions run over rows of a costly tensor, the rows are computed once: in the
  /// output, when that has room for them, or in scratch.
  void cacheRows(const Step& step, const NestPlan& nest, const std::vector<TensorId>& tensors) {
    const Root& root = plan_.root(step.roots[0]);
    const auto extents = group().dims(root.tensor);
    const bool hasRows = !extents.empty() && !group().isOne(extents.back()) && !nest.isRowWise;
    if (!hasRows) return;
    loop::Builder& builder = emission_->emitter().builder();
    bool isOutputFree = root.output != GroupPlan::kScratch;
    for (const TensorId tensor : tensors) {
      if (isOutputFree && group().dtype(tensor) == group().dtype(root.tensor)) {
        emission_->setRowCache(tensor, builder.output(static_cast<uint32_t>(root.output)));
        isOutputFree = false;
        continue;
      }
      std::vector<DimExpr> own;
      for (const DimExpr& dim : group().dims(tensor))
        own.push_back(emission_->emitter().toKernelSymbols(dim));
      emission_->setRowCache(tensor, builder.scratch(group().dtype(tensor), std::move(own)));
    }
  }

  Result<void> writeLoops(const Step& step, const NestPlan& nest) {
    const auto extents = group().dims(plan_.root(step.roots[0]).tensor);
    emission_->notes() = {};
    BATON_TRY(
        forEachIndex(emission_->emitter(), extents, nest, [&](std::span<const Value> index) -> Result<void> {
          emission_->setHere(extents, index);
          return storeRoots(step, index);
        }));
    noteAliases(step);
    return success();
  }

  Result<void> writeNest(const Step& step) {
    const GroupCall& call = group().calls[*step.nest];
    const TensorId own = call.results[0];
    const auto extents = group().dims(own);
    const bool isEmpty = std::any_of(extents.begin(), extents.end(),
                                     [](const DimExpr& extent) { return extent.asConstant() == 0; });
    // Nothing to compute, nor to find out. The other extents may be what no number of iterations can be.
    if (isEmpty && call.op->failure == FailureKind::Never) return success();
    NestContext context(emission_->callContext(*step.nest),
                        [&](std::span<const Value> index, Value value) -> Result<void> {
                          emission_->bindElement(own, index, value);
                          emission_->setHere(group().dims(own), index);
                          BATON_TRY(storeRoots(step, index));
                          emission_->unbindElement();
                          return success();
                        });
    emission_->notes() = {};
    BATON_TRY(call.op->nest(context));
    // Elements come in any order, and inputs are read again later.
    for (const uint32_t input : emission_->notes().readHere) everReadElsewhere_.insert(input);
    for (const uint32_t input : emission_->notes().readElsewhere) everReadElsewhere_.insert(input);
    return success();
  }

  /// First all elements, then the stores: an output may share memory with an input.
  Result<void> storeRoots(const Step& step, std::span<const Value> index) {
    std::vector<Value> values;
    for (const size_t i : step.roots) {
      const TensorId tensor = plan_.root(i).tensor;
      BATON_TRY_ASSIGN(const Value value, plan_.isOwn(i) ? emission_->computedElement(tensor, index)
                                                         : emission_->element(tensor, index));
      values.push_back(value);
    }
    loop::Builder& builder = emission_->emitter().builder();
    for (size_t i = 0; i < step.roots.size(); ++i) {
      const Root& root = plan_.root(step.roots[i]);
      const BufferIndex buffer = root.output != GroupPlan::kScratch
                                     ? builder.output(static_cast<uint32_t>(root.output))
                                     : emission_->storedIn(root.tensor);
      builder.store(buffer, index, values[i]);
    }
    return success();
  }

  /// An output may take the memory of an input that is read only in the loops that write
  /// the output, and only at the index that is written.
  void noteAliases(const Step& step) {
    const EmissionNotes& notes = emission_->notes();
    for (const uint32_t input : notes.readElsewhere) everReadElsewhere_.insert(input);
    for (const uint32_t input : notes.readHere) {
      if (!readInSteps_.insert(input).second) everReadElsewhere_.insert(input);
      for (const size_t i : step.roots) {
        const Root& root = plan_.root(i);
        if (root.output == GroupPlan::kScratch) continue;
        const DType from = group().descriptor.inputs[input].dtype;
        if (sizeBytes(from) == sizeBytes(group().dtype(root.tensor)))
          aliases_[static_cast<uint32_t>(root.output)].push_back(input);
      }
    }
  }

  void dropAliases() {
    for (auto& [output, inputs] : aliases_)
      std::erase_if(inputs, [&](uint32_t input) { return everReadElsewhere_.count(input) != 0; });
  }

  const GroupPlan& plan_;
  std::unique_ptr<GroupEmission> emission_;
  std::set<uint32_t> everReadElsewhere_;
  std::set<uint32_t> readInSteps_;
  std::map<uint32_t, std::vector<uint32_t>> aliases_;
};

}  // namespace

Result<LoweredKernel> lowerGroup(ir::Module& module, const ir::Function& primitive) {
  BATON_TRY_ASSIGN(Group group, buildGroup(module, primitive));
  BATON_TRY_ASSIGN(const GroupPlan plan, GroupPlan::make(std::move(group)));
  return GroupWriter(plan).run();
}

}  // namespace baton::ops
