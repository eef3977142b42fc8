// Calls of operators and fused groups: directly where no kernel is needed, else with outputs
// allocated in front of the kernel.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/lir/lower/function_lowering.h"
#include "compiler/ops/call_contexts.h"

namespace baton::lir {

Result<void> FunctionLowering::callOperator(const ir::Binding& binding) {
  BATON_TRY(computeOwnExtents(binding));
  BATON_TRY_ASSIGN(const bool isDirect, tryDirect(binding));
  if (isDirect) return success();
  BATON_TRY_ASSIGN(const KernelCall call, module_.kernels.operatorCall(function_, binding));
  return callKernel(binding, call);
}

/// Extents of the result that are symbols of its own, where the operands tell what they are.
Result<void> FunctionLowering::computeOwnExtents(const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  const ir::TypeRef type = function_.var(binding.var).type;
  std::vector<ir::TypeRef> types{type};
  if (type->isTuple()) types.assign(type->elements().begin(), type->elements().end());
  const bool isAsked = std::any_of(types.begin(), types.end(), [&](ir::TypeRef result) {
    return std::any_of(result->dims().begin(), result->dims().end(), [&](const DimExpr& extent) {
      return extent.asSymbol() && !isKnown(*extent.asSymbol());
    });
  });
  if (!isAsked) return success();
  const std::vector<ops::TensorDims> found = ops::dimsFromOperands(module_.source, function_, call);
  if (found.empty()) return success();
  for (size_t i = 0; i < types.size(); ++i)
    for (size_t axis = 0; axis < types[i]->dims().size(); ++axis) {
      const std::optional<DimSymbol> symbol = types[i]->dims()[axis].asSymbol();
      const DimExpr& extent = found[i].extents[axis];
      if (!symbol || isKnown(*symbol) || !isKnown(extent)) continue;
      BATON_TRY_ASSIGN(const Register value, dim(extent, DimUse::Extent));
      symbols_.add(*symbol, value);
    }
  return success();
}

Result<FunctionLowering::KernelResults> FunctionLowering::allocateResults(ir::TypeRef type) {
  std::vector<ir::TypeRef> types{type};
  if (type->isTuple()) types.assign(type->elements().begin(), type->elements().end());
  KernelResults results;
  std::vector<Value> values;
  for (ir::TypeRef result : types) {
    const Kind kind = module_.types.kindOf(result);
    Register reg = kNoRegister;
    if (result->isScalar()) {
      reg = newRegister(kind);
      results.scalars.push_back(reg);
    } else {
      BATON_TRY_ASSIGN(const std::vector<Register> extents, extentsOf(result));
      reg = emitDef(Opcode::AllocTensor, kind, {result->dtype(), Operand::immediate(0), extents});
      results.tensors.push_back(reg);
    }
    values.push_back(Value::of(reg));
  }
  results.value = type->isTuple() ? addTuple(std::move(values), std::move(types)) : values[0];
  return results;
}

Result<void> FunctionLowering::allocateUnreached(const ir::Binding& binding) {
  BATON_TRY_ASSIGN(const KernelResults results, allocateResults(function_.var(binding.var).type));
  for (const Register reg : results.scalars)
    emit(Opcode::Const, {reg, out_.kindOf(reg).dtype, Operand::immediate(0)});
  bind(binding.var, results.value);
  return success();
}

Result<bool> FunctionLowering::tryDirect(const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  const ir::VarInfo& result = function_.var(binding.var);
  const ops::DirectCall direct = ops::directCall(module_.source, function_, binding);
  switch (direct.form) {
    case ops::DirectForm::None: return false;
    case ops::DirectForm::Scalar: {
      std::vector<DType> inputs;
      for (const ir::Atom& arg : call.args) inputs.push_back(typeOf(arg)->dtype());
      BATON_TRY(scalarOperator(binding, *ops::scalarRecipe(call, inputs, result.type->dtype())));
      return true;
    }
    case ops::DirectForm::DimValues:
      for (const DimExpr& element : *result.valueDims)
        if (!isKnown(element)) return false;
      bind(binding.var, addDims({result.type->dtype(), result.type->isScalar(), *result.valueDims}));
      return true;
    case ops::DirectForm::Unreached: BATON_TRY(allocateUnreached(binding)); return true;
    case ops::DirectForm::Same: bind(binding.var, valueOf(call.args[0])); return true;
    case ops::DirectForm::View: BATON_TRY(view(binding)); return true;
    case ops::DirectForm::LoadElement: {
      BATON_TRY_ASSIGN(const Register source, toRegister(call.args[0]));
      const std::vector<Register> zeros(typeOf(call.args[0])->dims().size(), scalarConstant(DType::I64, 0));
      bind(binding.var,
           Value::of(emitDef(Opcode::LoadScalar, Kind::scalar(result.type->dtype()), {source, zeros})));
      return true;
    }
    case ops::DirectForm::TakeElement:
    case ops::DirectForm::TakeRow: {
      BATON_TRY_ASSIGN(const Register source, toRegister(call.args[0]));
      const DimExpr& rows = typeOf(call.args[0])->dims()[0];
      Register extent = kNoRegister;
      if (isKnown(rows)) {
        BATON_TRY_ASSIGN(extent, dim(DimExpr(rows), DimUse::Extent));
      } else {
        extent = emitDef(Opcode::Dim, Kind::scalar(DType::I64), {source, Operand::immediate(0)});
      }
      BATON_TRY_ASSIGN(const Register index, outerIndex(binding, call.args[1], extent));
      const Kind kind = module_.types.kindOf(result.type);
      const Register taken = direct.form == ops::DirectForm::TakeRow
                                 ? emitDef(Opcode::IndexOuter, kind, {source, index})
                                 : emitDef(Opcode::LoadScalar, kind, {source, std::vector<Register>{index}});
      bind(binding.var, Value::of(taken));
      return true;
    }
    case ops::DirectForm::SliceRows: {
      if (!isKnown(direct.firstRow)) return false;
      BATON_TRY_ASSIGN(const Register source, toRegister(call.args[0]));
      BATON_TRY_ASSIGN(const Register first, dim(direct.firstRow, DimUse::Number));
      BATON_TRY_ASSIGN(const Register count, dim(DimExpr(result.type->dims()[0]), DimUse::Extent));
      bind(binding.var,
           Value::of(emitDef(Opcode::SliceOuter, module_.types.kindOf(result.type), {source, first, count})));
      return true;
    }
  }
  return false;
}

Result<void> FunctionLowering::scalarOperator(const ir::Binding& binding, const ops::ScalarRecipe& recipe) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  std::vector<Register> inputs(call.args.size(), kNoRegister);
  std::vector<Register> steps;
  const auto registerFor = [&](const ops::ScalarOperand& operand) -> Result<Register> {
    switch (operand.from) {
      case ops::ScalarOperand::From::Input:
        if (inputs[operand.index] == kNoRegister) {
          BATON_TRY_ASSIGN(inputs[operand.index], toRegister(call.args[operand.index]));
        }
        return inputs[operand.index];
      case ops::ScalarOperand::From::Step: return steps[operand.index];
      case ops::ScalarOperand::From::Constant: return scalarConstant(operand.dtype, operand.bits);
    }
    return kNoRegister;
  };
  for (const ops::ScalarStep& step : recipe.steps) {
    std::vector<Register> operands;
    for (const ops::ScalarOperand& operand : step.operands) {
      BATON_TRY_ASSIGN(const Register reg, registerFor(operand));
      operands.push_back(reg);
    }
    const bytecode::InstructionDesc* desc = bytecode::findInstructionDesc(step.mnemonic);
    BATON_CHECK(desc != nullptr);
    const Kind kind = Kind::scalar(step.type);
    if (desc->opcode == Opcode::Cast || desc->opcode == Opcode::Bitcast)
      steps.push_back(emitDef(desc->opcode, kind, {operands[0], step.from, step.type}));
    else if (operands.size() == 1)
      steps.push_back(emitDef(desc->opcode, kind, {operands[0]}));
    else if (operands.size() == 2)
      steps.push_back(emitDef(desc->opcode, kind, {operands[0], operands[1]}));
    else
      steps.push_back(emitDef(desc->opcode, kind, {operands[0], operands[1], operands[2]}));
  }
  BATON_TRY_ASSIGN(const Register result, registerFor(recipe.result));
  bind(binding.var, Value::of(result));
  return success();
}

Result<void> FunctionLowering::view(const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  const ir::TypeRef type = function_.var(binding.var).type;
  const std::span<const DimExpr> from = typeOf(call.args[0])->dims();
  if (std::vector(from.begin(), from.end()) == std::vector(type->dims().begin(), type->dims().end())) {
    bind(binding.var, valueOf(call.args[0]));
    return success();
  }
  BATON_TRY_ASSIGN(const Register source, toRegister(call.args[0]));
  BATON_TRY_ASSIGN(const std::vector<Register> extents, extentsOf(type));
  bind(binding.var, Value::of(emitDef(Opcode::Reshape, module_.types.kindOf(type), {source, extents})));
  return success();
}

/// The position that an index of `take` means, in [0, extent) or an error when it is used.
Result<Register> FunctionLowering::outerIndex(const ir::Binding& binding, const ir::Atom& index,
                                              Register extent) {
  const std::string& mode = std::get<ir::CallOp>(binding.rhs).attrs.stringOf("mode");
  const DType dtype = typeOf(index)->dtype();
  BATON_TRY_ASSIGN(Register position, toRegister(index));
  const Kind number = Kind::scalar(DType::I64);
  if (dtype == DType::U64)  // beyond int64 is beyond every extent
    position = emitDef(Opcode::MinU64, Kind::scalar(DType::U64),
                       {position, scalarConstant(DType::U64, static_cast<uint64_t>(INT64_MAX))});
  position = castTo(position, dtype, DType::I64);
  const Register zero = scalarConstant(DType::I64, 0);
  if (mode == "clip") {
    const Register last = emitDef(Opcode::SubI64, number, {extent, scalarConstant(DType::I64, 1)});
    return emitDef(Opcode::MaxI64, number, {emitDef(Opcode::MinI64, number, {position, last}), zero});
  }
  if (mode == "wrap") return emitDef(Opcode::FloorModI64, number, {position, extent});
  // fast: one that is still out of range after this is an error of the instruction.
  if (isUnsignedInt(dtype)) return position;
  const Register isNegative = emitScalar("lt.i64", Kind::scalar(DType::Bool), {position, zero});
  const Register fromEnd = emitDef(Opcode::AddI64, number, {position, extent});
  return emitDef(Opcode::Select, number, {isNegative, fromEnd, position});
}

Result<void> FunctionLowering::callKernel(const ir::Binding& binding, const KernelCall& call) {
  const KernelDescriptor& descriptor = module_.module.tables.kernels[call.use->kernel.value()];
  std::vector<Register> inputs;
  std::vector<Register> scalars;
  size_t tensor = 0;
  for (const ir::Atom& arg : call.args) {
    if (!typeOf(arg)->isScalar() && call.use->isUnreadTensor[tensor++]) continue;
    BATON_TRY_ASSIGN(const Register reg, toRegister(arg));
    (out_.bankOf(reg) == Bank::Scalar ? scalars : inputs).push_back(reg);
  }
  for (const DimExpr& scalarDim : call.use->scalarDims) {
    DimSymbol unknown;
    bool isComplete = true;
    const DimExpr value = scalarDim.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
      if (!call.symbols[symbol.value()]) {
        isComplete = false;
        unknown = symbol;
      }
      return call.symbols[symbol.value()];
    });
    if (!isComplete)
      return Error(ErrorCode::Internal,
                   fmt::format("kernel {}: no value for its symbol {}", descriptor.name, unknown.value()));
    BATON_TRY_ASSIGN(const Register reg, dim(value, DimUse::Number));
    scalars.push_back(reg);
  }
  if (inputs.size() != descriptor.inputs.size() || scalars.size() != descriptor.scalarInputs.size())
    return Error(
        ErrorCode::Internal,
        fmt::format("kernel {}: {} inputs and {} scalars given, expected {} and {}", descriptor.name,
                    inputs.size(), scalars.size(), descriptor.inputs.size(), descriptor.scalarInputs.size()));

  BATON_TRY_ASSIGN(const KernelResults results, allocateResults(function_.var(binding.var).type));
  emit(Opcode::CallKernel, {call.use->kernel, inputs, results.tensors, scalars, results.scalars});
  bind(binding.var, results.value);
  return success();
}

}  // namespace baton::lir
