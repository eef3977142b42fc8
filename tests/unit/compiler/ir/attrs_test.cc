#include "compiler/ir/attrs.h"

#include <catch2/catch.hpp>

namespace baton::ir {
namespace {

TEST_CASE("attributes are sorted and unique") {
  Attrs attrs;
  attrs.set("units", int64_t{3});
  attrs.set("axis", std::vector<int64_t>{0, 1});
  attrs.set("units", AttrValue{});
  REQUIRE(attrs.entries().size() == 2);
  CHECK(attrs.entries()[0].first == "axis");
  CHECK(attrs.isNone("units"));
  CHECK(attrs.isNone("absent"));
  CHECK(!attrs.isNone("axis"));
  CHECK(attrs.intsOf("axis") == std::vector<int64_t>{0, 1});
  CHECK(!attrs.get<int64_t>("units"));
  attrs.erase("axis");
  attrs.erase("axis");
  CHECK(attrs.entries().size() == 1);
}

}  // namespace
}  // namespace baton::ir
