#include "kernels/codegen/value_ops.h"

#include <llvm/IR/Intrinsics.h>

#include <limits>

#include "base/error.h"
#include "kernels/codegen/conversions.h"

namespace baton::codegen {

using llvm::IRBuilder;
using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;
using loop::Op;
using loop::ReduceOp;
namespace Intrinsic = llvm::Intrinsic;

Type* registerType(llvm::LLVMContext& context, DType type) {
  switch (type) {
    case DType::Bool: return Type::getInt1Ty(context);
    case DType::I8:
    case DType::U8: return Type::getInt8Ty(context);
    case DType::I16:
    case DType::U16:
    case DType::F16:
    case DType::BF16: return Type::getInt16Ty(context);
    case DType::I32:
    case DType::U32: return Type::getInt32Ty(context);
    case DType::I64:
    case DType::U64: return Type::getInt64Ty(context);
    case DType::F32: return Type::getFloatTy(context);
    case DType::F64: return Type::getDoubleTy(context);
  }
  return nullptr;
}

Type* memoryType(llvm::LLVMContext& context, DType type) {
  return type == DType::Bool ? Type::getInt8Ty(context) : registerType(context, type);
}

Value* toMemory(IRBuilder<>& b, DType type, Value* value) {
  if (type != DType::Bool) return value;
  return b.CreateZExt(value, value->getType()->getWithNewBitWidth(8));
}

Value* fromMemory(IRBuilder<>& b, DType type, Value* value) {
  if (type != DType::Bool) return value;
  return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

llvm::Constant* constantOf(llvm::LLVMContext& context, DType type, uint64_t bits) {
  Type* const llvmType = registerType(context, type);
  if (type == DType::F32) return llvm::ConstantFP::get(llvmType, llvm::APFloat(scalarFromBits<float>(bits)));
  if (type == DType::F64) return llvm::ConstantFP::get(llvmType, llvm::APFloat(scalarFromBits<double>(bits)));
  return llvm::ConstantInt::get(llvmType, bits);  // the upper bits do not fit and are dropped
}

namespace {

/// The number that a value is in every lane, if it is a constant.
const llvm::APFloat* constantFloat(Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant != nullptr && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number == nullptr ? nullptr : &number->getValueAPF();
}

/// The extreme of x and a constant that is no NaN: x is taken where it is one.
Value* emitBounded(IRBuilder<>& b, bool isMax, Value* x, Value* constant, const llvm::APFloat& value) {
  using P = llvm::CmpInst;
  // Of zeroes, too, x is the one to take, unless the constant is the more extreme of the two: then
  // what takes it is no longer one instruction.
  if (value.isZero() && value.isNegative() != isMax)
    return b.CreateSelect(b.CreateFCmp(isMax ? P::FCMP_UGT : P::FCMP_ULT, x, constant), x, constant);
  return b.CreateSelect(b.CreateFCmp(isMax ? P::FCMP_OGT : P::FCMP_OLT, constant, x), constant, x);
}

/// IEEE 754-2019 minimum and maximum. Not LLVM's intrinsics: on f16, to which optimisation may
/// narrow them, LLVM 19 gives zero for NaN and zero.
Value* emitFloatMinMax(IRBuilder<>& b, bool isMax, Value* x, Value* y) {
  if (const llvm::APFloat* value = constantFloat(y); value != nullptr && !value->isNaN())
    return emitBounded(b, isMax, x, y, *value);
  if (const llvm::APFloat* value = constantFloat(x); value != nullptr && !value->isNaN())
    return emitBounded(b, isMax, y, x, *value);
  Value* const first = emitBeyond(b, isMax, x, y);
  Value* const second = emitBeyond(b, isMax, y, x);
  // They differ only for zeroes of both signs, where the bits give the sign, and for NaN.
  Type* const floatType = x->getType();
  Type* const bitsType = floatType->getWithNewType(b.getIntNTy(floatType->getScalarSizeInBits()));
  Value* const firstBits = b.CreateBitCast(first, bitsType);
  Value* const secondBits = b.CreateBitCast(second, bitsType);
  // Any bit that is set keeps a NaN one, so the least needs no more.
  if (!isMax) return b.CreateBitCast(b.CreateOr(firstBits, secondBits), floatType);
  // All bits set are a NaN, and cheaper to blend than another.
  Value* const bits = b.CreateSelect(b.CreateFCmpUNO(x, y), llvm::Constant::getAllOnesValue(bitsType),
                                     b.CreateAnd(firstBits, secondBits));
  return b.CreateBitCast(bits, floatType);
}

Value* emitMinMax(IRBuilder<>& b, DType type, bool isMax, Value* x, Value* y) {
  if (isFloat(type)) return emitFloatMinMax(b, isMax, x, y);
  if (type == DType::Bool) return isMax ? b.CreateOr(x, y) : b.CreateAnd(x, y);
  const ID id = isSignedInt(type) ? (isMax ? Intrinsic::smax : Intrinsic::smin)
                                  : (isMax ? Intrinsic::umax : Intrinsic::umin);
  return b.CreateBinaryIntrinsic(id, x, y);
}

Value* emitDivision(IRBuilder<>& b, Op op, DType type, Value* x, Value* y) {
  const bool wantsQuotient = op == Op::FloorDiv || op == Op::TruncDiv;
  if (!isSignedInt(type)) return wantsQuotient ? b.CreateUDiv(x, y) : b.CreateURem(x, y);
  if (op == Op::TruncDiv) return b.CreateSDiv(x, y);
  if (op == Op::TruncMod) return b.CreateSRem(x, y);
  // By a power of two, flooring is a shift and a mask.
  const auto* constant = llvm::dyn_cast<llvm::Constant>(y);
  const llvm::APInt* power = nullptr;
  if (constant != nullptr) {
    const llvm::Constant* element = constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
    if (const auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(element))
      power = &integer->getValue();
  }
  if (power != nullptr && power->isStrictlyPositive() && power->isPowerOf2()) {
    if (op == Op::FloorDiv) return b.CreateAShr(x, llvm::ConstantInt::get(y->getType(), power->logBase2()));
    return b.CreateAnd(x, llvm::ConstantInt::get(y->getType(), *power - 1));
  }
  Value* const zero = llvm::Constant::getNullValue(x->getType());
  Value* const remainder = b.CreateSRem(x, y);
  Value* const signsDiffer = b.CreateICmpSLT(b.CreateXor(remainder, y), zero);
  Value* const isBelow = b.CreateAnd(b.CreateICmpNE(remainder, zero), signsDiffer);
  if (op == Op::FloorMod) return b.CreateSelect(isBelow, b.CreateAdd(remainder, y), remainder);
  return b.CreateAdd(b.CreateSDiv(x, y), b.CreateSExt(isBelow, x->getType()));
}

Value* emitShift(IRBuilder<>& b, Op op, DType type, Value* x, Value* count) {
  const unsigned width = x->getType()->getScalarSizeInBits();
  Value* const inside = b.CreateICmpULT(count, llvm::ConstantInt::get(count->getType(), width));
  if (op == Op::Shl)
    return b.CreateSelect(inside, b.CreateShl(x, count), llvm::Constant::getNullValue(x->getType()));
  if (!isSignedInt(type))
    return b.CreateSelect(inside, b.CreateLShr(x, count), llvm::Constant::getNullValue(x->getType()));
  // Shifting by one less than the width fills with the sign.
  return b.CreateAShr(x, b.CreateSelect(inside, count, llvm::ConstantInt::get(count->getType(), width - 1)));
}

Value* emitComparison(IRBuilder<>& b, Op op, DType type, Value* x, Value* y) {
  using P = llvm::CmpInst;
  const bool isSigned = isSignedInt(type);
  P::Predicate predicate = P::BAD_ICMP_PREDICATE;
  switch (op) {
    case Op::Eq: predicate = isFloat(type) ? P::FCMP_OEQ : P::ICMP_EQ; break;
    case Op::Ne: predicate = isFloat(type) ? P::FCMP_UNE : P::ICMP_NE; break;
    case Op::Lt: predicate = isFloat(type) ? P::FCMP_OLT : isSigned ? P::ICMP_SLT : P::ICMP_ULT; break;
    case Op::Le: predicate = isFloat(type) ? P::FCMP_OLE : isSigned ? P::ICMP_SLE : P::ICMP_ULE; break;
    case Op::Gt: predicate = isFloat(type) ? P::FCMP_OGT : isSigned ? P::ICMP_SGT : P::ICMP_UGT; break;
    default: predicate = isFloat(type) ? P::FCMP_OGE : isSigned ? P::ICMP_SGE : P::ICMP_UGE; break;
  }
  return b.CreateCmp(predicate, x, y);
}

}  // namespace

Value* halfOf(IRBuilder<>& b, Value* vector, bool upper) {
  const unsigned width = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements() / 2;
  std::vector<int> lanes;
  for (unsigned lane = 0; lane < width; ++lane) lanes.push_back(static_cast<int>(lane + (upper ? width : 0)));
  return b.CreateShuffleVector(vector, lanes);
}

Value* emitBeyond(IRBuilder<>& b, bool isMax, Value* x, Value* y) {
  const auto predicate = isMax ? llvm::CmpInst::FCMP_OGT : llvm::CmpInst::FCMP_OLT;
  return b.CreateSelect(b.CreateFCmp(predicate, x, y), x, y);
}

Value* emitValueOp(IRBuilder<>& b, Op op, DType type, DType resultType, std::span<Value* const> v,
                   ValueOpNeeds needs) {
  const bool isF = isFloat(type);
  switch (op) {
    case Op::Add: return isF ? b.CreateFAdd(v[0], v[1]) : b.CreateAdd(v[0], v[1]);
    case Op::Sub: return isF ? b.CreateFSub(v[0], v[1]) : b.CreateSub(v[0], v[1]);
    case Op::Mul: return isF ? b.CreateFMul(v[0], v[1]) : b.CreateMul(v[0], v[1]);
    case Op::Div: return b.CreateFDiv(v[0], v[1]);
    case Op::FloorDiv:
    case Op::FloorMod:
    case Op::TruncDiv:
    case Op::TruncMod: return emitDivision(b, op, type, v[0], v[1]);
    case Op::Min: return emitMinMax(b, type, false, v[0], v[1]);
    case Op::Max: return emitMinMax(b, type, true, v[0], v[1]);
    case Op::And: return b.CreateAnd(v[0], v[1]);
    case Op::Or: return b.CreateOr(v[0], v[1]);
    case Op::Xor: return b.CreateXor(v[0], v[1]);
    case Op::Shl:
    case Op::Shr: return emitShift(b, op, type, v[0], v[1]);
    case Op::CopySign: {
      Value* const withSign = b.CreateBinaryIntrinsic(Intrinsic::copysign, v[0], v[1]);
      if (!needs.canonicalNan) return withSign;
      return b.CreateSelect(b.CreateFCmpUNO(v[1], v[1]), b.CreateUnaryIntrinsic(Intrinsic::fabs, v[0]),
                            withSign);
    }
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: return emitComparison(b, op, type, v[0], v[1]);
    case Op::Not: return b.CreateNot(v[0]);
    case Op::Neg: return isF ? b.CreateFNeg(v[0]) : b.CreateNeg(v[0]);
    case Op::Abs:
      if (isF) return b.CreateUnaryIntrinsic(Intrinsic::fabs, v[0]);
      return isSignedInt(type) ? b.CreateBinaryIntrinsic(Intrinsic::abs, v[0], b.getFalse()) : v[0];
    case Op::Sqrt: return b.CreateUnaryIntrinsic(Intrinsic::sqrt, v[0]);
    case Op::Floor: return b.CreateUnaryIntrinsic(Intrinsic::floor, v[0]);
    case Op::Ceil: return b.CreateUnaryIntrinsic(Intrinsic::ceil, v[0]);
    case Op::Trunc: return b.CreateUnaryIntrinsic(Intrinsic::trunc, v[0]);
    case Op::Round: return b.CreateUnaryIntrinsic(Intrinsic::roundeven, v[0]);
    case Op::Cast: return emitCast(b, type, resultType, v[0]);
    case Op::Bitcast: return emitBitcast(b, type, resultType, v[0], needs.canonicalNan);
    case Op::Select: return b.CreateSelect(v[0], v[1], v[2]);
    case Op::Fma: return b.CreateIntrinsic(v[0]->getType(), Intrinsic::fma, {v[0], v[1], v[2]});
    case Op::Const:
    case Op::Symbol:
    case Op::ScalarInput:
    case Op::LoopVar:
    case Op::Load:
    case Op::Store:
    case Op::GetLocal:
    case Op::SetLocal:
    case Op::Local:
    case Op::SetScalar:
    case Op::Fail:
    case Op::For:
    case Op::If:
    case Op::Reduce: break;
  }
  BATON_CHECK(false && "not a value operation");
  return nullptr;
}

Value* emitDivisionFails(IRBuilder<>& b, DType type, Value* dividend, Value* divisor) {
  Value* fails = b.CreateICmpEQ(divisor, llvm::Constant::getNullValue(divisor->getType()));
  if (!isSignedInt(type)) return fails;
  const unsigned width = divisor->getType()->getScalarSizeInBits();
  Value* const isMin = b.CreateICmpEQ(
      dividend, llvm::ConstantInt::get(dividend->getType(), llvm::APInt::getSignedMinValue(width)));
  Value* const isMinusOne = b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(divisor->getType()));
  return b.CreateOr(fails, b.CreateAnd(isMin, isMinusOne));
}

llvm::Constant* reduceIdentity(llvm::LLVMContext& context, ReduceOp op, DType type) {
  Type* const llvmType = registerType(context, type);
  const unsigned width = llvmType->getScalarSizeInBits();
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Any:
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin: return llvm::Constant::getNullValue(llvmType);
    case ReduceOp::All: return llvm::ConstantInt::getTrue(context);
    case ReduceOp::Prod:
      return isFloat(type) ? llvm::ConstantFP::get(llvmType, 1.0) : llvm::ConstantInt::get(llvmType, 1);
    case ReduceOp::Max:
    case ReduceOp::Min: {
      const bool isMax = op == ReduceOp::Max;
      if (isFloat(type)) return llvm::ConstantFP::getInfinity(llvmType, isMax);
      const llvm::APInt lowest =
          isSignedInt(type) ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width);
      const llvm::APInt highest =
          isSignedInt(type) ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
      return llvm::ConstantInt::get(context, isMax ? lowest : highest);
    }
  }
  return nullptr;
}

Value* emitCombine(IRBuilder<>& b, ReduceOp op, DType type, Value* left, Value* right) {
  switch (op) {
    case ReduceOp::Sum: return isFloat(type) ? b.CreateFAdd(left, right) : b.CreateAdd(left, right);
    case ReduceOp::Prod: return isFloat(type) ? b.CreateFMul(left, right) : b.CreateMul(left, right);
    case ReduceOp::Max: return emitMinMax(b, type, true, left, right);
    case ReduceOp::Min: return emitMinMax(b, type, false, left, right);
    case ReduceOp::All: return b.CreateAnd(left, right);
    case ReduceOp::Any: return b.CreateOr(left, right);
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin: break;
  }
  BATON_CHECK(false && "no combination of two values");
  return nullptr;
}

}  // namespace baton::codegen
