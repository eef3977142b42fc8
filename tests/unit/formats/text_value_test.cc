#include "formats/text_value.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "formats/array_elements.h"
#include "tests/effort.h"

namespace baton {
namespace {

TextValue number(float value) { return TextValue::scalar(DType::F32, scalarBits(value)); }

template <class... Children>
std::vector<TextValue> values(Children... children) {
  std::vector<TextValue> all;
  (all.push_back(std::move(children)), ...);
  return all;
}

TEST_CASE("values know their kind and their parts") {
  const TextValue unit;
  CHECK(unit.kind() == TextValue::Kind::Tuple);
  CHECK(unit.children().empty());
  const TextValue pair = TextValue::tuple(values(number(1), number(2)));
  CHECK(pair.children().size() == 2);
  CHECK(elementAt(pair.children()[1].tensor(), 0) == scalarBits(2.0f));
  CHECK(pair.children()[1].tensor().shape.empty());
  const TextValue cons = TextValue::constructor("Cons", values(number(1), TextValue::constructor("Nil", {})));
  CHECK(cons.name() == "Cons");
  CHECK(cons.children()[1].name() == "Nil");
  CHECK(number(3).children().empty());
  CHECK(number(3).name().empty());
}

TEST_CASE("comparison looks at structure, names, types and elements") {
  CHECK(TextValue::tuple(values(number(1))) == TextValue::tuple(values(number(1))));
  CHECK_FALSE(TextValue::tuple(values(number(1))) == TextValue::list(values(number(1))));
  CHECK_FALSE(TextValue::tuple(values(number(1))) == number(1));
  CHECK_FALSE(TextValue::constructor("A", {}) == TextValue::constructor("B", {}));
  CHECK_FALSE(number(1) == number(2));
  CHECK_FALSE(number(0.0f) == number(-0.0f));
  CHECK(number(NAN) == number(-NAN));
  CHECK_FALSE(TextValue::scalar(DType::I32, 1) == TextValue::scalar(DType::I64, 1));
  CHECK_FALSE(TextValue::tensor({DType::F32, {1}, std::vector<std::byte>(4)}) == number(0));
  CHECK(TextValue::tensor({DType::F32, {0}, {}}) == TextValue::tensor({DType::F32, {0}, {}}));
  CHECK_FALSE(TextValue::tensor({DType::F32, {0}, {}}) == TextValue::tensor({DType::F32, {0, 1}, {}}));
}

TEST_CASE("moving a part of a value over the whole is safe") {
  TextValue value = TextValue::tuple(values(TextValue::tuple(values(number(7))), number(1)));
  value = std::move(value.mutableChildren()[0]);
  CHECK(value == TextValue::tuple(values(number(7))));
}

TEST_CASE("a million levels are copied, compared and destroyed without recursion") {
  const int count = effort(1'000'000, 50'000);
  TextValue list = TextValue::constructor("Nil", {});
  for (int i = 0; i < count; ++i) {
    std::vector<TextValue> fields;
    fields.push_back(TextValue::scalar(DType::I32, static_cast<uint64_t>(i)));
    fields.push_back(std::move(list));
    list = TextValue::constructor("Cons", std::move(fields));
  }
  const TextValue copy = list.clone();
  CHECK(copy == list);
  TextValue other = TextValue::tuple({});
  other = std::move(list);
  CHECK(copy == other);
  // Nested to the left as well
  TextValue nested;
  for (int i = 0; i < count; ++i) nested = TextValue::tuple(values(std::move(nested)));
  CHECK(nested.clone() == nested);
}

}  // namespace
}  // namespace baton
