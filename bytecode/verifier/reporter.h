// Collects violations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bytecode/verifier/verifier.h"

namespace baton::bytecode {

class Reporter {
 public:
  explicit Reporter(size_t limit) : limit_(limit) {}

  void report(Rule rule, std::string message, std::optional<FunctionIndex> function = {},
              std::optional<uint32_t> pc = {}) {
    if (!isFull()) violations_.push_back({rule, std::move(message), function, pc});
  }
  bool isFull() const { return violations_.size() >= limit_; }
  size_t count() const { return violations_.size(); }
  std::vector<Violation> take() { return std::move(violations_); }

 private:
  size_t limit_;
  std::vector<Violation> violations_;
};

}  // namespace baton::bytecode
