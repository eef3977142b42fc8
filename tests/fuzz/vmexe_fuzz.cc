// Bytes that need not be trusted, once as they are and once with their hashes made right: an
// error, or a program. One that the verifier accepts prints to text that assembles to the
// same bytes.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bytecode/container/reader.h"
#include "bytecode/container/writer.h"
#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/fuzz/rehash.h"

namespace {

using namespace baton::bytecode;

void readOne(std::span<const std::byte> file) {
  (void)readParams(file);
  auto program = readExecutable(file);
  if (!program.has_value() || !findViolations(program.value()).empty()) return;
  auto assembled = parseVmasm(printVmasm(program.value()).value());
  if (!assembled.has_value()) std::abort();
  // Metadata may be encoded in more ways than the writer's: what is compared is what it writes.
  if (writeExecutable(assembled.value()).value() != writeExecutable(program.value()).value()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> file(size);
  for (size_t i = 0; i < size; ++i) file[i] = static_cast<std::byte>(data[i]);
  readOne(file);
  rehash(file);
  readOne(file);
  return 0;
}
