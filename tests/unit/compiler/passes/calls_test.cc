// Passes about who is called: contify-groups, known-calls, known-arguments, reduce-eta, evaluate-calls.
#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

const std::vector<std::vector<std::string>> kNumbers = {{"i32=0"}, {"i32=1"}, {"i32=6"}, {"i32=7"}};

TEST_CASE("functions that call one another last become one loop", "[contify-groups]") {
  const Program program = checkSame(R"(
def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }
def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }
def @main(%n: int32) { @even(%n) })",
                                    {"contify-groups", "make-loops", "dead-functions"}, kNumbers);
  CHECK_FALSE(program.module.findFunction("odd").has_value());
  CHECK(count<ir::CallGlobal>(program.function("even")) == 0);
  CHECK(count<ir::Lambda>(program.function("even")) == 2);
}

TEST_CASE("a machine of several states, some of which go round", "[contify-groups]") {
  const Program program = checkSame(R"(
def @start(%n: int32, %acc: int32) -> int32 { if (%n <= 0) { %acc } else { @count(%n, %acc) } }
def @count(%n: int32, %acc: int32) -> int32 {
  if (mod(%n, 3) == 0) { @skip(%n - 1, %acc) } else { @count(%n - 1, %acc + %n) }
}
def @skip(%n: int32, %acc: int32) -> int32 { if (%acc > 5) { @start(%n - 2, %acc) } else { @start(%n, %acc * 2) } }
def @main(%n: int32) { @start(%n, 1) })",
                                    {"contify-groups", "make-loops", "dead-functions"}, kNumbers);
  CHECK(program.module.functions.size() == 2);
  CHECK(count<ir::CallGlobal>(program.function("start")) == 0);
}

TEST_CASE("extents of each state are its own", "[contify-groups]") {
  const Program program =
      checkSame(R"(
def @grow(%x: Tensor[(n,), float32], %k: int32) -> Tensor[(?,), float32] {
  if (%k <= 0) { %x } else { @turn(concatenate((%x, %x)), %k - 1) }
}
def @turn(%y: Tensor[(m,), float32], %k: int32) -> Tensor[(?,), float32] {
  if (%k <= 0) { reverse(%y) } else { @grow(%y * 2f, %k - 1) }
}
def @main(%k: int32) { @grow(ones(shape=[2], dtype="float32"), %k) })",
                {"contify-groups", "make-loops", "dead-functions", "propagate", "dead-code"}, kNumbers);
  CHECK_FALSE(program.module.findFunction("turn").has_value());
  CHECK(count<ir::CallGlobal>(program.function("grow")) == 0);
}

TEST_CASE("groups with a call in the middle stay", "[contify-groups]") {
  const Program program = checkSame(R"(
def @f(%n: int32) -> int32 { if (%n <= 0) { 0 } else { @g(%n - 1) + 1 } }
def @g(%n: int32) -> int32 { if (%n <= 0) { 1 } else { @f(%n - 1) } }
def @main(%n: int32) { @f(%n) })",
                                    {"contify-groups"}, kNumbers);
  CHECK(count<ir::Lambda>(program.function("f")) == 0);
  CHECK(count<ir::Lambda>(program.function("g")) == 0);
  // Two cycles that no function is on both of.
  const Program two = checkSame(R"(
def @a(%n: int32) -> int32 { if (%n <= 0) { 1 } else { @b(%n - 1) } }
def @b(%n: int32) -> int32 { if (%n <= 1) { 2 } else { if (%n < 4) { @a(%n - 1) } else { @c(%n - 1) } } }
def @c(%n: int32) -> int32 { if (%n <= 2) { 3 } else { @d(%n - 1) } }
def @d(%n: int32) -> int32 { if (%n <= 3) { 4 } else { if (%n < 6) { @c(%n - 1) } else { @a(%n - 1) } } }
def @main(%n: int32) { @a(%n) })",
                                {"contify-groups"}, kNumbers);
  CHECK(count<ir::Lambda>(two.function("a")) == 0);
}

TEST_CASE("a local function that is a value and is called", "[known-calls]") {
  const Program program = checkSame(R"(
def @main(%n: int32) {
  let %f = fn (%x: int32) -> int32 { if (%x <= 0) { %n } else { %f(%x - 1) + 1 } };
  let %r = ref(%f);
  let %g = ref_read(%r);
  (%f(%n), %g(3), %f(2))
})",
                                    {"known-calls"}, kNumbers);
  const ir::Function& main = program.function("main");
  CHECK(count<ir::CallValue>(main) == 1);
  CHECK(count<ir::CallGlobal>(main) == 3);
  CHECK(program.module.functions.size() == 2);
}

TEST_CASE("one that uses another as a value and calls it", "[known-calls]") {
  const Program program = checkSame(R"(
def @main(%n: int32) {
  let %f = fn (%x: int32) -> int32 { %x * %n };
  let %g = fn (%x: int32) -> int32 { let %h = (%f, %x); let %k = %h.0; %k(%f(%x)) };
  let %all = (%f, %g);
  let %second = %all.1;
  (%f(2), %g(3), %second(%n))
})",
                                    {"known-calls"}, kNumbers);
  CHECK(count<ir::CallValue>(program.function("main")) == 1);
  CHECK(count<ir::CallValue>(program.function("main_g")) == 1);
  CHECK(count<ir::CallGlobal>(program.function("main_g")) == 1);
}

TEST_CASE("values that are not called by name, or pass themselves on, stay", "[known-calls]") {
  const Program program = checkSame(R"(
type Step { Done(int32), More(fn (int32) -> Step) }
def @main(%n: int32) {
  let %f = fn (%x: int32) -> Step { if (%x > 3) { Done(%x) } else { More(%f) } };
  let %g = fn (%x: int32) -> int32 { %x + %n };
  let %both = ref((%f, %g));
  match (%f(%n)) { Done(%x) => %x, More(%k) => match (%k(9)) { Done(%y) => %y, More(_) => 0 } }
})",
                                    {"known-calls"}, kNumbers);
  CHECK(program.module.functions.size() == 1);
}

TEST_CASE("arguments that are always the same", "[known-arguments]") {
  const Program program = checkSame(R"(
def @f(%x: int32, %k: int32, %n: int32) -> int32 { if (%n <= 0) { %x * %k } else { @g(%k, %x + %n, %n - 1) + 1 } }
def @g(%k: int32, %x: int32, %n: int32) -> int32 { if (%x > 100) { 0 } else { @f(%x, %k, %n) } }
def @main(%n: int32) { @f(1, 7, %n) + @f(2, 7, %n) })",
                                    {"known-arguments", "propagate"}, kNumbers);
  CHECK(program.function("f").params.size() == 2);
  CHECK(program.function("g").params.size() == 2);
  CHECK(occurrences(program.text("f"), "multiply(%x, 7)") == 1);
}

TEST_CASE("arguments that differ somewhere stay", "[known-arguments]") {
  const Program program = checkSame(R"(
def @f(%k: int32, %n: int32) -> int32 { if (%n <= 0) { %k } else { @f(%k + 1, %n - 1) } }
def @g(%k: int32, %n: int32) -> int32 { if (%n <= 0) { %k } else { @g(%k, %n - 1) + 1 } }
def @h(%k: int32) -> int32 { %k + 1 }
def @main(%n: int32) -> (int32, fn (int32) -> int32) { (@f(1, %n) + @g(1, %n) + @g(2, %n), @h) })",
                                    {"known-arguments"}, {});
  CHECK(program.function("f").params.size() == 2);
  CHECK(program.function("g").params.size() == 2);
  CHECK(program.function("h").params.size() == 1);
  CHECK(program.function("main").params.size() == 1);
}

TEST_CASE("extents that are always the same number", "[known-arguments]") {
  const Program program = checkSame(R"(
def @f(%x: Tensor[(n, m), float32], %k: int32) -> Tensor[(n, m), float32] {
  if (%k <= 0) { tanh(%x) } else { @f(%x + 1f, %k - 1) }
}
def @main(%x: Tensor[(3, k), float32], %y: Tensor[(3, 2), float32]) { (@f(%x, 2), @f(%y, 1)) })",
                                    {"known-arguments"}, {{"3x1xf32=1 2 3", "3x2xf32=1 2 3 4 5 6"}});
  const ir::Function& f = program.function("f");
  CHECK(f.var(f.params[0]).type->dims()[0].asConstant() == 3);
  CHECK_FALSE(f.var(f.params[0]).type->dims()[1].isConstant());
}

TEST_CASE("functions that only call another", "[reduce-eta]") {
  const Program program = checkSame(R"(
def @twice(%f: fn(int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
def @inc(%x: int32) -> int32 { %x + 1 }
def @main(%n: int32) {
  let %g = fn (%x: int32) -> int32 { @inc(%x) };
  let %h = fn (%x: int32) -> int32 { %g(%x) };
  @twice(%g, %n) + @twice(%h, %n)
})",
                                    {"reduce-eta", "propagate"}, kNumbers);
  CHECK(count<ir::Lambda>(program.function("main")) == 0);
  CHECK(occurrences(program.text("main"), "@twice(@inc, ") == 2);
}

TEST_CASE("functions that do more than call another", "[reduce-eta]") {
  const Program program = checkSame(R"(
def @apply(%f: fn(int32, int32) -> int32, %x: int32) -> int32 { %f(%x, 2) }
def @sub(%x: int32, %y: int32) -> int32 { %x - %y }
def @main(%n: int32) {
  let %turned = fn (%x: int32, %y: int32) -> int32 { @sub(%y, %x) };
  let %more = fn (%x: int32, %y: int32) -> int32 { @sub(%x, %y) + 1 };
  let %same = fn (%x: int32, %y: int32) -> int32 { @sub(%x, %x) };
  let %self = fn (%x: int32, %y: int32) -> int32 { if (%x <= 0) { 0 } else { %self(%x - 1, %y) } };
  @apply(%turned, %n) + @apply(%more, %n) + @apply(%same, %n) + @apply(%self, %n)
})",
                                    {"reduce-eta", "propagate"}, kNumbers);
  CHECK(count<ir::Lambda>(program.function("main")) == 4);
}

TEST_CASE("calls with constants are run", "[evaluate-calls]") {
  const Program program = checkSame(R"(
def @fib(%n: int32) -> int32 { if (%n < 2) { %n } else { @fib(%n - 1) + @fib(%n - 2) } }
def @count(%n: int32) -> (int32, float32) {
  let %r = ref(0);
  let %u = ref_write(%r, %n);
  (ref_read(%r), 0.5f)
}
def @main(%n: int32) { (@fib(10) + %n, @count(4)) })",
                                    {"evaluate-calls", "propagate"}, kNumbers);
  CHECK(count<ir::CallGlobal>(program.function("main")) == 0);
  CHECK(occurrences(program.text("main"), "add(55, %n)") == 1);
}

TEST_CASE("calls that fail, do not end, or give much stay", "[evaluate-calls]") {
  const Program program = checkSame(R"(
def @div(%n: int32) -> int32 { if (%n == 0) { 1 / %n } else { @div(%n - 1) } }
def @big(%n: int32) -> Tensor[(3000,), float32] { full(cast(%n, dtype="float32"), shape=[3000]) }
def @main(%n: int32) { if (%n == 1) { @div(3) } else { cast(sum(@big(2)), dtype="int32") + @div(%n) } })",
                                    {"evaluate-calls"}, kNumbers);
  CHECK(count<ir::CallGlobal>(program.function("main")) == 3);
  Program forever(R"(
def @spin(%n: int32) -> int32 { if (%n == -1) { 0 } else { @spin(%n + 2) } }
def @main(%n: int32) -> int32 { if (%n == 5) { @spin(0) } else { 7 } })");
  forever.run({"evaluate-calls{max-steps=1000}"});
  CHECK(count<ir::CallGlobal>(forever.function("main")) == 1);
  CHECK(forever.evaluate({"i32=1"}) == "i32=7");
}

TEST_CASE("shapes that are known become attributes", "[static-operands]") {
  const Program program = checkSame(R"(
def @main(%x: Tensor[(2, 6), float32], %n: int32) {
  let %shape = stack((3, 4), axis=0);
  let %open = stack((%n, 4), axis=0);
  (reshape(%x, %shape), broadcast_to(%n, %shape), zeros(%shape, dtype="int32"), full(1f, %shape),
   tile(%x, stack((1, 2), axis=0)), strided_slice(%x, stack((0, 1), axis=0), stack((2, 4), axis=0)),
   one_hot(%n, 1, 0, 4), reshape(%x, %open))
})",
                                    {"static-operands", "propagate", "dead-code"},
                                    {{"2x6xf32=1 2 3 4 5 6 7 8 9 10 11 12", "i32=3"}});
  const std::string text = program.text("main");
  CHECK(occurrences(text, "newshape=[3, 4]") == 1);
  CHECK(occurrences(text, "shape=[3, 4]") == 4);
  CHECK(occurrences(text, "reps=[1, 2]") == 1);
  CHECK(occurrences(text, "begin=[0, 1]") == 1);
  CHECK(occurrences(text, "depth=4") == 1);
  CHECK(occurrences(text, "stack(") == 1);
}

}  // namespace
}  // namespace baton::passes
