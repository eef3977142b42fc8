// Shared by the files of the printer.
#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "compiler/ir/print_names.h"

namespace baton::ir {

std::string printDim(const DimExpr& dim, PrintNames& names);
std::string printType(const Module& module, TypeRef type, PrintNames& names);
/// As a declaration: an extent of which a reader does not know the names is `?`.
std::string printDeclaredType(const Module& module, TypeRef type, PrintNames& names);
/// " axis=1, keepdims=True" as arguments, defaults of the operator left out.
std::string printAttrs(const Attrs& attrs, const ops::OpDef* op, PrintNames& names, bool isFirst);

}  // namespace baton::ir
