// What all commands share: --version, a twin in the environment for every option, exit codes
// for wrong command lines, and one way to report an error.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tools/cli/exit_code.h"

namespace baton::tools {

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
  int run(int argc, char** argv, const std::function<Result<int>()>& body);

 private:
  std::string name_;
  CLI::App app_;
};

/// "vm-run: program error: ..." with the program's frames, on standard error.
void printError(const std::string& command, const Error& error);

}  // namespace baton::tools
