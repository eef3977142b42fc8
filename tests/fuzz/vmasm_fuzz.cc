// Text that need not be trusted: an error, or a program that prints to text of the same
// program. What the verifier makes of it does not matter, but it must come to an end.
#include <cstdint>
#include <cstdlib>

#include "bytecode/container/writer.h"
#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::bytecode;
  auto program = parseVmasm({reinterpret_cast<const char*>(data), size});
  if (!program.has_value()) return 0;
  const auto text = printVmasm(program.value());
  auto again = parseVmasm(text.value());
  if (!again.has_value() || printVmasm(again.value()).value() != text.value()) std::abort();
  const auto file = writeExecutable(program.value());
  const auto fileAgain = writeExecutable(again.value());
  if (file.has_value() != fileAgain.has_value()) std::abort();
  if (file.has_value() && file.value() != fileAgain.value()) std::abort();
  (void)findViolations(program.value());
  return 0;
}
