#include <catch2/catch.hpp>

#include "bytecode/scalar_form.h"
#include "bytecode/vmasm/base64.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/unit/bytecode/sample.h"

namespace baton::bytecode {
namespace {

std::string roundTrip(std::string_view text) {
  auto program = parseVmasm(text);
  if (!program.has_value()) return "error: " + program.error().message();
  auto printed = printVmasm(program.value());
  REQUIRE(printed.has_value());
  return printed.value();
}

TEST_CASE("everything that a program can hold round-trips through text") {
  CHECK(roundTrip(kEverything) == kEverything);
}

}  // namespace
}  // namespace baton::bytecode
