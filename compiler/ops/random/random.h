// What operators on keys share.
#pragma once

#include "compiler/ir/op.h"
#include "compiler/ops/random/threefry_plain.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

inline constexpr int64_t kKeyWords = 10;

/// Type and rank of the key, and the attributes out_shape and out_dtype where there are.
Result<void> checkNumbers(const OpCall& call, StructureContext& context);
Result<void> requireKey(const OpCall& call, DimsContext& context);
/// Extents of the next key, and of numbers of the shape out_shape.
Result<std::vector<TensorDims>> keyAndNumbersDims(const OpCall& call, DimsContext& context);

ThreefryKey loadKey(const ReferenceCall& call);
void storeKey(const ReferenceCall& call, size_t result, const ThreefryKey& key);

}  // namespace baton::ops
