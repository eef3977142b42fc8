// What the rest of the compiler knows of an operator: its inputs, its attributes, and
// how the types of its results follow from both. Structure (dtype and rank) is decided
// first, by unification, with inputs that may not be known yet; extents follow in a
// second step, forward, as symbolic dims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "base/error.h"
#include "compiler/ir/attrs.h"
#include "compiler/ir/type.h"

namespace baton::loop {
class Value;
}

namespace baton::ops {

/// An IntOrIntList holds what was written: int64_t or std::vector<int64_t>.
enum class AttrKind : uint8_t { Bool, Int, Float, String, DType, IntList, FloatList, DimList, IntOrIntList };

/// One attribute. The front end checks the kind, converts (an int where a float, a list or
/// dims are wanted, a list of ints where dims are, "" to None for a DType that may be None)
/// and fills in defaults, so that a call always has every attribute of its schema.
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  bool isRequired = false;
  bool mayBeNone = false;
  ir::AttrValue defaultValue = {};
};

/// Which element types an input may have.
enum class DTypeClass : uint8_t { Any, Numeric, Float, Integer, BoolOrInteger, Bool, Index };
bool isInClass(DType dtype, DTypeClass types);
/// "an integer or float type", for messages.
std::string_view dtypeClassName(DTypeClass types);

/// What fusion may do with an operator.
enum class FusionKind : uint8_t {
  Elementwise,  ///< an element needs the element at the same index of each input
  Broadcast,    ///< elementwise, with inputs broadcast to the shape of the result
  Injective,    ///< an element needs one element of an input, at an index computed from its own
  Reduction,    ///< an element needs many elements; takes producers and consumers
  Anchor,       ///< a loop nest of its own; takes elementwise consumers
  Opaque,       ///< never fused
};

/// When running an operator may end in a program error, its obligations aside.
enum class FailureKind : uint8_t {
  Never,
  IntegerDivision,  ///< with an integer dtype
  IndexRange,       ///< an index out of range, but not in a mode "clip" or "wrap"
};

/// An input, by the name that messages use ("data", "weight").
struct InputSpec {
  std::string_view name;
  DTypeClass types = DTypeClass::Any;
  bool isOptional = false;  ///< only at the end of the list
  bool isList = false;      ///< one tuple of any number of tensors; at most one per operator, the last
};

/// A call as the relations see it. An input list is flattened: `inputCount` counts tensors.
struct OpCall {
  const struct OpDef* op;
  const ir::Attrs* attrs;
  size_t inputCount;
};

struct TensorStructure {
  DType dtype = DType::F32;
  int rank = 0;
};

struct StructureResult {
  std::vector<TensorStructure> results;
  bool isTuple = false;  ///< a tuple even when there is one result (split)
};

/// Inputs while structure is being inferred. The `require` functions unify; a conflict is
/// an error that the caller returns.
class StructureContext {
 public:
  virtual ~StructureContext() = default;
  virtual std::optional<DType> dtype(size_t input) const = 0;
  virtual std::optional<int> rank(size_t input) const = 0;
  /// First extent of an input that has axes, where it is certain: ranks may depend on it (reshape
  /// to a shape that is itself a tensor, gather_nd by a tensor of positions).
  virtual std::optional<int64_t> length(size_t input) const = 0;
  /// Values of a constant integer input of rank 0 or 1.
  virtual std::optional<std::vector<int64_t>> constantInts(size_t input) const = 0;
  virtual Result<void> requireDType(size_t input, DType dtype) = 0;
  virtual Result<void> requireRank(size_t input, int rank) = 0;
  virtual Result<void> requireSameDType(size_t a, size_t b) = 0;
  virtual Result<void> requireSameRank(size_t a, size_t b) = 0;
  /// Results may be fixed as soon as they are known, before all inputs are: a dtype alone helps.
  virtual Result<void> provideResultDType(size_t result, DType dtype) = 0;
  /// Results share a dtype with an input that may not be known yet.
  virtual Result<void> provideResultDTypeOf(size_t result, size_t input) = 0;
  /// Messages returned next are about this input.
  virtual void blame(size_t input) = 0;
};

/// Extents of one result.
struct TensorDims {
  std::vector<DimExpr> extents;
};

/// Inputs while extents are being inferred. Structure is complete. The relation may be
/// called again with more general inputs; equal calls give equal answers, fresh symbols
/// included (they belong to the call and the order in which it asks).
class DimsContext {
 public:
  virtual ~DimsContext() = default;
  virtual DType dtype(size_t input) const = 0;
  virtual std::span<const DimExpr> dims(size_t input) const = 0;
  /// Elements of an integer or bool input of rank 0 or 1, where they are known.
  virtual const std::vector<DimExpr>* values(size_t input) const = 0;
  /// The value of a constant float input of rank 0.
  virtual std::optional<double> constantFloat(size_t input) const = 0;
  /// The same, but an unknown element becomes a symbol tied to it (rank 1: static length
  /// only; null otherwise).
  virtual const std::vector<DimExpr>* valuesOrSymbols(size_t input) = 0;
  virtual Truth decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const = 0;
  virtual DimRange rangeOf(const DimExpr& expr) const = 0;
  /// Certain: nothing happens. Certainly not: an error with `message`. Unknown: one run-time
  /// check. `{i}` in the message stands for the i-th of `shown`, or for lhs and rhs when that
  /// is empty: printed when it is an error now, its value when a check fails.
  virtual Result<void> require(const DimExpr& lhs, Relation relation, const DimExpr& rhs, std::string message,
                               std::vector<DimExpr> shown = {}) = 0;
  /// An extent that only the run tells (existential: whoever needs it reads it).
  virtual DimExpr fresh(std::string_view hint) = 0;
  virtual void blame(size_t input) = 0;
};

/// Nothing while it needs more of its inputs.
using StructureFunction = Result<std::optional<StructureResult>> (*)(const OpCall&, StructureContext&);
using DimsFunction = Result<std::vector<TensorDims>> (*)(const OpCall&, DimsContext&);
/// Elements of the (single, integer or bool, rank 0 or 1, short) result as dims; nothing when unknown.
/// `result` is what the dims function gave. Must not claim an expression that may wrap.
using ValuesFunction = std::optional<std::vector<DimExpr>> (*)(const OpCall&, DimsContext&,
                                                               const TensorDims& result);

// Lowering to loop IR (lowering.h), one of four ways.
struct ScalarContext;
class ElementContext;
class NestContext;
class ExpandContext;
/// From the elements of all inputs at one index, broadcast, to the element of the result.
using ScalarFunction = loop::Value (*)(const ScalarContext&, std::span<const loop::Value>);
/// The element of a result at an index, from whatever elements of the inputs it needs.
using ElementFunction = Result<loop::Value> (*)(ElementContext&, std::span<const loop::Value> index);
/// Loops of its own, which hand over each element of the result once.
using NestFunction = Result<void> (*)(NestContext&);
/// By calls of other operators, in the same kernel or in the program (expand.h).
using ExpandFunction = Result<void> (*)(ExpandContext&);

// Reference versions (reference_call.h), on 64-bit forms of scalars or on whole tensors.
struct ScalarReferenceCall;
struct ReferenceCall;
using ScalarReferenceFunction = Result<uint64_t> (*)(const ScalarReferenceCall&, std::span<const uint64_t>);
using ReferenceFunction = Result<void> (*)(ReferenceCall&);

/// Integer tensors up to this length keep their elements as dims.
inline constexpr int64_t kMaxValueDims = 16;

struct OpDef {
  std::string_view name;  ///< "nn.dense"
  std::vector<std::string_view> aliases;
  std::vector<InputSpec> inputs;
  std::vector<AttrSpec> attrs;
  std::vector<std::string_view> ignoredAttrs;  ///< accepted in text and dropped
  uint32_t valueInputs = 0;                    ///< bit i: the shape depends on the values of input i
  FusionKind fusion = FusionKind::Opaque;
  FailureKind failure = FailureKind::Never;
  StructureFunction structure = nullptr;
  DimsFunction dims = nullptr;
  ValuesFunction values = nullptr;  ///< may be null: never known
  // One of four, `legal` or `library`, and one of two:
  ScalarFunction scalar = nullptr;
  ElementFunction element = nullptr;
  NestFunction nest = nullptr;
  ExpandFunction expand = nullptr;
  ScalarReferenceFunction scalarReference = nullptr;
  ReferenceFunction reference = nullptr;
  ExpandFunction legal = nullptr;  ///< of one that is never lowered: legalize writes other operators
  std::string_view library;        ///< of one that is no loops: an algorithm of kernels/library
};

/// A message with `{i}` replaced by the i-th value.
std::string formatDimMessage(std::string_view message, std::span<const std::string> values);

/// The defaults of every attribute that has one.
ir::Attrs defaultAttrs(const OpDef& op);

/// The given attributes, and the defaults of those that are not given.
ir::Attrs completeAttrs(const OpDef& op, const ir::Attrs& given);

/// How messages call an input: "weight", "element 2 of the data".
std::string inputName(const OpCall& call, size_t input);

class OpRegistry {
 public:
  /// Every operator of the language; immutable, shared by all threads.
  static const OpRegistry& instance();
  /// Null when there is none of that name. `dyn.` forms and aliases are found too.
  const OpDef* find(std::string_view name) const;
  std::span<const OpDef* const> all() const { return byName_; }  ///< sorted by name

 private:
  OpRegistry();
  std::vector<OpDef> ops_;
  std::vector<const OpDef*> byName_;
  std::vector<std::pair<std::string_view, const OpDef*>> names_;  // aliases too; sorted
};

}  // namespace baton::ops
