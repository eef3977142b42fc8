#include "compiler/ir/attrs.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace baton::ir {
namespace {

auto lowerBound(auto& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const Attrs::Entry& entry, std::string_view key) { return entry.first < key; });
}

template <class T>
const T& required(const Attrs& attrs, std::string_view name) {
  const AttrValue* value = attrs.find(name);
  BATON_CHECK(value != nullptr && std::holds_alternative<T>(*value));
  return std::get<T>(*value);
}

bool isSame(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
bool isSame(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return isSame(x, y); });
}
template <class T>
bool isSame(const T& a, const T& b) {
  return a == b;
}

bool isSame(const Attrs::Entry& a, const Attrs::Entry& b) {
  return a.first == b.first && a.second.index() == b.second.index() &&
         std::visit(
             [&](const auto& value) {
               return isSame(value, std::get<std::decay_t<decltype(value)>>(b.second));
             },
             a.second);
}

}  // namespace

bool operator==(const Attrs& a, const Attrs& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const Attrs::Entry& x, const Attrs::Entry& y) { return isSame(x, y); });
}

void Attrs::set(std::string_view name, AttrValue value) {
  auto at = lowerBound(entries_, name);
  if (at != entries_.end() && at->first == name)
    at->second = std::move(value);
  else
    entries_.emplace(at, std::string(name), std::move(value));
}

void Attrs::erase(std::string_view name) {
  auto at = lowerBound(entries_, name);
  if (at != entries_.end() && at->first == name) entries_.erase(at);
}

const AttrValue* Attrs::find(std::string_view name) const {
  auto at = lowerBound(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

int64_t Attrs::intOf(std::string_view name) const { return required<int64_t>(*this, name); }
double Attrs::floatOf(std::string_view name) const { return required<double>(*this, name); }
bool Attrs::boolOf(std::string_view name) const { return required<bool>(*this, name); }
const std::string& Attrs::stringOf(std::string_view name) const { return required<std::string>(*this, name); }
DType Attrs::dtypeOf(std::string_view name) const { return required<DType>(*this, name); }
const std::vector<int64_t>& Attrs::intsOf(std::string_view name) const {
  return required<std::vector<int64_t>>(*this, name);
}
const std::vector<double>& Attrs::floatsOf(std::string_view name) const {
  return required<std::vector<double>>(*this, name);
}
const std::vector<DimExpr>& Attrs::dimsOf(std::string_view name) const {
  return required<std::vector<DimExpr>>(*this, name);
}

bool Attrs::isNone(std::string_view name) const {
  const AttrValue* value = find(name);
  return value == nullptr || std::holds_alternative<std::monostate>(*value);
}

}  // namespace baton::ir
