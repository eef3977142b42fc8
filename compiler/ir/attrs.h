// Attributes of operator calls and functions: a small sorted map from names to values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"

namespace baton::ir {

/// What an attribute holds. `std::monostate` is `None` of the text.
using AttrValue = std::variant<std::monostate, bool, int64_t, double, std::string, DType,
                               std::vector<int64_t>, std::vector<double>, std::vector<DimExpr>>;

/// Sorted by name, each name once.
class Attrs {
 public:
  using Entry = std::pair<std::string, AttrValue>;

  /// Adds or replaces.
  void set(std::string_view name, AttrValue value);
  void erase(std::string_view name);
  /// Null when absent.
  const AttrValue* find(std::string_view name) const;
  std::span<const Entry> entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  /// The value when it is present, not None and of that type.
  template <class T>
  std::optional<T> get(std::string_view name) const {
    const AttrValue* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (const T* typed = std::get_if<T>(value)) return *typed;
    return std::nullopt;
  }
  /// For attributes that the schema guarantees (see ops::AttrSpec): fails a check otherwise.
  int64_t intOf(std::string_view name) const;
  double floatOf(std::string_view name) const;
  bool boolOf(std::string_view name) const;
  const std::string& stringOf(std::string_view name) const;
  DType dtypeOf(std::string_view name) const;
  const std::vector<int64_t>& intsOf(std::string_view name) const;
  const std::vector<double>& floatsOf(std::string_view name) const;
  const std::vector<DimExpr>& dimsOf(std::string_view name) const;
  bool isNone(std::string_view name) const;  ///< absent counts as None

  /// Floats are the same when their bits are: 0 and -0 are two values, and a NaN is itself.
  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  std::vector<Entry> entries_;
};

}  // namespace baton::ir
