// Indices into the arenas of a module and of a function, and the atoms made of them.
#pragma once

#include <cstdint>

#include "base/strong_index.h"

namespace baton::ir {

struct VarTag;
struct BlockTag;
struct PatternTag;
struct GlobalTag;
struct ConstantTag;
using VarId = StrongIndex<VarTag>;            ///< into Function::vars
using BlockId = StrongIndex<BlockTag>;        ///< into Function::blocks
using PatternId = StrongIndex<PatternTag>;    ///< into Function::patterns
using GlobalId = StrongIndex<GlobalTag>;      ///< into Module::functions
using ConstantId = StrongIndex<ConstantTag>;  ///< into Module::constants

inline constexpr VarId kNoVar{UINT32_MAX};
inline constexpr BlockId kNoBlock{UINT32_MAX};

/// An operand: what needs no computation.
class Atom {
 public:
  enum class Kind : uint8_t { Var, Constant, Global };

  Atom() = default;
  Atom(VarId var) : kind_(Kind::Var), index_(var.value()) {}                      // NOLINT: implicit
  Atom(ConstantId constant) : kind_(Kind::Constant), index_(constant.value()) {}  // NOLINT: implicit
  Atom(GlobalId global) : kind_(Kind::Global), index_(global.value()) {}          // NOLINT: implicit

  Kind kind() const { return kind_; }
  bool isVar() const { return kind_ == Kind::Var; }
  bool isConstant() const { return kind_ == Kind::Constant; }
  bool isGlobal() const { return kind_ == Kind::Global; }
  VarId var() const { return VarId(index_); }                 ///< isVar() only
  ConstantId constant() const { return ConstantId(index_); }  ///< isConstant() only
  GlobalId global() const { return GlobalId(index_); }        ///< isGlobal() only

  friend bool operator==(const Atom&, const Atom&) = default;

 private:
  Kind kind_ = Kind::Var;
  uint32_t index_ = UINT32_MAX;
};

}  // namespace baton::ir
