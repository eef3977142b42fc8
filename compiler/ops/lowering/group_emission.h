// Emits elements of the tensors of a group into a kernel: pulled from the results towards
// the inputs, each element at most once per iteration.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ops/lowering/group.h"
#include "compiler/ops/lowering/lowering.h"

namespace baton::ops {

/// What came up while elements were emitted.
struct EmissionNotes {
  /// Results of calls with a nest of their own that were needed and are not stored.
  std::set<TensorId> missing;
  struct Reduction {
    TensorId result;
    uint64_t dependencies = 0;  ///< Emitter::dependencies of its index
    bool isContiguous = false;
    friend auto operator<=>(const Reduction&, const Reduction&) = default;
  };
  std::set<Reduction> reductions;
  /// Extents that are equal, or else the first one is 1.
  std::set<std::pair<DimExpr, DimExpr>> unknownBroadcasts;
  /// Results that are computed at many indices: better stored.
  std::set<TensorId> repeated;
  /// Costly results of the extents at hand, and how often they were computed, as long as it
  /// was along the row at hand (all but the last axis).
  struct RowUse {
    int count = 0;
    bool isInRow = true;
  };
  std::map<TensorId, RowUse> rowUses;
  /// Inputs of the kernel that were read at another index than the one at hand.
  std::set<uint32_t> readElsewhere;
  std::set<uint32_t> readHere;
  /// Stored tensors that were read at an index which no loop over the extents at hand gives.
  std::set<TensorId> readOutside;
};

class GroupEmission final : public CallLowering {
 public:
  GroupEmission(const Group& group, KernelDescriptor descriptor);

  // CallLowering
  Emitter& emitter() override { return emitter_; }
  Result<loop::Value> element(TensorId tensor, std::span<const loop::Value> index) override;
  Result<loop::Value> broadcastElement(TensorId tensor, std::span<const DimExpr> target,
                                       std::span<const loop::Value> index) override;
  DType dtype(TensorId tensor) const override { return group_.dtype(tensor); }
  std::span<const DimExpr> dims(TensorId tensor) const override { return group_.dims(tensor); }
  void noteReduction(TensorId result, std::span<const loop::Value> index, bool isContiguous) override;

  /// Results that stand in a buffer once they are computed.
  void setStored(TensorId tensor, loop::BufferIndex buffer) { stored_[tensor] = buffer; }
  loop::BufferIndex storedIn(TensorId tensor) const { return stored_.at(tensor); }
  /// The element, computed even if the tensor is stored.
  Result<loop::Value> computedElement(TensorId tensor, std::span<const loop::Value> index);

  /// The index at hand, for notes about where inputs are read.
  void setHere(std::span<const DimExpr> extents, std::span<const loop::Value> index);
  /// Elements of a call with a nest of its own, while a sink handles them.
  void bindElement(TensorId tensor, std::span<const loop::Value> index, loop::Value value);
  void unbindElement() { bound_.reset(); }
  /// Whether extents that are not known to be equal are taken as equal, or for general use.
  void setAssumesEqual(bool assumesEqual) { assumesEqual_ = assumesEqual; }

  /// Limits how often a result is computed (see EmissionNotes::repeated); for trials.
  void setEvaluationLimit(int limit) { evaluationLimit_ = limit; }
  /// From now on, rows of a tensor are computed once, into a buffer, before they are read.
  void setRowCache(TensorId tensor, loop::BufferIndex buffer) { rowCaches_[tensor] = {buffer, false}; }
  void clearRowCaches() { rowCaches_.clear(); }
  /// An expression was met that cannot be computed in the kernel.
  bool hasFailed() const { return emitter_.hasFailed(); }

  CallContext callContext(uint32_t call);
  EmissionNotes& notes() { return notes_; }
  const Group& group() const { return group_; }

 private:
  std::vector<loop::Value> normalised(TensorId tensor, std::span<const loop::Value> index);
  Emitter::Key elementKey(TensorId tensor, std::span<const loop::Value> index) const;
  Result<loop::Value> compute(TensorId tensor, std::span<const loop::Value> index, size_t depth);
  Result<loop::Value> computeResult(const GroupTensor& tensor, std::span<const loop::Value> index,
                                    size_t depth);
  Result<loop::Value> cachedElement(TensorId tensor, std::span<const loop::Value> index);
  void noteEvaluation(TensorId tensor, std::span<const loop::Value> index);
  bool isPlace(std::span<const loop::Value> index) const;
  loop::Value loadInput(TensorId tensor, std::span<const loop::Value> index, size_t depth);

  const Group& group_;
  Emitter emitter_;
  std::map<TensorId, loop::BufferIndex> stored_;
  struct BoundElement {
    TensorId tensor;
    std::vector<loop::Value> index;
    loop::Value value;
    size_t depth;
  };
  std::optional<BoundElement> bound_;
  std::span<const DimExpr> hereExtents_;
  std::vector<loop::Value> here_;
  std::vector<OpCall> opCalls_;                        // by call
  std::vector<std::unique_ptr<KnownDims>> relations_;  // by call
  bool assumesEqual_ = false;
  std::optional<int> evaluationLimit_;
  std::map<TensorId, int> evaluations_;
  struct RowCache {
    loop::BufferIndex buffer;
    bool isFilled = false;
  };
  std::map<TensorId, RowCache> rowCaches_;
  EmissionNotes notes_;
};

}  // namespace baton::ops
