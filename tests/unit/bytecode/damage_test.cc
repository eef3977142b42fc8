// Good files, damaged: every one must give an error or a program that keeps the rules; none
// may crash, hang or ask for much memory. Hashes are made right again after the damage, so
// that it reaches the readers of the sections and the verifier.
#include <catch2/catch.hpp>

#include "bytecode/container/reader.h"
#include "bytecode/container/writer.h"
#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/effort.h"
#include "tests/fuzz/rehash.h"
#include "tests/unit/bytecode/text_file.h"

namespace baton::bytecode {
namespace {

std::vector<std::vector<std::byte>> goodFiles() {
  std::vector<std::vector<std::byte>> files;
  for (const auto& path : filesUnder(BATON_GOLDEN_DIR, ".vmasm"))
    files.push_back(writeExecutable(parseVmasm(readText(path)).value()).value());
  return files;
}

enum class Outcome { Unreadable, Refused, Accepted };

Outcome outcomeOf(std::span<const std::byte> file) {
  auto program = readExecutable(file);
  if (!program.has_value()) {
    CHECK(!program.error().message().empty());
    return Outcome::Unreadable;
  }
  if (!findViolations(program.value()).empty()) return Outcome::Refused;
  // What is accepted can be written down and built again.
  auto again = parseVmasm(printVmasm(program.value()).value());
  if (!again.has_value()) FAIL(again.error().message());
  const bool isSame = writeExecutable(again.value()).value() == writeExecutable(program.value()).value();
  INFO(printVmasm(program.value()).value());
  CHECK(isSame);
  return Outcome::Accepted;
}

TEST_CASE("a file cut at any place is unreadable") {
  for (const auto& file : goodFiles())
    for (size_t size = 0; size < file.size(); size += size < 1024 ? 1 : 64) {
      INFO(size);
      CHECK(outcomeOf(std::span(file).first(size)) == Outcome::Unreadable);
      std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
      rehash(cut);
      CHECK(outcomeOf(cut) == Outcome::Unreadable);
    }
}

TEST_CASE("changed bytes anywhere give an error or a program that keeps the rules") {
  int counts[3] = {0, 0, 0};
  for (const auto& file : goodFiles()) {
    size_t isPadding = 0;
    for (size_t at = 0; at < file.size(); ++at) {
      // Of long runs of zeros, which are padding or data, a few suffice.
      isPadding = file[at] == std::byte{0} ? isPadding + 1 : 0;
      if (isPadding > 32 && at % 64 != 0) continue;
      if (at % effort(1, 7) != 0) continue;
      for (uint8_t change : {0x01, 0xff}) {
        auto damaged = file;
        damaged[at] ^= static_cast<std::byte>(change);
        INFO(at << " ^ " << int{change});
        CHECK(outcomeOf(damaged) == Outcome::Unreadable);
        rehash(damaged);
        ++counts[static_cast<int>(outcomeOf(damaged))];
      }
    }
  }
  // The damage gets past the reader, and past the verifier where it does not matter (names, numbers).
  for (const int count : counts) CHECK(count > effort(1000, 100));
}

TEST_CASE("counts that promise more than there is are refused without memory for them") {
  // Metadata sections whose first object claims 2^32 - 1 elements.
  for (const auto& file : goodFiles()) {
    const auto sections = readSectionSizes(file).value();
    for (const SectionSize& section : sections) {
      if (section.sizeBytes < 5 || section.name == "header and table") continue;
      auto damaged = file;
      damaged[section.offset] = std::byte{0xdd};  // array 32
      for (int i = 1; i <= 4; ++i) damaged[section.offset + static_cast<size_t>(i)] = std::byte{0xff};
      rehash(damaged);
      INFO(section.name);
      if (section.name == "code" || section.name == "native" || section.name == "constant data")
        (void)outcomeOf(damaged);
      else
        CHECK(outcomeOf(damaged) == Outcome::Unreadable);
    }
  }
}

}  // namespace
}  // namespace baton::bytecode
