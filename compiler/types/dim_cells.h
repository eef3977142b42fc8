// Dims of what is not followed from value to value: parameters and results of function
// values, and contents of cells. All functions of one structural type share one entry,
// and so do all cells; an extent there is a number when every value that arrives agrees,
// and `?` otherwise.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/types/dim_types.h"

namespace baton::types {

class DimCells {
 public:
  explicit DimCells(ir::TypeTable& types) : types_(types) {}

  /// A value arrives at a parameter, at the result (index = number of parameters) or in a
  /// cell (index 0) of a function or cell type. True when that changed what is known.
  bool arrive(ir::TypeRef functionOrCell, size_t index, ir::TypeRef value);
  /// A function value that needs such a parameter: calls are checked against it. Two that
  /// differ leave the extent open.
  bool pin(ir::TypeRef function, size_t index, ir::TypeRef declared);

  /// The type there, `?` and numbers; nothing when no value has arrived.
  std::optional<ir::TypeRef> typeOf(ir::TypeRef functionOrCell, size_t index);
  /// What a function value at that parameter relies on; by position, nothing: anything.
  std::vector<std::optional<DimExpr>> pinsOf(ir::TypeRef function, size_t index);
  /// The type with everything in function types and cells replaced by what is known.
  ir::TypeRef filledIn(ir::TypeRef type);

 private:
  struct Part {
    bool isReached = false;
    std::vector<DimExpr> dims;
    std::vector<std::optional<DimExpr>> pins;  // anyDim: two differed
  };
  std::vector<Part>& partsOf(ir::TypeRef functionOrCell);
  ir::TypeRef partType(ir::TypeRef functionOrCell, size_t index) const;

  ir::TypeTable& types_;
  std::unordered_map<ir::TypeRef, std::vector<Part>> entries_;  // by erased type; never iterated
};

}  // namespace baton::types
