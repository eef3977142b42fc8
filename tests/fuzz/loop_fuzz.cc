// Loop IR that need not be trusted, as executables carry it: an error, or a kernel that prints to
// text of the same kernel. One that the verifier accepts can be made ready to be interpreted.
#include <cstdint>
#include <cstdlib>

#include "kernels/loop/interpreter.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/printer.h"
#include "kernels/loop/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::loop;
  const auto kernel = parseKernel({reinterpret_cast<const char*>(data), size});
  if (!kernel.has_value()) return 0;
  const std::string text = print(kernel.value());
  const auto again = parseKernel(text);
  if (!again.has_value() || print(again.value()) != text) std::abort();
  if (!verify(kernel.value()).has_value()) return 0;
  // What is verified may still be too large, but is never taken amiss otherwise.
  (void)InterpretedKernel::compile(kernel.value());
  return 0;
}
