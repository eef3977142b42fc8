// Passes over text.
#pragma once

#include <catch2/catch.hpp>

#include "compiler/lir/parser.h"
#include "compiler/lir/printer.h"
#include "compiler/lir/verifier.h"

namespace baton::lir {

/// The module that a pass makes of the text; valid.
template <class Pass>
std::string after(std::string_view text, Pass pass, Module tables = {}) {
  Result<Module> parsed = parseModule(text);
  REQUIRE(parsed.has_value());
  Module& module = parsed.assume_value();
  module.tables = std::move(tables.tables);
  pass(module);
  Result<void> verified = verify(module);
  if (!verified.has_value()) FAIL(verified.assume_error().message());
  return print(module);
}

}  // namespace baton::lir
