// What several threads may do at once: contexts on one executable, values that wander between
// them, calls that are stopped from outside.
#include <atomic>
#include <thread>

#include "programs.h"
#include "runtime.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

TEST_CASE("contexts on one executable run in threads of their own") {
  const Runtime runtime(kLists);
  const Ref<Value> list = require(runtime.run("build", {Runtime::i64(1000)}));
  std::atomic<int> wrong{0};
  const auto work = [&] {
    const Ref<Context> context = Context::create(runtime.executable, {}).assume_value();
    const EntryPoint& increment = *runtime.executable->findEntryPoint("increment");
    const EntryPoint& sum = *runtime.executable->findEntryPoint("sum");
    ErrorDetails details;
    Ref<Value> current = list;
    for (int turn = 0; turn < 20; ++turn) {
      Call call(context, increment);
      if (!call.setInput(0, current, false, details).has_value()) ++wrong;
      if (!call.advance(std::nullopt, details).has_value()) ++wrong;
      current = call.result().assume_value();
    }
    Call call(context, sum);
    if (!call.setInput(0, current, false, details).has_value()) ++wrong;
    if (!call.advance(std::nullopt, details).has_value()) ++wrong;
    if (element<int64_t>(*call.result().assume_value()) != 499500 + 20 * 1000) ++wrong;
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  CHECK(wrong == 0);
}

TEST_CASE("values are released by other threads while their context runs on") {
  const Runtime runtime(kLists);
  for (int turn = 0; turn < 20; ++turn) {
    Ref<Value> list = require(runtime.run("build", {Runtime::i64(2000)}));
    std::thread releaser([taken = std::move(list)]() mutable { taken.reset(); });
    CHECK(runtime.runI64("all", {Runtime::i64(500)}) == 125250);
    releaser.join();
  }
  runtime.context->heap().drainRemote();
  CHECK(runtime.context->heap().inUseBytes() == 0);
}

TEST_CASE("a context may end while other threads hold and release its values") {
  const Ref<Instance> instance = makeInstance();
  const uint64_t before = instance->memory().statistics().inUseBytes;
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<Ref<Value>> lists;
    std::thread releaser;
    {
      const Runtime runtime(kLists, {}, instance);
      for (int i = 0; i < 4; ++i) lists.push_back(require(runtime.run("build", {Runtime::i64(200)})));
      releaser = std::thread([taken = std::move(lists)]() mutable { taken.clear(); });
    }
    releaser.join();
    CHECK(instance->memory().statistics().inUseBytes == before);
  }
}

TEST_CASE("a running call is cancelled by another thread") {
  const Runtime runtime(kScalars);
  const auto call = runtime.call("forever", {Runtime::i64(0)});
  std::atomic<bool> isRunning{false};
  std::thread canceller([&] {
    while (!isRunning) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    call->cancel();
  });
  isRunning = true;
  ErrorDetails details;
  const auto outcome = call->advance(std::nullopt, details);
  canceller.join();
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.assume_error().code() == ErrorCode::Cancelled);
  CHECK(runtime.runI64("fib", {Runtime::i64(10)}) == 55);
}

TEST_CASE("deadlines of calls in several threads are kept apart") {
  const Runtime runtime(kScalars);
  std::atomic<int> wrong{0};
  const auto work = [&](std::chrono::milliseconds timeout) {
    const Ref<Context> context = Context::create(runtime.executable, {}).assume_value();
    ErrorDetails details;
    for (int turn = 0; turn < 3; ++turn) {
      Call call(context, *runtime.executable->findEntryPoint("forever"));
      if (!call.setInput(0, Runtime::i64(0), false, details).has_value()) ++wrong;
      if (!call.setLimits({.timeout = timeout}).has_value()) ++wrong;
      const auto outcome = call.advance(std::nullopt, details);
      if (outcome.has_value() || outcome.assume_error().code() != ErrorCode::DeadlineExceeded) ++wrong;
    }
  };
  std::thread first(work, std::chrono::milliseconds(5)), second(work, std::chrono::milliseconds(12));
  first.join();
  second.join();
  CHECK(wrong == 0);
}
