// Right-hand sides of bindings: one computation over atoms. What can nest (branches,
// clauses, function bodies) is a block, named by its index.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/array_operation.h"
#include "compiler/ir/attrs.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/type.h"

namespace baton::ops {
struct OpDef;
}

namespace baton::ir {

/// An alias: `let %a = %b`.
struct AtomRhs {
  Atom atom;
};

/// An operator. In a typed function `args` are tensors only: an operator that takes a
/// tuple (concatenate, stack) has its elements here.
struct CallOp {
  const ops::OpDef* op = nullptr;
  Attrs attrs;  ///< complete: defaults are filled in
  std::vector<Atom> args;
};

/// A function of the module, called directly.
struct CallGlobal {
  GlobalId callee;
  std::vector<Atom> args;
};

/// A function value.
struct CallValue {
  Atom callee;
  std::vector<Atom> args;
};

/// A jump to a join; only as the last binding of a block whose result it is.
struct CallJoin {
  VarId join;
  std::vector<Atom> args;
};

struct Construct {
  ConstructorRef constructor;
  std::vector<Atom> args;
};

struct MakeTuple {
  std::vector<Atom> elements;
};

struct Project {
  Atom tuple;
  uint32_t index = 0;
};

/// `condition` is a bool scalar.
struct If {
  Atom condition;
  BlockId thenBlock = kNoBlock;
  BlockId elseBlock = kNoBlock;
};

struct Clause {
  PatternId pattern;
  BlockId block = kNoBlock;
};

/// Clauses are tried in order. An incomplete match (`match?`) that no clause covers is a
/// program error when reached.
struct Match {
  Atom scrutinee;
  bool complete = true;
  std::vector<Clause> clauses;
};

/// A local function; captures are whatever its body uses from outside. The variable that
/// it is bound to is in scope in the body. As a join it is never a value: it is only
/// called, by CallJoin, in tail position of the block that defines it (through nested
/// `if`, `match` and the bodies of other joins of it).
struct Lambda {
  std::vector<VarId> params;
  BlockId body = kNoBlock;
  std::vector<TypeVarId> generics;   ///< gone after specialisation
  TypeRef declaredResult = nullptr;  ///< as written; null when it was not
  Attrs attrs;                       ///< Primitive=1 and the like; not join and loop
  bool isJoin = false;
  bool isLoop = false;  ///< a join that calls itself
};

/// A block as a value: `let %x = { ... }`. Joins inside it end where it ends.
struct NestedBlock {
  BlockId block = kNoBlock;
};

struct MakeRef {
  Atom value;
};
struct ReadRef {
  Atom cell;
};
/// Its value is the empty tuple.
struct WriteRef {
  Atom cell;
  Atom value;
};

struct ArrayOp {
  ArrayOperation operation = ArrayOperation::New;
  std::vector<Atom> args;
  /// Stack and Concat in a typed function: the extents of a row, -1 where typing did not find a
  /// number. What comes of an array without elements must not depend on what passes find out.
  std::vector<int64_t> rowExtents;
};

using Rhs = std::variant<AtomRhs, CallOp, CallGlobal, CallValue, CallJoin, Construct, MakeTuple, Project, If,
                         Match, Lambda, NestedBlock, MakeRef, ReadRef, WriteRef, ArrayOp>;

/// A pattern of a clause; nested patterns are indices into the same arena.
struct Pattern {
  enum class Kind : uint8_t { Wildcard, Var, Constructor, Tuple };
  Kind kind = Kind::Wildcard;
  VarId var = kNoVar;               ///< Var
  ConstructorRef constructor;       ///< Constructor
  std::vector<PatternId> children;  ///< Constructor, Tuple
  SourceLocation location;
};

}  // namespace baton::ir
