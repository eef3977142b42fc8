#include "compiler/passes/edit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "compiler/ir/walk.h"

namespace baton::passes {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

std::vector<uint32_t> useCounts(const ir::Function& function) {
  std::vector<uint32_t> counts(function.vars.size(), 0);
  auto use = [&](const Atom& atom) {
    if (atom.isVar()) ++counts[atom.var().value()];
  };
  for (BlockId id : ir::blocksInOrder(function, function.body)) {
    const ir::Block& block = function.block(id);
    for (const ir::Binding& binding : block.bindings) {
      ir::forEachOperand(binding.rhs, use);
      if (const auto* jump = std::get_if<ir::CallJoin>(&binding.rhs)) ++counts[jump->join.value()];
    }
    use(block.result);
  }
  return counts;
}

void Substitution::set(VarId var, Atom atom) {
  if (map_.size() <= var.value()) map_.resize(var.value() + 1);
  map_[var.value()] = atom;
  isEmpty_ = false;
}

Atom Substitution::resolve(Atom atom) {
  Atom end = atom;
  while (end.isVar() && end.var().value() < map_.size() && map_[end.var().value()])
    end = *map_[end.var().value()];
  // Shorten the chain, so that long ones are followed once.
  while (atom.isVar() && atom != end && map_[atom.var().value()])
    atom = std::exchange(*map_[atom.var().value()], end);
  return end;
}

void Substitution::apply(ir::Rhs& rhs) {
  ir::forEachOperand(rhs, [&](Atom& atom) { atom = resolve(atom); });
  if (auto* jump = std::get_if<ir::CallJoin>(&rhs)) {
    const Atom join = resolve(jump->join);
    BATON_DCHECK(join.isVar());
    jump->join = join.var();
  }
}

void Substitution::apply(ir::Function& function) {
  if (isEmpty_) return;
  for (BlockId id : ir::blocksInOrder(function, function.body)) {
    ir::Block& block = function.block(id);
    for (ir::Binding& binding : block.bindings) apply(binding.rhs);
    block.result = resolve(block.result);
  }
}

Cloner::Cloner(ir::Module& module, const ir::Function& from, ir::Function& to)
    : module_(module), from_(from), to_(to) {}

void Cloner::mapVar(VarId var, Atom atom) { vars_.insert_or_assign(var, atom); }

Atom Cloner::map(Atom atom) const {
  if (!atom.isVar()) return atom;
  auto at = vars_.find(atom.var());
  return at == vars_.end() ? atom : at->second;
}

VarId Cloner::bind(VarId var) {
  ir::VarInfo info = from_.var(var);
  if (dims_ != nullptr) dims_->apply(info);
  const VarId copy = to_.addVar(std::move(info));
  mapVar(var, copy);
  return copy;
}

ir::PatternId Cloner::clonePattern(ir::PatternId root) {
  // Children before parents: patterns in pre-order, copied from the back.
  std::vector<ir::PatternId> order{root};
  for (size_t i = 0; i < order.size(); ++i)
    for (ir::PatternId child : from_.pattern(order[i]).children) order.push_back(child);
  std::unordered_map<ir::PatternId, ir::PatternId> copies;
  for (size_t i = order.size(); i-- > 0;) {
    ir::Pattern copy = from_.pattern(order[i]);
    if (copy.kind == ir::Pattern::Kind::Var) copy.var = bind(copy.var);
    for (ir::PatternId& child : copy.children) child = copies.at(child);
    copies.emplace(order[i], to_.addPattern(std::move(copy)));
  }
  return copies.at(root);
}

void Cloner::mapInside(ir::Rhs& rhs) {
  ir::forEachOperand(rhs, [&](Atom& atom) { atom = map(atom); });
  if (auto* jump = std::get_if<ir::CallJoin>(&rhs)) {
    const Atom join = map(jump->join);
    BATON_DCHECK(join.isVar());
    jump->join = join.var();
  } else if (auto* branch = std::get_if<ir::If>(&rhs)) {
    branch->thenBlock = blocks_.at(branch->thenBlock);
    branch->elseBlock = blocks_.at(branch->elseBlock);
  } else if (auto* match = std::get_if<ir::Match>(&rhs)) {
    for (ir::Clause& clause : match->clauses) {
      clause.pattern = clonePattern(clause.pattern);
      clause.block = blocks_.at(clause.block);
    }
  } else if (auto* lambda = std::get_if<ir::Lambda>(&rhs)) {
    for (VarId& param : lambda->params) param = bind(param);
    lambda->body = blocks_.at(lambda->body);
  } else if (auto* nested = std::get_if<ir::NestedBlock>(&rhs)) {
    nested->block = blocks_.at(nested->block);
  }
  if (dims_ != nullptr) dims_->apply(rhs);
}

BlockId Cloner::clone(BlockId root) {
  const std::vector<BlockId> order = ir::blocksInOrder(from_, root);
  for (BlockId id : order) blocks_.insert_or_assign(id, to_.addBlock());
  for (BlockId id : order) {
    ir::Block copy;
    const size_t count = from_.block(id).bindings.size();
    copy.bindings.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      ir::Binding binding = from_.block(id).bindings[i];
      const bool isLambda = std::holds_alternative<ir::Lambda>(binding.rhs);
      // A lambda sees its own variable; everything else is bound after its operands are read.
      if (isLambda) binding.var = bind(binding.var);
      mapInside(binding.rhs);
      if (!isLambda) binding.var = bind(binding.var);
      if (dims_ != nullptr) dims_->apply(binding.obligations);
      copy.bindings.push_back(std::move(binding));
    }
    copy.result = map(from_.block(id).result);
    to_.block(blocks_.at(id)) = std::move(copy);
  }
  return blocks_.at(root);
}

size_t sizeOf(const ir::Function& function) {
  const std::vector<ir::BlockId> blocks = ir::blocksInOrder(function, function.body);
  size_t size = blocks.size() - 1;
  for (ir::BlockId id : blocks) size += function.block(id).bindings.size();
  return size;
}

size_t indexOf(const ir::Block& block, VarId var) {
  const auto at = std::find_if(block.bindings.begin(), block.bindings.end(),
                               [&](const ir::Binding& binding) { return binding.var == var; });
  BATON_CHECK(at != block.bindings.end());
  return static_cast<size_t>(at - block.bindings.begin());
}

void insert(ir::Block& block, size_t index, std::vector<ir::Binding> bindings) {
  block.bindings.insert(block.bindings.begin() + static_cast<ptrdiff_t>(index),
                        std::make_move_iterator(bindings.begin()), std::make_move_iterator(bindings.end()));
}

ir::TypeRef functionType(ir::Module& module, const ir::Function& function, const std::vector<VarId>& params,
                         ir::TypeRef result) {
  std::vector<ir::TypeRef> types;
  for (VarId param : params) types.push_back(function.var(param).type);
  return module.types.function(std::move(types), result);
}

ir::Binding checkOf(ir::Module& module, ir::Function& function, ir::Binding& binding) {
  const ir::VarId check = function.addVar({.name = "check", .type = module.types.unit()});
  return {check, ir::MakeTuple{}, binding.location, std::exchange(binding.obligations, {})};
}

VarId append(ir::Function& function, BlockId block, ir::VarInfo info, ir::Rhs rhs, SourceLocation location) {
  const VarId var = function.addVar(std::move(info));
  function.block(block).bindings.push_back({var, std::move(rhs), location, {}});
  return var;
}

void compact(ir::Module& module, ir::Function& function) {
  ir::Function copy = function;
  copy.vars.clear();
  copy.blocks.clear();
  copy.patterns.clear();
  copy.operandLocations.clear();
  Cloner cloner(module, function, copy);
  for (VarId& param : copy.params) param = cloner.bind(param);
  copy.body = cloner.clone(function.body);
  function = std::move(copy);
}

FunctionNames::FunctionNames(const ir::Module& module) {
  for (const ir::Function& function : module.functions) fresh(function.name);
}

}  // namespace baton::passes
