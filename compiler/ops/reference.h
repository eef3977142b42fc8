// The reference versions: each operator as a plain loop over scalars, in the order and with
// the polynomials of the numeric contract. What every other way to run it is held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "compiler/ir/op.h"

namespace baton::ops {

/// A tensor that somebody else owns: row-major, dense, bool one byte 0 or 1.
struct TensorView {
  DType dtype = DType::F32;
  std::span<const int64_t> shape;
  const std::byte* data = nullptr;
};

struct ReferenceResult {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

/// Runs a call; an input list is flattened. Shapes follow from the operator's own relations.
/// ErrorCode::ProgramError for what would fail when run (shapes that do not fit included).
/// `work` is how many elements it may read, make and, in products, multiply; it is less by those
/// afterwards. ErrorCode::LimitReached, before anything is made, where that is not enough.
Result<std::vector<ReferenceResult>> evaluateReference(const OpDef& op, const ir::Attrs& attrs,
                                                       std::span<const TensorView> inputs, uint64_t& work);
Result<std::vector<ReferenceResult>> evaluateReference(const OpDef& op, const ir::Attrs& attrs,
                                                       std::span<const TensorView> inputs);

}  // namespace baton::ops
