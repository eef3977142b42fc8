// Constant weights of matrix products in the layout that the kernels read.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// nn.dense with a constant weight becomes nn.dense_packed, whose weight is packed in panels
/// now. A weight that several products use is packed once. What is not bound to bytes yet
/// (an external constant) stays.
Result<void> packWeights(ir::Module& module, PassContext& context);

}  // namespace baton::passes
