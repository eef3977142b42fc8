#include "formats/safetensors.h"

#include <cstring>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace baton {
namespace {

std::vector<std::byte> bytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

/// A file with this header and `size` bytes 1, 2, 3, ... of data.
std::vector<std::byte> fileOf(std::string_view header, size_t size, uint64_t claimed = UINT64_MAX) {
  std::vector<std::byte> file(8);
  if (claimed == UINT64_MAX) claimed = header.size();
  for (size_t i = 0; i < 8; ++i) file[i] = std::byte(claimed >> (8 * i) & 0xff);
  const std::vector<std::byte> text = bytesOf(header);
  file.insert(file.end(), text.begin(), text.end());
  for (size_t i = 0; i < size; ++i) file.push_back(std::byte(i + 1));
  return file;
}

std::string failureOf(std::string_view header, size_t size) {
  const auto result = readSafetensors(fileOf(header, size));
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code() == ErrorCode::Malformed);
  return result.error().message();
}

constexpr std::string_view kTwo =
    R"({"__metadata__":{"format":"pt"},"b.w":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},)"
    R"("a":{"shape":[2],"data_offsets":[0,4],"dtype":"BF16"}}   )";

TEST_CASE("tensors of a safetensors file come in the order of their bytes") {
  const std::vector<std::byte> file = fileOf(kTwo, 12);
  CHECK(looksLikeSafetensors(file));
  const std::vector<NamedArrayView> views = readSafetensors(file).value();
  REQUIRE(views.size() == 2);
  CHECK(views[0].name == "a");
  CHECK(views[0].dtype == DType::BF16);
  CHECK(views[0].shape == std::vector<int64_t>{2});
  REQUIRE(views[0].bytes.size() == 4);
  CHECK(views[0].bytes[0] == std::byte{1});
  CHECK(views[1].name == "b.w");
  CHECK(views[1].dtype == DType::F32);
  CHECK(views[1].shape == std::vector<int64_t>{2, 1});
  REQUIRE(views[1].bytes.size() == 8);
  CHECK(views[1].bytes[0] == std::byte{5});
  CHECK(views[1].bytes.data() == file.data() + file.size() - 8);
}

TEST_CASE("safetensors files may be empty, and so may their tensors") {
  CHECK(readSafetensors(fileOf("{}", 0)).value().empty());
  const auto file = fileOf(
      R"({"x":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[0,9223372036854775807],)"
      R"("data_offsets":[8,8]},"z":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
      8);
  const auto views = readSafetensors(file).value();
  REQUIRE(views.size() == 3);
  CHECK(views[0].name == "z");
  CHECK(views[1].name == "x");
  CHECK(views[1].shape.empty());
  CHECK(views[1].bytes.size() == 8);
  CHECK(views[2].name == "y");
  CHECK(views[2].shape == std::vector<int64_t>{0, INT64_MAX});
}

TEST_CASE("every dtype of ours has its name in safetensors") {
  const std::pair<const char*, DType> names[] = {
      {"BOOL", DType::Bool}, {"I8", DType::I8},   {"I16", DType::I16},   {"I32", DType::I32},
      {"I64", DType::I64},   {"U8", DType::U8},   {"U16", DType::U16},   {"U32", DType::U32},
      {"U64", DType::U64},   {"F16", DType::F16}, {"BF16", DType::BF16}, {"F32", DType::F32},
      {"F64", DType::F64}};
  for (const auto& [name, dtype] : names) {
    const auto size = static_cast<size_t>(sizeBytes(dtype));
    const auto file = fileOf(std::string(R"({"x":{"dtype":")") + name +
                                 R"(","shape":[1],"data_offsets":[0,)" + std::to_string(size) + "]}}",
                             size);
    const auto views = readSafetensors(file).value();
    REQUIRE(views.size() == 1);
    CHECK(views[0].dtype == dtype);
    CHECK(views[0].bytes.size() == size);
  }
}

TEST_CASE("a safetensors file whose header is no header is refused") {
  const auto messageOf = [](const std::vector<std::byte>& file) {
    const auto result = readSafetensors(file);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code() == ErrorCode::Malformed);
    return result.error().message();
  };
  CHECK(messageOf({}) == "safetensors: found 0 bytes, expected at least 8");
  CHECK(messageOf(fileOf("{}", 0, 3)) ==
        "safetensors: the file ends inside the header: found 2 bytes, expected 3");
  CHECK(messageOf(fileOf("{}", 0, UINT64_MAX - 1)) ==
        "safetensors: the header claims 18446744073709551614 bytes; the format allows 100000000");
  CHECK(messageOf(fileOf("", 0)) == "safetensors: the header does not begin with {");
  CHECK(messageOf(fileOf(" {}", 0)) == "safetensors: the header does not begin with {");
  CHECK(failureOf("{", 0) == "safetensors: the header is no JSON: error at character 2");
  CHECK(failureOf("{}}", 0) == "safetensors: the header is no JSON: error at character 3");
  CHECK(failureOf("{\"\xff\":1}", 0) == "safetensors: the header is no JSON: error at character 3");
}

TEST_CASE("a safetensors header with other things than tensors is refused by name") {
  CHECK(failureOf(R"({"x":1})", 0) == "safetensors: tensor \"x\": found a number, expected an object");
  CHECK(failureOf(R"({"x":null})", 0) == "safetensors: tensor \"x\": found null, expected an object");
  CHECK(failureOf(R"({"x":{}})", 0) ==
        "safetensors: tensor \"x\": expected the keys dtype, shape and data_offsets");
  CHECK(failureOf(R"({"x":{"dtype":"F32","shape":[1]}})", 0) ==
        "safetensors: tensor \"x\": expected the keys dtype, shape and data_offsets");
  CHECK(failureOf(R"({"x":{"dtype":4}})", 0) ==
        "safetensors: tensor \"x\": found a number, expected the name of an element type");
  CHECK(failureOf(R"({"x":{"shape":[-1]}})", 0) == "safetensors: tensor \"x\": found -1, expected an extent");
  CHECK(failureOf(R"({"x":{"shape":[1.5]}})", 0) ==
        "safetensors: tensor \"x\": found 1.5, expected an extent");
  CHECK(failureOf(R"({"x":{"shape":[[]]}})", 0) ==
        "safetensors: tensor \"x\": found an array, expected an extent");
  CHECK(failureOf(R"({"x":{"shape":{}}})", 0) ==
        "safetensors: tensor \"x\": found an object, expected an array");
  CHECK(failureOf(R"({"x":{"data_offsets":[0,1,2]}})", 0) ==
        "safetensors: tensor \"x\": more than two data_offsets");
  CHECK(failureOf(R"({"x":{"dtype":"F32","dtype":"F32"}})", 0) ==
        "safetensors: tensor \"x\": found key \"dtype\", expected dtype, shape and data_offsets once each");
  CHECK(failureOf(R"({"x":{"stride":[]}})", 0) ==
        "safetensors: tensor \"x\": found key \"stride\", expected dtype, shape and data_offsets once each");
  CHECK(failureOf(R"({"__metadata__":{"a":1}})", 0) ==
        "safetensors: __metadata__: found a number, expected a string");
  CHECK(failureOf(R"({"__metadata__":[]})", 0) ==
        "safetensors: __metadata__: found an array, expected an object");
  const std::string x = R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  CHECK(failureOf("{" + x + "," + x + "}", 0) == "safetensors: header: \"x\" occurs twice");
  std::string many = R"({"x":{"shape":[1)";
  for (int i = 0; i < 64; ++i) many += ",1";
  CHECK(failureOf(many + "]}}", 0) == "safetensors: tensor \"x\": more than 64 dimensions");
}

TEST_CASE("places of tensors that cannot be are refused") {
  const auto header = [](const char* type, const char* shape, const char* offsets) {
    return std::string(R"({"x":{"dtype":")") + type + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  CHECK(failureOf(header("F32", "[1]", "[0,5]"), 4) ==
        "safetensors: tensor \"x\": found bytes 0 to 5, expected a part of the 4 bytes of data");
  CHECK(failureOf(header("F32", "[1]", "[4,0]"), 4) ==
        "safetensors: tensor \"x\": found bytes 4 to 0, expected a part of the 4 bytes of data");
  CHECK(failureOf(header("F32", "[1]", "[0]"), 4) == "safetensors: tensor \"x\": expected two data_offsets");
  CHECK(failureOf(header("F32", "[2]", "[0,4]"), 4) ==
        "safetensors: tensor \"x\": found 4 bytes, expected 8 for shape (2) of float32");
  CHECK(
      failureOf(header("F32", "[4294967296,4294967296]", "[0,4]"), 4) ==
      "safetensors: tensor \"x\": found 4 bytes, expected 2^63 or more for shape (4294967296, 4294967296) of "
      "float32");
  CHECK(failureOf(header("U8", "[18446744073709551615]", "[0,4]"), 4) ==
        "safetensors: tensor \"x\": extent 18446744073709551615 is too large");
  CHECK(failureOf(header("F32", "[1]", "[0,18446744073709551615]"), 4).find("found bytes 0 to") !=
        std::string::npos);
  CHECK(failureOf(header("BOOL", "[4]", "[0,4]"), 4) ==
        "safetensors: tensor \"x\": found a byte that is neither 0 nor 1 in a BOOL tensor");
  CHECK(failureOf(header("F32", "[1]", "[0,4]"), 5) == "safetensors: the tensors have 4 bytes, found 5");
  CHECK(failureOf(header("F32", "[1]", "[1,5]"), 5) ==
        "safetensors: tensor \"x\" begins at byte 1, expected 0: no bytes lie between tensors");
  const auto unsupported = readSafetensors(fileOf(header("F8_E4M3", "[1]", "[0,1]"), 1));
  REQUIRE_FALSE(unsupported.has_value());
  CHECK(unsupported.error().code() == ErrorCode::Unsupported);
  CHECK(unsupported.error().message() ==
        "safetensors: tensor \"x\": element type \"F8_E4M3\" is not supported");
}

TEST_CASE("tensors that share bytes are refused") {
  CHECK(failureOf(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                  8) == "safetensors: tensor \"y\" begins at byte 4, before tensor \"x\" ends at 8");
}

TEST_CASE("a header that nests without end costs no stack") {
  CHECK(failureOf(R"({"x":)" + std::string(1'000'000, '['), 0) ==
        "safetensors: tensor \"x\": found an array, expected an object");
}

TEST_CASE("mutated safetensors files are read or refused") {
  const std::vector<std::byte> good = fileOf(kTwo, 12);
  std::mt19937 generator(5);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> bad = good;
    for (unsigned k = 0; k <= generator() % 3; ++k)
      bad[generator() % bad.size()] = std::byte(generator() & 0xff);
    if (generator() % 4 == 0) bad.resize(generator() % bad.size());
    const auto result = readSafetensors(bad);
    if (!result.has_value()) {
      ++refused;
      continue;
    }
    size_t total = 0;
    for (const NamedArrayView& view : result.value()) {
      CHECK(view.bytes.data() + view.bytes.size() <= bad.data() + bad.size());
      total += view.bytes.size();
    }
    CHECK(total <= bad.size());
  }
  CHECK(refused > 2500);
}

}  // namespace
}  // namespace baton
