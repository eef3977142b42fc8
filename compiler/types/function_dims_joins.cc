// Where facts meet: at the parameters of what is called, at its result, and after branches. What each
// control-flow edge carries becomes slots of a DimJoin, and what the join claims a fact again.
#include <algorithm>

#include "compiler/types/dims.h"
#include "compiler/types/function_dims.h"

namespace baton::types {
namespace {

/// One for each position of the type, then one for each element that is kept.
std::vector<DimJoin::Slot> slotsFor(ir::TypeRef shape, size_t valueCount) {
  std::vector<DimJoin::Slot> slots;
  for (const Position& position : positionsOf(shape)) slots.push_back({position.isPlain, std::nullopt});
  slots.resize(slots.size() + valueCount);
  return slots;
}

/// What the fact says about those slots.
void addToEdge(const Fact& fact, size_t valueCount, DimJoin::Edge& edge) {
  for (const Position& position : positionsOf(fact.type))
    edge.push_back(isAnyDim(position.dim) ? std::nullopt : std::optional(position.dim));
  const bool isKnown = fact.values && fact.values->size() == valueCount;
  for (size_t i = 0; i < valueCount; ++i)
    edge.push_back(isKnown ? std::optional((*fact.values)[i]) : std::nullopt);
}

}  // namespace

Fact FunctionDims::factFrom(ir::TypeRef shape, const DimJoin::Edge& state, size_t firstSlot,
                            size_t valueCount) {
  size_t positions = positionsOf(shape).size();
  std::vector<DimExpr> dims;
  for (size_t i = 0; i < positions; ++i) dims.push_back(state[firstSlot + i].value_or(anyDim()));
  Fact fact{module_.cells().filledIn(withDims(module_.module().types, shape, dims)), std::nullopt};
  if (valueCount == 0) return fact;
  std::vector<DimExpr> values;
  for (size_t i = 0; i < valueCount; ++i) {
    const std::optional<DimExpr>& value = state[firstSlot + positions + i];
    if (!value || isNoDim(*value)) return fact;
    values.push_back(*value);
  }
  fact.values = std::move(values);
  return fact;
}

void FunctionDims::createJoin(Callable& callee, std::span<const Fact> args) {
  std::vector<DimJoin::Slot> slots;
  for (size_t i = 0; i < callee.params.size(); ++i) {
    callee.valueCounts.push_back(i < args.size() && args[i].values ? args[i].values->size() : 0);
    std::vector<DimJoin::Slot> own = slotsFor(callee.shapes[i], callee.valueCounts.back());
    const std::vector<DimExpr> declared = declaredDims(callee.declared[i], callee.shapes[i]);
    for (size_t p = 0; p < declared.size(); ++p)
      if ((own[p].isPlain || callee.trustsData) && !isAnyDim(declared[p])) own[p].fixed = declared[p];
    for (size_t p = 0; p < own.size(); ++p) {
      callee.slotOwners.push_back({callee.params[i], p});
      slots.push_back(std::move(own[p]));
    }
  }
  callee.join.emplace(std::move(slots));
}

DimJoin::Edge FunctionDims::edgeOf(const Callable& callee, std::span<const Fact> args) {
  DimJoin::Edge edge;
  for (size_t i = 0; i < args.size(); ++i) addToEdge(args[i], callee.valueCounts[i], edge);
  return edge;
}

bool FunctionDims::updateJoin(Callable& callee, uint64_t edgeId, DimJoin::Edge edge) {
  auto isKnown = [&](const DimExpr& dim) {
    return dim.isConstant() || (!callee.isGlobal() && isInScope(dim, callee.binder));
  };
  auto symbolOf = [&](size_t slot) {
    return extentSymbol(callee.slotOwners[slot].param, callee.slotOwners[slot].position);
  };
  return callee.join->update(edgeId, std::move(edge), isKnown, symbolOf);
}

void FunctionDims::giveParams(const Callable& callable) {
  size_t slot = 0;
  for (size_t i = 0; i < callable.params.size(); ++i) {
    size_t positions = positionsOf(callable.shapes[i]).size();
    set(callable.params[i],
        factFrom(callable.shapes[i], callable.join->state(), slot, callable.valueCounts[i]));
    slot += positions + callable.valueCounts[i];
  }
}

bool FunctionDims::updateResult(Callable& callable, const Fact& fact) {
  if (!callable.result) {
    callable.resultValueCount = fact.values ? fact.values->size() : 0;
    callable.result.emplace(slotsFor(callable.resultShape, callable.resultValueCount));
  }
  DimJoin::Edge edge;
  addToEdge(fact, callable.resultValueCount, edge);
  return applyResult(callable, std::move(edge));
}

bool FunctionDims::applyResult(Callable& callable, DimJoin::Edge edge) {
  auto isKnown = [&](const DimExpr& dim) {
    std::vector<DimSymbol> symbols;
    dim.collectSymbols(symbols);
    for (DimSymbol symbol : symbols) {
      if (isOwnedBy(symbol, callable)) continue;
      if (callable.isGlobal() || !isInScope(DimExpr::symbol(symbol), callable.binder)) return false;
    }
    return true;
  };
  auto symbolOf = [&](size_t slot) {
    return symbol(callable.binder, SymbolKind::Result, static_cast<uint32_t>(slot), "r");
  };
  bool changed = callable.result->update(0, std::move(edge), isKnown, symbolOf);
  if (changed || !callable.resultFact.isReached())
    callable.resultFact =
        factFrom(callable.resultShape, callable.result->state(), 0, callable.resultValueCount);
  return changed;
}

bool FunctionDims::forceResult(Callable& callee) {
  if (callee.resultFact.isReached()) return false;
  if (!callee.result) callee.result.emplace(slotsFor(callee.resultShape, 0));
  applyResult(callee, DimJoin::Edge(callee.result->slotCount()));
  return true;
}

Fact FunctionDims::joinBlocks(const ir::Binding& binding, std::span<const ir::BlockId> blocks) {
  ir::VarId var = binding.var;
  ir::TypeRef shape = shapes_[var.value()];
  const size_t positionCount = positionsOf(shape).size();
  auto isKnown = [&](const DimExpr& dim) { return isInScope(dim, var); };
  auto symbolOf = [&](size_t slot) { return extentSymbol(var, slot); };
  auto join = branches_.find(var);
  // Blocks in a shadow, and those that fail, count only where nothing else comes.
  auto counts = [&](ir::BlockId block, bool withShadow) {
    const bool isReal = !isShadowBlock_[block.value()] && failing_[block.value()] == ir::kNoVar;
    return isReachedBlock_[block.value()] && (withShadow || isReal) &&
           factOf(function_.block(block).result).isReached();
  };
  bool isAllShadow = inShadow() || std::none_of(blocks.begin(), blocks.end(),
                                                [&](ir::BlockId block) { return counts(block, false); });
  for (ir::BlockId block : blocks) {
    if (!counts(block, isAllShadow)) continue;
    Fact result = factOf(function_.block(block).result);
    if (join == branches_.end()) {
      const size_t valueCount = result.values ? result.values->size() : 0;
      join = branches_.emplace(var, DimJoin(slotsFor(shape, valueCount))).first;
    }
    DimJoin::Edge edge;
    addToEdge(result, join->second.slotCount() - positionCount, edge);
    if (join->second.update(block.value(), std::move(edge), isKnown, symbolOf)) changed();
  }
  if (join == branches_.end()) return {};
  return factFrom(shape, join->second.state(), 0, join->second.slotCount() - positionCount);
}

}  // namespace baton::types
