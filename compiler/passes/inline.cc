#include "compiler/passes/inline.h"

#include <unordered_map>

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/passes/alias.h"
#include "compiler/passes/call_graph.h"
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

size_t bindingCount(const ir::Function& function) {
  size_t count = 0;
  for (BlockId id : ir::blocksInOrder(function, function.body)) count += function.block(id).bindings.size();
  return count;
}

bool definesJoin(const ir::Block& block) {
  return std::any_of(block.bindings.begin(), block.bindings.end(), [](const ir::Binding& binding) {
    const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
    return lambda != nullptr && lambda->isJoin;
  });
}

class Inliner {
 public:
  Inliner(ir::Module& module, PassContext& context)
      : module_(module),
        context_(context),
        maxBindings_(context.option("max-bindings")),
        maxGrowth_(context.option("max-growth")),
        graph_(module),
        sizes_(module.functions.size()) {}

  void run() {
    for (GlobalId id : graph_.order) {
      inlineInto(id);
      sizes_[id.value()] = bindingCount(module_.function(id));
    }
  }

 private:
  bool isWanted(GlobalId callee) const {
    if (graph_.isRecursive[callee.value()]) return false;
    if (sizes_[callee.value()] <= maxBindings_) return true;
    // Nothing is left of a function whose only call this is.
    return graph_.directCalls[callee.value()] == 1 && !graph_.isValue[callee.value()] &&
           !module_.function(callee).isExported;
  }
  void inlineInto(GlobalId id);

  ir::Module& module_;
  PassContext& context_;
  size_t maxBindings_;
  size_t maxGrowth_;
  CallGraph graph_;
  std::vector<size_t> sizes_;  // by function, known for callees of what is looked at
};

void Inliner::inlineInto(GlobalId id) {
  ir::Function& caller = module_.function(id);
  size_t growth = 0;
  for (BlockId blockId : ir::blocksInOrder(caller, caller.body)) {
    std::vector<ir::Binding> bindings = std::move(caller.block(blockId).bindings);
    std::vector<ir::Binding> done;
    for (size_t i = 0; i < bindings.size(); ++i) {
      ir::Binding& binding = bindings[i];
      const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs);
      if (call == nullptr || call->callee == id || !isWanted(call->callee) ||
          growth + sizes_[call->callee.value()] > maxGrowth_) {
        done.push_back(std::move(binding));
        continue;
      }
      growth += sizes_[call->callee.value()];
      context_.count("calls put in line");
      if (!binding.obligations.empty()) {
        const VarId check = caller.addVar({.name = "check", .type = module_.types.unit()});
        done.push_back({check, ir::MakeTuple{}, binding.location, std::move(binding.obligations)});
      }
      const BlockId body = cloneBody(module_, call->callee, caller, call->args, binding.location, done);
      ir::Block& inner = caller.block(body);
      const bool isTail = i + 1 == bindings.size() && caller.block(blockId).result == Atom(binding.var);
      if (!isTail && definesJoin(inner)) {
        done.push_back({binding.var, ir::NestedBlock{body}, binding.location, {}});
        continue;
      }
      std::move(inner.bindings.begin(), inner.bindings.end(), std::back_inserter(done));
      inner.bindings.clear();
      if (isTail)
        caller.block(blockId).result = inner.result;
      else
        done.push_back({binding.var, ir::AtomRhs{inner.result}, binding.location, {}});
    }
    caller.block(blockId).bindings = std::move(done);
  }
}

/// The inline sites of a copy of a function's body.
class InlinedLocations {
 public:
  InlinedLocations(ir::Module& module, const std::string& callee, SourceLocation call)
      : sites_(module.inlineSites) {
    sites_.push_back({callee, call});
    copies_.emplace(0, static_cast<uint32_t>(sites_.size()));
  }

  /// In the copy, of what was at `site` in the function itself: the same sites within this one.
  uint32_t siteOf(uint32_t site) {
    std::vector<uint32_t> inner;  // sites to copy, innermost first
    for (; !copies_.contains(site); site = sites_[site - 1].call.inlinedAt) inner.push_back(site);
    uint32_t copy = copies_.at(site);
    for (size_t i = inner.size(); i-- > 0;) {
      InlineSite within = sites_[inner[i] - 1];
      within.call.inlinedAt = copy;
      sites_.push_back(std::move(within));
      copy = static_cast<uint32_t>(sites_.size());
      copies_.emplace(inner[i], copy);
    }
    return copy;
  }

 private:
  std::vector<InlineSite>& sites_;
  std::unordered_map<uint32_t, uint32_t> copies_;
};

}  // namespace

BlockId cloneBody(ir::Module& module, GlobalId calleeId, ir::Function& caller,
                  const std::vector<Atom>& arguments, SourceLocation location,
                  std::vector<ir::Binding>& prologue) {
  const ir::Function& callee = module.function(calleeId);
  FreshSymbols symbols(module.dimSymbols);
  auto equate = [&](const DimExpr& formal, const DimExpr& actual) {
    const std::optional<DimSymbol> symbol = formal.asSymbol();
    if (!symbol || *symbol == ir::kAnyDim || symbols.find(*symbol) != nullptr) return;
    if (actual == DimExpr::symbol(ir::kAnyDim)) return;
    symbols.set(*symbol, actual);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::VarInfo& formal = callee.var(callee.params[i]);
    forEachTensorPair(formal.type, module.typeOf(caller, arguments[i]),
                      [&](ir::TypeRef left, ir::TypeRef right) {
                        for (size_t axis = 0; axis < left->dims().size(); ++axis)
                          equate(left->dims()[axis], right->dims()[axis]);
                      });
    if (!formal.valueDims) continue;
    std::optional<std::vector<DimExpr>> elements;
    if (arguments[i].isVar())
      elements = caller.var(arguments[i].var()).valueDims;
    else if (arguments[i].isConstant())
      elements = elementsOf(module.constant(arguments[i].constant()));
    if (!elements || elements->size() != formal.valueDims->size()) continue;
    for (size_t k = 0; k < elements->size(); ++k) equate((*formal.valueDims)[k], (*elements)[k]);
  }
  DimRewriter rename(module.types, [&](DimSymbol symbol) { return symbols(symbol); });
  Cloner cloner(module, callee, caller);
  cloner.setDims(&rename);
  for (size_t i = 0; i < arguments.size(); ++i)
    prologue.push_back({cloner.bind(callee.params[i]), ir::AtomRhs{arguments[i]}, location, {}});
  const BlockId body = cloner.clone(callee.body);
  InlinedLocations locations(module, callee.name, location);
  for (BlockId id : ir::blocksInOrder(caller, body))
    for (ir::Binding& binding : caller.block(id).bindings)
      if (binding.location.isKnown())
        binding.location.inlinedAt = locations.siteOf(binding.location.inlinedAt);
  return body;
}

namespace {

Result<void> inlineCalls(ir::Module& module, PassContext& context) {
  Inliner(module, context).run();
  return success();
}

constexpr PassOption kInlineOptions[] = {
    {"max-bindings", 24, "bindings of a function that is put in line wherever it is called"},
    {"max-growth", 4000, "bindings that this may add to one function"},
};

}  // namespace

constinit const PassInfo kInlinePass{
    .name = "inline",
    .summary = "calls of small functions become their bodies",
    .documentation =
        R"(Puts callees with few bindings, and those with one caller, in line, callees first. Extents of the callee become those of the arguments, its other symbols are new for each copy; the checks of the call become a check of its own before the body. Recursive functions stay calls.)",
    .level = 1,
    .options = kInlineOptions,
    .run = inlineCalls,
};

}  // namespace baton::passes
