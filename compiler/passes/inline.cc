#include "compiler/passes/inline.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/dim_size.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/call_contexts.h"
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

/// A function whose only call is inlined has its body looked at there, and not before: each body
/// is copied once, however long the chain of callers is.
class Inliner {
 public:
  Inliner(ir::Module& module, PassContext& context)
      : module_(module),
        context_(context),
        maxBindings_(context.option("max-bindings")),
        maxSize_(context.option("max-size")),
        graph_(module) {
    for (const ir::Function& function : module.functions) sizes_.push_back(sizeOf(function));
  }

  void run() {
    for (GlobalId id : graph_.order)
      if (!hasOneCall(id)) inlineInto(id);
    // What did not fit into its caller stands for itself.
    while (!left_.empty()) {
      const GlobalId id = left_.back();
      left_.pop_back();
      inlineInto(id);
    }
  }

 private:
  struct Pending {
    ir::Binding binding;
    bool isSettled = false;  ///< of a body that has been looked at
  };

  /// Nothing is left of a function whose only call is inlined.
  bool hasOneCall(GlobalId id) const {
    return !graph_.isRecursive[id.value()] && graph_.directCalls[id.value()] == 1 &&
           !graph_.isValue[id.value()] && !module_.function(id).isExported;
  }
  bool isWanted(GlobalId callee) const {
    if (graph_.isRecursive[callee.value()]) return false;
    return sizes_[callee.value()] <= maxBindings_ || hasOneCall(callee);
  }
  void inlineInto(GlobalId id);
  void inlineInBlock(GlobalId id, BlockId block);

  ir::Module& module_;
  PassContext& context_;
  size_t maxBindings_;
  size_t maxSize_;
  CallGraph graph_;
  std::vector<size_t> sizes_;  // by function; of its own bindings alone until it is looked at
  std::vector<GlobalId> left_;
  // Of the function that is looked at.
  size_t room_ = 0;              // for further bindings
  std::vector<BlockId> blocks_;  // yet to be looked at, the next one last
};

void Inliner::inlineInto(GlobalId id) {
  ir::Function& caller = module_.function(id);
  // What later stages do per function may cost more than its size: deep chains stay in parts.
  const size_t size = sizes_[id.value()];
  room_ = std::max(maxSize_ - std::min(size, maxSize_), size / 2);
  blocks_ = ir::blocksInOrder(caller, caller.body);
  std::reverse(blocks_.begin(), blocks_.end());
  while (!blocks_.empty()) {
    const BlockId block = blocks_.back();
    blocks_.pop_back();
    inlineInBlock(id, block);
  }
  sizes_[id.value()] = sizeOf(caller);
}

void Inliner::inlineInBlock(GlobalId id, BlockId blockId) {
  ir::Function& caller = module_.function(id);
  std::vector<Pending> pending;  // the next one last
  auto push = [&](std::vector<ir::Binding>& bindings, bool isSettled) {
    for (size_t i = bindings.size(); i-- > 0;) pending.push_back({std::move(bindings[i]), isSettled});
    bindings.clear();
  };
  push(caller.block(blockId).bindings, false);
  std::vector<ir::Binding> done;
  while (!pending.empty()) {
    ir::Binding binding = std::move(pending.back().binding);
    const auto* call = pending.back().isSettled ? nullptr : std::get_if<ir::CallGlobal>(&binding.rhs);
    pending.pop_back();
    if (call == nullptr || call->callee == id || !isWanted(call->callee)) {
      done.push_back(std::move(binding));
      continue;
    }
    const GlobalId callee = call->callee;
    const bool isSettled = !hasOneCall(callee);
    if (sizes_[callee.value()] > room_) {
      if (!isSettled) left_.push_back(callee);
      done.push_back(std::move(binding));
      continue;
    }
    room_ = room_ + 1 - sizes_[callee.value()];  // the call goes
    context_.count("calls put in line");
    if (!binding.obligations.empty()) done.push_back(checkOf(module_, caller, binding));
    const BlockId body = cloneBody(module_, callee, caller, call->args, binding.location, done);
    const std::vector<BlockId> inside = ir::blocksInOrder(caller, body);
    ir::Block& inner = caller.block(body);
    const bool isTail = pending.empty() && caller.block(blockId).result == Atom(binding.var);
    const bool isNested = !isTail && definesJoin(inner);
    if (!isSettled) blocks_.insert(blocks_.end(), inside.rbegin(), inside.rend() - (isNested ? 0 : 1));
    if (isNested) {
      done.push_back({binding.var, ir::NestedBlock{body}, binding.location, {}});
      continue;
    }
    if (isTail)
      caller.block(blockId).result = inner.result;
    else
      pending.push_back({{binding.var, ir::AtomRhs{inner.result}, binding.location, {}}, true});
    push(inner.bindings, isSettled);
  }
  caller.block(blockId).bindings = std::move(done);
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
    // The parameter, which is an alias then, says what the symbol is.
    if (ir::sizeOf(actual) > ir::kMaxReplacementSize) return;
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
    const std::optional<std::vector<DimExpr>> elements = ops::elementsOf(module, caller, arguments[i]);
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
    {"max-bindings", 24, "bindings and branches of a function that is put in line wherever it is called"},
    {"max-size", 2000,
     "bindings and branches of a function with what is put into it; a large one may grow by half"},
};

}  // namespace

constinit const PassInfo kInlinePass{
    .name = "inline",
    .summary = "calls of small functions become their bodies",
    .documentation =
        R"(Puts callees with few bindings, and those with one caller, in line, callees first; a function with one caller is looked at in its caller, so that a chain of them is copied once. Extents of the callee become those of the arguments where these are no large expressions, its other symbols are new for each copy; the checks of the call become a check of its own before the body. Recursive functions stay calls.)",
    .level = 1,
    .options = kInlineOptions,
    .run = inlineCalls,
};

}  // namespace baton::passes
