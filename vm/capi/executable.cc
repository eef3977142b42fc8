#include <vector>

#include "bytecode/container/reader.h"
#include "vm/capi/handles.h"
#include "vm/parameter_file.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

namespace {

baton_load_options loadOptions(const baton_load_options* given) {
  const baton_load_options defaults = BATON_LOAD_OPTIONS_INIT;
  return readOptions(given, defaults);
}

bytecode::OpenOptions openOptions(const baton_load_options& options) {
  return {.mode = options.copy ? bytecode::OpenMode::Copy : bytecode::OpenMode::Map,
          .verifyConstants = options.verify_constants != 0};
}

Result<void> load(baton_instance* instance, Result<bytecode::Program> program,
                  const baton_load_options& options, baton_executable** out) {
  if (!program.has_value()) return std::move(program).assume_error();
  LoadOptions made;
  made.useNativeCode = options.native_code != 0;
  if (options.cpu_level) made.cpuLevel = options.cpu_level;
  std::vector<ScopedParams> params;
  for (size_t i = 0; i < options.parameter_file_count; ++i) {
    const baton_parameter_file& file = options.parameter_files[i];
    if (!file.scope || !file.path) return missing("the scope or path of a parameter file");
    BATON_TRY_ASSIGN(bytecode::Params read, openParameterFile(file.path, openOptions(options)));
    params.push_back({file.scope, std::move(read)});
  }
  BATON_TRY_ASSIGN(Ref<Executable> executable,
                   Executable::load(Ref<Instance>(unwrap(instance)), std::move(program).assume_value(), made,
                                    std::move(params)));
  *out = give<baton_executable>(std::move(executable));
  return success();
}

Result<void> checkArguments(const baton_instance* instance, baton_executable** out) {
  if (!instance) return missing("instance");
  if (!out) return missing("out");
  return success();
}

}  // namespace

extern "C" {

baton_status* baton_executable_load_file(baton_instance* instance, const char* path,
                                         const baton_load_options* given, baton_executable** out) {
  return guarded([&]() -> Result<void> {
    BATON_TRY(checkArguments(instance, out));
    if (!path) return missing("path");
    const baton_load_options options = loadOptions(given);
    Result<void> loaded = load(instance, bytecode::openExecutable(path, openOptions(options)), options, out);
    return loaded;
  });
}

baton_status* baton_executable_load_descriptor(baton_instance* instance, int descriptor,
                                               const baton_load_options* given, baton_executable** out) {
  return guarded([&]() -> Result<void> {
    BATON_TRY(checkArguments(instance, out));
    const baton_load_options options = loadOptions(given);
    return load(instance,
                bytecode::openExecutable(descriptor, "descriptor " + std::to_string(descriptor),
                                         openOptions(options)),
                options, out);
  });
}

baton_status* baton_executable_load_memory(baton_instance* instance, const void* data, size_t size,
                                           const baton_load_options* given, baton_executable** out) {
  return guarded([&]() -> Result<void> {
    BATON_TRY(checkArguments(instance, out));
    if (!data && size != 0) return missing("data");
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(data), size);
    return load(instance, bytecode::readExecutable(bytes), loadOptions(given), out);
  });
}

baton_status* baton_executable_load_callback(baton_instance* instance, baton_read_callback read, void* user,
                                             uint64_t size, const baton_load_options* given,
                                             baton_executable** out) {
  return guarded([&]() -> Result<void> {
    BATON_TRY(checkArguments(instance, out));
    if (!read) return missing("read");
    if (size > SIZE_MAX / 2)
      return Error(ErrorCode::InvalidArgument, std::to_string(size) + " bytes do not fit into memory");
    std::vector<std::byte> bytes(size);
    constexpr size_t kPieceBytes = size_t{16} << 20;
    for (size_t offset = 0; offset < bytes.size(); offset += kPieceBytes) {
      const size_t piece = std::min(kPieceBytes, bytes.size() - offset);
      if (const int32_t code = read(user, offset, bytes.data() + offset, piece); code != 0)
        return Error(ErrorCode::Io, "the read callback failed with code " + std::to_string(code) +
                                        " at offset " + std::to_string(offset));
    }
    return load(instance, bytecode::readExecutable(bytes), loadOptions(given), out);
  });
}

void baton_executable_retain(baton_executable* executable) {
  if (executable) unwrap(executable)->retain();
}

void baton_executable_release(baton_executable* executable) {
  if (executable) unwrap(executable)->release();
}

const char* baton_executable_name(const baton_executable* executable) {
  return executable ? unwrap(executable)->program().meta.name.c_str() : "";
}

const char* baton_executable_cpu_level(const baton_executable* executable) {
  return executable ? unwrap(executable)->kernels().cpuLevel().c_str() : "";
}

size_t baton_executable_function_count(const baton_executable* executable) {
  return executable ? unwrap(executable)->entryPoints().size() : 0;
}

const baton_function* baton_executable_function(const baton_executable* executable, size_t index) {
  return index < baton_executable_function_count(executable) ? wrap(*unwrap(executable)->entryPoints()[index])
                                                             : nullptr;
}

const baton_function* baton_executable_find_function(const baton_executable* executable, const char* name) {
  if (!executable || !name) return nullptr;
  const EntryPoint* found = unwrap(executable)->findEntryPoint(name);
  return found ? wrap(*found) : nullptr;
}

const char* baton_function_name(const baton_function* function) {
  return function ? unwrap(function)->name().c_str() : "";
}

const char* baton_function_documentation(const baton_function* function) {
  return function ? unwrap(function)->declared().documentation.c_str() : "";
}

const char* baton_function_signature(const baton_function* function) {
  return function ? unwrap(function)->signatureText().c_str() : "";
}

size_t baton_function_parameter_count(const baton_function* function) {
  return function ? unwrap(function)->parameters().size() : 0;
}

const char* baton_function_parameter_name(const baton_function* function, size_t index) {
  return index < baton_function_parameter_count(function) ? unwrap(function)->parameters()[index].name.c_str()
                                                          : nullptr;
}

const baton_type* baton_function_parameter_type(const baton_function* function, size_t index) {
  return index < baton_function_parameter_count(function) ? wrap(unwrap(function)->parameters()[index].type)
                                                          : nullptr;
}

size_t baton_function_find_parameter(const baton_function* function, const char* name) {
  return function && name ? unwrap(function)->findParameter(name) : SIZE_MAX;
}

const baton_type* baton_function_result_type(const baton_function* function) {
  return function ? wrap(unwrap(function)->result()) : nullptr;
}

size_t baton_function_symbol_count(const baton_function* function) {
  return function ? unwrap(function)->declared().symbols.size() : 0;
}

const char* baton_function_symbol_name(const baton_function* function, size_t index) {
  return index < baton_function_symbol_count(function) ? unwrap(function)->declared().symbols[index].c_str()
                                                       : nullptr;
}

size_t baton_function_constraint_count(const baton_function* function) {
  return function ? unwrap(function)->constraintTexts().size() : 0;
}

const char* baton_function_constraint(const baton_function* function, size_t index) {
  return index < baton_function_constraint_count(function)
             ? unwrap(function)->constraintTexts()[index].c_str()
             : nullptr;
}

baton_status* baton_function_peak_memory(const baton_function* function, const int64_t* symbols,
                                         size_t symbol_count, baton_known* known, uint64_t* bytes,
                                         const char** reason) {
  return guarded([&]() -> Result<void> {
    if (!function) return missing("function");
    if (!known || !bytes) return missing("known or bytes");
    const bytecode::EntryPoint& entry = unwrap(function)->declared();
    if (symbol_count != entry.symbols.size() || (symbol_count != 0 && !symbols))
      return Error(ErrorCode::InvalidArgument, "found " + std::to_string(symbol_count) +
                                                   " values of symbols, expected " +
                                                   std::to_string(entry.symbols.size()));
    if (reason) *reason = entry.peakMemory.reason.c_str();
    *known = static_cast<baton_known>(entry.peakMemory.known);
    *bytes = 0;
    if (*known == BATON_UNKNOWN) return success();
    BATON_TRY_ASSIGN(const int64_t peak,
                     entry.peakMemory.bytes.evaluate([&](DimSymbol symbol) -> std::optional<int64_t> {
                       if (symbol.value() >= symbol_count) return std::nullopt;
                       return symbols[symbol.value()];
                     }));
    *bytes = static_cast<uint64_t>(std::max<int64_t>(peak, 0));
    return success();
  });
}

}  // extern "C"
