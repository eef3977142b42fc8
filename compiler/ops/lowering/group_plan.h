// Which tensors of a group are stored, and in which loops they are computed. A tensor is stored
// when it is a result of the group, when a call that has a nest of its own produces or re-reads
// it where it cannot be handed on directly, or when a reduction would be repeated.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ops/lowering/group.h"
#include "compiler/ops/lowering/group_emission.h"

namespace baton::ops {

class GroupPlan {
 public:
  static constexpr int kScratch = -1;
  struct Root {
    TensorId tensor;
    int output;  ///< number of the output, or kScratch
    /// Call whose nest hands over the elements; nothing: loops of the root's own.
    std::optional<uint32_t> nest = std::nullopt;
    bool servesResult = false;  ///< has servedExtents
  };
  /// Loops that store some roots.
  struct Step {
    std::optional<uint32_t> nest;
    std::vector<size_t> roots;
  };

  static Result<GroupPlan> make(Group group);

  const Group& group() const { return group_; }
  const Root& root(size_t index) const { return roots_[index]; }
  /// In an order in which each comes after those that store what it reads.
  const std::vector<Step>& steps() const { return steps_; }

  bool isComputed(TensorId tensor) const {
    return group_.tensor(tensor).source == GroupTensor::Source::Result;
  }
  /// Whether it is this root that stores its tensor: others copy what is stored.
  bool isOwn(size_t root) const {
    const auto at = stored_.find(roots_[root].tensor);
    return at != stored_.end() && at->second == root;
  }
  bool isCopy(size_t root) const { return stored_.count(roots_[root].tensor) != 0 && !isOwn(root); }

  /// An emission in which everything that is stored can be read, but not `except`.
  std::unique_ptr<GroupEmission> emission(std::optional<TensorId> except) const;
  /// For a tensor in scratch that is read only in loops over the elements of the only result: extents of that
  /// result beside its own. When one of them is 0 nobody reads it, and it may be as large as it likes.
  std::vector<DimExpr> servedExtents(size_t root) const;
  /// Emits the element of a tensor in plain loops over its extents, to see what it needs.
  /// `bound`: a tensor of the same extents that is at hand at each index.
  Result<EmissionNotes> probe(TensorId tensor, std::optional<TensorId> bound, double* cost = nullptr) const;
  /// The bits of the axes of a tensor that have more than one index, below `count`.
  uint64_t axisBits(TensorId tensor, size_t count) const;
  /// Number of leading axes of a root that the index of a reduction is made of, when it is
  /// made of all of them and nothing else: then the reduction runs once for each element.
  std::optional<size_t> prefixOf(TensorId root, uint64_t dependencies) const;

 private:
  explicit GroupPlan(Group group);
  void store(TensorId tensor);
  loop::BufferIndex bufferOf(GroupEmission& emission, size_t root) const;
  void storeRepeated(TensorId root, const EmissionNotes& notes, bool isElsewhere);
  /// Fixed point: storing a tensor may only remove reasons to store others.
  Result<void> planStorage();
  Result<void> planInputs(const GroupCall& call);
  Result<void> planRoot(size_t i);
  /// Whether every element of `root` follows from the element of `from` at its own index and
  /// from tensors that are there before.
  Result<bool> canHandOn(TensorId from, TensorId root);
  /// Stored tensors that a tensor is computed from, itself excluded.
  void collectStored(TensorId tensor, std::set<TensorId>& out) const;
  /// Stored tensors that the loops of a root read.
  std::set<TensorId> readBy(size_t root) const;
  std::set<TensorId> readBy(const Step& step) const;
  bool dependsOn(TensorId tensor, TensorId on) const;
  Result<void> findServing();
  Result<void> orderSteps();
  bool canShare(const Step& step, size_t root) const;
  const GroupCall& callOf(TensorId tensor) const { return group_.calls[group_.tensor(tensor).index]; }
  bool hasNest(TensorId tensor) const { return isComputed(tensor) && callOf(tensor).op->nest != nullptr; }

  Group group_;
  std::vector<Root> roots_;
  std::map<TensorId, size_t> stored_;  // root that stores it
  uint32_t outputCount_ = 0;
  bool hasChanged_ = false;
  std::vector<Step> steps_;
};

}  // namespace baton::ops
