// Kinds of arrays: elements are of one bank and kind, which the kind of the array names.
#include <fmt/format.h>

#include "bytecode/verifier/typing.h"

namespace baton::bytecode {

namespace {

std::string elementsText(RegisterBank bank) {
  return bank == RegisterBank::Scalar ? "scalars" : "references";
}

/// The kind of an array's elements; nothing after a violation.
std::optional<Kind> elementOf(Typing& typing, ReferenceOperand array) {
  const auto kind = typing.kindOf(array);
  if (!kind || kind->tag != KindTagValue::Array) return std::nullopt;
  return typing.program.kinds[kind->index];
}

/// The same, when it is of this bank.
std::optional<Kind> elementOf(Typing& typing, ReferenceOperand array, RegisterBank bank) {
  const auto element = elementOf(typing, array);
  if (!element || element->isScalar() == (bank == RegisterBank::Scalar)) return element;
  typing.fail(Rule::ArrayKind, [&] {
    return fmt::format("r{} is an array of {}: expected one of {}", array.index(), typing.text(*element),
                       elementsText(bank));
  });
  return std::nullopt;
}

/// An instruction that gives the array with an element more, or another one.
template <class View>
void checkArrayWrite(Typing& typing, const View& view, RegisterBank bank) {
  const auto kind = typing.kindOf(view.array());
  if (kind) typing.define(view.dst(), *kind);
  if (const auto element = elementOf(typing, view.array(), bank))
    typing.check(Rule::ArrayKind, *element, view.value(), "element");
}

template <class View>
void checkArrayRead(Typing& typing, const View& view, RegisterBank bank) {
  if (const auto element = elementOf(typing, view.array(), bank)) typing.define(view.dst(), *element);
}

/// A tensor of rank `rank` made of the elements, tensors of rank `elementRank` (0: scalars).
template <class View>
void checkJoined(Typing& typing, const View& view, uint32_t elementRank, uint32_t rank) {
  if (rank > kMaxRank) {
    typing.fail(Rule::Rank, [&] { return fmt::format("rank {}: at most {}", rank, kMaxRank); });
    return;
  }
  const auto element = elementOf(typing, view.array());
  if (!element) return;
  typing.define(view.dst(), Kind::tensor(view.dtype(), static_cast<uint8_t>(rank), element->device));
  const bool fits = elementRank == 0 ? *element == Kind::scalar(view.dtype())
                                     : element->tag == KindTagValue::Tensor &&
                                           element->dtype == view.dtype() && element->rank == elementRank;
  if (!fits)
    typing.fail(Rule::ArrayKind, [&] {
      const Kind expected = elementRank == 0 ? Kind::scalar(view.dtype())
                                             : Kind::tensor(view.dtype(), static_cast<uint8_t>(elementRank));
      return fmt::format("r{} is an array of {}: expected one of {}", view.array().index(),
                         typing.text(*element), typing.text(expected));
    });
}

/// The elements of an array that is made here must be of this kind.
void checkTaken(Typing& typing, KindIndex content, const std::optional<Kind>& part) {
  const Kind& element = typing.program.kinds[content.value()];
  if (!part || element == *part) return;
  typing.fail(Rule::ArrayKind, [&] {
    return fmt::format("the array has elements of kind {}: expected {}", typing.text(element),
                       typing.text(*part));
  });
}

std::optional<Kind> sourceOf(Typing& typing, ReferenceOperand source) {
  const auto kind = typing.kindOf(source);
  if (!kind || kind->tag != KindTagValue::Tensor) return std::nullopt;
  if (kind->rank > 0) return kind;
  typing.fail(Rule::TensorRank,
              [&] { return fmt::format("r{} is {}: it has no rows", source.index(), typing.text(*kind)); });
  return std::nullopt;
}

}  // namespace

void verifyInstruction(ArrayNew view, Typing& typing) { typing.define(view.dst(), Kind::array(view.kind())); }

void verifyInstruction(ArrayPushRef view, Typing& typing) {
  checkArrayWrite(typing, view, RegisterBank::Reference);
}
void verifyInstruction(ArrayPushScalar view, Typing& typing) {
  checkArrayWrite(typing, view, RegisterBank::Scalar);
}
void verifyInstruction(ArrayGetRef view, Typing& typing) {
  checkArrayRead(typing, view, RegisterBank::Reference);
}
void verifyInstruction(ArrayGetScalar view, Typing& typing) {
  checkArrayRead(typing, view, RegisterBank::Scalar);
}
void verifyInstruction(ArraySetRef view, Typing& typing) {
  checkArrayWrite(typing, view, RegisterBank::Reference);
}
void verifyInstruction(ArraySetScalar view, Typing& typing) {
  checkArrayWrite(typing, view, RegisterBank::Scalar);
}

void verifyInstruction(StackArray view, Typing& typing) {
  checkJoined(typing, view, view.extents().size(), view.extents().size() + 1);
}
void verifyInstruction(ConcatArray view, Typing& typing) {
  checkJoined(typing, view, view.extents().size() + 1, view.extents().size() + 1);
}

void verifyInstruction(UnstackArray view, Typing& typing) {
  typing.define(view.dst(), Kind::array(view.kind()));
  std::optional<Kind> row = sourceOf(typing, view.source());
  if (row && row->rank == 1)
    row = Kind::scalar(row->dtype);
  else if (row)
    row = Kind::tensor(row->dtype, static_cast<uint8_t>(row->rank - 1), row->device);
  checkTaken(typing, view.kind(), row);
}

void verifyInstruction(SplitArray view, Typing& typing) {
  typing.define(view.dst(), Kind::array(view.kind()));
  checkTaken(typing, view.kind(), sourceOf(typing, view.source()));
  typing.check(Rule::ArrayKind, Kind::tensor(DType::I32, 1), view.counts(), "counts");
}

}  // namespace baton::bytecode
