// Known arguments: a parameter that gets the same constant or function at every call is that
// constant, and an extent that is the same number at every call is that number.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/passes/call_graph.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

/// A parameter, or an extent of one, and what is known of it: nothing was passed yet, always the
/// same, or this and that. It only ever goes from the first to the last.
template <class T>
struct Passed {
  enum class State : uint8_t { Nothing, Same, Various };
  State state = State::Nothing;
  T value{};
  std::vector<uint32_t> users;  ///< those that get it passed on

  /// Whether this changed anything.
  bool add(const T& other) {
    if (state == State::Various || (state == State::Same && value == other)) return false;
    state = state == State::Nothing ? State::Same : State::Various;
    value = other;
    return true;
  }
  bool spoil() { return std::exchange(state, State::Various) != State::Various; }
  bool isSame() const { return state == State::Same; }
};

class ArgumentPropagator {
 public:
  ArgumentPropagator(ir::Module& module, PassContext& context)
      : module_(module), context_(context), graph_(module), own_(module.functions.size()) {}
  void run() {
    addParams();
    for (uint32_t i = 0; i < module_.functions.size(); ++i) lookAtCalls(GlobalId(i));
    settle(params_);
    settle(extents_);
    for (uint32_t i = 0; i < module_.functions.size(); ++i) apply(GlobalId(i));
    dropArguments();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Own {
    std::vector<uint32_t> params;                      // by position, into params_; kNone: not looked at
    std::unordered_map<VarId, uint32_t> byVar;         // into params_
    std::unordered_map<DimSymbol, uint32_t> bySymbol;  // into extents_
    std::vector<bool> dropped;                         // by position
  };

  void addParams();
  void lookAtCalls(GlobalId caller);
  void passExtents(GlobalId caller, GlobalId callee, size_t position, ir::TypeRef actual);
  template <class T>
  void settle(std::vector<Passed<T>>& all);
  void apply(GlobalId id);
  void dropArguments();

  ir::Module& module_;
  PassContext& context_;
  CallGraph graph_;
  std::vector<Own> own_;
  std::vector<Passed<Atom>> params_;
  std::vector<Passed<int64_t>> extents_;
};

/// Functions that are called from places that are all known.
void ArgumentPropagator::addParams() {
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& function = module_.functions[i];
    own_[i].dropped.assign(function.params.size(), false);
    own_[i].params.assign(function.params.size(), kNone);
    if (function.isExported || graph_.isValue[i] || graph_.directCalls[i] == 0 || isFusionGroup(function))
      continue;
    for (size_t k = 0; k < function.params.size(); ++k) {
      own_[i].params[k] = static_cast<uint32_t>(params_.size());
      own_[i].byVar.emplace(function.params[k], static_cast<uint32_t>(params_.size()));
      params_.emplace_back();
      const ir::TypeRef type = function.var(function.params[k]).type;
      if (!type->isTensor()) continue;
      for (const DimExpr& dim : type->dims())
        if (std::optional<DimSymbol> symbol = dim.asSymbol())
          if (own_[i].bySymbol.try_emplace(*symbol, static_cast<uint32_t>(extents_.size())).second)
            extents_.emplace_back();
    }
  }
}

void ArgumentPropagator::passExtents(GlobalId caller, GlobalId callee, size_t position, ir::TypeRef actual) {
  const ir::Function& function = module_.function(callee);
  const ir::TypeRef formal = function.var(function.params[position]).type;
  if (!formal->isTensor() || !actual->isTensor() || formal->rank() != actual->rank()) return;
  for (size_t axis = 0; axis < formal->dims().size(); ++axis) {
    const std::optional<DimSymbol> symbol = formal->dims()[axis].asSymbol();
    auto at = symbol ? own_[callee.value()].bySymbol.find(*symbol) : own_[callee.value()].bySymbol.end();
    if (at == own_[callee.value()].bySymbol.end()) continue;
    Passed<int64_t>& extent = extents_[at->second];
    const DimExpr& passed = actual->dims()[axis];
    if (const std::optional<int64_t> number = passed.asConstant()) {
      extent.add(*number);
      continue;
    }
    const std::optional<DimSymbol> own = passed.asSymbol();
    auto from = own ? own_[caller.value()].bySymbol.find(*own) : own_[caller.value()].bySymbol.end();
    if (from == own_[caller.value()].bySymbol.end())
      extent.spoil();
    else
      extents_[from->second].users.push_back(at->second);
  }
}

void ArgumentPropagator::lookAtCalls(GlobalId caller) {
  const ir::Function& function = module_.function(caller);
  const Definitions definitions(function);
  for (BlockId id : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(id).bindings) {
      const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs);
      if (call == nullptr) continue;
      const Own& callee = own_[call->callee.value()];
      for (size_t i = 0; i < call->args.size(); ++i) {
        if (callee.params[i] == kNone) continue;
        passExtents(caller, call->callee, i, module_.typeOf(function, call->args[i]));
        const Atom arg = definitions.resolve(call->args[i]);
        if (!arg.isVar()) {
          params_[callee.params[i]].add(arg);
          continue;
        }
        auto from = own_[caller.value()].byVar.find(arg.var());
        if (from == own_[caller.value()].byVar.end())
          params_[callee.params[i]].spoil();
        else
          params_[from->second].users.push_back(callee.params[i]);
      }
    }
}

template <class T>
void ArgumentPropagator::settle(std::vector<Passed<T>>& all) {
  std::vector<uint32_t> work;
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].state != Passed<T>::State::Nothing) work.push_back(i);
  while (!work.empty()) {
    const uint32_t from = work.back();
    work.pop_back();
    for (uint32_t to : all[from].users)
      if (all[from].isSame() ? all[to].add(all[from].value) : all[to].spoil()) work.push_back(to);
  }
}

void ArgumentPropagator::apply(GlobalId id) {
  ir::Function& function = module_.function(id);
  Own& own = own_[id.value()];
  std::vector<ir::Binding> known;
  std::vector<VarId> kept;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const VarId var = function.params[i];
    if (own.params[i] == kNone || !params_[own.params[i]].isSame()) {
      kept.push_back(var);
      continue;
    }
    own.dropped[i] = true;
    known.push_back({var, ir::AtomRhs{params_[own.params[i]].value}, function.var(var).location, {}});
    context_.count("parameters known");
  }
  std::unordered_map<DimSymbol, int64_t> numbers;
  for (const auto& [symbol, extent] : own.bySymbol)
    if (extents_[extent].isSame()) numbers.emplace(symbol, extents_[extent].value);
  function.params = std::move(kept);
  insert(function.block(function.body), 0, std::move(known));
  if (numbers.empty()) return;
  context_.count("extents known", numbers.size());
  DimRewriter rewriter(module_.types, [&](DimSymbol symbol) -> std::optional<DimExpr> {
    auto at = numbers.find(symbol);
    return at == numbers.end() ? std::nullopt : std::optional(DimExpr::constant(at->second));
  });
  rewriter.apply(function);
}

void ArgumentPropagator::dropArguments() {
  for (ir::Function& function : module_.functions)
    for (BlockId id : ir::blocksInOrder(function, function.body))
      for (ir::Binding& binding : function.block(id).bindings) {
        auto* call = std::get_if<ir::CallGlobal>(&binding.rhs);
        if (call == nullptr) continue;
        const std::vector<bool>& dropped = own_[call->callee.value()].dropped;
        size_t kept = 0;
        for (size_t i = 0; i < call->args.size(); ++i)
          if (!dropped[i]) call->args[kept++] = call->args[i];
        call->args.resize(kept);
      }
}

Result<void> propagateArguments(ir::Module& module, PassContext& context) {
  ArgumentPropagator(module, context).run();
  return success();
}

}  // namespace

constinit const PassInfo kKnownArgumentsPass{
    .name = "known-arguments",
    .summary = "parameters and extents that are the same constant at every call",
    .documentation =
        R"(Looks at functions whose calls are all known: not exported and not values. A parameter that gets the same constant or the same function of the module at every call becomes an alias of it inside and is passed no more; recursive calls that pass it on do not count against it, through any number of functions. An extent that is the same number at every call becomes that number in the types of the function, so that its kernels are compiled for it.

What is passed differently in two places stays; specialise-calls makes copies where that is worth it.)",
    .level = 2,
    .run = propagateArguments,
};

}  // namespace baton::passes
