// Groups grow from their consumers: bindings are looked at from the last to the first, and
// each joins the group that uses it if it can, so when it is looked at all of its users are
// settled. A group stands where its last member stands; everything that uses one of its
// results from outside comes later, which is checked when the result is taken in.

#include "compiler/passes/fusion_groups.h"

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/direct.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;
using ops::FusionKind;

constexpr uint32_t kNoGroup = UINT32_MAX;

/// Operators that cost no more than reading their operands again.
bool isCheap(const ops::OpDef& op) {
  constexpr std::array kCheap = {
      "abs",       "add",        "bitwise_and", "bitwise_not", "bitwise_or",  "bitwise_xor",
      "cast",      "clip",       "copy",        "equal",       "greater",     "greater_equal",
      "less",      "less_equal", "logical_and", "logical_not", "logical_or",  "logical_xor",
      "maximum",   "minimum",    "multiply",    "negative",    "nn.bias_add", "nn.leaky_relu",
      "nn.prelu",  "nn.relu",    "not_equal",   "ones_like",   "subtract",    "where",
      "zeros_like"};
  if (op.fusion == FusionKind::Injective) return true;
  return std::find(kCheap.begin(), kCheap.end(), op.name) != kCheap.end();
}

class GroupFinder {
 public:
  GroupFinder(ir::Module& module, const ir::Function& function, BlockId block,
              const std::vector<std::vector<VariableUse>>& uses, const eval::SymbolBinders& binders,
              size_t maxOps)
      : module_(module),
        function_(function),
        block_(function.block(block)),
        uses_(uses),
        binders_(binders),
        maxOps_(maxOps),
        nodes_(block_.bindings.size()) {}

  std::vector<FusionGroup> run(const std::unordered_set<uint32_t>& excluded);

 private:
  struct Node {
    const ops::OpDef* op = nullptr;  ///< of an operator that may be fused
    bool isTuple = false;            ///< its results are taken by projections, which go with it
    uint32_t group = kNoGroup;
    /// Its elements are computed more often than there are of them.
    bool isRepeated = false;
    std::vector<uint32_t> users;  ///< members of its group
  };
  struct Building {
    std::vector<uint32_t> members;
    std::vector<VarId> outputs;
    uint32_t last = 0;
    bool hasAnchor = false;
    bool hasReduction = false;
    ir::TypeRef shape = nullptr;  ///< of the last member
  };
  /// Who uses the results of a node.
  struct Users {
    std::vector<uint32_t> members;  ///< nodes that have a group
    uint32_t firstOutside = kUsedByResult;
    bool hasOutside = false;
  };

  ir::TypeRef typeOf(uint32_t node) const { return function_.var(block_.bindings[node].var).type; }
  static bool sameDims(ir::TypeRef a, ir::TypeRef b) {
    return std::equal(a->dims().begin(), a->dims().end(), b->dims().begin(), b->dims().end());
  }
  /// The extents of `shape`, but for trailing ones that are 1.
  static bool isRowShape(ir::TypeRef row, ir::TypeRef shape);
  bool isFusable(uint32_t index);
  void addUsers(VarId var, Users& users) const;
  /// The projections of a tuple; nothing when it is used in another way.
  std::optional<std::vector<uint32_t>> projectionsOf(uint32_t index) const;
  bool tryJoin(uint32_t index);
  bool fits(uint32_t index, const Building& group, const std::vector<uint32_t>& users) const;
  bool isRepeatedBy(uint32_t index, uint32_t user) const;
  /// Every member that the node's value reaches has one of the allowed forms.
  bool reachesOnly(const std::vector<uint32_t>& users, ir::TypeRef from, bool allowsRows) const;

  ir::Module& module_;
  const ir::Function& function_;
  const ir::Block& block_;
  const std::vector<std::vector<VariableUse>>& uses_;
  const eval::SymbolBinders& binders_;
  size_t maxOps_;
  std::vector<Node> nodes_;
  std::vector<Building> groups_;
};

bool GroupFinder::isRowShape(ir::TypeRef row, ir::TypeRef shape) {
  if (row->rank() != shape->rank()) return false;
  size_t axis = 0;
  const size_t rank = shape->dims().size();
  while (axis < rank && row->dims()[axis] == shape->dims()[axis]) ++axis;
  for (; axis < rank; ++axis)
    if (row->dims()[axis].asConstant() != 1) return false;
  return true;
}

std::optional<std::vector<uint32_t>> GroupFinder::projectionsOf(uint32_t index) const {
  std::vector<uint32_t> projections;
  for (const VariableUse& use : uses_[block_.bindings[index].var.value()]) {
    if (!use.isDirect || use.position == kUsedByResult) return std::nullopt;
    if (!std::holds_alternative<ir::Project>(block_.bindings[use.position].rhs)) return std::nullopt;
    projections.push_back(use.position);
  }
  return projections;
}

bool GroupFinder::isFusable(uint32_t index) {
  const ir::Binding& binding = block_.bindings[index];
  const auto* call = std::get_if<ir::CallOp>(&binding.rhs);
  if (call == nullptr || call->op->fusion == FusionKind::Opaque) return false;
  // Who finds out an extent is what others get it from.
  if (!binders_.boundBy(binding.var).empty()) return false;
  for (const Atom& arg : call->args)
    if (!module_.typeOf(function_, arg)->isTensor()) return false;
  Node& node = nodes_[index];
  node.isTuple = function_.var(binding.var).type->isTuple();
  if (node.isTuple) {
    const auto projections = projectionsOf(index);
    if (!projections || projections->empty()) return false;
    for (uint32_t projection : *projections)
      if (!binders_.boundBy(block_.bindings[projection].var).empty()) return false;
    return call->op->fusion == FusionKind::Injective &&
           ops::directForm(module_, function_, binding) == ops::DirectForm::None;
  }
  return ops::directForm(module_, function_, binding) == ops::DirectForm::None;
}

void GroupFinder::addUsers(VarId var, Users& users) const {
  for (const VariableUse& use : uses_[var.value()]) {
    if (use.isDirect && use.position != kUsedByResult && nodes_[use.position].group != kNoGroup) {
      users.members.push_back(use.position);
      continue;
    }
    users.hasOutside = true;
    users.firstOutside = std::min(users.firstOutside, use.position);
  }
}

bool GroupFinder::isRepeatedBy(uint32_t index, uint32_t user) const {
  const Node& node = nodes_[user];
  if (node.isRepeated) return true;
  switch (node.op->fusion) {
    case FusionKind::Elementwise:
    case FusionKind::Broadcast:
      // What is computed once for a row is not repeated within it.
      return nodes_[index].isTuple || !isRowShape(typeOf(index), typeOf(user));
    case FusionKind::Injective: return true;
    // One that gives as much as it takes (softmax) reads its operand several times.
    case FusionKind::Reduction: return nodes_[index].isTuple || sameDims(typeOf(index), typeOf(user));
    case FusionKind::Anchor:
    case FusionKind::Opaque: return true;
  }
  return true;
}

bool GroupFinder::reachesOnly(const std::vector<uint32_t>& users, ir::TypeRef from, bool allowsRows) const {
  std::vector<uint32_t> work = users;
  std::vector<uint32_t> seen;
  while (!work.empty()) {
    const uint32_t node = work.back();
    work.pop_back();
    if (std::find(seen.begin(), seen.end(), node) != seen.end()) continue;
    seen.push_back(node);
    const ir::TypeRef type = typeOf(node);
    if (nodes_[node].isTuple) return false;
    const FusionKind kind = nodes_[node].op->fusion;
    const bool isElementwise = kind == FusionKind::Elementwise || kind == FusionKind::Broadcast;
    const bool isRowReduction =
        kind == FusionKind::Reduction && allowsRows && isRowShape(type, groups_[nodes_[node].group].shape);
    if (!isElementwise && !isRowReduction) return false;
    if (!allowsRows && !sameDims(type, from)) return false;
    work.insert(work.end(), nodes_[node].users.begin(), nodes_[node].users.end());
  }
  return true;
}

bool GroupFinder::fits(uint32_t index, const Building& group, const std::vector<uint32_t>& users) const {
  const Node& node = nodes_[index];
  switch (node.op->fusion) {
    case FusionKind::Elementwise:
    case FusionKind::Broadcast:
    case FusionKind::Injective: {
      bool isRepeated = false;
      for (uint32_t user : users) {
        // The operands of a product are read many times, from memory.
        if (nodes_[user].op->fusion == FusionKind::Anchor) return false;
        isRepeated = isRepeated || isRepeatedBy(index, user);
      }
      return !isRepeated || isCheap(*node.op);
    }
    case FusionKind::Reduction: {
      if (group.hasAnchor || node.isTuple) return false;
      if (sameDims(typeOf(index), group.shape)) return reachesOnly(users, typeOf(index), false);
      return isRowShape(typeOf(index), group.shape) && reachesOnly(users, typeOf(index), true);
    }
    case FusionKind::Anchor:
      return !group.hasAnchor && !group.hasReduction && !node.isTuple &&
             sameDims(typeOf(index), group.shape) && reachesOnly(users, typeOf(index), false);
    case FusionKind::Opaque: return false;
  }
  return false;
}

/// Puts the node into the group that uses it first.
bool GroupFinder::tryJoin(uint32_t index) {
  const VarId var = block_.bindings[index].var;
  Users users;
  std::vector<uint32_t> projections;
  if (nodes_[index].isTuple) {
    projections = *projectionsOf(index);
    for (uint32_t projection : projections) addUsers(block_.bindings[projection].var, users);
  } else {
    addUsers(var, users);
  }
  if (users.members.empty()) return false;
  uint32_t chosen = nodes_[users.members.front()].group;
  for (uint32_t user : users.members)
    if (groups_[nodes_[user].group].last < groups_[chosen].last) chosen = nodes_[user].group;
  Building& group = groups_[chosen];
  std::vector<uint32_t> inside;
  bool isOutput = users.hasOutside;
  for (uint32_t user : users.members) {
    if (nodes_[user].group == chosen)
      inside.push_back(user);
    else
      isOutput = true;  // its group comes later, so the value is there in time
  }
  if (users.hasOutside && users.firstOutside <= group.last) return false;
  if (isOutput && (nodes_[index].isTuple || !sameDims(typeOf(index), group.shape))) return false;
  if (group.members.size() + 1 + projections.size() > maxOps_) return false;
  if (!fits(index, group, inside)) return false;

  Node& node = nodes_[index];
  node.group = chosen;
  std::sort(inside.begin(), inside.end());
  inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
  for (uint32_t user : inside) node.isRepeated = node.isRepeated || isRepeatedBy(index, user);
  node.users = std::move(inside);
  group.members.push_back(index);
  for (uint32_t projection : projections) group.members.push_back(projection);
  if (isOutput) group.outputs.push_back(var);
  group.hasAnchor = group.hasAnchor || node.op->fusion == FusionKind::Anchor;
  group.hasReduction = group.hasReduction || node.op->fusion == FusionKind::Reduction;
  return true;
}

std::vector<FusionGroup> GroupFinder::run(const std::unordered_set<uint32_t>& excluded) {
  for (uint32_t index = static_cast<uint32_t>(nodes_.size()); index-- > 0;) {
    if (excluded.contains(index) || !isFusable(index)) continue;
    Node& node = nodes_[index];
    node.op = std::get<ir::CallOp>(block_.bindings[index].rhs).op;
    if (tryJoin(index) || node.isTuple) continue;
    node.group = static_cast<uint32_t>(groups_.size());
    groups_.push_back({.members = {index},
                       .outputs = {block_.bindings[index].var},
                       .last = index,
                       .hasAnchor = node.op->fusion == FusionKind::Anchor,
                       .hasReduction = node.op->fusion == FusionKind::Reduction,
                       .shape = typeOf(index)});
  }
  std::vector<FusionGroup> result;
  for (Building& group : groups_) {
    if (group.members.size() < 2) continue;
    std::sort(group.members.begin(), group.members.end());
    std::reverse(group.outputs.begin(), group.outputs.end());
    result.push_back({std::move(group.members), std::move(group.outputs)});
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

std::vector<std::vector<VariableUse>> variableUses(const ir::Function& function) {
  std::vector<std::vector<VariableUse>> uses(function.vars.size());
  struct Place {
    BlockId block;
    uint32_t index;
  };
  std::vector<Place> stack;
  // Depth in the stack of the block that binds a variable; parameters and pattern variables
  // belong to no binding and have no entry.
  std::vector<uint32_t> depth(function.vars.size(), UINT32_MAX);
  auto use = [&](const Atom& atom, bool isResult) {
    if (!atom.isVar()) return;
    const uint32_t at = depth[atom.var().value()];
    if (at == UINT32_MAX) return;
    const bool isHere = at + 1 == stack.size();
    uses[atom.var().value()].push_back(
        {isHere && isResult ? kUsedByResult : stack[at].index, isHere && !isResult});
  };
  ir::WalkCallbacks callbacks;
  callbacks.enterBlock = [&](BlockId id) { stack.push_back({id, 0}); };
  callbacks.enterBinding = [&](BlockId id, size_t index) {
    stack.back().index = static_cast<uint32_t>(index);
    const ir::Binding& binding = function.block(id).bindings[index];
    depth[binding.var.value()] = static_cast<uint32_t>(stack.size() - 1);
    ir::forEachOperand(binding.rhs, [&](const Atom& atom) { use(atom, false); });
    return true;
  };
  callbacks.leaveBlock = [&](BlockId id) {
    use(function.block(id).result, true);
    stack.pop_back();
  };
  ir::walk(function, function.body, callbacks);
  return uses;
}

std::vector<FusionGroup> findGroups(ir::Module& module, const ir::Function& function, BlockId block,
                                    const std::vector<std::vector<VariableUse>>& uses,
                                    const eval::SymbolBinders& binders,
                                    const std::unordered_set<uint32_t>& excluded, size_t maxOps) {
  return GroupFinder(module, function, block, uses, binders, maxOps).run(excluded);
}

}  // namespace baton::passes
