// Program text to modules, for tests of every room of the compiler.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/diagnostic.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/types/typing.h"

namespace baton::testing {

struct Program {
  ir::Module module;
  frontend::Diagnostics diagnostics;

  bool ok() const { return !diagnostics.hasErrors(); }
  /// All messages with their source lines.
  std::string messages() const { return frontend::render(diagnostics, module.sources); }
  const ir::Function& function(const std::string& name) const {
    return module.function(*module.findFunction(name));
  }
};

inline Program parse(const std::string& text, const frontend::ParseOptions& options = {}) {
  Program program;
  const Result<void> parsed = frontend::parseProgram("test.relay", text, options, ops::OpRegistry::instance(),
                                                     program.module, program.diagnostics);
  if (!parsed.has_value()) program.diagnostics.error({}, parsed.error().message());
  return program;
}

inline Program type(const std::string& text, const frontend::ParseOptions& options = {}) {
  Program program = parse(text, options);
  if (program.ok()) types::inferTypes(program.module, program.diagnostics);
  return program;
}

/// Type of the result of a function, or the messages.
inline std::string resultOf(const std::string& text, const std::string& function = "main") {
  Program program = type(text);
  if (!program.ok()) return program.messages();
  Result<void> verified = ir::verify(program.module);
  if (!verified.has_value()) return verified.error().message();
  return ir::print(program.module, program.function(function).result);
}

}  // namespace baton::testing
