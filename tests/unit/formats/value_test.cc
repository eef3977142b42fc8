#include "formats/value.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace baton {
namespace {

Value number(float value) { return Value::scalar(DType::F32, scalarBits(value)); }

template <class... Children>
std::vector<Value> values(Children... children) {
  std::vector<Value> all;
  (all.push_back(std::move(children)), ...);
  return all;
}

TEST_CASE("values know their kind and their parts") {
  const Value unit;
  CHECK(unit.kind() == Value::Kind::Tuple);
  CHECK(unit.children().empty());
  const Value pair = Value::tuple(values(number(1), number(2)));
  CHECK(pair.children().size() == 2);
  CHECK(pair.children()[1].tensor().scalarAt(0) == scalarBits(2.0f));
  CHECK(pair.children()[1].tensor().shape.empty());
  const Value cons = Value::constructor("Cons", values(number(1), Value::constructor("Nil", {})));
  CHECK(cons.name() == "Cons");
  CHECK(cons.children()[1].name() == "Nil");
  CHECK(number(3).children().empty());
  CHECK(number(3).name().empty());
}

TEST_CASE("comparison looks at structure, names, types and elements") {
  CHECK(Value::tuple(values(number(1))) == Value::tuple(values(number(1))));
  CHECK_FALSE(Value::tuple(values(number(1))) == Value::list(values(number(1))));
  CHECK_FALSE(Value::tuple(values(number(1))) == number(1));
  CHECK_FALSE(Value::constructor("A", {}) == Value::constructor("B", {}));
  CHECK_FALSE(number(1) == number(2));
  CHECK_FALSE(number(0.0f) == number(-0.0f));
  CHECK(number(NAN) == number(-NAN));
  CHECK_FALSE(Value::scalar(DType::I32, 1) == Value::scalar(DType::I64, 1));
  CHECK_FALSE(Value::tensor({DType::F32, {1}, std::vector<std::byte>(4)}) == number(0));
  CHECK(Value::tensor({DType::F32, {0}, {}}) == Value::tensor({DType::F32, {0}, {}}));
  CHECK_FALSE(Value::tensor({DType::F32, {0}, {}}) == Value::tensor({DType::F32, {0, 1}, {}}));
}

TEST_CASE("moving a part of a value over the whole is safe") {
  Value value = Value::tuple(values(Value::tuple(values(number(7))), number(1)));
  value = std::move(value.mutableChildren()[0]);
  CHECK(value == Value::tuple(values(number(7))));
}

TEST_CASE("a million levels are copied, compared and destroyed without recursion") {
  Value list = Value::constructor("Nil", {});
  for (int i = 0; i < 1'000'000; ++i) {
    std::vector<Value> fields;
    fields.push_back(Value::scalar(DType::I32, static_cast<uint64_t>(i)));
    fields.push_back(std::move(list));
    list = Value::constructor("Cons", std::move(fields));
  }
  const Value copy = list.clone();
  CHECK(copy == list);
  Value other = Value::tuple({});
  other = std::move(list);
  CHECK(copy == other);
  // Nested to the left as well
  Value nested;
  for (int i = 0; i < 1'000'000; ++i) nested = Value::tuple(values(std::move(nested)));
  CHECK(nested.clone() == nested);
}

}  // namespace
}  // namespace baton
