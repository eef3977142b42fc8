#include "formats/npy.h"

#include <cstring>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace baton {
namespace {

std::vector<std::byte> bytesOf(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// A file of version 1 with this dictionary and these data bytes.
std::vector<std::byte> file(const std::string& dictionary, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += '\1';
  text += '\0';
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  return bytesOf(text + dictionary + data);
}

std::string messageOf(const std::vector<std::byte>& bytes) {
  const Result<Array> result = readNpy(bytes);
  return result ? "no error" : result.error().message();
}

TEST_CASE("every dtype and rank round-trips through npy") {
  std::mt19937 generator(1);
  for (int d = 0; d < kDTypeCount; ++d) {
    const DType dtype = static_cast<DType>(d);
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {0}, {1}, {7}, {2, 3}, {0, 5}, {2, 1, 3}, {1, 1, 1, 1, 2}}) {
      int64_t count = 1;
      for (int64_t extent : shape) count *= extent;
      Array array{dtype, shape, std::vector<std::byte>(static_cast<size_t>(count * sizeBytes(dtype)))};
      for (std::byte& byte : array.bytes)
        byte = dtype == DType::Bool ? std::byte(generator() & 1) : std::byte(generator() & 0xff);
      const std::vector<std::byte> written = writeNpy(array).value();
      CHECK((written.size() - array.bytes.size()) % 64 == 0);
      const Array back = readNpy(written).value();
      CHECK(back.dtype == array.dtype);
      CHECK(back.shape == array.shape);
      CHECK(back.bytes == array.bytes);
    }
  }
}

TEST_CASE("the header is what numpy writes") {
  const Array array{DType::F32, {2, 3}, std::vector<std::byte>(24)};
  const std::vector<std::byte> written = writeNpy(array).value();
  const std::string text(reinterpret_cast<const char*>(written.data()), 128);
  CHECK(text.substr(10, 61) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ");
  CHECK(text[127] == '\n');
}

TEST_CASE("Fortran order and big-endian data are converted") {
  // Columns of [[1, 2, 3], [4, 5, 6]] one after the other.
  const Array fortran =
      readNpy(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "\1\4\2\5\3\6")).value();
  CHECK(fortran.bytes == bytesOf("\1\2\3\4\5\6"));
  const Array big =
      readNpy(file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", std::string("\0\1\1\0", 4)))
          .value();
  CHECK(big.bytes == bytesOf(std::string("\1\0\0\1", 4)));
}

TEST_CASE("bools are 0 or 1 whatever the file says") {
  CHECK(readNpy(file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", std::string("\0\x7f", 2)))
            .value()
            .bytes == bytesOf(std::string("\0\1", 2)));
}

TEST_CASE("files that are no arrays are refused with a reason") {
  CHECK_THAT(messageOf({}), Catch::Contains("not an .npy file"));
  CHECK_THAT(messageOf(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234")),
             Catch::Contains("found 4 bytes of data, expected 8 for shape (2) of float32"));
  CHECK_THAT(messageOf(file("{'descr': '<c8', 'fortran_order': False, 'shape': (), }", "12345678")),
             Catch::Contains("element type \"<c8\" is not supported"));
  CHECK_THAT(messageOf(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "1234")),
             Catch::Contains("structured"));
  CHECK_THAT(messageOf(file("{'descr': '<f4', 'shape': (), }", "1234")),
             Catch::Contains("expected the keys"));
  CHECK_THAT(messageOf(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "1234")),
             Catch::Contains("expected an extent"));
  CHECK_THAT(
      messageOf(file("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "")),
      Catch::Contains("2^63 or more"));
  CHECK_THAT(messageOf(file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "1234")),
             Catch::Contains("once each"));
}

TEST_CASE("an array whose bytes do not fit its shape is not written") {
  CHECK(writeNpy({DType::F32, {2}, std::vector<std::byte>(7)}).error().code() == ErrorCode::InvalidArgument);
}

TEST_CASE("mutated npy files are read or refused") {
  const Array array{DType::F32, {3, 2}, std::vector<std::byte>(24, std::byte{7})};
  const std::vector<std::byte> good = writeNpy(array).value();
  std::mt19937 generator(2);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> bad = good;
    for (unsigned k = 0; k <= generator() % 4; ++k) bad[generator() % 100] = std::byte(generator() & 0xff);
    if (generator() % 4 == 0) bad.resize(generator() % bad.size());
    const Result<Array> result = readNpy(bad);
    if (!result)
      ++refused;
    else
      CHECK(result.value().bytes.size() <= bad.size());
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace baton
