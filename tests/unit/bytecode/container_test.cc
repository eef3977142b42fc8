#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "bytecode/container/file_map.h"
#include "bytecode/container/layout.h"
#include "bytecode/container/reader.h"
#include "bytecode/container/writer.h"
#include "bytecode/dump/dump.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/fuzz/rehash.h"
#include "tests/unit/bytecode/sample.h"

namespace baton::bytecode {
namespace {

std::vector<std::byte> sampleFile() {
  auto program = parseVmasm(kEverything);
  REQUIRE(program.has_value());
  auto file = writeExecutable(program.value());
  REQUIRE(file.has_value());
  return std::move(file.value());
}

/// What a file that was cut or changed is told to do about it.
constexpr const char* kHint =
    "; the file was cut or changed on its way here: copy it again, or compile the model again";

std::string messageOf(std::span<const std::byte> file) {
  auto program = readExecutable(file);
  return program.has_value() ? "" : program.error().message();
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> bytes) {
    const int descriptor = mkstemp(path_);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path_); }
  std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/baton-test-XXXXXX";
};

TEST_CASE("what is written reads back, and writes again to the same bytes") {
  const auto file = sampleFile();
  for (ReadMode mode : {ReadMode::Copy, ReadMode::Borrow}) {
    auto program = readExecutable(file, {mode});
    REQUIRE(program.has_value());
    CHECK(printVmasm(program.value()).value() == kEverything);
    CHECK(writeExecutable(program.value()).value() == file);
  }
}

TEST_CASE("assembling a disassembly gives the same bytes") {
  const auto file = sampleFile();
  const std::string text = printVmasm(readExecutable(file).value()).value();
  CHECK(writeExecutable(parseVmasm(text).value()).value() == file);
}

TEST_CASE("an empty program is stored and read") {
  const auto file = writeExecutable(Program()).value();
  auto program = readExecutable(file);
  REQUIRE(program.has_value());
  CHECK(program.value().functions.empty());
  CHECK(program.value().code.empty());
}

TEST_CASE("constants and images are page-aligned in the file and mapped from it") {
  const auto file = sampleFile();
  const TemporaryFile temporary(file);
  auto program = openExecutable(temporary.path());
  REQUIRE(program.has_value());
  const FileMap* map = findFileMap(program.value());
  REQUIRE(map != nullptr);
  const auto isMapped = [&](std::span<const std::byte> bytes) {
    return bytes.data() >= map->bytes().data() &&
           bytes.data() + bytes.size() <= map->bytes().data() + map->bytes().size();
  };
  CHECK(isMapped(program.value().constants[0].bytes));
  CHECK((program.value().constants[0].bytes.data() - map->bytes().data()) % kPageBytes == 0);
  const NativeImage& image = program.value().images[0];
  CHECK(isMapped(image.bytes));
  REQUIRE(image.fileOffset.has_value());
  CHECK(*image.fileOffset % kPageBytes == 0);
  CHECK(std::memcmp(file.data() + *image.fileOffset, image.bytes.data(), image.bytes.size()) == 0);

  auto copied = openExecutable(temporary.path(), {OpenMode::Copy});
  REQUIRE(copied.has_value());
  CHECK(findFileMap(copied.value()) == nullptr);
  CHECK_FALSE(copied.value().images[0].fileOffset.has_value());
  CHECK(reinterpret_cast<uintptr_t>(copied.value().constants[0].bytes.data()) % 64 == 0);
  CHECK(writeExecutable(copied.value()).value() == file);
}

TEST_CASE("bytes at an odd address are read, with constants where kernels want them") {
  const auto file = sampleFile();
  std::vector<std::byte> shifted(file.size() + 1);
  std::copy(file.begin(), file.end(), shifted.begin() + 1);
  auto program = readExecutable(std::span(shifted).subspan(1), {ReadMode::Borrow});
  REQUIRE(program.has_value());
  CHECK(reinterpret_cast<uintptr_t>(program.value().constants[0].bytes.data()) % 64 == 0);
}

TEST_CASE("a missing file and an empty one are errors that name it") {
  auto missing = openExecutable("/nonexistent/m.vmexe");
  REQUIRE(!missing.has_value());
  CHECK(missing.error().code() == ErrorCode::Io);
  CHECK(missing.error().message() == "/nonexistent/m.vmexe: cannot open: No such file or directory");
  const TemporaryFile empty({});
  auto read = openExecutable(empty.path());
  REQUIRE(!read.has_value());
  CHECK(read.error().message() ==
        empty.path() +
            ": not a .vmexe or .vmparams file: wrong first bytes; such files come from vm-compile");
  auto directory = openExecutable("/tmp");
  REQUIRE(!directory.has_value());
  CHECK(directory.error().message() == "/tmp: cannot read: not a regular file");
}

TEST_CASE("a truncated file says how much is there") {
  const auto file = sampleFile();
  CHECK(messageOf(std::span(file).first(5)) ==
        std::string("truncated: 5 bytes, the header alone has 128") + kHint);
  CHECK(messageOf(std::span(file).first(200)) ==
        fmt::format("truncated: 200 bytes of {}{}", file.size(), kHint));
  auto longer = file;
  longer.push_back(std::byte{0});
  CHECK(messageOf(longer) == fmt::format("1 bytes after the end of the file at {}{}", file.size(), kHint));
}

TEST_CASE("another version is Incompatible and says who wrote it") {
  auto file = sampleFile();
  file[8] = std::byte{1};
  auto program = readExecutable(file);
  REQUIRE(!program.has_value());
  CHECK(program.error().code() == ErrorCode::Incompatible);
  CHECK(
      program.error().message() ==
      "format 1.3, written by `baton 0.1.0`: this build reads 0.0 to 0.3; compile the model again with this "
      "version, or use the version that wrote it");
}

/// The entry of a section in the table of the file.
SectionEntry* entryOf(std::vector<std::byte>& file, SectionId id) {
  auto* header = reinterpret_cast<FileHeader*>(file.data());
  auto* table = reinterpret_cast<SectionEntry*>(file.data() + sizeof(FileHeader));
  for (uint32_t i = 0; i < header->sectionCount; ++i)
    if (table[i].id == static_cast<uint32_t>(id)) return &table[i];
  return nullptr;
}

TEST_CASE("features and required sections that this build does not know are Incompatible") {
  auto file = sampleFile();
  reinterpret_cast<FileHeader*>(file.data())->requiredFeatures = 4;
  rehash(file);
  auto features = readExecutable(file);
  REQUIRE(!features.has_value());
  CHECK(features.error().code() == ErrorCode::Incompatible);
  CHECK(features.error().message().starts_with(
      "needs features 0x4 that this build does not know, written by `baton 0.1.0`"));

  file = sampleFile();
  SectionEntry* tests = entryOf(file, SectionId::Tests);
  REQUIRE(tests != nullptr);
  tests->id = 99;
  rehash(file);
  auto optional = readExecutable(file);
  REQUIRE(optional.has_value());
  CHECK(optional.value().tests.empty());
  tests->flags = kSectionRequired;
  rehash(file);
  auto required = readExecutable(file);
  REQUIRE(!required.has_value());
  CHECK(required.error().code() == ErrorCode::Incompatible);
  CHECK(required.error().message().starts_with("needs section number 99 that this build does not know"));
}

TEST_CASE("an earlier minor version may lack fields at the end of a structure") {
  Program program;
  program.meta.name = "an old file";
  auto file = writeExecutable(program).value();
  SectionEntry* meta = entryOf(file, SectionId::Meta);
  std::byte* bytes = file.data() + meta->offset;
  REQUIRE(bytes[0] == std::byte{0x94});
  bytes[0] = std::byte{0x93};  // without the last field, which is the list of targets
  bytes[--meta->sizeBytes] = std::byte{0};
  rehash(file);
  CHECK(messageOf(file) == "section meta: expected 4 fields, found a list of 3");
  reinterpret_cast<FileHeader*>(file.data())->minor = 0;
  rehash(file);
  auto read = readExecutable(file);
  REQUIRE(read.has_value());
  CHECK(read.value().meta.name == "an old file");
  CHECK(read.value().meta.targets.empty());
}

TEST_CASE("a section table that does not describe the file is refused") {
  const auto damaged = [](SectionId id, auto&& change) {
    auto file = sampleFile();
    SectionEntry* entry = entryOf(file, id);
    REQUIRE(entry != nullptr);
    change(*entry);
    rehash(file);
    return messageOf(file);
  };
  CHECK(damaged(SectionId::Code, [](SectionEntry& e) {
          e.offset = UINT64_MAX - 3;
        }).starts_with("section code reaches beyond the file"));
  CHECK(damaged(SectionId::Code, [](SectionEntry& e) {
          e.sizeBytes = UINT64_MAX;
        }).starts_with("section code reaches beyond the file"));
  CHECK(damaged(SectionId::Code, [](SectionEntry& e) { e.alignment = 3; }) == "section code has alignment 3");
  CHECK(damaged(SectionId::Code, [](SectionEntry& e) {
          e.offset = 0;
        }).starts_with("section code is at 0, not where the one before ends"));
  CHECK(damaged(SectionId::Code, [](SectionEntry& e) { e.flags = 6; }) ==
        "section code has unknown flags 0x6");
  CHECK(damaged(SectionId::Code, [](SectionEntry& e) { e.id = 3; }) ==
        "section functions is out of order or occurs twice");
  CHECK(damaged(SectionId::Native, [](SectionEntry& e) {
          e.alignment = 8;
        }).starts_with("section native is at 8192, not where the one before ends"));
}

TEST_CASE("damage anywhere is found") {
  const auto file = sampleFile();
  auto header = file;
  header[70] ^= std::byte{1};
  CHECK(messageOf(header) == std::string("the header is damaged: its hash does not match") + kHint);
  auto table = file;
  table[130] ^= std::byte{1};
  CHECK(messageOf(table) == std::string("the section table is damaged: its hash does not match") + kHint);
  // Every byte of the file is covered by some hash or must be zero.
  for (size_t at = 0; at < file.size(); at += 7) {
    auto damaged = file;
    damaged[at] ^= std::byte{0x40};
    INFO(at);
    CHECK(!readExecutable(damaged).has_value());
  }
}

TEST_CASE("constants are only checked when asked for, or when copied") {
  auto file = sampleFile();
  const auto sections = readSectionSizes(file).value();
  const auto data = std::find_if(sections.begin(), sections.end(),
                                 [](const SectionSize& s) { return s.name == "constant data"; });
  REQUIRE(data != sections.end());
  file[data->offset] ^= std::byte{1};
  CHECK(readExecutable(file, {ReadMode::Borrow}).has_value());
  CHECK(messageOf(file) == std::string("section constant data is damaged: its hash does not match") + kHint);
  auto checked = readExecutable(file, {ReadMode::Borrow, true});
  REQUIRE(!checked.has_value());
  CHECK(checked.error().code() == ErrorCode::Malformed);
}

TEST_CASE("weights files hold tensors by key") {
  const float values[] = {1, 2, 3};
  Params params;
  params.meta.name = "weights";
  Constant tensor;
  tensor.dtype = DType::F32;
  tensor.extents = {3};
  tensor.externalKey = "encoder::w";
  tensor.bytes = std::as_bytes(std::span(values));
  params.tensors.push_back(tensor);
  const auto file = writeParams(params).value();
  auto read = readParams(file);
  REQUIRE(read.has_value());
  REQUIRE(read.value().tensors.size() == 1);
  CHECK(read.value().tensors[0].externalKey == "encoder::w");
  CHECK(read.value().tensors[0].extents == std::vector<int64_t>{3});
  CHECK(std::memcmp(read.value().tensors[0].bytes.data(), values, sizeof values) == 0);
  CHECK(dumpParams(read.value()) == "       bytes  tensor\n          12  encoder::w: f32[3]\n");
  CHECK(messageOf(file) == "a weights file (.vmparams), expected an executable");

  params.tensors.push_back(tensor);
  CHECK(writeParams(params).error().message() == "key `encoder::w` occurs twice");
  params.tensors.pop_back();
  params.tensors[0].extents = {4};
  const auto wrong = writeParams(params).value();
  CHECK(readParams(wrong).error().message() == "tensor `encoder::w` has 12 bytes, which is not its shape");
}

TEST_CASE("a program that cannot be stored is refused by the writer") {
  auto program = parseVmasm(kEverything).value();
  program.functions[1].codeOffset += 1;
  CHECK(writeExecutable(program).error().code() == ErrorCode::InvalidArgument);
  program.functions[1].codeOffset -= 1;
  program.loops.pop_back();
  CHECK(writeExecutable(program).error().message() == "1 loop texts for 2 kernels");
}

}  // namespace
}  // namespace baton::bytecode
