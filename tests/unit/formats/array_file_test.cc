#include "formats/array_file.h"

#include <catch2/catch.hpp>

#include "formats/npy.h"
#include "formats/npz.h"

namespace baton {
namespace {

const Array kArray{DType::I16, {2}, {std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}}};

void checkArray(const ArrayFile& file, const std::string& name) {
  REQUIRE(file.arrays.size() == 1);
  CHECK(file.arrays[0].name == name);
  CHECK(file.arrays[0].dtype == DType::I16);
  CHECK(file.arrays[0].shape == std::vector<int64_t>{2});
  CHECK(std::ranges::equal(file.arrays[0].bytes, kArray.bytes));
}

TEST_CASE("a file of arrays is known by its bytes, not by its name") {
  const std::vector<NpzEntry> entries = {{"w", kArray}};
  checkArray(readArrayFile("x.bin", writeNpz(entries).value()).value(), "w");
  checkArray(readArrayFile("dir/encoder.w.npy", writeNpy(kArray).value()).value(), "encoder.w");
  std::string text = R"({"w":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}})";
  text.insert(0, 8, '\0');
  text[0] = static_cast<char>(text.size() - 8);
  text += std::string("\1\0\2\0", 4);
  checkArray(readArrayFile("x.bin", std::as_bytes(std::span(text))).value(), "w");
}

TEST_CASE("what is no file of arrays is refused") {
  for (const std::string_view text : {"", "hello", "PK", "\x93NUMPY"}) {
    const auto result = readArrayFile("x", std::as_bytes(std::span(text.data(), text.size())));
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == ErrorCode::Malformed);
  }
  CHECK(readArrayFile("x.bin", {}).error().message() == "not a .npz, .npy, .safetensors or .vmparams file");
  CHECK(readArrayFile("x.safetensors", {}).error().message() ==
        "safetensors: found 0 bytes, expected at least 8");
}

}  // namespace
}  // namespace baton
