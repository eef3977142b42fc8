#include "base/byte_cursor.h"

#include <catch2/catch.hpp>

namespace baton {
namespace {

TEST_CASE("what is written reads back, little-endian") {
  ByteWriter writer;
  writer.write(uint32_t{0x01020304});
  writer.write(int64_t{-2});
  writer.write(1.5f);
  writer.writeText("abc");
  writer.alignTo(8);
  CHECK(writer.size() == 24);
  writer.alignTo(8);
  CHECK(writer.size() == 24);
  writer.patch(0, uint8_t{0xFF});
  CHECK(writer.bytes()[0] == std::byte{0xFF});
  CHECK(writer.bytes()[3] == std::byte{1});

  ByteReader reader(writer.bytes());
  CHECK(reader.read<uint32_t>().value() == 0x010203FF);
  CHECK(reader.read<int64_t>().value() == -2);
  CHECK(reader.read<float>().value() == 1.5f);
  CHECK(reader.readText(3).value() == "abc");
  CHECK(reader.remaining() == 5);
  REQUIRE(reader.skip(5).has_value());
  CHECK(reader.atEnd());
}

TEST_CASE("reading beyond the end is an error that names the place") {
  const std::vector<std::byte> bytes(6);
  ByteReader reader(bytes, 100);
  REQUIRE(reader.read<uint32_t>().has_value());
  const auto wrong = reader.read<uint32_t>();
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().code() == ErrorCode::Malformed);
  CHECK(wrong.error().message() == "ends too early: 4 bytes needed at offset 104, 2 left");
  CHECK(reader.position() == 4);
  CHECK(!reader.readBytes(SIZE_MAX).has_value());
  CHECK(!reader.skip(3).has_value());
  CHECK(reader.readBytes(0).value().empty());
  CHECK(reader.seek(7).error().message() == "offset 107 lies beyond the end at 106");
  REQUIRE(reader.seek(6).has_value());
  CHECK(!reader.read<uint8_t>().has_value());
  CHECK(!ByteReader({}).read<uint8_t>().has_value());
}

TEST_CASE("a reader of a part ends where the part ends") {
  const std::vector<std::byte> bytes(10);
  ByteReader reader(bytes);
  REQUIRE(reader.skip(2).has_value());
  Result<ByteReader> part = reader.sub(3);
  REQUIRE(part.has_value());
  CHECK(reader.position() == 5);
  CHECK(part.value().remaining() == 3);
  CHECK(part.value().readBytes(4).error().message() == "ends too early: 4 bytes needed at offset 2, 3 left");
  CHECK(!reader.sub(6).has_value());
}

}  // namespace
}  // namespace baton
