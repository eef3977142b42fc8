// Programs at the edge of the rules that are allowed, and what the verifier costs.
#include <catch2/catch.hpp>

#include <chrono>

#include "bytecode/builder.h"
#include "bytecode/isa/instruction.h"
#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"

namespace baton::bytecode {
namespace {

std::string verdict(std::string_view text) {
  auto program = parseVmasm(text);
  if (!program.has_value()) return program.error().message();
  std::string result;
  for (const Violation& violation : findViolations(program.value()))
    result += describeViolation(program.value(), violation) + "\n";
  return result;
}

TEST_CASE("closures of two functions join to a plain closure, which can be called") {
  CHECK(verdict(R"vmasm(vmasm 1
fn @f (bool) -> (i64) {
  branch s0, a, b
a:
  r0 = make_closure @g, [], [s0]
  jump c
b:
  r0 = make_closure @h, [], []
  jump c
c:
  s1 = call_closure r0!, [], []
  ret [s1], []
}
fn @g closure [bool] () -> (i64) {
  s0 = capture_scalar r0!, 0
  s1 = cast s0, bool, i64
  ret [s1], []
}
fn @h closure [] () -> (i64) {
  tail_call_closure r0!, [], []
}
)vmasm") == "");
}

TEST_CASE("a scalar may differ between paths that do not lead to a use") {
  CHECK(verdict(R"vmasm(vmasm 1
fn @f (bool) -> () {
  branch s0, a, b
a:
  s1 = const i64, 1
  jump c
b:
  s1 = const f64, 1
  jump c
c:
  ret [], []
}
)vmasm") == "");
}

TEST_CASE("an operand may be copied and then moved by one instruction") {
  CHECK(verdict(R"vmasm(vmasm 1
fn @f (tensor<f32, 1>) -> (tensor<f32, 1>, tensor<f32, 1>) {
  ret [], [r0, r0!]
}
fn @g (tensor<f32, 1>, i64) -> (tensor<f32, 1>) {
  r0 = slice_outer r0!, s0, s0!
  ret [], [r0!]
}
)vmasm") == "");
}

TEST_CASE("blocks may fall into each other, loop, end in failure with values held, or be unreachable") {
  CHECK(verdict(R"vmasm(vmasm 1
fn @f (i64, tensor<f32, 1>) -> (tensor<f32, 1>) {
  s1 = const i64, 0
loop:
  s2 = lt.i64 s1, s0
  branch s2, body, end
body:
  r1 = move r0!
  r0 = move r1!
  s3 = const i64, 1
  s1 = add.i64 s1, s3
  jump loop
end:
  check s2, "held", []
  branch s2, bad, good
bad:
  fail "r0 is still there", []
good:
  ret [], [r0!]
dead:
  ret [s9], []
}
)vmasm") == "");
}

TEST_CASE("a recursive closure refers to itself through r0") {
  CHECK(verdict(R"vmasm(vmasm 1
fn @loop closure [i64] (i64) -> (i64) {
  s1 = capture_scalar r0, 0
  s2 = lt.i64 s0, s1
  branch s2, again, done
again:
  s0 = add.i64 s0, s1
  tail_call_closure r0!, [s0], []
done:
  drop r0!
  ret [s0], []
}
)vmasm") == "");
}

TEST_CASE("a place in a message that names no value stands for itself") {
  CHECK(verdict("vmasm 1\nfn @f (f32) -> () {\n  fail \"{1:i64} {x} {0:f32} {\", [s0]\n}\n") == "");
}

TEST_CASE("an empty program keeps every rule") { CHECK(findViolations(Program()).empty()); }

TEST_CASE("the number of violations that are reported is bounded") {
  std::string text = "vmasm 1\nfn @f () -> () {\n";
  for (int i = 0; i < 100; ++i) text += "  s0 = const bool, 0x2\n";
  auto program = parseVmasm(text + "  ret [], []\n}\n");
  REQUIRE(program.has_value());
  CHECK(findViolations(program.value()).size() == 100);
  CHECK(findViolations(program.value(), 7).size() == 7);
}

/// `blockCount` diamonds over `registerCount` live registers.
Program diamonds(uint32_t blockCount, uint16_t registerCount) {
  ProgramBuilder builder;
  Signature signature;
  signature.params = {Kind::scalar(DType::Bool)};
  const FunctionIndex function = builder.declareFunction({"f", signature});
  Encoder encoder;
  for (uint16_t r = 1; r < registerCount; ++r) Const::encode(encoder, ScalarOperand::of(r), DType::I64, r);
  for (uint32_t b = 0; b < blockCount; ++b) {
    const Label then = encoder.newLabel();
    const Label otherwise = encoder.newLabel();
    const Label end = encoder.newLabel();
    const auto r = static_cast<uint16_t>(1 + b % (registerCount - 1));
    Branch::encode(encoder, ScalarOperand::of(0), then, otherwise);
    encoder.bind(then);
    NegI64::encode(encoder, ScalarOperand::of(r), ScalarOperand::of(r));
    Jump::encode(encoder, end);
    encoder.bind(otherwise);
    AbsI64::encode(encoder, ScalarOperand::of(r), ScalarOperand::of(r));
    Jump::encode(encoder, end);
    encoder.bind(end);
  }
  Ret::encode(encoder, {}, {});
  builder.defineFunction(function, registerCount, 0, encoder);
  return builder.finish();
}

TEST_CASE("many blocks over all registers cost no more than their number") {
  const Program program = diamonds(20000, 32768);
  const auto start = std::chrono::steady_clock::now();
  CHECK(findViolations(program).empty());
  // A dense table of 60,000 blocks by 32,768 registers would be gigabytes and minutes.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("joins of states that differ everywhere stop at the limit") {
  // One switch that leads to thousands of blocks from two sides with different registers.
  constexpr uint32_t kTargets = 20000;
  ProgramBuilder builder;
  Signature signature;
  signature.params = {Kind::scalar(DType::I64), Kind::scalar(DType::Bool)};
  const FunctionIndex function = builder.declareFunction({"f", signature});
  Encoder encoder;
  const Label left = encoder.newLabel();
  const Label right = encoder.newLabel();
  std::vector<Label> targets;
  for (uint32_t i = 0; i < kTargets; ++i) targets.push_back(encoder.newLabel());
  Branch::encode(encoder, ScalarOperand::of(1), left, right);
  for (Label side : {left, right}) {
    encoder.bind(side);
    for (uint16_t r = 32; r < 32000; r = static_cast<uint16_t>(r + 32))
      Const::encode(encoder, ScalarOperand::of(r), side == left ? DType::I64 : DType::F64, 0);
    Switch::encode(encoder, ScalarOperand::of(0), targets);
  }
  for (Label target : targets) {
    encoder.bind(target);
    Ret::encode(encoder, {}, {});
  }
  builder.defineFunction(function, 32768, 0, encoder);
  const Program program = builder.finish();
  const std::vector<Violation> violations = findViolations(program);
  REQUIRE(violations.size() == 1);
  CHECK(ruleName(violations[0].rule) == "complexity");
}

}  // namespace
}  // namespace baton::bytecode
