#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

const std::vector<std::vector<std::string>> kNumbers = {{"i32=0"}, {"i32=1"}, {"i32=5"}, {"i32=-3"}};

TEST_CASE("tuples as parameters of functions become several parameters", "[unbox]") {
  const Program program = checkSame(R"(
def @f(%p: (int32, (int32, int32)), %n: int32) -> int32 {
  if (%n <= 0) { %p.0 + %p.1.1 } else { @f((%p.1.0, (%p.1.1, %p.0)), %n - 1) * 2 }
}
def @main(%n: int32) { @f((%n, (3, %n * 5)), %n) })",
                                    {"repeat(unbox, propagate, dead-code)"}, kNumbers);
  CHECK(program.function("f").params.size() == 4);
  CHECK(count<ir::MakeTuple>(program.function("f")) == 0);
  CHECK(count<ir::Project>(program.function("f")) == 0);
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
}

TEST_CASE("tuples that go round in a loop", "[unbox]") {
  const Program program = checkSame(R"(
def @main(%n: int32) {
  let %loop = fn (%i: int32, %s: (int32, (int32, float32))) -> float32 {
    if (%i < %n) { %loop(%i + 1, (%s.1.0, (%s.0 + %i, %s.1.1 * 2f))) } else { %s.1.1 + cast(%s.1.0, dtype="float32") }
  };
  %loop(0, (1, (2, 0.5f)))
})",
                                    {"contify", "repeat(unbox, propagate, dead-code)"}, kNumbers);
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
  CHECK(count<ir::Project>(program.function("main")) == 0);
}

TEST_CASE("a tuple that arrives as a whole is taken apart before the call", "[unbox]") {
  const Program program = checkSame(R"(
type Box { Full((int32, int32)), Empty }
def @f(%p: (int32, int32), %n: int32) -> int32 { if (%n <= 0) { %p.0 } else { @f(%p, %n - 1) + %p.1 } }
def @g(%b: Box, %n: int32) -> int32 { match (%b) { Full(%p) => @f(%p, %n), Empty => 0 } }
def @main(%n: int32) { @g(Full((%n, 7)), %n) + @g(Empty, %n) })",
                                    {"flatten-matches", "repeat(unbox, propagate, dead-code)"}, kNumbers);
  CHECK(program.function("f").params.size() == 3);
  CHECK(count<ir::Project>(program.function("g")) == 2);
}

TEST_CASE("data of one constructor", "[unbox]") {
  const Program program = checkSame(R"(
type Option { Some(int32, int32), None }
def @f(%o: Option, %n: int32) -> int32 {
  match (%o) { Some(%a, %b) => if (%n <= 0) { %a } else { @f(Some(%b, %a + 1), %n - 1) + 1 }, None => -1 }
}
def @main(%n: int32) { @f(Some(%n, 2), %n) })",
                                    {"flatten-matches", "repeat(unbox, propagate, dead-code)"}, kNumbers);
  CHECK(program.function("f").params.size() == 3);
  CHECK(count<ir::Match>(program.function("f")) == 0);
  CHECK(count<ir::Construct>(program.function("f")) == 0);
}

TEST_CASE("parameters that are needed as a whole stay", "[unbox]") {
  // Stored, returned, given to a function that is exported or a value, or of more than one constructor.
  for (const char* text : {
           R"(
type Box { Full((int32, int32)) }
def @f(%p: (int32, int32), %n: int32) -> Box { if (%n <= 0) { Full(%p) } else { @f(%p, %n - 1) } }
def @main(%n: int32) { @f((%n, 1), %n) })",
           R"(
def @f(%p: (int32, int32), %n: int32) -> (int32, int32) { if (%n <= 0) { %p } else { @f((%p.1, %n), %n - 1) } }
def @main(%n: int32) { @f((%n, 1), %n) })",
           R"(
def @apply(%g: fn((int32, int32), int32) -> int32, %n: int32) -> int32 { %g((1, 2), %n) }
def @f(%p: (int32, int32), %n: int32) -> int32 { if (%n <= 0) { %p.0 } else { @f((%p.1, %n), %n - 1) } }
def @main(%n: int32) { @apply(@f, %n) })",
           R"(
type Option { Some(int32), None }
def @f(%p: Option, %n: int32) -> int32 {
  match (%p) { Some(%a) => if (%n <= 0) { %a } else { @f(None, %n - 1) }, None => @f(Some(%n), %n - 1) }
}
def @main(%n: int32) { @f(Some(%n), %n) })"}) {
    const Program program = checkSame(text, {"flatten-matches", "unbox"}, kNumbers);
    CHECK(program.function("f").params.size() == 2);
  }
}

TEST_CASE("extents in opened tuples keep their names", "[unbox]") {
  const Program program =
      checkSame(R"(
def @f(%p: (Tensor[(n, 2), float32], Tensor[(n,), float32]), %k: int32) -> Tensor[(n,), float32] {
  if (%k <= 0) { sum(%p.0, axis=[1]) + %p.1 } else { @f((%p.0 * 2f, %p.1), %k - 1) }
}
def @main(%x: Tensor[(m, 2), float32]) { @f((%x, zeros(shape=[m], dtype="float32")), 2) })",
                {"repeat(unbox, propagate, dead-code)"}, {{"2x2xf32=1 2 3 4"}, {"0x2xf32="}});
  CHECK(program.function("f").params.size() == 3);
}

TEST_CASE("data that a branch makes and a match takes apart", "[case-of-case]") {
  const Program program = checkSame(R"(
type Option { Some(int32), None }
def @main(%n: int32) {
  let %o = if (%n > 1) { Some(%n) } else { if (%n == 0) { None } else { Some(7) } };
  let %r = match (%o) { Some(%a) => %a * 2, None => 1 };
  %r + %n
})",
                                    {"flatten-matches", "case-of-case", "propagate", "dead-code"}, kNumbers);
  CHECK(count<ir::Match>(program.function("main")) == 0);
  CHECK(count<ir::Construct>(program.function("main")) == 0);
  // What comes after the match is there once.
  CHECK(occurrences(program.text("main"), "multiply(") == 1);
  CHECK(occurrences(program.text("main"), "add(") == 1);
}

TEST_CASE("a way whose constructor is not known looks at it", "[case-of-case]") {
  const Program program = checkSame(R"(
type Option { Some(int32), None }
def @make(%n: int32) -> Option { if (%n == 1) { None } else { @make(1) } }
def @main(%n: int32) {
  let %o = if (%n > 1) { Some(%n) } else { @make(%n) };
  match (%o) { Some(%a) => %a * 2, None => 1 }
})",
                                    {"flatten-matches", "case-of-case", "propagate", "dead-code"}, kNumbers);
  CHECK(count<ir::Match>(program.function("main")) == 1);
  CHECK(count<ir::Construct>(program.function("main")) == 0);
}

TEST_CASE("a tuple that goes round in a loop and is taken apart after it", "[case-of-case]") {
  const Program program = checkSame(
      R"(
def @main(%n: int32) {
  let %loop = fn (%i: int32, %s: (int32, int32)) -> (int32, int32) {
    if (%i < %n) { %loop(%i + 1, (%s.0 + %i, %s.1 * 3)) } else { %s }
  };
  let %r = %loop(0, (0, 1));
  %r.0 + %r.1
})",
      {"flatten-matches", "contify", "case-of-case", "unbox", "propagate", "dead-code", "unbox", "propagate",
       "dead-code"},
      kNumbers);
  CHECK(count<ir::MakeTuple>(program.function("main")) == 0);
  CHECK(count<ir::Project>(program.function("main")) == 0);
}

TEST_CASE("branches that stay as they are", "[case-of-case]") {
  for (const char* rest : {
           // As a whole, too; by no way; with something in between that may fail, or writes.
           "let %o = if (%c) { Some(%n) } else { None }; (%o, match (%o) { Some(%a) => %a, None => 0 })",
           "let %o = if (%c) { @make(%n) } else { @make(3) }; match (%o) { Some(%a) => %a, None => 0 }",
           "let %o = if (%c) { Some(%n) } else { None }; let %q = 10 / %n; match (%o) { Some(%a) => %a + %q, "
           "None => %q }",
           "let %o = if (%c) { Some(%n) } else { None }; ref_write(%r, 3); match (%o) { Some(%a) => %a, None "
           "=> ref_read(%r) }",
       }) {
    const Program program = checkSame(std::string(R"(
type Option { Some(int32), None }
def @make(%n: int32) -> Option { if (%n == 1) { None } else { @make(1) } }
def @main(%n: int32) { let %r = ref(%n); let %c = %n > 1; )") +
                                          rest + " }",
                                      {"flatten-matches", "case-of-case"}, kNumbers);
    INFO(rest);
    CHECK(count<ir::CallJoin>(program.function("main")) == 0);
  }
}

}  // namespace
}  // namespace baton::passes
