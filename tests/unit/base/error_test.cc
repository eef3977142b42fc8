#include "base/error.h"

#include <catch2/catch.hpp>

namespace baton {
namespace {

Result<int> fails() { return Error(ErrorCode::Io, "x.npy: no such file"); }
Result<int> passesOn() {
  BATON_TRY_ASSIGN(int value, fails());
  return value + 1;
}

TEST_CASE("an error keeps its message and collects the trail") {
  Result<int> result = passesOn();
  REQUIRE(!result.has_value());
  CHECK(result.error().code() == ErrorCode::Io);
  CHECK(result.error().message() == "x.npy: no such file");
  CHECK(result.error().trail().size() == 2);
}

TEST_CASE("describe prints the program trail, innermost first") {
  Error error(ErrorCode::ProgramError, "division by zero");
  error.at({"inner", 4, "m.relay", 3, 7});
  error.at({"main", 9, "", 0, 0});
  CHECK(error.describe() ==
        "program error: division by zero\n  in @inner at m.relay:3:7\n  in @main at pc 9");
}

TEST_CASE("describe prints recursion that went deep in one line") {
  Error error(ErrorCode::LimitReached, "too deep");
  for (int i = 0; i < 3; ++i) error.at({"f", 4, "m.relay", 3, 7});
  error.at({"f", 9, "m.relay", 3, 9});
  error.at({"main", 9, "", 0, 0});
  error.at({"main", 9, "", 0, 0});
  CHECK(error.describe() ==
        "limit reached: too deep\n  in @f at m.relay:3:7, 3 frames\n  in @f at m.relay:3:9\n"
        "  in @main at pc 9, 2 frames");
}

}  // namespace
}  // namespace baton
