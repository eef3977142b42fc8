// Walks over what a type holds, without recursion and past what holds nothing of interest.
#pragma once

#include <functional>

#include "compiler/ir/type.h"

namespace baton::ir {

/// Calls `f(tensorType)` for each tensor with extents that a value of the type consists of, in
/// order; data, functions and cells are skipped.
void forEachOwnTensor(TypeRef type, const std::function<void(TypeRef)>& f);

/// Symbols that are whole extents of those tensors: a value of the type says what they are.
void forEachBoundSymbol(TypeRef type, const std::function<void(DimSymbol)>& f);

/// Symbols anywhere in the type, inside data and function types too; `?` is none. What is shared
/// in the type is looked at once.
void forEachSymbol(TypeRef type, const std::function<void(DimSymbol)>& f);

}  // namespace baton::ir
