#include "compiler/eval/value.h"
#include "tests/effort.h"

#include <limits>

#include <catch2/catch.hpp>

namespace baton::eval {
namespace {

Value f32(float value) { return Value::scalar(DType::F32, scalarBits(value)); }

Value list(size_t length) {
  Value result = Value::data({ir::TypeDefId(0), 1}, {});
  for (size_t i = 0; i < length; ++i)
    result = Value::data({ir::TypeDefId(0), 0}, {f32(static_cast<float>(i)), std::move(result)});
  return result;
}

TEST_CASE("values hold what they were made of", "[value]") {
  const Value scalar = Value::scalar(DType::I32, scalarBits(int32_t{-7}));
  REQUIRE(scalar.isTensor());
  CHECK(scalar.asTensor().shape.empty());
  CHECK(loadScalar(scalar.asTensor().bytes.data(), DType::I32) == scalarBits(int32_t{-7}));
  CHECK(Value::scalar(DType::Bool, 1).asBool());
  CHECK_FALSE(Value::scalar(DType::Bool, 0).asBool());
  const Value pair = Value::tuple({scalar, Value::tuple({})});
  CHECK(pair.isTuple());
  CHECK(pair.fields().size() == 2);
  CHECK(pair.fields()[1].fields().empty());
  const Value data = Value::data({ir::TypeDefId(3), 2}, {pair});
  CHECK(data.constructor().tag == 2);
  CHECK_FALSE(Value());
}

TEST_CASE("a cell is shared by its copies", "[value]") {
  const Value cell = Value::cell(f32(1));
  const Value copy = cell;
  copy.setContent(f32(2));
  CHECK(identical(cell.content(), f32(2)));
}

TEST_CASE("equality is of bits, with all NaNs equal", "[value]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(identical(f32(1), f32(1)));
  CHECK_FALSE(identical(f32(0.0F), f32(-0.0F)));
  CHECK(identical(f32(nan), f32(-nan)));
  CHECK_FALSE(identical(f32(nan), f32(1)));
  CHECK_FALSE(identical(f32(1), Value::scalar(DType::I32, 1)));
  CHECK_FALSE(identical(Value::tensor({DType::F32, {0, 2}, {}}), Value::tensor({DType::F32, {2, 0}, {}})));
  CHECK(identical(Value::tuple({f32(1), f32(2)}), Value::tuple({f32(1), f32(2)})));
  CHECK_FALSE(identical(Value::tuple({f32(1)}), Value::tuple({f32(1), f32(2)})));
  CHECK_FALSE(identical(list(3), list(4)));
}

TEST_CASE("arrays that grow out of one another keep their own elements", "[value]") {
  const Value empty = Value::array({});
  const Value one = empty.withPushed(f32(1));
  const Value two = one.withPushed(f32(2));
  const Value other = one.withPushed(f32(3));
  CHECK(empty.elements().empty());
  CHECK(identical(one, Value::array({f32(1)})));
  CHECK(identical(two, Value::array({f32(1), f32(2)})));
  CHECK(identical(other, Value::array({f32(1), f32(3)})));
  CHECK_FALSE(identical(two, other));
  CHECK_FALSE(identical(one, two));
  CHECK_FALSE(identical(one, Value::tuple({f32(1)})));
  CHECK(two.isArray());
  Value deep = empty;
  for (int i = 0; i < 1000000; ++i) deep = Value::array({deep});
  deep = {};
}

TEST_CASE("long lists are let go of and compared without recursion", "[value][depth]") {
  Value one = list(effort(1'000'000, 100'000));
  Value two = list(effort(1'000'000, 100'000));
  CHECK(identical(one, two));
  one = {};
  CHECK(two.constructor().tag == 0);
}

TEST_CASE("shared parts are compared once", "[value]") {
  // 2^60 leaves, 61 objects.
  Value a = f32(1);
  Value b = f32(1);
  for (int i = 0; i < 60; ++i) {
    a = Value::tuple({a, a});
    b = Value::tuple({b, b});
  }
  CHECK(identical(a, b));
}

}  // namespace
}  // namespace baton::eval
