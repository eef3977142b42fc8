// Inference of dims over a whole, specialised program.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/types/dim_cells.h"
#include "compiler/types/function_dims.h"

namespace baton::types {

class ModuleDims {
 public:
  ModuleDims(ir::Module& module, frontend::Diagnostics& diagnostics);

  /// Replaces the structural types of all variables by types with dims.
  void infer();

  // For FunctionDims.
  ir::Module& module() { return module_; }
  frontend::Diagnostics& diagnostics() { return diagnostics_; }
  DimCells& cells() { return cells_; }
  FunctionDims& of(ir::GlobalId id) { return *functions_[id.value()]; }
  void enqueue(ir::GlobalId id);
  /// Whether the function is to be looked at, and is not being looked at.
  bool isWaiting(ir::GlobalId id) const { return isQueued_[id.value()] && !isOpen_[id.value()]; }
  /// The result of a function changed: whoever calls it is stale.
  void resultChanged(ir::GlobalId id);
  void addCaller(ir::GlobalId callee, ir::GlobalId caller);
  void cellsChanged();
  /// A function of the module is used as a value.
  void escapes(ir::GlobalId id, ir::TypeRef type);

 private:
  void stabilise();
  std::vector<bool> certainFunctions() const;

  ir::Module& module_;
  frontend::Diagnostics& diagnostics_;
  DimCells cells_;
  std::vector<std::unique_ptr<FunctionDims>> functions_;
  std::vector<std::vector<ir::GlobalId>> callers_;
  std::vector<ir::TypeRef> escaped_;  // by function; null: never a value
  std::deque<ir::GlobalId> queue_;
  std::vector<bool> isQueued_;
  std::vector<bool> isOpen_;  // being looked at, though what it calls may come first
};

}  // namespace baton::types
