// A tensor in plain memory: what the reference versions of operators give.
#pragma once

#include "compiler/ops/reference.h"

namespace baton::eval {

using HostTensor = ops::ReferenceResult;

}  // namespace baton::eval
