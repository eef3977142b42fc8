// What the evaluator needs to know of a function before it runs it: where variables live,
// which extents each variable binds, what local functions capture, which blocks are tails.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::eval {

inline constexpr uint32_t kNoSlot = UINT32_MAX;

/// What runs in one frame: the body of a function or of a local function, joins included.
struct Unit {
  ir::BlockId body;
  ir::VarId self = ir::kNoVar;  ///< of a local function: its own variable
  std::vector<ir::VarId> params;
  uint32_t slotCount = 0;
  /// Slots of variables bound outside.
  std::unordered_map<ir::VarId, uint32_t> captureSlots;
  std::vector<ir::VarId> captures;    ///< in the order of a closure's fields; without `self`
  std::vector<uint32_t> extentSlots;  ///< extents that a closure takes along
};

struct JoinCode {
  std::vector<ir::VarId> params;
  ir::BlockId body;
  ir::BlockId definer;
};

/// Valid as long as the function does not change.
class FunctionCode {
 public:
  explicit FunctionCode(const ir::Function& function);

  const ir::Function& function() const { return function_; }
  const Unit& unitOf(ir::BlockId body) const { return units_[unitIndex_.at(body)]; }
  /// Slot of a variable in a frame of the unit.
  uint32_t slotOf(const Unit& unit, ir::VarId var) const;
  const JoinCode& join(ir::VarId var) const { return joins_.at(var); }
  /// The block that defines the join with this body; kNoBlock for other blocks.
  ir::BlockId definerOf(ir::BlockId body) const { return definer_[body.value()]; }
  /// Whether what ends the block ends its unit.
  bool isUnitTail(ir::BlockId block) const { return isUnitTail_[block.value()]; }

  uint32_t extentCount() const { return extentCount_; }
  /// kNoSlot for a symbol that nothing in the function mentions.
  uint32_t extentSlot(DimSymbol symbol) const;
  /// Whether the variable's type says something about extents or elements.
  bool hasExtents(ir::VarId var) const { return hasExtents_[var.value()]; }
  /// Slots of symbols that get their values from this variable.
  const std::vector<uint32_t>& bindsOf(ir::VarId var) const;

 private:
  void assignSlots();
  void numberExtents();
  void findBinders();
  void findTails();

  const ir::Function& function_;
  std::vector<Unit> units_;
  std::unordered_map<ir::BlockId, uint32_t> unitIndex_;
  std::vector<uint32_t> slot_;       // by variable
  std::vector<uint32_t> unitOfVar_;  // by variable
  std::unordered_map<ir::VarId, JoinCode> joins_;
  std::vector<ir::BlockId> definer_;
  std::vector<bool> isUnitTail_;
  std::unordered_map<DimSymbol, uint32_t> extentSlots_;
  uint32_t extentCount_ = 0;
  std::vector<bool> hasExtents_;
  std::unordered_map<ir::VarId, std::vector<uint32_t>> binds_;
  const std::vector<uint32_t> nothing_;
};

}  // namespace baton::eval
