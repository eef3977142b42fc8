#include "compiler/passes/registry.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
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

/// Local functions that are arguments, and those that they use: what has to move with them.
class Closures {
 public:
  Closures(const ir::Function& function, const LocalFunctions& locals);

  const LocalFunctions& locals() const { return locals_; }
  /// Local functions among them replaced by their captures.
  const std::vector<VarId>& captures(VarId var) const { return captures_.at(var); }
  /// The local function and those that it uses, directly or not, in program order.
  std::vector<VarId> withDependencies(VarId var) const;

 private:
  const LocalFunctions& locals_;
  std::unordered_map<VarId, std::vector<VarId>> captures_;
  std::unordered_map<VarId, std::vector<VarId>> uses_;  // local functions, directly
};

Closures::Closures(const ir::Function& function, const LocalFunctions& locals) : locals_(locals) {
  std::vector<bool> isArgument(locals.all().size(), false);
  bool isAny = false;
  for (BlockId id : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(id).bindings)
      if (const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs))
        for (const Atom& arg : call->args)
          if (const LocalFunction* local = arg.isVar() ? locals.find(arg.var()) : nullptr)
            isAny = isArgument[locals.indexOf(*local)] = true;
  if (!isAny) return;
  const Captures captures(function, locals);
  // Those that are used stand before those that use them.
  for (size_t i = locals.all().size(); i-- > 0;) {
    if (!isArgument[i]) continue;
    const LocalFunction& local = locals.all()[i];
    std::vector<VarId>& uses = uses_[local.var];
    for (VarId var : captures.freeVariables().of(lambdaOf(function, local)))
      if (const LocalFunction* used = locals.find(var); used != nullptr && var != local.var) {
        uses.push_back(var);
        isArgument[locals.indexOf(*used)] = true;
      }
  }
  for (size_t i = 0; i < locals.all().size(); ++i)
    if (isArgument[i])
      captures_.emplace(locals.all()[i].var,
                        captures.of(locals.all()[i], [&](VarId var) -> const std::vector<VarId>* {
                          auto at = captures_.find(var);
                          return at == captures_.end() ? nullptr : &at->second;
                        }));
}

std::vector<VarId> Closures::withDependencies(VarId var) const {
  std::vector<VarId> found{var};
  std::unordered_set<VarId> seen{var};
  for (size_t i = 0; i < found.size(); ++i)
    for (VarId used : uses_.at(found[i]))
      if (seen.insert(used).second) found.push_back(used);
  std::sort(found.begin(), found.end(), [&](VarId a, VarId b) {
    return locals_.indexOf(*locals_.find(a)) < locals_.indexOf(*locals_.find(b));
  });
  return found;
}

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
    std::unordered_map<VarId, size_t> params;
    for (size_t k = 0; k < function.params.size(); ++k) params.emplace(function.params[k], k);
    auto paramOf = [&](const Atom& atom) -> std::optional<size_t> {
      auto at = atom.isVar() ? params.find(atom.var()) : params.end();
      return at == params.end() ? std::nullopt : std::optional(at->second);
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
        room_(context.option("max-size")),
        names_(module),
        weights_(module) {}
  void run();

 private:
  /// A local function of a function, or of one that it is a copy of.
  using Literal = std::pair<uint32_t, uint32_t>;

  void specialiseIn(GlobalId caller);
  KnownArgument knownArgument(GlobalId caller, const LocalFunctions& locals, GlobalId callee, size_t index,
                              const Atom& argument);
  std::optional<GlobalId> copyFor(GlobalId caller, const ir::CallGlobal& call,
                                  const std::vector<KnownArgument>& known, const Closures& closures);
  Literal literalOf(GlobalId function, VarId var) const {
    auto at = literals_.find({function.value(), var.value()});
    return at == literals_.end() ? Literal{function.value(), var.value()} : at->second;
  }

  ir::Module& module_;
  PassContext& context_;
  size_t maxCopies_;
  size_t room_;                       // for further copies
  std::map<uint32_t, size_t> sizes_;  // by function that was to be copied
  FunctionNames names_;
  WeightParams weights_;
  std::map<Key, GlobalId> copies_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> templates_;  // by function and variable
  uint32_t templateCount_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, Literal> literals_;  // of local functions of copies
  /// By copy: the local functions that are built into it and into what they were found in. One
  /// that would be built in again, with another copy of itself inside, would be without end:
  /// functions that pass themselves ever larger functions.
  std::map<uint32_t, std::set<Literal>> builtIn_;
  std::vector<GlobalId> work_;
};

KnownArgument CallSpecialiser::knownArgument(GlobalId caller, const LocalFunctions& locals, GlobalId callee,
                                             size_t index, const Atom& argument) {
  const ir::Function& function = module_.function(callee);
  if (function.var(function.params[index]).type->isFunction()) {
    if (argument.isGlobal()) return {KnownArgument::Kind::Global, argument.global().value()};
    if (argument.isVar() && locals.find(argument.var()) != nullptr) {
      const std::pair key{caller.value(), argument.var().value()};
      if (!templates_.contains(key)) {
        auto inside = builtIn_.find(caller.value());
        if (inside != builtIn_.end() && inside->second.contains(literalOf(caller, argument.var()))) return {};
      }
      auto [at, isNew] = templates_.try_emplace(key, templateCount_);
      if (isNew) ++templateCount_;
      return {KnownArgument::Kind::Local, at->second};
    }
  } else if (argument.isConstant() && weights_.contains(callee, index) &&
             !module_.constant(argument.constant()).shape.empty()) {
    return {KnownArgument::Kind::Constant, argument.constant().value()};
  }
  return {};
}

template <class F>
void forEachLocalFunction(const ir::Function& function, BlockId root, const F& f) {
  for (BlockId id : ir::blocksInOrder(function, root))
    for (const ir::Binding& binding : function.block(id).bindings)
      if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs); lambda != nullptr && !lambda->isJoin)
        f(binding.var);
}

/// The copy of the callee in which known arguments are built in. Captures of local functions
/// are its first parameters.
std::optional<GlobalId> CallSpecialiser::copyFor(GlobalId caller, const ir::CallGlobal& call,
                                                 const std::vector<KnownArgument>& known,
                                                 const Closures& closures) {
  const Key key{call.callee.value(), known};
  if (auto at = copies_.find(key); at != copies_.end()) return at->second;
  auto [size, isNew] = sizes_.try_emplace(call.callee.value());
  if (isNew) size->second = sizeOf(module_.function(call.callee));
  if (copies_.size() >= maxCopies_ || size->second > room_) return std::nullopt;
  room_ -= size->second;

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
  auto moveCaptures = [&](const std::vector<VarId>& captures) {
    for (VarId capture : captures)
      if (moved.insert(capture).second) copy.params.push_back(mover.bind(capture));
  };
  std::set<Literal> builtIn;
  std::vector<VarId> inside;
  auto move = [&](VarId var) {
    if (!moved.insert(var).second) return;
    const LocalFunction& local = *closures.locals().find(var);
    const ir::Binding& binding = from.block(local.block).bindings[local.index];
    ir::Lambda lambda = std::get<ir::Lambda>(binding.rhs);
    const VarId fresh = mover.bind(var);
    for (VarId& param : lambda.params) param = mover.bind(param);
    forEachLocalFunction(from, lambda.body, [&](VarId inner) { inside.push_back(inner); });
    lambda.body = mover.clone(lambda.body);
    for (VarId inner : inside)
      literals_.emplace(std::pair{id.value(), mover.map(inner).var().value()}, literalOf(caller, inner));
    inside.clear();
    literals_.emplace(std::pair{id.value(), fresh.value()}, literalOf(caller, var));
    builtIn.insert(literalOf(caller, var));
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
    if (known[i].kind == KnownArgument::Kind::Local) moveCaptures(closures.captures(call.args[i].var()));
  for (size_t i = 0; i < known.size(); ++i) {
    const VarId param = callee.params[i];
    switch (known[i].kind) {
      case KnownArgument::Kind::Nothing: break;
      case KnownArgument::Kind::Global: cloner.mapVar(param, call.args[i]); break;
      case KnownArgument::Kind::Local: {
        const VarId var = call.args[i].var();
        for (VarId each : closures.withDependencies(var)) move(each);
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
  forEachLocalFunction(callee, callee.body, [&](VarId inner) {
    literals_.emplace(std::pair{id.value(), cloner.map(inner).var().value()}, literalOf(call.callee, inner));
  });
  if (!builtIn.empty()) {
    if (auto outer = builtIn_.find(caller.value()); outer != builtIn_.end())
      builtIn.insert(outer->second.begin(), outer->second.end());
    builtIn_.emplace(id.value(), std::move(builtIn));
  }
  insert(copy.block(copy.body), 0, std::move(prologue));
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
  const Closures closures(module_.function(caller), locals);
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
      const std::optional<GlobalId> copy = copyFor(caller, call, known, closures);
      if (!copy) continue;
      ir::CallGlobal direct{*copy, {}};
      std::unordered_set<VarId> passed;
      for (size_t k = 0; k < known.size(); ++k)
        if (known[k].kind == KnownArgument::Kind::Local)
          for (VarId capture : closures.captures(call.args[k].var()))
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
    {"max-size", 100000, "bindings and branches of the functions that are copied, in all"},
};

}  // namespace

constinit const PassInfo kSpecialiseCallsPass{
    .name = "specialise-calls",
    .summary = "copies of functions for known functions and weights as arguments",
    .documentation =
        R"(Copies a function for what is known of a call's arguments: functions (of the module, or local ones, which move into the copy with their captures as parameters) and constants that reach a weight operand. Calls that are alike share a copy, so the recursive call inside `map` is of the copy itself. A local function is not built into a copy that it is built into already, with another copy of itself inside: functions that pass themselves ever larger functions (continuations) stay calls of closures from there on. The functions of the prelude become direct code this way, and weights are built in through any depth of calls.)",
    .level = 3,
    .options = kSpecialiseCallsOptions,
    .run = specialiseCalls,
};

}  // namespace baton::passes
