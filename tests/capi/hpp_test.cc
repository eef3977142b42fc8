#include "baton/baton.hpp"

#include "tests/capi/programs.h"

namespace api = baton::api;

TEST_CASE("the C++ wrapper runs programs and throws their errors") {
  const api::Instance instance = api::Instance::create();
  const std::vector<std::byte> bytes = baton::test::assemble(baton::test::kProgram);
  const api::Executable executable = api::Executable::load(instance, bytes.data(), bytes.size());
  const api::Context context(executable);

  const api::Value x = api::Value::tensor<float>(instance, {2, 2}, {1, 2, 3, 4});
  const api::Value pair = api::run(context, "pair", {x, api::Value::scalar<int64_t>(instance, 7)});
  CHECK(pair.format() == "(2x2xf32=1 2 3 4, i64=7)");
  CHECK(pair.field(0).elements<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(pair.field(0).extents() == std::vector<int64_t>{2, 2});
  CHECK(pair.field(1).elements<int64_t>() == std::vector<int64_t>{7});
  CHECK_THROWS_AS(pair.field(1).elements<float>(), std::invalid_argument);
  CHECK(pair.field(0) == x);

  const baton_type* shape = baton_function_parameter_type(executable.find("area"), 0);
  const api::Value circle = api::Value::data(instance, shape, 0, {api::Value::scalar(instance, 2.0f)});
  CHECK(circle.constructor() == "Circle");
  CHECK(api::Call(context, "area").set("shape", circle).run().elements<float>() == std::vector<float>{2});

  const baton_type* rows = baton_function_parameter_type(executable.find("append"), 1);
  const api::Value row = api::Value::tensor<float>(instance, {2}, {1, 2});
  const api::Value longer =
      api::Call(context, "append").set("x", row).set("xs", api::Value::array(instance, rows, {row})).run();
  CHECK(longer.kind() == BATON_ARRAY);
  REQUIRE(longer.length() == 2);
  CHECK(longer.element(1) == row);

  api::Call call(context, "fill");
  call.set("n", api::Value::scalar<int64_t>(instance, -1));
  try {
    call.run();
    FAIL("an error was expected");
  } catch (const api::Error& error) {
    CHECK(error.code() == BATON_PROGRAM_ERROR);
    CHECK(error.message() == "a tensor cannot have the shape (-1, 1024): an extent is negative");
    REQUIRE(error.frames().size() == 1);
    CHECK(error.frames()[0].function == "fill");
  }
  CHECK(call.state() == BATON_CALL_FAILED);
  CHECK_THROWS_AS(api::Call(context, "nothing"), std::invalid_argument);

  const api::Value flags = api::Value::tensor<bool>(instance, {3}, {true, false, true});
  CHECK(flags.format() == "3xbool=true false true");
  CHECK(flags.elements<bool>() == std::vector<bool>{true, false, true});
  const uint16_t half = 0x3c00;
  CHECK(api::Value::tensor(instance, {1}, BATON_F16, &half, sizeof half).format() == "1xf16=1");

  DLManagedTensorVersioned* exported = x.toDlpack();
  const api::Value same = api::Value::fromDlpack(instance, exported);
  CHECK(same == x);
}

TEST_CASE("the C++ wrapper steps, suspends, cancels, limits and donates") {
  const api::Instance instance = api::Instance::create();
  const std::vector<std::byte> bytes = baton::test::assemble(baton::test::kProgram);
  const api::Executable executable = api::Executable::load(instance, bytes.data(), bytes.size());
  const api::Context context(executable);

  api::Call fill(context, "fill");
  fill.set(0, api::Value::scalar<int64_t>(instance, 2));
  CHECK(fill.step(2) == BATON_CALL_SUSPENDED);
  CHECK(fill.step(100) == BATON_CALL_FINISHED);
  CHECK(fill.result().elements<int64_t>() == std::vector<int64_t>{2});

  api::Call spin(context, "spin");
  spin.suspend();
  CHECK(spin.resume() == BATON_CALL_SUSPENDED);
  CHECK(spin.step(7) == BATON_CALL_SUSPENDED);
  spin.cancel();
  try {
    spin.resume();
    FAIL("an error was expected");
  } catch (const api::Error& error) {
    CHECK(error.code() == BATON_CANCELLED);
  }
  CHECK(spin.state() == BATON_CALL_FAILED);
  spin.reset();
  baton_call_limits limits = BATON_CALL_LIMITS_INIT;
  limits.instruction_count = 1000;
  spin.limit(limits);
  try {
    spin.run();
    FAIL("an error was expected");
  } catch (const api::Error& error) {
    CHECK(error.code() == BATON_LIMIT_REACHED);
  }

  api::Value vector = api::Value::tensor<float>(instance, {4}, {1, 2, 3, 4});
  const void* memory = baton_value_data(vector.get());
  api::Call bump(context, "bump");
  const api::Value updated = bump.donate(0, std::move(vector)).run();
  CHECK(updated.elements<float>() == std::vector<float>{1, 9, 3, 4});
  CHECK(baton_value_data(updated.get()) == memory);

  const api::Value list =
      api::Value::list(instance, baton_function_parameter_type(executable.find("cons"), 1),
                       {api::Value::tensor<float>(instance, {1, 2}, {5, 6})});
  CHECK(list.format() == "[1x2xf32=5 6]");
  CHECK(list.kind() == BATON_ADT);
  CHECK(list.fieldCount() == 2);
  CHECK(list.field(0).dtype() == BATON_F32);
  CHECK(api::Value::parse(instance, "[1x2xf32=5 6]", baton_value_type(list.get())) == list);

  CHECK(instance.memoryStatistics().peak_in_use_bytes >= 2 * 1024 * sizeof(float));
  instance.trim();
}
