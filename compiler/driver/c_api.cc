// The C interface of the compiler over compile(). Whatever goes wrong inside, memory
// included, ends in a status here.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "baton/compiler.h"
#include "bytecode/container/writer.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/version.h"

using baton::ErrorCode;
using baton::Result;
namespace driver = baton::driver;
namespace frontend = baton::frontend;

struct baton_compilation {
  struct Diagnostic {
    baton_compile_severity severity;
    std::string file;
    uint32_t line;
    uint32_t column;
    std::string message;
    std::string detail;
    std::string rendered;
  };
  std::vector<std::byte> output;  // text has a zero after its end
  size_t outputSize = 0;
  bool hasOutput = false;
  std::vector<Diagnostic> diagnostics;
  std::string error;
  std::string log;
};

namespace {

baton_compile_status statusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument: return BATON_COMPILE_INVALID_ARGUMENT;
    case ErrorCode::Io:
    case ErrorCode::Malformed:
    case ErrorCode::Incompatible:
    case ErrorCode::VerifyFailed: return BATON_COMPILE_BAD_INPUT;
    case ErrorCode::OutOfMemory: return BATON_COMPILE_OUT_OF_MEMORY;
    case ErrorCode::CompileError: return BATON_COMPILE_ERRORS;
    case ErrorCode::Unsupported: return BATON_COMPILE_UNSUPPORTED;
    case ErrorCode::LimitReached:
    case ErrorCode::DeadlineExceeded:
    case ErrorCode::Cancelled:
    case ErrorCode::ProgramError:
    case ErrorCode::Internal: break;
  }
  return BATON_COMPILE_INTERNAL;
}

std::vector<std::string> strings(const char* const* list, size_t count) {
  std::vector<std::string> result;
  for (size_t i = 0; i < count; ++i) result.emplace_back(list[i]);
  return result;
}

/// Fields beyond the caller's struct_size keep their defaults.
baton_compile_options known(const baton_compile_options* options) {
  baton_compile_options full = BATON_COMPILE_OPTIONS_INIT;
  if (options != nullptr) std::memcpy(&full, options, std::min(options->struct_size, sizeof(full)));
  return full;
}

bool convert(const baton_compile_options& from, driver::CompileOptions& to, std::string& error) {
  to.level = from.level;
  to.isPortable = (from.flags & BATON_COMPILE_PORTABLE) != 0;
  to.hasNativeCode = (from.flags & BATON_COMPILE_NO_NATIVE_CODE) == 0;
  to.verifyEach = (from.flags & BATON_COMPILE_VERIFY_EACH) != 0;
  to.timePasses = (from.flags & BATON_COMPILE_TIME_PASSES) != 0;
  to.printChanged = (from.flags & BATON_COMPILE_PRINT_CHANGED) != 0;
  to.countPasses = (from.flags & BATON_COMPILE_COUNT_PASSES) != 0;
  if (from.flags >> 6 != 0) {
    error = "unknown flags";
    return false;
  }
  switch (from.emit) {
    case BATON_COMPILE_EMIT_VMEXE: to.emit = driver::Emit::Executable; break;
    case BATON_COMPILE_EMIT_IR: to.emit = driver::Emit::Ir; break;
    case BATON_COMPILE_EMIT_TYPES: to.emit = driver::Emit::Types; break;
    case BATON_COMPILE_EMIT_LOWERED: to.emit = driver::Emit::Lowered; break;
    case BATON_COMPILE_EMIT_LIR: to.emit = driver::Emit::Lir; break;
    case BATON_COMPILE_EMIT_LOOP: to.emit = driver::Emit::Loop; break;
    case BATON_COMPILE_EMIT_LLVM: to.emit = driver::Emit::Llvm; break;
    case BATON_COMPILE_EMIT_VMASM: to.emit = driver::Emit::Vmasm; break;
    case BATON_COMPILE_EMIT_ASM: to.emit = driver::Emit::NativeAssembly; break;
    case BATON_COMPILE_EMIT_C: to.emit = driver::Emit::CSource; break;
    case BATON_COMPILE_EMIT_SCHEDULE: to.emit = driver::Emit::Schedule; break;
    default: error = "unknown kind of output"; return false;
  }
  if (from.module_name != nullptr) to.moduleName = from.module_name;
  to.cpuLevels = strings(from.cpu_levels, from.cpu_level_count);
  for (size_t i = 0; i < from.param_count; ++i)
    to.params.push_back({from.params[i].name != nullptr ? from.params[i].name : "",
                         {static_cast<const std::byte*>(from.params[i].data), from.params[i].size}});
  to.entries = strings(from.entries, from.entry_count);
  for (size_t i = 0; i < from.dim_count; ++i) to.dims.emplace_back(from.dims[i].name, from.dims[i].extent);
  if (from.passes != nullptr) to.passes = from.passes;
  to.disabledPasses = strings(from.disabled_passes, from.disabled_pass_count);
  to.printBefore = strings(from.print_before, from.print_before_count);
  to.printAfter = strings(from.print_after, from.print_after_count);
  return true;
}

baton_compile_severity severityOf(frontend::Severity severity) {
  switch (severity) {
    case frontend::Severity::Error: return BATON_COMPILE_SEVERITY_ERROR;
    case frontend::Severity::Warning: return BATON_COMPILE_SEVERITY_WARNING;
    case frontend::Severity::Note: return BATON_COMPILE_SEVERITY_NOTE;
  }
  return BATON_COMPILE_SEVERITY_ERROR;
}

void takeDiagnostics(const driver::CompileOutput& output, baton_compilation& compilation) {
  for (const frontend::Diagnostic& item : output.diagnostics.items()) {
    const bool isPlaced = item.location.isKnown() && item.location.file < output.sources.size();
    compilation.diagnostics.push_back({severityOf(item.severity),
                                       isPlaced ? output.sources[item.location.file].name : "",
                                       isPlaced ? item.location.line : 0, isPlaced ? item.location.column : 0,
                                       item.message, item.detail, frontend::render(item, output.sources)});
  }
  if (const std::string more = output.diagnostics.moreErrors(); !more.empty())
    compilation.diagnostics.push_back({BATON_COMPILE_SEVERITY_NOTE, "", 0, 0, more, "", more + '\n'});
}

baton_compile_status fail(baton_compilation& compilation, const baton::Error& error) {
  compilation.error = error.message();
  return statusOf(error.code());
}

baton_compile_status run(const baton_compile_source* source, const baton_compile_options* options,
                         baton_compilation& compilation) {
  if (source == nullptr || (source->text == nullptr && source->text_size != 0)) {
    compilation.error = "no program text";
    return BATON_COMPILE_INVALID_ARGUMENT;
  }
  driver::CompileOptions converted;
  if (!convert(known(options), converted, compilation.error)) return BATON_COMPILE_INVALID_ARGUMENT;
  Result<driver::CompileOutput> result = driver::compile(
      {source->name != nullptr ? source->name : "", std::string(source->text, source->text_size)}, converted);
  if (!result.has_value()) return fail(compilation, result.assume_error());
  driver::CompileOutput& output = result.assume_value();
  takeDiagnostics(output, compilation);
  compilation.log = std::move(output.log);
  if (output.diagnostics.hasErrors())
    return output.hasUnfitWeights ? BATON_COMPILE_BAD_INPUT : BATON_COMPILE_ERRORS;
  if (output.program) {
    Result<std::vector<std::byte>> bytes = baton::bytecode::writeExecutable(*output.program);
    if (!bytes.has_value()) return fail(compilation, bytes.assume_error());
    compilation.output = std::move(bytes).assume_value();
    compilation.outputSize = compilation.output.size();
  } else {
    const auto* text = reinterpret_cast<const std::byte*>(output.text.c_str());
    compilation.output.assign(text, text + output.text.size() + 1);
    compilation.outputSize = output.text.size();
  }
  compilation.hasOutput = true;
  return BATON_COMPILE_OK;
}

}  // namespace

extern "C" {

const char* baton_compiler_version(void) { return driver::kVersion; }

size_t baton_compiler_pass_count(void) { return driver::passSummaries().size(); }

baton_compile_status baton_compiler_pass_at(size_t index, baton_compiler_pass* pass) {
  const std::vector<driver::PassSummary> all = driver::passSummaries();
  if (pass == nullptr || index >= all.size()) return BATON_COMPILE_INVALID_ARGUMENT;
  const driver::PassSummary& summary = all[index];
  // Both are literals, which end with a zero.
  const baton_compiler_pass full = {pass->struct_size, summary.name.data(), summary.summary.data(),
                                    summary.level};
  std::memcpy(pass, &full, std::min(pass->struct_size, sizeof(full)));
  return BATON_COMPILE_OK;
}

baton_compile_status baton_compile(const baton_compile_source* source, const baton_compile_options* options,
                                   baton_compilation** out) {
  if (out == nullptr) return BATON_COMPILE_INVALID_ARGUMENT;
  *out = new (std::nothrow) baton_compilation();
  if (*out == nullptr) return BATON_COMPILE_OUT_OF_MEMORY;
  try {
    return run(source, options, **out);
  } catch (const std::bad_alloc&) {
    return BATON_COMPILE_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    try {
      (*out)->error = exception.what();
    } catch (const std::bad_alloc&) {
      return BATON_COMPILE_OUT_OF_MEMORY;
    }
    return BATON_COMPILE_INTERNAL;
  }
}

void baton_compilation_release(baton_compilation* compilation) { delete compilation; }

const void* baton_compilation_output(const baton_compilation* compilation, size_t* size) {
  const bool hasOutput = compilation != nullptr && compilation->hasOutput;
  if (size != nullptr) *size = hasOutput ? compilation->outputSize : 0;
  return hasOutput ? compilation->output.data() : nullptr;
}

size_t baton_compilation_diagnostic_count(const baton_compilation* compilation) {
  return compilation == nullptr ? 0 : compilation->diagnostics.size();
}

baton_compile_status baton_compilation_diagnostic(const baton_compilation* compilation, size_t index,
                                                  baton_compile_diagnostic* diagnostic) {
  if (compilation == nullptr || diagnostic == nullptr || index >= compilation->diagnostics.size())
    return BATON_COMPILE_INVALID_ARGUMENT;
  const baton_compilation::Diagnostic& from = compilation->diagnostics[index];
  baton_compile_diagnostic full = {};
  full.struct_size = diagnostic->struct_size;
  full.severity = from.severity;
  full.file = from.file.c_str();
  full.line = from.line;
  full.column = from.column;
  full.message = from.message.c_str();
  full.detail = from.detail.c_str();
  full.rendered = from.rendered.c_str();
  std::memcpy(diagnostic, &full, std::min(diagnostic->struct_size, sizeof(full)));
  return BATON_COMPILE_OK;
}

const char* baton_compilation_error(const baton_compilation* compilation) {
  return compilation == nullptr ? "" : compilation->error.c_str();
}

const char* baton_compilation_log(const baton_compilation* compilation) {
  return compilation == nullptr ? "" : compilation->log.c_str();
}

}  // extern "C"
