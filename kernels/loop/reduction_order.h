// The order of float sums and products (docs/semantics.md), in one place: blocks of 4096
// consecutive elements, 64 interleaved partials in each, combined by halves; block values
// combined pairwise as in carry addition.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace baton::loop {

inline constexpr int64_t kReductionPartials = 64;
inline constexpr int64_t kReductionBlock = 4096;
/// Enough levels for 2^63 elements.
inline constexpr int kReductionLevels = 52;

struct Plus {
  template <class T>
  static T identity() {
    return T{0};
  }
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Times {
  template <class T>
  static T identity() {
    return T{1};
  }
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};

/// Elements are added one by one; `finish` gives their sum or product. T: float or double.
template <class T, class Combine>
class OrderedReduction {
 public:
  OrderedReduction() { reset(); }

  void reset() {
    blocks_ = 0;
    clearBlock();
  }

  void add(T x) {
    T& partial = partials_[inBlock_ % kReductionPartials];
    partial = Combine()(partial, x);
    if (++inBlock_ == kReductionBlock) closeBlock();
  }

  T finish() {
    if (inBlock_ > 0) closeBlock();
    T result = Combine::template identity<T>();
    bool any = false;
    for (int level = 0; level < kReductionLevels; ++level) {
      if ((blocks_ >> level & 1) == 0) continue;
      result = any ? Combine()(levels_[level], result) : levels_[level];
      any = true;
    }
    return result;
  }

 private:
  void clearBlock() {
    partials_.fill(Combine::template identity<T>());
    inBlock_ = 0;
  }

  void closeBlock() {
    // Partials without elements are identities, which leave the others as they are (no
    // partial is -0: 0 + x is not).
    const int64_t used = std::min(inBlock_, kReductionPartials);
    for (int64_t half = kReductionPartials / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half && j + half < used; ++j)
        partials_[j] = Combine()(partials_[j], partials_[j + half]);
    T value = partials_[0];
    int level = 0;
    for (; (blocks_ >> level & 1) != 0; ++level) value = Combine()(levels_[level], value);
    levels_[level] = value;
    ++blocks_;
    clearBlock();
  }

  std::array<T, kReductionPartials> partials_;
  std::array<T, kReductionLevels> levels_;
  int64_t inBlock_ = 0;
  uint64_t blocks_ = 0;
};

}  // namespace baton::loop
