#include "kernels/codegen/float_extremes.h"

#include <algorithm>

#include "kernels/codegen/value_ops.h"

namespace baton::codegen {

using llvm::Value;

FloatExtremes::FloatExtremes(llvm::IRBuilder<>& b, bool isMax, llvm::FixedVectorType* type, unsigned repeat,
                             bool hasMasks, const Allocate& allocate)
    : b_(b),
      isMax_(isMax),
      type_(type),
      bitsType_(type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits()))) {
  llvm::Type* const conditions = type->getWithNewType(b.getInt1Ty());
  llvm::Constant* const bits =
      isMax ? llvm::Constant::getAllOnesValue(bitsType_) : llvm::Constant::getNullValue(bitsType_);
  const unsigned few = std::min(repeat, 2u);
  extremes_ = makePartials(llvm::ConstantFP::getInfinity(type, isMax), repeat, allocate);
  signs_ = makePartials(bits, few, allocate);
  nans_ = makePartials(llvm::Constant::getNullValue(hasMasks ? conditions : bitsType_), few, allocate);
}

FloatExtremes::Partials FloatExtremes::makePartials(llvm::Constant* start, unsigned count,
                                                    const Allocate& allocate) {
  Partials partials{start->getType(), {}};
  for (unsigned i = 0; i < count; ++i) {
    partials.slots.push_back(allocate(start->getType()));
    b_.CreateStore(start, partials.slots.back());
  }
  return partials;
}

void FloatExtremes::update(llvm::AllocaInst* slot, const std::function<Value*(Value* old)>& combine) {
  b_.CreateStore(combine(b_.CreateLoad(slot->getAllocatedType(), slot)), slot);
}

void FloatExtremes::take(std::span<Value* const> vectors) {
  for (size_t i = 0; i < vectors.size(); ++i) {
    update(extremes_.slots[i], [&](Value* old) { return emitBeyond(b_, isMax_, vectors[i], old); });
    update(signs_.slots[i % signs_.slots.size()], [&](Value* old) {
      Value* const bits = b_.CreateBitCast(vectors[i], bitsType_);
      return isMax_ ? b_.CreateAnd(old, bits) : b_.CreateOr(old, bits);
    });
  }
  // One comparison finds the NaN of two vectors.
  for (size_t i = 0; i < vectors.size(); i += 2) {
    Value* const isNan = b_.CreateFCmpUNO(vectors[i], vectors[std::min(i + 1, vectors.size() - 1)]);
    update(nans_.slots[i / 2 % nans_.slots.size()],
           [&](Value* old) { return b_.CreateOr(old, b_.CreateSExt(isNan, nans_.type)); });
  }
}

Value* FloatExtremes::combined(const Partials& partials,
                               const std::function<Value*(Value*, Value*)>& combine) {
  Value* all = b_.CreateLoad(partials.type, partials.slots[0]);
  for (size_t i = 1; i < partials.slots.size(); ++i)
    all = combine(all, b_.CreateLoad(partials.type, partials.slots[i]));
  return all;
}

Value* FloatExtremes::finish() {
  Value* extreme = combined(extremes_, [&](Value* x, Value* y) { return emitBeyond(b_, isMax_, x, y); });
  for (unsigned half = type_->getNumElements() / 2; half > 0; half /= 2)
    extreme = emitBeyond(b_, isMax_, halfOf(b_, extreme, false), halfOf(b_, extreme, true));
  extreme = b_.CreateExtractElement(extreme, uint64_t{0});
  Value* const bits =
      combined(signs_, [&](Value* x, Value* y) { return isMax_ ? b_.CreateAnd(x, y) : b_.CreateOr(x, y); });
  Value* const negative = b_.CreateICmpSLT(bits, llvm::Constant::getNullValue(bitsType_));
  Value* const isMinus = isMax_ ? b_.CreateAndReduce(negative) : b_.CreateOrReduce(negative);
  llvm::Type* const type = extreme->getType();
  Value* const zero =
      b_.CreateSelect(isMinus, llvm::ConstantFP::getNegativeZero(type), llvm::ConstantFP::getZero(type));
  Value* const isZero = b_.CreateFCmpOEQ(extreme, llvm::ConstantFP::getZero(type));
  Value* const number = b_.CreateSelect(isZero, zero, extreme);
  Value* const nans =
      b_.CreateOrReduce(combined(nans_, [&](Value* x, Value* y) { return b_.CreateOr(x, y); }));
  Value* const anyNan = b_.CreateICmpNE(nans, llvm::Constant::getNullValue(nans->getType()));
  return b_.CreateSelect(anyNan, llvm::ConstantFP::getQNaN(type), number);
}

}  // namespace baton::codegen
