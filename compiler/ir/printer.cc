#include "compiler/ir/printer.h"

#include <fmt/format.h>
#include <algorithm>

#include "compiler/ir/attr_dims.h"
#include "compiler/ir/metadata.h"
#include "compiler/ir/op.h"
#include "compiler/ir/print_names.h"
#include "compiler/ir/print_text.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"

namespace baton::ir {
namespace {

/// Between quotes, as the lexer reads it.
std::string inQuotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const char* escape = c == '"'    ? "\\\""
                         : c == '\\' ? "\\\\"
                         : c == '\n' ? "\\n"
                         : c == '\t' ? "\\t"
                         : c == '\r' ? "\\r"
                                     : nullptr;
    if (escape != nullptr)
      out += escape;
    else
      out += c;
  }
  return out + '"';
}

struct AttrText {
  PrintNames& names;
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    std::string text = fmt::format("{}", value);
    // Digits alone would read back as an integer.
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
  }
  std::string operator()(const std::string& value) const { return inQuotes(value); }
  std::string operator()(DType value) const { return fmt::format("\"{}\"", dtypeName(value)); }
  std::string operator()(const std::vector<int64_t>& list) const {
    return fmt::format("[{}]", fmt::join(list, ", "));
  }
  std::string operator()(const std::vector<double>& list) const {
    return fmt::format("[{}]", fmt::join(list, ", "));
  }
  std::string operator()(const std::vector<DimExpr>& list) const {
    std::string text = "[";
    for (const DimExpr& dim : list) text += (text.size() > 1 ? ", " : "") + printDim(dim, names);
    return text + "]";
  }
};

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options)
      : module_(module), options_(options), names_(module) {}

  std::string takeText() { return std::move(out_); }
  /// Constants that were named `meta[relay.Constant][i]`, in order of i.
  const std::vector<ConstantId>& metaConstants() const { return metaConstants_; }

  void typeDef(const TypeDef& definition) {
    doc(definition.doc);
    if (definition.isExtern) {
      out_ += fmt::format("extern type {}{}\n", definition.name, generics(definition.generics));
      return;
    }
    out_ += fmt::format("type {}{} {{\n", definition.name, generics(definition.generics));
    for (const Constructor& constructor : definition.constructors) {
      out_ += "  " + constructor.name;
      for (size_t i = 0; i < constructor.fields.size(); ++i)
        out_ += (i == 0 ? "(" : ", ") + printType(module_, constructor.fields[i], names_);
      out_ += constructor.fields.empty() ? ",\n" : "),\n";
    }
    out_ += "}\n";
  }

  void param(ConstantId id) {
    const Constant& constant = module_.constant(id);
    std::string dims;
    for (int64_t extent : constant.shape) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", extent);
    if (constant.shape.size() == 1) dims += ',';
    out_ += fmt::format("param @{} : Tensor[({}), {}] = ", constant.name, dims, dtypeName(constant.dtype));
    if (options_.constants && !constant.isExternal())
      out_ += meta(id);
    else
      out_ += inQuotes(constant.externalKey);
    out_ += '\n';
  }

  void function(const Function& function) {
    function_ = &function;
    names_ = PrintNames(module_);
    names_.nameVariables(function);
    collectNeededDims();
    names_.enterScope();
    doc(function.doc);
    out_ += fmt::format("def @{}{}", function.name, generics(function.generics));
    params(function.params, function.attrs, false);
    TypeRef result = function.result != nullptr ? function.result : function.declaredResult;
    if (result != nullptr) out_ += " -> " + printType(module_, result, names_);
    for (size_t i = 0; i < function.where.size(); ++i) {
      const DimConstraint& constraint = function.where[i];
      out_ += fmt::format("{}{} {} {}", i == 0 ? " where " : ", ", printDim(constraint.lhs, names_),
                          relationName(constraint.relation), printDim(constraint.rhs, names_));
    }
    out_ += " {\n";
    depth_ = 1;
    body(function.body);
    names_.leaveScope();
    out_ += "}\n";
  }

 private:
  /// What the text says by name and something must bind.
  void collectNeededDims() {
    neededDims_.clear();
    std::vector<DimSymbol> symbols;
    for (BlockId block : blocksInOrder(*function_, function_->body))
      for (const Binding& binding : function_->block(block).bindings) {
        if (const CallOp* call = std::get_if<CallOp>(&binding.rhs))
          forEachDim(call->attrs, [&](const DimExpr& dim) { dim.collectSymbols(symbols); });
        if (const Lambda* lambda = std::get_if<Lambda>(&binding.rhs))
          for (VarId param : lambda->params)
            if (TypeRef type = function_->var(param).type)
              forEachOwnTensor(type, [&](TypeRef tensor) {
                for (const DimExpr& dim : tensor->dims()) dim.collectSymbols(symbols);
              });
      }
    neededDims_.insert(symbols.begin(), symbols.end());
  }

  /// ": Tensor[(n,), float32]" where a type is declared, or where the text needs the name of an
  /// extent that nothing before has bound. From here on a reader knows those in it.
  std::string declaration(VarId var) {
    const VarInfo& info = function_->var(var);
    TypeRef type = info.declaredType;
    if (info.type != nullptr)
      forEachBoundSymbol(info.type, [&](DimSymbol symbol) {
        if (neededDims_.contains(symbol) && !names_.isBound(symbol)) type = info.type;
      });
    if (type == nullptr) return {};
    names_.bindDims(type);
    return ": " + printDeclaredType(module_, type, names_);
  }

  void doc(const std::string& text) {
    size_t start = 0;
    while (start < text.size()) {
      size_t end = std::min(text.find('\n', start), text.size());
      out_ += fmt::format("/// {}\n", text.substr(start, end - start));
      start = end + 1;
    }
  }

  std::string generics(const std::vector<TypeVarId>& vars) const {
    std::string text;
    for (TypeVarId var : vars) text += (text.empty() ? "[" : ", ") + module_.typeVarNames.at(var.value());
    return text.empty() ? text : text + "]";
  }

  std::string meta(ConstantId id) {
    auto [entry, isNew] = metaIndex_.try_emplace(id, metaConstants_.size());
    if (isNew) metaConstants_.push_back(id);
    return fmt::format("meta[relay.Constant][{}]", entry->second);
  }

  std::string atom(Atom atom) {
    switch (atom.kind()) {
      case Atom::Kind::Var: return '%' + names_.of(atom.var());
      case Atom::Kind::Global: return '@' + module_.function(atom.global()).name;
      case Atom::Kind::Constant: break;
    }
    const Constant& constant = module_.constant(atom.constant());
    if (!constant.name.empty()) return '@' + constant.name;
    if (constant.shape.empty())
      return printScalar(constant.dtype, loadScalar(constant.bytes.data(), constant.dtype));
    std::string text = meta(atom.constant());
    if (options_.constants) return text;
    // The number alone says little to a reader.
    return fmt::format("{} /* {}[{}] */", text, dtypeName(constant.dtype), fmt::join(constant.shape, ", "));
  }

  std::string atoms(std::span<const Atom> list) {
    std::string text;
    for (const Atom& item : list) text += (text.empty() ? "" : ", ") + atom(item);
    return text;
  }

  std::string tuple(std::span<const Atom> list) {
    return fmt::format("({}{})", atoms(list), list.size() == 1 ? "," : "");
  }

  void params(const std::vector<VarId>& params, const Attrs& attrs, bool isJoin) {
    out_ += '(';
    bool isFirst = true;
    const auto typeOf = [&](VarId param) {
      const VarInfo& info = function_->var(param);
      return info.type != nullptr ? info.type : info.declaredType;
    };
    for (VarId param : params)
      if (TypeRef type = typeOf(param)) names_.bindDims(type);
    for (VarId param : params) {
      TypeRef type = typeOf(param);
      out_ += fmt::format("{}%{}", isFirst ? "" : ", ", names_.of(param));
      if (type != nullptr) out_ += ": " + printDeclaredType(module_, type, names_);
      isFirst = false;
    }
    out_ += printAttrs(attrs, nullptr, names_, isFirst);
    if (isJoin) out_ += isFirst && attrs.empty() ? "join=1" : ", join=1";
    out_ += ')';
  }

  std::string pattern(PatternId root) {
    std::string text;
    struct Piece {
      std::optional<PatternId> pattern;
      const char* text;
    };
    std::vector<Piece> stack{{root, nullptr}};
    while (!stack.empty()) {
      Piece piece = stack.back();
      stack.pop_back();
      if (!piece.pattern) {
        text += piece.text;
        continue;
      }
      const Pattern& node = function_->pattern(*piece.pattern);
      switch (node.kind) {
        case Pattern::Kind::Wildcard: text += '_'; continue;
        case Pattern::Kind::Var: text += '%' + names_.of(node.var) + declaration(node.var); continue;
        case Pattern::Kind::Constructor: text += module_.constructor(node.constructor).name; break;
        case Pattern::Kind::Tuple: break;
      }
      if (node.kind == Pattern::Kind::Constructor && node.children.empty()) continue;
      text += '(';
      bool isUnary = node.kind == Pattern::Kind::Tuple && node.children.size() == 1;
      stack.push_back({std::nullopt, isUnary ? ",)" : ")"});
      for (size_t i = node.children.size(); i-- > 0;) {
        stack.push_back({node.children[i], nullptr});
        if (i > 0) stack.push_back({std::nullopt, ", "});
      }
    }
    return text;
  }

  std::string operatorCall(const CallOp& call) {
    std::string args;
    const std::vector<ops::InputSpec>& inputs = call.op->inputs;
    bool hasList = !inputs.empty() && inputs.back().isList;
    size_t fixed = hasList ? inputs.size() - 1 : call.args.size();
    bool isFlat = hasList && !(call.args.size() == inputs.size() && isTupleOrUnknown(call.args.back()));
    if (isFlat) {
      std::span<const Atom> all(call.args);
      args = atoms(all.first(fixed));
      args += (args.empty() ? "" : ", ") + tuple(all.subspan(fixed));
    } else {
      args = atoms(call.args);
    }
    return fmt::format("{}({}{})", call.op->name, args,
                       printAttrs(call.attrs, call.op, names_, args.empty()));
  }

  bool isTupleOrUnknown(const Atom& atom) const {
    if (!atom.isVar()) return false;
    TypeRef type = function_->var(atom.var()).type;
    return type == nullptr || type->isTuple();
  }

  /// What can be written before the first child block.
  void opening(const Rhs& rhs) {
    struct Visitor {
      Printer& p;
      std::string operator()(const AtomRhs& r) const { return p.atom(r.atom); }
      std::string operator()(const CallOp& r) const { return p.operatorCall(r); }
      std::string operator()(const CallGlobal& r) const {
        return fmt::format("@{}({})", p.module_.function(r.callee).name, p.atoms(r.args));
      }
      std::string operator()(const CallValue& r) const {
        return fmt::format("{}({})", p.atom(r.callee), p.atoms(r.args));
      }
      std::string operator()(const CallJoin& r) const {
        return fmt::format("%{}({})", p.names_.of(r.join), p.atoms(r.args));
      }
      std::string operator()(const Construct& r) const {
        const std::string& name = p.module_.constructor(r.constructor).name;
        return r.args.empty() ? name : fmt::format("{}({})", name, p.atoms(r.args));
      }
      std::string operator()(const MakeTuple& r) const { return p.tuple(r.elements); }
      std::string operator()(const Project& r) const {
        // "2.0" would be a number.
        return r.tuple.isVar() ? fmt::format("{}.{}", p.atom(r.tuple), r.index)
                               : fmt::format("({}).{}", p.atom(r.tuple), r.index);
      }
      std::string operator()(const If& r) const { return fmt::format("if ({}) {{\n", p.atom(r.condition)); }
      std::string operator()(const Match& r) const {
        return fmt::format("match{} ({}) {{\n", r.complete ? "" : "?", p.atom(r.scrutinee));
      }
      std::string operator()(const Lambda&) const { return "fn "; }
      std::string operator()(const NestedBlock&) const { return "{\n"; }
      std::string operator()(const MakeRef& r) const { return fmt::format("ref({})", p.atom(r.value)); }
      std::string operator()(const ReadRef& r) const { return fmt::format("ref_read({})", p.atom(r.cell)); }
      std::string operator()(const ArrayOp& r) const {
        return fmt::format("{}({})", infoOf(r.operation).name, p.atoms(r.args));
      }
      std::string operator()(const WriteRef& r) const {
        return fmt::format("ref_write({}, {})", p.atom(r.cell), p.atom(r.value));
      }
    };
    out_ += std::visit(Visitor{*this}, rhs);
    if (const Lambda* lambda = std::get_if<Lambda>(&rhs)) {
      out_ += generics(lambda->generics);
      names_.enterScope();
      params(lambda->params, lambda->attrs, lambda->isJoin);
      if (lambda->declaredResult != nullptr)
        out_ += " -> " + printDeclaredType(module_, lambda->declaredResult, names_);
      out_ += " {\n";
    }
  }

  /// Deep nesting does not make the text grow with the square of the depth.
  void indent() { out_.append(2 * std::min<size_t>(depth_, kMaxIndent), ' '); }
  static constexpr size_t kMaxIndent = 40;

  void body(BlockId root) {
    WalkCallbacks callbacks;
    callbacks.enterBinding = [&](BlockId block, size_t index) {
      const Binding& binding = function_->block(block).bindings[index];
      indent();
      const std::string type = declaration(binding.var);
      if (!type.empty() && names_.isNumbered(binding.var)) names_.giveName(binding.var);
      const bool isLet = !names_.isNumbered(binding.var);
      out_ += fmt::format("{}%{}{} = ", isLet ? "let " : "", names_.of(binding.var), type);
      opening(binding.rhs);
      return true;
    };
    callbacks.enterChild = [&](BlockId block, size_t index, size_t child, BlockId) {
      const Rhs& rhs = function_->block(block).bindings[index].rhs;
      if (std::holds_alternative<If>(rhs) && child == 1) {
        indent();
        out_ += "} else {\n";
      } else if (const Match* match = std::get_if<Match>(&rhs)) {
        if (child > 0) closeClause();
        ++depth_;
        indent();
        names_.enterScope();
        out_ += pattern(match->clauses[child].pattern) + " => {\n";
      }
      ++depth_;
    };
    callbacks.enterBlock = [&](BlockId) { names_.enterScope(); };
    callbacks.leaveBlock = [&](BlockId block) {
      indent();
      out_ += atom(function_->block(block).result) + "\n";
      names_.leaveScope();
      --depth_;
    };
    callbacks.leaveBinding = [&](BlockId block, size_t index) {
      const Binding& binding = function_->block(block).bindings[index];
      const Match* match = std::get_if<Match>(&binding.rhs);
      if (match != nullptr && !match->clauses.empty()) closeClause();
      if (std::holds_alternative<Lambda>(binding.rhs)) names_.leaveScope();
      bool hasBlock = match != nullptr;
      forEachChildBlock(binding.rhs, [&](BlockId) { hasBlock = true; });
      if (hasBlock) {
        indent();
        out_ += '}';
      }
      out_ += ';';
      TypeRef type = function_->var(binding.var).type;
      if (options_.types && type != nullptr && !std::holds_alternative<Lambda>(binding.rhs))
        out_ += fmt::format("  /* {} */", printType(module_, type, names_));
      // Of operators a reader finds the checks again; what stands for one that cannot succeed has
      // only these.
      if (std::holds_alternative<MakeTuple>(binding.rhs))
        for (const Obligation& obligation : binding.obligations)
          out_ += fmt::format("  /* requires {} */", obligationText(obligation));
      out_ += '\n';
    };
    walk(*function_, root, callbacks);
    depth_ = 0;
  }

  /// "n + 1 == n, or else add: the shapes (n + 1,) and (n,) do not broadcast".
  std::string obligationText(const Obligation& obligation) {
    std::vector<std::string> shown;
    for (const DimExpr& dim : obligation.shown) shown.push_back(printDim(dim, names_));
    if (shown.empty()) shown = {printDim(obligation.lhs, names_), printDim(obligation.rhs, names_)};
    return fmt::format("{} {} {}, or else {}", printDim(obligation.lhs, names_),
                       relationName(obligation.relation), printDim(obligation.rhs, names_),
                       ops::formatDimMessage(obligation.message, shown));
  }

  void closeClause() {
    names_.leaveScope();
    indent();
    --depth_;
    out_ += "},\n";
  }

  const Module& module_;
  const PrintOptions& options_;
  PrintNames names_;
  const Function* function_ = nullptr;
  std::string out_;
  std::unordered_set<DimSymbol> neededDims_;  // looked up only
  size_t depth_ = 0;
  std::vector<ConstantId> metaConstants_;
  std::unordered_map<ConstantId, size_t> metaIndex_;
};

}  // namespace

std::string printAttrs(const Attrs& attrs, const ops::OpDef* op, PrintNames& names, bool isFirst) {
  std::string text;
  for (const auto& [name, value] : attrs.entries()) {
    if (op != nullptr) {
      bool isDefault = false;
      for (const ops::AttrSpec& spec : op->attrs)
        isDefault |= spec.name == name && !spec.isRequired && spec.defaultValue == value;
      if (isDefault) continue;
    }
    text += fmt::format("{}{}={}", isFirst ? "" : ", ", name, std::visit(AttrText{names}, value));
    isFirst = false;
  }
  return text;
}

std::string print(const Module& module, const PrintOptions& options) {
  Printer printer(module, options);
  for (const TypeDef& definition : module.typeDefs) printer.typeDef(definition);
  for (size_t i = 0; i < module.constants.size(); ++i)
    if (!module.constants[i].name.empty()) printer.param(ConstantId(static_cast<uint32_t>(i)));
  for (const Function& function : module.functions) printer.function(function);
  std::string text = printer.takeText();
  if (options.constants && !printer.metaConstants().empty())
    text += "\n#[metadata]\n" + writeMetadata(module, printer.metaConstants());
  return text;
}

std::string print(const Module& module, const Function& function, const PrintOptions& options) {
  Printer printer(module, options);
  printer.function(function);
  return printer.takeText();
}

}  // namespace baton::ir
