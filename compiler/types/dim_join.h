// Where several control-flow edges meet - the parameters of a function or join, the
// result of a branch - and what is known of the dims there. Optimistic: what all edges
// seen so far agree on holds; an edge that disagrees widens a slot for good, to a symbol
// that it shares with all slots that carry equal dims on every edge.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/dim.h"

namespace baton::types {

class DimJoin {
 public:
  struct Slot {
    /// An extent of a value that is at hand there, so that a symbol can stand for it.
    /// Others are extents inside data and elements of integer tensors.
    bool isPlain = false;
    /// Declared: the slot is this, whatever edges carry (they are checked).
    std::optional<DimExpr> fixed;
  };
  /// By slot; nothing: unknown. kNoDim: no value yet.
  using Edge = std::vector<std::optional<DimExpr>>;

  explicit DimJoin(std::vector<Slot> slots)
      : slots_(std::move(slots)), state_(slots_.size()), agreements_(slots_.size()), group_(slots_.size()) {}

  /// An edge (again). `isInScope` says whether a dim means something at the meeting point,
  /// `symbol` gives the symbol of a plain slot. True when the state changed.
  bool update(uint64_t edgeId, Edge edge, const std::function<bool(const DimExpr&)>& isInScope,
              const std::function<DimExpr(size_t slot)>& symbol);

  size_t slotCount() const { return slots_.size(); }
  bool isReached() const { return !edges_.empty(); }
  /// By slot; nothing: unknown (never for a plain slot once reached).
  const Edge& state() const { return state_; }

 private:
  static constexpr uint32_t kNotWidened = 0;
  /// After so many changes everything widens: a bound on the number of rounds.
  static constexpr int kMaxChanges = 64;

  /// What all edges carry for a slot that is not widened.
  struct Agreement {
    std::optional<DimExpr> common;
    size_t edges = 0;  ///< that carry it; others have no value yet
  };
  bool agrees(size_t slot, const std::optional<DimExpr>& before, const std::optional<DimExpr>& now,
              const std::function<bool(const DimExpr&)>& isInScope);

  std::vector<Slot> slots_;
  std::map<uint64_t, Edge> edges_;
  Edge state_;
  std::vector<Agreement> agreements_;
  std::vector<uint32_t> group_;  // of widened slots; groups only split
  uint32_t lastGroup_ = kNotWidened;
  int changes_ = 0;
};

}  // namespace baton::types
