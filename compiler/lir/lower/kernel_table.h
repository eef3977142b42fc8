// The kernels of a program. Fused groups arrive as functions; a single operator is made
// into one here. Equal ones share a kernel.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compiler/ir/ir.h"
#include "compiler/lir/lir.h"
#include "compiler/ops/lowering/kernel_lowering.h"

namespace baton::lir {

/// A kernel as its callers see it. Symbols are numbered in order of appearance in the group.
struct KernelUse {
  KernelIndex kernel;
  std::vector<DimExpr> scalarDims;   ///< the last scalar inputs, over DimSymbol(number)
  std::vector<bool> isUnreadTensor;  ///< by tensor parameter of the group: the kernel does not take it
};

/// A call of a kernel: what to pass, and what its symbols are in terms of the caller's.
struct KernelCall {
  const KernelUse* use = nullptr;
  std::vector<ir::Atom> args;
  std::vector<std::optional<DimExpr>> symbols;  ///< by number; nothing: no symbol of the caller's
};

class KernelTable {
 public:
  KernelTable(ir::Module& source, Module& module) : source_(source), module_(module) {}

  /// A call of a function that is a fused group.
  Result<KernelCall> groupCall(const ir::Function& caller, const ir::CallGlobal& call,
                               ir::TypeRef resultType);
  /// A call of an operator.
  Result<KernelCall> operatorCall(const ir::Function& caller, const ir::Binding& binding);

 private:
  struct Group {
    const KernelUse* use = nullptr;
    std::vector<DimSymbol> symbols;  // by number
  };
  Result<Group> lower(const ir::Function& function);
  Result<KernelCall> libraryCall(const ir::Function& caller, const ir::Binding& binding);
  std::string kernelName(const std::string& base);
  ir::TypeRef generalise(ir::TypeRef type, const std::unordered_set<uint32_t>& bound);
  DimExpr generalise(const DimExpr& expr, const std::unordered_set<uint32_t>& bound);

  ir::Module& source_;
  Module& module_;
  std::unordered_map<std::string, KernelUse> byKey_;  // nodes do not move
  std::unordered_map<uint32_t, Group> groups_;        // by GlobalId
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, uint32_t> nextNumber_;
  // Symbols for extents of one operator's operands that are no symbols of their own.
  std::vector<DimSymbol> pool_;
  std::vector<std::pair<DimExpr, DimSymbol>> generalised_;
};

}  // namespace baton::lir
