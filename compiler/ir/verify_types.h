// The rules of the verifier that are about types. The form has been checked before.
#pragma once

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::ir {

/// Structure of types: that of operands is what their users need. Extents are not compared.
Result<void> verifyTypes(Module& module, const Function& function);
/// Every symbol in a type, in elements and in checks has a variable in scope that gives it.
Result<void> verifyDims(const Module& module, const Function& function);

/// Whether two types are equal, extents aside.
bool sameStructure(TypeRef a, TypeRef b);

}  // namespace baton::ir
