// What operators share that are written with kernels for boxes.
#pragma once

#include "compiler/ops/lowering/expand.h"

namespace baton::ops {

/// The kernels are of float32 and float64: storage types are cast.
Result<TensorId> asKernelType(ExpandContext& context, TensorId tensor);
/// An optional scalar input, cast, or a number.
Result<TensorId> scalarOr(ExpandContext& context, size_t input, DType type, double otherwise);

}  // namespace baton::ops
