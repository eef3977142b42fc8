// From types of the language to kinds, data types and signatures of the executable. Extents
// are no part of a kind: types that differ in extents only are one.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/lir/lower/tables.h"

namespace baton::lir {

class TypeLowering {
 public:
  TypeLowering(ir::Module& source, Module& module, Tables& tables)
      : source_(source),
        module_(module),
        tables_(tables),
        erase_(source.types, false),
        keepNumbers_(source.types, true) {}

  /// Of one register that holds a value of the type; a tuple as an object.
  Kind kindOf(ir::TypeRef type);
  /// Of the registers that hold it where tuples are taken apart, one level.
  std::vector<Kind> splitKinds(ir::TypeRef type);
  SignatureIndex signature(std::span<const ir::TypeRef> params, ir::TypeRef result);

  struct FieldPlace {
    bool isScalar = false;
    uint16_t slot = 0;
  };
  FieldPlace field(TypeIndex type, uint32_t constructor, size_t index) const;

  /// The symbols and views of an entry point, as its types need them.
  struct EntryTypes {
    bytecode::EntryPoint& entry;
    std::function<DimSymbol(DimSymbol)> symbol;  ///< to the entry point's numbers
    std::unordered_map<ir::TypeRef, uint32_t> views{};
  };
  /// The type of a parameter or result as users see it; after finish().
  bytecode::ValueType entryType(ir::TypeRef type, EntryTypes& types);

  /// Fills in the extents of fields: those that are the same number in every use of the type.
  void finish();

 private:
  /// Types with all extents `?`, or all but numbers. Remembers every part, since types nest.
  class DimEraser {
   public:
    DimEraser(ir::TypeTable& types, bool keepNumbers) : types_(types), keepNumbers_(keepNumbers) {}
    ir::TypeRef operator()(ir::TypeRef root);

   private:
    ir::TypeTable& types_;
    bool keepNumbers_;
    std::unordered_map<ir::TypeRef, ir::TypeRef> done_;
  };

  TypeIndex dataType(ir::TypeRef type);
  TypeIndex typeIndex(ir::TypeRef type);
  void define(TypeIndex index, ir::TypeRef erased);
  std::vector<std::vector<ir::TypeRef>> constructorFields(ir::TypeRef type);
  bytecode::ValueType valueType(ir::TypeRef type, const std::function<DimSymbol(DimSymbol)>& symbol);
  bool needsView(ir::TypeRef type);
  using DimPrinter = std::function<std::string(const DimExpr&)>;
  std::string nameOf(ir::TypeRef type, const DimPrinter& dimText, int depth = 0);
  void see(ir::TypeRef type);

  ir::Module& source_;
  Module& module_;
  Tables& tables_;
  DimEraser erase_;
  DimEraser keepNumbers_;
  std::unordered_map<ir::TypeRef, Kind> kinds_;
  std::unordered_map<ir::TypeRef, TypeIndex> dataTypes_;  // by erased type
  std::vector<std::vector<ir::TypeRef>> uses_;            // by TypeIndex: types with their numbers, in order
  std::unordered_map<ir::TypeRef, bool> seen_;
  std::deque<std::pair<TypeIndex, ir::TypeRef>> undefined_;
  bool isDefining_ = false;
};

}  // namespace baton::lir
