#include "base/scalar_text.h"
#include "formats/array_elements.h"
#include "formats/value_text.h"

namespace baton {

namespace {

void printTensor(const Array& data, size_t elementLimit, std::string& out) {
  out += arrayTypeText(data.dtype, data.shape);
  out += '=';
  for (size_t i = 0; i < elementCount(data); ++i) {
    if (i != 0) out += ' ';
    if (elementLimit != 0 && i == elementLimit) {
      out += "...";
      return;
    }
    appendScalar(out, elementAt(data, i), data.dtype);
  }
}

}  // namespace

std::string formatValue(const TextValue& value, size_t elementLimit) {
  struct Open {
    const TextValue* value;
    size_t next;
  };
  std::string text;
  std::vector<Open> open;
  const TextValue* current = &value;
  while (true) {
    if (current) {
      switch (current->kind()) {
        case TextValue::Kind::Tensor: printTensor(current->tensor(), elementLimit, text); break;
        case TextValue::Kind::Tuple: text += '('; break;
        case TextValue::Kind::List: text += '['; break;
        case TextValue::Kind::Constructor:
          text += current->name();
          if (!current->children().empty()) text += '(';
          break;
      }
      if (!current->isTensor()) open.push_back({current, 0});
    }
    if (open.empty()) return text;
    Open& top = open.back();
    const auto children = top.value->children();
    if (top.next < children.size()) {
      if (top.next != 0) text += ", ";
      current = &children[top.next++];
      continue;
    }
    switch (top.value->kind()) {
      case TextValue::Kind::Tensor: break;
      case TextValue::Kind::Tuple: text += children.size() == 1 ? ",)" : ")"; break;
      case TextValue::Kind::List: text += ']'; break;
      case TextValue::Kind::Constructor:
        if (!children.empty()) text += ')';
        break;
    }
    open.pop_back();
    current = nullptr;
  }
}

}  // namespace baton
