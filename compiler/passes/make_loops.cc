#include <algorithm>
#include <utility>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/registry.h"
#include "compiler/passes/tail_blocks.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

struct Site {
  BlockId block;
  size_t index;
};

std::vector<Site> selfTailCalls(const ir::Function& function, GlobalId id) {
  std::vector<Site> sites;
  TailBlocks tails(function);
  for (BlockId block : ir::blocksInOrder(function, function.body)) {
    const std::vector<ir::Binding>& bindings = function.block(block).bindings;
    if (bindings.empty()) continue;
    const auto* call = std::get_if<ir::CallGlobal>(&bindings.back().rhs);
    if (call != nullptr && call->callee == id && isTailBinding(function.block(block), bindings.size() - 1) &&
        tails.isTailOf(block, function.body))
      sites.push_back({block, bindings.size() - 1});
  }
  return sites;
}

class LoopMaker {
 public:
  LoopMaker(ir::Module& module, ir::Function& function, std::vector<Site> sites)
      : module_(module), function_(function), sites_(std::move(sites)) {}
  void run();

 private:
  const ir::CallGlobal& callAt(const Site& site) const {
    return std::get<ir::CallGlobal>(function_.block(site.block).bindings[site.index].rhs);
  }
  bool isPassedOn(size_t param) const;
  bool keepsExtent(DimSymbol symbol, const std::vector<size_t>& having) const;

  ir::Module& module_;
  ir::Function& function_;
  std::vector<Site> sites_;
};

bool LoopMaker::isPassedOn(size_t param) const {
  return std::all_of(sites_.begin(), sites_.end(), [&](const Site& site) {
    return callAt(site).args[param] == Atom(function_.params[param]);
  });
}

/// Whether each call passes, at some place where a parameter has the extent, the very same.
/// (At the others it is equal too: the call is checked.)
bool LoopMaker::keepsExtent(DimSymbol symbol, const std::vector<size_t>& having) const {
  const DimExpr expr = DimExpr::symbol(symbol);
  return std::all_of(sites_.begin(), sites_.end(), [&](const Site& site) {
    return std::any_of(having.begin(), having.end(), [&](size_t i) {
      const ir::VarInfo& formal = function_.var(function_.params[i]);
      const Atom arg = callAt(site).args[i];
      if (!arg.isVar() || !formal.type->isTensor()) return false;
      const ir::VarInfo& actual = function_.var(arg.var());
      if (!actual.type->isTensor()) return false;
      for (int axis = 0; axis < formal.type->rank(); ++axis)
        if (formal.type->dims()[static_cast<size_t>(axis)] == expr &&
            actual.type->dims()[static_cast<size_t>(axis)] == expr)
          return true;
      if (!formal.valueDims || !actual.valueDims) return false;
      for (size_t k = 0; k < formal.valueDims->size() && k < actual.valueDims->size(); ++k)
        if ((*formal.valueDims)[k] == expr && (*actual.valueDims)[k] == expr) return true;
      return false;
    });
  });
}

void LoopMaker::run() {
  std::vector<size_t> varying;
  std::unordered_set<DimSymbol> fixed;
  for (size_t i = 0; i < function_.params.size(); ++i) {
    if (isPassedOn(i))
      eval::forEachPlainSymbol(function_.var(function_.params[i]),
                               [&](DimSymbol symbol) { fixed.insert(symbol); });
    else
      varying.push_back(i);
  }

  // The loop keeps the variables of the body and their symbols. The function gets
  // parameters of its own, with symbols of their own where the loop's may change.
  FreshSymbols fresh(module_.dimSymbols);
  std::unordered_map<DimSymbol, std::vector<size_t>> having;  // varying parameters, by whole extent
  for (size_t i : varying)
    eval::forEachPlainSymbol(function_.var(function_.params[i]),
                             [&](DimSymbol symbol) { having[symbol].push_back(i); });
  auto settle = [&](DimSymbol symbol) {
    if (fresh.find(symbol) != nullptr) return;
    if (fixed.contains(symbol) || keepsExtent(symbol, having[symbol]))
      fresh.set(symbol, DimExpr::symbol(symbol));
    else
      fresh(symbol);
  };
  for (size_t i : varying) {
    const ir::VarInfo& info = function_.var(function_.params[i]);
    ir::forEachSymbol(info.type, settle);
    eval::forEachPlainSymbol(info, settle);
  }
  DimRewriter rename(module_.types, [&](DimSymbol symbol) -> std::optional<DimExpr> {
    const DimExpr* expr = fresh.find(symbol);
    return expr == nullptr ? std::nullopt : std::optional<DimExpr>(*expr);
  });

  ir::Lambda loop;
  loop.isJoin = true;
  loop.isLoop = true;
  loop.body = function_.body;
  ir::CallJoin first;
  for (size_t i : varying) {
    const VarId inner = function_.params[i];
    ir::VarInfo info = function_.var(inner);
    rename.apply(info);
    const VarId outer = function_.addVar(std::move(info));
    function_.params[i] = outer;
    loop.params.push_back(inner);
    first.args.push_back(outer);
  }
  const ir::TypeRef type = functionType(module_, function_, loop.params, function_.result);
  const VarId join = function_.addVar({.name = "loop", .type = type, .location = function_.location});
  first.join = join;
  for (const Site& site : sites_) {
    ir::Binding& binding = function_.block(site.block).bindings[site.index];
    auto call = std::get<ir::CallGlobal>(std::move(binding.rhs));
    ir::CallJoin jump{join, {}};
    for (size_t i : varying) jump.args.push_back(call.args[i]);
    binding.rhs = std::move(jump);
  }
  function_.result = rename.type(function_.result);
  function_.declaredResult = rename.type(function_.declaredResult);
  rename.apply(function_.where);

  const BlockId body = function_.addBlock();
  const VarId result = function_.addVar({.name = "result", .type = freshDims(module_, function_.result)});
  ir::Block& block = function_.block(body);
  block.bindings.push_back({join, std::move(loop), function_.location, {}});
  block.bindings.push_back({result, std::move(first), function_.location, {}});
  block.result = result;
  function_.body = body;
}

Result<void> makeLoops(ir::Module& module, PassContext&) {
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    ir::Function& function = module.functions[i];
    straightenTails(function);
    std::vector<Site> sites = selfTailCalls(function, GlobalId(i));
    if (!sites.empty()) LoopMaker(module, function, std::move(sites)).run();
  }
  return success();
}

}  // namespace

constinit const PassInfo kMakeLoopsPass{
    .name = "make-loops",
    .summary = "self tail calls become loops",
    .documentation =
        R"(Turns self tail calls of module functions into a loop join. Parameters that every such call passes on unchanged stay outside of the loop, and so do extents that every call keeps; the loop's parameters keep the body's symbols, and the function gets new ones where they may change.)",
    .establishes = Property::Joins,
    .run = makeLoops,
};

}  // namespace baton::passes
