#include "compiler/passes/registry.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/attr_dims.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/fusion_groups.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

/// By symbol: the variable that gives it its value wherever it is in scope.
using SymbolGivers = std::unordered_map<DimSymbol, VarId>;

SymbolGivers giversOf(const ir::Function& function, const eval::SymbolBinders& binders) {
  SymbolGivers givers;
  for (uint32_t v = 0; v < function.vars.size(); ++v)
    if (function.vars[v].type->isTensor())
      for (DimSymbol symbol : binders.boundBy(VarId(v)))
        if (binders.count(symbol) == 1) givers.emplace(symbol, VarId(v));
  return givers;
}

/// Makes the function of one group.
class Outliner {
 public:
  Outliner(ir::Module& module, const ir::Function& function, const SymbolGivers& givers,
           const ir::Block& block, const FusionGroup& group)
      : module_(module), function_(function), givers_(givers), block_(block), group_(group) {}

  /// Nothing when an extent inside could not be known to the kernel.
  std::optional<ir::Function> build();
  const std::vector<Atom>& arguments() const { return arguments_; }

 private:
  void collectArguments();
  void addArgument(const Atom& arg, bool decidesShape);
  bool tells(const DimExpr& expr) const;
  bool collectGivers();
  DimExpr general(const DimExpr& expr);
  ir::TypeRef general(ir::TypeRef type);
  ir::VarInfo generalInfo(const std::string& name, ir::TypeRef type) {
    return {.name = name, .type = general(type)};
  }
  std::string nameOfGroup() const;

  ir::Module& module_;
  const ir::Function& function_;
  const SymbolGivers& givers_;
  const ir::Block& block_;
  const FusionGroup& group_;
  std::vector<Atom> arguments_;
  std::vector<bool> decidesShape_;  // by argument
  std::unordered_map<VarId, Atom> map_;
  std::unordered_set<DimSymbol> plain_;                 // symbols that an argument gives
  std::unordered_map<DimSymbol, DimSymbol> symbols_;    // of the caller: of the group
  std::vector<std::pair<DimExpr, DimSymbol>> general_;  // other extents, as symbols of their own
};

/// Operands from outside, each once. Single numbers stay constants inside.
void Outliner::collectArguments() {
  std::unordered_set<VarId> inside;
  for (uint32_t member : group_.members) {
    const ir::Binding& binding = block_.bindings[member];
    inside.insert(binding.var);
    const auto* call = std::get_if<ir::CallOp>(&binding.rhs);
    if (call == nullptr) continue;
    for (size_t i = 0; i < call->args.size(); ++i) {
      const Atom& arg = call->args[i];
      if (arg.isVar() && inside.contains(arg.var())) continue;
      if (arg.isConstant() && module_.constant(arg.constant()).shape.empty() &&
          !module_.constant(arg.constant()).isExternal())
        continue;
      addArgument(arg, i < 32 && (call->op->valueInputs >> i & 1U) != 0);
    }
  }
  for (size_t i = 0; i < arguments_.size(); ++i) {
    for (const DimExpr& dim : module_.typeOf(function_, arguments_[i])->dims())
      if (auto symbol = dim.asSymbol()) plain_.insert(*symbol);
    if (!decidesShape_[i] || !arguments_[i].isVar()) continue;
    if (const auto& elements = function_.var(arguments_[i].var()).valueDims)
      for (const DimExpr& element : *elements)
        if (auto symbol = element.asSymbol()) plain_.insert(*symbol);
  }
}

void Outliner::addArgument(const Atom& arg, bool decidesShape) {
  const size_t at =
      static_cast<size_t>(std::find(arguments_.begin(), arguments_.end(), arg) - arguments_.begin());
  if (at == arguments_.size()) {
    arguments_.push_back(arg);
    decidesShape_.push_back(false);
  }
  if (decidesShape) decidesShape_[at] = true;
}

/// Whether the arguments say what the expression is.
bool Outliner::tells(const DimExpr& expr) const {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  if (std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol symbol) { return plain_.contains(symbol); }))
    return true;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const auto dims = module_.typeOf(function_, arguments_[i])->dims();
    if (std::find(dims.begin(), dims.end(), expr) != dims.end()) return true;
    if (!decidesShape_[i] || !arguments_[i].isVar()) continue;
    const auto& elements = function_.var(arguments_[i].var()).valueDims;
    if (elements && std::find(elements->begin(), elements->end(), expr) != elements->end()) return true;
  }
  return false;
}

/// An extent that an attribute names must be known before there is a result that has it: what gives the
/// symbols that no operand does is an argument, too. False when nothing does.
bool Outliner::collectGivers() {
  bool isComplete = true;
  for (uint32_t member : group_.members) {
    const auto* call = std::get_if<ir::CallOp>(&block_.bindings[member].rhs);
    if (call == nullptr) continue;
    ir::forEachDim(call->attrs, [&](const DimExpr& dim) {
      if (tells(dim)) return;
      std::vector<DimSymbol> symbols;
      dim.collectSymbols(symbols);
      for (DimSymbol symbol : symbols) {
        if (plain_.contains(symbol)) continue;
        const auto giver = givers_.find(symbol);
        isComplete = isComplete && giver != givers_.end();
        if (giver == givers_.end()) continue;
        const ir::VarInfo& info = function_.var(giver->second);
        addArgument(giver->second, info.valueDims.has_value());
        eval::forEachPlainSymbol(info, [&](DimSymbol given) { plain_.insert(given); });
      }
    });
  }
  return isComplete;
}

/// An extent in symbols of the group: those that an argument has stand for themselves; any
/// other expression is a symbol as a whole.
DimExpr Outliner::general(const DimExpr& expr) {
  if (expr.isConstant()) return expr;
  std::vector<DimSymbol> inside;
  expr.collectSymbols(inside);
  if (std::all_of(inside.begin(), inside.end(), [&](DimSymbol symbol) { return plain_.contains(symbol); }))
    return expr.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
      auto [at, isNew] = symbols_.try_emplace(symbol);
      if (isNew)
        at->second = module_.dimSymbols.add(fmt::format("n{}", symbols_.size() + general_.size() - 1));
      return DimExpr::symbol(at->second);
    });
  for (const auto& [known, symbol] : general_)
    if (known == expr) return DimExpr::symbol(symbol);
  general_.emplace_back(expr, module_.dimSymbols.add(fmt::format("n{}", symbols_.size() + general_.size())));
  return DimExpr::symbol(general_.back().second);
}

ir::TypeRef Outliner::general(ir::TypeRef type) {
  return mapOwnTensors(module_.types, type, [&](ir::TypeRef tensor) -> ir::TypeRef {
    std::vector<DimExpr> dims;
    for (const DimExpr& dim : tensor->dims()) dims.push_back(general(dim));
    return module_.types.tensor(tensor->dtype(), std::move(dims));
  });
}

std::string Outliner::nameOfGroup() const {
  std::string name = "fused";
  size_t count = 0;
  for (uint32_t member : group_.members) {
    const auto* call = std::get_if<ir::CallOp>(&block_.bindings[member].rhs);
    if (call == nullptr) continue;
    if (++count > 4) return name + "_etc";
    std::string op(call->op->name);
    std::replace(op.begin(), op.end(), '.', '_');
    name += "_" + op;
  }
  return name;
}

std::optional<ir::Function> Outliner::build() {
  collectArguments();
  if (!collectGivers()) return std::nullopt;
  ir::Function fused;
  fused.attrs.set(ir::kFusionGroupAttr, int64_t{1});
  fused.location = block_.bindings[group_.members.back()].location;
  std::unordered_map<DimSymbol, size_t> known;  // symbols that operands and results tell: before which member
  auto learn = [&](const ir::VarInfo& info, size_t member) {
    eval::forEachPlainSymbol(info, [&](DimSymbol symbol) { known.try_emplace(symbol, member); });
  };
  for (size_t i = 0; i < arguments_.size(); ++i) {
    ir::VarInfo info = generalInfo(fmt::format("p{}", i), module_.typeOf(function_, arguments_[i]));
    if (decidesShape_[i] && arguments_[i].isVar() && function_.var(arguments_[i].var()).valueDims) {
      info.valueDims.emplace();
      for (const DimExpr& element : *function_.var(arguments_[i].var()).valueDims)
        info.valueDims->push_back(general(element));
    }
    learn(info, 0);
    fused.params.push_back(fused.addVar(std::move(info)));
    if (arguments_[i].isVar()) map_.emplace(arguments_[i].var(), fused.params.back());
  }
  auto mapped = [&](const Atom& atom) -> Atom {
    if (atom.isVar()) return map_.at(atom.var());
    const auto at = std::find(arguments_.begin(), arguments_.end(), atom);
    return at == arguments_.end() ? atom : Atom(fused.params[static_cast<size_t>(at - arguments_.begin())]);
  };
  fused.body = fused.addBlock();
  for (uint32_t member : group_.members) {
    const ir::Binding& binding = block_.bindings[member];
    const ir::VarInfo& original = function_.var(binding.var);
    ir::VarInfo info = generalInfo(fmt::format("t{}", member - group_.members.front()), original.type);
    ir::Rhs rhs = binding.rhs;
    ir::forEachOperand(rhs, [&](Atom& atom) { atom = mapped(atom); });
    if (auto* call = std::get_if<ir::CallOp>(&rhs))
      ir::mapDims(call->attrs, [&](const DimExpr& dim) { return general(dim); });
    const VarId var = fused.addVar(std::move(info));
    map_.emplace(binding.var, var);
    if (std::find(group_.outputs.begin(), group_.outputs.end(), binding.var) != group_.outputs.end())
      learn(fused.var(var), fused.block(fused.body).bindings.size() + 1);
    fused.block(fused.body).bindings.push_back({var, std::move(rhs), binding.location, {}});
  }
  for (const auto& [expr, symbol] : general_)
    if (!known.contains(symbol)) return std::nullopt;
  // What the caller has checked may be relied on.
  for (size_t i = 0; i < group_.members.size(); ++i)
    for (const ir::Obligation& obligation : block_.bindings[group_.members[i]].obligations) {
      ir::Obligation fact{
          general(obligation.lhs), obligation.relation, general(obligation.rhs), obligation.message, {}};
      std::vector<DimSymbol> symbols;
      fact.lhs.collectSymbols(symbols);
      fact.rhs.collectSymbols(symbols);
      if (std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol symbol) {
            const auto at = known.find(symbol);
            return at != known.end() && at->second <= i;
          }))
        fused.block(fused.body).bindings[i].obligations.push_back(std::move(fact));
    }
  if (group_.outputs.size() == 1) {
    const VarId result = map_.at(group_.outputs[0]).var();
    fused.block(fused.body).result = result;
    fused.result = fused.var(result).type;
  } else {
    std::vector<Atom> elements;
    std::vector<ir::TypeRef> types;
    for (VarId output : group_.outputs) {
      elements.push_back(map_.at(output));
      types.push_back(fused.var(map_.at(output).var()).type);
    }
    fused.result = module_.types.tuple(std::move(types));
    const VarId result = append(fused, fused.body, {.name = "results", .type = fused.result},
                                ir::MakeTuple{std::move(elements)}, fused.location);
    fused.block(fused.body).result = result;
  }
  fused.name = nameOfGroup();
  return fused;
}

class Fuser {
 public:
  Fuser(ir::Module& module, GlobalId id, FunctionNames& names, size_t maxOps)
      : module_(module), id_(id), names_(names), maxOps_(maxOps) {}

  void run() {
    const auto uses = variableUses(function());
    const eval::SymbolBinders binders(function());
    givers_ = giversOf(function(), binders);
    for (BlockId block : ir::blocksInOrder(function(), function().body)) {
      // A group that cannot be made leaves its members where they are, and others counted on
      // it: the groups are looked for again without it.
      std::unordered_set<uint32_t> excluded;
      while (!tryBlock(block, findGroups(module_, function(), block, uses, binders, excluded, maxOps_),
                       excluded)) {
      }
    }
  }

 private:
  ir::Function& function() { return module_.function(id_); }
  /// False when groups could not be made; their members are excluded then.
  bool tryBlock(BlockId block, const std::vector<FusionGroup>& groups,
                std::unordered_set<uint32_t>& excluded);

  ir::Module& module_;
  GlobalId id_;
  FunctionNames& names_;
  SymbolGivers givers_;
  size_t maxOps_;
};

bool Fuser::tryBlock(BlockId blockId, const std::vector<FusionGroup>& groups,
                     std::unordered_set<uint32_t>& excluded) {
  if (groups.empty()) return true;
  struct Call {
    ir::CallGlobal call;
    const FusionGroup* group;
  };
  std::map<uint32_t, Call> calls;  // by last member
  std::unordered_set<uint32_t> inside;
  std::vector<ir::Function> made;
  bool isComplete = true;
  for (const FusionGroup& group : groups) {
    Outliner outliner(module_, function(), givers_, function().block(blockId), group);
    std::optional<ir::Function> fused = outliner.build();
    if (!fused) {
      excluded.insert(group.members.begin(), group.members.end());
      isComplete = false;
    }
    if (!isComplete) continue;
    const GlobalId callee(static_cast<uint32_t>(module_.functions.size() + made.size()));
    calls.emplace(group.members.back(), Call{{callee, outliner.arguments()}, &group});
    inside.insert(group.members.begin(), group.members.end());
    made.push_back(std::move(*fused));
  }
  if (!isComplete) return false;
  for (ir::Function& fused : made) {
    fused.name = names_.fresh(fused.name);
    module_.functions.push_back(std::move(fused));
  }
  std::vector<ir::Binding> bindings = std::move(function().block(blockId).bindings);
  std::vector<ir::Binding> done;
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    ir::Binding& binding = bindings[i];
    if (!inside.contains(i)) {
      done.push_back(std::move(binding));
      continue;
    }
    if (!binding.obligations.empty()) done.push_back(checkOf(module_, function(), binding));
    auto at = calls.find(i);
    if (at == calls.end()) continue;
    const std::vector<VarId>& outputs = at->second.group->outputs;
    if (outputs.size() == 1) {
      done.push_back({outputs[0], std::move(at->second.call), binding.location, {}});
      continue;
    }
    std::vector<ir::TypeRef> types;
    for (VarId output : outputs) types.push_back(function().var(output).type);
    const VarId tuple = function().addVar({.name = "fused", .type = module_.types.tuple(std::move(types))});
    done.push_back({tuple, std::move(at->second.call), binding.location, {}});
    for (uint32_t k = 0; k < outputs.size(); ++k)
      done.push_back({outputs[k], ir::Project{tuple, k}, binding.location, {}});
  }
  function().block(blockId).bindings = std::move(done);
  return true;
}

Result<void> fuse(ir::Module& module, PassContext& context) {
  FunctionNames names(module);
  const uint32_t count = static_cast<uint32_t>(module.functions.size());
  for (uint32_t i = 0; i < count; ++i)
    if (!isFusionGroup(module.functions[i]))
      Fuser(module, GlobalId(i), names, context.option("max-operators")).run();
  return success();
}

constexpr PassOption kFuseOptions[] = {
    {"max-operators", 256, "operators of one group"},
};

}  // namespace

constinit const PassInfo kFusePass{
    .name = "fuse",
    .summary = "chains of operators become one kernel each",
    .documentation =
        R"(Makes one kernel of a chain of operators: a function with attribute `Primitive`, one block, whose types are in symbols of its own. Bindings of a block are looked at from the last to the first; each joins the group that uses it if it can. A group stands where its last member stood.

* Elementwise, broadcasting and injective operators join any consumer but a matrix product. One that is dear (`exp`, a division) does not join where its elements would be computed more often than there are of them; what is computed once per row is not.
* A reduction joins elementwise operators of its shape, or a group that it is broadcast back into along rows (as in a layer norm), together with other reductions of such rows.
* A matrix product joins elementwise operators of its shape, as their epilogue. Its operands are read from memory.
* A value that is also used elsewhere becomes a further result, if it has the shape of the group and everything outside that uses it comes later.
* `split` and its projections go together.
* Operators without a kernel (`ops/direct.h`: scalar arithmetic, views, shape arithmetic) and operators that find out an extent stay outside; scalars that they compute are scalar parameters.
* Extents that attributes name come in with what has them, which is a parameter even where nothing reads its elements.
* Checks stay where they were, before the group, and are repeated inside as facts.

The bits are those of the operators one by one.)",
    .level = 2,
    .requires_ = Property::Legal | Property::FlatMatches | Property::Joins | Property::Lifted,
    .establishes = Property::Fused,
    .options = kFuseOptions,
    .run = fuse,
};

}  // namespace baton::passes
