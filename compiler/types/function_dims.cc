// Set-up, rounds and what is written back at the end.
#include "compiler/types/function_dims.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/attr_dims.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"
#include "compiler/types/dims.h"

namespace baton::types {

FunctionDims::FunctionDims(ModuleDims& module, ir::GlobalId id)
    : module_(module), id_(id), function_(module.module().function(id)), scope_(function_) {
  prepare();
}

void FunctionDims::prepare() {
  ir::TypeTable& types = module_.module().types;
  facts_.resize(function_.vars.size());
  for (const ir::VarInfo& info : function_.vars) shapes_.push_back(types.erased(info.type));
  for (ir::VarId param : function_.params) {
    ownDeclaredDims(param, function_.var(param).declaredType, true);
    self_.params.push_back(param);
    paramOf_.emplace(param, &self_);
    self_.shapes.push_back(shapes_[param.value()]);
    self_.declared.push_back(function_.var(param).declaredType);
  }
  self_.resultShape = types.erased(function_.result);
  self_.trustsData = function_.isExported;
  findDirectLambdas();
  for (const DimConstraint& constraint : function_.where) {
    Result<void> assumed = knowledge_.assume(constraint);
    if (!assumed.has_value())
      module_.diagnostics().error(
          function_.location,
          fmt::format("where {} {} {}: {}", ir::print(module_.module(), constraint.lhs),
                      relationName(constraint.relation), ir::print(module_.module(), constraint.rhs),
                      assumed.error().message()));
  }
  everywhere_ = knowledge_.mark();
}

// A name belongs to the first variable that has it as a whole extent. For a parameter
// whose calls are known it is a symbol; elsewhere it stands for whatever dim is found.
void FunctionDims::ownDeclaredDims(ir::VarId var, ir::TypeRef declared, bool isSymbol) {
  if (declared == nullptr) return;
  for (const Position& position : positionsOf(declared)) {
    std::optional<DimSymbol> symbol = position.dim.asSymbol();
    if (!position.isPlain || !symbol || *symbol == ir::kAnyDim) continue;
    if (owners_.contains(*symbol) || claimed_.contains(*symbol)) continue;
    if (isSymbol) {
      owners_.emplace(*symbol, var);
      knowledge_.addExtent(*symbol);
    } else {
      claimed_.emplace(*symbol, var);
    }
  }
}

void FunctionDims::findDirectLambdas() {
  std::unordered_set<ir::VarId> escaping;
  auto use = [&](const ir::Atom& atom) {
    if (atom.isVar()) escaping.insert(atom.var());
  };
  std::vector<ir::BlockId> blocks = ir::blocksInOrder(function_, function_.body);
  for (ir::BlockId id : blocks) {
    const ir::Block& block = function_.block(id);
    use(block.result);
    for (const ir::Binding& binding : block.bindings) {
      if (const ir::CallValue* call = std::get_if<ir::CallValue>(&binding.rhs))
        for (const ir::Atom& arg : call->args) use(arg);
      else
        ir::forEachOperand(binding.rhs, use);
    }
  }
  for (ir::BlockId id : blocks)
    for (const ir::Binding& binding : function_.block(id).bindings) {
      definitions_.emplace(binding.var, &binding);
      if (const ir::AtomRhs* alias = std::get_if<ir::AtomRhs>(&binding.rhs))
        aliases_.emplace(binding.var, resolveAlias(alias->atom));
      const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda == nullptr) {
        ownDeclaredDims(binding.var, function_.var(binding.var).declaredType, false);
        continue;
      }
      bool isDirect = !escaping.contains(binding.var);
      for (ir::VarId param : lambda->params)
        ownDeclaredDims(param, function_.var(param).declaredType, isDirect);
      if (!isDirect) continue;
      auto callable = std::make_unique<Callable>();
      callable->binder = binding.var;
      callable->body = lambda->body;
      for (ir::VarId param : lambda->params) {
        callable->params.push_back(param);
        paramOf_.emplace(param, callable.get());
        callable->shapes.push_back(shapes_[param.value()]);
        callable->declared.push_back(function_.var(param).declaredType);
      }
      callable->resultShape = shapes_[binding.var.value()]->result();
      lambdas_.emplace(binding.var, std::move(callable));
    }
}

std::optional<ir::GlobalId> FunctionDims::run() {
  if (!isReached()) return std::nullopt;
  do {
    if (walkers_.empty()) {
      isStable_ = true;
      startRound();
    }
    if (std::optional<ir::GlobalId> wanted = walkOn()) return wanted;
    finishRound();
  } while (!isStable_);
  return std::nullopt;
}

void FunctionDims::round() {
  startRound();
  BATON_CHECK(!walkOn());
  finishRound();
}

std::optional<ir::GlobalId> FunctionDims::walkOn() {
  while (!walkers_.empty()) {
    wantedFirst_.reset();
    wantedLocal_ = nullptr;
    if (!walkers_.back()->run()) {
      if (wantedFirst_) return wantedFirst_;
      calledLocals_.push_back(wantedLocal_);
      giveParams(*wantedLocal_);
      walkLater(wantedLocal_->body);
      continue;
    }
    walkers_.pop_back();
    if (walkers_.empty()) break;
    const ir::Binding& definition = *definitionOf(calledLocals_.back()->binder);
    calledLocals_.pop_back();
    finishLambda(definition, std::get<ir::Lambda>(definition.rhs));
  }
  return std::nullopt;
}

void FunctionDims::startRound() {
  isReachedBlock_.assign(function_.blocks.size(), false);
  isShadowBlock_.assign(function_.blocks.size(), false);
  failing_.assign(function_.blocks.size(), ir::kNoVar);
  shadowBlock_ = ir::kNoBlock;
  deadBlock_ = ir::kNoBlock;
  knowledge_.rollback(everywhere_);
  saved_.clear();
  openBlocks_.clear();
  giveParams(self_);
  walkLater(function_.body);
}

void FunctionDims::walkLater(ir::BlockId root) {
  ir::WalkCallbacks callbacks;
  callbacks.enterBlock = [&](ir::BlockId block) {
    openBlocks_.push_back(block);
    if (deadBlock_ == ir::kNoBlock) isReachedBlock_[block.value()] = true;
    isShadowBlock_[block.value()] = inShadow();
  };
  callbacks.enterBinding = [&](ir::BlockId block, size_t index) { return enterBinding(block, index); };
  callbacks.enterChild = [&](ir::BlockId block, size_t index, size_t child, ir::BlockId id) {
    enterChild(block, index, child, id);
  };
  callbacks.leaveBinding = [&](ir::BlockId block, size_t index) { leaveBinding(block, index); };
  callbacks.leaveBlock = [&](ir::BlockId block) {
    openBlocks_.pop_back();
    if (!saved_.empty() && saved_.back().block == block) {
      knowledge_.rollback(saved_.back().before);
      saved_.pop_back();
    }
    if (deadBlock_ == block) deadBlock_ = ir::kNoBlock;
    if (shadowBlock_ == block) shadowBlock_ = ir::kNoBlock;
  };
  walkers_.push_back(std::make_unique<ir::Walker>(function_, root, std::move(callbacks)));
}

void FunctionDims::finishRound() {
  knowledge_.rollback(everywhere_);
  Fact result = factOf(function_.block(function_.body).result);
  if (!result.isReached()) return;
  result = refine(ir::kNoVar, function_.declaredResult, std::move(result), function_.location);
  if (updateResult(self_, result)) {
    changed();
    module_.resultChanged(id_);
  }
}

void FunctionDims::set(ir::VarId var, Fact fact) {
  if (fact.isReached() && !fact.values) {
    auto tied = tied_.find(var);
    if (tied != tied_.end()) fact.values = tied->second;
  }
  Fact& known = facts_[var.value()];
  if (known == fact) return;
  known = std::move(fact);
  changed();
}

bool FunctionDims::enterBinding(ir::BlockId block, size_t index) {
  if (deadBlock_ != ir::kNoBlock) return false;
  ir::Binding& binding = function_.block(block).bindings[index];
  if (isFinal_) {
    binding.obligations.clear();
    obligations_ = &binding.obligations;
  }
  if (const ir::If* branch = std::get_if<ir::If>(&binding.rhs)) return factOf(branch->condition).isReached();
  if (const ir::Match* match = std::get_if<ir::Match>(&binding.rhs))
    return factOf(match->scrutinee).isReached();
  if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs)) return enterLambda(binding, *lambda);
  if (std::holds_alternative<ir::NestedBlock>(binding.rhs)) return true;
  Fact fact = evaluate(binding);
  if (wantedFirst_ || wantedLocal_ != nullptr) {
    walkers_.back()->pause();
    return false;
  }
  set(binding.var,
      refine(binding.var, function_.var(binding.var).declaredType, std::move(fact), binding.location));
  return true;
}

// False when the body is not looked at.
bool FunctionDims::enterLambda(const ir::Binding& binding, const ir::Lambda& lambda) {
  ir::TypeRef type = shapes_[binding.var.value()];
  set(binding.var, {module_.cells().filledIn(type), std::nullopt});
  auto direct = lambdas_.find(binding.var);
  if (direct != lambdas_.end()) {
    Callable& callable = *direct->second;
    if (!callable.join || !callable.join->isReached()) {
      if (!hasShadow_) return false;
      callable.isShadow = true;
      reachFromAnywhere(callable);
    }
    giveParams(callable);
    return true;
  }
  for (size_t i = 0; i < lambda.params.size() && !inShadow(); ++i) {
    ir::TypeRef declared = function_.var(lambda.params[i]).declaredType;
    if (declared != nullptr && module_.cells().pin(type, i, declared)) module_.cellsChanged();
  }
  std::vector<ir::TypeRef> params;
  for (size_t i = 0; i < lambda.params.size(); ++i) {
    std::optional<ir::TypeRef> param = module_.cells().typeOf(type, i);
    if (!param && !hasShadow_) return false;
    params.push_back(param ? *param : type->elements()[i]);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    ir::VarId var = lambda.params[i];
    Fact fact = readable(var, params[i]);
    if (!fact.isReached()) return false;
    std::vector<DimExpr> written = declaredDims(function_.var(var).declaredType, shapes_[var.value()]);
    std::vector<Position> positions = positionsOf(fact.type);
    for (size_t p = 0; p < written.size(); ++p) {
      std::optional<DimSymbol> symbol = written[p].asSymbol();
      auto claimed = symbol ? claimed_.find(*symbol) : claimed_.end();
      if (claimed != claimed_.end() && claimed->second == var)
        named_.insert_or_assign(*symbol, positions[p].dim);
      else if (isFinal_ && positions[p].isPlain && !isAnyDim(written[p]))
        checkParameter(lambda.body, var, fact.type, p, positions[p].dim, written[p]);
    }
    set(var, std::move(fact));
  }
  return true;
}

// A function value may be called with anything of its structure.
void FunctionDims::checkParameter(ir::BlockId body, ir::VarId var, ir::TypeRef type, size_t position,
                                  const DimExpr& found, const DimExpr& written) {
  const DimExpr expected = resolveNamed(written);
  std::vector<DimSymbol> symbols;
  expected.collectSymbols(symbols);
  for (DimSymbol symbol : symbols)
    if (!isKnownSymbol(symbol)) return;
  if (knowledge_.decide(found, Relation::Eq, expected) == Truth::True) return;
  std::string message =
      mismatch(fmt::format("%{}: {}", function_.var(var).name, positionText(type, position)), written,
               expected)
          .atRun;
  parameterChecks_.emplace_back(
      body, ir::Obligation{found, Relation::Eq, expected, std::move(message), {found, expected}});
}

void FunctionDims::enterChild(ir::BlockId block, size_t index, size_t child, ir::BlockId childBlock) {
  if (deadBlock_ != ir::kNoBlock) return;
  const ir::Binding& binding = function_.block(block).bindings[index];
  bool isReached = true;
  if (const ir::Match* match = std::get_if<ir::Match>(&binding.rhs)) {
    isReached = bindPattern(match->clauses[child].pattern, factOf(match->scrutinee).type);
  } else if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
    auto direct = lambdas_.find(binding.var);
    if (direct != lambdas_.end()) {
      isReached = !direct->second->isShadow;
    } else {
      for (size_t i = 0; i < lambda->params.size(); ++i)
        isReached = isReached && module_.cells().typeOf(shapes_[binding.var.value()], i).has_value();
    }
  }
  if (isReached) return;
  if (!hasShadow_)
    deadBlock_ = childBlock;
  else if (!inShadow())
    shadowBlock_ = childBlock;
}

void FunctionDims::leaveBinding(ir::BlockId block, size_t index) {
  if (deadBlock_ != ir::kNoBlock) return;
  ir::Binding& binding = function_.block(block).bindings[index];
  obligations_ = isFinal_ ? &binding.obligations : nullptr;
  std::vector<ir::BlockId> blocks;
  if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
    if (isReachedBlock_[lambda->body.value()]) finishLambda(binding, *lambda);
    return;
  }
  ir::forEachChildBlock(binding.rhs, [&](ir::BlockId child) { blocks.push_back(child); });
  bool meets = std::holds_alternative<ir::If>(binding.rhs) ||
               std::holds_alternative<ir::Match>(binding.rhs) ||
               std::holds_alternative<ir::NestedBlock>(binding.rhs);
  if (!meets) return;
  Fact fact = joinBlocks(binding, blocks);
  set(binding.var,
      refine(binding.var, function_.var(binding.var).declaredType, std::move(fact), binding.location));
}

// The operator of this binding fails whenever it runs, so control does not get to the end of its block.
void FunctionDims::failsHere(ir::VarId var) {
  ir::VarId& first = failing_[scope_.homeOf(var).value()];
  if (first == ir::kNoVar) first = var;
}

// What follows an operator that certainly fails is dropped: there is no result to compute it from.
void FunctionDims::cutFailing() {
  ir::Module& module = module_.module();
  for (uint32_t b = 0; b < failing_.size(); ++b) {
    if (failing_[b] == ir::kNoVar) continue;
    ir::Block& block = function_.blocks[b];
    auto at = std::find_if(block.bindings.begin(), block.bindings.end(),
                           [&](const ir::Binding& binding) { return binding.var == failing_[b]; });
    if (at == block.bindings.end() || at->obligations.empty()) continue;
    const SourceLocation location = at->location;
    std::vector<ir::Obligation> obligations = std::move(at->obligations);
    const ir::TypeRef shape = module.types.erased(module.typeOf(function_, block.result));
    block.bindings.erase(at, block.bindings.end());
    const ir::VarId check =
        function_.addVar({.name = "check", .type = module.types.unit(), .location = location});
    block.bindings.push_back({check, ir::MakeTuple{}, location, std::move(obligations)});
    const ir::VarId never = function_.addVar({.name = "never", .type = shape, .location = location});
    function_.var(never).type = readable(never, shape).type;
    block.bindings.push_back({never, ir::Match{check, false, {}}, location, {}});
    block.result = never;
  }
}

void FunctionDims::finishLambda(const ir::Binding& binding, const ir::Lambda& lambda) {
  Fact result = factOf(function_.block(lambda.body).result);
  if (!result.isReached()) return;
  result = refine(ir::kNoVar, lambda.declaredResult, std::move(result), binding.location);
  auto direct = lambdas_.find(binding.var);
  if (direct != lambdas_.end()) {
    if (updateResult(*direct->second, result)) changed();
    return;
  }
  ir::TypeRef type = shapes_[binding.var.value()];
  arrive(type, lambda.params.size(), result.type);
}

void FunctionDims::finish(bool isCertain) {
  isFinal_ = true;
  isCertain_ = isCertain;
  declaredChecks_.clear();
  parameterChecks_.clear();
  if (isReached()) round();
  obligations_ = nullptr;
  for (uint32_t v = 0; v < function_.vars.size(); ++v) {
    Fact& fact = facts_[v];
    if (!fact.isReached()) fact = readable(ir::VarId(v), shapes_[v]);
    function_.vars[v].type = unknownData(fact.type);
    function_.vars[v].valueDims = fact.values;
  }
  function_.result = self_.resultFact.isReached() ? unknownData(self_.resultFact.type) : self_.resultShape;
  for (ir::Block& block : function_.blocks)
    for (ir::Binding& binding : block.bindings) {
      if (ir::ArrayOp* array = std::get_if<ir::ArrayOp>(&binding.rhs)) noteRowExtents(*array);
      ir::CallOp* call = std::get_if<ir::CallOp>(&binding.rhs);
      if (call == nullptr) continue;
      if (const auto attrs = explicitAttrs_.find(binding.var); attrs != explicitAttrs_.end())
        call->attrs = std::move(attrs->second);
      ir::mapDims(call->attrs, [&](const DimExpr& dim) { return resolveNamed(dim); });
    }
  cutFailing();
  insertChecks();
}

}  // namespace baton::types
