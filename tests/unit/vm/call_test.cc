// Calls from beginning to end: results, limits, suspension, errors, cleanliness afterwards.
#include "programs.h"
#include "runtime.h"
#include "tests/effort.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

TEST_CASE("scalar programs give the same in both dispatch loops") {
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(kScalars, {.useSwitch = useSwitch});
    CHECK(runtime.runI64("fib", {Runtime::i64(0)}) == 0);
    CHECK(runtime.runI64("fib", {Runtime::i64(1)}) == 1);
    CHECK(runtime.runI64("fib", {Runtime::i64(20)}) == 6765);
    CHECK(runtime.runI64("loop", {Runtime::i64(0)}) == 0);
    CHECK(runtime.runI64("loop", {Runtime::i64(1000)}) == 499500);
    CHECK(runtime.runI64("depth", {Runtime::i64(10000)}) == 10000);
    CHECK(runtime.runI64("tail", {Runtime::i64(100000)}) == 100000);
  }
}

TEST_CASE("a counted loop of ten million turns allocates nothing") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  runtime.runI64("loop", {Runtime::i64(10)});
  const uint64_t before = runtime.instance->memory().statistics().systemAllocationCount;
  const uint64_t heapBefore = runtime.context->memoryStatistics().allocationCount;
  const int64_t turns = effort(10'000'000, 500'000);
  CHECK(runtime.runI64("loop", {Runtime::i64(turns)}) == turns * (turns - 1) / 2);
  CHECK(runtime.instance->memory().statistics().systemAllocationCount == before);
  CHECK(runtime.context->memoryStatistics().allocationCount == heapBefore);
}

TEST_CASE("recursion a million deep works, a thousand million is a limit") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  const int64_t depth = effort(1'000'000, 100'000);
  CHECK(runtime.runI64("depth", {Runtime::i64(depth)}) == depth);
  CallLimits limits;
  if (kIsCoarse) limits.stackBytes = 16 << 20;
  const auto failed = runtime.run("depth", {Runtime::i64(1000000000)}, limits);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code() == ErrorCode::LimitReached);
  CHECK(failed.error().programTrail().size() == Call::kMaxFrames);
  CHECK(runtime.runI64("depth", {Runtime::i64(10)}) == 10);
}

TEST_CASE("tail calls use no stack") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  CHECK(runtime.runI64("tail", {Runtime::i64(1000000)}, {.callDepth = 4, .stackBytes = 64 << 10}) == 1000000);
}

TEST_CASE("the limit of frames is one for the registers of both banks") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  const auto failed = runtime.run("depth", {Runtime::i64(1000000000)}, {.stackBytes = 1 << 20});
  REQUIRE_FALSE(failed.has_value());
  // Segments of 16 KiB to 512 KiB of scalars, and one of 16 KiB of references.
  CHECK(failed.error().message() ==
        "call depth limit reached: 1048576 bytes of frames in use, 1048576 allowed");
}

TEST_CASE("limits of depth and instructions are errors after which the context works") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  const auto deep = runtime.run("depth", {Runtime::i64(100)}, {.callDepth = 50});
  REQUIRE_FALSE(deep.has_value());
  CHECK(deep.error().code() == ErrorCode::LimitReached);
  CHECK(deep.error().message() == "call depth limit reached: 50 frames allowed");
  CHECK(deep.error().omittedFrames() == 0);
  const auto deeper = runtime.run("depth", {Runtime::i64(1000)}, {.callDepth = 500});
  REQUIRE_FALSE(deeper.has_value());
  CHECK(deeper.error().programTrail().size() == Call::kMaxFrames);
  CHECK(deeper.error().omittedFrames() == 501 - Call::kMaxFrames);
  CHECK(runtime.runI64("depth", {Runtime::i64(50)}, {.callDepth = 50}) == 50);

  const auto endless = runtime.run("forever", {Runtime::i64(0)}, {.instructionCount = 100000});
  REQUIRE_FALSE(endless.has_value());
  CHECK(endless.error().code() == ErrorCode::LimitReached);
  CHECK(endless.error().message() == "instruction limit reached: 100000 instructions allowed");
  CHECK(endless.error().programTrail().front().function == "forever");
  CHECK(runtime.runI64("fib", {Runtime::i64(10)}) == 55);
}

TEST_CASE("a deadline ends a call that does not end itself") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  const auto late = runtime.run("forever", {Runtime::i64(0)}, {.timeout = std::chrono::milliseconds(20)});
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().code() == ErrorCode::DeadlineExceeded);
  CHECK(runtime.runI64("fib", {Runtime::i64(10)}, {.timeout = std::chrono::seconds(60)}) == 55);
}

TEST_CASE("a program error carries the functions and lines that were active") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  CHECK(runtime.runI64("divide", {Runtime::i64(7)}) == 14);
  const auto failed = runtime.run("divide", {Runtime::i64(0)});
  REQUIRE_FALSE(failed.has_value());
  const Error& error = failed.error();
  CHECK(error.code() == ErrorCode::ProgramError);
  CHECK(error.message() == "integer division by zero: 100 / 0");
  REQUIRE(error.programTrail().size() == 2);
  CHECK(error.programTrail()[0].function == "divide");
  CHECK(error.programTrail()[0].file == "model.relay");
  CHECK(error.programTrail()[0].line == 8);
  CHECK(error.programTrail()[0].column == 9);
  CHECK(error.programTrail()[1].function == "outer");
  CHECK(error.programTrail()[1].line == 3);
  CHECK(error.programTrail()[1].pc == 0);
}

TEST_CASE("two calls of one context take turns") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  const auto first = runtime.call("fib", {Runtime::i64(15)});
  const auto second = runtime.call("depth", {Runtime::i64(300)});
  ErrorDetails details;
  int turns = 0;
  while (first->state() != CallState::Finished || second->state() != CallState::Finished) {
    for (Call* call : {first.get(), second.get()})
      if (call->state() != CallState::Finished) require(call->advance(37, details));
    ++turns;
  }
  CHECK(turns > 100);
  CHECK(element<int64_t>(*require(first->result())) == 610);
  CHECK(element<int64_t>(*require(second->result())) == 300);
}

TEST_CASE("stepping executes exactly as many instructions as asked") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  const auto call = runtime.call("loop", {Runtime::i64(5)});
  ErrorDetails details;
  uint64_t steps = 0;
  while (require(call->advance(1, details)) == CallState::Suspended) {
    ++steps;
    REQUIRE(call->instructionCount() == steps);
    REQUIRE(call->backtrace(10).frames.size() == 1);
  }
  // 3 constants, 5 turns of 5, the last comparison and branch, the return.
  CHECK(call->instructionCount() == 3 + 5 * 5 + 2 + 1);
  const auto whole = runtime.call("loop", {Runtime::i64(5)});
  require(whole->advance(std::nullopt, details));
  CHECK(whole->instructionCount() == call->instructionCount());
}

TEST_CASE("suspend and cancel before a call starts take effect at its first check") {
  const Runtime runtime(kScalars, {.useSwitch = GENERATE(false, true)});
  ErrorDetails details;
  const auto call = runtime.call("loop", {Runtime::i64(100)});
  call->suspend();
  CHECK(require(call->advance(std::nullopt, details)) == CallState::Suspended);
  CHECK(require(call->advance(std::nullopt, details)) == CallState::Finished);
  CHECK(element<int64_t>(*require(call->result())) == 4950);
  call->reset();
  const auto cancelled = runtime.call("forever", {Runtime::i64(100)});
  cancelled->cancel();
  const auto outcome = cancelled->advance(std::nullopt, details);
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().code() == ErrorCode::Cancelled);
  CHECK(cancelled->state() == CallState::Failed);
}

TEST_CASE("a call that was left suspended gives everything back") {
  const Runtime runtime(kLists, {.useSwitch = GENERATE(false, true)});
  const uint64_t before = runtime.context->heap().inUseBytes();
  {
    const auto call = runtime.call("all", {Runtime::i64(1000)});
    ErrorDetails details;
    CHECK(require(call->advance(20000, details)) == CallState::Suspended);
    CHECK(runtime.context->heap().inUseBytes() > before);
  }
  CHECK(runtime.context->heap().inUseBytes() == before);
}

TEST_CASE("lists are built, mapped, folded and freed") {
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(kLists, {.useSwitch = useSwitch});
    CHECK(runtime.runI64("all", {Runtime::i64(0)}) == 0);
    const int64_t length = effort(1'000'000, 50'000);
    const int64_t sum = length * (length - 1) / 2;
    CHECK(runtime.runI64("all", {Runtime::i64(length)}) == sum + length);
    CHECK(runtime.context->heap().inUseBytes() == 0);
    const Ref<Value> list = require(runtime.run("build", {Runtime::i64(length)}));
    CHECK(runtime.runI64("sum", {list}) == sum);
    const Ref<Value> mapped = require(runtime.run("increment", {list}));
    CHECK(runtime.runI64("sum", {mapped}) == sum + length);
    CHECK(runtime.runI64("sum", {list}) == sum);
  }
}

TEST_CASE("a wrong constructor is a program error") {
  const Runtime runtime(kLists, {.useSwitch = GENERATE(false, true)});
  const Ref<Value> empty = require(runtime.run("build", {Runtime::i64(0)}));
  const auto failed = runtime.run("head", {empty});
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code() == ErrorCode::ProgramError);
  CHECK(runtime.runI64("head", {require(runtime.run("build", {Runtime::i64(3)}))}) == 0);
}

TEST_CASE("values outlive the call, the context and the executable they came from") {
  Ref<Value> list;
  {
    const Runtime runtime(kLists);
    list = require(runtime.run("build", {Runtime::i64(1000)}));
  }
  Object* node = list->object();
  for (int64_t i = 0; i < 1000; ++i) {
    REQUIRE(node->tag == 0);
    REQUIRE(static_cast<int64_t>(node->scalars()[0]) == i);
    node = node->slots()[0];
  }
  CHECK(node->tag == 1);
}

TEST_CASE("left-nested data a million deep is shared and freed without recursion") {
  const Runtime runtime(kLists, {.useSwitch = GENERATE(false, true)});
  Ref<Value> nested = require(runtime.run("snoc", {Runtime::i64(1000000), runtime.tensor({2}, {1, 2})}));
  CHECK(nested->object()->isShared());
  nested.reset();
  runtime.context->heap().drainRemote();
  CHECK(runtime.context->heap().inUseBytes() == 0);
}

TEST_CASE("closures capture, call themselves and leave their context") {
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(kClosures, {.useSwitch = useSwitch});
    CHECK(runtime.runI64("apply", {Runtime::i64(3), Runtime::i64(4)}) == 7);
    CHECK(runtime.runI64("count", {Runtime::i64(1000)}) == 3000);
    const Ref<Value> closure = require(runtime.run("escape", {Runtime::i64(40)}));
    CHECK(runtime.runI64("use", {closure, Runtime::i64(2)}) == 42);
    CHECK(runtime.runI64("use", {closure, Runtime::i64(3)}) == 43);
  }
  const Runtime one(kClosures);
  const Runtime other(kClosures);
  const Ref<Value> closure = require(one.run("escape", {Runtime::i64(40)}));
  const auto call = other.call("use");
  ErrorDetails details;
  const auto refused = call->setInput(0, closure, false, details);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == ErrorCode::InvalidArgument);
}

// states: What only a cycle through cells keeps alive, as a cell with a function that reads it, is freed
// when the call ends and not before.
TEST_CASE("cycles through cells stay until the call ends") {
  const Runtime runtime(kCells);
  Heap& heap = runtime.context->heap();
  std::vector<uint64_t> peaks;
  for (const int64_t count : {1000, 2000, 3000}) {
    heap.resetPeak();
    CHECK(runtime.runI64("cycle", {Runtime::i64(count)}) == count);
    CHECK(heap.inUseBytes() == 0);
    peaks.push_back(heap.peakInUseBytes());
  }
  // A cycle is a cell and what it holds: each at least a header and a word. Pages are whole.
  CHECK(peaks[0] >= 1000 * 2 * 16);
  CHECK(peaks[1] - peaks[0] >= 1000 * 2 * 16);
  CHECK(peaks[2] - peaks[1] >= 1000 * 2 * 16);
}

TEST_CASE("a cell that is empty may be written and freed, but has nothing to read") {
  const Runtime runtime(kCells, {.useSwitch = GENERATE(false, true)});
  CHECK(runtime.runI64("taken", {Runtime::i64(0)}) == 1);
  CHECK(runtime.runI64("taken", {Runtime::i64(3)}) == 1);
  for (const int64_t what : {1, 2})
    CHECK(messageOf(runtime.run("taken", {Runtime::i64(what)})) ==
          "the cell is empty: its value was taken out and none was written since");
  CHECK(runtime.context->heap().cells() == nullptr);
  CHECK(runtime.context->heap().inUseBytes() == 0);
}

TEST_CASE("cells count, cycles through them are freed, and they stay in their context") {
  const Runtime runtime(kCells, {.useSwitch = GENERATE(false, true)});
  CHECK(runtime.runI64("counter", {Runtime::i64(1000)}) == 1000);
  CHECK(runtime.runI64("cycle", {Runtime::i64(1000)}) == 1000);
  CHECK(runtime.context->heap().cells() == nullptr);
  CHECK(runtime.context->heap().inUseBytes() == 0);
  const auto failed = runtime.run("leak");
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code() == ErrorCode::ProgramError);
  CHECK(
      failed.error().message() ==
      "the result of @leak holds a ref, which cannot leave its context: field 1 of Holder, field 0 of Link");
  CHECK(runtime.context->heap().inUseBytes() == 0);
}
