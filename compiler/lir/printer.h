// Low-level form as text. Printing is deterministic; before register allocation, what is
// printed parses back to a module that prints the same.
#pragma once

#include <string>

#include "compiler/lir/lir.h"

namespace baton::lir {

/// "f32", "tensor<f32,2>", "adt<3>".
std::string print(const Kind& kind);
/// With registers as assigned when they are, else virtual ones.
std::string print(const Module& module, const Function& function);
std::string print(const Module& module);

}  // namespace baton::lir
