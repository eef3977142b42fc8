// Program text that need not be trusted: diagnostics, or a module that keeps the rules of
// the verifier and prints to text that parses. Typing must come to an end either way.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/types/typing.h"

namespace {

void check(baton::Result<void> result, const char* stage) {
  if (result.has_value()) return;
  std::fprintf(stderr, "%s: %s\n", stage, result.error().message().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;
  if (size > 20000) return 0;
  ir::Module module;
  frontend::Diagnostics diagnostics;
  std::string text(reinterpret_cast<const char*>(data), size);
  frontend::ParseOptions options;
  options.maxNesting = 100;  // instrumented frames are large
  check(frontend::parseProgram("fuzz.relay", text, options, ops::OpRegistry::instance(), module, diagnostics),
        "parsed");
  static_cast<void>(frontend::render(diagnostics, module.sources));
  if (diagnostics.hasErrors()) return 0;
  const std::string printed = ir::print(module, {.constants = true});
  ir::Module again;
  check(frontend::parseProgram("again.relay", printed, options, ops::OpRegistry::instance(), again,
                               diagnostics),
        "parsed again");
  if (diagnostics.hasErrors()) {
    std::fprintf(stderr, "%s\n%s", printed.c_str(), frontend::render(diagnostics, again.sources).c_str());
    std::abort();
  }
  if (ir::print(again, {.constants = true}) != printed) std::abort();
  types::inferTypes(module, diagnostics);
  static_cast<void>(frontend::render(diagnostics, module.sources));
  if (diagnostics.hasErrors()) return 0;
  check(ir::verify(module), "typed");
  return 0;
}
