// IR as program text that parses back.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace baton::ir {

struct PrintOptions {
  /// Writes constants in a `#[metadata]` section, so that the text stands alone; without
  /// it they are named only.
  bool constants = false;
  /// Types of bindings as comments.
  bool types = true;
};

std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Module& module, const Function& function, const PrintOptions& options = {});
/// "Tensor[(n, 4), float32]"
std::string print(const Module& module, TypeRef type);
std::string print(const Module& module, const DimExpr& dim);
/// "2.5f", "-1i64", "True"
std::string printScalar(DType dtype, uint64_t bits);

}  // namespace baton::ir
