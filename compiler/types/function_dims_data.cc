// Facts about values: operands, data and what is read out of it, declared types.
#include <fmt/format.h>

#include "compiler/ir/printer.h"
#include "compiler/ops/call_contexts.h"
#include "compiler/types/dims.h"
#include "compiler/types/function_dims.h"
#include "compiler/types/operator_dims.h"

namespace baton::types {

using ir::TypeRef;

Fact FunctionDims::factOf(const ir::Atom& atom) {
  ir::Module& module = module_.module();
  switch (atom.kind()) {
    case ir::Atom::Kind::Var: return facts_[atom.var().value()];
    case ir::Atom::Kind::Global: {
      const ir::Function& function = module.function(atom.global());
      std::vector<TypeRef> params;
      for (ir::VarId param : function.params) params.push_back(function.var(param).type);
      TypeRef type = module.types.erased(module.types.function(std::move(params), function.result));
      if (!inShadow()) module_.escapes(atom.global(), type);
      return {module_.cells().filledIn(type), std::nullopt};
    }
    case ir::Atom::Kind::Constant: break;
  }
  return {module.typeOf(atom.constant()), ops::elementsOf(module.constant(atom.constant()))};
}

Fact FunctionDims::readable(ir::VarId var, TypeRef type) {
  std::vector<Position> positions = positionsOf(type);
  std::vector<DimExpr> dims;
  for (size_t i = 0; i < positions.size(); ++i) {
    const Position& position = positions[i];
    if (position.isPlain && isNoDim(position.dim) && !hasShadow_) return {};
    bool isUnknown = isAnyDim(position.dim) || isNoDim(position.dim);
    dims.push_back(position.isPlain && isUnknown ? extentSymbol(var, i) : position.dim);
  }
  return {module_.cells().filledIn(withDims(module_.module().types, type, dims)), std::nullopt};
}

TypeRef FunctionDims::unknownData(TypeRef type) {
  std::vector<Position> positions = positionsOf(type);
  std::vector<DimExpr> dims;
  for (const Position& position : positions) dims.push_back(isNoDim(position.dim) ? anyDim() : position.dim);
  return withDims(module_.module().types, type, dims);
}

void FunctionDims::arrive(TypeRef functionOrCell, size_t index, TypeRef value) {
  if (!inShadow() && module_.cells().arrive(functionOrCell, index, value)) module_.cellsChanged();
}

bool FunctionDims::bindPattern(ir::PatternId root, TypeRef scrutinee) {
  ir::Module& module = module_.module();
  bool isReached = true;
  std::vector<std::pair<ir::PatternId, TypeRef>> stack{{root, scrutinee}};
  while (!stack.empty()) {
    auto [id, type] = stack.back();
    stack.pop_back();
    const ir::Pattern& pattern = function_.pattern(id);
    std::vector<TypeRef> children;
    switch (pattern.kind) {
      case ir::Pattern::Kind::Wildcard: break;
      case ir::Pattern::Kind::Var: {
        for (const Position& position : positionsOf(type))
          isReached = isReached && !(position.isPlain && isNoDim(position.dim));
        Fact fact = readable(pattern.var, type);
        if (!fact.isReached()) return false;
        set(pattern.var, std::move(fact));
        break;
      }
      case ir::Pattern::Kind::Constructor: children = module.fieldTypes(type, pattern.constructor.tag); break;
      case ir::Pattern::Kind::Tuple: children.assign(type->elements().begin(), type->elements().end()); break;
    }
    for (size_t i = pattern.children.size(); i-- > 0;) stack.emplace_back(pattern.children[i], children[i]);
  }
  return isReached;
}

// The arguments of the data type follow from the fields that mention them.
TypeRef FunctionDims::dataType(TypeRef shape, const ir::Construct& rhs) {
  ir::Module& module = module_.module();
  const ir::TypeDef& definition = module.typeDef(rhs.constructor.definition);
  std::vector<TypeRef> arguments;
  for (TypeRef argument : shape->elements()) arguments.push_back(withNoDims(module.types, argument));
  const std::vector<TypeRef>& fields = definition.constructors[rhs.constructor.tag].fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    std::vector<std::pair<TypeRef, TypeRef>> stack{{fields[i], factOf(rhs.args[i]).type}};
    while (!stack.empty()) {
      auto [field, actual] = stack.back();
      stack.pop_back();
      if (field->kind() == ir::TypeKind::Var) {
        for (size_t g = 0; g < definition.generics.size(); ++g)
          if (definition.generics[g] == field->variable())
            arguments[g] = joinData(module.types, arguments[g], actual);
      } else if (field->isAggregate()) {
        for (size_t e = 0; e < field->elements().size(); ++e)
          stack.emplace_back(field->elements()[e], actual->elements()[e]);
      }
    }
  }
  return module_.cells().filledIn(module.types.adt(rhs.constructor.definition, std::move(arguments)));
}

Fact FunctionDims::construct(const ir::Binding& binding, const ir::Construct& rhs) {
  for (const ir::Atom& arg : rhs.args)
    if (!factOf(arg).isReached()) return {};
  TypeRef type = dataType(shapes_[binding.var.value()], rhs);
  if (!isFinal_) return {type, std::nullopt};
  // Extents that the definition itself names hold for every value of it.
  ir::Module& module = module_.module();
  const ir::Constructor& constructor = module.constructor(rhs.constructor);
  for (size_t i = 0; i < constructor.fields.size(); ++i) {
    TypeRef actual = factOf(rhs.args[i]).type;
    std::vector<DimExpr> written = declaredDims(constructor.fields[i], module.types.erased(actual));
    std::vector<Position> positions = positionsOf(actual);
    for (size_t p = 0; p < positions.size(); ++p) {
      if (!written[p].isConstant() || written[p] == positions[p].dim) continue;
      if (!positions[p].isPlain) {
        if (!isNoDim(positions[p].dim))
          report(operandLocation(binding, i), true,
                 fmt::format("field {} of {}: an extent inside the data cannot be shown to be {}", i + 1,
                             constructor.name, ir::print(module, written[p])),
                 ir::print(module, actual));
        continue;
      }
      std::string message = fmt::format("field {} of {}: {} is {{0}}; {{1}} is declared", i + 1,
                                        constructor.name, positionText(actual, p));
      Result<void> checked = require(positions[p].dim, Relation::Eq, written[p], message);
      if (!checked.has_value()) reportFailure(binding, checked.error().message(), i);
    }
  }
  return {type, std::nullopt};
}

DimExpr FunctionDims::resolveNamed(const DimExpr& dim) const {
  if (named_.empty()) return dim;
  return dim.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
    auto known = named_.find(symbol);
    return known == named_.end() ? std::nullopt : std::optional(known->second);
  });
}

// What is declared counts: where it cannot be shown to hold, it is checked.
Fact FunctionDims::refine(ir::VarId var, TypeRef declared, Fact fact, SourceLocation location) {
  if (declared == nullptr || !fact.isReached()) return fact;
  ir::Module& module = module_.module();
  std::vector<Position> positions = positionsOf(fact.type);
  std::vector<DimExpr> written = declaredDims(declared, module.types.erased(fact.type));
  std::string what = var == ir::kNoVar ? "the result" : "%" + function_.var(var).name;
  std::vector<DimExpr> dims;
  std::vector<ir::Obligation> checks;
  for (size_t i = 0; i < positions.size(); ++i) {
    const DimExpr& inferred = positions[i].dim;
    dims.push_back(inferred);
    if (!positions[i].isPlain || isAnyDim(written[i])) continue;
    std::optional<DimSymbol> name = written[i].asSymbol();
    auto claimed = name ? claimed_.find(*name) : claimed_.end();
    if (claimed != claimed_.end() && claimed->second == var) {
      auto [entry, isNew] = named_.try_emplace(*name, inferred);
      if (isNew || entry->second != inferred) {
        entry->second = inferred;
        changed();
      }
      continue;
    }
    std::vector<DimSymbol> symbols;
    DimExpr expected = resolveNamed(written[i]);
    expected.collectSymbols(symbols);
    bool isKnown = true;
    for (DimSymbol symbol : symbols) isKnown = isKnown && isKnownSymbol(symbol);
    // A name that only the result has: an extent that the body decides.
    if (!isKnown || inferred == expected) continue;
    dims.back() = expected;
    Truth truth = knowledge_.decide(inferred, Relation::Eq, expected);
    // Results are checked where they are made (checkResult).
    if (truth == Truth::True || !isFinal_ || var == ir::kNoVar) continue;
    Mismatch message =
        mismatch(fmt::format("{}: {}", what, positionText(fact.type, i)), written[i], expected);
    if (truth == Truth::False) {
      std::vector<std::string> texts{ir::print(module, inferred), ir::print(module, expected)};
      bool isCertain = isCertain_ && scope_.isUnconditional(scope_.homeOf(var));
      report(location, isCertain, ops::formatDimMessage(message.certain, texts),
             ir::print(module, fact.type));
    }
    assumeChecked({inferred, Relation::Eq, expected});
    checks.push_back({inferred, Relation::Eq, expected, std::move(message.atRun), {inferred, expected}});
  }
  if (!checks.empty()) declaredChecks_.push_back({var, fact.type, std::move(checks)});
  fact.type = withDims(module.types, fact.type, dims);
  return fact;
}

Fact FunctionDims::evaluate(const ir::Binding& binding) {
  ir::TypeTable& types = module_.module().types;
  struct Visitor {
    FunctionDims& f;
    const ir::Binding& binding;
    ir::TypeTable& types;

    Fact operator()(const ir::AtomRhs& rhs) { return f.factOf(rhs.atom); }
    Fact operator()(const ir::CallOp& rhs) { return OperatorDims(f, binding, rhs).run(); }
    Fact operator()(const ir::CallGlobal& rhs) {
      f.module_.addCaller(rhs.callee, f.id_);
      FunctionDims& callee = f.module_.of(rhs.callee);
      return f.call(binding, callee.callable(), rhs.args, "@" + callee.function().name,
                    callee.function().where);
    }
    Fact operator()(const ir::CallValue& rhs) { return f.callValue(binding, rhs); }
    Fact operator()(const ir::CallJoin& rhs) {
      return f.call(binding, *f.lambdas_.at(rhs.join), rhs.args, "%" + f.function_.var(rhs.join).name, {});
    }
    Fact operator()(const ir::Construct& rhs) { return f.construct(binding, rhs); }
    Fact operator()(const ir::MakeTuple& rhs) {
      std::vector<TypeRef> elements;
      for (const ir::Atom& element : rhs.elements) {
        Fact fact = f.factOf(element);
        if (!fact.isReached()) return {};
        elements.push_back(fact.type);
      }
      return {types.tuple(std::move(elements)), std::nullopt};
    }
    Fact operator()(const ir::Project& rhs) {
      Fact tuple = f.factOf(rhs.tuple);
      if (!tuple.isReached()) return {};
      // A tuple that is made here keeps what is known of the elements of its elements.
      const ir::Binding* definition = rhs.tuple.isVar() ? f.definitionOf(rhs.tuple.var()) : nullptr;
      if (definition != nullptr)
        if (const ir::MakeTuple* made = std::get_if<ir::MakeTuple>(&definition->rhs))
          return f.factOf(made->elements[rhs.index]);
      return {tuple.type->elements()[rhs.index], std::nullopt};
    }
    Fact operator()(const ir::ArrayOp& rhs) { return f.arrayOperation(binding, rhs); }
    Fact operator()(const ir::MakeRef& rhs) {
      Fact value = f.factOf(rhs.value);
      if (!value.isReached()) return {};
      TypeRef cell = f.shapes_[binding.var.value()];
      f.arrive(cell, 0, value.type);
      return {f.module_.cells().filledIn(cell), std::nullopt};
    }
    Fact operator()(const ir::ReadRef& rhs) {
      Fact cell = f.factOf(rhs.cell);
      if (!cell.isReached()) return {};
      std::optional<TypeRef> content = f.module_.cells().typeOf(cell.type, 0);
      if (content || f.hasShadow_) return f.readable(binding.var, content ? *content : cell.type->pointee());
      return {};
    }
    Fact operator()(const ir::WriteRef& rhs) {
      Fact cell = f.factOf(rhs.cell);
      Fact value = f.factOf(rhs.value);
      if (!cell.isReached() || !value.isReached()) return {};
      f.arrive(cell.type, 0, value.type);
      return {types.unit(), std::nullopt};
    }
    // What holds blocks is done when they are.
    Fact operator()(const ir::If&) { return {}; }
    Fact operator()(const ir::Match&) { return {}; }
    Fact operator()(const ir::Lambda&) { return {}; }
    Fact operator()(const ir::NestedBlock&) { return {}; }
  };
  return std::visit(Visitor{*this, binding, types}, binding.rhs);
}

}  // namespace baton::types
