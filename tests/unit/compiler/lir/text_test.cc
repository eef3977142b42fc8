#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include "compiler/lir/parser.h"
#include "compiler/lir/printer.h"
#include "compiler/lir/verifier.h"

namespace baton::lir {
namespace {

constexpr const char* kEverything = R"(func @main signature<0> {
b0(%0: i64, %1: tensor<f32,2>, %2: adt<3>):
  %3: i64 = const i64, 0xffffffffffffffff
  %4: bool = lt.i64 %0, %3
  branch %4, b1, b2
b1:
  %5: i64, %6: closure<1>, %7: tensor<f16,0,1> = call @other, (%0, %3), (%2)
  drop %6!
  %8: tensor<f32,2> = alloc_tensor f32, 0, (%5, %0)
  call_kernel kernel<4>, (%1), (%8), ()
  jump b3(%5, %8)
b2:
  switch_tag %2, [b4, b4, b5]
b3(%9: i64, %10: tensor<f32,2>):
  ret (%9), (%10)
b4:
  fail message<2>, (%0)
b5:
  jump b3(%3, %1)
}

func @other signature<1> closure(tensor<f32,1>, i64) {
b0(%0: closure<1,1>, %1: i64):
  %2: tensor<f32,1> = capture_ref %0, 0
  %3: cell<0> = cell_new_ref kind<0>, %2!
  %4: adt<1> = make_adt 0, type<1>, (%3!), (%1)
  ret (), (%4!)
}
)";

std::string errorOf(std::string_view text) {
  Result<Module> module = parseModule(text);
  REQUIRE(!module.has_value());
  CHECK(module.assume_error().code() == ErrorCode::Malformed);
  return module.assume_error().message();
}

std::string ruleOf(std::string_view text) {
  Result<Module> module = parseModule(text);
  REQUIRE(module.has_value());
  Result<void> verified = verify(module.assume_value());
  REQUIRE(!verified.has_value());
  return verified.assume_error().message();
}

TEST_CASE("what is printed parses back to the same text") {
  Result<Module> module = parseModule(kEverything);
  REQUIRE(module.has_value());
  CHECK(print(module.assume_value()) == kEverything);
  CHECK(module.assume_value().functions.size() == 2);
}

TEST_CASE("text that is no low-level form is refused with its place") {
  CHECK(errorOf("func @f signature<0> {\nb0:\n  nonsense\n}") == "3:3: expected an instruction");
  CHECK(errorOf("func @f signature<0> {\nb1:\n  ret (), ()\n}") == "2:3: block b1 found, expected b0");
  CHECK(errorOf("func @f signature<0> {\nb0(%0: f33):\n  ret (), ()\n}") == "2:8: expected a kind");
  CHECK(errorOf("func @f signature<0> {\nb0:\n  tail_call @g, (), ()\n}") == "3:14: unknown function");
  CHECK(errorOf("func @f signature<0> {\nb0:\n  ret () ()\n}") == "3:10: expected ','");
  CHECK(errorOf("func @f signature<0> {\nb0:\n  ret (%99999999999), ()\n}") == "3:20: number out of range");
  CHECK(errorOf("func @f signature<0> { } func @f signature<0> { }") == "1:34: function @f is defined twice");
  CHECK(errorOf("func @f signature<0> {\nb0:\n") == "3:1: expected '}'");
}

TEST_CASE("the verifier names the rule") {
  CHECK(ruleOf("func @f signature<0> {\nb0:\n  ret (%0), ()\n}") ==
        "low-level form of @f, b0: ret: register %0 is not defined on every path");
  CHECK(ruleOf("func @f signature<0> {\nb0(%0: f32):\n  %1: i64 = add.i64 %0, %0\n  ret (), ()\n}") ==
        "low-level form of @f, b0: add.i64: register %0 is f32, expected i64");
  CHECK(ruleOf("func @f signature<0> {\nb0(%0: adt<0>):\n  ret (%0), ()\n}") ==
        "low-level form of @f, b0: ret: register %0 of kind adt<0> is of the wrong bank");
  CHECK(ruleOf("func @f signature<0> {\nb0(%0: i64):\n  jump b1(%0, %0)\nb1(%1: i64):\n  ret (), ()\n}") ==
        "low-level form of @f, b0: 2 arguments found for b1, expected 1");
  CHECK(ruleOf("func @f signature<0> {\nb0(%0: i64):\n  jump b1(%0)\nb1(%1: f32):\n  ret (), ()\n}") ==
        "low-level form of @f, b0: argument 0 of b1 is i64, expected f32");
  CHECK(ruleOf("func @f signature<0> {\nb0(%0: bool):\n  branch %0, b1, b2\nb1:\n  jump b2\nb2:\n  ret (), "
               "()\n}") == "low-level form of @f, b0: critical edge to b2");
  CHECK(ruleOf("func @f signature<0> {\nb0:\n  jump b0\n}") ==
        "low-level form of @f, b0: the entry block cannot be a target");
  CHECK(ruleOf("func @f signature<0> {\nb0(%0: bool):\n  branch %0, b1, b2\nb1:\n  %1: i64 = const i64, "
               "0x1\n  jump "
               "b3\nb2:\n  jump b3\nb3:\n  ret (%1), ()\n}") ==
        "low-level form of @f, b3: ret: register %1 is not defined on every path");
  CHECK(ruleOf("func @f signature<0> {\nb0:\n  %0: i64 = const i64, 0x1\n  %0: i64 = const i64, 0x1\n  ret "
               "(), ()\n}") == "low-level form of @f, b0: register %0 is defined twice, first in b0");
  CHECK(ruleOf("func @f signature<0> {\nb0:\n  jump b7\n}") ==
        "low-level form of @f, b0: jump: block b7 does not exist");
}

TEST_CASE("the program of the documentation is one, as it would be printed") {
  std::ifstream file(BATON_LIR_PAGE);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::string fence = "\n```\n";
  size_t begin = page.find(fence);
  REQUIRE(begin != std::string::npos);
  begin += fence.size();
  const std::string text = page.substr(begin, page.find(fence, begin) + 1 - begin);
  const Result<Module> module = parseModule(text);
  REQUIRE(module.has_value());
  CHECK(module.value().functions.size() == 1);
  CHECK(print(module.value()) == text);
}

}  // namespace
}  // namespace baton::lir
