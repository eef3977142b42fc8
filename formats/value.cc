#include "formats/value.h"

#include <cmath>

namespace baton {

Value::Value(Kind kind, std::string name, std::vector<Value> children)
    : content_(Compound{kind, std::move(name), std::move(children)}) {}

Value Value::tensor(TensorData data) {
  Value value;
  value.content_ = std::move(data);
  return value;
}

Value Value::scalar(DType dtype, uint64_t bits) {
  TensorData data{dtype, {}, {}};
  data.appendScalar(bits);
  return tensor(std::move(data));
}

Value Value::tuple(std::vector<Value> children) { return Value(Kind::Tuple, {}, std::move(children)); }
Value Value::list(std::vector<Value> children) { return Value(Kind::List, {}, std::move(children)); }
Value Value::constructor(std::string name, std::vector<Value> fields) {
  return Value(Kind::Constructor, std::move(name), std::move(fields));
}

Value& Value::operator=(Value&& other) noexcept {
  if (this == &other) return *this;
  // `other` may lie inside of this.
  std::variant<Compound, TensorData> taken = std::move(other.content_);
  dismantle();
  content_ = std::move(taken);
  return *this;
}

Value::~Value() { dismantle(); }

/// Hangs grandchildren up one level until nothing is nested: every destructor that runs
/// then has at most one level below it.
void Value::dismantle() noexcept {
  auto* compound = std::get_if<Compound>(&content_);
  if (!compound || compound->children.empty()) return;
  std::vector<std::vector<Value>> pending;
  pending.push_back(std::move(compound->children));
  while (!pending.empty()) {
    std::vector<Value> level = std::move(pending.back());
    pending.pop_back();
    for (Value& child : level) {
      auto* inner = std::get_if<Compound>(&child.content_);
      if (inner && !inner->children.empty()) pending.push_back(std::move(inner->children));
    }
  }
}

Value Value::clone() const {
  struct Step {
    const Value* from;
    Value* to;
  };
  Value result;
  std::vector<Step> steps{{this, &result}};
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (step.from->isTensor()) {
      step.to->content_ = step.from->tensor();
      continue;
    }
    const Compound& from = std::get<Compound>(step.from->content_);
    step.to->content_ = Compound{from.kind, from.name, std::vector<Value>(from.children.size())};
    std::vector<Value>& to = step.to->mutableChildren();  // does not move from here on
    for (size_t i = 0; i < to.size(); ++i) steps.push_back({&from.children[i], &to[i]});
  }
  return result;
}

Value::Kind Value::kind() const {
  const auto* compound = std::get_if<Compound>(&content_);
  return compound ? compound->kind : Kind::Tensor;
}

const std::string& Value::name() const {
  static const std::string none;
  const auto* compound = std::get_if<Compound>(&content_);
  return compound ? compound->name : none;
}

std::span<const Value> Value::children() const {
  const auto* compound = std::get_if<Compound>(&content_);
  return compound ? std::span<const Value>(compound->children) : std::span<const Value>();
}

bool operator==(const Value& a, const Value& b) {
  std::vector<std::pair<const Value*, const Value*>> pairs{{&a, &b}};
  while (!pairs.empty()) {
    const auto [left, right] = pairs.back();
    pairs.pop_back();
    if (left->kind() != right->kind()) return false;
    if (left->isTensor()) {
      if (!sameTensor(left->tensor(), right->tensor())) return false;
      continue;
    }
    const auto leftChildren = left->children();
    const auto rightChildren = right->children();
    if (left->name() != right->name() || leftChildren.size() != rightChildren.size()) return false;
    for (size_t i = 0; i < leftChildren.size(); ++i) pairs.emplace_back(&leftChildren[i], &rightChildren[i]);
  }
  return true;
}

bool sameTensor(const TensorData& a, const TensorData& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0) return true;
  if (!isFloat(a.dtype)) return false;
  const auto isNan = [&](uint64_t bits) {
    return std::isnan(scalarFromBits<double>(convertScalar(bits, a.dtype, DType::F64)));
  };
  for (size_t i = 0; i < a.elementCount(); ++i) {
    const uint64_t left = a.scalarAt(i);
    const uint64_t right = b.scalarAt(i);
    if (left != right && !(isNan(left) && isNan(right))) return false;
  }
  return true;
}

}  // namespace baton
