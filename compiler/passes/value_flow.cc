#include "compiler/passes/value_flow.h"

#include "compiler/ir/walk.h"

namespace baton::passes {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

ValueFlow::ValueFlow(const ir::Function& function)
    : varCount_(function.vars.size()),
      sources_(function.vars.size() + function.blocks.size()),
      escapes_(sources_.size(), false) {
  std::unordered_map<VarId, const ir::Lambda*> joins;
  for (VarId param : function.params) sources_[param.value()].isMixed = true;
  escapes_[endOf(function.body)] = true;
  for (BlockId id : ir::blocksInOrder(function, function.body)) {
    for (const ir::Binding& binding : function.block(id).bindings) look(function, id, binding, joins);
    flow(function.block(id).result, endOf(id));
  }
  settle();
}

void ValueFlow::flow(Atom from, uint32_t to) {
  if (from.isVar())
    edges_.push_back({from.var().value(), to});
  else
    sources_[to].isMixed = true;
}

void ValueFlow::look(const ir::Function& function, BlockId block, const ir::Binding& binding,
                     std::unordered_map<VarId, const ir::Lambda*>& joins) {
  const uint32_t var = binding.var.value();
  auto escape = [&](const Atom& atom) {
    if (atom.isVar()) escapes_[atom.var().value()] = true;
  };
  if (const auto* made = std::get_if<ir::Construct>(&binding.rhs)) {
    dataOf_.emplace(binding.var, static_cast<uint32_t>(data_.size()));
    data_.push_back(*made);
    sources_[var] = {true, false, made->constructor};
    ir::forEachOperand(binding.rhs, escape);
  } else if (std::holds_alternative<ir::MakeTuple>(binding.rhs)) {
    sources_[var].isMade = true;
    ir::forEachOperand(binding.rhs, escape);
  } else if (const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs);
             alias != nullptr && binding.obligations.empty()) {
    flow(alias->atom, var);
    if (!alias->atom.isVar()) return;
    if (auto at = dataOf_.find(alias->atom.var()); at != dataOf_.end())
      dataOf_.emplace(binding.var, at->second);
  } else if (const auto* jump = std::get_if<ir::CallJoin>(&binding.rhs)) {
    const std::vector<VarId>& params = joins.at(jump->join)->params;
    for (size_t i = 0; i < params.size(); ++i) flow(jump->args[i], params[i].value());
  } else if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
    if (lambda->isJoin) {
      joins.emplace(binding.var, lambda);
      edges_.push_back({endOf(lambda->body), endOf(block)});
    } else {
      escapes_[endOf(lambda->body)] = true;
      for (VarId param : lambda->params) sources_[param.value()].isMixed = true;
    }
  } else if (std::holds_alternative<ir::If>(binding.rhs) || std::holds_alternative<ir::Match>(binding.rhs) ||
             std::holds_alternative<ir::NestedBlock>(binding.rhs)) {
    ir::forEachChildBlock(binding.rhs, [&](BlockId child) { edges_.push_back({endOf(child), var}); });
    if (const auto* match = std::get_if<ir::Match>(&binding.rhs))
      for (const ir::Clause& clause : match->clauses)
        ir::forEachPatternVar(function, clause.pattern,
                              [&](VarId field) { sources_[field.value()].isMixed = true; });
  } else {
    sources_[var].isMixed = true;
    if (!std::holds_alternative<ir::Project>(binding.rhs)) ir::forEachOperand(binding.rhs, escape);
  }
}

bool ValueFlow::add(Sources& to, const Sources& from) {
  const bool differs = to.constructor && from.constructor && !(*to.constructor == *from.constructor);
  const Sources sum{to.isMade || from.isMade, to.isMixed || from.isMixed || differs,
                    to.constructor ? to.constructor : from.constructor};
  const bool changes = sum.isMade != to.isMade || sum.isMixed != to.isMixed ||
                       sum.constructor.has_value() != to.constructor.has_value();
  to = sum;
  return changes;
}

/// Sources go along the edges, uses against them; a node changes a few times at most.
void ValueFlow::settle() {
  std::vector<std::vector<uint32_t>> next(sources_.size());
  std::vector<std::vector<uint32_t>> previous(sources_.size());
  for (const Edge& edge : edges_) {
    next[edge.from].push_back(edge.to);
    previous[edge.to].push_back(edge.from);
  }
  std::vector<uint32_t> work;
  for (uint32_t i = 0; i < sources_.size(); ++i)
    if (sources_[i].isMade || sources_[i].isMixed) work.push_back(i);
  while (!work.empty()) {
    const uint32_t from = work.back();
    work.pop_back();
    for (uint32_t to : next[from])
      if (add(sources_[to], sources_[from])) work.push_back(to);
  }
  for (uint32_t i = 0; i < escapes_.size(); ++i)
    if (escapes_[i]) work.push_back(i);
  while (!work.empty()) {
    const uint32_t to = work.back();
    work.pop_back();
    for (uint32_t from : previous[to]) {
      if (escapes_[from]) continue;
      escapes_[from] = true;
      work.push_back(from);
    }
  }
}

const ir::Construct* ValueFlow::madeData(Atom atom) const {
  if (!atom.isVar()) return nullptr;
  auto at = dataOf_.find(atom.var());
  return at == dataOf_.end() ? nullptr : &data_[at->second];
}

}  // namespace baton::passes
