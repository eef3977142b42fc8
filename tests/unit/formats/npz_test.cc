#include "formats/npz.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <random>

#include "formats/value.h"

namespace baton {
namespace {

NamedTensor named(std::string name, DType dtype, std::vector<int64_t> shape) {
  NamedTensor result{std::move(name), {dtype, std::move(shape), {}}};
  int64_t count = 1;
  for (const int64_t extent : result.tensor.shape) count *= extent;
  for (int64_t i = 0; i < count; ++i)
    result.tensor.appendScalar(convertScalar(scalarBits(i % 100), DType::I64, dtype));
  return result;
}

std::vector<NamedTensor> samples() {
  std::vector<NamedTensor> all;
  all.push_back(named("encoder.w", DType::F32, {64, 32}));
  all.push_back(named("b", DType::I64, {}));
  all.push_back(named("none", DType::BF16, {0, 3}));
  return all;
}

TEST_CASE("what is written to an archive reads back, stored and deflated") {
  for (const auto compression : {NpzCompression::Stored, NpzCompression::Deflated}) {
    const std::vector<NamedTensor> tensors = samples();
    const Result<std::vector<std::byte>> bytes = writeNpz(tensors, compression);
    REQUIRE(bytes.has_value());
    CHECK((bytes.value().size() > 64 * 32 * 4) == (compression == NpzCompression::Stored));
    CHECK(writeNpz(tensors, compression).value() == bytes.value());
    Result<NpzReader> reader = NpzReader::fromBytes(bytes.value());
    REQUIRE(reader.has_value());
    CHECK(reader.value().names() == std::vector<std::string>{"encoder.w", "b", "none"});
    CHECK(sameTensor(reader.value().read("b").value(), tensors[1].tensor));
    const auto all = reader.value().readAll();
    REQUIRE(all.has_value());
    REQUIRE(all.value().size() == 3);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(all.value()[i].name == tensors[i].name);
      CHECK(sameTensor(all.value()[i].tensor, tensors[i].tensor));
    }
    CHECK(reader.value().read("c").error().message() == "npz: there is no array 'c'");
  }
}

TEST_CASE("an archive without arrays is an archive") {
  const auto bytes = writeNpz({});
  REQUIRE(bytes.has_value());
  Result<NpzReader> reader = NpzReader::fromBytes(bytes.value());
  REQUIRE(reader.has_value());
  CHECK(reader.value().names().empty());
  CHECK(reader.value().readAll().value().empty());
}

TEST_CASE("archives are read from files") {
  char path[] = "/tmp/baton-npz-XXXXXX";
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  const auto bytes = writeNpz(samples());
  REQUIRE(write(descriptor, bytes.value().data(), bytes.value().size()) ==
          static_cast<ssize_t>(bytes.value().size()));
  close(descriptor);
  {
    Result<NpzReader> reader = NpzReader::open(path);
    REQUIRE(reader.has_value());
    CHECK(sameTensor(reader.value().read("encoder.w").value(), samples()[0].tensor));
  }
  std::remove(path);
  const Result<NpzReader> missing = NpzReader::open(path);
  REQUIRE(!missing.has_value());
  CHECK(missing.error().code() == ErrorCode::Io);
  CHECK(missing.error().message() == std::string(path) + ": No such file");
}

TEST_CASE("names that appear twice are refused") {
  std::vector<NamedTensor> twice = samples();
  twice.push_back(named("b", DType::F32, {1}));
  CHECK(writeNpz(twice).error().message() == "npz: array 'b' appears twice");
}

TEST_CASE("sizes are checked before memory is asked for") {
  std::vector<NamedTensor> zeros;
  zeros.push_back({"z", {DType::U8, {10'000'000}, std::vector<std::byte>(10'000'000)}});
  const auto bytes = writeNpz(zeros, NpzCompression::Deflated);
  CHECK(bytes.value().size() < 20'000);
  Result<NpzReader> reader = NpzReader::fromBytes(bytes.value(), {.maxEntryBytes = 1'000'000});
  REQUIRE(reader.has_value());
  const Result<TensorData> refused = reader.value().read("z");
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code() == ErrorCode::LimitReached);
  CHECK(refused.error().message() ==
        "npz: array 'z' has 10000128 bytes, at most 1000000 are accepted for one array and 68719476736 for "
        "all");
  Result<NpzReader> total = NpzReader::fromBytes(bytes.value(), {.maxTotalBytes = 15'000'000});
  CHECK(total.value().read("z").has_value());
  CHECK(total.value().read("z").error().code() == ErrorCode::LimitReached);
  CHECK(NpzReader::fromBytes(writeNpz(samples()).value(), {.maxEntryCount = 2}).error().message() ==
        "npz: 3 entries, at most 2 are accepted");

  // The central directory claims 2^31 bytes.
  std::vector<std::byte> lying = bytes.value();
  for (size_t i = 0; i + 46 < lying.size(); ++i)
    if (std::memcmp(lying.data() + i, "PK\1\2", 4) == 0) lying[i + 27] = std::byte{0x80};
  Result<NpzReader> liar = NpzReader::fromBytes(lying);
  REQUIRE(liar.has_value());
  CHECK(liar.value().read("z").error().code() == ErrorCode::Malformed);
}

TEST_CASE("damage is found by the checksum") {
  std::vector<std::byte> bytes = writeNpz(samples()).value();
  bytes[1000] ^= std::byte{1};  // in the data of the first array
  Result<NpzReader> reader = NpzReader::fromBytes(bytes);
  REQUIRE(reader.has_value());
  const Result<TensorData> tensor = reader.value().read("encoder.w");
  REQUIRE(!tensor.has_value());
  CHECK(tensor.error().message() == "npz: array 'encoder.w': CRC error");
  CHECK(reader.value().read("b").has_value());
}

TEST_CASE("every truncation and random damage of an archive is an error or an archive") {
  for (const auto compression : {NpzCompression::Stored, NpzCompression::Deflated}) {
    const std::vector<std::byte> good = writeNpz(samples(), compression).value();
    const auto tryAll = [](std::span<const std::byte> bytes) {
      Result<NpzReader> reader =
          NpzReader::fromBytes(bytes, {.maxEntryBytes = 1 << 20, .maxTotalBytes = 1 << 22});
      if (!reader.has_value()) return;
      for (const std::string& name : reader.value().names()) (void)reader.value().read(name).has_value();
    };
    for (size_t size = 0; size < good.size(); size += 97) tryAll(std::span(good).first(size));
    std::mt19937 random(4);
    for (int round = 0; round < 1500; ++round) {
      std::vector<std::byte> bad = good;
      // Mostly in the directory at the end, where the structure is.
      for (int i = 0; i < 3; ++i)
        bad[random() % 2 ? bad.size() - 1 - random() % 250 : random() % bad.size()] =
            static_cast<std::byte>(random());
      tryAll(bad);
    }
  }
  SUCCEED("no crash");
}

}  // namespace
}  // namespace baton
