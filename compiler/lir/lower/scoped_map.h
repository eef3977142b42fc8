// A map whose entries are forgotten when the scope ends in which they were added.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace baton::lir {

template <class Key, class T, class Hash = std::hash<Key>>
class ScopedMap {
 public:
  /// Null when there is none.
  const T* find(const Key& key) const {
    const auto found = map_.find(key);
    return found == map_.end() ? nullptr : &found->second;
  }
  /// Adds an entry that is not there.
  void add(const Key& key, T value) {
    if (map_.emplace(key, std::move(value)).second) log_.push_back(key);
  }
  size_t mark() const { return log_.size(); }
  /// Forgets what was added since the mark was taken.
  void restore(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) map_.erase(log_.back());
  }

 private:
  std::unordered_map<Key, T, Hash> map_;
  std::vector<Key> log_;
};

}  // namespace baton::lir
