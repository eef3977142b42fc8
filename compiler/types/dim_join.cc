#include "compiler/types/dim_join.h"

#include <utility>

#include "compiler/types/dim_types.h"

namespace baton::types {

/// Whether a slot that was not widened stays so: all edges that carry a value agree.
bool DimJoin::agrees(size_t slot, const std::optional<DimExpr>& before, const std::optional<DimExpr>& now,
                     const std::function<bool(const DimExpr&)>& isInScope) {
  Agreement& agreement = agreements_[slot];
  if (before && !isNoDim(*before) && --agreement.edges == 0) agreement.common.reset();
  if (!now) return false;
  if (isNoDim(*now)) return true;
  if (agreement.common ? *agreement.common != *now : !isInScope(*now)) return false;
  agreement.common = now;
  ++agreement.edges;
  return true;
}

bool DimJoin::update(uint64_t edgeId, Edge edge, const std::function<bool(const DimExpr&)>& isInScope,
                     const std::function<DimExpr(size_t)>& symbol) {
  auto [known, isNew] = edges_.try_emplace(edgeId);
  if (!isNew && known->second == edge) return false;
  const Edge before = std::exchange(known->second, std::move(edge));
  const Edge& now = known->second;

  // Slots that were together stay together where they are equal on this edge, too; those that
  // are widened now are compared on all edges. An unknown is equal to nothing.
  struct Key {
    uint32_t oldGroup;
    std::vector<DimExpr> dims;
    auto operator<=>(const Key&) const = default;
  };
  Edge state = state_;
  std::map<Key, uint32_t> groups;
  std::map<uint32_t, size_t> leaders;
  std::vector<size_t> widened;
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].fixed) {
      state[slot] = slots_[slot].fixed;
      continue;
    }
    Key key{group_[slot], {}};
    bool isComparable = true;
    auto compare = [&](const std::optional<DimExpr>& dim) {
      isComparable = isComparable && dim && !isNoDim(*dim);
      if (isComparable) key.dims.push_back(*dim);
    };
    if (group_[slot] != kNotWidened) {
      compare(now[slot]);
    } else {
      if (agrees(slot, isNew ? std::nullopt : before[slot], now[slot], isInScope) && changes_ < kMaxChanges) {
        state[slot] = agreements_[slot].common ? *agreements_[slot].common : noDim();
        continue;
      }
      for (const auto& [id, carried] : edges_) compare(carried[slot]);
    }
    uint32_t group = ++lastGroup_;
    if (isComparable) group = groups.try_emplace(std::move(key), group).first->second;
    group_[slot] = group;
    if (slots_[slot].isPlain) leaders.try_emplace(group, slot);
    widened.push_back(slot);
  }
  for (size_t slot : widened) {
    auto leader = leaders.find(group_[slot]);
    state[slot] = leader == leaders.end() ? std::nullopt : std::optional(symbol(leader->second));
  }

  if (state == state_ && !isNew) return false;
  bool changed = state != state_ || edges_.size() == 1;
  state_ = std::move(state);
  changes_ += changed ? 1 : 0;
  return changed;
}

}  // namespace baton::types
