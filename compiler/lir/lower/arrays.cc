// Array operations: one instruction each, of the bank of the elements.
#include "compiler/lir/lower/function_lowering.h"

namespace baton::lir {

using ir::ArrayOperation;

Result<void> FunctionLowering::arrayOperation(const ir::Binding& binding, const ir::ArrayOp& rhs) {
  const Kind kind = module_.types.kindOf(function_.var(binding.var).type);
  std::vector<Register> args;
  for (const ir::Atom& arg : rhs.args) {
    BATON_TRY_ASSIGN(const Register reg, toRegister(arg));
    args.push_back(reg);
  }
  const auto give = [&](Opcode opcode, std::initializer_list<Operand> operands) {
    bind(binding.var, Value::of(emitDef(opcode, kind, operands)));
    return success();
  };
  const auto index = [&] { return castTo(args[1], DType::I32, DType::I64); };
  const auto isScalar = [&](Register reg) { return out_.bankOf(reg) == Bank::Scalar; };
  switch (rhs.operation) {
    case ArrayOperation::New: return give(Opcode::ArrayNew, {KindIndex(kind.index)});
    case ArrayOperation::Push:
      return give(isScalar(args[1]) ? Opcode::ArrayPushScalar : Opcode::ArrayPushRef, {args[0], args[1]});
    case ArrayOperation::Get:
      return give(kind.isScalar() ? Opcode::ArrayGetScalar : Opcode::ArrayGetRef, {args[0], index()});
    case ArrayOperation::Set:
      return give(isScalar(args[2]) ? Opcode::ArraySetScalar : Opcode::ArraySetRef,
                  {args[0], index(), args[2]});
    case ArrayOperation::Length: {
      const Register length = emitDef(Opcode::ArrayLength, Kind::scalar(DType::I64), {args[0]});
      bind(binding.var, Value::of(castTo(length, DType::I64, DType::I32)));
      return success();
    }
    case ArrayOperation::Stack:
    case ArrayOperation::Concat: {
      std::vector<Register> extents;
      for (const int64_t extent : rhs.rowExtents)
        extents.push_back(scalarConstant(DType::I64, static_cast<uint64_t>(extent)));
      return give(rhs.operation == ArrayOperation::Stack ? Opcode::StackArray : Opcode::ConcatArray,
                  {args[0], kind.dtype, extents});
    }
    case ArrayOperation::Unstack: return give(Opcode::UnstackArray, {args[0], KindIndex(kind.index)});
    case ArrayOperation::Split: return give(Opcode::SplitArray, {args[0], args[1], KindIndex(kind.index)});
  }
  return success();
}

}  // namespace baton::lir
