// The exact remainder of floats, in loop IR.
#pragma once

#include "kernels/loop/builder.h"

namespace baton::ops {

/// fmod(a, b) of C for f32 or f64 operands: a - b * trunc(a / b), with the sign of a, without
/// any rounding.
loop::Value floatRemainder(loop::Value a, loop::Value b);

}  // namespace baton::ops
