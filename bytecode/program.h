// Program: an executable in memory, as the compiler builds it, the writer stores it, the
// reader gives it back and the verifier checks it. Plain data; indices are dense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "bytecode/kind.h"
#include "kernels/abi/descriptor.h"

namespace baton::bytecode {

/// The type of a value as users see it, with extents; a Kind is what remains of it in code.
struct ValueType {
  /// A tuple is an Adt. A Cell may be in a field, but is no parameter or result of an entry
  /// point. Values are on disk.
  enum class Tag : uint8_t { Tensor = 0, Adt = 1, Closure = 2, Cell = 3, Array = 4 };
  Tag tag = Tag::Tensor;
  DType dtype = DType::F32;      ///< Tensor; rank 0 is a scalar and lives in `s`
  std::vector<DimExpr> extents;  ///< Tensor; symbols belong to the entry point, or to the field (see below)
  TypeIndex type;                ///< Adt, Array
  /// Adt or Array in an entry point: the view with the extents inside; nothing: as the type says.
  std::optional<uint32_t> view;
  SignatureIndex signature;  ///< Closure
  KindIndex content;         ///< Cell; Array: of its elements
};
Kind kindOf(const ValueType& type);

/// A field of a constructor. References come first in the object, then scalars; `slot`
/// counts within the bank. In the extents of a field every symbol is one unknown extent.
struct Field {
  ValueType type;
  bool isScalar = false;
  uint16_t slot = 0;
};

struct Constructor {
  std::string name;
  std::vector<Field> fields;  ///< as declared
  uint16_t referenceCount = 0;
  uint16_t scalarCount = 0;
};

/// A data type, a tuple or an array; monomorphic. Tags are positions in `constructors`.
struct TypeDef {
  std::string name;      ///< as users see it: "List[Tensor[(?, 4), float32]]"
  bool isTuple = false;  ///< one constructor without a name
  bool isList = false;   ///< the prelude's List, which value text may write as [a, b]
  /// An Array: one constructor without a name, whose one field is an element. What the code
  /// knows of it is the kind of its elements; this is for those who make and show values.
  bool isArray = false;
  std::vector<Constructor> constructors;
};

/// What a caller must pass and gets back. Parameters in declared order; per bank they
/// occupy the first registers. A closure's function has the closure itself in r0 before them.
struct Signature {
  std::vector<Kind> params;
  std::vector<Kind> results;
  friend bool operator==(const Signature&, const Signature&) = default;
};

struct Function {
  std::string name;  ///< without the "@"; unique
  SignatureIndex signature;
  bool isClosure = false;      ///< r0 is a closure over `captures`
  std::vector<Kind> captures;  ///< references first, then scalars
  uint32_t scalarRegisterCount = 0;
  uint32_t referenceRegisterCount = 0;
  uint32_t codeOffset = 0;  ///< words, in Program::code
  uint32_t codeSize = 0;
};

/// A function that can be started from outside.
struct EntryPoint {
  struct Parameter {
    std::string name;
    ValueType type;
  };
  /// A data type with the extents inside that one use of it has; types that differ in extents
  /// only are one TypeDef. Fields of data types have views in turn; a list's leads back to itself.
  struct View {
    std::string name;  ///< as users see it: "List[Tensor[(n, 4), float32]]"
    TypeIndex type;
    std::vector<std::vector<ValueType>> fields;  ///< by constructor; over the entry point's symbols
  };
  /// What is known of the peak of memory that one invocation needs.
  struct PeakMemory {
    enum class Known : uint8_t { Unknown = 0, Exact = 1, Bound = 2 };
    Known known = Known::Unknown;
    DimExpr bytes;       ///< over the entry point's symbols
    std::string reason;  ///< why it is unknown
  };
  std::string name;
  FunctionIndex function;
  std::string documentation;
  std::vector<std::string> symbols;        ///< names; "?" for an extent without a name
  std::vector<DimConstraint> constraints;  ///< checked at entry
  std::vector<Parameter> parameters;       ///< in the order of the function's signature
  ValueType result;
  /// The function returns the elements of the result tuple, one level, as several results.
  bool resultIsSplit = false;
  PeakMemory peakMemory;
  std::vector<View> views;
};

/// Where the bytes of a constant are.
enum class ConstantSource : uint8_t { Inline = 0, External = 1 };

struct Constant {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;  ///< rank >= 1; scalars are immediates
  std::string layout;            ///< empty: dense row-major; else the name of a packing
  ConstantSource source = ConstantSource::Inline;
  std::string externalKey;           ///< External: "scope::key"
  std::span<const std::byte> bytes;  ///< Inline; kept alive by Program::storage
};

/// Machine code for one CPU level: position-independent, no relocations.
struct NativeImage {
  std::string level;                          ///< "x86-64-v3", "native"
  std::vector<std::string> requiredFeatures;  ///< as the loader's CPU check names them
  std::vector<uint32_t> entryOffsets;         ///< per kernel; kNoEntry where there is none
  std::span<const std::byte> bytes;           ///< kept alive by Program::storage
  std::optional<uint64_t> fileOffset;         ///< where the reader found it, for mapping; page-aligned
  static constexpr uint32_t kNoEntry = UINT32_MAX;
};

/// pc to source, sorted by (function, pc); an entry holds up to the next one.
struct DebugInfo {
  struct Place {
    uint32_t file = 0;
    uint32_t line = 0;
    uint32_t column = 0;
    uint32_t name = 0;       ///< in `names`: the operator or variable; 0 is the empty name
    uint32_t inlinedAt = 0;  ///< 0, or 1 + index of the inline site whose body this is in
  };
  struct Position : Place {
    FunctionIndex function;
    uint32_t pc = 0;
  };
  std::vector<std::string> files;
  std::vector<std::string> names;
  std::vector<Position> positions;
  /// Calls that were replaced by the body of what they called, `name`: where they stood. A site
  /// that is itself in a replaced body comes after that body's.
  std::vector<Place> inlineSites;
};

/// A bundled case for `vm-run --bundled-tests`, in value text.
struct TestCase {
  std::string name;
  std::string entryPoint;
  std::vector<std::string> inputs;
  std::string output;
};

struct Meta {
  std::string name;
  std::string compilerVersion;
  std::string flags;
  std::vector<std::string> targets;
};

/// Keeps bytes alive that spans of a Program point into: owned buffers or a mapped file.
class ByteStorage {
 public:
  virtual ~ByteStorage() = default;
};

struct Program {
  Meta meta;
  std::vector<Kind> kinds;  ///< contents of cells and arrays
  std::vector<TypeDef> types;
  std::vector<Signature> signatures;
  std::vector<Function> functions;
  std::vector<EntryPoint> entryPoints;
  std::vector<uint64_t> code;
  std::vector<std::string> messages;  ///< templates: "{0:i64}" is a value with its dtype
  std::vector<Constant> constants;
  std::vector<KernelDescriptor> kernels;
  std::vector<NativeImage> images;
  std::vector<std::string> loops;  ///< empty, or loop-IR text per kernel ("" where there is none)
  DebugInfo debug;
  std::vector<TestCase> tests;
  std::vector<std::unique_ptr<ByteStorage>> storage;
};

}  // namespace baton::bytecode
