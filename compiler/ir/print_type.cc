// Types, dims and scalars as text.
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "compiler/ir/print_names.h"
#include "compiler/ir/print_text.h"
#include "compiler/ir/printer.h"

namespace baton::ir {

std::string printDim(const DimExpr& dim, PrintNames& names) {
  return dim.print([&](DimSymbol symbol) { return names.of(symbol); });
}

namespace {

std::string typeText(const Module& module, TypeRef root,
                     const std::function<std::string(const DimExpr&)>& dimText) {
  // Pieces still to be written, last first: a type, or text between types.
  struct Piece {
    TypeRef type;
    std::string text;
  };
  std::string out;
  std::vector<Piece> stack{{root, {}}};
  while (!stack.empty()) {
    Piece piece = std::move(stack.back());
    stack.pop_back();
    if (piece.type == nullptr) {
      out += piece.text;
      continue;
    }
    TypeRef type = piece.type;
    auto pushList = [&](std::span<const TypeRef> types) {
      for (size_t i = types.size(); i-- > 0;) {
        stack.push_back({types[i], {}});
        if (i > 0) stack.push_back({nullptr, ", "});
      }
    };
    switch (type->kind()) {
      case TypeKind::Tensor: {
        if (type->dims().empty()) {
          out += dtypeName(type->dtype());
          break;
        }
        out += "Tensor[(";
        for (size_t i = 0; i < type->dims().size(); ++i) {
          if (i > 0) out += ", ";
          out += dimText(type->dims()[i]);
        }
        if (type->dims().size() == 1) out += ',';
        out += fmt::format("), {}]", dtypeName(type->dtype()));
        break;
      }
      case TypeKind::Tuple:
        out += '(';
        stack.push_back({nullptr, type->elements().size() == 1 ? ",)" : ")"});
        pushList(type->elements());
        break;
      case TypeKind::Function:
        out += "fn (";
        stack.push_back({type->result(), {}});
        stack.push_back({nullptr, ") -> "});
        pushList(type->elements());
        break;
      case TypeKind::Adt:
        out += module.typeDef(type->definition()).name;
        if (type->elements().empty()) break;
        out += '[';
        stack.push_back({nullptr, "]"});
        pushList(type->elements());
        break;
      case TypeKind::Ref:
        out += "ref(";
        stack.push_back({nullptr, ")"});
        stack.push_back({type->pointee(), {}});
        break;
      case TypeKind::Array:
        out += "Array[";
        stack.push_back({nullptr, "]"});
        stack.push_back({type->element(), {}});
        break;
      case TypeKind::Var: out += module.typeVarNames.at(type->variable().value()); break;
      case TypeKind::Hole: out += '_'; break;
    }
  }
  return out;
}

}  // namespace

std::string printType(const Module& module, TypeRef type, PrintNames& names) {
  return typeText(module, type, [&](const DimExpr& dim) { return printDim(dim, names); });
}

std::string printDeclaredType(const Module& module, TypeRef type, PrintNames& names) {
  return typeText(module, type,
                  [&](const DimExpr& dim) { return names.isBound(dim) ? printDim(dim, names) : "?"; });
}

std::string print(const Module& module, TypeRef type) {
  PrintNames names(module);
  return printType(module, type, names);
}

std::string print(const Module& module, const DimExpr& dim) {
  PrintNames names(module);
  return printDim(dim, names);
}

std::string printScalar(DType dtype, uint64_t bits) {
  std::string_view suffix = dtype == DType::F32 ? "f" : dtype == DType::I32 ? "" : dtypeShortName(dtype);
  if (dtype == DType::Bool) return bits != 0 ? "True" : "False";
  if (isSignedInt(dtype)) return fmt::format("{}{}", static_cast<int64_t>(bits), suffix);
  if (isUnsignedInt(dtype)) return fmt::format("{}{}", bits, suffix);
  double value = scalarFromBits<double>(convertScalar(bits, dtype, DType::F64));
  if (std::isnan(value)) return fmt::format("nan{}", suffix);
  if (std::isinf(value)) return fmt::format("{}inf{}", value < 0 ? "-" : "", suffix);
  // The shortest digits that name the value among those of its own width.
  if (dtype == DType::F64) return fmt::format("{}{}", value, suffix);
  return fmt::format("{}{}", static_cast<float>(value), suffix);
}

}  // namespace baton::ir
