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
