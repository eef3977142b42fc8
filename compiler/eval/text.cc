#include "compiler/eval/text.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "compiler/ir/printer.h"

namespace baton::eval {
namespace {

using ir::TypeRef;

Error misfit(ir::Module& module, TypeRef type, std::string_view found) {
  return Error(ErrorCode::InvalidArgument,
               fmt::format("expected {}, found {}", ir::print(module, type), found));
}

}  // namespace

std::optional<ListTags> listTags(const ir::Module& module, ir::TypeRef type) {
  if (!type->isAdt()) return std::nullopt;
  const ir::TypeDef& definition = module.typeDef(type->definition());
  if (definition.name != "List" || definition.constructors.size() != 2) return std::nullopt;
  for (uint32_t cons : {0U, 1U})
    if (definition.constructors[cons].name == "Cons" && definition.constructors[cons].fields.size() == 2 &&
        definition.constructors[1 - cons].fields.empty())
      return ListTags{cons, 1 - cons};
  return std::nullopt;
}

namespace {

/// A part that is being read; its children's values come in order.
struct Reading {
  const TextValue* text;
  TypeRef type;
  std::vector<TypeRef> childTypes;
  uint32_t tag = 0;
  std::vector<Value> children;
};

Result<Reading> beginReading(ir::Module& module, TypeRef type, const TextValue& text) {
  Reading reading{&text, type, {}, 0, {}};
  switch (text.kind()) {
    case TextValue::Kind::Tensor:
      if (!type->isTensor()) return misfit(module, type, "a tensor");
      return reading;
    case TextValue::Kind::Tuple:
      if (!type->isTuple() || type->elements().size() != text.children().size())
        return misfit(module, type, fmt::format("a tuple of {}", text.children().size()));
      reading.childTypes.assign(type->elements().begin(), type->elements().end());
      return reading;
    case TextValue::Kind::List:
      if (type->isArray()) {
        reading.childTypes.assign(text.children().size(), type->element());
        return reading;
      }
      if (!listTags(module, type)) return misfit(module, type, "a list");
      reading.childTypes.assign(text.children().size(), type->elements()[0]);
      return reading;
    case TextValue::Kind::Constructor: {
      if (!type->isAdt()) return misfit(module, type, text.name());
      const auto& constructors = module.typeDef(type->definition()).constructors;
      const auto at = std::find_if(constructors.begin(), constructors.end(),
                                   [&](const ir::Constructor& each) { return each.name == text.name(); });
      if (at == constructors.end()) return misfit(module, type, text.name());
      reading.tag = static_cast<uint32_t>(at - constructors.begin());
      reading.childTypes = module.fieldTypes(type, reading.tag);
      if (reading.childTypes.size() != text.children().size())
        return misfit(module, type, fmt::format("{} with {} fields", text.name(), text.children().size()));
      return reading;
    }
  }
  return misfit(module, type, "something else");
}

Value finishReading(const ir::Module& module, Reading& reading) {
  switch (reading.text->kind()) {
    case TextValue::Kind::Tensor: {
      const Array& array = reading.text->tensor();
      HostTensor tensor;
      tensor.dtype = array.dtype;
      tensor.shape = array.shape;
      tensor.bytes = array.bytes;
      return Value::tensor(std::move(tensor));
    }
    case TextValue::Kind::Tuple: return Value::tuple(std::move(reading.children));
    case TextValue::Kind::List: {
      if (reading.type->isArray()) return Value::array(std::move(reading.children));
      const ListTags tags = *listTags(module, reading.type);
      Value list = Value::data({reading.type->definition(), tags.nil}, {});
      for (size_t i = reading.children.size(); i-- > 0;)
        list = Value::data({reading.type->definition(), tags.cons},
                           {std::move(reading.children[i]), std::move(list)});
      return list;
    }
    case TextValue::Kind::Constructor:
      return Value::data({reading.type->definition(), reading.tag}, std::move(reading.children));
  }
  return {};
}

/// A part that is being written.
struct Writing {
  Value value;
  std::vector<std::pair<TypeRef, Value>> parts;
  std::vector<TextValue> children;
  TextValue::Kind kind = TextValue::Kind::Tuple;
  std::string name;
};

Writing beginWriting(ir::Module& module, TypeRef type, Value value) {
  Writing writing;
  writing.value = value;
  auto addParts = [&](std::span<const TypeRef> types) {
    for (size_t i = 0; i < types.size(); ++i) writing.parts.emplace_back(types[i], value.fields()[i]);
  };
  if (value.isTensor()) {
    writing.kind = TextValue::Kind::Tensor;
  } else if (value.isTuple()) {
    addParts(type->elements());
  } else if (value.isArray()) {
    writing.kind = TextValue::Kind::List;
    for (const Value& element : value.elements()) writing.parts.emplace_back(type->element(), element);
  } else if (value.isData()) {
    if (const std::optional<ListTags> tags = listTags(module, type)) {
      writing.kind = TextValue::Kind::List;
      for (Value at = value; at.constructor().tag == tags->cons;) {
        writing.parts.emplace_back(type->elements()[0], at.fields()[0]);
        at = Value(at.fields()[1]);
      }
    } else {
      writing.kind = TextValue::Kind::Constructor;
      writing.name = module.constructor(value.constructor()).name;
      addParts(module.fieldTypes(type, value.constructor().tag));
    }
  } else {
    writing.kind = TextValue::Kind::Constructor;
    writing.name = value.isCell() ? "ref" : "fn";
    if (value.isCell()) writing.parts.emplace_back(type->pointee(), value.content());
  }
  return writing;
}

TextValue finishWriting(Writing& writing) {
  switch (writing.kind) {
    case TextValue::Kind::Tensor: {
      const HostTensor& tensor = writing.value.asTensor();
      return TextValue::tensor({tensor.dtype, tensor.shape, tensor.bytes});
    }
    case TextValue::Kind::Tuple: return TextValue::tuple(std::move(writing.children));
    case TextValue::Kind::List: return TextValue::list(std::move(writing.children));
    case TextValue::Kind::Constructor: break;
  }
  return TextValue::constructor(std::move(writing.name), std::move(writing.children));
}

}  // namespace

Result<Value> fromText(ir::Module& module, TypeRef type, const TextValue& text) {
  std::vector<Reading> stack;
  BATON_TRY_ASSIGN(Reading root, beginReading(module, type, text));
  stack.push_back(std::move(root));
  while (true) {
    Reading& top = stack.back();
    if (top.children.size() < top.childTypes.size()) {
      const size_t next = top.children.size();
      BATON_TRY_ASSIGN(Reading child, beginReading(module, top.childTypes[next], top.text->children()[next]));
      stack.push_back(std::move(child));
      continue;
    }
    Value value = finishReading(module, top);
    stack.pop_back();
    if (stack.empty()) return value;
    stack.back().children.push_back(std::move(value));
  }
}

TextValue toText(ir::Module& module, TypeRef type, const Value& value) {
  std::vector<Writing> stack;
  stack.push_back(beginWriting(module, type, value));
  while (true) {
    Writing& top = stack.back();
    if (top.children.size() < top.parts.size()) {
      auto [partType, part] = top.parts[top.children.size()];
      stack.push_back(beginWriting(module, partType, part));
      continue;
    }
    TextValue text = finishWriting(top);
    stack.pop_back();
    if (stack.empty()) return text;
    stack.back().children.push_back(std::move(text));
  }
}

}  // namespace baton::eval
