#include "kernels/codegen/conversions.h"

#include <llvm/IR/Intrinsics.h>

#include "kernels/codegen/value_ops.h"

namespace baton::codegen {

using llvm::IRBuilder;
using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

/// The type with the lanes of `like`.
Type* withLanesOf(Type* element, Type* like) {
  if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(like))
    return llvm::VectorType::get(element, vector->getElementCount());
  return element;
}
Value* integerLike(Value* like, uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }

Value* halfToFloat(IRBuilder<>& b, Value* bits) {
  Value* const half = b.CreateBitCast(bits, withLanesOf(b.getHalfTy(), bits->getType()));
  Type* const type = withLanesOf(b.getFloatTy(), bits->getType());
  // An F16C instruction. Behind the fence, what is done with the float is not narrowed to halves: LLVM would
  // choose by comparisons of those with calls of fmaxf, one for each lane.
  return b.CreateArithmeticFence(b.CreateFPExt(half, type), type);
}
Value* floatToHalf(IRBuilder<>& b, Value* value) {
  Value* const half = b.CreateFPTrunc(value, withLanesOf(b.getHalfTy(), value->getType()));
  return b.CreateBitCast(half, withLanesOf(b.getInt16Ty(), value->getType()));
}

Value* bfloatToFloat(IRBuilder<>& b, Value* bits) {
  Value* const wide = b.CreateZExt(bits, withLanesOf(b.getInt32Ty(), bits->getType()));
  return b.CreateBitCast(b.CreateShl(wide, 16), withLanesOf(b.getFloatTy(), bits->getType()));
}
Value* floatToBfloat(IRBuilder<>& b, Value* value) {
  Value* const bits = b.CreateBitCast(value, withLanesOf(b.getInt32Ty(), value->getType()));
  // To nearest even: half a unit in the last place less one, plus the last bit that stays.
  Value* const lastBit = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value* const rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, integerLike(bits, 0x7FFF)), lastBit), 16);
  Value* const kept = b.CreateSelect(b.CreateFCmpUNO(value, value), integerLike(bits, 0x7FC0), rounded);
  return b.CreateTrunc(kept, withLanesOf(b.getInt16Ty(), value->getType()));
}

/// Double to float, rounding to odd: a second rounding to fewer bits then is right.
Value* doubleToOddFloat(IRBuilder<>& b, Value* value) {
  Type* const floatType = withLanesOf(b.getFloatTy(), value->getType());
  Type* const intType = withLanesOf(b.getInt32Ty(), value->getType());
  Value* const nearest = b.CreateFPTrunc(value, floatType);
  Value* const back = b.CreateFPExt(nearest, value->getType());
  Value* const bits = b.CreateBitCast(nearest, intType);
  // Too large in magnitude: one step towards zero (from infinity to the largest, too).
  Value* const magnitude = b.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value* const isAbove = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(Intrinsic::fabs, back), magnitude);
  Value* const truncated = b.CreateAdd(bits, b.CreateSExt(isAbove, intType));
  Value* const isInexact = b.CreateFCmpONE(back, value);
  Value* const odd = b.CreateOr(truncated, b.CreateZExt(isInexact, intType));
  return b.CreateBitCast(odd, floatType);
}

/// Any number but the storage types, as something that f16 or bf16 can be rounded from.
Value* toRoundableFloat(IRBuilder<>& b, DType from, Value* value) {
  if (from == DType::F32) return value;
  if (from == DType::F64) return doubleToOddFloat(b, value);
  Value* integer = value;
  if (from == DType::I64 || from == DType::U64) {
    // Beyond 2^52 the low bits only matter as "there are some"; a double then holds the rest.
    Value* const low = b.CreateAnd(value, integerLike(value, 0xFFF));
    Value* const isInexact = b.CreateICmpNE(low, integerLike(value, 0));
    Value* const sticky = b.CreateSelect(isInexact, integerLike(value, 0x1000), integerLike(value, 0));
    Value* const rounded = b.CreateOr(b.CreateAnd(value, integerLike(value, ~uint64_t{0xFFF})), sticky);
    Value* const magnitude =
        from == DType::I64 ? b.CreateBinaryIntrinsic(Intrinsic::abs, value, b.getFalse()) : value;
    Value* const isSmall = b.CreateICmpULT(magnitude, integerLike(value, uint64_t{1} << 52));
    integer = b.CreateSelect(isSmall, value, rounded);
  }
  return doubleToOddFloat(b, emitCast(b, from, DType::F64, integer));
}

Value* integerToInteger(IRBuilder<>& b, DType from, DType to, Value* value) {
  Type* const type = withLanesOf(registerType(b.getContext(), to), value->getType());
  return isSignedInt(from) ? b.CreateSExtOrTrunc(value, type) : b.CreateZExtOrTrunc(value, type);
}

}  // namespace

Value* emitCast(IRBuilder<>& b, DType from, DType to, Value* value) {
  if (from == to) return value;
  if (from == DType::F16) return emitCast(b, DType::F32, to, halfToFloat(b, value));
  if (from == DType::BF16) return emitCast(b, DType::F32, to, bfloatToFloat(b, value));
  if (to == DType::F16) return floatToHalf(b, toRoundableFloat(b, from, value));
  if (to == DType::BF16) return floatToBfloat(b, toRoundableFloat(b, from, value));
  Type* const type = withLanesOf(registerType(b.getContext(), to), value->getType());
  if (to == DType::Bool) {
    Value* const zero = llvm::Constant::getNullValue(value->getType());
    return isFloat(from) ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  }
  if (isFloat(from) && isFloat(to)) return b.CreateFPCast(value, type);
  if (isFloat(to)) return isSignedInt(from) ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  if (isFloat(from)) {
    const auto id = isSignedInt(to) ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
    return b.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
  return integerToInteger(b, from, to, value);
}

Value* emitBitcast(IRBuilder<>& b, DType from, DType to, Value* value, bool canonicalNan) {
  Type* const type = withLanesOf(registerType(b.getContext(), to), value->getType());
  if (!isFloat(from) || isFloat(to) || !canonicalNan) return b.CreateBitCast(value, type);
  if (from == DType::F32 || from == DType::F64) {
    const uint64_t nan = from == DType::F32 ? 0x7FC00000u : 0x7FF8000000000000u;
    return b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::ConstantInt::get(type, nan),
                          b.CreateBitCast(value, type));
  }
  const uint64_t infinity = from == DType::F16 ? 0x7C00 : 0x7F80;
  const uint64_t nan = from == DType::F16 ? 0x7E00 : 0x7FC0;
  Value* const isNan =
      b.CreateICmpUGT(b.CreateAnd(value, integerLike(value, 0x7FFF)), integerLike(value, infinity));
  return b.CreateSelect(isNan, integerLike(value, nan), value);
}

}  // namespace baton::codegen
