#include "formats/npy.h"

#include <catch2/catch.hpp>
#include <random>

namespace baton {
namespace {

std::vector<std::byte> bytesOf(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  for (size_t i = 0; i < text.size(); ++i) bytes[i] = static_cast<std::byte>(text[i]);
  return bytes;
}

/// A file with this header and these data, as numpy would lay it out.
std::vector<std::byte> file(const std::string& header, std::string_view data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i));
  text += header;
  text += data;
  return bytesOf(text);
}

std::string header(std::string_view descr, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }\n";
}

template <class T>
TensorData tensorOf(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  TensorData tensor{dtype, std::move(shape), {}};
  for (const T value : values) tensor.appendScalar(scalarBits(value));
  return tensor;
}

std::vector<uint64_t> scalars(const TensorData& tensor) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < tensor.elementCount(); ++i) values.push_back(tensor.scalarAt(i));
  return values;
}

Error refused(const std::vector<std::byte>& bytes) {
  Result<TensorData> result = readNpy(bytes);
  REQUIRE(!result.has_value());
  return std::move(result).error().clone();
}

TEST_CASE("an array is written as numpy writes it") {
  const TensorData tensor = tensorOf<float>(DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::byte> bytes = writeNpy(tensor);
  CHECK(bytes.size() == 128 + 24);
  std::string expected = "\x93NUMPY";
  expected += {1, 0, 118, 0};
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  expected.resize(127, ' ');
  expected += '\n';
  const bool same = std::equal(expected.begin(), expected.end(), bytes.begin(),
                               [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
  CHECK(same);
}

TEST_CASE("every dtype and rank reads back") {
  for (int i = 0; i < kDTypeCount; ++i)
    for (const auto& shape :
         std::vector<std::vector<int64_t>>{{}, {0}, {1}, {5}, {2, 3}, {0, 4}, {3, 0}, {1, 2, 1, 3}}) {
      const auto dtype = static_cast<DType>(i);
      TensorData tensor{dtype, shape, {}};
      int64_t count = 1;
      for (const int64_t extent : shape) count *= extent;
      for (int64_t k = 0; k < count; ++k)
        tensor.appendScalar(convertScalar(scalarBits(k), DType::I64, dtype));
      const std::vector<std::byte> bytes = writeNpy(tensor);
      CHECK((bytes.size() - tensor.bytes.size()) % 64 == 0);
      const Result<TensorData> back = readNpy(bytes);
      INFO(tensorTypeText(dtype, shape));
      REQUIRE(back.has_value());
      CHECK(back.value().dtype == dtype);
      CHECK(back.value().shape == shape);
      CHECK(back.value().bytes == tensor.bytes);
    }
}

TEST_CASE("versions 2 and 3, other orders of keys, and the spellings of Python 2 are read") {
  for (const int version : {1, 2, 3}) {
    const auto result = readNpy(file(header("<i2", "(2,)"), std::string_view("\1\0\2\0", 4), version));
    REQUIRE(result.has_value());
    CHECK(scalars(result.value()) == std::vector<uint64_t>{1, 2});
  }
  const std::string odd = "{\"shape\":(2L,1L,),\"descr\":\"|u1\",\"fortran_order\":False}   \n";
  const auto result = readNpy(file(odd, "\5\6"));
  REQUIRE(result.has_value());
  CHECK(result.value().shape == std::vector<int64_t>{2, 1});
  CHECK(scalars(result.value()) == std::vector<uint64_t>{5, 6});
}

TEST_CASE("big-endian numbers and Fortran order are converted") {
  const auto swapped = readNpy(file(header(">i4", "(2,)"), std::string_view("\0\0\0\1\0\0\1\0", 8)));
  REQUIRE(swapped.has_value());
  CHECK(scalars(swapped.value()) == std::vector<uint64_t>{1, 256});
  // columns of [[1, 2, 3], [4, 5, 6]]
  const auto matrix = readNpy(file(header("|i1", "(2, 3)", true), "\1\4\2\5\3\6"));
  REQUIRE(matrix.has_value());
  CHECK(scalars(matrix.value()) == std::vector<uint64_t>{1, 2, 3, 4, 5, 6});
  // element (i, j, k) of shape (2, 2, 2) lies at i + 2j + 4k
  const auto cube = readNpy(file(header("|u1", "(2, 2, 2)", true), std::string_view("\0\1\2\3\4\5\6\7", 8)));
  REQUIRE(cube.has_value());
  CHECK(scalars(cube.value()) == std::vector<uint64_t>{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK(readNpy(file(header("<f4", "(0, 3)", true), "")).value().shape == std::vector<int64_t>{0, 3});
  // Two bytes of void are a bfloat16, which has no byte order.
  CHECK(readNpy(file(header("|V2", "()"), "\x80\x3f")).value().dtype == DType::BF16);
  CHECK(scalars(readNpy(file(header(">V2", "()"), "\x80\x3f")).value()) == std::vector<uint64_t>{0x3F80});
}

TEST_CASE("bools become 0 or 1") {
  const auto result = readNpy(file(header("|b1", "(3,)"), std::string_view("\0\1\7", 3)));
  REQUIRE(result.has_value());
  CHECK(result.value().bytes == std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}});
}

TEST_CASE("broken files are refused with the reason") {
  CHECK(refused({}).message() == "npy: the file does not begin with \\x93NUMPY");
  CHECK(refused(bytesOf("\x93NUMPX\1\1")).message() == "npy: the file does not begin with \\x93NUMPY");
  CHECK(refused(bytesOf("\x93NUMPY")).message() == "npy: version 0.0, expected 1.0 to 3.0");
  CHECK(refused(file(header("<f4", "()"), "1234", 4)).code() == ErrorCode::Incompatible);
  CHECK(refused(file(header("<f4", "(2,)"), "1234")).message() ==
        "npy: 4 bytes of data, 8 expected for 2xf32");
  CHECK(refused(file(header("<f4", "()"), "12345")).message() == "npy: 5 bytes of data, 4 expected for f32");
  CHECK(refused(file(header("<c8", "()"), "12345678")).message() ==
        "npy: dtype '<c8' is not supported: bool, integers, floats of 2, 4 or 8 bytes and V2 are");
  for (const char* descr : {"<f3", "|f4", "O", "<U4", "<f16", "f4", "", "<M8[ns]", "<b2"})
    CHECK(refused(file(header(descr, "()"), "")).code() == ErrorCode::Unsupported);
  CHECK(refused(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }\n", "")).message() ==
        "npy: structured dtypes are not supported");
}

TEST_CASE("headers that are no headers are refused with the place") {
  const auto message = [](const std::string& text) { return refused(file(text, "")).message(); };
  CHECK(message("") == "npy header: expected '{' at character 0");
  CHECK(message("{") == "npy header: expected a string at character 1");
  CHECK(message("{}") == "npy header: key 'descr' is missing at character 2");
  CHECK(message("{'descr': '<f4'") == "npy header: expected ',' or '}' at character 15");
  CHECK(message("{'descr': '<f4', 'descr': '<f4', }") ==
        "npy header: key 'descr' appears twice at character 31");
  CHECK(message("{'x': 1}") == "npy header: unknown key 'x' at character 5");
  CHECK(message("{'descr': '<f4}") == "npy header: expected the end of a string at character 15");
  CHECK(message("{'fortran_order': Maybe}") == "npy header: expected True or False at character 18");
  CHECK(message("{'shape': (3)}") == "npy header: expected ',' or ')' at character 12");
  CHECK(message("{'shape': (3, -1)}") == "npy header: expected an extent at character 14");
  CHECK(message("{'shape': (99999999999999999999,)}") ==
        "npy header: extent is out of range at character 11");
  CHECK(message("{'shape': 3}") == "npy header: expected '(' at character 10");
  CHECK(message(header("<f4", "()") + "x") == "npy header: expected the end of the header at character 56");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  CHECK(message(header("<f4", many + ")")).find("more than 64 extents") != std::string::npos);
}

TEST_CASE("sizes that do not fit 64 bits are refused") {
  const std::string huge = "(4611686018427387904, 4611686018427387904)";
  CHECK(refused(file(header("<f4", huge), ""))
            .message()
            .find("npy: 0 bytes of data, more than 64 bits count expected") == 0);
  CHECK(readNpy(file(header("<f4", "(0, 4611686018427387904)"), "")).has_value());
  std::string longHeader = "\x93NUMPY";
  longHeader += {2, 0};
  longHeader += "\xff\xff\xff\xff";
  CHECK(refused(bytesOf(longHeader)).message() ==
        "npy: a header of 4294967295 bytes, at most 1048576 are accepted");
}

TEST_CASE("every truncation and random damage of a file is an error or an array") {
  const std::vector<std::byte> good = writeNpy(tensorOf<int32_t>(DType::I32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  for (size_t size = 0; size < good.size(); ++size) CHECK(!readNpy(std::span(good).first(size)).has_value());
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bad = good;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) {
      const size_t at = random() % (random() % 2 ? 80 : bad.size());
      switch (random() % 4) {
        case 0: bad[at] = static_cast<std::byte>(random()); break;
        case 1: bad[at] = static_cast<std::byte>("(){}'\",:0123456789TF<>|fiub LV"[random() % 30]); break;
        case 2: bad.erase(bad.begin() + static_cast<ptrdiff_t>(at)); break;
        case 3: bad.insert(bad.begin() + static_cast<ptrdiff_t>(at), bad[random() % bad.size()]); break;
      }
    }
    const Result<TensorData> result = readNpy(bad);
    if (!result.has_value()) continue;
    ++accepted;
    REQUIRE(result.value().bytes.size() ==
            tensorSizeBytes(result.value().dtype, result.value().shape).value());
  }
  CHECK(accepted > 100);
}

}  // namespace
}  // namespace baton
