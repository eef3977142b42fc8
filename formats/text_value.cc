#include "formats/text_value.h"

#include "formats/array_elements.h"

namespace baton {

TextValue::TextValue(Kind kind, std::string name, std::vector<TextValue> children)
    : content_(Compound{kind, std::move(name), std::move(children)}) {}

TextValue TextValue::tensor(Array data) {
  TextValue value;
  value.content_ = std::move(data);
  return value;
}

TextValue TextValue::scalar(DType dtype, uint64_t bits) {
  Array data{dtype, {}, {}};
  appendElement(data, bits);
  return tensor(std::move(data));
}

TextValue TextValue::tuple(std::vector<TextValue> children) {
  return TextValue(Kind::Tuple, {}, std::move(children));
}
TextValue TextValue::list(std::vector<TextValue> children) {
  return TextValue(Kind::List, {}, std::move(children));
}
TextValue TextValue::constructor(std::string name, std::vector<TextValue> fields) {
  return TextValue(Kind::Constructor, std::move(name), std::move(fields));
}

TextValue& TextValue::operator=(TextValue&& other) noexcept {
  if (this == &other) return *this;
  // `other` may lie inside of this.
  std::variant<Compound, Array> taken = std::move(other.content_);
  dismantle();
  content_ = std::move(taken);
  return *this;
}

TextValue::~TextValue() { dismantle(); }

/// Takes everything below apart, level by level, so that no destructor that runs has more than one
/// level below it. The levels that wait form a chain: each is kept in the place of the children of
/// the first element of the next, so that this asks for no memory.
void TextValue::dismantle() noexcept {
  auto* compound = std::get_if<Compound>(&content_);
  if (!compound || compound->children.empty()) return;
  std::vector<TextValue> chain;
  const auto push = [&chain](std::vector<TextValue> level) {
    while (!level.empty()) {
      std::vector<TextValue> below;
      if (auto* first = std::get_if<Compound>(&level[0].content_))
        below = std::move(first->children);
      else
        level[0].content_ = Compound{};
      std::get<Compound>(level[0].content_).children = std::move(chain);
      chain = std::move(level);
      level = std::move(below);
    }
  };
  push(std::move(compound->children));
  while (!chain.empty()) {
    std::vector<TextValue> level = std::move(chain);
    chain = std::move(std::get<Compound>(level[0].content_).children);
    for (size_t i = 1; i < level.size(); ++i)
      if (auto* inner = std::get_if<Compound>(&level[i].content_)) push(std::move(inner->children));
  }
}

TextValue TextValue::clone() const {
  struct Step {
    const TextValue* from;
    TextValue* to;
  };
  TextValue result;
  std::vector<Step> steps{{this, &result}};
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    if (step.from->isTensor()) {
      step.to->content_ = step.from->tensor();
      continue;
    }
    const Compound& from = std::get<Compound>(step.from->content_);
    step.to->content_ = Compound{from.kind, from.name, std::vector<TextValue>(from.children.size())};
    std::vector<TextValue>& to = step.to->mutableChildren();  // does not move from here on
    for (size_t i = 0; i < to.size(); ++i) steps.push_back({&from.children[i], &to[i]});
  }
  return result;
}

TextValue::Kind TextValue::kind() const {
  const auto* compound = std::get_if<Compound>(&content_);
  return compound ? compound->kind : Kind::Tensor;
}

const std::string& TextValue::name() const {
  static const std::string none;
  const auto* compound = std::get_if<Compound>(&content_);
  return compound ? compound->name : none;
}

std::span<const TextValue> TextValue::children() const {
  const auto* compound = std::get_if<Compound>(&content_);
  return compound ? std::span<const TextValue>(compound->children) : std::span<const TextValue>();
}

bool operator==(const TextValue& a, const TextValue& b) {
  std::vector<std::pair<const TextValue*, const TextValue*>> pairs{{&a, &b}};
  while (!pairs.empty()) {
    const auto [left, right] = pairs.back();
    pairs.pop_back();
    if (left->kind() != right->kind()) return false;
    if (left->isTensor()) {
      if (!sameArray(left->tensor(), right->tensor())) return false;
      continue;
    }
    const auto leftChildren = left->children();
    const auto rightChildren = right->children();
    if (left->name() != right->name() || leftChildren.size() != rightChildren.size()) return false;
    for (size_t i = 0; i < leftChildren.size(); ++i) pairs.emplace_back(&leftChildren[i], &rightChildren[i]);
  }
  return true;
}

}  // namespace baton
