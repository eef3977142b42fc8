#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

const std::vector<std::vector<std::string>> kWholeNumbers = {{"i32=0"}, {"i32=1"}, {"i32=5"}, {"i32=-3"}};
const char* const kOptionType = "type O { S(int32), T(int32, int32), N }\n";

Program checkOpened(const std::string& text,
                    const std::vector<std::vector<std::string>>& runs = kWholeNumbers) {
  return checkSame(text,
                   {"flatten-matches", "contify", "lift-lambdas", "make-loops", "propagate", "case-of-case",
                    "repeat(unbox, propagate, dead-code)"},
                   runs);
}

/// What the pass itself makes of @main, or fails to.
Program checkAlone(const std::string& text,
                   const std::vector<std::vector<std::string>>& runs = kWholeNumbers) {
  return checkSame(
      text, {"flatten-matches", "contify", "lift-lambdas", "make-loops", "propagate", "case-of-case"}, runs);
}

size_t joinsOf(const ir::Function& function) {
  size_t result = 0;
  for (const ir::Binding* binding : bindingsOf<ir::Lambda>(function))
    result += std::get<ir::Lambda>(binding->rhs).isJoin ? 1 : 0;
  return result;
}

TEST_CASE("tuples that are made in branches and taken apart after them", "[case-of-case]") {
  const Program program = checkOpened(R"(
def @main(%n: int32) -> int32 {
  let %t = if (%n < 2) { (%n, 3) } else { if (%n == 5) { (7, %n) } else { (%n, %n) } };
  let %u = if (%t.0 > 3) { (%t.1, (%t.0, 2)) } else { (%t.0, (1, %n)) };
  %u.0 - %u.1.1 * %t.1
})");
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
  CHECK(count<ir::Project>(program.function("main")) == 0);
}

TEST_CASE("the state of a loop that leaves it as a whole", "[case-of-case]") {
  const Program program = checkOpened(R"(
def @main(%n: int32) -> int32 {
  let %loop = fn (%i: int32, %s: (int32, int32)) -> (int32, int32) {
    if (%i < %n) { %loop(%i + 1, (%s.0 + %i, %s.1 * 3)) } else { %s }
  };
  let %r = %loop(0, (0, 1));
  %r.0 + %r.1
})");
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
  CHECK(count<ir::NestedBlock>(program.function("main")) == 0);
}

TEST_CASE("a loop inside of a loop, each with a tuple as state", "[case-of-case]") {
  const Program program = checkOpened(R"(
def @main(%n: int32) -> int32 {
  let %outer = fn (%i: int32, %s: (int32, int32)) -> (int32, int32) {
    if (%i < %n) {
      let %inner = fn (%k: int32, %t: (int32, int32)) -> (int32, int32) {
        if (%k < %i) { %inner(%k + 1, (%t.1, %t.0 + %k)) } else { %t }
      };
      let %r = %inner(0, %s);
      %outer(%i + 1, (%r.1 + 1, %r.0))
    } else { %s }
  };
  let %r = %outer(0, (0, 1));
  %r.0 * 100 + %r.1
})");
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
}

TEST_CASE("the match after a branch is decided where the branch makes its value", "[case-of-case]") {
  const Program program = checkOpened(std::string(kOptionType) + R"(
def @main(%n: int32) -> int32 {
  let %o = if (%n < 2) { if (%n == 1) { S(%n) } else { N } } else { T(%n, 4) };
  let %k = %n * %n;
  let %m = match (%o) { S(%a) => %a + %k, T(%a, _) => %a * 3 + %k, N => -1 };
  %m * 2 + %k
})");
  CHECK(count<ir::Match>(program.function("main")) == 0);
  CHECK(count<ir::Construct>(program.function("main")) == 0);
}

TEST_CASE("matches one after the other", "[case-of-case]") {
  const Program program = checkOpened(std::string(kOptionType) + R"(
def @main(%n: int32) -> int32 {
  let %o = if (%n < 2) { S(%n) } else { N };
  let %p = match (%o) { S(%a) => if (%a > 0) { T(%a, %n) } else { N }, _ => S(4) };
  match (%p) { S(%a) => %a, T(%a, %b) => %a - %b * 5, N => -7 }
})");
  CHECK(count<ir::Match>(program.function("main")) == 0);
  CHECK(count<ir::Construct>(program.function("main")) == 0);
}

TEST_CASE("data that a loop ends with", "[case-of-case]") {
  const Program program = checkOpened(std::string(kOptionType) + R"(
def @main(%n: int32) -> int32 {
  let %find = fn (%i: int32) -> O {
    if (%i >= %n) { N } else { if (%i * %i > 7) { S(%i) } else { %find(%i + 1) } }
  };
  match (%find(0)) { S(%a) => %a + 100, T(%a, %b) => %a * %b, N => -1 }
})");
  CHECK(count<ir::Match>(program.function("main")) == 0);
  CHECK(count<ir::Construct>(program.function("main")) == 0);
}

TEST_CASE("ends that do not know their constructor share one match", "[case-of-case]") {
  const Program program =
      checkAlone(std::string(kOptionType) + R"(
def @main(%o: O, %n: int32) -> int32 {
  let %p = if (%n < 2) { %o } else { if (%n == 5) { S(%n) } else { %o } };
  match (%p) { S(%a) => %a + %n, T(%a, _) => %a, N => -1 }
})",
                 {{"S(i32=3)", "i32=0"}, {"N", "i32=5"}, {"T(i32=4, i32=2)", "i32=6"}, {"N", "i32=1"}});
  CHECK(count<ir::Match>(program.function("main")) == 1);
  CHECK(joinsOf(program.function("main")) == 4);  // a clause each, and the match
}

TEST_CASE("a match that has no clause for what is made fails where it did", "[case-of-case]") {
  const Program program = checkAlone(std::string(kOptionType) + R"(
def @main(%n: int32) -> int32 {
  let %p = if (%n < 2) { N } else { S(%n) };
  match? (%p) { S(%a) => %a + %n, T(%a, _) => %a }
})");
  CHECK(count<ir::Match>(program.function("main")) == 1);
}

TEST_CASE("data of one constructor that is looked at in several places", "[case-of-case]") {
  const Program program = checkOpened(R"(
type P { P(int32, int32) }
def @main(%n: int32) -> int32 {
  let %p = if (%n < 2) { P(%n, 1) } else { P(2, %n) };
  let %a = if (%n == 5) { match (%p) { P(%a, _) => %a } } else { 0 };
  match (%p) { P(_, %b) => %b + %a }
})");
  CHECK(count<ir::Match>(program.function("main")) == 0);
  CHECK(count<ir::Construct>(program.function("main")) == 0);
}

TEST_CASE("extents of what is made keep their names, or get their values where it arrives",
          "[case-of-case]") {
  const Program program = checkOpened(R"(
type O { S(Tensor[(?,), float32]), N }
def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32], %b: bool) -> Tensor[(?,), float32] {
  let %t = if (%b) { (%x + 1f, %y) } else { (concatenate((%x, %y), axis=0), %y * 2f) };
  let %z = %t.0 * 2f;
  let %o = if (sum(%z) > 3f) { S(concatenate((%z, %t.1), axis=0)) } else { if (%b) { N } else { S(%x) } };
  match (%o) { S(%v) => concatenate((%v, %v, %t.0), axis=0), N => %z }
})",
                                      {{"2xf32=1 2", "1xf32=4", "bool=true"},
                                       {"2xf32=1 2", "1xf32=4", "bool=false"},
                                       {"0xf32=", "1xf32=4", "bool=true"},
                                       {"1xf32=-5", "0xf32=", "bool=false"}});
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
  CHECK(count<ir::Match>(program.function("main")) == 0);
}

TEST_CASE("values that are needed as a whole stay", "[case-of-case]") {
  // Returned, stored, passed to a function, put into another value, held by a cell.
  for (const char* text : {
           R"(
def @main(%n: int32) -> (int32, (int32, int32)) {
  let %t = if (%n < 2) { (%n, 3) } else { (7, %n) };
  (%t.0, %t)
})",
           R"(
def @main(%n: int32) -> int32 {
  let %t = if (%n < 2) { (%n, 3) } else { (7, %n) };
  let %f = fn (%k: int32) -> (int32, int32) { if (%k > 3) { %t } else { (%k, %k) } };
  let %g = if (%n < 1) { %f } else { fn (%k: int32) -> (int32, int32) { (%k, 1) } };
  %g(%n).1 + %t.0
})",
           R"(
def @f(%t: (int32, int32), %n: int32) -> int32 { if (%n <= 0) { %t.0 } else { @f(%t, %n - 1) + %t.1 } }
def @main(%n: int32) -> int32 {
  let %t = if (%n < 2) { (%n, 3) } else { (7, %n) };
  @f(%t, %n) + %t.0
})",
           R"(
def @main(%n: int32) -> int32 {
  let %t = if (%n < 2) { (%n, 3) } else { (7, %n) };
  let %r = ref(%t);
  ref_write(%r, (%n, %n));
  ref_read(%r).0 + %t.1
})"}) {
    const Program program = checkAlone(text);
    CHECK(joinsOf(program.function("main")) == 0);
  }
}

TEST_CASE("values that are given and not made stay", "[case-of-case]") {
  const std::vector<std::vector<std::string>> runs = {{"(i32=1, i32=2)", "(i32=3, i32=4)", "bool=true"},
                                                      {"(i32=1, i32=2)", "(i32=3, i32=4)", "bool=false"}};
  const Program program = checkAlone(R"(
def @main(%a: (int32, int32), %b: (int32, int32), %c: bool) -> int32 {
  let %t = if (%c) { %a } else { %b };
  %t.0 + %t.1
})",
                                     runs);
  CHECK(joinsOf(program.function("main")) == 0);
}

TEST_CASE("what has to come between a branch and its match keeps the data", "[case-of-case]") {
  // A write, a read, what can fail, and what may not end.
  for (const char* between : {"ref_write(%r, %n); let %k = 1;", "let %k = ref_read(%r);", "let %k = 12 / %n;",
                              "let %k = @count(%n);"}) {
    const Program program = checkAlone(std::string(kOptionType) + R"(
def @count(%n: int32) -> int32 { if (%n <= 0) { 0 } else { @count(%n - 2) + 1 } }
def @main(%n: int32) -> int32 {
  let %r = ref(2);
  let %o = if (%n < 2) { ref_write(%r, 3); S(10 / (%n + 3)) } else { N };
  )" + between + R"(
  let %m = match (%o) { S(%a) => %a + %k, T(%a, _) => %a, N => %k };
  %m + ref_read(%r)
})");
    CHECK(joinsOf(program.function("main")) == 0);
    CHECK(count<ir::Construct>(program.function("main")) == 2);
  }
}

TEST_CASE("data of several constructors that two matches look at stays", "[case-of-case]") {
  const Program program = checkAlone(std::string(kOptionType) + R"(
def @main(%n: int32) -> int32 {
  let %o = if (%n < 2) { S(%n) } else { N };
  let %a = match (%o) { S(%x) => %x, _ => 4 };
  match (%o) { N => %a, _ => 2 - %a }
})");
  CHECK(joinsOf(program.function("main")) == 0);
}

TEST_CASE("an extent that only the rest of the block binds is not named in its result", "[case-of-case]") {
  const Program program = checkAlone(R"(
def @main(%x: Tensor[(n,), float32], %b: bool) -> Array[Tensor[(?,), float32]] {
  let %t = if (%b) { (%x, 2f) } else { (concatenate((%x, %x), axis=0), 3f) };
  array_push(array_new(), %t.0 * %t.1)
})",
                                     {{"2xf32=1 2", "bool=true"}, {"2xf32=1 2", "bool=false"}});
  CHECK(joinsOf(program.function("main")) == 0);
}

}  // namespace
}  // namespace baton::passes
