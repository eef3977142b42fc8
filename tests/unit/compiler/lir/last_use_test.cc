#include <catch2/catch.hpp>

#include "compiler/lir/parser.h"
#include "compiler/lir/passes/passes.h"
#include "compiler/lir/printer.h"
#include "compiler/lir/verifier.h"

namespace baton::lir {
namespace {

std::string marked(std::string_view text) {
  Result<Module> parsed = parseModule(text);
  REQUIRE(parsed.has_value());
  Module& module = parsed.assume_value();
  markLastUses(module.functions[0]);
  REQUIRE(verify(module).has_value());
  return print(module);
}

TEST_CASE("of several reads in one instruction the last one ends the value") {
  CHECK(marked(R"(func @f signature<0> {
b0(%0: adt<0>, %1: i64):
  %2: adt<0> = make_adt 0, type<0>, (%0, %0), (%1, %1)
  ret (), (%2)
}
)") == R"(func @f signature<0> {
b0(%0: adt<0>, %1: i64):
  %2: adt<0> = make_adt 0, type<0>, (%0, %0!), (%1, %1!)
  ret (), (%2!)
}
)");
}

TEST_CASE("a value that one branch needs is dropped on the other") {
  CHECK(marked(R"(func @f signature<0> {
b0(%0: bool, %1: adt<0>, %2: adt<0>):
  branch %0, b1, b2
b1:
  ret (), (%1)
b2:
  ret (), (%2)
}
)") == R"(func @f signature<0> {
b0(%0: bool, %1: adt<0>, %2: adt<0>):
  branch %0!, b1, b2
b1:
  drop %2!
  ret (), (%1!)
b2:
  drop %1!
  ret (), (%2!)
}
)");
}

TEST_CASE("unused parameters and results are dropped where they appear") {
  CHECK(marked(R"(func @f signature<0> {
b0(%0: adt<0>, %1: adt<0>):
  %2: adt<0>, %3: adt<0> = call @f, (), (%1, %1)
  jump b1(%3)
b1(%4: adt<0>):
  ret (), ()
}
)") == R"(func @f signature<0> {
b0(%0: adt<0>, %1: adt<0>):
  drop %0!
  %2: adt<0>, %3: adt<0> = call @f, (), (%1, %1!)
  drop %2!
  jump b1(%3!)
b1(%4: adt<0>):
  drop %4!
  ret (), ()
}
)");
}

TEST_CASE("a value from outside a loop lives through all its turns and dies at the exit") {
  CHECK(marked(R"(func @f signature<0> {
b0(%0: i64, %1: adt<0>, %2: adt<0>):
  jump b1(%2)
b1(%3: adt<0>):
  %4: i64 = get_tag %3
  %5: i64 = get_tag %1
  %6: bool = lt.i64 %4, %5
  branch %6, b2, b3
b2:
  %7: adt<0> = make_adt 0, type<0>, (%3), (%0)
  jump b1(%7)
b3:
  ret (), (%3)
}
)") == R"(func @f signature<0> {
b0(%0: i64, %1: adt<0>, %2: adt<0>):
  jump b1(%2!)
b1(%3: adt<0>):
  %4: i64 = get_tag %3
  %5: i64 = get_tag %1
  %6: bool = lt.i64 %4!, %5!
  branch %6!, b2, b3
b2:
  %7: adt<0> = make_adt 0, type<0>, (%3!), (%0)
  jump b1(%7!)
b3:
  drop %1!
  ret (), (%3!)
}
)");
}

TEST_CASE("a value passed twice to a block is copied once and moved once") {
  CHECK(marked(R"(func @f signature<0> {
b0(%0: adt<0>):
  jump b1(%0, %0)
b1(%1: adt<0>, %2: adt<0>):
  ret (), (%1, %2)
}
)") == R"(func @f signature<0> {
b0(%0: adt<0>):
  jump b1(%0, %0!)
b1(%1: adt<0>, %2: adt<0>):
  ret (), (%1!, %2!)
}
)");
}

}  // namespace
}  // namespace baton::lir
