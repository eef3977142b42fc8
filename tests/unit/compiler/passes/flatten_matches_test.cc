#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

const char* kList = "type L { C(int32, L), N }\n";

TEST_CASE("a flat match stays as it is", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L) -> int32 { match (%xs) { C(%x, _) => %x, N => 0 } })");
  const std::string before = program.text("main");
  program.run({"flatten-matches"});
  CHECK(program.text("main") == before);
}

TEST_CASE("nested patterns look at one tag at a time, in the order of the clauses", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L) -> int32 {
  match (%xs) { C(%a, C(%b, _)) => %a + %b, C(%a, N) => %a, N => 0 }
})");
  program.run({"flatten-matches"});
  const ir::Function& main = program.function("main");
  const auto matches = bindingsOf<ir::Match>(main);
  REQUIRE(matches.size() == 2);
  for (const ir::Binding* binding : matches) {
    const auto& match = std::get<ir::Match>(binding->rhs);
    CHECK(match.complete);
    REQUIRE(match.clauses.size() == 2);
    CHECK(main.pattern(match.clauses[0].pattern).constructor.tag == 0);
    CHECK(main.pattern(match.clauses[1].pattern).constructor.tag == 1);
    for (const ir::Clause& clause : match.clauses)
      for (ir::PatternId child : main.pattern(clause.pattern).children)
        CHECK(main.pattern(child).kind != ir::Pattern::Kind::Constructor);
  }
  CHECK(count<ir::CallJoin>(main) == 0);
  CHECK(count<ir::AtomRhs>(main) == 0);
}

TEST_CASE("a clause that several ways lead to is a join", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L, %ys: L) -> int32 {
  match ((%xs, %ys)) { (C(%a, _), C(%b, _)) => %a + %b, _ => 7 * 6 }
})");
  program.run({"flatten-matches"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::Match>(main) == 2);
  REQUIRE(count<ir::Lambda>(main) == 1);
  const auto& join = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  CHECK(join.isJoin);
  CHECK_FALSE(join.isLoop);
  CHECK(join.params.empty());
  CHECK(count<ir::CallJoin>(main) == 2);
  CHECK(occurrences(program.text("main"), "multiply(7, 6)") == 1);
  // The match is the result of the function: its joins stand beside it.
  CHECK(count<ir::NestedBlock>(main) == 0);
}

TEST_CASE("the join of a match in mid-block ends with a block of its own", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L, %ys: L) -> int32 {
  let %v = match ((%xs, %ys)) { (C(%a, _), C(%b, _)) => %a + %b, (_, %r) => match (%r) { C(%c, _) => %c, N => 1 } };
  %v + 1
})");
  program.run({"flatten-matches"});
  const ir::Function& main = program.function("main");
  REQUIRE(count<ir::NestedBlock>(main) == 1);
  const auto& join = std::get<ir::Lambda>(bindingsOf<ir::Lambda>(main)[0]->rhs);
  REQUIRE(join.params.size() == 1);
  CHECK(main.var(join.params[0]).name == "r");
}

TEST_CASE("a match? that no clause covers stays incomplete where it fails", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L) -> int32 { match? (%xs) { C(%a, C(%b, _)) => %b } })");
  program.run({"flatten-matches"});
  const auto matches = bindingsOf<ir::Match>(program.function("main"));
  REQUIRE(matches.size() == 2);
  for (const ir::Binding* binding : matches) {
    const auto& match = std::get<ir::Match>(binding->rhs);
    CHECK_FALSE(match.complete);
    CHECK(match.clauses.size() == 1);
  }
}

TEST_CASE("a match? that covers everything is complete afterwards", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L) -> int32 { match? (%xs) { N => 1, C(_, _) => 2 } })");
  program.run({"flatten-matches"});
  CHECK(std::get<ir::Match>(bindingsOf<ir::Match>(program.function("main"))[0]->rhs).complete);
}

TEST_CASE("patterns that always fit need no match", "[flatten-matches]") {
  Program program(R"(
def @main(%p: (int32, (int32, int32))) -> int32 {
  let %v = match (%p) { (%a, (%b, _)) => %a + %b };
  match (()) { _ => %v }
})");
  program.run({"flatten-matches"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::Match>(main) == 0);
  CHECK(count<ir::Project>(main) == 3);
}

TEST_CASE("a variable clause binds the value itself", "[flatten-matches]") {
  Program program(std::string(kList) + R"(
def @main(%xs: L) -> L { match (%xs) { N => C(1, N), %other => %other } })");
  program.run({"flatten-matches"});
  const ir::Function& main = program.function("main");
  const auto& match = std::get<ir::Match>(bindingsOf<ir::Match>(main)[0]->rhs);
  REQUIRE(match.clauses.size() == 2);
  CHECK(main.pattern(match.clauses[1].pattern).kind == ir::Pattern::Kind::Wildcard);
  CHECK(main.block(match.clauses[1].block).result == ir::Atom(main.params[0]));
}

TEST_CASE("deep patterns and many clauses take no recursion and no explosion", "[flatten-matches]") {
  std::string pattern = "_";
  for (int i = 0; i < 400; ++i) pattern = "C(_, " + pattern + ")";
  std::string text =
      std::string(kList) + "def @main(%xs: L) -> int32 { match (%xs) { " + pattern + " => 1, _ => 0 } }";
  Program program(text);
  program.run({"flatten-matches"});
  const ir::Function& main = program.function("main");
  CHECK(count<ir::Match>(main) == 400);
  // The shared clause is a constant, which costs a join no less than a jump.
  CHECK(count<ir::Lambda>(main) == 1);
}

}  // namespace
}  // namespace baton::passes
