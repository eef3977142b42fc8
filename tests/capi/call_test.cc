#include "tests/capi/api.h"

using namespace baton::test;

TEST_CASE("tensors, scalars, tuples, data and lists go in and come out") {
  const Api api;
  CHECK(api.run("pair", {"3x2xf32=1 2 3 4 5 6", "i64=7"}) == "(3x2xf32=1 2 3 4 5 6, i64=7)");
  CHECK(api.run("area", {"Circle(f32=2)"}) == "f32=2");
  CHECK(api.run("area", {"Square(f32=3, bool=true)"}) == "f32=9");
  CHECK(api.run("cons", {"1x2xf32=1 2", "[2x2xf32=1 2 3 4]"}) == "[1x2xf32=1 2, 2x2xf32=1 2 3 4]");
  CHECK(api.run("cons", {"0x2xf32=", "[]"}) == "[0x2xf32=]");
  CHECK(api.run("cons", {"1x2xf32=1 2", "Cons(1x2xf32=3 4, Nil)"}) == "[1x2xf32=1 2, 1x2xf32=3 4]");
  CHECK(api.run("constant", {}) == "2xf32=1 2");
}

TEST_CASE("an argument's dtype, rank and constant extents are checked at once") {
  const Api api;
  CHECK(api.fail("pair", {"3x2xf64=1 2 3 4 5 6"}).message() ==
        "argument %x: found a float64 tensor of shape (3, 2), expected Tensor[(n, 2), float32]");
  CHECK(api.fail("pair", {"6xf32=1 2 3 4 5 6"}).message() ==
        "argument %x: found a float32 tensor of shape (6,), expected Tensor[(n, 2), float32]");
  CHECK(api.fail("pair", {"f32=1"}).message() ==
        "argument %x: found a float32 scalar, expected Tensor[(n, 2), float32]");
  const Failure wide = api.fail("pair", {"2x3xf32=1 2 3 4 5 6"});
  CHECK(wide.code() == BATON_INVALID_ARGUMENT);
  CHECK(wide.message() == "argument %x: dimension 1 is 3, expected 2");
  CHECK(wide.detail("argument") == "x");
  CHECK(wide.detail("dimension") == "1");
  CHECK(wide.detail("found") == "3");
  CHECK(wide.detail("expected") == "2");
}

TEST_CASE("symbols are bound by one argument and checked at the others") {
  const Api api;
  CHECK(api.run("check", {"1x2xf32=1 2", "3x1xf32=1 2 3", "6xf32=1 2 3 4 5 6"}) == "i64=1");
  CHECK(api.run("check", {"0x2xf32=", "0x0xf32=", "0xf32="}) == "i64=0");
  const Failure symbol = api.fail("check", {"3x2xf32=1 2 3 4 5 6", "1x5xf32=1 2 3 4 5", "2xf32=1 2"});
  CHECK(symbol.message() ==
        "argument %y: dimension 1 is 5, but n was bound to 3 by dimension 0 of argument %x");
  CHECK(symbol.detail("argument") == "y");
  CHECK(symbol.detail("symbol") == "n");
  CHECK(symbol.detail("expected") == "3");
  CHECK(symbol.detail("bound_by") == "dimension 0 of argument %x");
  const Failure expression = api.fail("check", {"1x2xf32=1 2", "3x1xf32=1 2 3", "5xf32=1 2 3 4 5"});
  CHECK(expression.message() ==
        "argument %z: dimension 0 is 5, expected 2*m = 6, where m was bound to 3 by dimension 0 of argument "
        "%y");
  const Failure constraint = api.fail("check", {"1x2xf32=1 2", "4x1xf32=1 2 3 4", "8xf32=1 2 3 4 5 6 7 8"});
  CHECK(constraint.message() ==
        "m <= 3*n does not hold: m is 4, bound by dimension 0 of argument %y, n is 1, bound by dimension 0 "
        "of argument %x");
}

TEST_CASE("extents inside data are checked, however deep") {
  const Api api;
  const baton_type* list = baton_function_parameter_type(api.function("cons"), 1);
  const std::string text = "[1x2xf32=1 2, 1x3xf32=1 2 3]";
  baton_value* value = nullptr;
  const Failure failed(
      baton_value_parse(api.instance.get(), list, text.data(), text.size(), nullptr, &value));
  CHECK(failed.message().find("dimension 1 is 3, expected 2") != std::string::npos);
}

TEST_CASE("missing, unknown and surplus inputs are named") {
  const Api api;
  const Owned<baton_call> call = api.call("pair");
  const Owned<baton_value> number = api.parse("i64=1");
  CHECK(Failure(baton_call_set_input_by_name(call.get(), "q", number.get())).message() ==
        "@pair has no parameter %q");
  CHECK(Failure(baton_call_set_input(call.get(), 2, number.get())).message() ==
        "input 2 out of range: @pair has 2 parameters");
  ok(baton_call_set_input_by_name(call.get(), "k", number.get()));
  CHECK(Failure(baton_call_run(call.get())).message() == "argument %x of @pair was not given");
  CHECK(baton_call_get_state(call.get()) == BATON_CALL_READY);
  const Owned<baton_value> tensor = api.parse("1x2xf32=1 2");
  ok(baton_call_set_input_by_name(call.get(), "x", tensor.get()));
  baton_value* result = nullptr;
  CHECK(Failure(baton_call_result(call.get(), &result)).code() == BATON_INVALID_ARGUMENT);
  ok(baton_call_run(call.get()));
  CHECK(Failure(baton_call_run(call.get())).code() == BATON_INVALID_ARGUMENT);
  ok(baton_call_result(call.get(), &result));
  CHECK(Api::format(Owned<baton_value>(result).get()) == "(1x2xf32=1 2, i64=1)");
}

TEST_CASE("a donated input is updated in place, another is copied") {
  const Api api;
  const Owned<baton_call> call = api.call("bump");
  Owned<baton_value> kept = api.parse("4xf32=1 2 3 4");
  ok(baton_call_set_input(call.get(), 0, kept.get()));
  ok(baton_call_run(call.get()));
  baton_value* out = nullptr;
  ok(baton_call_result(call.get(), &out));
  Owned<baton_value> result(out);
  CHECK(Api::format(result.get()) == "4xf32=1 9 3 4");
  CHECK(Api::format(kept.get()) == "4xf32=1 2 3 4");
  CHECK(baton_value_data(result.get()) != baton_value_data(kept.get()));

  baton_call_reset(call.get());
  const void* memory = baton_value_data(kept.get());
  ok(baton_call_donate_input(call.get(), 0, kept.release()));
  ok(baton_call_run(call.get()));
  ok(baton_call_result(call.get(), &out));
  result.reset(out);
  CHECK(Api::format(result.get()) == "4xf32=1 9 3 4");
  CHECK(baton_value_data(result.get()) == memory);
}

TEST_CASE("a call is stepped, and tells how far it is") {
  const Api api;
  const Owned<baton_call> call = api.call("fill");
  CHECK(baton_call_instruction_count(call.get()) == 0);
  ok(baton_call_set_input(call.get(), 0, api.parse("i64=3").get()));
  baton_call_state state = BATON_CALL_READY;
  for (uint64_t count = 1; count <= 3; ++count) {
    ok(baton_call_step(call.get(), 1, &state));
    CHECK(state == BATON_CALL_SUSPENDED);
    CHECK(baton_call_instruction_count(call.get()) == count);
  }
  ok(baton_call_step(call.get(), 100, &state));
  CHECK(state == BATON_CALL_FINISHED);
  CHECK(baton_call_instruction_count(call.get()) == 4);
  baton_value* result = nullptr;
  ok(baton_call_result(call.get(), &result));
  CHECK(Api::format(Owned<baton_value>(result).get()) == "i64=3");
  CHECK(Failure(baton_call_step(call.get(), 1, &state)).code() == BATON_INVALID_ARGUMENT);
  CHECK(baton_call_instruction_count(nullptr) == 0);
}

TEST_CASE("limits of memory, instructions and time are kept per call") {
  const Api api;
  const Owned<baton_call> call = api.call("fill");
  baton_call_limits limits = BATON_CALL_LIMITS_INIT;
  limits.memory_bytes = 1 << 20;
  ok(baton_call_set_limits(call.get(), &limits));
  ok(baton_call_set_input(call.get(), 0, api.parse("i64=200").get()));
  ok(baton_call_run(call.get()));
  baton_call_reset(call.get());
  ok(baton_call_set_input(call.get(), 0, api.parse("i64=300").get()));
  const Failure failed(baton_call_run(call.get()));
  CHECK(failed.code() == BATON_LIMIT_REACHED);
  CHECK(failed.message().find("1228800 bytes asked") != std::string::npos);
  baton_call_reset(call.get());
  ok(baton_call_set_input(call.get(), 0, api.parse("i64=-1").get()));
  const Failure negative(baton_call_run(call.get()));
  CHECK(negative.code() == BATON_PROGRAM_ERROR);
  CHECK(negative.message() == "a tensor cannot have the shape (-1, 1024): an extent is negative");

  const Owned<baton_call> spin = api.call("spin");
  limits.memory_bytes = 0;
  limits.timeout_nanoseconds = 20'000'000;
  ok(baton_call_set_limits(spin.get(), &limits));
  CHECK(Failure(baton_call_run(spin.get())).code() == BATON_DEADLINE_EXCEEDED);
  baton_call_reset(spin.get());
  limits.timeout_nanoseconds = 0;
  limits.instruction_count = 1000;
  ok(baton_call_set_limits(spin.get(), &limits));
  CHECK(Failure(baton_call_run(spin.get())).code() == BATON_LIMIT_REACHED);
}

TEST_CASE("options of an older and of a newer caller are understood") {
  const Api api;
  const Owned<baton_call> call = api.call("fill");
  baton_call_limits limits = BATON_CALL_LIMITS_INIT;
  limits.memory_bytes = 1;
  limits.instruction_count = 1;
  limits.struct_size = offsetof(baton_call_limits, instruction_count);  // knows of memory only
  ok(baton_call_set_limits(call.get(), &limits));
  ok(baton_call_set_input(call.get(), 0, api.parse("i64=2").get()));
  CHECK(Failure(baton_call_run(call.get())).message().find("memory limit") == 0);
  struct Newer {
    baton_call_limits known;
    uint64_t unknown;
  } newer{BATON_CALL_LIMITS_INIT, 17};
  newer.known.struct_size = sizeof newer;
  baton_call_reset(call.get());
  ok(baton_call_set_limits(call.get(), &newer.known));
  ok(baton_call_set_input(call.get(), 0, api.parse("i64=2").get()));
  ok(baton_call_run(call.get()));
}

TEST_CASE("a profile has rows of the functions that ran") {
  baton_context_options options = BATON_CONTEXT_OPTIONS_INIT;
  options.profile = 1;
  const Api api(kProgram, options);
  api.run("area", {"Square(f32=3, bool=true)"});
  api.run("area", {"Square(f32=4, bool=true)"});
  REQUIRE(baton_context_profile_count(api.context.get()) == 1);
  baton_profile_row row = BATON_PROFILE_ROW_INIT;
  REQUIRE(baton_context_profile_row(api.context.get(), 0, &row) == 1);
  CHECK(row.kind == BATON_PROFILE_FUNCTION);
  CHECK(std::string(row.name) == "area");
  CHECK(row.count == 2);
  CHECK(row.instruction_count == 8);
  CHECK(baton_context_profile_row(api.context.get(), 1, &row) == 0);
  baton_context_profile_reset(api.context.get());
  CHECK(baton_context_profile_count(api.context.get()) == 0);
}

TEST_CASE("a profile has rows of the kernels that ran") {
  baton_context_options options = BATON_CONTEXT_OPTIONS_INIT;
  options.profile = 1;
  const Api api(kKernelProgram, options);
  CHECK(api.run("add", {"2xf32=1 2", "2xf32=10 20"}) == "2xf32=11 22");
  CHECK(api.run("add", {"0xf32=", "0xf32="}) == "0xf32=");
  REQUIRE(baton_context_profile_count(api.context.get()) == 2);
  int kernels = 0;
  int functions = 0;
  for (size_t i = 0; i < 2; ++i) {
    baton_profile_row row = BATON_PROFILE_ROW_INIT;
    REQUIRE(baton_context_profile_row(api.context.get(), i, &row) == 1);
    CHECK(row.count == 2);
    if (row.kind == BATON_PROFILE_KERNEL) {
      ++kernels;
      CHECK(std::string(row.name) == "sum");
      CHECK(row.instruction_count == 0);
    } else {
      ++functions;
      CHECK(std::string(row.name) == "add");
      CHECK(row.instruction_count == 8);
    }
  }
  CHECK(kernels == 1);
  CHECK(functions == 1);
}

TEST_CASE("a context tells of its memory, and gives back what is unused") {
  const Api api;
  baton_memory_statistics statistics = BATON_MEMORY_STATISTICS_INIT;
  baton_context_memory_statistics(api.context.get(), &statistics);
  CHECK(statistics.in_use_bytes == 0);
  CHECK(api.run("fill", {"i64=100"}) == "i64=100");
  baton_context_memory_statistics(api.context.get(), &statistics);
  CHECK(statistics.in_use_bytes == 0);
  CHECK(statistics.peak_in_use_bytes >= 100 * 1024 * sizeof(float));
  CHECK(statistics.allocation_count >= 1);
  CHECK(statistics.release_count >= 1);
  CHECK(statistics.reserved_bytes > 0);
  baton_context_trim(api.context.get());
  baton_instance_trim(api.instance.get());
  baton_context_memory_statistics(api.context.get(), &statistics);
  CHECK(statistics.reserved_bytes == 0);
  baton_context_trim(nullptr);
}

TEST_CASE("codes have names, and errors the frames of the program") {
  CHECK(std::string(baton_code_name(BATON_OK)) == "ok");
  CHECK(std::string(baton_code_name(BATON_PROGRAM_ERROR)) == "program error");
  CHECK(std::string(baton_code_name(BATON_INVALID_ARGUMENT)) == "invalid argument");
  const Api api;
  const Failure failed = api.fail("fill", {"i64=-1"});
  REQUIRE(baton_status_frame_count(failed.status.get()) == 1);
  baton_frame frame = BATON_FRAME_INIT;
  baton_status_frame(failed.status.get(), 0, &frame);
  CHECK(std::string(frame.function) == "fill");
  CHECK(frame.pc > 0);
  CHECK(std::string(frame.file).empty());
  CHECK(frame.line == 0);
  baton_frame untouched = BATON_FRAME_INIT;
  baton_status_frame(failed.status.get(), 1, &untouched);
  CHECK(untouched.function == nullptr);
  CHECK(baton_status_frame_count(nullptr) == 0);
}
