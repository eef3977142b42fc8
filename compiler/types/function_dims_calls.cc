// Calls: what is called hears of them, results in terms of the caller, and the reaching of
// what nothing reaches.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/dim_size.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"
#include "compiler/types/dims.h"
#include "compiler/types/function_dims.h"

namespace baton::types {

using ir::TypeRef;

bool FunctionDims::reachFromAnywhere(Callable& callee) {
  if (!callee.join) createJoin(callee, {});
  return updateJoin(callee, 0, DimJoin::Edge(callee.join->slotCount()));
}

void FunctionDims::callFromOutside() {
  if (reachFromAnywhere(self_)) module_.enqueue(id_);
}

void FunctionDims::callThroughValue(TypeRef functionType) {
  std::vector<Fact> args;
  for (size_t i = 0; i < self_.params.size(); ++i) {
    std::optional<TypeRef> param = module_.cells().typeOf(functionType, i);
    if (!param) return;
    args.push_back({*param, std::nullopt});
  }
  addCall(0, args);
}

bool FunctionDims::addCall(uint64_t edgeId, std::span<const Fact> args) {
  if (!self_.join) createJoin(self_, args);
  if (!updateJoin(self_, edgeId, edgeOf(self_, args))) return false;
  module_.enqueue(id_);
  return true;
}

const ir::Binding* FunctionDims::definitionOf(ir::VarId var) const {
  auto definition = definitions_.find(var);
  return definition == definitions_.end() ? nullptr : definition->second;
}

ir::Atom FunctionDims::resolveAlias(ir::Atom atom) const {
  auto alias = atom.isVar() ? aliases_.find(atom.var()) : aliases_.end();
  return alias == aliases_.end() ? atom : alias->second;
}

Callable* FunctionDims::localCallable(const ir::Atom& callee) {
  // A local function with an alias is a value; only its own name leads to it.
  auto local = callee.isVar() ? lambdas_.find(callee.var()) : lambdas_.end();
  return local == lambdas_.end() ? nullptr : local->second.get();
}

Fact FunctionDims::call(const ir::Binding& binding, Callable& callee, std::span<const ir::Atom> args,
                        std::string_view name, std::span<const DimConstraint> where) {
  std::vector<Fact> facts;
  for (const ir::Atom& arg : args) {
    facts.push_back(factOf(arg));
    if (!facts.back().isReached()) return {};
  }
  uint64_t edgeId = (static_cast<uint64_t>(id_.value()) << 32) + binding.var.value() + 1;
  FunctionDims* other = nullptr;
  if (callee.isGlobal()) {
    const ir::GlobalId id = std::get<ir::CallGlobal>(binding.rhs).callee;
    other = &module_.of(id);
    if (!inShadow() && other->addCall(edgeId, facts) && other == this) changed();
    if (!other->self_.resultFact.isReached() && module_.isWaiting(id)) {
      wantedFirst_ = id;
      return {};
    }
  } else if (!inShadow()) {
    if (!callee.join) createJoin(callee, facts);
    if (updateJoin(callee, edgeId, edgeOf(callee, facts))) changed();
    if (!isFinal_ && !callee.resultFact.isReached() && !isReachedBlock_[callee.body.value()]) {
      wantedLocal_ = &callee;
      return {};
    }
  }
  if (!callee.join) return hasShadow_ ? readable(binding.var, shapes_[binding.var.value()]) : Fact{};
  FunctionDims& home = other != nullptr ? *other : *this;

  // What the symbols of the callee's parameters are at this call.
  std::unordered_map<DimSymbol, DimExpr> mapping;
  DimJoin::Edge edge = edgeOf(callee, facts);
  const DimJoin::Edge& state = callee.join->state();
  for (size_t slot = 0; slot < state.size(); ++slot) {
    std::optional<DimSymbol> symbol = state[slot] ? state[slot]->asSymbol() : std::nullopt;
    if (symbol && edge[slot] && home.isOwnedBy(*symbol, callee)) mapping.try_emplace(*symbol, *edge[slot]);
  }
  auto inCaller = [&](const DimExpr& dim) {
    return dim.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
      auto known = mapping.find(symbol);
      return known == mapping.end() ? std::nullopt : std::optional(known->second);
    });
  };

  // The first argument that a name of the callee is a whole extent of.
  const auto binderOf = [&](const DimExpr& written) -> std::string {
    const std::optional<DimSymbol> symbol = written.asSymbol();
    if (!symbol || !mapping.contains(*symbol)) return {};
    for (size_t i = 0; i < facts.size(); ++i) {
      const std::vector<Position> positions = positionsOf(facts[i].type);
      const std::vector<DimExpr> declared = declaredDims(callee.declared[i], callee.shapes[i]);
      for (size_t p = 0; p < positions.size(); ++p)
        if (positions[p].isPlain && declared[p] == written)
          return fmt::format("{} of argument {}", positionText(facts[i].type, p), i + 1);
    }
    return {};
  };
  if (isFinal_) {
    for (size_t i = 0; i < facts.size(); ++i) {
      std::vector<Position> positions = positionsOf(facts[i].type);
      std::vector<DimExpr> declared = declaredDims(callee.declared[i], callee.shapes[i]);
      for (size_t p = 0; p < positions.size(); ++p) {
        if (isAnyDim(declared[p])) continue;
        DimExpr expected = inCaller(declared[p]);
        if (expected == positions[p].dim) continue;
        if (positions[p].isPlain) {
          const std::string place =
              fmt::format("argument {} of {}: {}", i + 1, name, positionText(facts[i].type, p));
          std::string message = mismatch(place, declared[p], expected).atRun;
          if (const std::string by = binderOf(declared[p]); !by.empty())
            message = fmt::format("{} is {{0}}, but {} was bound to {{1}} by {}", place,
                                  ir::print(module_.module(), declared[p]), by);
          Result<void> checked = require(positions[p].dim, Relation::Eq, expected, message);
          if (!checked.has_value()) reportFailure(binding, checked.error().message(), i);
        } else if (callee.trustsData && !isNoDim(positions[p].dim)) {
          report(operandLocation(binding, i), true,
                 fmt::format("argument {} of {}: an extent inside the data cannot be shown to be {}", i + 1,
                             name, ir::print(module_.module(), expected)),
                 ir::print(module_.module(), facts[i].type));
        }
      }
    }
    for (const DimConstraint& constraint : where) {
      std::string message =
          fmt::format("{}: {} {} {} does not hold: found {{0}} and {{1}}", name,
                      ir::print(module_.module(), constraint.lhs), relationName(constraint.relation),
                      ir::print(module_.module(), constraint.rhs));
      Result<void> checked =
          require(inCaller(constraint.lhs), constraint.relation, inCaller(constraint.rhs), message);
      if (!checked.has_value()) reportFailure(binding, checked.error().message(), std::nullopt);
    }
  }

  const Fact& result = callee.resultFact;
  if (!result.isReached()) return hasShadow_ ? readable(binding.var, shapes_[binding.var.value()]) : Fact{};
  // Symbols from around a local function mean the same where it is called.
  auto isFromAround = [&](DimSymbol symbol) {
    auto owner = home.owners_.find(symbol);
    return !callee.isGlobal() && owner != home.owners_.end() && owner->second != ir::kNoVar;
  };
  auto readOff = [&](uint32_t p) { return symbol(binding.var, SymbolKind::CallResult, p, ""); };
  // Symbols that only the result has: the caller reads them off what it gets.
  std::vector<Position> positions = positionsOf(result.type);
  for (uint32_t p = 0; p < positions.size(); ++p) {
    std::optional<DimSymbol> own = positions[p].dim.asSymbol();
    if (positions[p].isPlain && own && !mapping.contains(*own) && !isFromAround(*own))
      mapping.emplace(*own, readOff(p));
  }
  // Numbers that no slot of the callee carries mean nothing here.
  auto isOfCallee = [&](const DimExpr& dim) {
    std::vector<DimSymbol> symbols;
    dim.collectSymbols(symbols);
    return std::any_of(symbols.begin(), symbols.end(), [&](DimSymbol symbol) {
      if (symbol == ir::kAnyDim || symbol == kNoDim || mapping.contains(symbol)) return false;
      return !isFromAround(symbol) || home.isOwnedBy(symbol, callee);
    });
  };
  // What is large is read off, if the callee gives it at all: calls in a row would make expressions of
  // expressions.
  auto hereIfKnown = [&](const DimExpr& dim) -> std::optional<DimExpr> {
    if (isOfCallee(dim)) return std::nullopt;
    DimExpr here = inCaller(dim);
    const bool isLarge = here.isTooLarge() || ir::sizeOf(here) > ir::kMaxExtentsSize / 3;
    return isLarge ? std::nullopt : std::optional(std::move(here));
  };
  std::vector<DimExpr> dims;
  for (uint32_t p = 0; p < positions.size(); ++p) {
    std::optional<DimExpr> known = hereIfKnown(positions[p].dim);
    dims.push_back(known ? std::move(*known) : positions[p].isPlain ? readOff(p) : anyDim());
  }
  Fact fact{module_.cells().filledIn(withDims(module_.module().types, result.type, dims)), std::nullopt};
  if (!result.values) return fact;
  std::vector<DimExpr> values;
  for (const DimExpr& value : *result.values)
    if (std::optional<DimExpr> known = hereIfKnown(value)) values.push_back(std::move(*known));
  if (values.size() == result.values->size()) fact.values = std::move(values);
  return fact;
}

Fact FunctionDims::callValue(const ir::Binding& binding, const ir::CallValue& rhs) {
  if (Callable* local = localCallable(rhs.callee)) {
    std::string name = rhs.callee.isVar() ? "%" + function_.var(rhs.callee.var()).name : "the function";
    return call(binding, *local, rhs.args, name, {});
  }
  Fact callee = factOf(rhs.callee);
  if (!callee.isReached()) return {};
  DimCells& cells = module_.cells();
  std::vector<Fact> facts;
  for (const ir::Atom& arg : rhs.args) {
    facts.push_back(factOf(arg));
    if (!facts.back().isReached()) return {};
  }
  for (size_t i = 0; i < facts.size(); ++i) {
    arrive(callee.type, i, facts[i].type);
    if (!isFinal_) continue;
    std::vector<std::optional<DimExpr>> pins = cells.pinsOf(callee.type, i);
    std::vector<Position> positions = positionsOf(facts[i].type);
    for (size_t p = 0; p < positions.size(); ++p) {
      if (!pins[p] || positions[p].dim == *pins[p]) continue;
      std::string message = fmt::format("argument {} of the function: {} is {{0}}; {{1}} is declared", i + 1,
                                        positionText(facts[i].type, p));
      Result<void> checked = require(positions[p].dim, Relation::Eq, *pins[p], message);
      if (!checked.has_value()) reportFailure(binding, checked.error().message(), i + 1);
    }
  }
  std::optional<TypeRef> result = cells.typeOf(callee.type, facts.size());
  if (result || hasShadow_) return readable(binding.var, result ? *result : shapes_[binding.var.value()]);
  return {};
}

bool FunctionDims::forceReturn(const ir::Binding& binding) {
  if (facts_[binding.var.value()].isReached()) return false;
  if (const ir::CallGlobal* call = std::get_if<ir::CallGlobal>(&binding.rhs)) {
    FunctionDims& callee = module_.of(call->callee);
    if (!callee.isReached() || !callee.forceResult(callee.self_)) return false;
    module_.resultChanged(call->callee);
    return true;
  }
  if (const ir::CallJoin* jump = std::get_if<ir::CallJoin>(&binding.rhs))
    return forceResult(*lambdas_.at(jump->join));
  const ir::CallValue* call = std::get_if<ir::CallValue>(&binding.rhs);
  Callable* local = call == nullptr ? nullptr : localCallable(call->callee);
  return local != nullptr && forceResult(*local);
}

bool FunctionDims::forceReturn() {
  if (!isReached()) return false;
  bool found = false;
  ir::WalkCallbacks callbacks;
  callbacks.enterBinding = [&](ir::BlockId block, size_t index) {
    if (!found && isReachedBlock_[block.value()]) found = forceReturn(function_.block(block).bindings[index]);
    return !found;
  };
  ir::walk(function_, function_.body, callbacks);
  if (found) module_.enqueue(id_);
  return found;
}

void FunctionDims::startShadow() {
  hasShadow_ = true;
  if (!isReached()) {
    isShadow_ = true;
    reachFromAnywhere(self_);
  }
  module_.enqueue(id_);
}

}  // namespace baton::types
