#include "formats/extent_text.h"

#include <catch2/catch.hpp>

namespace baton {
namespace {

std::string printedAgain(const std::string& text) {
  std::vector<std::string> names;
  Result<DimExpr> extent = parseExtent(text, names);
  if (!extent.has_value()) return extent.assume_error().message();
  return extent.assume_value().print([&](DimSymbol symbol) { return names.at(symbol.value()); });
}

TEST_CASE("extents are read as they are printed") {
  for (const char* text :
       {"0", "512", "n", "n_1", "2*n + 1", "-n - 2", "4*n*m - m + 9223372036854775807", "floor_div(n, 2)",
        "3*max(n, m)*min(n, 1)", "floor_mod(n - 1, 4) + ceil_div(n, 8)"}) {
    INFO(text);
    std::vector<std::string> names;
    const Result<DimExpr> extent = parseExtent(text, names);
    REQUIRE(extent.has_value());
    // Sums are printed in an order that depends on the numbers of the symbols.
    const Result<DimExpr> again = parseExtent(printedAgain(text), names);
    REQUIRE(again.has_value());
    CHECK(extent.assume_value() == again.assume_value());
  }
  CHECK(printedAgain(" 1+n * 2") == "2*n + 1");
}

TEST_CASE("names of extents keep their numbers") {
  std::vector<std::string> names{"m"};
  const DimExpr extent = parseExtent("2*n + m", names).value();
  CHECK(names == std::vector<std::string>{"m", "n"});
  CHECK(
      extent.evaluate([](DimSymbol symbol) -> std::optional<int64_t> { return symbol.value() == 0 ? 5 : 70; })
          .value() == 145);
}

TEST_CASE("what is no extent is refused") {
  for (const char* text :
       {"", "?", "n +", "2*", "n m", "(n", "floor_div(n)", "f(n, 2)", "9223372036854775808"}) {
    INFO(text);
    std::vector<std::string> names;
    const Result<DimExpr> extent = parseExtent(text, names);
    REQUIRE(!extent.has_value());
    CHECK(extent.assume_error().code() == ErrorCode::Malformed);
  }
  std::string deep = "n";
  for (int i = 0; i < 100000; ++i) deep = "min(" + deep;
  CHECK(printedAgain(deep).find("is no extent") != std::string::npos);
}

}  // namespace
}  // namespace baton
