// Arrays: types of the operations, extents of elements, and what typing refuses.
#include <catch2/catch.hpp>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "tests/unit/compiler/program.h"

namespace baton {
namespace {

using testing::Program;
using testing::resultOf;
using testing::type;

/// Of `def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) { ... }`.
std::string resultOfBody(const std::string& body) {
  return resultOf("def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) { " + body + " }");
}

/// The extents of a row that typing wrote into the first stack or concat.
std::vector<int64_t> rowExtentsOf(const std::string& text) {
  Program program = type(text);
  REQUIRE(program.messages() == "");
  for (const ir::Block& block : program.function("main").blocks)
    for (const ir::Binding& binding : block.bindings)
      if (const auto* array = std::get_if<ir::ArrayOp>(&binding.rhs);
          array != nullptr &&
          (array->operation == ir::ArrayOperation::Stack || array->operation == ir::ArrayOperation::Concat))
        return array->rowExtents;
  FAIL("nothing is stacked");
  return {};
}

TEST_CASE("elements are what was put in", "[arrays]") {
  CHECK(resultOfBody("array_push(array_new(), %x)") == "Array[Tensor[(n, 4), float32]]");
  CHECK(resultOfBody("array_push(array_push(array_new(), %x), %y)") == "Array[Tensor[(?, 4), float32]]");
  CHECK(resultOfBody("array_set(array_push(array_new(), %x), 0, %y)") == "Array[Tensor[(?, 4), float32]]");
  CHECK(resultOfBody("array_get(array_push(array_new(), %x), 0)") == "Tensor[(n, 4), float32]");
  CHECK(resultOfBody("array_length(array_push(array_new(), %x))") == "int32");
  CHECK(resultOfBody("array_push(array_new(), (%x, True))") == "Array[(Tensor[(n, 4), float32], bool)]");
  CHECK(resultOfBody("array_push(array_new(), array_push(array_new(), 1i64))") == "Array[Array[int64]]");
  CHECK(resultOfBody("array_get(array_push(array_push(array_new(), %x), %y), 1)") ==
        "Tensor[(r, 4), float32]");
  // Each reading of an unknown extent is one of its own.
  CHECK(resultOfBody("let %a = array_push(array_push(array_new(), %x), %y); (array_get(%a, 0), array_get(%a, "
                     "1))") == "(Tensor[(r, 4), float32], Tensor[(r_1, 4), float32])");
}

TEST_CASE("what is stacked has an extent more", "[arrays]") {
  CHECK(resultOfBody("array_stack(array_push(array_new(), %x))") == "Tensor[(r, n, 4), float32]");
  CHECK(resultOfBody("array_concat(array_push(array_push(array_new(), %x), %y))") ==
        "Tensor[(r, 4), float32]");
  CHECK(resultOfBody("array_unstack(%x)") == "Array[Tensor[(4,), float32]]");
  CHECK(resultOfBody("array_split(%x, shape_of(%y))") == "Array[Tensor[(?, 4), float32]]");
  CHECK(resultOfBody("array_unstack(array_get(array_unstack(%x), 0))") == "Array[float32]");
  CHECK(resultOfBody("array_stack(array_push(array_new(), 1i64))") == "Tensor[(r,), int64]");
}

TEST_CASE("numbers of extents are written down for arrays without elements", "[arrays]") {
  CHECK(rowExtentsOf("def @main(%a: Array[Tensor[(?, 4), float32]]) { array_stack(%a) }") ==
        std::vector<int64_t>{-1, 4});
  CHECK(rowExtentsOf("def @main(%a: Array[Tensor[(?, 4), float32]]) { array_concat(%a) }") ==
        std::vector<int64_t>{4});
  CHECK(rowExtentsOf("def @main(%a: Array[float32]) { array_stack(%a) }").empty());
  CHECK(rowExtentsOf("def @main() { let %a: Array[Tensor[(3,), float32]] = array_new(); array_stack(%a) }") ==
        std::vector<int64_t>{3});
  CHECK(rowExtentsOf("def @main() -> Tensor[(?, ?), float32] { let %a: Array[Tensor[(?,), float32]] = "
                     "array_new(); array_stack(%a) }") == std::vector<int64_t>{-1});
}

TEST_CASE("arrays keep their extents over calls and loops", "[arrays]") {
  CHECK(resultOf("def @grow(%a: Array[Tensor[(?, 4), float32]], %x: Tensor[(?, 4), float32], %k: int32) {\n"
                 "  if (%k == 0) { %a } else { @grow(array_push(%a, %x), %x, %k - 1) }\n}\n"
                 "def @main(%x: Tensor[(2, 4), float32], %k: int32) { @grow(array_new(), %x, %k) }") ==
        "Array[Tensor[(2, 4), float32]]");
  CHECK(
      resultOf("def @grow(%a: Array[Tensor[(?, 4), float32]], %x: Tensor[(?, 4), float32], %k: int32) {\n"
               "  if (%k == 0) { %a } else { @grow(array_push(%a, %x), concatenate((%x, %x)), %k - 1) }\n}\n"
               "def @main(%x: Tensor[(2, 4), float32], %k: int32) { @grow(array_new(), %x, %k) }") ==
      "Array[Tensor[(?, 4), float32]]");
  CHECK(
      resultOf(
          "def @main(%a: Array[Tensor[(n, 4), float32]], %x: Tensor[(n,), float32]) { array_get(%a, 0) }") ==
      "Tensor[(n, 4), float32]");
}

TEST_CASE("operations on arrays are values", "[arrays]") {
  CHECK(resultOf("def @apply(%f: fn(Array[int32]) -> int32, %a: Array[int32]) { %f(%a) }\n"
                 "def @main(%a: Array[int32]) { @apply(array_length, %a) }") == "int32");
}

TEST_CASE("what does not fit is an error", "[arrays]") {
  const auto errorOf = [](const std::string& body) {
    return type("def @main(%a: Array[int64], %x: Tensor[(n,), float32], %t: Array[(int32, bool)]) { " + body +
                " }")
        .messages();
  };
  using Catch::Contains;
  CHECK_THAT(errorOf("array_push(%a, %x)"),
             Contains("argument 2 of array_push has type Tensor[(?,), float32]; expected int64"));
  CHECK_THAT(errorOf("array_get(%a, 0i64)"),
             Contains("argument 2 of array_get has type int64; expected int32"));
  CHECK_THAT(errorOf("array_get(%x, 0)"),
             Contains("argument 1 of array_get has type Tensor[(?,), float32]; expected Array[_]"));
  CHECK_THAT(errorOf("array_stack(%t)"),
             Contains("argument 1 of array_stack has type Array[(int32, bool)]; expected Array["));
  CHECK_THAT(errorOf("array_unstack(take(%x, 0))"), Contains("array_unstack: a scalar has no rows"));
  CHECK_THAT(errorOf("array_concat(%a)"), Contains("array_concat: a scalar has no rows"));
  CHECK_THAT(errorOf("array_split(%x, %x)"), Contains("argument 2 of array_split has type"));
  CHECK_THAT(errorOf("array_push(%a)"), Contains("array_push takes 2 arguments, found 1"));
  CHECK_THAT(errorOf("array_length(%a, axis=1)"), Contains("only operators have attributes"));
  CHECK_THAT(errorOf("array_stck(%a)"),
             Contains("unknown operator or constructor array_stck; did you mean array_stack?"));
  CHECK_THAT(type("type Array { A }\ndef @main() { A }").messages(),
             Contains("Array is a type of the language"));
  CHECK_THAT(type("def @main(%a: Array) { %a }").messages(), Contains("unknown type Array"));
}

}  // namespace
}  // namespace baton
