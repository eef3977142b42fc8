#include "compiler/lir/lower/function_lowering.h"

#include <utility>

#include "compiler/ir/op.h"

namespace baton::lir {

FunctionLowering::FunctionLowering(ModuleLowering& module, const PendingFunction& pending)
    : module_(module), pending_(pending), function_(module.source.function(pending.source)) {}

Result<void> FunctionLowering::run() {
  out_ = std::move(module_.module.function(pending_.index));
  out_.addBlock();
  location_ = function_.location;
  const Kind self = Kind::closure(out_.signature, pending_.index);
  if (out_.isClosure) out_.blocks[0].params.push_back(newRegister(self));
  if (pending_.isWrapper) {
    callWrapped();
  } else {
    BATON_TRY(lowerBody());
  }
  module_.module.function(pending_.index) = std::move(out_);
  return success();
}

void FunctionLowering::callWrapped() {
  Arguments args;
  const bytecode::Signature& signature = module_.module.tables.signatures[out_.signature.value()];
  for (const Kind& kind : std::vector<Kind>(signature.params)) {
    const Register reg = newRegister(kind);
    out_.blocks[0].params.push_back(reg);
    (kind.isScalar() ? args.scalars : args.references).push_back(reg);
  }
  emit(Opcode::TailCall, {module_.functionOf(pending_.source), args.scalars, args.references});
}

Result<void> FunctionLowering::lowerBody() {
  const ClosureSource* closure = pending_.closure ? &*pending_.closure : nullptr;
  const std::vector<ir::VarId>& params = closure != nullptr ? closure->lambda->params : function_.params;
  std::vector<Register> registers;
  for (ir::VarId param : params) {
    registers.push_back(newRegister(module_.types.kindOf(function_.var(param).type)));
    out_.blocks[0].params.push_back(registers.back());
  }
  if (closure != nullptr) bindCaptures(*closure);
  for (size_t i = 0; i < params.size(); ++i) bind(params[i], Value::of(registers[i]));
  Destination destination;
  destination.isReturn = true;
  startLater(closure != nullptr ? closure->lambda->body : function_.body, kEntryBlock, destination);
  return runTasks();
}

void FunctionLowering::bindCaptures(const ClosureSource& closure) {
  const Register self = out_.blocks[0].params[0];
  values_[closure.self] = Value::of(self);
  for (const auto& [var, value] : closure.known) values_[var] = value;
  uint32_t slots[kBankCount] = {0, 0};
  const auto capture = [&](const Kind& kind) {
    uint32_t& slot = slots[static_cast<int>(kind.isScalar() ? Bank::Scalar : Bank::Reference)];
    return emitDef(kind.isScalar() ? Opcode::CaptureScalar : Opcode::CaptureRef, kind,
                   {self, Operand::immediate(slot++)});
  };
  std::vector<std::vector<Register>> registers;
  for (ir::VarId var : closure.vars) {
    registers.emplace_back();
    for (const Leaf& leaf : leavesOf(function_.var(var).type, std::nullopt))
      registers.back().push_back(capture(leaf.kind));
  }
  for (DimSymbol symbol : closure.symbols) symbols_.add(symbol, capture(Kind::scalar(DType::I64)));
  for (size_t i = 0; i < closure.vars.size(); ++i)
    bind(closure.vars[i],
         fromLeaves(closure.vars[i], leavesOf(function_.var(closure.vars[i]).type, std::nullopt),
                    registers[i]));
}

void FunctionLowering::emit(Opcode opcode, std::initializer_list<Operand> operands) {
  Instruction instruction = makeInstruction(out_, opcode, operands);
  instruction.location = location_;
  instruction.name = name_;
  out_.block(current_).instructions.push_back(instruction);
}

Register FunctionLowering::emitDef(Opcode opcode, Kind kind, std::initializer_list<Operand> operandsAfter) {
  const Register result = newRegister(kind);
  switch (operandsAfter.size()) {
    case 1: emit(opcode, {result, operandsAfter.begin()[0]}); break;
    case 2: emit(opcode, {result, operandsAfter.begin()[0], operandsAfter.begin()[1]}); break;
    case 3:
      emit(opcode, {result, operandsAfter.begin()[0], operandsAfter.begin()[1], operandsAfter.begin()[2]});
      break;
    default:
      BATON_CHECK(operandsAfter.size() == 4);
      emit(opcode, {result, operandsAfter.begin()[0], operandsAfter.begin()[1], operandsAfter.begin()[2],
                    operandsAfter.begin()[3]});
  }
  return result;
}

Register FunctionLowering::emitScalar(std::string_view mnemonic, Kind kind,
                                      std::initializer_list<Register> operands) {
  const bytecode::InstructionDesc* desc = bytecode::findInstructionDesc(mnemonic);
  BATON_CHECK(desc != nullptr);
  if (operands.size() == 1) return emitDef(desc->opcode, kind, {operands.begin()[0]});
  return emitDef(desc->opcode, kind, {operands.begin()[0], operands.begin()[1]});
}

Register FunctionLowering::scalarConstant(DType dtype, uint64_t bits) {
  if (const Register* known = scalarConstants_.find({dtype, bits})) return *known;
  const Register reg = emitDef(Opcode::Const, Kind::scalar(dtype), {dtype, Operand::immediate(bits)});
  scalarConstants_.add({dtype, bits}, reg);
  return reg;
}

Register FunctionLowering::castTo(Register reg, DType from, DType to) {
  return from == to ? reg : emitDef(Opcode::Cast, Kind::scalar(to), {reg, from, to});
}

Error FunctionLowering::unsupported(std::string message) const {
  return Error(ErrorCode::Unsupported, std::move(message));
}

}  // namespace baton::lir
