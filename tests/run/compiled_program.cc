#include "compiled_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bytecode/container/writer.h"
#include "compiler/driver/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/lir/lower/lower.h"
#include "compiler/lir/pipeline.h"

namespace baton::run {
namespace {

Result<void> checked(baton_status* status) {
  if (status == nullptr) return success();
  Error error(static_cast<ErrorCode>(baton_status_code(status)), baton_status_message(status));
  baton_status_release(status);
  return error;
}

}  // namespace

Result<CompiledProgram> compileProgram(const std::string& name, const std::string& text, int level,
                                       const std::vector<std::string>& entries) {
  driver::CompileOptions options;
  options.level = level;
  options.isPortable = true;
  options.verifyEach = true;
  options.entries = entries;
  BATON_TRY_ASSIGN(const driver::CompileOutput output, driver::compile({name, text}, options));
  if (!output.program)
    return Error(ErrorCode::CompileError, frontend::render(output.diagnostics, output.sources));
  BATON_TRY_ASSIGN(std::vector<std::byte> bytes, bytecode::writeExecutable(*output.program));
  return CompiledProgram{std::move(bytes)};
}

Result<CompiledProgram> compileOptimised(ir::Module& module, int level) {
  SourceLocation where;
  BATON_TRY_ASSIGN(lir::Module lowered, lir::lower(module, &where));
  BATON_TRY(lir::runPipeline(lowered, {.level = level, .disabled = {}, .verifyEach = true, .observer = {}}));
  emit::EmitOptions options;
  options.cpuLevels = {"native"};
  options.optimisationLevel = level;
  BATON_TRY_ASSIGN(const bytecode::Program program, emit::emit(std::move(lowered), options));
  BATON_TRY_ASSIGN(std::vector<std::byte> bytes, bytecode::writeExecutable(program));
  return CompiledProgram{std::move(bytes)};
}

Result<LoadedProgram> LoadedProgram::load(const CompiledProgram& program, bool interpretsKernels) {
  baton_instance* instance = nullptr;
  baton_instance_options instanceOptions = BATON_INSTANCE_OPTIONS_INIT;
  instanceOptions.thread_count = 1;
  BATON_TRY(checked(baton_instance_create(&instanceOptions, &instance)));
  Owned<baton_instance> instanceOwner(instance, baton_instance_release);
  baton_load_options options = BATON_LOAD_OPTIONS_INIT;
  options.native_code = interpretsKernels ? 0 : 1;
  baton_executable* executable = nullptr;
  BATON_TRY(checked(baton_executable_load_memory(instance, program.bytes.data(), program.bytes.size(),
                                                 &options, &executable)));
  return LoadedProgram(std::move(instanceOwner), {executable, baton_executable_release});
}

Result<std::string> LoadedProgram::run(const EntryCall& wanted, bool usesSwitch) const {
  const baton_function* entry = baton_executable_find_function(executable_.get(), wanted.entry.c_str());
  if (entry == nullptr)
    return Error(ErrorCode::Internal, fmt::format("the executable has no {}", wanted.entry));
  baton_context* context = nullptr;
  baton_context_options options = BATON_CONTEXT_OPTIONS_INIT;
  options.switch_dispatch = usesSwitch ? 1 : 0;
  BATON_TRY(checked(baton_context_create(executable_.get(), &options, &context)));
  const Owned<baton_context> contextOwner(context, baton_context_release);
  baton_call* call = nullptr;
  BATON_TRY(checked(baton_call_create(context, entry, &call)));
  const Owned<baton_call> callOwner(call, baton_call_release);
  for (size_t i = 0; i < wanted.inputs.size(); ++i) {
    const std::string& input = wanted.inputs[i];
    baton_value* value = nullptr;
    BATON_TRY(checked(baton_value_parse(instance_.get(), baton_function_parameter_type(entry, i),
                                        input.data(), input.size(), nullptr, &value)));
    const Owned<baton_value> valueOwner(value, baton_value_release);
    BATON_TRY(checked(baton_call_set_input(call, i, value)));
  }
  BATON_TRY(checked(baton_call_run(call)));
  baton_value* result = nullptr;
  BATON_TRY(checked(baton_call_result(call, &result)));
  const Owned<baton_value> resultOwner(result, baton_value_release);
  char* text = nullptr;
  size_t length = 0;
  BATON_TRY(checked(baton_value_format(result, 0, &text, &length)));
  const Owned<char> textOwner(text, baton_string_release);
  return std::string(text, length);
}

namespace {

/// A file of this content while it lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) {
    const int file = mkstemp(path_);
    if (file < 0) return;
    isWritten_ = write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    close(file);
  }
  ~TemporaryFile() { unlink(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool isWritten() const { return isWritten_; }
  const char* path() const { return path_; }

 private:
  char path_[24] = "/tmp/run_program_XXXXXX";
  bool isWritten_ = false;
};

/// Strings that may hold anything but a zero, each ended by one.
std::vector<std::string> endedByZeros(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What the new process writes in front of the text of a result, or of an error.
constexpr char kResult = 'r';
constexpr char kProgramError = 'p';
constexpr char kOtherError = 'o';

}  // namespace

Result<std::vector<Result<std::string>>> runInNewProcess(const std::string& self,
                                                         const CompiledProgram& program,
                                                         const std::vector<EntryCall>& calls) {
  std::string text;
  for (const EntryCall& call : calls) {
    text += call.entry + '\0' + std::to_string(call.inputs.size()) + '\0';
    for (const std::string& input : call.inputs) text += input + '\0';
  }
  const TemporaryFile saved({reinterpret_cast<const char*>(program.bytes.data()), program.bytes.size()});
  const TemporaryFile listed(text);
  int ends[2];
  if (!saved.isWritten() || !listed.isWritten() || pipe(ends) != 0)
    return Error(ErrorCode::Io, "the executable could not be saved");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(self.c_str(), self.c_str(), "--load", saved.path(), listed.path(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;)
    output.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  std::vector<Result<std::string>> results;
  for (const std::string& part : endedByZeros(output)) {
    const std::string rest = part.substr(1);
    if (part[0] == kResult)
      results.emplace_back(rest);
    else
      results.emplace_back(
          Error(part[0] == kProgramError ? ErrorCode::ProgramError : ErrorCode::Internal, rest));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && results.size() == calls.size()) return results;
  return Error(ErrorCode::Internal, fmt::format("the process ended with status {} after {} of {} calls: {}",
                                                status, results.size(), calls.size(), output));
}

int loadAndRun(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2) return 2;
  CompiledProgram program;
  for (const char each : contentOf(arguments[0])) program.bytes.push_back(static_cast<std::byte>(each));
  const Result<LoadedProgram> loaded = LoadedProgram::load(program);
  if (!loaded.has_value()) {
    std::fputs(loaded.assume_error().message().c_str(), stdout);
    return 3;
  }
  const std::vector<std::string> words = endedByZeros(contentOf(arguments[1]));
  for (size_t at = 0; at + 1 < words.size();) {
    EntryCall call{words[at], {}};
    const size_t inputs = at + 2;
    at = inputs + std::strtoull(words[at + 1].c_str(), nullptr, 10);
    for (size_t i = inputs; i < at && i < words.size(); ++i) call.inputs.push_back(words[i]);
    const Result<std::string> result = loaded.assume_value().run(call);
    char kind = kResult;
    if (!result.has_value()) {
      const ErrorCode code = result.assume_error().code();
      kind =
          code == ErrorCode::ProgramError || code == ErrorCode::InvalidArgument ? kProgramError : kOtherError;
    }
    const std::string& text = result.has_value() ? result.assume_value() : result.assume_error().message();
    std::putchar(kind);
    std::fwrite(text.c_str(), 1, text.size() + 1, stdout);
  }
  return 0;
}

}  // namespace baton::run
