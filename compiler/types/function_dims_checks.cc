// Declared types that typing cannot show to hold: aliases that carry the checks.
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"
#include "compiler/types/dims.h"
#include "compiler/types/function_dims.h"
#include "compiler/types/result_location.h"

namespace baton::types {

using ir::TypeRef;

namespace {

/// `written` with its one unknown symbol taken as any non-negative number: what must hold
/// for `found` to be such an extent. Nothing when it has another form.
std::optional<DimConstraint> multipleOf(const DimExpr& found, const DimExpr& written, DimSymbol unknown) {
  DimExpr rest = written.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
    return symbol == unknown ? std::optional(DimExpr()) : std::nullopt;
  });
  DimExpr step = written - rest;  // c * unknown, when it is linear
  if (step.terms().size() != 1 || step.terms()[0].coefficient < 1) return std::nullopt;
  int64_t factor = step.terms()[0].coefficient;
  if (step != DimExpr::constant(factor) * DimExpr::symbol(unknown)) return std::nullopt;
  return DimConstraint{floorMod(found - rest, DimExpr::constant(factor)), Relation::Eq, DimExpr()};
}

}  // namespace

FunctionDims::Mismatch FunctionDims::mismatch(const std::string& place, const DimExpr& written,
                                              const DimExpr& expected) const {
  const std::string text = ir::print(module_.module(), written);
  const std::string plain = place + " is {0}; {1} is declared";
  const std::string named = fmt::format("{} is {{0}}; {} = {{1}} is declared", place, text);
  const bool isPrintedAlike = text == ir::print(module_.module(), expected);
  return {isPrintedAlike ? plain : named, written.isConstant() ? plain : named};
}

/// What a declared result asks of the type of one value: dims that are thereby known, and
/// what is to be checked.
FunctionDims::Demand FunctionDims::demandOf(TypeRef declared, TypeRef type, const std::string& what) const {
  Demand demand;
  std::vector<Position> positions = positionsOf(type);
  std::vector<DimExpr> written = declaredDims(declared, module_.module().types.erased(type));
  struct Bound {
    DimExpr dim;
    size_t position;
  };
  std::unordered_map<DimSymbol, Bound> found;  // names that only the result has
  for (size_t i = 0; i < positions.size(); ++i) {
    const DimExpr& dim = positions[i].dim;
    demand.dims.push_back(dim);
    if (!positions[i].isPlain || isAnyDim(written[i])) continue;
    // A name that stands for what was found at a variable is known.
    std::optional<DimSymbol> name = resolveNamed(written[i]).asSymbol();
    if (name && !isKnownSymbol(*name) && !found.contains(*name)) {
      found.emplace(*name, Bound{dim, i});
      continue;
    }
    DimExpr expected = resolveNamed(written[i]).substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
      auto known = found.find(symbol);
      return known == found.end() ? std::nullopt : std::optional(known->second.dim);
    });
    std::vector<DimSymbol> symbols;
    expected.collectSymbols(symbols);
    const std::string place = fmt::format("{}: {}", what, positionText(type, i));
    std::vector<DimSymbol> unknown;
    for (DimSymbol symbol : symbols)
      if (!isKnownSymbol(symbol)) unknown.push_back(symbol);
    if (unknown.size() == 1) {
      std::optional<DimConstraint> check = multipleOf(dim, expected, unknown[0]);
      if (!check) continue;
      const std::string message =
          fmt::format("{} is {{0}}; {} is declared", place, ir::print(module_.module(), written[i]));
      demand.checks.push_back({{check->lhs, check->relation, check->rhs, message, {dim}}, message});
      continue;
    }
    if (!unknown.empty() || dim == expected) continue;
    demand.dims.back() = expected;
    Mismatch message = mismatch(place, written[i], expected);
    if (const auto bound = name ? found.find(*name) : found.end(); bound != found.end())
      message.certain = message.atRun =
          fmt::format("{} is {{0}}, but {} was bound to {{1}} by {}", place,
                      ir::print(module_.module(), written[i]), positionText(type, bound->second.position));
    demand.checks.push_back({{dim, Relation::Eq, expected, std::move(message.atRun), {dim, expected}},
                             std::move(message.certain)});
  }
  return demand;
}

bool FunctionDims::isKnownSymbol(DimSymbol symbol) const { return owners_.contains(symbol); }

// The checks of a declared result stand where the result is made, at the ends of branches,
// so that a call in tail position stays one.
void FunctionDims::checkResult(ir::BlockId body, TypeRef declared, const std::string& what,
                               SourceLocation location, bool isCertain) {
  ir::Module& module = module_.module();
  std::vector<std::pair<ir::BlockId, bool>> work{{body, isCertain}};
  while (!work.empty()) {
    auto [id, certain] = work.back();
    work.pop_back();
    ir::Block& block = function_.block(id);
    for (const ir::Binding& binding : block.bindings)
      if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs))
        if (lambda->isJoin) work.emplace_back(lambda->body, false);
    ir::Atom result = block.result;
    bool isLast = result.isVar() && !block.bindings.empty() && block.bindings.back().var == result.var();
    TypeRef type = module.typeOf(function_, result);
    Demand demand = demandOf(declared, type, what);
    if (isLast) {
      const ir::Rhs& rhs = block.bindings.back().rhs;
      bool isBranch = std::holds_alternative<ir::If>(rhs) || std::holds_alternative<ir::Match>(rhs);
      bool isNested = std::holds_alternative<ir::NestedBlock>(rhs);
      if (isBranch || isNested || std::holds_alternative<ir::CallJoin>(rhs)) {
        function_.var(result.var()).type = withDims(module.types, type, demand.dims);
        ir::forEachChildBlock(rhs, [&, certain = certain](ir::BlockId child) {
          work.emplace_back(child, certain && isNested);
        });
        continue;
      }
    }
    std::vector<ir::Obligation> checks;
    const SourceLocation place = resultLocation(function_, id, location);
    for (auto& [check, certainMessage] : demand.checks) {
      Truth truth = knowledge_.decide(check.lhs, check.relation, check.rhs);
      if (truth == Truth::True) continue;
      if (truth == Truth::False) {
        std::vector<std::string> shown;
        for (const DimExpr& dim : check.shown) shown.push_back(ir::print(module, dim));
        report(place, certain, ops::formatDimMessage(certainMessage, shown), ir::print(module, type));
      }
      checks.push_back(std::move(check));
    }
    if (checks.empty()) continue;
    ir::VarInfo info;
    info.type = withDims(module.types, type, demand.dims);
    info.location = place;
    ir::VarId alias = function_.addVar(std::move(info));
    block.bindings.push_back({alias, ir::AtomRhs{result}, place, std::move(checks)});
    block.result = alias;
  }
}

void FunctionDims::insertChecks() {
  std::unordered_map<ir::VarId, std::vector<DeclaredCheck*>> checksOf;
  std::set<ir::BlockId> homes;
  for (DeclaredCheck& check : declaredChecks_) {
    checksOf[check.var].push_back(&check);
    homes.insert(scope_.homeOf(check.var));
  }
  for (ir::BlockId home : homes) {
    std::vector<ir::Binding> bindings = std::move(function_.block(home).bindings);
    std::vector<ir::Binding> checked;
    for (ir::Binding& binding : bindings) {
      const auto checks = checksOf.find(binding.var);
      checked.push_back(std::move(binding));
      if (checks == checksOf.end()) continue;
      for (DeclaredCheck* check : checks->second) {
        // What is compared are extents that the value itself gives.
        ir::VarInfo info = function_.var(check->var);
        info.declaredType = nullptr;
        info.type = check->inferred;
        const ir::VarId found = function_.addVar(std::move(info));
        checked.back().var = found;
        const SourceLocation location = checked.back().location;
        checked.push_back({check->var, ir::AtomRhs{found}, location, std::move(check->obligations)});
      }
    }
    function_.block(home).bindings = std::move(checked);
  }
  for (size_t i = parameterChecks_.size(); i-- > 0;) {
    auto& [body, check] = parameterChecks_[i];
    const SourceLocation location = function_.location;
    const ir::VarId var =
        function_.addVar({.name = "check", .type = module_.module().types.unit(), .location = location});
    std::vector<ir::Binding>& bindings = function_.block(body).bindings;
    bindings.insert(bindings.begin(), {var, ir::MakeTuple{}, location, {std::move(check)}});
  }
  if (function_.declaredResult != nullptr)
    checkResult(function_.body, function_.declaredResult, fmt::format("the result of @{}", function_.name),
                function_.location, isCertain_);
  for (ir::BlockId id : ir::blocksInOrder(function_, function_.body)) {
    for (const ir::Binding& binding : function_.block(id).bindings) {
      const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda != nullptr && lambda->declaredResult != nullptr)
        checkResult(lambda->body, lambda->declaredResult, "the result of the function", binding.location,
                    false);
    }
  }
  // From here on names that stood for something are what they stood for.
  for (ir::Block& block : function_.blocks)
    for (ir::Binding& binding : block.bindings)
      if (ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs); lambda && lambda->declaredResult)
        lambda->declaredResult =
            module_.module().types.substituteDims(lambda->declaredResult, [&](DimSymbol symbol) {
              auto known = named_.find(symbol);
              return known == named_.end() ? std::nullopt : std::optional(known->second);
            });
}

}  // namespace baton::types
