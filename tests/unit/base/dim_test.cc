#include "base/dim.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/dim_dividend.h"
#include "tests/unit/base/dim_expressions.h"

namespace baton {
namespace {

using namespace dim_test;

TEST_CASE("sums and products have one form") {
  CHECK(n() + m() == m() + n());
  CHECK((n() + m()) * (n() - m()) == n() * n() - m() * m());
  CHECK(n() - n() == DimExpr());
  CHECK((n() - n()).isZero());
  CHECK(n() * c(1) == n());
  CHECK(n() * c(0) == c(0));
  CHECK(c(2) + c(3) == c(5));
  CHECK((n() + c(1)) * (n() + c(1)) == n() * n() + c(2) * n() + c(1));
  CHECK(n() != m());
  CHECK(n().hash() == (n() + m() - m()).hash());
  CHECK(n().asSymbol() == DimSymbol(0));
  CHECK_FALSE((c(2) * n()).asSymbol().has_value());
  CHECK(c(7).asConstant() == 7);
  CHECK(c(0).asConstant() == 0);
  CHECK_FALSE(n().asConstant().has_value());
}

TEST_CASE("division by a constant takes multiples out") {
  CHECK(floorDiv(c(4) * m(), c(4)) == m());
  CHECK(floorDiv(n(), c(1)) == n());
  CHECK(floorDiv(n(), c(-1)) == c(0) - n());
  CHECK(floorDiv(c(4) * m() + n(), c(4)) == m() + floorDiv(n(), c(4)));
  CHECK(floorDiv(n() + c(5), c(4)) == floorDiv(n() + c(1), c(4)) + c(1));
  CHECK(floorDiv(c(2) * n() + c(1), c(4)) == floorDiv(n(), c(2)));
  CHECK(floorDiv(floorDiv(n(), c(3)) + c(1), c(2)) == floorDiv(n() + c(3), c(6)));
  CHECK(ceilDiv(c(4) * m(), c(4)) == m());
  CHECK(ceilDiv(n(), c(4)) == floorDiv(n() + c(3), c(4)));
  CHECK(floorDiv(n(), c(-4)) == floorDiv(c(0) - n(), c(4)));
  CHECK(floorDiv(c(-7), c(2)) == c(-4));
  CHECK(ceilDiv(c(-7), c(2)) == c(-3));
}

TEST_CASE("remainders are reduced") {
  CHECK(floorMod(c(4) * m(), c(4)) == c(0));
  CHECK(floorMod(n(), c(1)) == c(0));
  CHECK(floorMod(n() + c(9), c(8)) == floorMod(n() + c(1), c(8)));
  CHECK(floorMod(c(2) * n() + c(1), c(4)) == c(2) * floorMod(n(), c(2)) + c(1));
  CHECK(floorMod(floorMod(n(), c(8)), c(4)) == floorMod(n(), c(4)));
  CHECK(floorMod(floorMod(n(), c(4)), c(8)) == floorMod(n(), c(4)));
  CHECK(floorDiv(floorMod(n(), c(4)), c(4)) == c(0));
  CHECK(floorMod(c(-7), c(4)) == c(1));
  CHECK(floorMod(c(7), c(-4)) == c(-1));
}

TEST_CASE("minimum and maximum decide what they can") {
  CHECK(min(n(), n()) == n());
  CHECK(min(n(), n() + c(1)) == n());
  CHECK(max(n(), n() + c(1)) == n() + c(1));
  CHECK(min(n(), m()) == min(m(), n()));
  CHECK(min(min(n(), m()), k()) == min(n(), min(k(), m())));
  CHECK(min(n(), min(m(), n() + c(2))) == min(n(), m()));
  CHECK(max(c(2), c(5)) == c(5));
}

TEST_CASE("what cannot be computed stays and is an error when evaluated") {
  const DimExpr byZero = floorDiv(n(), c(0));
  CHECK(byZero.asOpaque() != nullptr);
  Result<int64_t> value = at(byZero, {4});
  REQUIRE(!value.has_value());
  CHECK(value.error().message() == "floor_div by zero in a dim expression");
  CHECK(at(floorDiv(c(3), c(0)), {}).has_value() == false);
  CHECK(at(floorDiv(c(INT64_MIN), c(-1)), {}).error().message() == "dim expression exceeds 64 bits");
  CHECK(at(n() + m(), {1}).error().message() == "dim symbol 1 has no value");
  CHECK(at(n() * n(), {INT64_MAX}).error().message() == "dim expression exceeds 64 bits");
  CHECK(at(n() * n() * n() * n() * m(), {INT64_MAX, 0}).value() == 0);
  CHECK(at(n() + m() - k(), {INT64_MAX, INT64_MAX, INT64_MAX}).value() == INT64_MAX);
}

TEST_CASE("coefficients that exceed int64 make an expression too large") {
  const DimExpr huge = c(INT64_MAX) * n();
  const DimExpr sum = huge + n();
  CHECK(sum.isTooLarge());
  CHECK_FALSE(huge.isTooLarge());
  CHECK(sum == huge + n());
  CHECK(sum != huge + huge);
  CHECK((sum * m() + c(1)).isTooLarge());
  CHECK(at(sum, {0}).error().message() == "dim expression is too large to be evaluated");
  CHECK((c(INT64_MIN) * c(-1)).isTooLarge());
  CHECK((DimExpr() - c(INT64_MIN)).isTooLarge());
}

TEST_CASE("nesting and size are bounded") {
  DimExpr expr = n();
  for (int i = 0; i < 100000; ++i) expr = floorDiv(expr * m() + c(1), k());
  CHECK(expr.isTooLarge());
  CHECK(!at(expr, {1, 1, 1}).has_value());
  DimExpr wide = n();
  for (int i = 0; i < 60; ++i) wide = min(wide + m(), wide * k());  // doubles each time
  CHECK(wide.isTooLarge());
  DimExpr power = n() + m();
  for (int i = 0; i < 100; ++i) power = power * power;
  CHECK(power.isTooLarge());
  DimExpr sum;
  for (uint32_t i = 0; i < 1000; ++i) sum = sum + DimExpr::symbol(DimSymbol(i));
  CHECK_FALSE(sum.isTooLarge());
  CHECK(sum.terms().size() == 1000);
}

TEST_CASE("expressions print as program text") {
  CHECK(text(c(0)) == "0");
  CHECK(text(c(-3)) == "-3");
  CHECK(text(c(INT64_MIN)) == "-9223372036854775808");
  CHECK(text(c(4) * m() + c(2)) == "4*m + 2");
  CHECK(text(n() - c(2)) == "n - 2");
  CHECK(text(m() - n()) == "m - n");
  CHECK(text(c(0) - n() - c(2)) == "-n - 2");
  CHECK(text(n() * n() * m()) == "n*n*m");
  CHECK(text(floorDiv(n(), c(2))) == "floor_div(n, 2)");
  CHECK(text(ceilDiv(n(), c(4))) == "ceil_div(n, 4)");
  CHECK(text(ceilDiv(n(), m())) == "ceil_div(n, m)");
  CHECK(text(c(2) * min(n(), m() + c(1)) + c(1)) == "2*min(n, m + 1) + 1");
  CHECK(text(floorMod(n(), c(8))) == "floor_mod(n, 8)");
}

TEST_CASE("symbols are collected once, in order of appearance") {
  std::vector<DimSymbol> symbols;
  (floorDiv(m(), n()) + k() * m()).collectSymbols(symbols);
  CHECK(symbols == std::vector<DimSymbol>{DimSymbol(1), DimSymbol(2), DimSymbol(0)});
}

TEST_CASE("substitution simplifies again") {
  const DimExpr expr = floorDiv(n() * m(), c(4)) + n();
  const DimExpr replaced = expr.substitute([](DimSymbol symbol) -> std::optional<DimExpr> {
    if (symbol == DimSymbol(0)) return c(8) * k();
    return std::nullopt;
  });
  CHECK(replaced == c(2) * k() * m() + c(8) * k());
}

TEST_CASE("numbers are substituted exactly where a part of the whole does not fit") {
  const auto substituted = [](const DimExpr& expr, int64_t first, int64_t second) {
    return expr.substitute([&](DimSymbol symbol) {
      return std::optional<DimExpr>(c(symbol == n().asSymbol() ? first : second));
    });
  };
  const DimExpr apart = floorDiv(n() - m(), c(4) * m() + c(4));
  CHECK(substituted(min(n() - m(), c(7)), INT64_MAX, INT64_MIN) == c(7));
  CHECK(substituted(floorDiv(n() + n() + m(), m()), INT64_MAX, INT64_MAX) == c(3));
  CHECK(substituted(n() - m(), INT64_MAX, INT64_MIN).isTooLarge());
  CHECK_FALSE(substituted(apart, 9, 0).isTooLarge());
}

TEST_CASE("a quotient that is rounded up has a dividend that fits") {
  const auto lowered = [](const DimExpr& expr) { return loweredDividend(*expr.asOpaque()); };
  CHECK(lowered(ceilDiv(n(), c(INT64_MAX))) == n() - c(1));
  CHECK(lowered(ceilDiv(n(), c(6))) == n() - c(1));
  CHECK(lowered(floorDiv(n() + c(1), c(3))) == n() - c(2));
  CHECK(lowered(floorDiv(n(), c(3))) == std::nullopt);
  CHECK(lowered(floorDiv(n() + c(1), m())) == std::nullopt);
  CHECK(lowered(ceilDiv(n(), m())) == std::nullopt);
  CHECK(lowered(floorMod(n() + c(1), c(3))) == std::nullopt);
}

TEST_CASE("normalisation keeps the value of random expressions") {
  std::mt19937 random(7);
  int compared = 0;
  for (int round = 0; round < 6000; ++round) {
    const Tree tree = randomTree(random, 1 + static_cast<int>(random() % 5));
    const DimExpr expr = tree.build();
    if (expr.isTooLarge()) continue;
    const DimExpr again = expr.substitute([](DimSymbol symbol) { return DimExpr::symbol(symbol); });
    for (int trial = 0; trial < 8; ++trial) {
      std::vector<int64_t> values;
      for (int i = 0; i < 3; ++i)
        values.push_back(static_cast<int64_t>(random() % 41) - (trial < 4 ? 0 : 20));
      const auto expected = tree.evaluate(values);
      if (!expected) continue;
      const Result<int64_t> value = at(expr, values);
      INFO(text(expr));
      REQUIRE(value.has_value());
      REQUIRE(value.value() == *expected);
      REQUIRE(at(again, values).value() == *expected);
      ++compared;
    }
  }
  CHECK(compared > 20000);
}

TEST_CASE("order is total and agrees with equality") {
  std::mt19937 random(11);
  std::vector<DimExpr> all;
  for (int i = 0; i < 60; ++i) all.push_back(randomTree(random, 3).build());
  for (const DimExpr& a : all)
    for (const DimExpr& b : all) {
      CHECK((a == b) == !(a < b || b < a));
      CHECK((a < b) == (b > a));
      for (const DimExpr& d : all)
        if (a < b && b < d) REQUIRE((a < d));
    }
}

}  // namespace
}  // namespace baton
