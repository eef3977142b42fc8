#include <catch2/catch.hpp>

#include "base/dim.h"
#include "tests/effort.h"
#include "tests/unit/base/dim_expressions.h"

namespace baton {
namespace {

using namespace dim_test;

DimKnowledge extents() {
  DimKnowledge knowledge;
  for (uint32_t i = 0; i < 3; ++i) knowledge.addExtent(DimSymbol(i));
  return knowledge;
}

void given(DimKnowledge& knowledge, const DimExpr& lhs, Relation relation, const DimExpr& rhs) {
  REQUIRE(knowledge.assume({lhs, relation, rhs}).has_value());
}

TEST_CASE("an extent is not negative") {
  const DimKnowledge knowledge = extents();
  CHECK(knowledge.rangeOf(n()) == DimRange{0, INT64_MAX});
  CHECK(knowledge.rangeOf(n() * m() + c(2)) == DimRange{2, INT64_MAX});
  CHECK(knowledge.decide(n(), Relation::Ge, c(0)) == Truth::True);
  CHECK(knowledge.decide(n(), Relation::Lt, c(0)) == Truth::False);
  CHECK(knowledge.decide(n(), Relation::Eq, c(-1)) == Truth::False);
  CHECK(knowledge.decide(n(), Relation::Eq, m()) == Truth::Unknown);
  // Numbers of which the difference exceeds 64 bits.
  CHECK(knowledge.decide(c(INT64_MIN), Relation::Ge, c(0)) == Truth::False);
  CHECK(knowledge.decide(n(), Relation::Eq, c(INT64_MIN)) == Truth::False);
  CHECK(knowledge.decide(n(), Relation::Ne, c(INT64_MIN)) == Truth::True);
  CHECK(knowledge.decide(n() + c(1), Relation::Gt, c(INT64_MIN)) == Truth::True);
  CHECK(knowledge.decide(n(), Relation::Le, c(INT64_MIN)) == Truth::False);
  CHECK(knowledge.decide(c(INT64_MIN), Relation::Lt, n()) == Truth::True);
  CHECK(knowledge.decide(c(0) - n(), Relation::Ge, c(INT64_MIN)) == Truth::Unknown);
  CHECK(knowledge.decide(n() + m(), Relation::Ge, m()) == Truth::True);
  CHECK(knowledge.decide(n() * m() + m(), Relation::Ge, m()) == Truth::True);
  CHECK(max(n(), c(0)) != n());
  CHECK(knowledge.canonical(max(n(), c(0))) == n());
  DimKnowledge nothing;
  CHECK(nothing.rangeOf(n()) == DimRange{});
  CHECK(nothing.decide(n(), Relation::Ge, c(0)) == Truth::Unknown);
  CHECK(nothing.decide(n(), Relation::Eq, n()) == Truth::True);
  CHECK(nothing.decide(n(), Relation::Ne, n() + c(1)) == Truth::True);
}

TEST_CASE("ranges follow from constraints") {
  DimKnowledge knowledge = extents();
  given(knowledge, n(), Relation::Le, c(512));
  given(knowledge, c(2) * n(), Relation::Gt, c(5));
  CHECK(knowledge.rangeOf(n()) == DimRange{3, 512});
  given(knowledge, n() + m(), Relation::Le, c(100));
  CHECK(knowledge.rangeOf(m()) == DimRange{0, 97});
  CHECK(knowledge.rangeOf(n()) == DimRange{3, 100});
  given(knowledge, n(), Relation::Ne, c(3));
  CHECK(knowledge.rangeOf(n()) == DimRange{4, 100});
  CHECK(knowledge.rangeOf(floorDiv(n(), c(8))) == DimRange{0, 12});
  CHECK(knowledge.rangeOf(floorMod(n(), c(8))) == DimRange{0, 7});
  CHECK(knowledge.decide(n(), Relation::Ne, c(0)) == Truth::True);
  CHECK(knowledge.canonical(max(n(), c(1))) == n());
}

TEST_CASE("what was assumed is taken back, what was declared stays") {
  DimKnowledge knowledge = extents();
  given(knowledge, n(), Relation::Ge, c(2));
  const DimKnowledge::Mark mark = knowledge.mark();
  given(knowledge, m(), Relation::Eq, n() + c(1));
  given(knowledge, n(), Relation::Le, c(9));
  given(knowledge, n() + k(), Relation::Le, c(20));
  knowledge.declare(DimSymbol(7), {1, 5});
  CHECK(knowledge.canonical(m()) == n() + c(1));
  CHECK(knowledge.rangeOf(k()) == DimRange{0, 18});
  knowledge.rollback(mark);
  CHECK(knowledge.canonical(m()) == m());
  CHECK(knowledge.rangeOf(n()) == DimRange{2, INT64_MAX});
  CHECK(knowledge.rangeOf(k()) == DimRange{0, INT64_MAX});
  CHECK(knowledge.rangeOf(DimExpr::symbol(DimSymbol(7))) == DimRange{1, 5});
  CHECK(knowledge.decide(n() + k(), Relation::Le, c(20)) == Truth::Unknown);
  given(knowledge, m(), Relation::Eq, n());
  CHECK(knowledge.decide(m(), Relation::Ge, c(2)) == Truth::True);
  // A contradiction changes nothing, though parts of it could be taken in.
  CHECK(!knowledge.assume({max(n(), m()), Relation::Lt, c(1)}).has_value());
  CHECK(knowledge.rangeOf(n()) == DimRange{2, INT64_MAX});
}

TEST_CASE("equalities are substituted") {
  DimKnowledge knowledge = extents();
  given(knowledge, m(), Relation::Eq, n());
  CHECK(knowledge.canonical(m() * c(2)) == n() * c(2));
  CHECK(knowledge.decide(m(), Relation::Eq, n()) == Truth::True);
  given(knowledge, n(), Relation::Eq, c(4) * k());
  CHECK(knowledge.decide(floorMod(m(), c(4)), Relation::Eq, c(0)) == Truth::True);
  CHECK(knowledge.canonical(floorDiv(n(), c(4))) == k());
  given(knowledge, k(), Relation::Le, c(1));
  CHECK(knowledge.rangeOf(m()) == DimRange{0, 4});
  CHECK(knowledge.decide(n(), Relation::Eq, c(6)) == Truth::False);
  given(knowledge, m(), Relation::Gt, c(0));
  CHECK(knowledge.canonical(n()) == c(4));
}

TEST_CASE("divisibility is used") {
  DimKnowledge knowledge = extents();
  given(knowledge, floorMod(n(), c(8)), Relation::Eq, c(0));
  CHECK(knowledge.decide(floorMod(n(), c(4)), Relation::Eq, c(0)) == Truth::True);
  CHECK(knowledge.decide(floorMod(n() + c(3), c(4)), Relation::Eq, c(3)) == Truth::True);
  CHECK(knowledge.decide(floorDiv(n(), c(8)) * c(8), Relation::Eq, n()) == Truth::True);
  CHECK(knowledge.canonical(floorDiv(n(), c(8)) * c(8)) == n());
  CHECK(knowledge.decide(c(2) * floorDiv(n(), c(8)), Relation::Eq, floorDiv(n(), c(4))) == Truth::True);
  CHECK(knowledge.decide(n(), Relation::Eq, c(4)) == Truth::False);
  CHECK(knowledge.decide(ceilDiv(n(), c(8)), Relation::Eq, floorDiv(n(), c(8))) == Truth::True);
  given(knowledge, floorMod(n(), c(3)), Relation::Eq, c(1));
  CHECK(knowledge.decide(floorMod(n(), c(24)), Relation::Eq, c(16)) == Truth::True);
  given(knowledge, n(), Relation::Lt, c(40));
  CHECK(knowledge.canonical(n()) == c(16));
}

TEST_CASE("remainder and quotient make up the number") {
  DimKnowledge knowledge = extents();
  CHECK(knowledge.decide(c(8) * floorDiv(n(), c(8)) + floorMod(n(), c(8)), Relation::Eq, n()) == Truth::True);
  CHECK(knowledge.decide(floorDiv(n(), c(2)), Relation::Le, n()) == Truth::True);
  CHECK(knowledge.decide(floorDiv(n(), c(2)) + ceilDiv(n(), c(2)), Relation::Eq, n()) == Truth::Unknown);
  CHECK(knowledge.decide(ceilDiv(n(), c(4)) * c(4), Relation::Ge, n()) == Truth::True);
  CHECK(knowledge.decide(ceilDiv(n(), c(4)) * c(4), Relation::Lt, n() + c(4)) == Truth::True);
}

TEST_CASE("division by an expression is exact where the expression is not zero") {
  DimKnowledge knowledge = extents();
  const DimExpr quotient = floorDiv(n() * m(), m());
  CHECK(knowledge.decide(quotient, Relation::Eq, n()) == Truth::Unknown);
  given(knowledge, m(), Relation::Ge, c(1));
  CHECK(knowledge.canonical(quotient) == n());
  CHECK(knowledge.canonical(floorMod(n() * m(), m())) == c(0));
  CHECK(knowledge.canonical(floorDiv(n() * m() + n() * k(), m() + k())) == n());
  CHECK(knowledge.canonical(floorDiv(n() * m() + k(), m())) == n() + floorDiv(k(), m()));
  given(knowledge, floorMod(k(), m()), Relation::Eq, c(0));
  CHECK(knowledge.decide(floorDiv(k(), m()) * m(), Relation::Eq, k()) == Truth::True);
}

TEST_CASE("inequalities combine") {
  DimKnowledge knowledge = extents();
  given(knowledge, n(), Relation::Le, m());
  given(knowledge, m(), Relation::Lt, k());
  CHECK(knowledge.decide(n(), Relation::Lt, k()) == Truth::True);
  CHECK(knowledge.decide(k(), Relation::Le, n()) == Truth::False);
  CHECK(knowledge.decide(n(), Relation::Eq, k()) == Truth::False);
  CHECK(knowledge.canonical(min(n(), c(7))) == min(n(), c(7)));
  CHECK(knowledge.decide(c(2) * n(), Relation::Le, c(2) * m()) == Truth::True);
  given(knowledge, m(), Relation::Le, n());
  CHECK(knowledge.decide(n(), Relation::Eq, m()) == Truth::True);
}

TEST_CASE("minima and maxima are taken apart") {
  DimKnowledge knowledge = extents();
  CHECK(knowledge.decide(min(n(), m()), Relation::Le, n()) == Truth::True);
  CHECK(knowledge.decide(max(n(), m()), Relation::Ge, m()) == Truth::True);
  CHECK(knowledge.decide(min(n(), m()) + max(n(), m()), Relation::Eq, n() + m()) == Truth::True);
  CHECK(knowledge.decide(min(n(), m()) + min(n(), k()), Relation::Le, c(2) * n()) == Truth::True);
  CHECK(knowledge.decide(n() - min(n(), m()), Relation::Ge, c(0)) == Truth::True);
  given(knowledge, min(n(), m()), Relation::Ge, c(3));
  CHECK(knowledge.rangeOf(m()) == DimRange{3, INT64_MAX});
}

TEST_CASE("a contradiction is an error and changes nothing") {
  DimKnowledge knowledge = extents();
  given(knowledge, n(), Relation::Le, c(10));
  const Result<void> wrong = knowledge.assume({n(), Relation::Gt, c(10)});
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().code() == ErrorCode::ProgramError);
  CHECK(knowledge.rangeOf(n()) == DimRange{0, 10});
  CHECK(!knowledge.assume({n() + m(), Relation::Lt, c(0)}).has_value());
  CHECK(!knowledge.assume({c(2) * n(), Relation::Eq, c(5)}).has_value());
  CHECK(!knowledge.assume({n(), Relation::Ne, n()}).has_value());
  CHECK(!knowledge.assume({c(1), Relation::Eq, c(2)}).has_value());
  given(knowledge, floorMod(m(), c(4)), Relation::Eq, c(1));
  CHECK(!knowledge.assume({floorMod(m(), c(2)), Relation::Eq, c(0)}).has_value());
  CHECK(!knowledge.assume({m(), Relation::Eq, c(2)}).has_value());
  given(knowledge, m(), Relation::Eq, c(5));
}

TEST_CASE("what is too large is unknown") {
  DimKnowledge knowledge = extents();
  const DimExpr huge = c(INT64_MAX) * n() + n();
  CHECK(knowledge.decide(huge, Relation::Ge, c(0)) == Truth::Unknown);
  CHECK(knowledge.decide(huge, Relation::Eq, m()) == Truth::Unknown);
  CHECK(knowledge.assume({huge, Relation::Eq, m()}).has_value());
  CHECK(knowledge.rangeOf(huge) == DimRange{});
  CHECK(knowledge.rangeOf(c(INT64_MAX) * n()) == DimRange{0, INT64_MAX});
  given(knowledge, n(), Relation::Ge, c(INT64_MAX));
  CHECK(knowledge.decide(n(), Relation::Gt, c(INT64_MAX - 1)) == Truth::True);
}

TEST_CASE("long minima and deep operations are decided in bounded time") {
  DimKnowledge knowledge;
  DimExpr least = DimExpr::symbol(DimSymbol(0));
  DimExpr deep = DimExpr::symbol(DimSymbol(0));
  for (uint32_t i = 0; i < 60; ++i) {
    knowledge.addExtent(DimSymbol(i));
    least = min(least, DimExpr::symbol(DimSymbol(i)));
    deep =
        floorDiv(deep * DimExpr::symbol(DimSymbol(i % 7)) + c(1), DimExpr::symbol(DimSymbol(i % 5)) + c(1));
  }
  CHECK(knowledge.decide(least, Relation::Ge, c(0)) == Truth::True);
  CHECK(knowledge.decide(deep, Relation::Ge, c(0)) == Truth::True);
  CHECK(knowledge.decide(deep, Relation::Eq, least) == Truth::Unknown);
}

struct Comparison {
  Tree lhs, rhs;
  Relation relation;

  DimConstraint build() const { return {lhs.build(), relation, rhs.build()}; }
  std::optional<bool> evaluate(const std::vector<int64_t>& values) const {
    const auto a = lhs.evaluate(values);
    const auto b = rhs.evaluate(values);
    if (!a || !b) return std::nullopt;
    return holds(relation, *a, *b);
  }
};

Comparison randomComparison(std::mt19937& random, int depth) {
  Comparison result{randomTree(random, depth), randomTree(random, random() % 2 ? 0 : depth), Relation::Eq};
  result.relation = static_cast<Relation>(random() % 6);
  return result;
}

// Everything that the knowledge says is compared with all small assignments.
TEST_CASE("knowledge never contradicts evaluation") {
  std::mt19937 random(3);
  int decided = 0;
  int contradictions = 0;
  for (int round = 0; round < effort(1000, 100); ++round) {
    DimKnowledge knowledge;
    const int64_t low = random() % 2 ? 0 : -4;
    if (low == 0) knowledge = extents();
    std::vector<Comparison> constraints;
    bool contradiction = false;
    const int count = static_cast<int>(random() % 4);
    for (int i = 0; i < count && !contradiction; ++i) {
      constraints.push_back(randomComparison(random, 1 + static_cast<int>(random() % 2)));
      contradiction = !knowledge.assume(constraints.back().build()).has_value();
    }
    std::vector<std::vector<int64_t>> allowed;
    for (int64_t a = low; a < low + 13; ++a)
      for (int64_t b = low; b < low + 13; ++b)
        for (int64_t d = low; d < low + 13; ++d) {
          const std::vector<int64_t> values{a, b, d};
          bool all = true;
          for (const Comparison& constraint : constraints)
            all = all && constraint.evaluate(values).value_or(false);
          if (all) allowed.push_back(values);
        }
    std::string constraintText;
    for (const Comparison& constraint : constraints)
      constraintText += text(constraint.lhs.build()) + " " + relationName(constraint.relation) + " " +
                        text(constraint.rhs.build()) + "; ";
    INFO(constraintText);
    if (contradiction) {
      ++contradictions;
      REQUIRE(allowed.empty());
      continue;
    }
    for (int question = 0; question < 6; ++question) {
      const Comparison asked = randomComparison(random, 1 + static_cast<int>(random() % 3));
      const DimConstraint built = asked.build();
      INFO(text(built.lhs) << " " << relationName(built.relation) << " " << text(built.rhs));
      const Truth truth = knowledge.decide(built.lhs, built.relation, built.rhs);
      const DimRange range = knowledge.rangeOf(built.lhs);
      const DimExpr canonical = knowledge.canonical(built.lhs);
      INFO(text(canonical));
      if (truth != Truth::Unknown) ++decided;
      for (const std::vector<int64_t>& values : allowed) {
        const auto left = asked.lhs.evaluate(values);
        if (!left) continue;
        if (*left < range.low || *left > range.high || at(canonical, values).value() != *left)
          FAIL(values[0] << " " << values[1] << " " << values[2] << ": " << *left << " in " << range.low
                         << ".." << range.high);
        const auto holdsHere = asked.evaluate(values);
        if (holdsHere && truth != Truth::Unknown && *holdsHere != (truth == Truth::True))
          FAIL(values[0] << " " << values[1] << " " << values[2] << ": decided " << (truth == Truth::True));
      }
    }
  }
  CHECK(decided > effort(1000, 100));
  CHECK(contradictions > effort(30, 3));
}

}  // namespace
}  // namespace baton
