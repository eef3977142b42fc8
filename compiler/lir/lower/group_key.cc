#include "compiler/lir/lower/group_key.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>

#include "compiler/ir/op.h"

namespace baton::lir {

namespace {

class KeyWriter {
 public:
  KeyWriter(const ir::Module& module, const ir::Function& group) : module_(module), group_(group) {}

  GroupKey write() {
    for (ir::VarId param : group_.params) {
      define(param);
      text_ += ';';
    }
    text_ += '{';
    const ir::Block& body = group_.block(group_.body);
    for (const ir::Binding& binding : body.bindings) {
      writeRhs(binding.rhs);
      text_ += "->";
      define(binding.var);
      text_ += ';';
    }
    text_ += '=';
    writeAtom(body.result);
    return {std::move(text_), std::move(symbols_)};
  }

 private:
  void define(ir::VarId var) {
    numbers_.emplace(var, numbers_.size());
    const ir::VarInfo& info = group_.var(var);
    writeType(info.type);
    if (!info.valueDims) return;
    text_ += '!';
    for (const DimExpr& dim : *info.valueDims) writeDim(dim);
  }

  void writeDim(const DimExpr& dim) {
    text_ += dim.print([&](DimSymbol symbol) { return "$" + std::to_string(number(symbol)); });
    text_ += ',';
  }

  size_t number(DimSymbol symbol) {
    const auto [found, isNew] = symbolNumbers_.try_emplace(symbol, symbols_.size());
    if (isNew) symbols_.push_back(symbol);
    return found->second;
  }

  /// Groups have tensors and tuples of tensors only.
  void writeType(ir::TypeRef type) {
    if (type->isTuple()) {
      text_ += '(';
      for (ir::TypeRef element : type->elements()) writeType(element);
      text_ += ')';
      return;
    }
    text_ += dtypeShortName(type->dtype());
    text_ += '[';
    for (const DimExpr& dim : type->dims()) writeDim(dim);
    text_ += ']';
  }

  void writeAtom(const ir::Atom& atom) {
    if (atom.isVar()) {
      text_ += '%' + std::to_string(numbers_.at(atom.var())) + ',';
      return;
    }
    const ir::Constant& constant = module_.constant(atom.constant());
    text_ += '#';
    text_ += dtypeShortName(constant.dtype);
    for (int64_t extent : constant.shape) text_ += ':' + std::to_string(extent);
    text_ += '=' + std::to_string(constant.bytes.size()) + ':';
    text_.append(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
    text_ += constant.externalKey;
    text_ += ',';
  }

  void writeRhs(const ir::Rhs& rhs) {
    if (const auto* call = std::get_if<ir::CallOp>(&rhs)) {
      text_ += call->op->name;
      for (const auto& [name, value] : call->attrs.entries()) {
        text_ += ' ' + name + '=';
        writeAttr(value);
      }
      text_ += '(';
      for (const ir::Atom& arg : call->args) writeAtom(arg);
    } else if (const auto* tuple = std::get_if<ir::MakeTuple>(&rhs)) {
      text_ += "tuple(";
      for (const ir::Atom& element : tuple->elements) writeAtom(element);
    } else if (const auto* project = std::get_if<ir::Project>(&rhs)) {
      text_ += "project" + std::to_string(project->index) + '(';
      writeAtom(project->tuple);
    } else if (const auto* alias = std::get_if<ir::AtomRhs>(&rhs)) {
      text_ += "alias(";
      writeAtom(alias->atom);
    } else {
      BATON_CHECK(!"a fused group has operators, tuples and projections only");
    }
    text_ += ')';
  }

  void writeAttr(const ir::AttrValue& value) {
    std::visit(
        [&](const auto& v) {
          using T = std::remove_cvref_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            text_ += "None";
          } else if constexpr (std::is_same_v<T, std::string>) {
            text_ += std::to_string(v.size()) + '"' + v;
          } else if constexpr (std::is_same_v<T, DType>) {
            text_ += dtypeShortName(v);
          } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>) {
            text_ += std::to_string(v);
          } else if constexpr (std::is_same_v<T, double>) {
            text_ += std::to_string(scalarBits(v));
          } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
            for (int64_t element : v) text_ += std::to_string(element) + ',';
          } else if constexpr (std::is_same_v<T, std::vector<double>>) {
            for (double element : v) text_ += std::to_string(scalarBits(element)) + ',';
          } else {
            static_assert(std::is_same_v<T, std::vector<DimExpr>>);
            for (const DimExpr& element : v) writeDim(element);
          }
        },
        value);
    // Lists of different kinds and lengths print alike otherwise.
    text_ += '|' + std::to_string(value.index());
  }

  const ir::Module& module_;
  const ir::Function& group_;
  std::string text_;
  std::vector<DimSymbol> symbols_;
  std::unordered_map<DimSymbol, size_t> symbolNumbers_;
  std::unordered_map<ir::VarId, size_t> numbers_;
};

}  // namespace

GroupKey groupKey(const ir::Module& module, const ir::Function& group) {
  return KeyWriter(module, group).write();
}

DimExpr numbered(const DimExpr& expr, const std::vector<DimSymbol>& symbols) {
  return expr.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
    const auto found = std::find(symbols.begin(), symbols.end(), symbol);
    BATON_CHECK(found != symbols.end());
    return DimExpr::symbol(DimSymbol(static_cast<uint32_t>(found - symbols.begin())));
  });
}

}  // namespace baton::lir
