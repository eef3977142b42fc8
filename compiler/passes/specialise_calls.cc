#include "compiler/passes/registry.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/captures.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/local_functions.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

/// What is known of one argument.
struct KnownArgument {
  enum class Kind : uint8_t { Nothing, Global, Constant, Local };
  Kind kind = Kind::Nothing;
  uint32_t id = 0;  ///< of the function, the constant or the template of the local function
  friend auto operator<=>(const KnownArgument&, const KnownArgument&) = default;
};
using Key = std::pair<uint32_t, std::vector<KnownArgument>>;

/// A local function as an argument, with what has to move with it.
struct Closure {
  std::vector<VarId> captures;      ///< local functions among them replaced by their captures
  std::vector<VarId> dependencies;  ///< local functions that it uses, in program order
};

/// Parameters that end up as the weight of an operator, by function.
class WeightParams {
 public:
  explicit WeightParams(const ir::Module& module);
  bool contains(GlobalId function, size_t param) const { return isWeight_[function.value()][param]; }
  void copy(const std::vector<bool>& flags) { isWeight_.push_back(flags); }

 private:
  std::vector<std::vector<bool>> isWeight_;
};

WeightParams::WeightParams(const ir::Module& module) {
  struct Flow {
    GlobalId caller;
    size_t param;
  };
  std::map<std::pair<uint32_t, size_t>, std::vector<Flow>> flows;  // by callee and its parameter
  std::vector<Flow> work;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    isWeight_.emplace_back(function.params.size(), false);
    auto paramOf = [&](const Atom& atom) -> std::optional<size_t> {
      if (!atom.isVar()) return std::nullopt;
      auto at = std::find(function.params.begin(), function.params.end(), atom.var());
      if (at == function.params.end()) return std::nullopt;
      return static_cast<size_t>(at - function.params.begin());
    };
    for (BlockId id : ir::blocksInOrder(function, function.body))
      for (const ir::Binding& binding : function.block(id).bindings) {
        if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
          for (size_t k = 0; k < call->args.size() && k < call->op->inputs.size(); ++k)
            if (call->op->inputs[k].name == "weight")
              if (std::optional<size_t> param = paramOf(call->args[k])) work.push_back({GlobalId(i), *param});
        } else if (const auto* direct = std::get_if<ir::CallGlobal>(&binding.rhs)) {
          for (size_t k = 0; k < direct->args.size(); ++k)
            if (std::optional<size_t> param = paramOf(direct->args[k]))
              flows[{direct->callee.value(), k}].push_back({GlobalId(i), *param});
        }
      }
  }
  while (!work.empty()) {
    const Flow flow = work.back();
    work.pop_back();
    if (isWeight_[flow.caller.value()][flow.param]) continue;
    isWeight_[flow.caller.value()][flow.param] = true;
    auto at = flows.find({flow.caller.value(), flow.param});
    if (at != flows.end()) work.insert(work.end(), at->second.begin(), at->second.end());
  }
}

class CallSpecialiser {
 public:
  CallSpecialiser(ir::Module& module, PassContext& context)
      : module_(module),
        context_(context),
        maxCopies_(context.option("max-copies")),
        names_(module),
        weights_(module) {}
  void run();

 private:
  void specialiseIn(GlobalId caller);
  KnownArgument knownArgument(GlobalId caller, const LocalFunctions& locals, GlobalId callee, size_t index,
                              const Atom& argument);
  std::optional<GlobalId> copyFor(GlobalId caller, const ir::CallGlobal& call,
                                  const std::vector<KnownArgument>& known, const LocalFunctions& locals,
                                  const std::unordered_map<VarId, Closure>& closures);

  ir::Module& module_;
  PassContext& context_;
  size_t maxCopies_;
  FunctionNames names_;
  WeightParams weights_;
  std::map<Key, GlobalId> copies_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> templates_;  // by function and variable
  uint32_t templateCount_ = 0;
  std::vector<GlobalId> work_;
};

KnownArgument CallSpecialiser::knownArgument(GlobalId caller, const LocalFunctions& locals, GlobalId callee,
                                             size_t index, const Atom& argument) {
  const ir::Function& function = module_.function(callee);
  if (function.var(function.params[index]).type->isFunction()) {
    if (argument.isGlobal()) return {KnownArgument::Kind::Global, argument.global().value()};
    if (argument.isVar() && locals.find(argument.var()) != nullptr) {
      auto [at, isNew] = templates_.try_emplace({caller.value(), argument.var().value()}, templateCount_);
      if (isNew) ++templateCount_;
      return {KnownArgument::Kind::Local, at->second};
    }
  } else if (argument.isConstant() && weights_.contains(callee, index) &&
             !module_.constant(argument.constant()).shape.empty()) {
    return {KnownArgument::Kind::Constant, argument.constant().value()};
  }
  return {};
}

/// The copy of the callee in which known arguments are built in. Captures of local functions
/// are its first parameters.
std::optional<GlobalId> CallSpecialiser::copyFor(GlobalId caller, const ir::CallGlobal& call,
                                                 const std::vector<KnownArgument>& known,
                                                 const LocalFunctions& locals,
                                                 const std::unordered_map<VarId, Closure>& closures) {
  const Key key{call.callee.value(), known};
  if (auto at = copies_.find(key); at != copies_.end()) return at->second;
  if (copies_.size() >= maxCopies_) return std::nullopt;

  const ir::Function& from = module_.function(caller);
  const ir::Function& callee = module_.function(call.callee);
  const GlobalId id(static_cast<uint32_t>(module_.functions.size()));
  ir::Function copy;
  copy.name = names_.fresh(callee.name);
  copy.attrs = callee.attrs;
  copy.doc = callee.doc;
  copy.location = callee.location;

  // Local functions move from the caller, with symbols of their own.
  FreshSymbols callerSymbols(module_.dimSymbols);
  DimRewriter callerRename(module_.types, [&](DimSymbol symbol) { return callerSymbols(symbol); });
  Cloner mover(module_, from, copy);
  mover.setDims(&callerRename);
  std::vector<ir::Binding> prologue;
  std::unordered_set<VarId> moved;
  auto moveCaptures = [&](const Closure& closure) {
    for (VarId capture : closure.captures)
      if (moved.insert(capture).second) copy.params.push_back(mover.bind(capture));
  };
  auto move = [&](VarId var) {
    if (!moved.insert(var).second) return;
    const LocalFunction& local = *locals.find(var);
    const ir::Binding& binding = from.block(local.block).bindings[local.index];
    ir::Lambda lambda = std::get<ir::Lambda>(binding.rhs);
    const VarId fresh = mover.bind(var);
    for (VarId& param : lambda.params) param = mover.bind(param);
    lambda.body = mover.clone(lambda.body);
    prologue.push_back({fresh, std::move(lambda), binding.location, {}});
    auto at = templates_.find({caller.value(), var.value()});
    if (at == templates_.end())
      at = templates_.emplace(std::pair{caller.value(), var.value()}, templateCount_++).first;
    templates_.emplace(std::pair{id.value(), fresh.value()}, at->second);
  };

  FreshSymbols symbols(module_.dimSymbols);
  DimRewriter rename(module_.types, [&](DimSymbol symbol) { return symbols(symbol); });
  Cloner cloner(module_, callee, copy);
  cloner.setDims(&rename);
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i].kind == KnownArgument::Kind::Local) moveCaptures(closures.at(call.args[i].var()));
  for (size_t i = 0; i < known.size(); ++i) {
    const VarId param = callee.params[i];
    switch (known[i].kind) {
      case KnownArgument::Kind::Nothing: break;
      case KnownArgument::Kind::Global: cloner.mapVar(param, call.args[i]); break;
      case KnownArgument::Kind::Local: {
        const VarId var = call.args[i].var();
        for (VarId dependency : closures.at(var).dependencies) move(dependency);
        move(var);
        cloner.mapVar(param, mover.map(var));
        break;
      }
      case KnownArgument::Kind::Constant: {
        const ir::Constant& constant = module_.constant(call.args[i].constant());
        const ir::TypeRef type = callee.var(param).type;
        for (size_t axis = 0; axis < type->dims().size(); ++axis)
          if (auto symbol = type->dims()[axis].asSymbol())
            symbols.set(*symbol, DimExpr::constant(constant.shape[axis]));
        cloner.mapVar(param, call.args[i]);
        break;
      }
    }
  }
  std::vector<bool> weightFlags(copy.params.size(), false);
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i].kind == KnownArgument::Kind::Nothing) {
      copy.params.push_back(cloner.bind(callee.params[i]));
      weightFlags.push_back(weights_.contains(call.callee, i));
    }
  copy.body = cloner.clone(callee.body);
  std::vector<ir::Binding>& bindings = copy.block(copy.body).bindings;
  bindings.insert(bindings.begin(), std::make_move_iterator(prologue.begin()),
                  std::make_move_iterator(prologue.end()));
  copy.result = rename.type(callee.result);
  copy.where = callee.where;
  rename.apply(copy.where);
  weights_.copy(weightFlags);
  module_.functions.push_back(std::move(copy));
  copies_.emplace(key, id);
  context_.count("copies of functions");
  work_.push_back(id);
  return id;
}

void CallSpecialiser::specialiseIn(GlobalId caller) {
  const LocalFunctions locals(module_.function(caller));
  const Captures captures(module_.function(caller), locals);
  std::unordered_map<VarId, Closure> closures;
  for (const LocalFunction& local : locals.all()) {
    Closure closure;
    const ir::Function& function = module_.function(caller);
    const auto& lambda = std::get<ir::Lambda>(function.block(local.block).bindings[local.index].rhs);
    for (VarId var : ir::freeVariables(function, lambda)) {
      auto at = closures.find(var);
      if (at == closures.end() || var == local.var) continue;
      for (VarId inner : at->second.dependencies)
        if (std::find(closure.dependencies.begin(), closure.dependencies.end(), inner) ==
            closure.dependencies.end())
          closure.dependencies.push_back(inner);
      closure.dependencies.push_back(var);
    }
    closure.captures = captures.of(local, [&](VarId var) -> const std::vector<VarId>* {
      auto at = closures.find(var);
      return at == closures.end() ? nullptr : &at->second.captures;
    });
    closures.emplace(local.var, std::move(closure));
  }

  const std::vector<BlockId> order =
      ir::blocksInOrder(module_.function(caller), module_.function(caller).body);
  for (BlockId block : order)
    for (size_t i = 0; i < module_.function(caller).block(block).bindings.size(); ++i) {
      const auto* found = std::get_if<ir::CallGlobal>(&module_.function(caller).block(block).bindings[i].rhs);
      if (found == nullptr) continue;
      const ir::CallGlobal call = *found;
      std::vector<KnownArgument> known;
      bool isAny = false;
      for (size_t k = 0; k < call.args.size(); ++k) {
        known.push_back(knownArgument(caller, locals, call.callee, k, call.args[k]));
        isAny = isAny || known.back().kind != KnownArgument::Kind::Nothing;
      }
      if (!isAny) continue;
      const std::optional<GlobalId> copy = copyFor(caller, call, known, locals, closures);
      if (!copy) continue;
      ir::CallGlobal direct{*copy, {}};
      std::unordered_set<VarId> passed;
      for (size_t k = 0; k < known.size(); ++k)
        if (known[k].kind == KnownArgument::Kind::Local)
          for (VarId capture : closures.at(call.args[k].var()).captures)
            if (passed.insert(capture).second) direct.args.push_back(capture);
      for (size_t k = 0; k < known.size(); ++k)
        if (known[k].kind == KnownArgument::Kind::Nothing) direct.args.push_back(call.args[k]);
      if (direct.args.size() != module_.function(*copy).params.size()) continue;
      module_.function(caller).block(block).bindings[i].rhs = std::move(direct);
    }
}

void CallSpecialiser::run() {
  for (uint32_t i = 0; i < module_.functions.size(); ++i) work_.push_back(GlobalId(i));
  std::reverse(work_.begin(), work_.end());
  while (!work_.empty()) {
    const GlobalId id = work_.back();
    work_.pop_back();
    specialiseIn(id);
  }
}

Result<void> specialiseCalls(ir::Module& module, PassContext& context) {
  CallSpecialiser(module, context).run();
  return success();
}

constexpr PassOption kSpecialiseCallsOptions[] = {
    {"max-copies", 256, "copies of functions, in all"},
};

}  // namespace

constinit const PassInfo kSpecialiseCallsPass{
    .name = "specialise-calls",
    .summary = "copies of functions for known functions and weights as arguments",
    .documentation =
        R"(Copies a function for what is known of a call's arguments: functions (of the module, or local ones, which move into the copy with their captures as parameters) and constants that reach a weight operand. Calls that are alike share a copy, so the recursive call inside `map` is of the copy itself. The functions of the prelude become direct code this way, and weights are built in through any depth of calls.)",
    .level = 3,
    .options = kSpecialiseCallsOptions,
    .run = specialiseCalls,
};

}  // namespace baton::passes
