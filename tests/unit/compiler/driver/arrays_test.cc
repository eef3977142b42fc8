// Arrays in loops are changed in place, at every level: their memory is asked for a few times,
// not once per change.
#include <catch2/catch.hpp>

#include "tests/unit/compiler/driver/harness.h"

namespace baton::driver::test {
namespace {

constexpr uint64_t kFew = 60;  // doublings up to a hundred thousand elements, and pages

void checkInPlace(std::string_view text, const std::string& expected) {
  for (const int level : {0, 3}) {
    CompileOptions options;
    options.level = level;
    INFO("-O" << level << "\n" << text);
    const CompileOutput program = compiled(text, options);
    CHECK(run(program, "main", {"i32=100000"}) == expected);
    CHECK(allocationsOf(program, "main", {"i32=100000"}) < kFew);
  }
}

TEST_CASE("a hundred thousand pushes in a recursive function", "[arrays]") {
  checkInPlace(R"(
def @grow(%a: Array[int32], %n: int32) -> Array[int32] {
  if (array_length(%a) == %n) { %a } else { @grow(array_push(%a, array_length(%a)), %n) }
}
def @main(%n: int32) -> (int32, int32) {
  let %a = @grow(array_new(), %n);
  (array_length(%a), array_get(%a, %n - 1))
}
)",
               "(i32=100000, i32=99999)");
}

TEST_CASE("a hundred thousand elements set in a local loop", "[arrays]") {
  checkInPlace(R"(
import "prelude"
def @main(%n: int32) -> int32 {
  let %loop = fn (%i: int32, %a: Array[int32]) -> Array[int32] {
    if (%i < %n) { %loop(%i + 1, array_set(%a, %n - 1 - %i, %i)) } else { %a }
  };
  array_get(%loop(0, @array_full(%n, 0)), 0)
}
)",
               "i32=99999");
}

TEST_CASE("functions of the prelude build arrays in place", "[arrays]") {
  checkInPlace(R"(
import "prelude"
def @main(%n: int32) -> (int32, int32) {
  let %a = @array_build(%n, fn (%i: int32) -> int32 { %i * 2 });
  let %b = @array_map(fn (%x: int32) -> int32 { %x + 1 }, %a);
  (@array_foldl(fn (%m: int32, %x: int32) -> int32 { maximum(%m, %x) }, 0, @array_append(%a, %b)), array_length(%b))
}
)",
               "(i32=199999, i32=100000)");
}

TEST_CASE("arrays in a tuple that a loop passes on are its own", "[arrays]") {
  checkInPlace(R"(
def @step(%state: (Array[int32], Array[int64]), %i: int32, %n: int32) -> (Array[int32], Array[int64]) {
  if (%i == %n) {
    %state
  } else {
    @step((array_push(%state.0, %i), array_push(%state.1, cast(%i, dtype="int64"))), %i + 1, %n)
  }
}
def @main(%n: int32) -> int64 {
  let %state = @step((array_new(), array_new()), 0, %n);
  array_get(%state.1, array_length(%state.0) - 1)
}
)",
               "i64=99999");
}

TEST_CASE("what is still used is copied, whole programs", "[arrays]") {
  checkProgram(
      R"(
def @add(%a: Array[int64], %x: int64) -> Array[int64] { array_push(%a, %x) }
def @main(%a: Array[int64], %x: int64) {
  let %b = @add(%a, %x);
  let %c = @add(%a, %x + 1i64);
  let %d = array_set(%b, 0, 100i64);
  let %f = fn (%i: int32) -> int64 { array_get(%b, %i) + array_get(%d, %i) };
  (%a, %b, %c, %d, %f(0))
}
)",
      {"[i64=1, i64=2]", "i64=7"},
      "([i64=1, i64=2], [i64=1, i64=2, i64=7], [i64=1, i64=2, i64=8], [i64=100, i64=2, i64=7], i64=101)");
}

}  // namespace
}  // namespace baton::driver::test
