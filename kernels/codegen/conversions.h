// Casts and bit casts between element types, without library routines: f16 and bf16 are
// expanded into integer arithmetic where the machine has no instruction for them.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "base/dtype.h"

namespace baton::codegen {

/// As convertScalar of base/dtype.h; scalars or vectors of registers (see value_ops.h).
llvm::Value* emitCast(llvm::IRBuilder<>& b, DType from, DType to, llvm::Value* value);
/// NaNs become the canonical one when a float is read as an integer, unless any will do.
llvm::Value* emitBitcast(llvm::IRBuilder<>& b, DType from, DType to, llvm::Value* value, bool canonicalNan);

}  // namespace baton::codegen
