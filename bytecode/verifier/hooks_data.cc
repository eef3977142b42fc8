// Kinds of scalars without a fixed type, references, data, closures and cells.
#include <fmt/format.h>

#include "bytecode/scalar_form.h"
#include "bytecode/verifier/typing.h"

namespace baton::bytecode {

namespace {
const char* bankName(RegisterBank bank) { return bank == RegisterBank::Scalar ? "scalar" : "reference"; }
}  // namespace

void verifyInstruction(Const view, Typing& typing) {
  if (!isScalarForm(view.value(), view.dtype()))
    typing.fail(Rule::ScalarForm, [&] {
      return fmt::format("{:#x} is no 64-bit form of a value of {}", view.value(),
                         dtypeShortName(view.dtype()));
    });
  typing.define(view.dst(), Kind::scalar(view.dtype()));
}

void verifyInstruction(MoveScalar view, Typing& typing) {
  if (const auto kind = typing.kindOf(view.a())) typing.define(view.dst(), *kind);
}

void verifyInstruction(Select view, Typing& typing) {
  const auto a = typing.kindOf(view.a());
  if (!a) return;
  if (typing.check(Rule::OperandKindRule, *a, view.b(), "second value")) typing.define(view.dst(), *a);
}

void verifyInstruction(Cast view, Typing& typing) {
  typing.check(Rule::OperandKindRule, Kind::scalar(view.from()), view.a(), "operand");
  typing.define(view.dst(), Kind::scalar(view.to()));
}

void verifyInstruction(Bitcast view, Typing& typing) {
  typing.check(Rule::OperandKindRule, Kind::scalar(view.from()), view.a(), "operand");
  const bool isTotal = view.to() != DType::Bool || view.from() == DType::Bool;
  if (sizeBytes(view.from()) != sizeBytes(view.to()) || !isTotal)
    typing.fail(Rule::Cast, [&] {
      return fmt::format("bits of {} cannot be taken for those of {}", dtypeShortName(view.from()),
                         dtypeShortName(view.to()));
    });
  typing.define(view.dst(), Kind::scalar(view.to()));
}

void verifyInstruction(Move view, Typing& typing) {
  if (const auto kind = typing.kindOf(view.a())) typing.define(view.dst(), *kind);
}

void verifyInstruction(Drop view, Typing& typing) {
  if (!view.a().isLastUse())
    typing.fail(Rule::LastUse,
                [&] { return fmt::format("drop of r{} is not marked as its last use", view.a().index()); });
}

void verifyInstruction(LoadConst view, Typing& typing) {
  const Constant& constant = typing.program.constants[view.constant().value()];
  typing.define(view.dst(), Kind::tensor(constant.dtype, static_cast<uint8_t>(constant.extents.size())));
}

namespace {

/// The constructor of a type, by number.
const Constructor* findConstructor(Typing& typing, uint32_t type, uint16_t constructor) {
  const TypeDef& def = typing.program.types[type];
  if (constructor < def.constructors.size()) return &def.constructors[constructor];
  typing.fail(Rule::ConstructorIndex, [&] {
    return fmt::format("constructor {} out of range: `{}` has {}", constructor, def.name,
                       def.constructors.size());
  });
  return nullptr;
}

template <class View>
void checkGetField(Typing& typing, const View& view, RegisterBank bank) {
  const auto kind = typing.kindOf(view.value());
  if (!kind || kind->tag != KindTagValue::Adt) return;
  const Constructor* constructor = findConstructor(typing, kind->index, view.constructor());
  if (!constructor) return;
  const std::vector<Kind>& fields = typing.tables.fields(kind->index, view.constructor()).of(bank);
  if (view.slot() < fields.size()) return typing.define(view.dst(), fields[view.slot()]);
  typing.fail(Rule::FieldSlot, [&] {
    return fmt::format("{} field {} out of range: `{}` has {}", bankName(bank), view.slot(),
                       constructor->name, fields.size());
  });
}

template <class View>
void checkCapture(Typing& typing, const View& view, RegisterBank bank) {
  const auto kind = typing.kindOf(view.closure());
  if (!kind || kind->tag != KindTagValue::Closure) return;
  if (!kind->function) {
    typing.fail(Rule::CaptureSlot, [&] {
      return fmt::format("r{} is {}: its function is not known", view.closure().index(), typing.text(*kind));
    });
    return;
  }
  const std::vector<Kind>& captures = typing.tables.captures(*kind->function).of(bank);
  if (view.slot() < captures.size()) return typing.define(view.dst(), captures[view.slot()]);
  typing.fail(Rule::CaptureSlot, [&] {
    return fmt::format("{} capture {} out of range: @{} has {}", bankName(bank), view.slot(),
                       typing.program.functions[kind->function->value()].name, captures.size());
  });
}

/// The content of a cell kind, when it is of this bank.
template <class Operand>
std::optional<Kind> cellContent(Typing& typing, Operand cell, RegisterBank bank) {
  const auto kind = typing.kindOf(cell);
  if (!kind || kind->tag != KindTagValue::Cell) return std::nullopt;
  const Kind& content = typing.program.kinds[kind->index];
  if (content.isScalar() == (bank == RegisterBank::Scalar)) return content;
  typing.fail(Rule::CellKind, [&] {
    return fmt::format("r{} is a cell of {}: expected one of a {}", cell.index(), typing.text(content),
                       bankName(bank));
  });
  return std::nullopt;
}

template <class View>
void checkCellNew(Typing& typing, const View& view, RegisterBank bank) {
  const Kind& content = typing.program.kinds[view.kind().value()];
  if (content.isScalar() != (bank == RegisterBank::Scalar)) {
    typing.fail(Rule::CellKind, [&] {
      return fmt::format("content {} of the cell is no {}", typing.text(content), bankName(bank));
    });
    return;
  }
  typing.check(Rule::CellKind, content, view.value(), "content");
  typing.define(view.dst(), Kind::cell(view.kind()));
}

}  // namespace

void verifyInstruction(MakeAdt view, Typing& typing) {
  if (!findConstructor(typing, view.type().value(), view.constructor())) return;
  const SplitKinds& fields = typing.tables.fields(view.type().value(), view.constructor());
  typing.checkList(Rule::AdtFields, fields.references, view.references(), "field");
  typing.checkList(Rule::AdtFields, fields.scalars, view.scalars(), "field");
  typing.define(view.dst(), Kind::adt(view.type()));
}

void verifyInstruction(MakeClosure view, Typing& typing) {
  const Function& function = typing.program.functions[view.function().value()];
  if (!function.isClosure) {
    typing.fail(Rule::CallTarget,
                [&] { return fmt::format("@{} is no function of a closure", function.name); });
    return;
  }
  const SplitKinds& captures = typing.tables.captures(view.function());
  typing.checkList(Rule::ClosureCaptures, captures.references, view.references(), "capture");
  typing.checkList(Rule::ClosureCaptures, captures.scalars, view.scalars(), "capture");
  typing.define(view.dst(), Kind::closure(function.signature, view.function()));
}

void verifyInstruction(GetFieldRef view, Typing& typing) {
  checkGetField(typing, view, RegisterBank::Reference);
}
void verifyInstruction(GetFieldScalar view, Typing& typing) {
  checkGetField(typing, view, RegisterBank::Scalar);
}
void verifyInstruction(CaptureRef view, Typing& typing) {
  checkCapture(typing, view, RegisterBank::Reference);
}
void verifyInstruction(CaptureScalar view, Typing& typing) {
  checkCapture(typing, view, RegisterBank::Scalar);
}
void verifyInstruction(CellNewRef view, Typing& typing) {
  checkCellNew(typing, view, RegisterBank::Reference);
}
void verifyInstruction(CellNewScalar view, Typing& typing) {
  checkCellNew(typing, view, RegisterBank::Scalar);
}

void verifyInstruction(CellReadRef view, Typing& typing) {
  if (const auto content = cellContent(typing, view.cell(), RegisterBank::Reference))
    typing.define(view.dst(), *content);
}
void verifyInstruction(CellTakeRef view, Typing& typing) {
  if (const auto content = cellContent(typing, view.cell(), RegisterBank::Reference))
    typing.define(view.dst(), *content);
}
void verifyInstruction(CellReadScalar view, Typing& typing) {
  if (const auto content = cellContent(typing, view.cell(), RegisterBank::Scalar))
    typing.define(view.dst(), *content);
}
void verifyInstruction(CellWriteRef view, Typing& typing) {
  if (const auto content = cellContent(typing, view.cell(), RegisterBank::Reference))
    typing.check(Rule::CellKind, *content, view.value(), "content");
}
void verifyInstruction(CellWriteScalar view, Typing& typing) {
  if (const auto content = cellContent(typing, view.cell(), RegisterBank::Scalar))
    typing.check(Rule::CellKind, *content, view.value(), "content");
}

}  // namespace baton::bytecode
