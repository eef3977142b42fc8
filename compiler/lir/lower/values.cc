// Values of the IR and the registers that hold them.
#include "compiler/lir/lower/function_lowering.h"

namespace baton::lir {

Value FunctionLowering::valueOf(const ir::Atom& atom) const {
  switch (atom.kind()) {
    case ir::Atom::Kind::Var: {
      const auto found = values_.find(atom.var());
      BATON_CHECK(found != values_.end());
      return found->second;
    }
    case ir::Atom::Kind::Constant: return {Value::Form::Constant, atom.constant().value()};
    case ir::Atom::Kind::Global: return {Value::Form::Global, atom.global().value()};
  }
  return {};
}

ir::TypeRef FunctionLowering::typeOf(const ir::Atom& atom) { return module_.source.typeOf(function_, atom); }

Value FunctionLowering::addTuple(std::vector<Value> elements, std::vector<ir::TypeRef> types) {
  tuples_.push_back({std::move(elements), std::move(types)});
  return {Value::Form::Tuple, static_cast<uint32_t>(tuples_.size() - 1)};
}

Value FunctionLowering::addDims(DimsValue dims) {
  dims_.push_back(std::move(dims));
  return {Value::Form::Dims, static_cast<uint32_t>(dims_.size() - 1)};
}

Register FunctionLowering::field(Register object, ir::TypeRef type, uint32_t constructor, size_t index,
                                 ir::TypeRef fieldType) {
  const TypeLowering::FieldPlace place =
      module_.types.field(TypeIndex(module_.types.kindOf(type).index), constructor, index);
  return emitDef(place.isScalar ? Opcode::GetFieldScalar : Opcode::GetFieldRef,
                 module_.types.kindOf(fieldType),
                 {object, Operand::immediate(constructor), Operand::immediate(place.slot)});
}

std::vector<Value> FunctionLowering::elementsOf(Value value, ir::TypeRef tuple) {
  if (value.form == Value::Form::Tuple) return tuples_[value.index].elements;
  std::vector<Value> elements;
  for (size_t i = 0; i < tuple->elements().size(); ++i)
    elements.push_back(Value::of(field(value.reg(), tuple, 0, i, tuple->elements()[i])));
  return elements;
}

// Tuples nest as deep as a program likes, so their objects are built from an explicit stack.
Result<Register> FunctionLowering::toRegister(Value root, ir::TypeRef rootType) {
  const auto known = [&](Value value) -> const Register* { return materialised_.find(value); };
  std::vector<std::pair<Value, ir::TypeRef>> stack{{root, rootType}};
  while (!stack.empty()) {
    const auto [value, type] = stack.back();
    if (value.form == Value::Form::Register || known(value) != nullptr) {
      stack.pop_back();
      continue;
    }
    if (value.form != Value::Form::Tuple) {
      BATON_TRY_ASSIGN(const Register reg, leafRegister(value, type));
      materialised_.add(value, reg);
      stack.pop_back();
      continue;
    }
    const TupleValue& tuple = tuples_[value.index];
    const size_t before = stack.size();
    for (size_t i = 0; i < tuple.elements.size(); ++i)
      if (tuple.elements[i].form == Value::Form::Tuple && known(tuple.elements[i]) == nullptr)
        stack.emplace_back(tuple.elements[i], tuple.types[i]);
    if (stack.size() != before) continue;
    const Kind kind = module_.types.kindOf(type);
    BATON_TRY_ASSIGN(const Register reg,
                     makeObject(TypeIndex(kind.index), 0, std::vector<Value>(tuple.elements),
                                std::vector<ir::TypeRef>(tuple.types), kind));
    materialised_.add(value, reg);
    stack.pop_back();
  }
  return root.form == Value::Form::Register ? root.reg() : *known(root);
}

Result<Register> FunctionLowering::leafRegister(Value value, ir::TypeRef type) {
  switch (value.form) {
    case Value::Form::Constant: {
      ir::Constant& constant = module_.source.constants[value.index];
      if (constant.shape.empty()) {
        if (constant.isExternal())
          return unsupported("param @" + constant.name +
                             " is a scalar that is given only when the program runs");
        return scalarConstant(constant.dtype, loadScalar(constant.bytes.data(), constant.dtype));
      }
      const auto [found, isNew] = module_.constants.try_emplace(value.index);
      if (isNew) found->second = module_.tables.constant(constant);
      return emitDef(Opcode::LoadConst, module_.types.kindOf(type), {found->second});
    }
    case Value::Form::Global:
      return emitDef(
          Opcode::MakeClosure, module_.types.kindOf(type),
          {module_.wrapperOf(ir::GlobalId(value.index)), std::vector<Register>(), std::vector<Register>()});
    case Value::Form::Dims: return materialiseDims(DimsValue(dims_[value.index]));
    case Value::Form::Register: return value.reg();
    case Value::Form::Tuple:
    case Value::Form::None: break;
  }
  BATON_CHECK(!"a value that is bound");
  return kNoRegister;
}

Result<Register> FunctionLowering::materialiseDims(const DimsValue& dims) {
  if (dims.isScalar) {
    BATON_TRY_ASSIGN(const Register number, dim(dims.elements[0], DimUse::Number));
    return castTo(number, DType::I64, dims.dtype);
  }
  const Kind kind = Kind::tensor(dims.dtype, 1);
  const Register length = scalarConstant(DType::I64, dims.elements.size());
  Register tensor =
      emitDef(Opcode::AllocTensor, kind, {dims.dtype, Operand::immediate(0), std::vector<Register>{length}});
  for (size_t i = 0; i < dims.elements.size(); ++i) {
    BATON_TRY_ASSIGN(const Register number, dim(dims.elements[i], DimUse::Number));
    const Register element = castTo(number, DType::I64, dims.dtype);
    tensor = emitDef(Opcode::StoreOuterScalar, kind, {tensor, scalarConstant(DType::I64, i), element});
  }
  return tensor;
}

Result<Register> FunctionLowering::makeObject(TypeIndex type, uint32_t constructor,
                                              std::span<const Value> fields,
                                              std::span<const ir::TypeRef> types, Kind kind) {
  std::vector<Register> references;
  std::vector<Register> scalars;
  for (size_t i = 0; i < fields.size(); ++i) {
    BATON_TRY_ASSIGN(const Register reg, toRegister(fields[i], types[i]));
    (out_.bankOf(reg) == Bank::Scalar ? scalars : references).push_back(reg);
  }
  return emitDef(Opcode::MakeAdt, kind, {Operand::immediate(constructor), type, references, scalars});
}

//===-- Values at block boundaries -----------------------------------------===//

std::vector<FunctionLowering::Leaf> FunctionLowering::leavesOf(
    ir::TypeRef type, const std::optional<std::vector<DimExpr>>& valueDims) {
  std::vector<Leaf> leaves;
  if (type->isTuple()) {
    for (uint32_t i = 0; i < type->elements().size(); ++i)
      leaves.push_back({module_.types.kindOf(type->elements()[i]), type->elements()[i], i});
    return leaves;
  }
  if (valueDims && type->isTensor() && type->rank() == 1) {
    // A vector that carries a shape stays scalar; elements that are known anyway are not passed.
    for (uint32_t i = 0; i < valueDims->size(); ++i)
      if (!isKnown((*valueDims)[i]) && (*valueDims)[i].asSymbol())
        leaves.push_back({shapeElementKind(), nullptr, i});
    bool isComplete = true;
    for (const DimExpr& dim : *valueDims) isComplete &= isKnown(dim) || dim.asSymbol().has_value();
    if (isComplete) return leaves;
    leaves.clear();
  }
  leaves.push_back({module_.types.kindOf(type), type, 0});
  return leaves;
}

std::vector<FunctionLowering::Leaf> FunctionLowering::leavesOf(ir::VarId var) {
  return leavesOf(function_.var(var).type, function_.var(var).valueDims);
}

Result<void> FunctionLowering::appendLeaves(Value value, ir::TypeRef type, std::span<const Leaf> leaves,
                                            std::vector<Register>& out) {
  if (type->isTuple()) {
    const std::vector<Value> elements = elementsOf(value, type);
    for (const Leaf& leaf : leaves) {
      BATON_TRY_ASSIGN(const Register reg, toRegister(elements[leaf.index], type->elements()[leaf.index]));
      out.push_back(reg);
    }
    return success();
  }
  for (const Leaf& leaf : leaves) {
    if (leaf.type != nullptr) {
      BATON_TRY_ASSIGN(const Register reg, toRegister(value, type));
      out.push_back(reg);
    } else if (value.form == Value::Form::Dims) {
      BATON_TRY_ASSIGN(const Register reg,
                       dim(DimExpr(dims_[value.index].elements[leaf.index]), DimUse::Number));
      out.push_back(reg);
    } else {
      BATON_TRY_ASSIGN(const Register tensor, toRegister(value, type));
      const Register index = scalarConstant(DType::I64, leaf.index);
      const Register element =
          emitDef(Opcode::LoadScalar, Kind::scalar(type->dtype()), {tensor, std::vector<Register>{index}});
      out.push_back(castTo(element, type->dtype(), DType::I64));
    }
  }
  return success();
}

Value FunctionLowering::fromLeaves(ir::VarId var, std::span<const Leaf> leaves,
                                   std::span<const Register> registers) {
  const ir::VarInfo& info = function_.var(var);
  if (info.type->isTuple()) {
    std::vector<Value> elements;
    for (Register reg : registers) elements.push_back(Value::of(reg));
    return addTuple(std::move(elements), {info.type->elements().begin(), info.type->elements().end()});
  }
  if (leaves.size() == 1 && leaves[0].type != nullptr) return Value::of(registers[0]);
  for (size_t i = 0; i < leaves.size(); ++i)
    if (const DimSymbol symbol = *(*info.valueDims)[leaves[i].index].asSymbol(); !isKnown(symbol))
      symbols_.add(symbol, registers[i]);
  return addDims({info.type->dtype(), false, *info.valueDims});
}

void FunctionLowering::bind(ir::VarId var, Value value) {
  const ir::VarInfo& info = function_.var(var);
  // A tuple in one register is taken apart once; the object stays known for whoever wants it whole.
  if (value.form == Value::Form::Register && info.type->isTuple()) {
    const Register object = value.reg();
    value =
        addTuple(elementsOf(value, info.type), {info.type->elements().begin(), info.type->elements().end()});
    materialised_.add(value, object);
  }
  values_[var] = value;
  learnSymbols(info.type, value);
  learnElements(var, value);
}

}  // namespace baton::lir
