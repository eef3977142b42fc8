// vm-compile: program text to a .vmexe, on the C interface of the compiler.
#include <cstdio>
#include <memory>
#include <span>

#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/vm_compile/options.h"

namespace baton::tools {
namespace {

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> result;
  for (const std::string& string : strings) result.push_back(string.c_str());
  return result;
}

int exitCodeOf(baton_compile_status status) {
  switch (status) {
    case BATON_COMPILE_OK: return kExitOk;
    case BATON_COMPILE_ERRORS:
    case BATON_COMPILE_UNSUPPORTED: return kExitFailure;
    case BATON_COMPILE_INVALID_ARGUMENT: return kExitUsage;
    case BATON_COMPILE_BAD_INPUT: return kExitBadFile;
    case BATON_COMPILE_OUT_OF_MEMORY: return kExitLimit;
    case BATON_COMPILE_INTERNAL: break;
  }
  return kExitInternal;
}

void report(const baton_compilation* compilation) {
  std::fputs(baton_compilation_log(compilation), stderr);
  for (size_t i = 0; i < baton_compilation_diagnostic_count(compilation); ++i) {
    baton_compile_diagnostic diagnostic{};
    diagnostic.struct_size = sizeof(diagnostic);
    if (baton_compilation_diagnostic(compilation, i, &diagnostic) == BATON_COMPILE_OK)
      std::fputs(diagnostic.rendered, stderr);
  }
  const std::string error = baton_compilation_error(compilation);
  if (!error.empty()) std::fprintf(stderr, "vm-compile: %s\n", error.c_str());
}

void listPasses() {
  for (size_t i = 0; i < baton_compiler_pass_count(); ++i) {
    baton_compiler_pass pass{};
    pass.struct_size = sizeof(pass);
    if (baton_compiler_pass_at(i, &pass) != BATON_COMPILE_OK) continue;
    const std::string level = pass.level == 0 ? "always" : "-O" + std::to_string(pass.level);
    std::printf("%-20s %-6s  %s\n", pass.name, level.c_str(), pass.summary);
  }
}

Result<int> run(const CompileCommandOptions& command) {
  if (command.listPasses) {
    listPasses();
    return kExitOk;
  }
  if (command.input.empty()) throw UsageError("no input");
  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  options.emit = emitOf(command.emit);
  std::vector<std::pair<std::string, int64_t>> dims;
  for (const std::string& text : command.dims) dims.push_back(dimOf(text).value());
  BATON_TRY_ASSIGN(const std::string text, readTextFile(command.input));
  std::vector<std::vector<std::byte>> paramBytes;
  std::vector<baton_compile_params> params;
  for (const std::string& path : command.params) {
    BATON_TRY_ASSIGN(auto bytes, readFile(path));
    paramBytes.push_back(std::move(bytes));
  }
  for (size_t i = 0; i < paramBytes.size(); ++i)
    params.push_back({command.params[i].c_str(), paramBytes[i].data(), paramBytes[i].size()});
  std::vector<baton_compile_dim> fixed;
  for (const auto& [name, extent] : dims) fixed.push_back({name.c_str(), extent});
  const auto cpuLevels = pointers(command.cpuLevels);
  const auto entries = pointers(command.entries);
  const auto disabled = pointers(command.disabledPasses);
  const auto before = pointers(command.printBefore);
  const auto after = pointers(command.printAfter);

  options.level = command.level;
  options.flags = (command.isPortable ? BATON_COMPILE_PORTABLE : 0) |
                  (command.hasNoNativeCode ? BATON_COMPILE_NO_NATIVE_CODE | BATON_COMPILE_PORTABLE : 0) |
                  (command.verifyEach ? BATON_COMPILE_VERIFY_EACH : 0) |
                  (command.timePasses ? BATON_COMPILE_TIME_PASSES : 0) |
                  (command.countPasses ? BATON_COMPILE_COUNT_PASSES : 0) |
                  (command.printChanged ? BATON_COMPILE_PRINT_CHANGED : 0);
  if (command.passes) options.passes = command.passes->c_str();
  options.cpu_levels = cpuLevels.data();
  options.cpu_level_count = cpuLevels.size();
  options.params = params.data();
  options.param_count = params.size();
  options.entries = entries.data();
  options.entry_count = entries.size();
  options.dims = fixed.data();
  options.dim_count = fixed.size();
  options.disabled_passes = disabled.data();
  options.disabled_pass_count = disabled.size();
  options.print_before = before.data();
  options.print_before_count = before.size();
  options.print_after = after.data();
  options.print_after_count = after.size();

  const baton_compile_source source{command.input.c_str(), text.data(), text.size()};
  baton_compilation* result = nullptr;
  const baton_compile_status status = baton_compile(&source, &options, &result);
  const std::unique_ptr<baton_compilation, void (*)(baton_compilation*)> owner(result,
                                                                               baton_compilation_release);
  if (result != nullptr) report(result);
  if (status == BATON_COMPILE_OUT_OF_MEMORY)
    return Error(ErrorCode::OutOfMemory, "the machine refused memory");
  if (status != BATON_COMPILE_OK) return exitCodeOf(status);
  size_t size = 0;
  const void* bytes = baton_compilation_output(result, &size);
  BATON_TRY(writeFile(command.output.empty() ? defaultOutput(command) : command.output,
                      {static_cast<const std::byte*>(bytes), size}));
  return kExitOk;
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Command command("vm-compile",
                                "Compiles the text of a program (.relay) to an executable (.vmexe).",
                                "Examples:\n  vm-compile model.relay -o model.vmexe --params weights.npz\n"
                                "  vm-compile model.relay --cpu x86-64-v3 --cpu x86-64-v4 --portable\n"
                                "  vm-compile model.relay --emit lir -O0");
  baton::tools::CompileCommandOptions options;
  baton::tools::addOptions(command, options);
  baton::tools::exitWhenOutOfMemory();
  return command.run(argc, argv, [&] { return baton::tools::run(options); });
}
