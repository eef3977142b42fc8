#include "base/scalar_text.h"
#include "formats/value_text.h"

namespace baton {

namespace {

void printTensor(const TensorData& data, std::string& out) {
  out += tensorTypeText(data.dtype, data.shape);
  out += '=';
  for (size_t i = 0; i < data.elementCount(); ++i) {
    if (i != 0) out += ' ';
    appendScalar(out, data.scalarAt(i), data.dtype);
  }
}

}  // namespace

std::string formatValue(const Value& value) {
  struct Open {
    const Value* value;
    size_t next;
  };
  std::string text;
  std::vector<Open> open;
  const Value* current = &value;
  while (true) {
    if (current) {
      switch (current->kind()) {
        case Value::Kind::Tensor: printTensor(current->tensor(), text); break;
        case Value::Kind::Tuple: text += '('; break;
        case Value::Kind::List: text += '['; break;
        case Value::Kind::Constructor:
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
      case Value::Kind::Tensor: break;
      case Value::Kind::Tuple: text += children.size() == 1 ? ",)" : ")"; break;
      case Value::Kind::List: text += ']'; break;
      case Value::Kind::Constructor:
        if (!children.empty()) text += ')';
        break;
    }
    open.pop_back();
    current = nullptr;
  }
}

}  // namespace baton
