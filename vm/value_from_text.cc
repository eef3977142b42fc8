// Values from text and to text: the tree of formats/text_value.h on one side, objects on the other.
#include <algorithm>

#include <fmt/format.h>

#include "vm/tensor_text.h"
#include "vm/value_data.h"

namespace baton::vm {

namespace {

std::string describe(const TextValue& text) {
  switch (text.kind()) {
    case TextValue::Kind::Tensor:
      return fmt::format("{} of shape {}", dtypeName(text.tensor().dtype), shapeText(text.tensor().shape));
    case TextValue::Kind::Tuple: return fmt::format("a tuple of {}", text.children().size());
    case TextValue::Kind::List: return fmt::format("a list of {}", text.children().size());
    case TextValue::Kind::Constructor: return text.name();
  }
  return {};
}

Error mismatch(const TextValue& text, const TypeInfo& type) {
  std::string expected = type.text;
  if (text.kind() == TextValue::Kind::Constructor && type.isData() && type.kind != TypeKind::Tuple) {
    constexpr size_t kShown = 8;
    const auto& constructors = type.definition->constructors;
    expected += ", made by one of ";
    for (size_t i = 0; i < std::min(constructors.size(), kShown); ++i)
      expected += (i == 0 ? "" : ", ") + constructors[i].name;
    if (constructors.size() > kShown) expected += ", ...";
  }
  return Error(ErrorCode::InvalidArgument, fmt::format("found {}, expected {}", describe(text), expected));
}

Result<Ref<Value>> leaf(Instance& instance, const TypeInfo* type, const TextValue& text) {
  const baton::Array& array = text.tensor();
  if (type && ((type->kind != TypeKind::Tensor && type->kind != TypeKind::Scalar) ||
               type->dtype != array.dtype || type->rank() != array.shape.size()))
    return mismatch(text, *type);
  return makeTensor(instance, array.dtype, array.shape, array.bytes);
}

/// Builds from the leaves up, with what is still to do on a stack of its own.
class Builder {
 public:
  explicit Builder(Instance& instance) : instance_(instance) {}

  Result<Ref<Value>> build(const TypeInfo& type, const TextValue& text) {
    tasks_.push_back({&type, &text, false, 0});
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      if (task.isReady)
        BATON_TRY(combine(task));
      else
        BATON_TRY(open(task));
    }
    return std::move(done_.back());
  }

 private:
  struct Task {
    const TypeInfo* type;
    const TextValue* text;
    bool isReady;  // the children are the last values in done_
    size_t constructor;
  };

  Result<void> open(const Task& task) {
    const TypeInfo& type = *task.type;
    const TextValue& text = *task.text;
    if (text.isTensor()) {
      BATON_TRY_ASSIGN(Ref<Value> value, leaf(instance_, &type, text));
      done_.push_back(std::move(value));
      return success();
    }
    const std::span<const TextValue> children = text.children();
    if (text.kind() == TextValue::Kind::List && type.isArray()) {
      tasks_.push_back({&type, &text, true, 0});
      for (size_t i = children.size(); i-- > 0;) tasks_.push_back({&type.element(), &children[i], false, 0});
      return success();
    }
    if (!type.isData()) return mismatch(text, type);
    if (text.kind() == TextValue::Kind::List) {
      if (!type.isList()) return mismatch(text, type);
      BATON_TRY_ASSIGN(const ListShape shape, listShape(type));
      tasks_.push_back({&type, &text, true, shape.cons});
      for (size_t i = children.size(); i-- > 0;)
        tasks_.push_back({&(*type.fields)[shape.cons][shape.head], &children[i], false, 0});
      return success();
    }
    const auto& constructors = type.definition->constructors;
    const auto found = std::ranges::find(constructors, text.name(), &bytecode::Constructor::name);
    if ((text.kind() == TextValue::Kind::Tuple) != (type.kind == TypeKind::Tuple) ||
        found == constructors.end())
      return mismatch(text, type);
    const auto index = static_cast<size_t>(found - constructors.begin());
    if (children.size() != found->fields.size())
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("{} has {} field{}, found {}", found->name.empty() ? type.text : found->name,
                               found->fields.size(), found->fields.size() == 1 ? "" : "s", children.size()));
    tasks_.push_back({&type, &text, true, index});
    for (size_t i = children.size(); i-- > 0;)
      tasks_.push_back({&(*type.fields)[index][i], &children[i], false, 0});
    return success();
  }

  Result<void> combine(const Task& task) {
    const size_t count = task.text->children().size();
    std::vector<Value*> children;
    for (size_t i = done_.size() - count; i < done_.size(); ++i) children.push_back(done_[i].get());
    Result<Ref<Value>> value = task.type->isArray() ? makeArray(instance_, *task.type, children)
                               : task.text->kind() == TextValue::Kind::List
                                   ? makeList(instance_, *task.type, children)
                                   : makeData(instance_, *task.type, task.constructor, children);
    BATON_TRY_ASSIGN(Ref<Value> made, std::move(value));
    done_.resize(done_.size() - count);
    done_.push_back(std::move(made));
    return success();
  }

  Instance& instance_;
  std::vector<Task> tasks_;
  std::vector<Ref<Value>> done_;
};

TextValue tensorText(const Tensor& tensor) {
  baton::Array array;
  array.dtype = tensor.dtype();
  array.shape.assign(tensor.shape().begin(), tensor.shape().end());
  array.bytes.assign(tensor.data, tensor.data + tensor.sizeBytes());
  return TextValue::tensor(std::move(array));
}

/// The other direction, in the same manner.
class Describer {
 public:
  Result<TextValue> describe(const TypeInfo& type, Object* object) {
    tasks_.push_back({&type, object, 0, false, false, 0});
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      if (task.isReady)
        combine(task);
      else
        BATON_TRY(open(task));
    }
    return std::move(done_.back());
  }

 private:
  struct Task {
    const TypeInfo* type;
    Object* object;
    uint64_t bits;  // of a scalar
    bool isReady;
    bool isList;   // or an array, which is written as one
    size_t count;  // of children in done_
  };

  void push(const TypeInfo& type, Object* owner, const bytecode::Field& field) {
    if (field.isScalar)
      tasks_.push_back({&type, nullptr, owner->scalars()[field.slot], false, false, 0});
    else
      tasks_.push_back({&type, owner->slots()[field.slot], 0, false, false, 0});
  }

  void openArray(const TypeInfo& type, Array& array) {
    const TypeInfo& element = type.element();
    tasks_.push_back({&type, &array, 0, true, true, array.length});
    for (uint32_t i = array.length; i-- > 0;) {
      const bool isScalar = element.kind == TypeKind::Scalar;
      tasks_.push_back({&element, isScalar ? nullptr : array.references()[i], isScalar ? array.data[i] : 0,
                        false, false, 0});
    }
  }

  Result<void> open(const Task& task) {
    const TypeInfo& type = *task.type;
    switch (type.kind) {
      case TypeKind::Scalar: done_.push_back(TextValue::scalar(type.dtype, task.bits)); return success();
      case TypeKind::Tensor: done_.push_back(tensorText(*asTensor(task.object))); return success();
      case TypeKind::Closure:
      case TypeKind::Ref:
        return Error(ErrorCode::Unsupported, fmt::format("a value of type {} has no text", type.text));
      case TypeKind::Array: openArray(type, *asArray(task.object)); return success();
      case TypeKind::Tuple:
      case TypeKind::Adt: break;
    }
    const Result<ListShape> shape = listShape(type);
    if (shape.has_value()) {
      const ListShape& list = shape.assume_value();
      const bytecode::Constructor& cons = type.definition->constructors[list.cons];
      const size_t first = tasks_.size();
      tasks_.push_back({&type, task.object, 0, true, true, 0});
      size_t count = 0;
      for (Object* cell = task.object; cell->tag == list.cons; ++count) {
        push((*type.fields)[list.cons][list.head], cell, cons.fields[list.head]);
        cell = cell->slots()[cons.fields[1 - list.head].slot];
      }
      tasks_[first].count = count;
      std::reverse(tasks_.begin() + static_cast<ptrdiff_t>(first) + 1, tasks_.end());
      return success();
    }
    const bytecode::Constructor& constructor = type.definition->constructors[task.object->tag];
    const std::vector<TypeInfo>& fields = (*type.fields)[task.object->tag];
    tasks_.push_back({&type, task.object, 0, true, false, fields.size()});
    for (size_t i = fields.size(); i-- > 0;) push(fields[i], task.object, constructor.fields[i]);
    return success();
  }

  void combine(const Task& task) {
    const auto first = done_.end() - static_cast<ptrdiff_t>(task.count);
    std::vector<TextValue> children(std::make_move_iterator(first), std::make_move_iterator(done_.end()));
    done_.erase(first, done_.end());
    if (task.isList) {
      done_.push_back(TextValue::list(std::move(children)));
      return;
    }
    const std::string& name = task.type->definition->constructors[task.object->tag].name;
    if (task.type->kind == TypeKind::Tuple)
      done_.push_back(TextValue::tuple(std::move(children)));
    else
      done_.push_back(TextValue::constructor(name, std::move(children)));
  }

  std::vector<Task> tasks_;
  std::vector<TextValue> done_;
};

}  // namespace

Result<Ref<Value>> fromText(Instance& instance, const TypeInfo* type, const TextValue& text) {
  if (type) return Builder(instance).build(*type, text);
  if (text.isTensor()) return leaf(instance, nullptr, text);
  return Error(ErrorCode::InvalidArgument,
               fmt::format("{} needs a type to be read as a value", describe(text)));
}

Result<TextValue> toText(const Value& value) {
  if (value.kind() == TypeKind::Scalar) return TextValue::scalar(value.dtype(), value.bits());
  if (value.kind() == TypeKind::Tensor) return tensorText(*asTensor(value.object()));
  return Describer().describe(*value.type(), value.object());
}

}  // namespace baton::vm
