// Names that differ from one another.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace baton::ir {

class UniqueNames {
 public:
  /// `hint`, or `hint` with a number, that was not given before. Thousands of one hint stay cheap.
  std::string fresh(const std::string& hint) {
    std::string name = hint;
    for (size_t& copy = copies_[hint]; !taken_.insert(name).second;)
      name = hint + "_" + std::to_string(++copy);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, size_t> copies_;  // of a hint
};

}  // namespace baton::ir
