// Strong types for indices, so that a register number is never taken for a function number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace baton {

/// `struct FunctionTag; using FunctionIndex = StrongIndex<FunctionTag>;`
template <class Tag, class Repr = uint32_t>
class StrongIndex {
 public:
  constexpr StrongIndex() = default;
  constexpr explicit StrongIndex(Repr value) : value_(value) {}
  constexpr Repr value() const { return value_; }
  friend constexpr auto operator<=>(StrongIndex, StrongIndex) = default;

 private:
  Repr value_ = 0;
};

}  // namespace baton

template <class Tag, class Repr>
struct std::hash<baton::StrongIndex<Tag, Repr>> {
  size_t operator()(baton::StrongIndex<Tag, Repr> index) const noexcept {
    return std::hash<Repr>{}(index.value());
  }
};
