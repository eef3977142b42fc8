// hoist-invariants and distribute-loops.
#include <catch2/catch.hpp>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "program.h"

namespace baton::passes {
namespace {

/// How often `part` is printed inside the body of the first loop, and outside of it.
std::pair<size_t, size_t> inAndOut(const Program& program, std::string_view part) {
  const std::string text = program.text("main");
  const size_t total = occurrences(text, part);
  const ir::Function& main = program.function("main");
  for (const ir::Binding* binding : bindingsOf<ir::Lambda>(main)) {
    const auto& lambda = std::get<ir::Lambda>(binding->rhs);
    if (!lambda.isLoop) continue;
    size_t inside = 0;
    for (ir::BlockId id : ir::blocksInOrder(main, lambda.body))
      for (const ir::Binding& each : main.block(id).bindings)
        if (const auto* call = std::get_if<ir::CallOp>(&each.rhs))
          inside += std::string(call->op->name) + "(" == part ? 1 : 0;
    return {inside, total - inside};
  }
  return {0, total};
}

const std::vector<std::vector<std::string>> kCounts = {
    {"i32=0", "2xf32=1 -2"}, {"i32=1", "2xf32=0.5 3"}, {"i32=3", "0xf32="}, {"i32=4", "3xf32=1 2 3"}};

TEST_CASE("what does not change in a loop is computed before it", "[hoist-invariants]") {
  const Program program = checkSame(
      R"(
def @main(%n: int32, %x: Tensor[(k,), float32]) {
  let %loop = fn (%i: int32, %acc: Tensor[(k,), float32]) -> Tensor[(k,), float32] {
    if (%i < %n) { %loop(%i + 1, %acc + tanh(exp(%x))) } else { %acc * sigmoid(%x) }
  };
  %loop(0, %x)
})",
      {"flatten-matches", "contify", "lift-lambdas", "make-loops", "propagate", "hoist-invariants"}, kCounts);
  CHECK(inAndOut(program, "exp(") == std::pair<size_t, size_t>{0, 1});
  CHECK(inAndOut(program, "tanh(") == std::pair<size_t, size_t>{0, 1});
  // What only the way out needs is not computed before it is known to be taken.
  CHECK(inAndOut(program, "sigmoid(") == std::pair<size_t, size_t>{1, 0});
  CHECK(inAndOut(program, "add(").first == 2);
}

TEST_CASE("what can fail moves only from where it runs for certain", "[hoist-invariants]") {
  const char* guarded = R"(
def @main(%n: int32, %d: int32) {
  let %loop = fn (%i: int32, %acc: int32) -> int32 {
    if (%i < %n) { %loop(%i + 1, %acc + 100 / %d) } else { %acc }
  };
  %loop(0, 0)
})";
  const std::vector<std::vector<std::string>> runs = {
      {"i32=0", "i32=0"}, {"i32=2", "i32=0"}, {"i32=2", "i32=7"}};
  const Program stays = checkSame(guarded, {"contify", "propagate", "hoist-invariants"}, runs);
  CHECK(inAndOut(stays, "divide(") == std::pair<size_t, size_t>{1, 0});
  const char* certain = R"(
def @main(%n: int32, %d: int32) {
  let %loop = fn (%i: int32, %acc: int32) -> int32 {
    let %q = 100 / %d;
    if (%i < %n) { %loop(%i + 1, %acc + %q) } else { %acc + %q }
  };
  %loop(0, 0)
})";
  const Program moves = checkSame(certain, {"contify", "propagate", "hoist-invariants"}, runs);
  CHECK(inAndOut(moves, "divide(") == std::pair<size_t, size_t>{0, 1});
  // Something that may not end, or writes, comes first.
  const char* after = R"(
def @spin(%n: int32) -> int32 { if (%n == 0) { 0 } else { @spin(%n - 1) } }
def @main(%n: int32, %d: int32) {
  let %loop = fn (%i: int32, %acc: int32) -> int32 {
    let %s = @spin(%i);
    let %q = 100 / %d;
    if (%i < %n) { %loop(%i + 1, %acc + %q + %s) } else { %acc + %q }
  };
  %loop(0, 0)
})";
  const Program waits = checkSame(after, {"contify", "propagate", "hoist-invariants"}, runs);
  CHECK(inAndOut(waits, "divide(") == std::pair<size_t, size_t>{1, 0});
}

TEST_CASE("reads of cells, calls and fills stay in the loop", "[hoist-invariants]") {
  Program program = checkSame(R"(
def @main(%n: int32, %x: Tensor[(k,), float32]) {
  let %r = ref(1);
  let %loop = fn (%i: int32, %acc: int32) -> int32 {
    let %z = zeros(shape=[3], dtype="int32");
    if (%i < %n) {
      let %v = ref_read(%r);
      let %u = ref_write(%r, %v * 2);
      %loop(%i + 1, %acc + %v + sum(%z))
    } else { %acc }
  };
  %loop(0, 0)
})",
                              {"contify", "propagate", "hoist-invariants"}, kCounts);
  CHECK(inAndOut(program, "zeros(") == std::pair<size_t, size_t>{1, 0});
  CHECK(program.evaluate({"i32=4", "1xf32=0"}) == "i32=15");
}

TEST_CASE("out of one loop and the next", "[hoist-invariants]") {
  const Program program = checkSame(R"(
def @main(%n: int32, %x: Tensor[(k,), float32]) {
  let %outer = fn (%i: int32, %acc: Tensor[(k,), float32]) -> Tensor[(k,), float32] {
    if (%i < %n) {
      let %inner = fn (%j: int32, %sum: Tensor[(k,), float32]) -> Tensor[(k,), float32] {
        if (%j < %i) { %inner(%j + 1, %sum + exp(%x) * tanh(%acc)) } else { %outer(%i + 1, %sum) }
      };
      %inner(0, %acc)
    } else { %acc }
  };
  %outer(0, %x)
})",
                                    {"contify", "propagate", "hoist-invariants"}, kCounts);
  CHECK(inAndOut(program, "exp(") == std::pair<size_t, size_t>{0, 1});
  CHECK(inAndOut(program, "tanh(") == std::pair<size_t, size_t>{1, 0});
}

TEST_CASE("extents that go round keep what needs them inside", "[hoist-invariants]") {
  const Program program = checkSame(R"(
def @main(%n: int32, %x: Tensor[(k,), float32]) {
  let %loop = fn (%i: int32, %acc: Tensor[(?,), float32]) -> Tensor[(?,), float32] {
    if (%i < %n) { %loop(%i + 1, concatenate((%acc, tanh(%x)))) } else { %acc }
  };
  %loop(0, %x)
})",
                                    {"contify", "propagate", "hoist-invariants"}, kCounts);
  CHECK(inAndOut(program, "tanh(") == std::pair<size_t, size_t>{0, 1});
  CHECK(inAndOut(program, "concatenate(") == std::pair<size_t, size_t>{1, 0});
}

const std::vector<std::vector<std::string>> kSentences = {
    {"3x2xf32=1 0 0 1 2 -1", "2x2xf32=1 2 3 4", "1x2xf32=0 0"},
    {"1x2xf32=1 0.25", "2x2xf32=1 -2 3 4", "1x2xf32=0.5 1"},
    {"0x2xf32=", "2x2xf32=1 2 3 4", "1x2xf32=5 6"},
    {"4x2xf32=nan 0 inf 1 2 -1 3 3", "2x2xf32=1 2 -3 4", "1x2xf32=0 -0"}};

/// A recurrent cell with `step` for what a round adds to its state.
std::string recurrent(const std::string& step, const std::string& start = "0i64",
                      const std::string& next = "%i + 1i64", const std::string& condition = "%i < %len") {
  return R"(
def @main(%x: Tensor[(n, 2), float32], %w: Tensor[(2, 2), float32], %h: Tensor[(1, 2), float32]) {
  let %len = take(shape_of(%x, dtype="int64"), 0i64);
  let %loop = fn (%i: int64, %h1: Tensor[(1, 2), float32]) -> Tensor[(1, 2), float32] {
    if ()" +
         condition +
         R"() {
      let %row = take(%x, %i, axis=0);
      %loop()" +
         next + ", " + step + R"()
    } else { %h1 }
  };
  %loop()" +
         start + ", %h)\n}";
}

Program distributed(const std::string& text) {
  return checkSame(text,
                   {"flatten-matches", "contify", "propagate", "fold-constants", "hoist-invariants",
                    "distribute-loops", "propagate", "dead-code"},
                   kSentences);
}

TEST_CASE("the input product of a recurrent loop is one product before it", "[distribute-loops]") {
  const Program program =
      distributed(recurrent("tanh(nn.dense(expand_dims(%row, axis=0), %w) + nn.dense(%h1, %w))"));
  CHECK(inAndOut(program, "nn.dense(") == std::pair<size_t, size_t>{1, 1});
  CHECK(occurrences(program.text("main"), "take(%x") == 0);
  // What comes before and after a product goes with it.
  const Program chain =
      distributed(recurrent("%h1 + nn.relu(nn.bias_add(nn.dense(expand_dims(sigmoid(%row), axis=0), %w), "
                            "take(%w, 0i64, axis=0), axis=1))"));
  CHECK(inAndOut(chain, "nn.dense(") == std::pair<size_t, size_t>{0, 1});
  CHECK(inAndOut(chain, "sigmoid(") == std::pair<size_t, size_t>{0, 1});
  CHECK(inAndOut(chain, "nn.relu(") == std::pair<size_t, size_t>{0, 1});
  CHECK(inAndOut(chain, "nn.bias_add(") == std::pair<size_t, size_t>{0, 1});
  const Program plain = distributed(recurrent("%h1 + nn.dense(%row, %w)"));
  CHECK(inAndOut(plain, "nn.dense(") == std::pair<size_t, size_t>{0, 1});
  // Both a product and its result after an operator are used.
  const Program two = distributed(recurrent("{ let %d = nn.dense(%row, %w); %h1 * tanh(%d) + %d * %row }"));
  CHECK(inAndOut(two, "nn.dense(") == std::pair<size_t, size_t>{0, 1});
}

TEST_CASE("loops that do not take every row once stay", "[distribute-loops]") {
  const char* step = "%h1 + nn.dense(%row, %w)";
  for (const std::string& text : {recurrent(step, "1i64"), recurrent(step, "0i64", "%i + 2i64"),
                                  recurrent(step, "0i64", "%i + 1i64", "%i <= %len"),
                                  recurrent(step, "0i64", "%i + 1i64", "%i < %len - 1i64"),
                                  recurrent(step, "%len - 1i64", "%i - 1i64", "%i >= 0i64")}) {
    const Program program =
        checkSame(text, {"flatten-matches", "contify", "propagate", "fold-constants", "distribute-loops"},
                  {kSentences[0]});
    CHECK(inAndOut(program, "nn.dense(") == std::pair<size_t, size_t>{1, 0});
  }
}

TEST_CASE("what goes round, can fail or has no product stays in the loop", "[distribute-loops]") {
  for (const char* step :
       {"%h1 + nn.dense(%h1 * %row, %w)", "%h1 + tanh(%row)", "%h1 + nn.dense(%row, %w * sum(%h1))"}) {
    const Program program = distributed(recurrent(step));
    CHECK(inAndOut(program, "take(").first == 1);
    CHECK(occurrences(program.text("main"), "_all") == 0);
  }
  // A way out in the middle: rows after it are never looked at.
  const Program early = checkSame(
      R"(
def @main(%x: Tensor[(n, 2), float32], %w: Tensor[(2, 2), float32], %h: Tensor[(1, 2), float32]) {
  let %len = take(shape_of(%x, dtype="int64"), 0i64);
  let %loop = fn (%i: int64, %h1: Tensor[(1, 2), float32]) -> Tensor[(1, 2), float32] {
    if (sum(%h1) < 3f) {
      if (%i < %len) { %loop(%i + 1i64, %h1 + nn.dense(take(%x, %i, axis=0), %w)) } else { %h1 }
    } else { %h1 }
  };
  %loop(0i64, %h)
})",
      {"flatten-matches", "contify", "propagate", "fold-constants", "distribute-loops"}, kSentences);
  CHECK(inAndOut(early, "nn.dense(") == std::pair<size_t, size_t>{1, 0});
}

}  // namespace
}  // namespace baton::passes
