// Contification of mutually recursive functions: a group of functions of the module that call
// one another last becomes joins inside one of them, and so a loop.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/passes/call_graph.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/registry.h"
#include "compiler/passes/tail_blocks.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

/// Members of a group that are tried as the one that takes in the others.
constexpr size_t kMaxHeads = 8;

/// Calls between functions, by caller.
struct GroupCall {
  uint32_t callee;
  bool isTail;
};

class GroupContifier {
 public:
  GroupContifier(ir::Module& module, PassContext& context)
      : module_(module), context_(context), graph_(module) {}
  void run();

 private:
  void countCalls();
  bool onlyTailCalls(const std::vector<uint32_t>& group) const;
  std::optional<std::vector<uint32_t>> orderWithout(const std::vector<uint32_t>& group, uint32_t head) const;
  void nest(uint32_t head, const std::vector<uint32_t>& members);
  void redirect(ir::Function& function, const std::vector<BlockId>& blocks,
                const std::unordered_map<uint32_t, VarId>& joins);
  bool isInGroup(uint32_t function, uint32_t group) const { return graph_.group[function] == group; }

  ir::Module& module_;
  PassContext& context_;
  CallGraph graph_;
  std::vector<std::vector<GroupCall>> calls_;
  std::vector<uint32_t> outsideCalls_;  // by function: from other groups
  std::vector<size_t> sizes_;
};

void GroupContifier::countCalls() {
  calls_.resize(module_.functions.size());
  sizes_.assign(module_.functions.size(), 0);
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    ir::Function& function = module_.functions[i];
    straightenTails(function);
    TailBlocks tails(function);
    for (BlockId id : ir::blocksInOrder(function, function.body)) {
      const ir::Block& block = function.block(id);
      sizes_[i] += block.bindings.size();
      for (size_t k = 0; k < block.bindings.size(); ++k)
        if (const auto* call = std::get_if<ir::CallGlobal>(&block.bindings[k].rhs))
          calls_[i].push_back(
              {call->callee.value(), isTailBinding(block, k) && tails.isTailOf(id, function.body)});
    }
  }
}

bool GroupContifier::onlyTailCalls(const std::vector<uint32_t>& group) const {
  return std::all_of(group.begin(), group.end(), [&](uint32_t member) {
    return std::all_of(calls_[member].begin(), calls_[member].end(), [&](const GroupCall& call) {
      return call.isTail || !isInGroup(call.callee, graph_.group[member]);
    });
  });
}

/// The others, callees before callers, when only the head closes their cycles.
std::optional<std::vector<uint32_t>> GroupContifier::orderWithout(const std::vector<uint32_t>& group,
                                                                  uint32_t head) const {
  std::unordered_map<uint32_t, uint32_t> waits;  // by member: callees that have no place yet
  std::unordered_map<uint32_t, std::vector<uint32_t>> callers;
  for (uint32_t member : group) {
    if (member == head) continue;
    waits[member] += 0;
    for (const GroupCall& call : calls_[member]) {
      if (call.callee == head || call.callee == member || !isInGroup(call.callee, graph_.group[member]))
        continue;
      ++waits[member];
      callers[call.callee].push_back(member);
    }
  }
  std::vector<uint32_t> order;
  for (uint32_t member : group)
    if (member != head && waits[member] == 0) order.push_back(member);
  for (size_t i = 0; i < order.size(); ++i)
    for (uint32_t caller : callers[order[i]])
      if (--waits[caller] == 0) order.push_back(caller);
  if (order.size() + 1 != group.size()) return std::nullopt;
  return order;
}

/// Calls of members in these blocks become jumps.
void GroupContifier::redirect(ir::Function& function, const std::vector<BlockId>& blocks,
                              const std::unordered_map<uint32_t, VarId>& joins) {
  for (BlockId id : blocks)
    for (ir::Binding& binding : function.block(id).bindings) {
      auto* call = std::get_if<ir::CallGlobal>(&binding.rhs);
      if (call == nullptr) continue;
      auto at = joins.find(call->callee.value());
      if (at == joins.end()) continue;
      std::vector<Atom> args = std::move(call->args);
      binding.rhs = ir::CallJoin{at->second, std::move(args)};
    }
}

void GroupContifier::nest(uint32_t head, const std::vector<uint32_t>& members) {
  ir::Function& function = module_.functions[head];
  const std::vector<BlockId> own = ir::blocksInOrder(function, function.body);
  std::unordered_map<uint32_t, VarId> joins;
  std::vector<ir::Binding> made;
  for (uint32_t member : members) {
    const ir::Function& from = module_.functions[member];
    FreshSymbols fresh(module_.dimSymbols);
    DimRewriter rename(module_.types, [&](DimSymbol symbol) { return fresh(symbol); });
    Cloner cloner(module_, from, function);
    cloner.setDims(&rename);
    ir::Lambda join;
    join.isJoin = true;
    for (VarId param : from.params) join.params.push_back(cloner.bind(param));
    join.body = cloner.clone(from.body);
    join.isLoop = std::any_of(calls_[member].begin(), calls_[member].end(),
                              [&](const GroupCall& call) { return call.callee == member; });
    const ir::TypeRef type = functionType(module_, function, join.params, rename.type(from.result));
    const VarId var = function.addVar({.name = from.name, .type = type, .location = from.location});
    joins.emplace(member, var);
    redirect(function, ir::blocksInOrder(function, join.body), joins);
    made.push_back({var, std::move(join), from.location, {}});
  }
  redirect(function, own, joins);
  insert(function.block(function.body), 0, std::move(made));
  context_.count("groups that became loops");
}

void GroupContifier::run() {
  countCalls();
  std::vector<std::vector<uint32_t>> groups;
  for (size_t i = 0; i < graph_.order.size(); ++i) {
    const uint32_t member = graph_.order[i].value();
    if (i == 0 || graph_.group[graph_.order[i - 1].value()] != graph_.group[member]) groups.emplace_back();
    groups.back().push_back(member);
  }
  outsideCalls_.assign(module_.functions.size(), 0);
  for (uint32_t i = 0; i < calls_.size(); ++i)
    for (const GroupCall& call : calls_[i])
      if (!isInGroup(call.callee, graph_.group[i])) ++outsideCalls_[call.callee];
  for (const std::vector<uint32_t>& group : groups) {
    if (group.size() < 2 || !onlyTailCalls(group)) continue;
    size_t size = 0;
    for (uint32_t member : group) size += sizes_[member];
    if (size > context_.option("max-bindings")) continue;
    // The head is one that is called from outside, most often if there are several.
    std::vector<uint32_t> heads = group;
    std::stable_sort(heads.begin(), heads.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(module_.functions[a].isExported, outsideCalls_[a]) >
             std::pair(module_.functions[b].isExported, outsideCalls_[b]);
    });
    if (heads.size() > kMaxHeads) heads.resize(kMaxHeads);
    for (uint32_t head : heads)
      if (const std::optional<std::vector<uint32_t>> order = orderWithout(group, head)) {
        nest(head, *order);
        break;
      }
  }
}

Result<void> contifyGroups(ir::Module& module, PassContext& context) {
  GroupContifier(module, context).run();
  return success();
}

constexpr PassOption kContifyGroupsOptions[] = {
    {"max-bindings", 4000, "bindings of all functions of a group"},
};

}  // namespace

constinit const PassInfo kContifyGroupsPass{
    .name = "contify-groups",
    .summary = "functions of the module that call one another last become joins of one of them",
    .documentation =
        R"(Takes groups of functions that call one another, and only in tail position. One of them, which is called from outside, gets copies of the others as joins, so its calls of them are jumps; make-loops then makes a loop of its calls of itself. A state machine written as one function a state becomes one loop with a join a state. The others keep their functions, for calls from outside; dead-functions drops those that have none.

A group stays as it is when a call inside it is not the last thing that its caller does, or when no single member is on all of its cycles.)",
    .level = 1,
    .options = kContifyGroupsOptions,
    .run = contifyGroups,
};

}  // namespace baton::passes
