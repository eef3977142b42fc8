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

}  // namespace
}  // namespace baton::passes
