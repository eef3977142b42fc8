// Compiles program text and runs it through the runtime's public interface.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/compile.h"

namespace baton::driver::test {

/// Compiles; fails the test case on errors.
CompileOutput compiled(std::string_view text, const CompileOptions& options = {});

/// The diagnostics of a program that has errors, rendered; fails the test case when it has none.
std::string errorsOf(std::string_view text, const CompileOptions& options = {});

/// Result of `function` as value text, or "error: " and the message.
std::string run(const CompileOutput& program, const std::string& function,
                const std::vector<std::string>& inputs, bool interpretKernels = false);

/// Requests for memory that the context made while `function` ran; fails the test case on errors.
uint64_t allocationsOf(const CompileOutput& program, const std::string& function,
                       const std::vector<std::string>& inputs);

/// Checks that main gives `expected` at -O0, -O1, -O2 and -O3, and with interpreted kernels.
void checkProgram(std::string_view text, const std::vector<std::string>& inputs, const std::string& expected,
                  CompileOptions options = {});

}  // namespace baton::driver::test
