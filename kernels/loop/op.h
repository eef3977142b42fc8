// The operations of loop IR: what a node of a kernel body does, how many operands it has,
// and which element types it accepts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace baton::loop {

enum class Op : uint8_t {
  // Leaves: in no block, usable anywhere.
  Const,        ///< `bits` in the 64-bit scalar form of base/dtype.h
  Symbol,       ///< i64; `target` indexes the descriptor's symbols
  ScalarInput,  ///< `target` indexes the descriptor's scalarInputs
  LoopVar,      ///< i64; belongs to the For or Reduce that lists it

  // Two operands of one type.
  Add,       ///< integers wrap; floats round once
  Sub,       ///< as Add
  Mul,       ///< as Add
  Div,       ///< floats only
  FloorDiv,  ///< integers only; division by zero and MIN / -1 fail the kernel with message `target`
  FloorMod,  ///< as FloorDiv; the result has the sign of the divisor
  TruncDiv,  ///< as FloorDiv, rounding towards zero
  TruncMod,  ///< as FloorDiv; the result has the sign of the dividend
  Min,       ///< IEEE 754-2019 minimum: NaN propagates, -0 < +0
  Max,       ///< IEEE 754-2019 maximum
  And,       ///< bool and integers
  Or,        ///< as And
  Xor,       ///< as And
  Shl,       ///< integers; a count outside [0, width) gives 0
  Shr,       ///< arithmetic for signed types; a count outside [0, width) gives 0 or the sign fill
  CopySign,  ///< floats; the sign of a NaN counts as positive
  Eq,        ///< comparisons give bool; any comparison with a NaN but Ne is false
  Ne,
  Lt,
  Le,
  Gt,
  Ge,

  // One operand.
  Not,      ///< bool: logical; integers: every bit
  Neg,      ///< integers wrap; floats flip the sign
  Abs,      ///< integers wrap (MIN stays MIN)
  Sqrt,     ///< floats, correctly rounded
  Floor,    ///< floats
  Ceil,     ///< floats
  Trunc,    ///< floats
  Round,    ///< floats, halves to even
  Cast,     ///< any type to any type, as convertScalar of base/dtype.h
  Bitcast,  ///< types of one size, neither bool; NaNs become the canonical one when read as integer

  // Three operands.
  Select,  ///< bool, T, T
  Fma,     ///< floats; one rounding

  // Memory. `target` is a buffer or a local; operands are its indices.
  Load,
  Store,     ///< last operand is the value
  GetLocal,  ///< `target` is the LocalIndex
  SetLocal,  ///< last operand is the value

  // Statements.
  Local,      ///< declares local `target`, all zeroes (false), to the end of its block
  SetScalar,  ///< scalar output `target` becomes the operand
  Fail,       ///< the kernel fails with message `target`; operands (i64) are the message's values
  For,        ///< operands: extent (i64), LoopVar; body `body`; `target`: 1 + a name of a loop, or 0
  If,         ///< operand: bool; blocks `body` and `otherwise`
  Reduce,     ///< operands: r extents, r LoopVars, the reduced value (defined in `body`); `target` as For
};
inline constexpr int kOpCount = static_cast<int>(Op::Reduce) + 1;

/// How the iterations of a For may be executed.
enum class LoopKind : uint8_t {
  Serial,      ///< in order
  Parallel,    ///< independent; distributed over threads in pieces of at least `bits` iterations
  Vectorized,  ///< independent; executed in lanes
  Unrolled,    ///< in order, the body repeated (constant extents)
};
inline constexpr int kLoopKindCount = 4;

/// What a Reduce computes of the values of its iterations, taken in linear order (row-major
/// over its loop variables). Sum and Prod have the order of the numeric contract.
enum class ReduceOp : uint8_t {
  Sum,     ///< of nothing: 0
  Prod,    ///< of nothing: 1
  Max,     ///< of nothing: the lowest value (-inf)
  Min,     ///< of nothing: the highest value (+inf)
  ArgMax,  ///< i64 linear index of the first maximum, or of the first NaN; of nothing: 0
  ArgMin,  ///< as ArgMax
  All,     ///< bool; of nothing: true
  Any,     ///< bool; of nothing: false
};
inline constexpr int kReduceOpCount = 8;

/// Which types the operands of a value operation may have.
enum class TypeClass : uint8_t {
  Integer,        ///< i8..u64
  Float,          ///< f32, f64
  Arithmetic,     ///< Integer or Float
  BoolOrInteger,  ///< bool or Integer
  Comparable,     ///< bool or Arithmetic
  Any,            ///< the storage types f16 and bf16 too
};

struct OpInfo {
  std::string_view name;  ///< as in text: "floordiv"
  /// Operands of a value operation; -1 where it is no value operation (memory, statements, leaves).
  int8_t arity;
  TypeClass types;
};
const OpInfo& opInfo(Op op);
std::optional<Op> parseOp(std::string_view name);
bool isInClass(DType type, TypeClass types);

const char* loopKindName(LoopKind kind);
const char* reduceOpName(ReduceOp op);
std::optional<LoopKind> parseLoopKind(std::string_view name);
std::optional<ReduceOp> parseReduceOp(std::string_view name);

inline bool isComparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }
inline bool isIntegerDivision(Op op) { return op >= Op::FloorDiv && op <= Op::TruncMod; }
/// An operation on values alone: no memory, no blocks.
inline bool isValueOp(Op op) { return op >= Op::Add && op <= Op::Fma; }
inline bool isLeaf(Op op) { return op <= Op::LoopVar; }

}  // namespace baton::loop
