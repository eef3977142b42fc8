#include "tools/cli/command.h"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/cli/version.h"

namespace baton::tools {

namespace {

/// VM_RUN_MEMORY_LIMIT for --memory-limit of vm-run.
std::string environmentName(const std::string& command, const std::string& option) {
  std::string name = command + "_" + option;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Without another request for memory, as from a signal's handler.
[[noreturn]] void exitNow(std::string_view message, ExitCode code) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(code);
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
  // What cannot be written is then an error like others, and no signal: a pipe that nobody reads,
  // a file larger than the user may have.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // A failed check of ours or of a library's has said why.
  std::signal(SIGABRT, [](int) { exitNow("internal error\n", kExitInternal); });
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& done) {
    app_.exit(done);  // --help and --version
    std::cout.flush();
    return std::cout.good() || errno == EPIPE ? kExitOk : outputFailed(std::strerror(errno));
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extra = app_.remaining();
    const bool isValue = !extra.front().starts_with('-');
    return failUsage(fmt::format("found what no option takes: {}{}", fmt::join(extra, " "),
                                 isValue ? "; put quotes around values with blanks" : ""));
  } catch (const CLI::ParseError& error) {
    return failUsage(error.what());
  }
  const int code = runBody(body);
  errno = 0;
  if (std::fflush(stdout) == 0 || errno == EPIPE) return code;
  return outputFailed(std::strerror(errno));
}

int Command::runBody(const std::function<Result<int>()>& body) {
  try {
    const Result<int> result = body();
    if (result) return result.assume_value();
    printError(name_, result.assume_error());
    return exitCodeOf(result.assume_error().code());
  } catch (const std::bad_alloc&) {
    return fail(Error(ErrorCode::OutOfMemory, "the machine refused memory"));
  } catch (const std::system_error& error) {
    // fmt throws this when it cannot print. Who closed the other end of a pipe has seen enough.
    if (error.code() == std::errc::broken_pipe) return kExitOk;
    return outputFailed(error.code().message());
  } catch (const UsageError& error) {
    return failUsage(error.what());
  }
}

int Command::failUsage(const std::string& message) const {
  std::fflush(stdout);
  printLine(stderr, fmt::format("{}: {}\nRun with --help for more information.", name_, message));
  return kExitUsage;
}

int Command::fail(const Error& error) const {
  printError(name_, error);
  return exitCodeOf(error.code());
}

int Command::outputFailed(const std::string& reason) const {
  return fail(Error(ErrorCode::Io, "cannot write standard output: " + reason));
}

void exitWhenOutOfMemory() {
  std::set_new_handler([] { exitNow("out of memory: the machine refused memory\n", kExitLimit); });
}

void printLine(std::FILE* file, const std::string& text) { std::fputs((text + '\n').c_str(), file); }

void printError(const std::string& command, const Error& error) {
  std::fflush(stdout);
  printLine(stderr, fmt::format("{}: {}", command, error.describe()));
}

}  // namespace baton::tools
