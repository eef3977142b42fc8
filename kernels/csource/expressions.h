// Loop IR's types, constants and value operations in C. Private to kernels/csource.
#pragma once

#include <span>
#include <string>

#include "base/dim.h"
#include "kernels/loop/kernel.h"

namespace baton::csource {

std::string_view typeName(DType type);
std::string constantText(DType type, uint64_t bits);
/// Of an operation on values (not a division that may fail: see failureText). `type` is that of the
/// operands, but for the condition of a select.
std::string operationText(loop::Op op, DType type, DType resultType, std::span<const std::string> operands);
/// Whether an integer division fails.
std::string failureText(DType type, std::span<const std::string> operands);
/// An extent over the kernel's symbols; `bad` is set where a divisor is 0.
std::string dimText(const DimExpr& expr);
/// `left op right` of a reduction whose order does not matter.
std::string combinationText(loop::ReduceOp op, DType type, const std::string& left, const std::string& right);
/// What a reduction of nothing is.
std::string identityText(loop::ReduceOp op, DType type);
/// A scalar in the 64 bits in which a kernel returns it, and back.
std::string scalarText(DType type, const std::string& value);
std::string fromScalarText(DType type, const std::string& scalar);

}  // namespace baton::csource
