// Types of the language. A Type is immutable and hash-consed in the TypeTable of its
// module: equal types are one object, so types are compared by address. Extents are
// DimExprs over symbols of the module's DimSymbolTable.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "base/source_location.h"
#include "base/strong_index.h"

namespace baton::ir {

struct TypeDefTag;
using TypeDefId = StrongIndex<TypeDefTag>;
struct TypeVarTag;
/// A generic parameter of a function or type definition, unique in the module.
using TypeVarId = StrongIndex<TypeVarTag>;

/// `?` inside a field of data, a function type or a ref: each value has its own extent.
/// Types of variables never have it as an extent of their own (nor in a tuple): there
/// every unknown extent is a symbol.
inline constexpr DimSymbol kAnyDim{UINT32_MAX};

enum class TypeKind : uint8_t {
  Tensor,    ///< dtype, extents; rank 0 is a scalar
  Tuple,     ///< elements
  Function,  ///< parameters and result
  Adt,       ///< type definition and arguments
  Ref,       ///< a mutable cell
  Array,     ///< elements of one type
  Var,       ///< a generic parameter; gone after specialisation
  Hole,      ///< `_` of an annotation; gone after typing
};

class Type;
/// Never null in a typed module. Owned by the TypeTable.
using TypeRef = const Type*;

class Type {
 public:
  TypeKind kind() const { return kind_; }
  bool isTensor() const { return kind_ == TypeKind::Tensor; }
  bool isScalar() const { return kind_ == TypeKind::Tensor && dims_.empty(); }
  bool isTuple() const { return kind_ == TypeKind::Tuple; }
  bool isFunction() const { return kind_ == TypeKind::Function; }
  bool isAdt() const { return kind_ == TypeKind::Adt; }
  bool isRef() const { return kind_ == TypeKind::Ref; }
  bool isArray() const { return kind_ == TypeKind::Array; }
  /// Whether extents in its elements() are extents in the value: a tuple, data, or an array.
  bool isAggregate() const { return isTuple() || isAdt() || isArray(); }

  /// Tensor only.
  DType dtype() const;
  std::span<const DimExpr> dims() const;
  int rank() const { return static_cast<int>(dims().size()); }
  /// The extents as numbers when all are constant.
  bool hasStaticDims() const;

  /// Tuple elements, ADT arguments, function parameters, or the one type inside a ref or an array.
  std::span<const TypeRef> elements() const { return elements_; }
  /// Function only.
  TypeRef result() const;
  /// Ref only.
  TypeRef pointee() const;
  /// Array only.
  TypeRef element() const;
  /// Adt only.
  TypeDefId definition() const;
  /// Var only.
  TypeVarId variable() const;

  /// Position in the table: creation order, a deterministic sort key.
  uint32_t id() const { return id_; }
  /// Whether there is a generic parameter or a hole in it.
  bool isOpen() const { return isOpen_; }
  /// Number of parts when written out, which may be exponential in what is stored; saturates.
  uint64_t writtenSize() const { return writtenSize_; }

 private:
  friend class TypeTable;
  TypeKind kind_ = TypeKind::Tuple;
  DType dtype_ = DType::F32;
  uint32_t index_ = 0;  // definition or variable
  uint32_t id_ = 0;
  uint64_t writtenSize_ = 1;
  bool isOpen_ = false;
  std::vector<DimExpr> dims_;
  std::vector<TypeRef> elements_;
  TypeRef result_ = nullptr;
};

struct Constructor {
  std::string name;
  std::vector<TypeRef> fields;  ///< in terms of the definition's generics
  SourceLocation location;
};

/// An algebraic data type; the tag of a constructor is its position.
struct TypeDef {
  std::string name;
  std::vector<TypeVarId> generics;
  std::vector<Constructor> constructors;
  bool isExtern = false;  ///< declared with `extern type`: no values can be made
  std::string doc;
  SourceLocation location;
};

/// A constructor of a definition.
struct ConstructorRef {
  TypeDefId definition;
  uint32_t tag = 0;
  friend bool operator==(const ConstructorRef&, const ConstructorRef&) = default;
};

/// Names of symbols, for messages and printing. Names need not be unique: printing
/// tells equal ones apart.
class DimSymbolTable {
 public:
  DimSymbol add(std::string name);
  const std::string& name(DimSymbol symbol) const { return names_.at(symbol.value()); }
  size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

class TypeTable {
 public:
  TypeTable() = default;
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;
  TypeTable(TypeTable&&) noexcept = default;
  TypeTable& operator=(TypeTable&&) noexcept = default;

  TypeRef tensor(DType dtype, std::vector<DimExpr> dims);
  TypeRef tensor(DType dtype, std::initializer_list<int64_t> extents);
  TypeRef scalar(DType dtype) { return tensor(dtype, std::vector<DimExpr>{}); }
  TypeRef tuple(std::vector<TypeRef> elements);
  TypeRef unit() { return tuple({}); }
  TypeRef function(std::vector<TypeRef> params, TypeRef result);
  TypeRef adt(TypeDefId definition, std::vector<TypeRef> arguments);
  TypeRef ref(TypeRef pointee);
  TypeRef array(TypeRef element);
  TypeRef variable(TypeVarId variable);
  TypeRef hole();

  /// Rebuilds bottom-up, without recursion: `leaf` maps tensors, variables and holes,
  /// `composite` (when there) what was rebuilt of everything else.
  TypeRef rewrite(TypeRef type, const std::function<TypeRef(TypeRef)>& leaf,
                  const std::function<TypeRef(TypeRef)>& composite = {});
  /// Replaces generic parameters: `arguments[i]` for `generics[i]`.
  TypeRef substitute(TypeRef type, std::span<const TypeVarId> generics, std::span<const TypeRef> arguments);
  /// Replaces symbols in all extents.
  TypeRef substituteDims(TypeRef type, const std::function<std::optional<DimExpr>(DimSymbol)>& f);

 private:
  TypeRef intern(Type type);
  std::deque<Type> types_;
  std::unordered_multimap<size_t, TypeRef> byHash_;
};

}  // namespace baton::ir
