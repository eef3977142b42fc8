#include "kernels/abi/dim_program.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace baton {

namespace {

using Wide = __int128;

/// Of a product that is larger than any number, until a factor is 0: then it is 0 after all.
constexpr Wide kTooLarge = ~(static_cast<Wide>(1) << 127);

Wide product(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  Wide result = 0;
  const bool isTooLarge = a == kTooLarge || b == kTooLarge || __builtin_mul_overflow(a, b, &result);
  return isTooLarge ? kTooLarge : result;
}

/// Each level of nesting holds a sum, a product and an operand.
constexpr uint32_t kStack = 4 * (kMaxDimDepth + 2);

Wide floorDivide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace

DimProgram::DimProgram(const DimExpr& expr) {
  BATON_CHECK(!expr.isTooLarge());
  emit(expr, 0);
  BATON_CHECK(stackDepth_ <= kStack);
}

void DimProgram::push(Code code, int64_t value, uint32_t depth) {
  steps_.push_back({code, value});
  stackDepth_ = std::max(stackDepth_, depth + 1);
}

/// Leaves the value at stack position `depth`.
void DimProgram::emit(const DimExpr& expr, uint32_t depth) {
  if (expr.isZero()) return push(Code::Constant, 0, depth);
  bool isFirstTerm = true;
  for (const DimExpr::Term& term : expr.terms()) {
    const uint32_t at = isFirstTerm ? depth : depth + 1;
    bool isFirstFactor = term.coefficient == 1 && !term.factors.empty();
    if (!isFirstFactor) push(Code::Constant, term.coefficient, at);
    for (const DimExpr::Factor& factor : term.factors) {
      const uint32_t top = isFirstFactor ? at : at + 1;
      if (factor.opaque == nullptr) {
        push(Code::Symbol, factor.symbol.value(), top);
      } else {
        emit(factor.opaque->a, top);
        emit(factor.opaque->b, top + 1);
        switch (factor.opaque->op) {
          case DimOp::FloorDiv: push(Code::FloorDiv, 0, top); break;
          case DimOp::FloorMod: push(Code::FloorMod, 0, top); break;
          case DimOp::CeilDiv: push(Code::CeilDiv, 0, top); break;
          case DimOp::Min: push(Code::Min, 0, top); break;
          case DimOp::Max: push(Code::Max, 0, top); break;
          case DimOp::TooLarge: BATON_CHECK(false); break;
        }
      }
      if (!isFirstFactor) push(Code::Multiply, 0, at);
      isFirstFactor = false;
    }
    if (!isFirstTerm) push(Code::Add, 0, depth);
    isFirstTerm = false;
  }
}

std::optional<int64_t> DimProgram::evaluate(const int64_t* symbols) const {
  std::array<Wide, kStack + 1> stack;
  Wide* top = stack.data();  // one past the last value
  for (const Step& step : steps_) {
    if (step.code == Code::Constant) {
      *top++ = step.value;
      continue;
    }
    if (step.code == Code::Symbol) {
      *top++ = symbols[step.value];
      continue;
    }
    const Wide b = *--top;
    Wide& a = top[-1];
    if (step.code == Code::Multiply) {
      a = product(a, b);
      continue;
    }
    if (a == kTooLarge || b == kTooLarge) return std::nullopt;
    switch (step.code) {
      case Code::Add:
        if (__builtin_add_overflow(a, b, &a)) return std::nullopt;
        break;
      case Code::FloorDiv:
        if (b == 0) return std::nullopt;
        a = floorDivide(a, b);
        break;
      case Code::FloorMod:
        if (b == 0) return std::nullopt;
        a -= floorDivide(a, b) * b;
        break;
      case Code::CeilDiv:
        if (b == 0) return std::nullopt;
        a = -floorDivide(-a, b);
        break;
      case Code::Min: a = std::min(a, b); break;
      case Code::Max: a = std::max(a, b); break;
      case Code::Multiply:
      case Code::Constant:
      case Code::Symbol: break;
    }
  }
  const Wide value = stack[0];
  if (value > INT64_MAX || value < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace baton
