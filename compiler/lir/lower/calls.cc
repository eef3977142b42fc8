// Calls, data, closures and cells.
#include "compiler/ir/op.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"
#include "compiler/lir/lower/function_lowering.h"

namespace baton::lir {

Result<FunctionLowering::Arguments> FunctionLowering::arguments(std::span<const ir::Atom> atoms) {
  Arguments result;
  for (const ir::Atom& atom : atoms) {
    BATON_TRY_ASSIGN(const Register reg, toRegister(atom));
    (out_.bankOf(reg) == Bank::Scalar ? result.scalars : result.references).push_back(reg);
  }
  return result;
}

FunctionLowering::Arguments FunctionLowering::results(ir::VarId var, std::vector<Register>& leaves) {
  Arguments result;
  for (const Kind& kind : module_.types.splitKinds(function_.var(var).type)) {
    const Register reg = newRegister(kind);
    leaves.push_back(reg);
    (kind.isScalar() ? result.scalars : result.references).push_back(reg);
  }
  return result;
}

Result<void> FunctionLowering::callGlobal(const ir::Binding& binding, const ir::CallGlobal& call,
                                          bool isTail) {
  const ir::Function& callee = module_.source.function(call.callee);
  if (isFusionGroup(callee)) {
    BATON_TRY_ASSIGN(const KernelCall kernel,
                     module_.kernels.groupCall(function_, call, function_.var(binding.var).type));
    BATON_TRY(callKernel(binding, kernel));
    return success();
  }
  BATON_TRY_ASSIGN(const Arguments args, arguments(call.args));
  const FunctionIndex function = module_.functionOf(call.callee);
  if (isTail) {
    emit(Opcode::TailCall, {function, args.scalars, args.references});
    return success();
  }
  std::vector<Register> leaves;
  const Arguments out = results(binding.var, leaves);
  emit(Opcode::Call, {function, args.scalars, args.references, out.scalars, out.references});
  bind(binding.var, fromLeaves(binding.var, leavesOf(function_.var(binding.var).type, std::nullopt), leaves));
  return success();
}

Result<void> FunctionLowering::callValue(const ir::Binding& binding, const ir::CallValue& call, bool isTail) {
  if (const Value callee = valueOf(call.callee); callee.form == Value::Form::Global)
    return callGlobal(binding, {ir::GlobalId(callee.index), call.args}, isTail);
  BATON_TRY_ASSIGN(const Register closure, toRegister(call.callee));
  BATON_TRY_ASSIGN(const Arguments args, arguments(call.args));
  if (isTail) {
    emit(Opcode::TailCallClosure, {closure, args.scalars, args.references});
    return success();
  }
  std::vector<Register> leaves;
  const Arguments out = results(binding.var, leaves);
  emit(Opcode::CallClosure, {closure, args.scalars, args.references, out.scalars, out.references});
  bind(binding.var, fromLeaves(binding.var, leavesOf(function_.var(binding.var).type, std::nullopt), leaves));
  return success();
}

Result<void> FunctionLowering::construct(const ir::Binding& binding, const ir::Construct& construct) {
  const ir::TypeRef type = function_.var(binding.var).type;
  std::vector<Value> fields;
  std::vector<ir::TypeRef> types;
  for (const ir::Atom& arg : construct.args) {
    fields.push_back(valueOf(arg));
    types.push_back(typeOf(arg));
  }
  const Kind kind = module_.types.kindOf(type);
  BATON_TRY_ASSIGN(const Register object,
                   makeObject(TypeIndex(kind.index), construct.constructor.tag, fields, types, kind));
  bind(binding.var, Value::of(object));
  return success();
}

// What the body uses from outside becomes captures: variables in registers, and extents that
// neither its parameters nor a captured tensor tell.
Result<void> FunctionLowering::makeClosure(const ir::Binding& binding, const ir::Lambda& lambda) {
  ClosureSource closure;
  closure.parent = pending_.source;
  closure.self = binding.var;
  closure.lambda = &lambda;
  const std::vector<ir::VarId>& free = module_.freeVariables(pending_.source).of(lambda);
  std::vector<Register> captured;
  std::vector<Kind> kinds;
  for (ir::VarId var : free) {
    if (var == binding.var) continue;
    const Value value = values_.at(var);
    if (value.form == Value::Form::Constant || value.form == Value::Form::Global) {
      closure.known.emplace_back(var, value);
      continue;
    }
    closure.vars.push_back(var);
    const std::vector<Leaf> leaves = leavesOf(function_.var(var).type, std::nullopt);
    BATON_TRY(appendLeaves(value, function_.var(var).type, leaves, captured));
  }
  for (DimSymbol symbol : symbolsInside(lambda, free)) {
    const Register* known = symbols_.find(symbol);
    if (known == nullptr) continue;
    closure.symbols.push_back(symbol);
    captured.push_back(*known);
  }
  std::vector<Register> references;
  std::vector<Register> scalars;
  for (Register reg : captured) (out_.bankOf(reg) == Bank::Scalar ? scalars : references).push_back(reg);
  for (const auto* list : {&references, &scalars})
    for (Register reg : *list) {
      Kind kind = out_.kindOf(reg);
      kind.function.reset();
      kinds.push_back(kind);
    }
  const FunctionIndex function = module_.closureFunction(std::move(closure), std::move(kinds));
  bind(binding.var,
       Value::of(emitDef(Opcode::MakeClosure, module_.types.kindOf(function_.var(binding.var).type),
                         {function, references, scalars})));
  return success();
}

/// Symbols in what the lambda holds, in order of appearance, that its captured tensors do not tell.
std::vector<DimSymbol> FunctionLowering::symbolsInside(const ir::Lambda& lambda,
                                                       const std::vector<ir::VarId>& free) const {
  std::vector<DimSymbol> found;
  std::unordered_map<DimSymbol, bool> seen;
  const auto add = [&](const DimExpr& expr) {
    std::vector<DimSymbol> symbols;
    expr.collectSymbols(symbols);
    for (DimSymbol symbol : symbols)
      if (seen.try_emplace(symbol, true).second) found.push_back(symbol);
  };
  for (ir::VarId var : free) {
    const ir::VarInfo& info = function_.var(var);
    // Plain extents of what is captured can be read inside.
    ir::forEachOwnTensor(info.type, [&](ir::TypeRef type) {
      for (const DimExpr& dim : type->dims())
        if (const std::optional<DimSymbol> symbol = dim.asSymbol()) seen.try_emplace(*symbol, true);
    });
  }
  const auto addVar = [&](ir::VarId var) {
    const ir::VarInfo& info = function_.var(var);
    ir::forEachOwnTensor(info.type, [&](ir::TypeRef type) {
      for (const DimExpr& dim : type->dims()) add(dim);
    });
    if (!info.valueDims) return;
    for (const DimExpr& dim : *info.valueDims) add(dim);
  };
  for (ir::VarId var : free) addVar(var);
  for (ir::VarId param : lambda.params) addVar(param);
  for (ir::BlockId block : ir::blocksInOrder(function_, lambda.body))
    for (const ir::Binding& binding : function_.block(block).bindings) {
      addVar(binding.var);
      if (const auto* inner = std::get_if<ir::Lambda>(&binding.rhs))
        for (ir::VarId param : inner->params) addVar(param);
      if (const auto* match = std::get_if<ir::Match>(&binding.rhs))
        for (const ir::Clause& clause : match->clauses)
          ir::forEachPatternVar(function_, clause.pattern, addVar);
      for (const ir::Obligation& obligation : binding.obligations) {
        add(obligation.lhs);
        add(obligation.rhs);
        for (const DimExpr& expr : obligation.shown) add(expr);
      }
      if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs))
        for (const auto& [name, value] : call->attrs.entries())
          if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value))
            for (const DimExpr& dim : *dims) add(dim);
    }
  return found;
}

Result<void> FunctionLowering::makeCell(const ir::Binding& binding, const ir::MakeRef& make) {
  BATON_TRY_ASSIGN(const Register content, toRegister(make.value));
  const Kind kind = module_.types.kindOf(function_.var(binding.var).type);
  const bool isScalar = out_.bankOf(content) == Bank::Scalar;
  bind(binding.var, Value::of(emitDef(isScalar ? Opcode::CellNewScalar : Opcode::CellNewRef, kind,
                                      {KindIndex(kind.index), content})));
  return success();
}

Result<void> FunctionLowering::readCell(const ir::Binding& binding, const ir::ReadRef& read) {
  BATON_TRY_ASSIGN(const Register cell, toRegister(read.cell));
  const Kind kind = module_.types.kindOf(function_.var(binding.var).type);
  bind(binding.var,
       Value::of(emitDef(kind.isScalar() ? Opcode::CellReadScalar : Opcode::CellReadRef, kind, {cell})));
  return success();
}

Result<void> FunctionLowering::writeCell(const ir::Binding& binding, const ir::WriteRef& write) {
  BATON_TRY_ASSIGN(const Register cell, toRegister(write.cell));
  BATON_TRY_ASSIGN(const Register content, toRegister(write.value));
  emit(out_.bankOf(content) == Bank::Scalar ? Opcode::CellWriteScalar : Opcode::CellWriteRef,
       {cell, content});
  bind(binding.var, addTuple({}, {}));
  return success();
}

}  // namespace baton::lir
