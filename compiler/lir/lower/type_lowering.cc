#include "compiler/lir/lower/type_lowering.h"

#include <optional>
#include <unordered_set>

#include <fmt/format.h>

namespace baton::lir {

namespace {

DimExpr anyDim() { return DimExpr::symbol(ir::kAnyDim); }

std::string numberOrUnknown(const DimExpr& dim) {
  return dim.isConstant() ? std::to_string(*dim.asConstant()) : "?";
}

}  // namespace

ir::TypeRef TypeLowering::DimEraser::operator()(ir::TypeRef root) {
  std::vector<ir::TypeRef> stack{root};
  const auto ready = [&](ir::TypeRef type) {
    if (done_.contains(type)) return true;
    stack.push_back(type);
    return false;
  };
  while (!stack.empty()) {
    const ir::TypeRef type = stack.back();
    if (done_.contains(type)) {
      stack.pop_back();
      continue;
    }
    if (type->isTensor()) {
      std::vector<DimExpr> dims(type->dims().begin(), type->dims().end());
      for (DimExpr& dim : dims)
        if (!keepNumbers_ || !dim.isConstant()) dim = anyDim();
      done_.emplace(type, types_.tensor(type->dtype(), std::move(dims)));
      continue;
    }
    bool isReady = true;
    for (ir::TypeRef element : type->elements()) isReady &= ready(element);
    if (type->isFunction()) isReady &= ready(type->result());
    if (!isReady) continue;
    std::vector<ir::TypeRef> elements;
    for (ir::TypeRef element : type->elements()) elements.push_back(done_.at(element));
    ir::TypeRef result = type;
    switch (type->kind()) {
      case ir::TypeKind::Tuple: result = types_.tuple(std::move(elements)); break;
      case ir::TypeKind::Function:
        result = types_.function(std::move(elements), done_.at(type->result()));
        break;
      case ir::TypeKind::Adt: result = types_.adt(type->definition(), std::move(elements)); break;
      case ir::TypeKind::Ref: result = types_.ref(elements[0]); break;
      case ir::TypeKind::Array: result = types_.array(elements[0]); break;
      case ir::TypeKind::Tensor:
      case ir::TypeKind::Var:
      case ir::TypeKind::Hole: break;
    }
    done_.emplace(type, result);
  }
  return done_.at(root);
}

// Function and cell types nest; data types are only named here and defined from a queue.
Kind TypeLowering::kindOf(ir::TypeRef root) {
  std::vector<ir::TypeRef> stack{root};
  const auto isReady = [&](ir::TypeRef type) {
    if (kinds_.contains(type)) return true;
    stack.push_back(type);
    return false;
  };
  while (!stack.empty()) {
    const ir::TypeRef type = stack.back();
    if (kinds_.contains(type)) {
      stack.pop_back();
      continue;
    }
    switch (type->kind()) {
      case ir::TypeKind::Tensor:
        kinds_[type] = type->dims().empty()
                           ? Kind::scalar(type->dtype())
                           : Kind::tensor(type->dtype(), static_cast<uint8_t>(type->dims().size()));
        break;
      case ir::TypeKind::Tuple:
      case ir::TypeKind::Adt: kinds_[type] = Kind::adt(dataType(type)); break;
      case ir::TypeKind::Ref:
        if (isReady(type->pointee())) kinds_[type] = Kind::cell(tables_.kind(kinds_[type->pointee()]));
        break;
      case ir::TypeKind::Array: {
        if (!isReady(type->element())) break;
        dataType(type);  // for those who show values
        const KindIndex content = tables_.kind(kinds_[type->element()]);
        kinds_[type] = Kind::array(content);
        break;
      }
      case ir::TypeKind::Function: {
        bool ready = true;
        for (ir::TypeRef param : type->elements()) ready &= isReady(param);
        const ir::TypeRef result = type->result();
        if (result->isTuple())
          for (ir::TypeRef element : result->elements()) ready &= isReady(element);
        else
          ready &= isReady(result);
        if (!ready) break;
        bytecode::Signature signature;
        for (ir::TypeRef param : type->elements()) signature.params.push_back(kinds_[param]);
        if (result->isTuple())
          for (ir::TypeRef element : result->elements()) signature.results.push_back(kinds_[element]);
        else
          signature.results.push_back(kinds_[result]);
        kinds_[type] = Kind::closure(tables_.signature(std::move(signature)));
        break;
      }
      case ir::TypeKind::Var:
      case ir::TypeKind::Hole: BATON_CHECK(!"types are complete when they are lowered");
    }
  }
  return kinds_[root];
}

std::vector<Kind> TypeLowering::splitKinds(ir::TypeRef type) {
  std::vector<Kind> kinds;
  if (type->isTuple())
    for (ir::TypeRef element : type->elements()) kinds.push_back(kindOf(element));
  else
    kinds.push_back(kindOf(type));
  return kinds;
}

SignatureIndex TypeLowering::signature(std::span<const ir::TypeRef> params, ir::TypeRef result) {
  bytecode::Signature signature;
  for (ir::TypeRef param : params) signature.params.push_back(kindOf(param));
  signature.results = splitKinds(result);
  return tables_.signature(std::move(signature));
}

TypeLowering::FieldPlace TypeLowering::field(TypeIndex type, uint32_t constructor, size_t index) const {
  const bytecode::Field& field = module_.tables.types[type.value()].constructors[constructor].fields[index];
  return {field.isScalar, field.slot};
}

std::vector<std::vector<ir::TypeRef>> TypeLowering::constructorFields(ir::TypeRef type) {
  std::vector<std::vector<ir::TypeRef>> fields;
  if (type->isTuple() || type->isArray()) {
    fields.emplace_back(type->elements().begin(), type->elements().end());
    return fields;
  }
  const size_t count = source_.typeDef(type->definition()).constructors.size();
  for (uint32_t tag = 0; tag < count; ++tag) fields.push_back(source_.fieldTypes(type, tag));
  return fields;
}

TypeIndex TypeLowering::dataType(ir::TypeRef type) {
  const ir::TypeRef erased = erase_(type);
  const auto [found, isNew] =
      dataTypes_.try_emplace(erased, TypeIndex(static_cast<uint32_t>(module_.tables.types.size())));
  const TypeIndex index = found->second;
  if (isNew) {
    module_.tables.types.emplace_back();
    uses_.emplace_back();
    undefined_.emplace_back(index, erased);
  }
  see(type);
  if (isDefining_) return index;
  isDefining_ = true;
  while (!undefined_.empty()) {
    const auto [next, definition] = undefined_.front();
    undefined_.pop_front();
    define(next, definition);
  }
  isDefining_ = false;
  return index;
}

/// Of a tuple, data or an array.
TypeIndex TypeLowering::typeIndex(ir::TypeRef type) {
  kindOf(type);
  return dataTypes_.at(erase_(type));
}

/// Notes a use of a data type, and through it of those in its fields.
void TypeLowering::see(ir::TypeRef root) {
  std::vector<ir::TypeRef> work{root};
  while (!work.empty()) {
    const ir::TypeRef type = keepNumbers_(work.back());
    work.pop_back();
    if (!type->isAggregate() || !seen_.try_emplace(type, true).second) continue;
    const ir::TypeRef erased = erase_(type);
    const auto [found, isNew] =
        dataTypes_.try_emplace(erased, TypeIndex(static_cast<uint32_t>(module_.tables.types.size())));
    if (isNew) {
      module_.tables.types.emplace_back();
      uses_.emplace_back();
      undefined_.emplace_back(found->second, erased);
    }
    uses_[found->second.value()].push_back(type);
    for (const std::vector<ir::TypeRef>& fields : constructorFields(type))
      work.insert(work.end(), fields.begin(), fields.end());
  }
}

void TypeLowering::define(TypeIndex index, ir::TypeRef erased) {
  bytecode::TypeDef definition;
  definition.name = nameOf(erased, numberOrUnknown);
  definition.isTuple = erased->isTuple();
  definition.isArray = erased->isArray();
  const std::vector<std::vector<ir::TypeRef>> fields = constructorFields(erased);
  for (uint32_t tag = 0; tag < fields.size(); ++tag) {
    bytecode::Constructor constructor;
    if (erased->isAdt()) constructor.name = source_.typeDef(erased->definition()).constructors[tag].name;
    for (ir::TypeRef type : fields[tag]) {
      bytecode::Field field;
      field.type = valueType(type, [](DimSymbol symbol) { return symbol; });
      field.isScalar = type->isScalar();
      field.slot = field.isScalar ? constructor.scalarCount++ : constructor.referenceCount++;
      constructor.fields.push_back(std::move(field));
    }
    definition.constructors.push_back(std::move(constructor));
  }
  if (erased->isAdt() && source_.typeDef(erased->definition()).name == "List" && fields.size() == 2) {
    const size_t cons = fields[0].empty() ? 1 : 0;
    definition.isList = fields[1 - cons].empty() && fields[cons].size() == 2 && fields[cons][1] == erased;
  }
  module_.tables.types[index.value()] = std::move(definition);
}

bytecode::ValueType TypeLowering::valueType(ir::TypeRef type,
                                            const std::function<DimSymbol(DimSymbol)>& symbol) {
  const Kind kind = kindOf(type);
  bytecode::ValueType result;
  switch (type->kind()) {
    case ir::TypeKind::Tensor:
      result.dtype = type->dtype();
      for (const DimExpr& dim : type->dims())
        result.extents.push_back(
            dim.substitute([&](DimSymbol s) { return std::optional(DimExpr::symbol(symbol(s))); }));
      break;
    case ir::TypeKind::Tuple:
    case ir::TypeKind::Adt:
      result.tag = bytecode::ValueType::Tag::Adt;
      result.type = TypeIndex(kind.index);
      break;
    case ir::TypeKind::Function:
      result.tag = bytecode::ValueType::Tag::Closure;
      result.signature = SignatureIndex(kind.index);
      break;
    case ir::TypeKind::Ref:
      result.tag = bytecode::ValueType::Tag::Cell;
      result.content = KindIndex(kind.index);
      break;
    case ir::TypeKind::Array:
      result.tag = bytecode::ValueType::Tag::Array;
      result.type = typeIndex(type);
      result.content = KindIndex(kind.index);
      break;
    case ir::TypeKind::Var:
    case ir::TypeKind::Hole: BATON_CHECK(!"types are complete when they are lowered");
  }
  return result;
}

void TypeLowering::finish() {
  for (uint32_t index = 0; index < uses_.size(); ++index) {
    std::vector<bytecode::Constructor>& constructors = module_.tables.types[index].constructors;
    bool isFirst = true;
    if (uses_[index].size() == 1) module_.tables.types[index].name = nameOf(uses_[index][0], numberOrUnknown);
    for (ir::TypeRef use : uses_[index]) {
      const std::vector<std::vector<ir::TypeRef>> fields = constructorFields(use);
      for (size_t tag = 0; tag < fields.size(); ++tag)
        for (size_t f = 0; f < fields[tag].size(); ++f) {
          if (!fields[tag][f]->isTensor()) continue;
          std::vector<DimExpr>& extents = constructors[tag].fields[f].type.extents;
          for (size_t axis = 0; axis < extents.size(); ++axis) {
            const DimExpr& dim = fields[tag][f]->dims()[axis];
            if (isFirst)
              extents[axis] = dim;
            else if (extents[axis] != dim)
              extents[axis] = anyDim();
          }
        }
      isFirst = false;
    }
    // Every unknown extent is a symbol of its own, numbered within the field.
    for (bytecode::Constructor& constructor : constructors)
      for (bytecode::Field& field : constructor.fields) {
        uint32_t next = 0;
        for (DimExpr& extent : field.type.extents)
          if (!extent.isConstant()) extent = DimExpr::symbol(DimSymbol(next++));
      }
  }
}

/// Whether somewhere in data of this type an extent is known that its definition leaves open.
bool TypeLowering::needsView(ir::TypeRef root) {
  std::vector<ir::TypeRef> work{root};
  std::unordered_set<ir::TypeRef> seen;
  while (!work.empty()) {
    const ir::TypeRef type = work.back();
    work.pop_back();
    if (!type->isAggregate() || !seen.insert(type).second) continue;
    const bytecode::TypeDef& definition = module_.tables.types[typeIndex(type).value()];
    const std::vector<std::vector<ir::TypeRef>> fields = constructorFields(type);
    for (size_t tag = 0; tag < fields.size(); ++tag)
      for (size_t f = 0; f < fields[tag].size(); ++f) {
        if (!fields[tag][f]->isTensor()) {
          work.push_back(fields[tag][f]);
          continue;
        }
        const std::vector<DimExpr>& extents = definition.constructors[tag].fields[f].type.extents;
        for (size_t axis = 0; axis < extents.size(); ++axis) {
          const DimExpr& dim = fields[tag][f]->dims()[axis];
          if (dim != anyDim() && !(dim.isConstant() && dim == extents[axis])) return true;
        }
      }
  }
  return false;
}

bytecode::ValueType TypeLowering::entryType(ir::TypeRef root, EntryTypes& types) {
  // An extent that may be anything is a symbol of its own each time.
  const auto number = [&](const DimExpr& dim) {
    return dim.substitute([&](DimSymbol s) { return std::optional(DimExpr::symbol(types.symbol(s))); });
  };
  const DimPrinter dimText = [&](const DimExpr& dim) {
    return dim.print([&](DimSymbol s) -> std::string {
      return s == ir::kAnyDim ? "?" : types.entry.symbols[types.symbol(s).value()];
    });
  };
  std::deque<ir::TypeRef> undone;
  const auto typeOf = [&](ir::TypeRef type) {
    bytecode::ValueType result = valueType(type, [](DimSymbol symbol) { return symbol; });
    for (DimExpr& extent : result.extents) extent = number(extent);
    if (!type->isAggregate() || !needsView(type)) return result;
    const auto [found, isNew] =
        types.views.try_emplace(type, static_cast<uint32_t>(types.entry.views.size()));
    if (isNew) {
      types.entry.views.push_back({nameOf(type, dimText), result.type, {}});
      undone.push_back(type);
    }
    result.view = found->second;
    return result;
  };
  const bytecode::ValueType result = typeOf(root);
  while (!undone.empty()) {
    const ir::TypeRef type = undone.front();
    undone.pop_front();
    std::vector<std::vector<bytecode::ValueType>> fields;
    for (const std::vector<ir::TypeRef>& constructor : constructorFields(type)) {
      fields.emplace_back();
      for (ir::TypeRef field : constructor) fields.back().push_back(typeOf(field));
    }
    types.entry.views[types.views.at(type)].fields = std::move(fields);
  }
  return result;
}

std::string TypeLowering::nameOf(ir::TypeRef type, const DimPrinter& dimText, int depth) {
  constexpr int kMaxDepth = 8;
  constexpr size_t kMaxElements = 16;
  if (depth > kMaxDepth) return "...";
  const auto list = [&](std::span<const ir::TypeRef> elements) {
    std::string text;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i != 0) text += ", ";
      if (i == kMaxElements) return text + "...";
      text += nameOf(elements[i], dimText, depth + 1);
    }
    return text;
  };
  switch (type->kind()) {
    case ir::TypeKind::Tensor: {
      if (type->isScalar()) return std::string(dtypeName(type->dtype()));
      std::string dims;
      for (const DimExpr& dim : type->dims()) dims += (dims.empty() ? "" : ", ") + dimText(dim);
      return fmt::format("Tensor[({}{}), {}]", dims, type->dims().size() == 1 ? "," : "",
                         dtypeName(type->dtype()));
    }
    case ir::TypeKind::Tuple:
      return fmt::format("({}{})", list(type->elements()), type->elements().size() == 1 ? "," : "");
    case ir::TypeKind::Function:
      return fmt::format("fn ({}) -> {}", list(type->elements()), nameOf(type->result(), dimText, depth + 1));
    case ir::TypeKind::Adt: {
      const std::string& name = source_.typeDef(type->definition()).name;
      return type->elements().empty() ? name : fmt::format("{}[{}]", name, list(type->elements()));
    }
    case ir::TypeKind::Ref: return fmt::format("ref({})", nameOf(type->pointee(), dimText, depth + 1));
    case ir::TypeKind::Array: return fmt::format("Array[{}]", nameOf(type->element(), dimText, depth + 1));
    case ir::TypeKind::Var:
    case ir::TypeKind::Hole: break;
  }
  return "_";
}

}  // namespace baton::lir
