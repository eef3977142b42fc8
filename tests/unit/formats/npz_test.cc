#include "formats/npz.h"

#include <cstring>
#include <random>

#include <catch2/catch.hpp>

namespace baton {
namespace {

std::vector<NpzEntry> twoArrays() {
  std::vector<NpzEntry> entries = {
      {"x", {DType::F32, {2}, std::vector<std::byte>(8, std::byte{1})}},
      {"a/long name", {DType::I64, {}, std::vector<std::byte>(8, std::byte{2})}}};
  return entries;
}

TEST_CASE("arrays round-trip through npz in order") {
  const std::vector<std::byte> file = writeNpz(twoArrays()).value();
  const std::vector<NpzEntry> back = readNpz(file).value();
  REQUIRE(back.size() == 2);
  CHECK(back[0].name == "x");
  CHECK(back[0].array.shape == std::vector<int64_t>{2});
  CHECK(back[0].array.bytes == twoArrays()[0].array.bytes);
  CHECK(back[1].name == "a/long name");
  CHECK(back[1].array.dtype == DType::I64);
  CHECK(back[1].array.shape.empty());
}

TEST_CASE("the same arrays give the same bytes") {
  CHECK(writeNpz(twoArrays()).value() == writeNpz(twoArrays()).value());
}

TEST_CASE("an archive of an empty array reads back") {
  const std::vector<NpzEntry> empty = {{"none", {DType::F32, {0, 3}, {}}}};
  const std::vector<NpzEntry> back = readNpz(writeNpz(empty).value()).value();
  REQUIRE(back.size() == 1);
  CHECK(back[0].array.shape == std::vector<int64_t>{0, 3});
}

TEST_CASE("an archive without arrays reads back") { CHECK(readNpz(writeNpz({}).value()).value().empty()); }

TEST_CASE("what is no archive, or holds too much, is refused") {
  CHECK(readNpz({}).error().code() == ErrorCode::Malformed);
  const std::vector<std::byte> text(100, std::byte{'x'});
  CHECK(readNpz(text).error().code() == ErrorCode::Malformed);
  CHECK_THAT(readNpz(writeNpz(twoArrays()).value(), 100).error().message(), Catch::Contains("claims"));
}

TEST_CASE("mutated archives are read or refused") {
  const std::vector<std::byte> good = writeNpz(twoArrays()).value();
  std::mt19937 generator(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> bad = good;
    for (unsigned k = 0; k <= generator() % 4; ++k)
      bad[generator() % bad.size()] = std::byte(generator() & 0xff);
    if (generator() % 4 == 0) bad.resize(generator() % bad.size());
    if (!readNpz(bad)) ++refused;
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace baton
