// What the lowering of all functions shares: tables, types, kernels, and which functions
// there are.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/free_variables.h"
#include "compiler/ir/ir.h"
#include "compiler/lir/lir.h"
#include "compiler/lir/lower/kernel_table.h"
#include "compiler/lir/lower/tables.h"
#include "compiler/lir/lower/type_lowering.h"
#include "compiler/lir/lower/value.h"

namespace baton::lir {

/// A local function that is a value: what its code needs from outside. References come before
/// scalars in the closure; `vars` and `symbols` say what each slot is.
struct ClosureSource {
  ir::GlobalId parent;
  ir::VarId self;  ///< the variable it is bound to
  const ir::Lambda* lambda = nullptr;
  std::vector<std::pair<ir::VarId, Value>> known;  ///< constants and functions, which need no capture
  std::vector<ir::VarId> vars;                     ///< captured, tuples taken apart one level
  std::vector<DimSymbol> symbols;                  ///< captured as i64
};

/// Work that is left: a function that is called or made into a closure somewhere.
struct PendingFunction {
  FunctionIndex index;
  ir::GlobalId source;                   ///< the function, or the one that the local function is in
  bool isWrapper = false;                ///< a closure that calls the function
  std::optional<ClosureSource> closure;  ///< a local function
};

class ModuleLowering {
 public:
  ModuleLowering(ir::Module& sourceModule, Module& out)
      : source(sourceModule),
        module(out),
        tables(out),
        types(sourceModule, out, tables),
        kernels(sourceModule, out) {}

  Result<void> run(SourceLocation* where);

  /// The function that direct calls go to.
  FunctionIndex functionOf(ir::GlobalId id);
  /// A closure without captures that calls it.
  FunctionIndex wrapperOf(ir::GlobalId id);
  FunctionIndex closureFunction(ClosureSource closure, std::vector<Kind> captures);
  /// Of the local functions of a function; found once.
  const ir::FreeVariables& freeVariables(ir::GlobalId id) {
    return free_.try_emplace(id.value(), source.function(id)).first->second;
  }

  ir::Module& source;
  Module& module;
  Tables tables;
  TypeLowering types;
  KernelTable kernels;
  std::unordered_map<uint32_t, ConstantIndex> constants;  ///< by ir::ConstantId

 private:
  FunctionIndex declare(const std::string& name, SignatureIndex signature);
  SignatureIndex signatureOf(const ir::Function& function, const std::vector<ir::VarId>& params,
                             ir::TypeRef result);
  Result<void> addEntryPoint(ir::GlobalId id);

  std::deque<PendingFunction> pending_;
  std::unordered_map<uint32_t, FunctionIndex> functions_, wrappers_;
  std::unordered_map<uint32_t, ir::FreeVariables> free_;  // by function
};

}  // namespace baton::lir
