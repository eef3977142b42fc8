#include "tools/cli/command.h"

#include <cctype>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "tools/cli/version.h"

namespace baton::tools {

namespace {

/// VM_RUN_MEMORY_LIMIT for --memory-limit of vm-run.
std::string environmentName(const std::string& command, const std::string& option) {
  std::string name = command + "_" + option;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

Command::Command(std::string name, std::string summary, std::string examples)
    : name_(std::move(name)), app_(std::move(summary), name_) {
  app_.set_version_flag("--version", fmt::format("{} {}", name_, kProvenance));
  app_.footer(
      examples + "\nEvery option --some-name can be given as " + environmentName(name_, "some-name") +
      " in the environment.\nExit codes: 0 ok, 1 mismatch or errors in the program, 2 usage, 3 unreadable "
      "file, 4 limit,\n5 deadline or cancellation, 70 internal error.");
}

int Command::run(int argc, char** argv, const std::function<Result<int>()>& body) {
  for (CLI::Option* option : app_.get_options()) {
    const std::string option_name =
        option->get_lnames().empty() ? std::string() : option->get_lnames().front();
    if (!option_name.empty() && option_name != "help" && option_name != "version")
      option->envname(environmentName(name_, option_name));
  }
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app_.exit(done);  // --help and --version
  } catch (const CLI::ParseError& error) {
    app_.exit(error);
    return kExitUsage;
  }
  const Result<int> result = body();
  if (result) return result.assume_value();
  printError(name_, result.assume_error());
  return exitCodeOf(result.assume_error().code());
}

void printError(const std::string& command, const Error& error) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", command, error.describe());
}

}  // namespace baton::tools
