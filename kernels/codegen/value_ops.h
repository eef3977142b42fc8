// The value operations of loop IR as LLVM IR. Every function works on scalars and on vectors
// alike. Element types: bool is i1 in registers and i8 in memory; f16 and bf16 are their bits
// (i16); the rest are what their names say.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>

#include "kernels/loop/op.h"

namespace baton::codegen {

llvm::Type* registerType(llvm::LLVMContext& context, DType type);
llvm::Type* memoryType(llvm::LLVMContext& context, DType type);
/// From a register's type to memory's and back: only bool changes.
llvm::Value* toMemory(llvm::IRBuilder<>& b, DType type, llvm::Value* value);
llvm::Value* fromMemory(llvm::IRBuilder<>& b, DType type, llvm::Value* value);

llvm::Constant* constantOf(llvm::LLVMContext& context, DType type, uint64_t bits);

/// What may be left out of an operation.
struct ValueOpNeeds {
  bool canonicalNan = true;  ///< Bitcast, CopySign: else any NaN will do
};

/// `operandType` is the type of the first operand that is not a condition. Integer division
/// must have been checked.
llvm::Value* emitValueOp(llvm::IRBuilder<>& b, loop::Op op, DType operandType, DType resultType,
                         std::span<llvm::Value* const> operands, ValueOpNeeds needs = {});

/// The lanes of the lower or upper half.
llvm::Value* halfOf(llvm::IRBuilder<>& b, llvm::Value* vector, bool upper);

/// Of two floats the greater one, or the lesser one: y where they are equal or unordered, zeroes of
/// both signs among the equal ones. One instruction; Max and Min are made of two.
llvm::Value* emitBeyond(llvm::IRBuilder<>& b, bool isMax, llvm::Value* x, llvm::Value* y);

/// i1: whether the integer division a / b fails.
llvm::Value* emitDivisionFails(llvm::IRBuilder<>& b, DType type, llvm::Value* dividend, llvm::Value* divisor);

/// What a reduction starts from, and how it combines two values of its order-free kinds, or
/// of Sum and Prod.
llvm::Constant* reduceIdentity(llvm::LLVMContext& context, loop::ReduceOp op, DType type);
llvm::Value* emitCombine(llvm::IRBuilder<>& b, loop::ReduceOp op, DType type, llvm::Value* left,
                         llvm::Value* right);

}  // namespace baton::codegen
