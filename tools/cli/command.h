// What all commands share: --version, a twin in the environment for every option, exit codes
// for wrong command lines, and one way to report an error.
#pragma once

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tools/cli/exit_code.h"

namespace baton::tools {

/// A command line that makes no sense, found out by the body of a command: run() prints it and
/// returns kExitUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The value, where an error is the fault of the command line.
template <class T>
T orUsageError(Result<T> result) {
  if (!result.has_value()) throw UsageError(result.assume_error().message());
  if constexpr (!std::is_void_v<T>) return std::move(result).assume_value();
}

/// For commands over libraries that do not survive an exception (LLVM): a refused request for
/// memory ends the process with a message and kExitLimit, before anything is unwound.
void exitWhenOutOfMemory();

/// A command under construction: add options to `app`, then run().
class Command {
 public:
  /// `examples` is shown at the end of --help.
  Command(std::string name, std::string summary, std::string examples);

  CLI::App& app() { return app_; }

  /// A repeatable option that takes one argument each time: "[a, b]" stays one argument.
  template <class T>
  CLI::Option* addRepeatable(const std::string& names, std::vector<T>& values, const std::string& help) {
    return app_.add_option(names, values, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  /// Parses, then calls `body`, whose error it prints to standard error; returns the exit code.
  /// Output that cannot be written is an error, but for a reader that has gone away.
  int run(int argc, char** argv, const std::function<Result<int>()>& body);

 private:
  int runBody(const std::function<Result<int>()>& body);
  int failUsage(const std::string& message) const;
  int fail(const Error& error) const;
  int outputFailed(const std::string& reason) const;

  std::string name_;
  CLI::App app_;
};

/// Where failing to print is no reason to fail: standard error.
void printLine(std::FILE* file, const std::string& text);

/// "vm-run: program error: ..." with the program's frames, on standard error.
void printError(const std::string& command, const Error& error);

}  // namespace baton::tools
