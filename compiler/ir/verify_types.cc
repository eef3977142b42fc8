#include "compiler/ir/verify_types.h"

#include <fmt/format.h>

#include "compiler/ir/attr_dims.h"
#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"

namespace baton::ir {

bool sameStructure(TypeRef a, TypeRef b) {
  std::vector<std::pair<TypeRef, TypeRef>> stack{{a, b}};
  while (!stack.empty()) {
    auto [x, y] = stack.back();
    stack.pop_back();
    if (x == y) continue;
    if (x == nullptr || y == nullptr || x->kind() != y->kind()) return false;
    if (x->isTensor()) {
      if (x->dtype() != y->dtype() || x->rank() != y->rank()) return false;
      continue;
    }
    if (x->isAdt() && x->definition() != y->definition()) return false;
    if (x->kind() == TypeKind::Var || x->kind() == TypeKind::Hole) return false;
    if (x->elements().size() != y->elements().size()) return false;
    for (size_t i = 0; i < x->elements().size(); ++i) stack.emplace_back(x->elements()[i], y->elements()[i]);
    if (x->isFunction()) stack.emplace_back(x->result(), y->result());
  }
  return true;
}

namespace {

class TypeVerifier {
 public:
  TypeVerifier(Module& module, const Function& function) : module_(module), function_(function) {}

  Result<void> run() {
    if (!function_.generics.empty()) return fail("specialised", "it has type parameters", kNoVar);
    for (VarId param : function_.params) BATON_TRY(checkVar(param));
    if (function_.result == nullptr) return fail("types", "the result has no type", kNoVar);
    for (BlockId block : blocksInOrder(function_, function_.body))
      for (const Binding& binding : function_.block(block).bindings) {
        if (const Lambda* lambda = std::get_if<Lambda>(&binding.rhs)) {
          if (!lambda->generics.empty()) return fail("specialised", "it has type parameters", binding.var);
          for (VarId param : lambda->params) BATON_TRY(checkVar(param));
        }
        if (const Match* match = std::get_if<Match>(&binding.rhs)) {
          Result<void> patterns = success();
          for (const Clause& clause : match->clauses)
            forEachPatternVar(function_, clause.pattern, [&](VarId var) {
              if (patterns.has_value()) patterns = checkVar(var);
            });
          BATON_TRY(std::move(patterns));
        }
        BATON_TRY(checkVar(binding.var));
        BATON_TRY(checkBinding(binding));
      }
    return expect(typeOf(function_.block(function_.body).result), function_.result, kNoVar, "the result");
  }

 private:
  Error fail(std::string_view rule, const std::string& message, VarId var) const {
    std::string name = var == kNoVar ? "" : " %" + function_.var(var).name;
    return Error(ErrorCode::VerifyFailed, fmt::format("{}: @{}{}: {}", rule, function_.name, name, message));
  }
  TypeRef typeOf(const Atom& atom) { return module_.typeOf(function_, atom); }

  Result<void> checkVar(VarId var) const {
    TypeRef type = function_.var(var).type;
    if (type == nullptr) return fail("types", "it has no type", var);
    if (type->isOpen()) return fail("specialised", "its type has parameters", var);
    return success();
  }

  Result<void> expect(TypeRef found, TypeRef expected, VarId var, const std::string& what) const {
    if (sameStructure(found, expected)) return success();
    return fail(
        "types",
        fmt::format("{} has type {}; expected {}", what, print(module_, found), print(module_, expected)),
        var);
  }

  Result<void> expectAll(std::span<const Atom> found, std::span<const TypeRef> expected, VarId var) {
    if (found.size() != expected.size())
      return fail("types", fmt::format("{} operands for {} types", found.size(), expected.size()), var);
    for (size_t i = 0; i < found.size(); ++i)
      BATON_TRY(expect(typeOf(found[i]), expected[i], var, fmt::format("operand {}", i + 1)));
    return success();
  }

  Result<void> checkPatterns(PatternId root, TypeRef scrutinee, VarId var) {
    std::vector<std::pair<PatternId, TypeRef>> stack{{root, scrutinee}};
    while (!stack.empty()) {
      auto [id, type] = stack.back();
      stack.pop_back();
      const Pattern& pattern = function_.pattern(id);
      std::vector<TypeRef> parts;
      if (pattern.kind == Pattern::Kind::Var) {
        BATON_TRY(expect(function_.var(pattern.var).type, type, pattern.var, "the pattern"));
      } else if (pattern.kind == Pattern::Kind::Constructor) {
        if (!type->isAdt() || type->definition() != pattern.constructor.definition)
          return fail("types", "a pattern does not fit the type of the value", var);
        parts = module_.fieldTypes(type, pattern.constructor.tag);
      } else if (pattern.kind == Pattern::Kind::Tuple) {
        if (!type->isTuple() || type->elements().size() != pattern.children.size())
          return fail("types", "a pattern does not fit the type of the value", var);
        parts.assign(type->elements().begin(), type->elements().end());
      }
      for (size_t i = 0; i < parts.size(); ++i) stack.emplace_back(pattern.children[i], parts[i]);
    }
    return success();
  }

  Result<void> checkBinding(const Binding& binding) {
    VarId var = binding.var;
    TypeRef type = function_.var(var).type;
    auto blockResult = [&](BlockId block) { return typeOf(function_.block(block).result); };
    if (const AtomRhs* rhs = std::get_if<AtomRhs>(&binding.rhs))
      return expect(typeOf(rhs->atom), type, var, "the value");
    if (const CallOp* rhs = std::get_if<CallOp>(&binding.rhs)) {
      for (const Atom& arg : rhs->args)
        if (!typeOf(arg)->isTensor())
          return fail("types", fmt::format("{} has an operand that is no tensor", rhs->op->name), var);
      return success();
    }
    if (const CallGlobal* rhs = std::get_if<CallGlobal>(&binding.rhs)) {
      const Function& callee = module_.function(rhs->callee);
      std::vector<TypeRef> params;
      for (VarId param : callee.params) params.push_back(callee.var(param).type);
      BATON_TRY(expectAll(rhs->args, params, var));
      return expect(callee.result, type, var, "the result");
    }
    if (const CallValue* rhs = std::get_if<CallValue>(&binding.rhs)) {
      TypeRef callee = typeOf(rhs->callee);
      if (!callee->isFunction()) return fail("types", "what is called is no function", var);
      BATON_TRY(expectAll(rhs->args, callee->elements(), var));
      return expect(callee->result(), type, var, "the result");
    }
    if (const CallJoin* rhs = std::get_if<CallJoin>(&binding.rhs)) {
      TypeRef join = function_.var(rhs->join).type;
      if (!join->isFunction())
        return fail("types", "the join does not have the type of a function", rhs->join);
      BATON_TRY(expectAll(rhs->args, join->elements(), var));
      return expect(join->result(), type, var, "the result");
    }
    if (const Construct* rhs = std::get_if<Construct>(&binding.rhs)) {
      if (!type->isAdt() || type->definition() != rhs->constructor.definition)
        return fail("types", "the variable does not have the type that is constructed", var);
      return expectAll(rhs->args, module_.fieldTypes(type, rhs->constructor.tag), var);
    }
    if (const MakeTuple* rhs = std::get_if<MakeTuple>(&binding.rhs)) {
      if (!type->isTuple()) return fail("types", "the variable does not have the type of a tuple", var);
      return expectAll(rhs->elements, type->elements(), var);
    }
    if (const Project* rhs = std::get_if<Project>(&binding.rhs)) {
      TypeRef tuple = typeOf(rhs->tuple);
      if (!tuple->isTuple() || rhs->index >= tuple->elements().size())
        return fail("types", fmt::format("there is no field {}", rhs->index), var);
      return expect(tuple->elements()[rhs->index], type, var, "the field");
    }
    if (const If* rhs = std::get_if<If>(&binding.rhs)) {
      TypeRef condition = typeOf(rhs->condition);
      if (!condition->isScalar() || condition->dtype() != DType::Bool)
        return fail("types", "the condition is no bool scalar", var);
      BATON_TRY(expect(blockResult(rhs->thenBlock), type, var, "the first branch"));
      return expect(blockResult(rhs->elseBlock), type, var, "the second branch");
    }
    if (const Match* rhs = std::get_if<Match>(&binding.rhs)) {
      for (const Clause& clause : rhs->clauses) {
        BATON_TRY(checkPatterns(clause.pattern, typeOf(rhs->scrutinee), var));
        BATON_TRY(expect(blockResult(clause.block), type, var, "a clause"));
      }
      return success();
    }
    if (const Lambda* rhs = std::get_if<Lambda>(&binding.rhs)) {
      std::vector<TypeRef> params;
      for (VarId param : rhs->params) params.push_back(function_.var(param).type);
      return expect(module_.types.function(std::move(params), blockResult(rhs->body)), type, var,
                    "the function");
    }
    if (const NestedBlock* rhs = std::get_if<NestedBlock>(&binding.rhs))
      return expect(blockResult(rhs->block), type, var, "the block");
    if (const MakeRef* rhs = std::get_if<MakeRef>(&binding.rhs))
      return expect(module_.types.ref(typeOf(rhs->value)), type, var, "the cell");
    if (const ReadRef* rhs = std::get_if<ReadRef>(&binding.rhs))
      return expect(typeOf(rhs->cell), module_.types.ref(type), var, "the cell");
    if (const ArrayOp* rhs = std::get_if<ArrayOp>(&binding.rhs)) return checkArray(*rhs, type, var);
    const WriteRef& rhs = std::get<WriteRef>(binding.rhs);
    BATON_TRY(expect(typeOf(rhs.cell), module_.types.ref(typeOf(rhs.value)), var, "the cell"));
    return expect(module_.types.unit(), type, var, "the result of a write");
  }

  Result<void> expectArray(TypeRef type, VarId var) const {
    if (type->isArray()) return success();
    return fail("types", fmt::format("an array operation on {}", print(module_, type)), var);
  }

  /// An array of tensors that are a tensor's rows, or, as `sameRank`, groups of its rows.
  Result<void> expectRows(TypeRef array, TypeRef tensor, bool sameRank, VarId var) const {
    BATON_TRY(expectArray(array, var));
    const TypeRef element = array->element();
    const bool fits = element->isTensor() && tensor->isTensor() && tensor->rank() > 0 &&
                      element->dtype() == tensor->dtype() &&
                      element->rank() == tensor->rank() - (sameRank ? 0 : 1);
    if (fits) return success();
    return fail("types", fmt::format("{} and {} do not fit", print(module_, array), print(module_, tensor)),
                var);
  }

  Result<void> checkArray(const ArrayOp& rhs, TypeRef type, VarId var) {
    const TypeRef index = module_.types.scalar(DType::I32);
    std::vector<TypeRef> args;
    for (const Atom& arg : rhs.args) args.push_back(typeOf(arg));
    switch (rhs.operation) {
      case ArrayOperation::New: return expectArray(type, var);
      case ArrayOperation::Push:
        BATON_TRY(expectArray(args[0], var));
        BATON_TRY(expect(args[1], args[0]->element(), var, "the element"));
        return expect(type, args[0], var, "the array");
      case ArrayOperation::Get:
        BATON_TRY(expectArray(args[0], var));
        BATON_TRY(expect(args[1], index, var, "the index"));
        return expect(type, args[0]->element(), var, "the element");
      case ArrayOperation::Set:
        BATON_TRY(expectArray(args[0], var));
        BATON_TRY(expect(args[1], index, var, "the index"));
        BATON_TRY(expect(args[2], args[0]->element(), var, "the element"));
        return expect(type, args[0], var, "the array");
      case ArrayOperation::Length:
        BATON_TRY(expectArray(args[0], var));
        return expect(type, index, var, "the length");
      case ArrayOperation::Stack:
      case ArrayOperation::Concat:
        BATON_TRY(expectRows(args[0], type, rhs.operation == ArrayOperation::Concat, var));
        if (rhs.rowExtents.size() + 1 == static_cast<size_t>(type->rank())) return success();
        return fail("types",
                    fmt::format("{} extents of a row of {}", rhs.rowExtents.size(), print(module_, type)),
                    var);
      case ArrayOperation::Unstack: return expectRows(type, args[0], false, var);
      case ArrayOperation::Split:
        BATON_TRY(expectRows(type, args[0], true, var));
        return expect(args[1], module_.types.tensor(DType::I32, {0}), var, "the counts");
    }
    return success();
  }

  Module& module_;
  const Function& function_;
};

class DimVerifier {
 public:
  DimVerifier(const Module& module, const Function& function) : module_(module), function_(function) {}

  Result<void> run() {
    known_.assign(module_.dimSymbols.size(), 0);
    scopes_.emplace_back();
    for (VarId param : function_.params) give(param);
    for (VarId param : function_.params) need(param);
    std::vector<VarId> waiting;
    WalkCallbacks callbacks;
    callbacks.enterBlock = [&](BlockId) {
      scopes_.emplace_back();
      for (VarId var : waiting) give(var);
      for (VarId var : waiting) need(var);
      waiting.clear();
    };
    callbacks.enterBinding = [&](BlockId block, size_t index) {
      const Binding& binding = function_.block(block).bindings[index];
      for (const Obligation& obligation : binding.obligations) {
        needDim(obligation.lhs, binding.var);
        needDim(obligation.rhs, binding.var);
        for (const DimExpr& dim : obligation.shown) needDim(dim, binding.var);
      }
      if (const CallOp* call = std::get_if<CallOp>(&binding.rhs))
        forEachDim(call->attrs, [&](const DimExpr& dim) { needDim(dim, binding.var); });
      return true;
    };
    callbacks.enterChild = [&](BlockId block, size_t index, size_t child, BlockId) {
      const Rhs& rhs = function_.block(block).bindings[index].rhs;
      if (const Lambda* lambda = std::get_if<Lambda>(&rhs)) waiting = lambda->params;
      if (const Match* match = std::get_if<Match>(&rhs))
        forEachPatternVar(function_, match->clauses[child].pattern,
                          [&](VarId var) { waiting.push_back(var); });
    };
    callbacks.leaveBinding = [&](BlockId block, size_t index) {
      VarId var = function_.block(block).bindings[index].var;
      give(var);
      need(var);
    };
    callbacks.leaveBlock = [&](BlockId) {
      for (DimSymbol symbol : scopes_.back()) --known_[symbol.value()];
      scopes_.pop_back();
    };
    walk(function_, function_.body, callbacks);
    return std::move(outcome_);
  }

 private:
  void giveSymbol(DimSymbol symbol) {
    if (symbol.value() >= known_.size()) return;
    ++known_[symbol.value()];
    scopes_.back().push_back(symbol);
  }

  void give(VarId var) {
    const VarInfo& info = function_.var(var);
    forEachBoundSymbol(info.type, [&](DimSymbol symbol) { giveSymbol(symbol); });
    if (info.valueDims)
      for (const DimExpr& dim : *info.valueDims)
        if (const std::optional<DimSymbol> symbol = dim.asSymbol()) giveSymbol(*symbol);
  }

  void needDim(const DimExpr& dim, VarId var) {
    if (!outcome_.has_value() || dim.isConstant() || dim.asSymbol() == kAnyDim) return;
    std::vector<DimSymbol> symbols;
    dim.collectSymbols(symbols);
    for (DimSymbol symbol : symbols) {
      if (symbol.value() < known_.size() && known_[symbol.value()] > 0) continue;
      std::string name = symbol.value() < known_.size() ? module_.dimSymbols.name(symbol) : "?";
      outcome_ =
          Error(ErrorCode::VerifyFailed, fmt::format("dims: @{} %{}: nothing in scope gives {} its value",
                                                     function_.name, function_.var(var).name, name));
      return;
    }
  }

  void need(VarId var) {
    const VarInfo& info = function_.var(var);
    std::vector<TypeRef> stack{info.type};
    while (!stack.empty()) {
      TypeRef type = stack.back();
      stack.pop_back();
      if (type->isTensor())
        for (const DimExpr& dim : type->dims()) needDim(dim, var);
      else if (type->isAggregate())
        stack.insert(stack.end(), type->elements().begin(), type->elements().end());
    }
    if (info.valueDims)
      for (const DimExpr& dim : *info.valueDims) needDim(dim, var);
  }

  const Module& module_;
  const Function& function_;
  std::vector<uint32_t> known_;                 // by symbol: how many variables in scope give it
  std::vector<std::vector<DimSymbol>> scopes_;  // by open block
  Result<void> outcome_ = success();
};

}  // namespace

Result<void> verifyTypes(Module& module, const Function& function) {
  return TypeVerifier(module, function).run();
}

Result<void> verifyDims(const Module& module, const Function& function) {
  return DimVerifier(module, function).run();
}

}  // namespace baton::ir
