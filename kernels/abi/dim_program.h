// A dim expression compiled for repeated evaluation: a postfix program over symbol values,
// with the meaning (and the exactness: 128 bits between) of DimExpr::evaluate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/dim.h"

namespace baton {

class DimProgram {
 public:
  /// The expression must be over declared symbols and not too large (isOverSymbols).
  explicit DimProgram(const DimExpr& expr);

  /// `symbols[i]` is the value of DimSymbol(i). Nothing when the value does not fit int64 or
  /// something is divided by zero.
  std::optional<int64_t> evaluate(const int64_t* symbols) const;

 private:
  enum class Code : uint8_t { Constant, Symbol, Add, Multiply, FloorDiv, FloorMod, CeilDiv, Min, Max };
  struct Step {
    Code code;
    int64_t value;  // of Constant and Symbol
  };
  void emit(const DimExpr& expr, uint32_t depth);
  void push(Code code, int64_t value, uint32_t depth);

  std::vector<Step> steps_;
  uint32_t stackDepth_ = 0;
};

}  // namespace baton
