// Tensor instructions: what is shared, what is copied, what is refused.
#include "runtime.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

constexpr std::string_view kTensors = R"vmasm(
message m0 = "argument of inner"
entry "reshape" @reshape {
  symbols [n, "?", "?"]
  param "x" f32[n]
  param "rows" i64
  param "columns" i64
  result f32[?1, ?2]
}
entry "slice" @slice {
  symbols [n, m, "?"]
  param "x" f32[n, m]
  param "start" i64
  param "count" i64
  result f32[?2, m]
}
entry "row" @row {
  symbols [n, m]
  param "x" f32[n, m]
  param "index" i64
  result f32[m]
}
entry "store" @store {
  symbols [n, m]
  param "x" f32[n, m]
  param "index" i64
  param "row" f32[m]
  result f32[n, m]
}
entry "load" @load {
  symbols [n, m]
  param "x" f32[n, m]
  param "i" i64
  param "j" i64
  result f32
}
entry "grow" @grow {
  symbols ["?"]
  param "n" i64
  result f32[?0]
}
entry "extend_shared" @extend_shared {
  symbols [n, "?"]
  param "x" f32[n]
  param "extent" i64
  result f32[?1]
}
entry "region" @region {
  param "size" i64
  param "offset" i64
  param "extent" i64
  result i64
}
entry "expect" @expect {
  symbols [n, m]
  param "x" f32[n, m]
  param "rows" i64
  result i64
}
entry "alloc" @alloc {
  param "n" i64
  param "m" i64
  result i64
}
entry "alias" @alias {
  param "n" i64
  result f32
}
fn @reshape (tensor<f32, 1>, i64, i64) -> (tensor<f32, 2>) regs s2 r1 {
  r0 = reshape r0!, [s0, s1]
  ret [], [r0!]
}
fn @slice (tensor<f32, 2>, i64, i64) -> (tensor<f32, 2>) regs s2 r1 {
  r0 = slice_outer r0!, s0, s1
  ret [], [r0!]
}
fn @row (tensor<f32, 2>, i64) -> (tensor<f32, 1>) regs s1 r1 {
  r0 = index_outer r0!, s0
  ret [], [r0!]
}
fn @store (tensor<f32, 2>, i64, tensor<f32, 1>) -> (tensor<f32, 2>) regs s1 r2 {
  r0 = store_outer r0!, s0, r1!
  ret [], [r0!]
}
fn @load (tensor<f32, 2>, i64, i64) -> (f32) regs s2 r1 {
  s0 = load_scalar r0!, [s0, s1]
  ret [s0], []
}
fn @grow (i64) -> (tensor<f32, 1>) regs s6 r1 {
  s1 = const i64, 0
  s2 = const i64, 1
  r0 = alloc_tensor f32, 0, [s1]
b0:
  s3 = lt.i64 s1, s0
  branch s3, b1, b2
b1:
  s4 = add.i64 s1, s2
  r0 = extend_outer r0!, s4
  s5 = cast s1, i64, f32
  r0 = store_outer_scalar r0!, s1, s5
  s1 = move_scalar s4
  jump b0
b2:
  ret [], [r0!]
}
fn @extend_shared (tensor<f32, 1>, i64) -> (tensor<f32, 1>) regs s1 r1 {
  r0 = extend_outer r0!, s0
  ret [], [r0!]
}
fn @region (i64, i64, i64) -> (i64) regs s3 r2 {
  r0 = alloc_storage s0, 6, 0
  r1 = tensor_at r0!, s1, f32, [s2]
  s0 = dim r1!, 0
  ret [s0], []
}
fn @expect (tensor<f32, 2>, i64) -> (i64) regs s2 r1 {
  s1 = const i64, -1
  expect_tensor r0, m0, [s0, s1]
  s0 = dim r0!, 1
  ret [s0], []
}
fn @alloc (i64, i64) -> (i64) regs s2 r1 {
  r0 = alloc_tensor f32, 0, [s0, s1]
  s0 = dim r0!, 1
  ret [s0], []
}
fn @alias (i64) -> (f32) regs s4 r4 {
  s1 = const f32, 5
  s2 = const i64, 0
  r0 = alloc_tensor f32, 0, [s0]
  r0 = store_outer_scalar r0!, s2, s1
  r1 = alloc_reuse r0, f32, [s0]
  s3 = load_scalar r1!, [s2]
  r2 = move r0
  r1 = alloc_reuse r0, f32, [s0]
  s1 = const f32, 7
  r1 = store_outer_scalar r1!, s2, s1
  s1 = load_scalar r0!, [s2]
  s3 = add.f32 s3, s1
  drop r1!
  drop r2!
  ret [s3], []
}
)vmasm";

}  // namespace

TEST_CASE("reshape views the same elements") {
  const Runtime runtime(kTensors);
  const auto x = runtime.tensor({6}, {1, 2, 3, 4, 5, 6});
  const Ref<Value> view = require(runtime.run("reshape", {x, Runtime::i64(2), Runtime::i64(3)}));
  CHECK(std::vector<int64_t>(view->extents().begin(), view->extents().end()) == std::vector<int64_t>{2, 3});
  CHECK(view->elements() == x->elements());
  const Ref<Value> empty =
      require(runtime.run("reshape", {runtime.tensor({0}, {}), Runtime::i64(0), Runtime::i64(INT64_MAX)}));
  CHECK(empty->extents()[1] == INT64_MAX);
  CHECK(messageOf(runtime.run("reshape", {x, Runtime::i64(2), Runtime::i64(2)})) ==
        "a tensor of shape (6,) cannot be reshaped to (2, 2)");
  CHECK(messageOf(runtime.run("reshape", {x, Runtime::i64(-2), Runtime::i64(-3)})) ==
        "a tensor cannot have the shape (-2, -3): an extent is negative");
  CHECK(messageOf(runtime.run("reshape", {x, Runtime::i64(INT64_MAX), Runtime::i64(3)})) ==
        "a tensor cannot have the shape (9223372036854775807, 3): its size exceeds 64 bits");
}

TEST_CASE("slices and rows are views inside the extents") {
  const Runtime runtime(kTensors);
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const Ref<Value> slice = require(runtime.run("slice", {x, Runtime::i64(1), Runtime::i64(2)}));
  CHECK(elements<float>(*slice) == std::vector<float>{3, 4, 5, 6});
  CHECK(slice->elements() == static_cast<const std::byte*>(x->elements()) + 8);
  CHECK(require(runtime.run("slice", {x, Runtime::i64(3), Runtime::i64(0)}))->extents()[0] == 0);
  CHECK(elements<float>(*require(runtime.run("row", {x, Runtime::i64(2)}))) == std::vector<float>{5, 6});
  CHECK(messageOf(runtime.run("slice", {x, Runtime::i64(1), Runtime::i64(3)})) ==
        "rows 1 to 4 are outside of an extent of 3");
  CHECK(messageOf(runtime.run("slice", {x, Runtime::i64(-1), Runtime::i64(1)})) != "");
  CHECK(messageOf(runtime.run("slice", {x, Runtime::i64(1), Runtime::i64(INT64_MAX)})) != "");
  CHECK(messageOf(runtime.run("row", {x, Runtime::i64(3)})) == "row 3 is outside of an extent of 3");
  CHECK(messageOf(runtime.run("row", {x, Runtime::i64(-1)})) == "row -1 is outside of an extent of 3");
}

TEST_CASE("a stored row leaves what others see alone") {
  const Runtime runtime(kTensors);
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto row = runtime.tensor({2}, {8, 9});
  const Ref<Value> stored = require(runtime.run("store", {x, Runtime::i64(1), row}));
  CHECK(elements<float>(*stored) == std::vector<float>{1, 2, 8, 9, 5, 6});
  CHECK(elements<float>(*x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(messageOf(runtime.run("store", {x, Runtime::i64(3), row})) == "row 3 is outside of an extent of 3");
}

TEST_CASE("load_scalar checks every index") {
  const Runtime runtime(kTensors);
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(element<float>(*require(runtime.run("load", {x, Runtime::i64(2), Runtime::i64(1)}))) == 6);
  CHECK(messageOf(runtime.run("load", {x, Runtime::i64(0), Runtime::i64(2)})) ==
        "index 2 is outside of an extent of 2");
  CHECK(messageOf(runtime.run("load", {x, Runtime::i64(-1), Runtime::i64(0)})) ==
        "index -1 is outside of an extent of 3");
}

TEST_CASE("extend_outer grows by doubling and keeps its elements") {
  const Runtime runtime(kTensors);
  const Ref<Value> none = require(runtime.run("grow", {Runtime::i64(0)}));
  CHECK(none->extents()[0] == 0);
  runtime.run("grow", {Runtime::i64(100000)}).assume_value();
  const uint64_t before = runtime.context->memoryStatistics().allocationCount;
  const Ref<Value> grown = require(runtime.run("grow", {Runtime::i64(100000)}));
  CHECK(runtime.context->memoryStatistics().allocationCount - before < 30);
  for (size_t i = 0; i < 100000; ++i) REQUIRE(element<float>(*grown, i) == static_cast<float>(i));

  const auto x = runtime.tensor({2}, {1, 2});
  const Ref<Value> longer = require(runtime.run("extend_shared", {x, Runtime::i64(5)}));
  CHECK(longer->extents()[0] == 5);
  CHECK(element<float>(*longer, 1) == 2);
  const Ref<Value> shorter = require(runtime.run("extend_shared", {x, Runtime::i64(1)}));
  CHECK(elements<float>(*shorter) == std::vector<float>{1});
  CHECK(elements<float>(*x) == std::vector<float>{1, 2});
  CHECK(messageOf(runtime.run("extend_shared", {x, Runtime::i64(-1)})) ==
        "a tensor of shape (2,) cannot be extended to -1 rows");
}

TEST_CASE("tensors in a storage lie inside it and on their boundary") {
  const Runtime runtime(kTensors);
  CHECK(runtime.runI64("region", {Runtime::i64(64), Runtime::i64(24), Runtime::i64(10)}) == 10);
  CHECK(runtime.runI64("region", {Runtime::i64(0), Runtime::i64(0), Runtime::i64(0)}) == 0);
  CHECK(messageOf(runtime.run("region", {Runtime::i64(64), Runtime::i64(28), Runtime::i64(10)})) ==
        "a tensor of 40 bytes at offset 28 does not fit into a storage of 64 bytes");
  CHECK(messageOf(runtime.run("region", {Runtime::i64(64), Runtime::i64(2), Runtime::i64(1)})) ==
        "offset 2 is no multiple of the 4 bytes of a float32");
  CHECK(messageOf(runtime.run("region", {Runtime::i64(64), Runtime::i64(-4), Runtime::i64(1)})) != "");
  CHECK(messageOf(runtime.run("region", {Runtime::i64(-1), Runtime::i64(0), Runtime::i64(1)})) ==
        "a storage cannot have -1 bytes");
}

TEST_CASE("expect_tensor says found and expected") {
  const Runtime runtime(kTensors);
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(runtime.runI64("expect", {x, Runtime::i64(3)}) == 2);
  CHECK(runtime.runI64("expect", {x, Runtime::i64(-1)}) == 2);
  CHECK(messageOf(runtime.run("expect", {x, Runtime::i64(4)})) ==
        "argument of inner: found shape (3, 2), expected (4, ?)");
}

TEST_CASE("allocations of impossible sizes are errors") {
  const Runtime runtime(kTensors);
  CHECK(runtime.runI64("alloc", {Runtime::i64(0), Runtime::i64(INT64_MAX)}) == INT64_MAX);
  CHECK(messageOf(runtime.run("alloc", {Runtime::i64(INT64_MAX), Runtime::i64(2)})) ==
        "a tensor cannot have the shape (9223372036854775807, 2): its size exceeds 64 bits");
  const auto refused = runtime.run("alloc", {Runtime::i64(int64_t{1} << 40), Runtime::i64(1 << 18)});
  REQUIRE_FALSE(refused.has_value());
  CHECK((refused.assume_error().code() == ErrorCode::OutOfMemory ||
         refused.assume_error().code() == ErrorCode::LimitReached));
  CHECK(runtime.runI64("alloc", {Runtime::i64(3), Runtime::i64(4)}) == 4);
}

TEST_CASE("memory is reused only while nobody else can see it") {
  // 5 through the reused tensor, then 5 again: the second reuse found another holder.
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(kTensors, {.useSwitch = useSwitch});
    for (const int64_t n : {1, 10, 100000})
      CHECK(element<float>(*require(runtime.run("alias", {Runtime::i64(n)}))) == 10);
    CHECK(runtime.context->heap().inUseBytes() == 0);
  }
}
