// A table of strings that the text writes at the places of use. When the table is what a
// reader of the text would collect, it is not written at all; else it is declared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace baton::bytecode {

class StringTableText {
 public:
  explicit StringTableText(const std::vector<std::string>& table) : table_(table) {
    for (uint32_t i = 0; i < table.size(); ++i) firstIndex_.try_emplace(table[i], i);
  }

  /// Reports the uses, in the order of the text.
  void use(uint32_t index) {
    if (!isInline(index)) return;  // by number: collects nothing
    if (index == collected_)
      ++collected_;
    else if (index > collected_)
      isCollected_ = false;
  }
  /// After all uses.
  bool mustBeDeclared() const { return !isCollected_ || collected_ != table_.size(); }
  /// Whether a use can be written as the string itself.
  bool isInline(uint32_t index) const {
    if (index >= table_.size()) return false;
    return firstIndex_.find(table_[index])->second == index;
  }

 private:
  const std::vector<std::string>& table_;
  std::unordered_map<std::string_view, uint32_t> firstIndex_;
  uint32_t collected_ = 0;
  bool isCollected_ = true;
};

}  // namespace baton::bytecode
