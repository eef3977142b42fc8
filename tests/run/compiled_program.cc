#include "compiled_program.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/baton.h"
#include "bytecode/container/writer.h"
#include "compiler/driver/compile.h"
#include "compiler/emit/emit.h"
#include "compiler/lir/lower/lower.h"
#include "compiler/lir/pipeline.h"

namespace baton::run {
namespace {

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

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

Result<std::string> runCompiled(const CompiledProgram& program, const std::string& entryName,
                                const std::vector<std::string>& inputs, RunOptions options) {
  baton_instance* instance = nullptr;
  baton_instance_options instanceOptions = BATON_INSTANCE_OPTIONS_INIT;
  instanceOptions.thread_count = 1;
  BATON_TRY(checked(baton_instance_create(&instanceOptions, &instance)));
  const Owned<baton_instance> instanceOwner(instance, baton_instance_release);
  baton_load_options load = BATON_LOAD_OPTIONS_INIT;
  load.native_code = options.interpretsKernels ? 0 : 1;
  baton_executable* executable = nullptr;
  BATON_TRY(checked(baton_executable_load_memory(instance, program.bytes.data(), program.bytes.size(), &load,
                                                 &executable)));
  const Owned<baton_executable> executableOwner(executable, baton_executable_release);
  const baton_function* entry = baton_executable_find_function(executable, entryName.c_str());
  if (entry == nullptr) return Error(ErrorCode::Internal, fmt::format("the executable has no {}", entryName));
  baton_context* context = nullptr;
  baton_context_options contextOptions = BATON_CONTEXT_OPTIONS_INIT;
  contextOptions.switch_dispatch = options.usesSwitch ? 1 : 0;
  BATON_TRY(checked(baton_context_create(executable, &contextOptions, &context)));
  const Owned<baton_context> contextOwner(context, baton_context_release);
  baton_call* call = nullptr;
  BATON_TRY(checked(baton_call_create(context, entry, &call)));
  const Owned<baton_call> callOwner(call, baton_call_release);
  for (size_t i = 0; i < inputs.size(); ++i) {
    baton_value* value = nullptr;
    BATON_TRY(checked(baton_value_parse(instance, baton_function_parameter_type(entry, i), inputs[i].data(),
                                        inputs[i].size(), nullptr, &value)));
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

Result<std::string> runInNewProcess(const std::string& self, const CompiledProgram& program,
                                    const std::string& entry, const std::vector<std::string>& inputs) {
  char path[] = "/tmp/run_program_XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return Error(ErrorCode::Io, "no temporary file");
  const bool isWritten =
      write(file, program.bytes.data(), program.bytes.size()) == static_cast<ssize_t>(program.bytes.size());
  close(file);
  int ends[2];
  if (!isWritten || pipe(ends) != 0) return Error(ErrorCode::Io, "the executable could not be saved");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<std::string> words{self, "--load", path, entry};
    words.insert(words.end(), inputs.begin(), inputs.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(self.c_str(), arguments.data());
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
  unlink(path);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1) return Error(ErrorCode::ProgramError, output);
  return Error(ErrorCode::Internal, fmt::format("the process ended with status {}: {}", status, output));
}

int loadAndRun(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return 2;
  std::ifstream file(arguments[0], std::ios::binary);
  CompiledProgram program;
  for (std::istreambuf_iterator<char> at(file), end; at != end; ++at)
    program.bytes.push_back(static_cast<std::byte>(*at));
  Result<std::string> result = runCompiled(
      program, arguments[1], std::vector<std::string>(arguments.begin() + 2, arguments.end()), {});
  if (!result.has_value()) {
    std::fputs(result.assume_error().message().c_str(), stdout);
    const ErrorCode code = result.assume_error().code();
    return code == ErrorCode::ProgramError || code == ErrorCode::InvalidArgument ? 1 : 3;
  }
  std::fputs(result.assume_value().c_str(), stdout);
  return 0;
}

}  // namespace baton::run
