#include "compiler/types/dim_join.h"

#include "compiler/types/dim_types.h"

namespace baton::types {

bool DimJoin::update(uint64_t edgeId, Edge edge, const std::function<bool(const DimExpr&)>& isInScope,
                     const std::function<DimExpr(size_t)>& symbol) {
  auto [known, isNew] = edges_.try_emplace(edgeId);
  if (!isNew && known->second == edge) return false;
  known->second = std::move(edge);

  Edge state(slots_.size());
  std::vector<size_t> widened;
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].fixed) {
      state[slot] = slots_[slot].fixed;
      continue;
    }
    bool agree = group_[slot] == kNotWidened && changes_ < kMaxChanges;
    std::optional<DimExpr> common;
    for (const auto& [id, carried] : edges_) {
      const std::optional<DimExpr>& dim = carried[slot];
      if (!dim) agree = false;
      if (!agree) break;
      if (isNoDim(*dim)) continue;
      agree = common ? *common == *dim : isInScope(*dim);
      common = dim;
    }
    if (agree)
      state[slot] = common ? *common : noDim();
    else
      widened.push_back(slot);
  }

  // Slots stay together that were together, or were not widened before, and are equal on
  // every edge. An unknown is equal to nothing.
  struct Key {
    uint32_t oldGroup;
    std::vector<DimExpr> dims;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, uint32_t> groups;
  std::map<uint32_t, size_t> leaders;
  std::vector<uint32_t> newGroup = group_;
  for (size_t slot : widened) {
    Key key{group_[slot], {}};
    bool isComparable = true;
    for (const auto& [id, carried] : edges_) {
      isComparable = isComparable && carried[slot] && !isNoDim(*carried[slot]);
      if (isComparable) key.dims.push_back(*carried[slot]);
    }
    uint32_t group = ++lastGroup_;
    if (isComparable) group = groups.try_emplace(std::move(key), group).first->second;
    newGroup[slot] = group;
    if (slots_[slot].isPlain) leaders.try_emplace(group, slot);
  }
  group_ = std::move(newGroup);
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
