// What the interface allows of other threads while a call runs; the thread sanitizer sees it.
#include <thread>

#include "tests/capi/api.h"

using namespace baton::test;

TEST_CASE("another thread can suspend and cancel a call") {
  const Api api;
  const Owned<baton_call> call = api.call("spin");
  std::thread suspender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    baton_call_suspend(call.get());
  });
  baton_call_state state = BATON_CALL_READY;
  ok(baton_call_resume(call.get(), &state));
  suspender.join();
  CHECK(state == BATON_CALL_SUSPENDED);
  REQUIRE(baton_call_frame_count(call.get()) == 1);
  baton_frame frame = BATON_FRAME_INIT;
  REQUIRE(baton_call_frame(call.get(), 0, &frame) == 1);
  CHECK(std::string(frame.function) == "spin");
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    baton_call_cancel(call.get());
  });
  const Failure failed(baton_call_run(call.get()));
  canceller.join();
  CHECK(failed.code() == BATON_CANCELLED);
  CHECK(baton_status_frame_count(failed.status.get()) == 1);
  CHECK(baton_call_get_state(call.get()) == BATON_CALL_FAILED);
  CHECK(api.run("area", {"Circle(f32=2)"}) == "f32=2");
}

TEST_CASE("values, executables and instances are shared by threads") {
  const Api api;
  const Owned<baton_value> tensor = api.parse("4xf32=1 2 3 4");
  std::vector<std::thread> threads;
  std::vector<std::string> results(3);
  for (std::string& result : results)
    threads.emplace_back([&, instance = api.instance.get(), executable = api.executable.get()] {
      baton_executable_retain(executable);
      baton_instance_retain(instance);
      baton_value_retain(tensor.get());
      baton_context* context = nullptr;
      baton_call* call = nullptr;
      baton_value* value = nullptr;
      baton_status* failed = baton_context_create(executable, nullptr, &context);
      if (!failed)
        failed = baton_call_create(context, baton_executable_find_function(executable, "bump"), &call);
      for (int turn = 0; turn < 20 && !failed; ++turn) {
        baton_call_reset(call);
        failed = baton_call_set_input(call, 0, tensor.get());
        if (!failed) failed = baton_call_run(call);
        if (!failed && turn == 19) failed = baton_call_result(call, &value);
      }
      if (!failed) {
        char* text = nullptr;
        size_t length = 0;
        failed = baton_value_format(value, 0, &text, &length);
        if (!failed) result.assign(text, length);
        baton_string_release(text);
      }
      baton_status_release(failed);
      baton_value_release(value);
      baton_call_release(call);
      baton_context_release(context);
      baton_value_release(tensor.get());
      baton_instance_release(instance);
      baton_executable_release(executable);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) CHECK(result == "4xf32=1 9 3 4");
  CHECK(Api::format(tensor.get()) == "4xf32=1 2 3 4");
}
