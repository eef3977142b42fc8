// The one intermediate form: functions made of blocks of bindings (A-normal form). All
// of a function, nested blocks and local functions included, lives in the arenas of its
// Function and is addressed by index; nothing owns anything recursively.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/dim.h"
#include "base/source_location.h"
#include "compiler/ir/attrs.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/rhs.h"
#include "compiler/ir/type.h"

namespace baton::ir {

/// A run-time check that typing could not decide; lowering turns it into one check before
/// the operation of its binding.
struct Obligation {
  DimExpr lhs;
  Relation relation = Relation::Eq;
  DimExpr rhs;
  /// "nn.dense: dimension 1 of the data ({0}) does not match dimension 1 of the weight ({1})":
  /// `{i}` is the value of shown[i].
  std::string message;
  std::vector<DimExpr> shown;
};

struct Binding {
  VarId var = kNoVar;
  Rhs rhs;
  SourceLocation location;
  std::vector<Obligation> obligations;
};

struct Block {
  std::vector<Binding> bindings;
  Atom result;
  SourceLocation resultLocation;  ///< where the result stands in the text; may be unknown
};

/// A variable: bound once, by a binding, a parameter list or a pattern.
struct VarInfo {
  std::string name;                ///< without '%'; a hint, not unique
  TypeRef type = nullptr;          ///< null only before typing
  TypeRef declaredType = nullptr;  ///< annotation as written, or null
  /// Elements of an integer tensor of rank 0 or 1 as dims, where they are known or tied:
  /// a symbol that is bound nowhere else gets its value from the element.
  std::optional<std::vector<DimExpr>> valueDims;
  SourceLocation location;
};

/// A tensor known at compile time: row-major, dense, little-endian, bool one byte 0 or 1.
struct Constant {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;  ///< empty for an external one
  std::string name;              ///< of `param @name`, without '@'; empty otherwise
  std::string externalKey;       ///< key in the weights file while it is not bound
  SourceLocation location;       ///< of the type of its `param`
  bool isExternal() const { return !externalKey.empty() && bytes.empty(); }
};

/// A function of the module and the arenas of everything in it.
struct Function {
  std::string name;                 ///< without '@'
  std::vector<TypeVarId> generics;  ///< empty after specialisation
  std::vector<VarId> params;
  TypeRef result = nullptr;          ///< after typing: in symbols of the parameters and existential ones
  TypeRef declaredResult = nullptr;  ///< as written, or null
  BlockId body = kNoBlock;
  std::vector<DimConstraint> where;  ///< over symbols of the parameters
  Attrs attrs;
  std::vector<std::string> entryNames;  ///< names of the parameters as written
  std::string doc;
  bool isExported = false;
  SourceLocation location;
  /// Where the operands of a binding (by its variable) stand in the text; for messages of typing only.
  std::unordered_map<VarId, std::vector<SourceLocation>> operandLocations;

  std::vector<VarInfo> vars;
  std::vector<Block> blocks;
  std::vector<Pattern> patterns;

  VarId addVar(VarInfo info);
  BlockId addBlock();
  PatternId addPattern(Pattern pattern);
  VarInfo& var(VarId id) { return vars[id.value()]; }
  const VarInfo& var(VarId id) const { return vars[id.value()]; }
  /// Invalidated by addBlock.
  Block& block(BlockId id) { return blocks[id.value()]; }
  const Block& block(BlockId id) const { return blocks[id.value()]; }
  const Pattern& pattern(PatternId id) const { return patterns[id.value()]; }
};

/// Attribute of a function that is a group of operators which one kernel computes; its value is 1.
inline constexpr std::string_view kFusionGroupAttr = "Primitive";
inline bool isFusionGroup(const Function& function) {
  return function.attrs.find(kFusionGroupAttr) != nullptr;
}

/// Text that locations refer to; `location.file` is the position in Module::sources.
struct SourceFile {
  std::string name;
  std::string text;
};

struct Module {
  TypeTable types;
  DimSymbolTable dimSymbols;
  std::vector<std::string> typeVarNames;  ///< by TypeVarId
  std::vector<TypeDef> typeDefs;
  std::vector<Function> functions;
  std::vector<Constant> constants;
  std::vector<SourceFile> sources;
  std::vector<InlineSite> inlineSites;  ///< by SourceLocation::inlinedAt - 1

  Module() = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;

  Function& function(GlobalId id) { return functions[id.value()]; }
  const Function& function(GlobalId id) const { return functions[id.value()]; }
  const TypeDef& typeDef(TypeDefId id) const { return typeDefs[id.value()]; }
  const Constructor& constructor(ConstructorRef ref) const {
    return typeDefs[ref.definition.value()].constructors[ref.tag];
  }
  const Constant& constant(ConstantId id) const { return constants[id.value()]; }
  std::optional<GlobalId> findFunction(std::string_view name) const;
  std::optional<TypeDefId> findTypeDef(std::string_view name) const;

  ConstantId addConstant(Constant constant);
  /// A rank-0 constant from its 64-bit form (base/dtype.h).
  ConstantId addScalar(DType dtype, uint64_t bits);
  TypeVarId addTypeVar(std::string name);

  TypeRef typeOf(ConstantId id);
  /// Type of a function of the module as a value: extents that callers choose are `?`.
  TypeRef typeOf(GlobalId id);
  TypeRef typeOf(const Function& function, Atom atom);
  /// Fields of a constructor of an ADT type, its arguments put in.
  std::vector<TypeRef> fieldTypes(TypeRef adt, uint32_t tag);
};

}  // namespace baton::ir
