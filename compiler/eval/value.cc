#include "compiler/eval/value.h"

#include <cmath>
#include <unordered_set>

#include "base/error.h"

namespace baton::eval {
namespace {

Object* make(Object::Kind kind) {
  auto* object = new Object;
  object->kind = kind;
  return object;
}

bool identicalTensors(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes == b.bytes) return true;
  if (!isFloat(a.dtype)) return false;
  const size_t size = static_cast<size_t>(sizeBytes(a.dtype));
  for (size_t at = 0; at < a.bytes.size(); at += size) {
    const uint64_t left = loadScalar(a.bytes.data() + at, a.dtype);
    const uint64_t right = loadScalar(b.bytes.data() + at, a.dtype);
    if (left == right) continue;
    const auto asDouble = [&](uint64_t bits) {
      return scalarFromBits<double>(convertScalar(bits, a.dtype, DType::F64));
    };
    if (!std::isnan(asDouble(left)) || !std::isnan(asDouble(right))) return false;
  }
  return true;
}

}  // namespace

Value Value::tensor(HostTensor tensor) {
  Object* object = make(Object::Kind::Tensor);
  object->tensor = std::move(tensor);
  return Value(object);
}

Value Value::scalar(DType dtype, uint64_t bits) {
  HostTensor tensor{dtype, {}, std::vector<std::byte>(static_cast<size_t>(sizeBytes(dtype)))};
  storeScalar(tensor.bytes.data(), dtype, bits);
  return Value::tensor(std::move(tensor));
}

Value Value::tuple(std::vector<Value> fields) {
  Object* object = make(Object::Kind::Tuple);
  object->fields = std::move(fields);
  return Value(object);
}

Value Value::data(ir::ConstructorRef constructor, std::vector<Value> fields) {
  Object* object = make(Object::Kind::Data);
  object->constructor = constructor;
  object->fields = std::move(fields);
  return Value(object);
}

Value Value::cell(Value content) {
  Object* object = make(Object::Kind::Cell);
  object->fields.push_back(std::move(content));
  return Value(object);
}

Value Value::array(std::vector<Value> elements) {
  Object* buffer = make(Object::Kind::Buffer);
  Object* object = make(Object::Kind::Array);
  object->length = elements.size();
  buffer->fields = std::move(elements);
  object->fields.push_back(Value(buffer));
  return Value(object);
}

bool Value::growsInPlace() const { return object_->fields[0].object_->fields.size() == object_->length; }

Value Value::withPushed(Value element) const {
  BATON_CHECK(isArray());
  Object* buffer = object_->fields[0].object_;
  if (!growsInPlace()) {  // another array goes on differently
    std::vector<Value> copy(elements().begin(), elements().end());
    copy.push_back(std::move(element));
    return array(std::move(copy));
  }
  buffer->fields.push_back(std::move(element));
  Object* object = make(Object::Kind::Array);
  object->length = object_->length + 1;
  object->fields.push_back(object_->fields[0]);
  return Value(object);
}

bool Value::isTensor() const { return object_ != nullptr && object_->kind == Object::Kind::Tensor; }
bool Value::isTuple() const { return object_ != nullptr && object_->kind == Object::Kind::Tuple; }
bool Value::isData() const { return object_ != nullptr && object_->kind == Object::Kind::Data; }
bool Value::isFunction() const { return object_ != nullptr && object_->kind == Object::Kind::Closure; }
bool Value::isCell() const { return object_ != nullptr && object_->kind == Object::Kind::Cell; }

bool Value::isArray() const { return object_ != nullptr && object_->kind == Object::Kind::Array; }

std::span<const Value> Value::elements() const {
  BATON_CHECK(isArray());
  return std::span(object_->fields[0].object_->fields).first(object_->length);
}

const HostTensor& Value::asTensor() const {
  BATON_CHECK(isTensor());
  return object_->tensor;
}

bool Value::asBool() const {
  const HostTensor& tensor = asTensor();
  BATON_CHECK(tensor.dtype == DType::Bool && tensor.bytes.size() == 1);
  return tensor.bytes[0] != std::byte{0};
}

const std::vector<Value>& Value::fields() const {
  BATON_CHECK(isTuple() || isData());
  return object_->fields;
}

ir::ConstructorRef Value::constructor() const {
  BATON_CHECK(isData());
  return object_->constructor;
}

const Value& Value::content() const {
  BATON_CHECK(isCell());
  return object_->fields[0];
}

void Value::setContent(Value content) const {
  BATON_CHECK(isCell());
  object_->fields[0] = std::move(content);
}

void Value::retain() const {
  if (object_ != nullptr) ++object_->references;
}

void Value::release(Object* object) {
  if (--object->references != 0) return;
  std::vector<Object*> dead{object};
  while (!dead.empty()) {
    Object* last = dead.back();
    dead.pop_back();
    for (Value& field : last->fields) {
      Object* child = std::exchange(field.object_, nullptr);
      if (child != nullptr && --child->references == 0) dead.push_back(child);
    }
    delete last;
  }
}

bool identical(const Value& a, const Value& b) {
  struct PairHash {
    size_t operator()(const std::pair<const Object*, const Object*>& pair) const {
      return std::hash<const void*>{}(pair.first) * 31 + std::hash<const void*>{}(pair.second);
    }
  };
  // Pairs that were met are equal or the answer is false anyway; shared parts are compared once.
  std::unordered_set<std::pair<const Object*, const Object*>, PairHash> seen;
  std::vector<std::pair<const Object*, const Object*>> work{{a.object(), b.object()}};
  while (!work.empty()) {
    const auto [left, right] = work.back();
    work.pop_back();
    if (left == right || !seen.insert({left, right}).second) continue;
    if (left == nullptr || right == nullptr || left->kind != right->kind) return false;
    switch (left->kind) {
      case Object::Kind::Tensor:
        if (!identicalTensors(left->tensor, right->tensor)) return false;
        break;
      case Object::Kind::Closure:
      case Object::Kind::Buffer: return false;
      case Object::Kind::Array:
        if (left->length != right->length) return false;
        for (size_t i = 0; i < left->length; ++i)
          work.emplace_back(left->fields[0].object()->fields[i].object(),
                            right->fields[0].object()->fields[i].object());
        break;
      case Object::Kind::Data:
        if (left->constructor.tag != right->constructor.tag) return false;
        [[fallthrough]];
      case Object::Kind::Tuple:
      case Object::Kind::Cell:
        if (left->fields.size() != right->fields.size()) return false;
        for (size_t i = 0; i < left->fields.size(); ++i)
          work.emplace_back(left->fields[i].object(), right->fields[i].object());
        break;
    }
  }
  return true;
}

}  // namespace baton::eval
