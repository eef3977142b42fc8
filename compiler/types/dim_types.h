// Types as structure plus dims: the dims of a type in a fixed order, and a type put
// together again from other dims.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::types {

/// Stands where no value has arrived yet: the element type of a list that is always empty.
/// Only inside data, and only while dims are being inferred.
inline constexpr DimSymbol kNoDim{UINT32_MAX - 1};

inline DimExpr anyDim() { return DimExpr::symbol(ir::kAnyDim); }
inline DimExpr noDim() { return DimExpr::symbol(kNoDim); }
inline bool isAnyDim(const DimExpr& dim) { return dim.asSymbol() == ir::kAnyDim; }
inline bool isNoDim(const DimExpr& dim) { return dim.asSymbol() == kNoDim; }

/// What is known of a value: its type with dims, and its elements where it is a small
/// integer tensor. No type: control has not arrived there, as far as is known.
struct Fact {
  ir::TypeRef type = nullptr;
  std::optional<std::vector<DimExpr>> values;
  bool isReached() const { return type != nullptr; }
  friend bool operator==(const Fact&, const Fact&) = default;
};

struct Position {
  DimExpr dim;
  bool isPlain;  ///< an extent of the value itself, or of an element of a tuple: it can be read
};

/// Dims from left to right: of tensors, also inside tuples, arrays and arguments of data types.
/// Function types and cells are left out: theirs belong to DimCells.
std::vector<Position> positionsOf(ir::TypeRef type);
/// Which of them one is, for messages: "dimension 1", "dimension 0 of field 2" where a tuple has it. Of plain
/// positions.
std::string positionText(ir::TypeRef type, size_t position);
/// The type with these dims, in the same order.
ir::TypeRef withDims(ir::TypeTable& types, ir::TypeRef type, std::span<const DimExpr> dims);
/// All extents of positionsOf kNoDim.
ir::TypeRef withNoDims(ir::TypeTable& types, ir::TypeRef type);
/// Least type that covers both; structure must agree. Extents that differ are `?`.
ir::TypeRef joinData(ir::TypeTable& types, ir::TypeRef a, ir::TypeRef b);
/// What an annotation says about each position of a type; `?` where it says nothing.
std::vector<DimExpr> declaredDims(ir::TypeRef declared, ir::TypeRef shape);

}  // namespace baton::types
