// Whole programs: compiled at every level, loaded from bytes and run.
#include <catch2/catch.hpp>

#include "tests/effort.h"
#include "tests/unit/compiler/driver/harness.h"

namespace baton::driver::test {
namespace {

TEST_CASE("a recursive function over a tree of tensors of any length") {
  const char* text = R"(
type Tree { Leaf(Tensor[(?, 2), float32]), Node(Tree, Tree) }
def @sum(%t: Tree) -> Tensor[(?, 2), float32] {
  match (%t) {
    Leaf(%x) => nn.relu(%x),
    Node(%l, %r) => concatenate((@sum(%l), @sum(%r)), axis=0) + ones(shape=[1, 2])
  }
}
def @main(%t: Tree) -> Tensor[(?, 2), float32] { @sum(%t) }
)";
  checkProgram(text, {"Leaf(1x2xf32=-1 2)"}, "1x2xf32=0 2");
  checkProgram(text, {"Node(Leaf(1x2xf32=-1 2), Node(Leaf(0x2xf32=), Leaf(2x2xf32=3 4 5 -6)))"},
               "3x2xf32=1 3 5 6 7 2");
}

TEST_CASE("loops and recursion over scalars") {
  const char* text = R"(
def @fib(%n: int64) -> int64 { if (%n < 2i64) { %n } else { @fib(%n - 1i64) + @fib(%n - 2i64) } }
def @main(%n: int64) -> (int64, int64) {
  let %loop = fn (%i: int64, %acc: int64) -> int64 {
    if (%i < %n) { %loop(%i + 1i64, %acc + %i) } else { %acc }
  };
  (%loop(0i64, 0i64) * 2i64, @fib(%n))
}
)";
  checkProgram(text, {"i64=10"}, "(i64=90, i64=55)");
  checkProgram(text, {"i64=0"}, "(i64=0, i64=0)");
}

TEST_CASE("branches give what they join into fresh registers") {
  const char* text = R"(
def @main(%b: bool) {
  let %p = (0i64,);
  let %q = (1i64,);
  let %r = if (%b) { %p } else { %q };
  let %s = if (%b) { %q } else { %p };
  (%r, %s)
}
)";
  checkProgram(text, {"bool=true"}, "((i64=0,), (i64=1,))");
  checkProgram(text, {"bool=false"}, "((i64=1,), (i64=0,))");
}

TEST_CASE("closures capture scalars, tensors, tuples, extents and themselves") {
  const char* text = R"(
def @adder(%y: float32) { fn (%x: float32) -> float32 { %x + %y } }
def @apply(%f: fn (Tensor[(?,), float32]) -> Tensor[(?,), float32], %x: Tensor[(?,), float32]) { %f(%x) }
def @main(%a: float32, %n: int64, %v: Tensor[(m,), float32]) {
  let %f = @adder(%a);
  let %pair = (%a, %v);
  let %g = fn (%k: int64) -> float32 { if (%k == 0i64) { 0f } else { %f(%g(%k - 1i64)) } };
  let %h = fn (%x: Tensor[(?,), float32]) -> Tensor[(?,), float32] { %x + %pair.1 * %pair.0 };
  (%g(%n), @apply(%h, %v), @apply(fn (%x) { reshape(%x, newshape=[-1]) }, %v))
}
)";
  checkProgram(text, {"f32=1.5", "i64=4", "2xf32=1 2"}, "(f32=6, 2xf32=2.5 5, 2xf32=1 2)");
}

TEST_CASE("refs hold tuples, refs and functions") {
  checkProgram(R"(
def @main(%n: int64) -> (int64, float32) {
  let %r = ref((0i64, 1f));
  let %s = ref(%r);
  let %f = ref(fn (%x: float32) -> float32 { %x * 2f });
  let %loop = fn (%i: int64) -> () {
    if (%i < %n) {
      let %t = ref_read(ref_read(%s));
      let %g = ref_read(%f);
      let %u = ref_write(%r, (%t.0 + %i, %g(%t.1)));
      %loop(%i + 1i64)
    } else { () }
  };
  let %d = %loop(0i64);
  ref_read(%r)
}
)",
               {"i64=4"}, "(i64=6, f32=16)");
}

TEST_CASE("nested tuples, unit values and tuples in data") {
  const char* text = R"(
type Box { Box((int64, (float32, int64)), ()) }
def @swap(%p: (int64, (float32, int64))) -> ((float32, int64), int64) { (%p.1, %p.0) }
def @main(%b: bool, %p: (int64, (float32, int64)), %q: (int64, (float32, int64))) {
  let %r = if (%b) { %p } else { %q };
  let %box = Box(%r, ());
  match (%box) { Box(%t, %u) => (%t, @swap(%t).0, %u) }
}
)";
  checkProgram(text, {"bool=true", "(i64=1, (f32=2, i64=3))", "(i64=4, (f32=5, i64=6))"},
               "((i64=1, (f32=2, i64=3)), (f32=2, i64=3), ())");
}

TEST_CASE("an incomplete match that nothing covers is a program error") {
  const char* text = R"(
type List { Cons(int64, List), Nil }
def @main(%l: List) -> int64 { match? (%l) { Cons(%a, Cons(%b, _)) => %a + %b, Cons(%a, Nil) => %a } }
)";
  checkProgram(text, {"Cons(i64=3, Nil)"}, "i64=3");
  checkProgram(text, {"Cons(i64=3, Cons(i64=4, Cons(i64=9, Nil)))"}, "i64=7");
  const CompileOutput program = compiled(text);
  CHECK(run(program, "main", {"Nil"}) == "error: match: no clause for Nil");
}

TEST_CASE("mutual recursion, tail calls to any depth") {
  checkProgram(R"(
def @even(%n: int64) -> bool { if (%n == 0i64) { True } else { @odd(%n - 1i64) } }
def @odd(%n: int64) -> bool { if (%n == 0i64) { False } else { @even(%n - 1i64) } }
def @main(%n: int64) -> bool { @even(%n) }
)",
               {"i64=1000001"}, "bool=false");
}

TEST_CASE("shape arithmetic needs no tensors, and gives them when they are asked for") {
  checkProgram(R"(
def @main(%x: Tensor[(n, m), float32], %i: int64) {
  let %s = shape_of(%x, dtype="int64");
  let %k = take(%s, 0);
  (%k * 2i64, reshape(%x, newshape=[-1]), reshape(%x, concatenate((stack((take(%s, 1),)), stack((%k,))))),
   take(%x, %i, axis=0), %s)
}
)",
               {"2x3xf32=1 2 3 4 5 6", "i64=1"},
               "(i64=4, 6xf32=1 2 3 4 5 6, 3x2xf32=1 2 3 4 5 6, 3xf32=4 5 6, 2xi64=2 3)");
}

TEST_CASE("scalar operators agree with their kernels") {
  // The same formulas on scalars and on tensors of one element.
  const char* text = R"(
def @main(%a: float32, %b: float32, %x: Tensor[(1,), float32], %y: Tensor[(1,), float32]) {
  (%a + %b, %x + %y, floor_divide(%a, %b), floor_divide(%x, %y), floor_mod(%a, %b), floor_mod(%x, %y),
   mod(%a, %b), mod(%x, %y), maximum(%a, %b), maximum(%x, %y), sign(%a), sign(%x), rsqrt(%b), rsqrt(%y),
   clip(%a, a_min=-1f, a_max=2f), clip(%x, a_min=-1f, a_max=2f), isfinite(%a), isfinite(%x))
}
)";
  const CompileOutput program = compiled(text);
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{{"-7.5", "2"},
                                                                             {"0", "-0"},
                                                                             {"nan", "1"},
                                                                             {"inf", "3"},
                                                                             {"1e-40", "-3"},
                                                                             {"-0", "0"},
                                                                             {"5", "-inf"}}) {
    const std::string result = run(program, "main", {"f32=" + a, "f32=" + b, "1xf32=" + a, "1xf32=" + b});
    INFO(a << " " << b << ": " << result);
    // "(f32=v, 1xf32=v, ...)": neighbours agree.
    std::vector<std::string> values;
    for (size_t at = result.find('='); at != std::string::npos; at = result.find('=', at + 1))
      values.push_back(result.substr(at + 1, result.find_first_of(",)", at) - at - 1));
    REQUIRE(values.size() == 18);
    for (size_t i = 0; i < values.size(); i += 2) CHECK(values[i] == values[i + 1]);
  }
}

TEST_CASE("indices of take: clipped, wrapped, counted from the end") {
  const char* text = R"(
def @main(%x: Tensor[(n, 2), int64], %i: int32) {
  (take(%x, %i, axis=0), take(%x, %i, axis=0, mode="wrap"), take(reshape(%x, newshape=[-1]), %i))
}
)";
  checkProgram(text, {"2x2xi64=1 2 3 4", "i32=1"}, "(2xi64=3 4, 2xi64=3 4, i64=2)");
  checkProgram(text, {"2x2xi64=1 2 3 4", "i32=-1"}, "(2xi64=1 2, 2xi64=3 4, i64=1)");
  checkProgram(text, {"2x2xi64=1 2 3 4", "i32=7"}, "(2xi64=3 4, 2xi64=3 4, i64=4)");
  const char* fast =
      R"(def @main(%x: Tensor[(n, 2), int64], %i: int32) { take(%x, %i, axis=0, mode="fast") })";
  checkProgram(fast, {"2x2xi64=1 2 3 4", "i32=-1"}, "2xi64=3 4");
  CHECK(run(compiled(fast), "main", {"2x2xi64=1 2 3 4", "i32=2"}).substr(0, 7) == "error: ");
}

TEST_CASE("in-place kernels never change what is still needed") {
  checkProgram(R"(
def @main(%x: Tensor[(n,), float32]) {
  let %a = %x + 1f;
  let %b = reshape(%a, newshape=[-1, 1]);
  let %c = %a * 2f;
  let %d = %c + %c;
  (%b, %c, %d + %a, %x)
}
)",
               {"2xf32=1 2"}, "(2x1xf32=2 3, 2xf32=4 6, 2xf32=10 15, 2xf32=1 2)");
}

TEST_CASE("extents 0 and 1") {
  const char* text = R"(
def @main(%x: Tensor[(n, m), float32]) { (sum(%x, axis=[0]), %x + %x, reshape(%x, newshape=[-1]), max(%x, axis=[1])) }
)";
  checkProgram(text, {"0x2xf32="}, "(2xf32=0 0, 0x2xf32=, 0xf32=, 0xf32=)");
  checkProgram(text, {"1x1xf32=3"}, "(1xf32=3, 1x1xf32=6, 1xf32=3, 1xf32=3)");
}

TEST_CASE("extents that do not fit are a program error that shows them") {
  const char* text = "def @main(%a: Tensor[(?,), float32], %b: Tensor[(3, 2), float32]) { %a + %b }";
  checkProgram(text, {"1xf32=1", "3x2xf32=1 2 3 4 5 6"}, "3x2xf32=2 3 4 5 6 7");
  checkProgram(text, {"2xf32=1 2", "3x2xf32=1 2 3 4 5 6"}, "3x2xf32=2 4 4 6 6 8");
  const std::string message = run(compiled(text), "main", {"3xf32=1 2 3", "3x2xf32=1 2 3 4 5 6"});
  CHECK(message.substr(0, 7) == "error: ");
  CHECK_THAT(message, Catch::Contains("3") && Catch::Contains("2"));
}

TEST_CASE("outputs that are inputs or constants") {
  checkProgram(R"(def @main(%x: float32, %y: Tensor[(2, 2), float32]) { (0i64, %x, %y, ((%x, %y), ())) })",
               {"f32=2.5", "2x2xf32=1 2 3 4"},
               "(i64=0, f32=2.5, 2x2xf32=1 2 3 4, ((f32=2.5, 2x2xf32=1 2 3 4), ()))");
}

TEST_CASE("shapes that go round a loop stay scalars") {
  const char* text = R"(
def @main(%x: Tensor[(?, 5, 2), float32], %n: int64) -> Tensor[(3,), int64] {
  let %loop = fn (%i: int64, %s: Tensor[(3,), int64]) -> Tensor[(3,), int64] {
    if (%i < %n) { %loop(%i + 1i64, shape_of(ones(%s, dtype="float32"), dtype="int64")) } else { %s }
  };
  %loop(0i64, shape_of(%x, dtype="int64"))
}
)";
  checkProgram(text, {"1x5x2xf32=1 2 3 4 5 6 7 8 9 0", "i64=100"}, "3xi64=1 5 2");
}

TEST_CASE("50,000 bindings in a row") {
  constexpr int kCount = effort(50'000, 3'000);
  std::string text = "def @main(%x0: int64) -> int64 {\n";
  for (int i = 0; i < kCount; ++i)
    text += "  let %x" + std::to_string(i + 1) + " = %x" + std::to_string(i) + " + 1i64;\n";
  text += "  %x" + std::to_string(kCount) + "\n}\n";
  for (int level : {0, 3}) {
    CompileOptions options;
    options.level = level;
    CHECK(run(compiled(text, options), "main", {"i64=0"}) == "i64=" + std::to_string(kCount));
  }
}

}  // namespace
}  // namespace baton::driver::test
