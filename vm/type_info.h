// Types as users see them: what baton_type points to. Built once, when an executable is
// loaded, from its type table and its entry points.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace baton::vm {

class Executable;
class TypeTable;

enum class TypeKind : uint8_t { Tensor = 0, Scalar = 1, Tuple = 2, Adt = 3, Closure = 4, Ref = 5, Array = 6 };

struct TypeInfo;
/// By constructor; of an array, the one field of the one constructor is an element.
using FieldTypes = std::vector<std::vector<TypeInfo>>;

/// In the field of a data type, and not of a view, a symbol is one unknown extent of that field.
inline constexpr uint32_t kFieldSymbols = uint32_t{1} << 31;

/// Immutable; lives as long as its executable.
struct TypeInfo {
  const Executable* executable = nullptr;
  TypeKind kind = TypeKind::Tensor;
  DType dtype = DType::F32;                       ///< Tensor, Scalar
  const bytecode::TypeDef* definition = nullptr;  ///< Tuple, Adt, Array
  uint32_t typeIndex = 0;                         ///< Tuple, Adt, Array
  uint32_t signature = 0;                         ///< Closure
  /// Tensor. Symbols are the entry point's; from kFieldSymbols on those of one field.
  std::vector<DimExpr> dims;
  std::vector<int64_t> extents;          ///< Tensor; -1 where it is not one number
  std::vector<std::string> extentTexts;  ///< Tensor
  std::string text;                      ///< as in program text
  /// Tuple, Adt, Array: types of the fields, shared by all uses of the definition or of a view of it.
  const FieldTypes* fields = nullptr;

  bool isData() const { return kind == TypeKind::Tuple || kind == TypeKind::Adt; }
  bool isArray() const { return kind == TypeKind::Array; }
  /// Whether values have parts with types of their own.
  bool hasParts() const { return isData() || isArray(); }
  /// Array only.
  const TypeInfo& element() const { return fields->front().front(); }
  bool isList() const { return definition && definition->isList; }
  size_t rank() const { return dims.size(); }
};

/// Whether a value of one type may be taken for one of the other: the same data types, down
/// to the layout of their fields, wherever they are declared. Extents do not matter, and
/// closures belong to their executable.
bool isSameStructure(const TypeInfo& a, const TypeInfo& b);
/// Whether the numbers that one type has for extents inside data are there in the other as well, so
/// that a value of the one is a value of the other; of types of the same structure.
bool impliesExtents(const TypeInfo& a, const TypeInfo& b);
/// The same type, extents as written included.
bool isSameType(const TypeInfo& a, const TypeInfo& b);

class TypeTable {
 public:
  TypeTable(const Executable& executable, const bytecode::Program& program);
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  /// `symbols` are the names of the extents that are symbols; beyond them "?" is written.
  TypeInfo describe(const bytecode::ValueType& type, const std::vector<std::string>& symbols) const;
  /// The same with the views of an entry point.
  TypeInfo describe(const bytecode::ValueType& type, const bytecode::EntryPoint& entry,
                    const std::vector<FieldTypes>& views) const;
  /// Of the fields of each view. They lead to one another: the list is moved, never copied.
  std::vector<FieldTypes> describeViews(const bytecode::EntryPoint& entry) const;

 private:
  std::string kindText(const bytecode::Kind& kind) const;
  std::string typeText(uint32_t index) const;

  const Executable& executable_;
  const bytecode::Program& program_;
  std::deque<FieldTypes> fields_;  // by type
};

}  // namespace baton::vm
