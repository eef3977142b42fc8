// The programs in tests/golden/bytecode: each is the text that the printer gives for it, keeps
// every rule, and together they use every instruction.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include "bytecode/container/reader.h"
#include "bytecode/container/writer.h"
#include "bytecode/isa/instruction.h"
#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/unit/bytecode/text_file.h"

namespace baton::bytecode {
namespace {

TEST_CASE("golden programs keep every rule and round-trip byte for byte") {
  int count = 0;
  for (const auto& path : filesUnder(BATON_GOLDEN_DIR, ".vmasm")) {
    INFO(path);
    const std::string text = readText(path);
    auto program = parseVmasm(text);
    REQUIRE(program.has_value());
    for (const Violation& violation : findViolations(program.value()))
      FAIL_CHECK(describeViolation(program.value(), violation));
    CHECK(printVmasm(program.value()).value() == withoutCommentLines(text));
    const auto file = writeExecutable(program.value()).value();
    auto read = readExecutable(file);
    REQUIRE(read.has_value());
    const std::string disassembly = printVmasm(read.value()).value();
    CHECK(writeExecutable(parseVmasm(disassembly).value()).value() == file);
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("every instruction of the table is in a golden program") {
  std::set<uint16_t> used;
  for (const auto& path : filesUnder(BATON_GOLDEN_DIR, ".vmasm")) {
    auto program = parseVmasm(readText(path));
    REQUIRE(program.has_value());
    const std::span<const uint64_t> code = program.value().code;
    for (size_t pc = 0; pc < code.size(); pc += *instructionWordCount(code.subspan(pc)))
      used.insert(static_cast<uint16_t>(code[pc]));
  }
  for (const InstructionDesc& desc : allInstructionDescs()) {
    INFO("no golden program uses " << desc.mnemonic);
    CHECK(used.contains(static_cast<uint16_t>(desc.opcode)));
  }
}

}  // namespace
}  // namespace baton::bytecode
