// vm-run: loads an executable, calls one of its functions, shows or checks the result.
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include "base/log.h"
#include "tools/cli/command.h"
#include "tools/vm_run/handles.h"
#include "tools/vm_run/inputs.h"
#include "tools/vm_run/outputs.h"
#include "tools/vm_run/report.h"

namespace baton::tools {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  vm-run model.vmexe --input '2x3xf32=1 2 3 4 5 6'\n"
    "  vm-run model.vmexe --input x=@x.npy --expect-npz expected.npz --rtol 1e-5\n"
    "  vm-run tree.vmexe --input 'Node(Leaf(@a.npy), Leaf(@b.npy))'\n"
    "  vm-run model.vmexe --params encoder=weights.safetensors --input x=@x.npy\n"
    "  vm-run model.vmexe --random=7 --dim n=128 --repeat 100 --profile\n";

void addOptions(Command& command, RunOptions& o) {
  CLI::App& app = command.app();
  app.add_option("executable", o.executable, "the .vmexe file")->required()->type_name("FILE");
  app.add_option("--function", o.function, "entry point to call")->capture_default_str()->type_name("NAME");

  command
      .addRepeatable("--input", o.inputs,
                     "a value, by position or as NAME=VALUE; @FILE reads one, an array or value text")
      ->type_name("VALUE")
      ->group("Inputs");
  app.add_option("--inputs-npz", o.inputsNpz, "arrays named like the parameters")
      ->type_name("FILE")
      ->group("Inputs");
  app.add_option("--random", o.randomSeed, "random tensors for parameters without a value")
      ->expected(0, 1)
      ->default_str("0")
      ->type_name("SEED")
      ->group("Inputs");
  command.addRepeatable("--dim", o.dims, "an extent for --random")->type_name("NAME=N")->group("Inputs");

  command
      .addRepeatable("--output", o.outputs,
                     "where a result goes, in order: @FILE.npy as an array, - or another @FILE as value text")
      ->type_name("WHERE")
      ->group("Outputs");
  app.add_option("--outputs-npz", o.outputsNpz, "all results as output_0, output_1, ...")
      ->type_name("FILE")
      ->group("Outputs");
  command.addRepeatable("--expect", o.expected, "the value a result must have, in order")
      ->type_name("VALUE")
      ->group("Outputs");
  app.add_option("--expect-npz", o.expectedNpz, "the same from arrays output_0, output_1, ...")
      ->type_name("FILE")
      ->group("Outputs");
  app.add_option("--atol", o.tolerance.absolute, "tolerance |found - expected| <= atol + rtol * |expected|")
      ->check(CLI::NonNegativeNumber)
      ->group("Outputs");
  app.add_option("--rtol", o.tolerance.relative, "see --atol; without both, bits must be equal")
      ->check(CLI::NonNegativeNumber)
      ->group("Outputs");

  app.add_option("--threads", o.threads, "threads that work on one kernel; 0: one per core")
      ->check(CLI::NonNegativeNumber)
      ->group("Limits");
  app.add_option("--memory-limit", o.memoryLimit, "cap for all memory")->type_name("SIZE")->group("Limits");
  app.add_option("--timeout", o.timeout, "deadline of one run")->type_name("TIME")->group("Limits");
  app.add_option("--max-instructions", o.maxInstructions, "instructions of one run; 0: any number")
      ->check(CLI::NonNegativeNumber)
      ->group("Limits");
  app.add_option("--max-call-depth", o.maxCallDepth, "nested calls; 0: as many as 1 GiB of frames holds")
      ->check(CLI::NonNegativeNumber)
      ->group("Limits");

  command
      .addRepeatable("--params", o.params,
                     ".npz, .npy, .safetensors or .vmparams file with weights that the executable leaves "
                     "open; without SCOPE, of the scope params")
      ->type_name("[SCOPE=]FILE")
      ->group("Loading");
  app.add_flag("--no-native-code", o.noNativeCode, "interpret the kernels' loop IR instead")
      ->group("Loading");
  app.add_option("--cpu", o.cpu, "use the image of this CPU level")->type_name("LEVEL")->group("Loading");
  app.add_option("--allocator", o.allocator, "pool or system")
      ->capture_default_str()
      ->check(CLI::IsMember({"pool", "system"}))
      ->group("Loading");
  app.add_flag("--copy", o.copyFile, "read the file into memory instead of mapping it")->group("Loading");
  app.add_flag("--verify-constants", o.verifyConstants, "check the bytes of constants too")->group("Loading");
  app.add_flag("--switch-dispatch", o.switchDispatch, "use the portable dispatch loop")->group("Loading");

  app.add_option("--repeat", o.repeat, "run this often and print times")
      ->check(CLI::PositiveNumber)
      ->group("Reports");
  app.add_flag("--print-memory-stats", o.printMemoryStatistics, "memory in use, reserved, peaks")
      ->group("Reports");
  app.add_option("--profile", o.profile, "time by kernel and function: table or json")
      ->expected(0, 1)
      ->default_str("table")
      ->check(CLI::IsMember({"table", "json"}))
      ->group("Reports");
}

void writeLog(void* sink, baton_log_level level, const char* message) {
  static_cast<LogSink*>(sink)->write(static_cast<LogLevel>(level), message);
}

uint64_t sizeOption(const std::string& text) {
  if (text.empty()) return 0;
  if (const auto bytes = parseByteSize(text)) return *bytes;
  throw UsageError(fmt::format("--memory-limit {}: expected a size such as 512MiB or 2GiB", text));
}

uint64_t timeOption(const std::string& text) {
  if (text.empty()) return 0;
  if (const auto nanoseconds = parseDuration(text)) return *nanoseconds;
  throw UsageError(fmt::format("--timeout {}: expected a time such as 5s or 250ms", text));
}

Result<int> run(const RunOptions& o) {
  const uint64_t memoryLimit = sizeOption(o.memoryLimit);
  const uint64_t timeout = timeOption(o.timeout);

  baton_instance_options instanceOptions = BATON_INSTANCE_OPTIONS_INIT;
  instanceOptions.thread_count = o.threads;
  instanceOptions.memory_limit_bytes = memoryLimit;
  instanceOptions.allocator = o.allocator.c_str();
  const std::unique_ptr<LogSink> log = makeStderrLogSink("vm-run", LogLevel::Warning);
  instanceOptions.log_sink = writeLog;
  instanceOptions.log_user = log.get();
  baton_instance* rawInstance = nullptr;
  BATON_TRY(check(baton_instance_create(&instanceOptions, &rawInstance)));
  const Instance instance(rawInstance);

  baton_load_options loadOptions = BATON_LOAD_OPTIONS_INIT;
  loadOptions.native_code = !o.noNativeCode;
  loadOptions.cpu_level = o.cpu.empty() ? nullptr : o.cpu.c_str();
  loadOptions.copy = o.copyFile;
  loadOptions.verify_constants = o.verifyConstants;
  std::vector<ScopedFile> scopes;
  for (const std::string& argument : o.params) scopes.push_back(splitScope(argument));
  std::vector<baton_parameter_file> files;
  for (const ScopedFile& scoped : scopes) files.push_back({scoped.scope.c_str(), scoped.path.c_str()});
  loadOptions.parameter_files = files.data();
  loadOptions.parameter_file_count = files.size();
  baton_executable* rawExecutable = nullptr;
  BATON_TRY(
      check(baton_executable_load_file(instance.get(), o.executable.c_str(), &loadOptions, &rawExecutable)));
  const Executable executable(rawExecutable);

  const baton_function* function = baton_executable_find_function(executable.get(), o.function.c_str());
  if (function == nullptr) {
    std::string names;
    for (size_t i = 0; i < baton_executable_function_count(executable.get()); ++i)
      names += fmt::format("{}{}", i == 0 ? "" : ", ",
                           baton_function_name(baton_executable_function(executable.get(), i)));
    throw UsageError(fmt::format("no function \"{}\" in {}; it has {}", o.function, o.executable,
                                 names.empty() ? "none" : names));
  }

  checkOutputOptions(function, o);

  baton_context_options contextOptions = BATON_CONTEXT_OPTIONS_INIT;
  contextOptions.profile = !o.profile.empty();
  contextOptions.switch_dispatch = o.switchDispatch;
  baton_context* rawContext = nullptr;
  BATON_TRY(check(baton_context_create(executable.get(), &contextOptions, &rawContext)));
  const Context context(rawContext);

  BATON_TRY_ASSIGN(const std::vector<Value> inputs, makeInputs(instance.get(), function, o));
  baton_call* rawCall = nullptr;
  BATON_TRY(check(baton_call_create(context.get(), function, &rawCall)));
  const Call call(rawCall);
  baton_call_limits limits = BATON_CALL_LIMITS_INIT;
  limits.instruction_count = o.maxInstructions;
  limits.call_depth = o.maxCallDepth;
  limits.timeout_nanoseconds = timeout;
  BATON_TRY(check(baton_call_set_limits(call.get(), &limits)));

  Value result;
  std::vector<double> seconds;
  for (uint64_t i = 0; i < o.repeat; ++i) {
    result.reset();
    baton_call_reset(call.get());
    for (size_t k = 0; k < inputs.size(); ++k)
      BATON_TRY(check(baton_call_set_input(call.get(), k, inputs[k].get())));
    const auto start = std::chrono::steady_clock::now();
    BATON_TRY(check(baton_call_run(call.get())));
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    baton_value* rawResult = nullptr;
    BATON_TRY(check(baton_call_result(call.get(), &rawResult)));
    result.reset(rawResult);
  }

  BATON_TRY_ASSIGN(const std::vector<Value> results, splitResult(result.get()));
  BATON_TRY(writeOutputs(results, o));
  BATON_TRY_ASSIGN(const bool agree, checkExpectations(instance.get(), function, results, o));
  if (o.repeat > 1) printTimes(std::move(seconds));
  if (!o.profile.empty()) printProfile(context.get(), o.profile == "json");
  if (o.printMemoryStatistics) printMemoryStatistics(instance.get());
  return agree ? kExitOk : kExitFailure;
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::RunOptions options;
  baton::tools::Command command("vm-run",
                                "Loads a .vmexe, calls one of its functions and shows or checks the result.",
                                baton::tools::kExamples);
  baton::tools::addOptions(command, options);
  return command.run(argc, argv, [&] { return baton::tools::run(options); });
}
