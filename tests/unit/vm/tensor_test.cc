// Tensor instructions: what is shared, what is copied, what is refused.
#include "runtime.h"
#include "tensor_programs.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {}  // namespace

TEST_CASE("reshape views the same elements") {
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
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
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
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
  CHECK(messageOf(runtime.run("row", {x, Runtime::i64(3)})) ==
        "take: an index is out of range: 3 for an extent of 3");
  CHECK(messageOf(runtime.run("row", {x, Runtime::i64(-1)})) ==
        "take: an index is out of range: -1 for an extent of 3");
}

TEST_CASE("a stored row leaves what others see alone") {
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto row = runtime.tensor({2}, {8, 9});
  const Ref<Value> stored = require(runtime.run("store", {x, Runtime::i64(1), row}));
  CHECK(elements<float>(*stored) == std::vector<float>{1, 2, 8, 9, 5, 6});
  CHECK(elements<float>(*x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(messageOf(runtime.run("store", {x, Runtime::i64(3), row})) == "row 3 is outside of an extent of 3");
}

TEST_CASE("load_scalar checks every index") {
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(element<float>(*require(runtime.run("load", {x, Runtime::i64(2), Runtime::i64(1)}))) == 6);
  CHECK(messageOf(runtime.run("load", {x, Runtime::i64(0), Runtime::i64(2)})) ==
        "take: an index is out of range: 2 for an extent of 2");
  CHECK(messageOf(runtime.run("load", {x, Runtime::i64(-1), Runtime::i64(0)})) ==
        "take: an index is out of range: -1 for an extent of 3");
}

TEST_CASE("extend_outer grows by doubling and keeps its elements") {
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
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
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
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
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
  const auto x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(runtime.runI64("expect", {x, Runtime::i64(3)}) == 2);
  CHECK(runtime.runI64("expect", {x, Runtime::i64(-1)}) == 2);
  CHECK(messageOf(runtime.run("expect", {x, Runtime::i64(4)})) ==
        "argument of inner: found shape (3, 2), expected (4, ?)");
}

TEST_CASE("allocations of impossible sizes are errors") {
  const Runtime runtime(kTensors, {.useSwitch = GENERATE(false, true)});
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
