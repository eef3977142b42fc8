// Program text to untyped IR: names resolved, every form of expression flattened into
// blocks of bindings, declared types and attributes in place. Types come next (types/).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/op.h"

namespace baton::frontend {

struct ParseOptions {
  /// Functions to export besides @main. When a program has neither, all functions of its
  /// own text are exported.
  std::vector<std::string> entries;
  /// Nesting of expressions, types and patterns that is accepted.
  int maxNesting = 2200;
};

/// Parses a whole program into `module` (which is empty but for the sources). All errors
/// are reported; the module is usable only when there are none. An Error is the caller's: an entry that a
/// program without errors does not have (InvalidArgument).
Result<void> parseProgram(std::string name, std::string text, const ParseOptions& options,
                          const ops::OpRegistry& registry, ir::Module& module, Diagnostics& diagnostics);

}  // namespace baton::frontend
