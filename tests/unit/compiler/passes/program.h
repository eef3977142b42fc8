// A program of a test: parsed, typed, and run through passes by name.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/pass.h"

namespace baton::passes {

struct Program {
  ir::Module module;
  frontend::Diagnostics diagnostics;

  /// Fails the test when the text has errors.
  explicit Program(std::string_view text);
  /// Fails the test when a pass does, or leaves diagnostics.
  Program& run(std::initializer_list<std::string_view> passes);
  /// The same, but the diagnostics are handed out, rendered.
  std::string runWithErrors(std::initializer_list<std::string_view> passes);
  std::string text() const;
  std::string text(std::string_view function) const;
  const ir::Function& function(std::string_view name) const;
  /// The result of @main as text, or "error".
  std::string evaluate(const std::vector<std::string>& inputs);
};

/// Runs the program through the passes, with every one of them verified, and evaluates @main before
/// and after with each list of inputs (values as text): what comes out must be the same, values or
/// failures. Gives back the program after the passes.
Program checkSame(std::string_view text, std::initializer_list<std::string_view> passes,
                  const std::vector<std::vector<std::string>>& runs);

/// Bindings of the function whose right-hand side is a T.
template <class T>
std::vector<const ir::Binding*> bindingsOf(const ir::Function& function);

/// Number of bindings of the kind anywhere in the function.
template <class T>
size_t count(const ir::Function& function) {
  return bindingsOf<T>(function).size();
}

/// How often `part` is in `text`.
size_t occurrences(std::string_view text, std::string_view part);

}  // namespace baton::passes
