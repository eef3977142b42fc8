#include "tests/unit/compiler/driver/harness.h"

#include <memory>

#include <catch2/catch.hpp>

#include "baton/baton.h"
#include "bytecode/container/writer.h"

namespace baton::driver::test {

namespace {

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

/// Throws the message of a failed status away from the happy path.
struct Failure {
  std::string message;
};
void check(baton_status* status) {
  if (status == nullptr) return;
  Failure failure{baton_status_message(status)};
  baton_status_release(status);
  throw failure;
}

std::string runChecked(const CompileOutput& program, const std::string& function,
                       const std::vector<std::string>& inputs, bool interpretKernels,
                       uint64_t* allocations = nullptr) {
  Result<std::vector<std::byte>> bytes = bytecode::writeExecutable(*program.program);
  REQUIRE(bytes.has_value());
  baton_instance* instance = nullptr;
  baton_instance_options instanceOptions = BATON_INSTANCE_OPTIONS_INIT;
  instanceOptions.thread_count = 1;
  check(baton_instance_create(&instanceOptions, &instance));
  const Owned<baton_instance> instanceOwner(instance, baton_instance_release);
  baton_load_options load = BATON_LOAD_OPTIONS_INIT;
  load.native_code = interpretKernels ? 0 : 1;
  baton_executable* executable = nullptr;
  check(baton_executable_load_memory(instance, bytes.assume_value().data(), bytes.assume_value().size(),
                                     &load, &executable));
  const Owned<baton_executable> executableOwner(executable, baton_executable_release);
  const baton_function* entry = baton_executable_find_function(executable, function.c_str());
  REQUIRE(entry != nullptr);
  baton_context* context = nullptr;
  check(baton_context_create(executable, nullptr, &context));
  const Owned<baton_context> contextOwner(context, baton_context_release);
  baton_call* call = nullptr;
  check(baton_call_create(context, entry, &call));
  const Owned<baton_call> callOwner(call, baton_call_release);
  REQUIRE(baton_function_parameter_count(entry) == inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    baton_value* value = nullptr;
    check(baton_value_parse(instance, baton_function_parameter_type(entry, i), inputs[i].data(),
                            inputs[i].size(), nullptr, &value));
    const Owned<baton_value> valueOwner(value, baton_value_release);
    check(baton_call_set_input(call, i, value));
  }
  baton_memory_statistics before = BATON_MEMORY_STATISTICS_INIT;
  baton_memory_statistics after = BATON_MEMORY_STATISTICS_INIT;
  baton_context_memory_statistics(context, &before);
  check(baton_call_run(call));
  baton_context_memory_statistics(context, &after);
  if (allocations != nullptr) *allocations = after.allocation_count - before.allocation_count;
  baton_value* result = nullptr;
  check(baton_call_result(call, &result));
  const Owned<baton_value> resultOwner(result, baton_value_release);
  char* text = nullptr;
  size_t length = 0;
  check(baton_value_format(result, 0, &text, &length));
  const Owned<char> textOwner(text, baton_string_release);
  return std::string(text, length);
}

}  // namespace

CompileOutput compiled(std::string_view text, const CompileOptions& options) {
  Result<CompileOutput> result = compile({"test.relay", std::string(text)}, options);
  if (!result.has_value()) FAIL(result.assume_error().describe());
  CompileOutput output = std::move(result).assume_value();
  if (output.diagnostics.hasErrors()) FAIL(frontend::render(output.diagnostics, output.sources));
  return output;
}

std::string errorsOf(std::string_view text, const CompileOptions& options) {
  Result<CompileOutput> result = compile({"test.relay", std::string(text)}, options);
  if (!result.has_value()) FAIL(result.assume_error().describe());
  const CompileOutput& output = result.assume_value();
  REQUIRE(output.diagnostics.hasErrors());
  CHECK(!output.program.has_value());
  CHECK(output.text.empty());
  return frontend::render(output.diagnostics, output.sources);
}

std::string run(const CompileOutput& program, const std::string& function,
                const std::vector<std::string>& inputs, bool interpretKernels) {
  try {
    return runChecked(program, function, inputs, interpretKernels);
  } catch (const Failure& failure) {
    return "error: " + failure.message;
  }
}

uint64_t allocationsOf(const CompileOutput& program, const std::string& function,
                       const std::vector<std::string>& inputs) try {
  uint64_t allocations = 0;
  runChecked(program, function, inputs, false, &allocations);
  return allocations;
} catch (const Failure& failure) {
  FAIL(failure.message);
  return 0;
}

void checkProgram(std::string_view text, const std::vector<std::string>& inputs, const std::string& expected,
                  CompileOptions options) {
  options.isPortable = true;
  options.verifyEach = true;
  for (int level = 0; level <= 3; ++level) {
    options.level = level;
    INFO("-O" << level << "\n" << text);
    const CompileOutput program = compiled(text, options);
    CHECK(run(program, "main", inputs) == expected);
    if (level == 3) CHECK(run(program, "main", inputs, true) == expected);
  }
}

}  // namespace baton::driver::test
