// Low-level form as text that need not be trusted: an error, or a module that prints to text of the
// same module. What the verifier makes of it does not matter, but it must come to an end.
#include <cstdint>
#include <cstdlib>

#include "compiler/lir/parser.h"
#include "compiler/lir/printer.h"
#include "compiler/lir/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::lir;
  const auto module = parseModule({reinterpret_cast<const char*>(data), size});
  if (!module.has_value()) return 0;
  const std::string text = print(module.value());
  const auto again = parseModule(text);
  if (!again.has_value() || print(again.value()) != text) std::abort();
  (void)verify(module.value());
  return 0;
}
