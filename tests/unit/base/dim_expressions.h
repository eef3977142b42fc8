// Small expressions for the dim tests: three symbols and random trees over them.
#pragma once

#include <random>

#include "base/dim.h"

namespace baton::dim_test {

inline DimExpr n() { return DimExpr::symbol(DimSymbol(0)); }
inline DimExpr m() { return DimExpr::symbol(DimSymbol(1)); }
inline DimExpr k() { return DimExpr::symbol(DimSymbol(2)); }
inline DimExpr c(int64_t value) { return DimExpr::constant(value); }

inline std::string text(const DimExpr& expr) {
  return expr.print([](DimSymbol symbol) { return std::string(1, "nmkxyz"[symbol.value()]); });
}

inline Result<int64_t> at(const DimExpr& expr, const std::vector<int64_t>& values) {
  return expr.evaluate([&](DimSymbol symbol) -> std::optional<int64_t> {
    if (symbol.value() >= values.size()) return std::nullopt;
    return values[symbol.value()];
  });
}

/// An expression as a tree, evaluated without any normal form.
struct Tree {
  enum Kind { Constant, Symbol, Add, Sub, Mul, Operation } kind;
  int64_t value = 0;
  DimOp op = DimOp::Min;
  std::vector<Tree> operands;

  DimExpr build() const;
  std::optional<int64_t> evaluate(const std::vector<int64_t>& values) const;
};

Tree randomTree(std::mt19937& random, int depth);

}  // namespace baton::dim_test
