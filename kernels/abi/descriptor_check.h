// The rules of a kernel descriptor. Descriptors come from files, so everything that code
// later indexes with is checked here.
#pragma once

#include "base/error.h"
#include "kernels/abi/descriptor.h"

namespace baton {

inline constexpr size_t kMaxKernelRank = 32;
inline constexpr size_t kMaxKernelOperands = 1024;  ///< inputs and outputs together
inline constexpr size_t kMaxKernelScalars = 1024;   ///< symbols, scalar inputs, scalar outputs together
inline constexpr uint32_t kMaxKernelAlignment = 4096;

/// ErrorCode::VerifyFailed, with a message that names the kernel, unless every index is in
/// range, every dim expression is over declared symbols, ranks and counts are within the
/// limits above, alignments are powers of two, and aliases have elements of one size.
Result<void> validateDescriptor(const KernelDescriptor& descriptor);

/// Whether every symbol in `expr` is below `symbolCount` and the expression can be evaluated.
bool isOverSymbols(const DimExpr& expr, size_t symbolCount);

}  // namespace baton
