// One function made monomorphic: types for its variables, copies of functions that it
// calls, and one copy per instantiation of every local function with type parameters.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/types/structure.h"

namespace baton::types {

using TypeArguments = std::unordered_map<ir::TypeVarId, ir::TypeRef>;

/// Pairs of pairs of pairs ... have types that could not even be written down.
inline constexpr uint64_t kMaxTypeSize = 100000;
/// More copies of one function than any sensible program needs: polymorphic recursion.
inline constexpr size_t kMaxInstances = 256;

/// What is needed of a function of the module after it has been specialised itself.
struct GlobalInfo {
  std::vector<ir::VarId> params;
  std::vector<ir::TypeVarId> generics;
  bool hasDemands;  ///< it relies on more than the structure of its arguments
};

class FunctionSpecialiser {
 public:
  /// The copy of a function of the module for these types.
  using GlobalInstance = std::function<ir::GlobalId(ir::GlobalId, std::vector<ir::TypeRef>, SourceLocation)>;

  FunctionSpecialiser(ir::Module& module, Structure& structure, std::span<const GlobalInfo> globals,
                      const FunctionStructure& found, frontend::Diagnostics& diagnostics,
                      GlobalInstance globalInstance)
      : module_(module),
        structure_(structure),
        globals_(globals),
        found_(found),
        diagnostics_(diagnostics),
        globalInstance_(std::move(globalInstance)),
        terms_(found.vars) {}

  /// `function` is changed in place; `arguments` stand for its generics.
  void run(ir::Function& function, TypeArguments arguments);

 private:
  /// What type parameters are, and what local functions call themselves by, in some blocks.
  struct Environment {
    TypeArguments arguments;
    std::unordered_map<ir::VarId, ir::VarId> self;
  };
  /// A local function with type parameters, and the copies of it.
  struct Template {
    ir::Lambda lambda;
    size_t environment;
    SourceLocation location;
    std::map<std::vector<uint32_t>, ir::VarId> byTypes;
    std::vector<ir::Binding> instances;
    bool isReported = false;  ///< that these are too many
  };

  bool giveType(ir::VarId var, const Environment& environment);
  ir::TypeRef substituted(ir::TypeRef type, const Environment& environment);
  void rewriteTree(ir::BlockId root, size_t environment);
  void rewriteBlock(ir::BlockId id, size_t environment, std::vector<ir::BlockId>& children);
  /// What the atom must be computed by first goes to `before`.
  void rewriteAtom(ir::Atom& atom, Occurrence at, size_t environment, SourceLocation location,
                   std::vector<ir::Binding>& before);
  ir::Atom checkedValue(ir::GlobalId original, std::vector<ir::TypeRef> types, SourceLocation location,
                        std::vector<ir::Binding>& before);
  std::vector<ir::TypeRef> typesAt(Occurrence at, const Environment& environment);
  ir::VarId instanceOf(ir::VarId var, std::vector<ir::TypeRef> types);
  ir::Lambda clone(const ir::Lambda& lambda);
  void flattenList(ir::CallOp& call, const ir::Binding& binding, std::vector<ir::Binding>& out);
  void dropFlattened();
  void placeInstances();

  ir::Module& module_;
  Structure& structure_;
  std::span<const GlobalInfo> globals_;
  const FunctionStructure& found_;
  frontend::Diagnostics& diagnostics_;
  GlobalInstance globalInstance_;
  ir::Function* function_ = nullptr;
  std::vector<Term> terms_;           // by variable, copies included
  std::vector<ir::BlockId> origins_;  // by block: the one it is a copy of
  std::deque<Environment> environments_;
  std::vector<std::pair<ir::BlockId, size_t>> work_;
  std::unordered_map<ir::VarId, Template> templates_;
  std::unordered_map<ir::VarId, std::vector<ir::Atom>> tuples_;
  std::unordered_set<ir::VarId> flattened_;
  std::vector<ir::BlockId> dead_;  // of templates
};

}  // namespace baton::types
