#include "tools/vm_run/inputs.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/dtype.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/value_text.h"
#include "kernels/loop/dim_parser.h"
#include "tools/cli/command.h"
#include "tools/cli/file.h"

namespace baton::tools {

namespace {

/// Files of value text live until the value is made.
struct OpenFiles {
  std::vector<std::unique_ptr<std::vector<std::byte>>> files;
  std::string error;
};

int32_t openFile(void* user, const char* name, const void** data, size_t* size) {
  auto& open = *static_cast<OpenFiles*>(user);
  Result<std::vector<std::byte>> bytes = readFile(name);
  if (!bytes) {
    open.error = bytes.assume_error().message();
    return 1;
  }
  open.files.push_back(std::make_unique<std::vector<std::byte>>(std::move(bytes).assume_value()));
  *data = open.files.back()->data();
  *size = open.files.back()->size();
  return 0;
}

int64_t parseInteger(const std::string& text, const char* what) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError(fmt::format("{}: found \"{}\", expected an integer", what, text));
  return value;
}

/// Random tensors: floats uniform in [-1, 1), integers in [0, 10), and bools.
class RandomValues {
 public:
  RandomValues(uint64_t seed, std::map<std::string, int64_t> dims)
      : generator_(seed), dims_(std::move(dims)) {}

  Result<Value> make(baton_instance* instance, const baton_type* type, const std::string& parameter) {
    const baton_kind kind = baton_type_kind(type);
    if (kind != BATON_TENSOR && kind != BATON_SCALAR)
      throw UsageError(
          fmt::format("parameter %{}: only tensors can be random, and it is {}; give it with --input",
                      parameter, baton_type_text(type)));
    std::vector<int64_t> extents;
    for (size_t axis = 0; axis < baton_type_rank(type); ++axis) {
      const int64_t extent = baton_type_extent(type, axis);
      extents.push_back(extent >= 0 ? extent : extentOf(baton_type_extent_text(type, axis), parameter, axis));
    }
    const auto dtype = static_cast<DType>(baton_type_dtype(type));
    const auto count = checkedElementCount(extents);
    const auto size = count ? checkedMul<int64_t>(*count, sizeBytes(dtype)) : std::nullopt;
    if (!size || *size > (int64_t{1} << 40))
      throw UsageError(fmt::format("parameter %{}: {} elements are too many", parameter,
                                   count ? std::to_string(*count) : "2^63 or more"));
    std::vector<std::byte> bytes(static_cast<size_t>(*size));
    for (int64_t i = 0; i < *count; ++i)
      storeScalar(bytes.data() + i * sizeBytes(dtype), dtype, element(dtype));
    baton_value* value = nullptr;
    BATON_TRY(check(baton_value_create_tensor(instance, static_cast<baton_dtype>(dtype), extents.size(),
                                              extents.data(), bytes.data(), bytes.size(), &value)));
    return Value(value);
  }

 private:
  /// What is given for the text itself, or follows from the names in it.
  int64_t extentOf(const std::string& text, const std::string& parameter, size_t axis) const {
    if (const auto given = dims_.find(text); given != dims_.end()) return given->second;
    const std::string what = fmt::format("parameter %{}: dimension {} is {}", parameter, axis, text);
    std::string missing = text;  // or the name that ends the parse
    std::vector<int64_t> values;
    const auto lookUp = [&](std::string_view name) -> std::optional<DimSymbol> {
      const auto given = dims_.find(std::string(name));
      if (given == dims_.end()) {
        missing = name;
        return std::nullopt;
      }
      values.push_back(given->second);
      return DimSymbol(static_cast<uint32_t>(values.size() - 1));
    };
    const auto parse = [&]() -> Result<DimExpr> {
      BATON_TRY_ASSIGN(loop::TokenStream tokens, loop::TokenStream::open(text));
      return loop::parseDim(tokens, lookUp);
    };
    const Result<DimExpr> expression = parse();
    if (!expression) throw UsageError(fmt::format("{}; give it with --dim {}=N", what, missing));
    const Result<int64_t> extent = expression.assume_value().evaluate(
        [&](DimSymbol symbol) { return std::optional(values[symbol.value()]); });
    if (!extent) throw UsageError(fmt::format("{}: {}", what, extent.assume_error().message()));
    if (extent.assume_value() < 0)
      throw UsageError(fmt::format("{}, which comes to {}", what, extent.assume_value()));
    return extent.assume_value();
  }

  uint64_t element(DType dtype) {
    // The top 53 bits give the same double on every platform.
    const double unit = static_cast<double>(generator_() >> 11) * 0x1p-53;
    if (dtype == DType::Bool) return unit < 0.5;
    const double number = isFloat(dtype) ? 2 * unit - 1 : static_cast<double>(static_cast<int>(10 * unit));
    return convertScalar(scalarBits(number), DType::F64, dtype);
  }

  std::mt19937_64 generator_;
  std::map<std::string, int64_t> dims_;
};

std::string signatureHint(const baton_function* function) {
  return fmt::format("the function is {}", baton_function_signature(function));
}

/// The names that the extents of a value tell.
void learnDims(const baton_type* type, const baton_value* value, std::map<std::string, int64_t>& dims) {
  for (size_t axis = 0; axis < baton_type_rank(type) && axis < baton_value_rank(value); ++axis)
    if (baton_type_extent(type, axis) < 0)
      dims.try_emplace(baton_type_extent_text(type, axis), baton_value_extents(value)[axis]);
}

/// Extents for --random that no parameter has are a mistake; those inside of tuples and data are not known.
void checkDims(const baton_function* function, const std::map<std::string, int64_t>& dims) {
  std::set<std::string> known;
  for (size_t i = 0; i < baton_function_parameter_count(function); ++i) {
    const baton_type* type = baton_function_parameter_type(function, i);
    const baton_kind kind = baton_type_kind(type);
    if (kind != BATON_TENSOR && kind != BATON_SCALAR) return;
    for (size_t axis = 0; axis < baton_type_rank(type); ++axis)
      known.insert(baton_type_extent_text(type, axis));
  }
  for (const auto& [name, extent] : dims)
    if (!known.contains(name))
      throw UsageError(fmt::format("--dim {}={}: no parameter has the extent {}; {}", name, extent, name,
                                   signatureHint(function)));
}

}  // namespace

Result<Value> makeTensor(baton_instance* instance, const Array& array) {
  baton_value* value = nullptr;
  BATON_TRY(
      check(baton_value_create_tensor(instance, static_cast<baton_dtype>(array.dtype), array.shape.size(),
                                      array.shape.data(), array.bytes.data(), array.bytes.size(), &value)));
  return Value(value);
}

Result<Value> parseValue(baton_instance* instance, const baton_type* type, const std::string& argument,
                         const std::string& what) {
  std::string text = argument;
  if (text.starts_with('@') && !text.ends_with(".npy")) {
    // A file: an array, or value text, which names files of arrays in its turn.
    const std::string name = text.substr(1);
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(name));
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("PK\x03\x04"))
      return Error(
          ErrorCode::Malformed,
          fmt::format("{} is a .npz file, which has arrays by name: give it with --inputs-npz", name));
    if (looksLikeNpy(bytes)) {
      Result<Array> array = readNpy(bytes);
      if (!array) return std::move(array).assume_error().withContext(name);
      return makeTensor(instance, array.assume_value());
    }
  }
  OpenFiles open;
  baton_file_source files = BATON_FILE_SOURCE_INIT;
  files.user = &open;
  files.open = openFile;
  files.close = [](void*, const void*, size_t) {};
  baton_value* value = nullptr;
  Result<void> parsed = check(baton_value_parse(instance, type, text.data(), text.size(), &files, &value));
  if (!parsed && !open.error.empty()) return Error(ErrorCode::Io, open.error);
  // Text that names files may be at fault, or a file.
  if (!parsed && parsed.assume_error().code() == ErrorCode::Malformed && open.files.empty())
    throw UsageError(fmt::format("{}: {}", what, parsed.assume_error().message()));
  std::error_code ignored;
  if (!parsed && std::filesystem::is_regular_file(argument, ignored))
    return Error(parsed.assume_error().code(), fmt::format("{}; the file of that name is written @{}",
                                                           parsed.assume_error().message(), argument));
  BATON_TRY(std::move(parsed));
  return Value(value);
}

Result<std::vector<Value>> makeInputs(baton_instance* instance, const baton_function* function,
                                      const RunOptions& options) {
  const size_t count = baton_function_parameter_count(function);
  std::vector<Value> values(count);
  auto nameOf = [&](size_t index) { return std::string(baton_function_parameter_name(function, index)); };

  size_t next = 0;
  for (const std::string& argument : options.inputs) {
    const NamePrefix prefix = namePrefix(argument);
    const std::string name(prefix.name);
    size_t index;
    if (name.empty()) {
      while (next < count && values[next]) ++next;
      index = next;
      if (index >= count)
        throw UsageError(fmt::format("--input {}: found more values than the {} parameters; {}", argument,
                                     count, signatureHint(function)));
    } else {
      index = baton_function_find_parameter(function, name.c_str());
      if (index == SIZE_MAX)
        throw UsageError(
            fmt::format("--input {}: no parameter %{}; {}", argument, name, signatureHint(function)));
      if (values[index])
        throw UsageError(fmt::format("--input {}: parameter %{} is given twice", argument, name));
    }
    const std::string what = fmt::format("input %{}", nameOf(index));
    Result<Value> value = parseValue(instance, baton_function_parameter_type(function, index),
                                     argument.substr(prefix.valueBegin), what);
    if (!value) return std::move(value).assume_error().withContext(what);
    values[index] = std::move(value).assume_value();
  }

  if (!options.inputsNpz.empty()) {
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(options.inputsNpz));
    Result<std::vector<NpzEntry>> entries = readNpz(bytes);
    if (!entries) return std::move(entries).assume_error().withContext(options.inputsNpz);
    for (const NpzEntry& entry : entries.assume_value()) {
      const size_t index = baton_function_find_parameter(function, entry.name.c_str());
      if (index == SIZE_MAX)
        throw UsageError(
            fmt::format("{}: no parameter %{}; {}", options.inputsNpz, entry.name, signatureHint(function)));
      BATON_TRY_ASSIGN(values[index], makeTensor(instance, entry.array));
    }
  }

  if (options.randomSeed) {
    std::map<std::string, int64_t> dims;
    for (const std::string& argument : options.dims) {
      const size_t equals = argument.find('=');
      if (equals == std::string::npos || equals == 0)
        throw UsageError(fmt::format("--dim {}: expected NAME=EXTENT", argument));
      const int64_t extent = parseInteger(argument.substr(equals + 1), "--dim");
      if (extent < 0) throw UsageError(fmt::format("--dim {}: expected an extent of at least 0", argument));
      dims[argument.substr(0, equals)] = extent;
    }
    checkDims(function, dims);
    for (size_t i = 0; i < count; ++i)
      if (values[i]) learnDims(baton_function_parameter_type(function, i), values[i].get(), dims);
    RandomValues random(*options.randomSeed, std::move(dims));
    for (size_t i = 0; i < count; ++i) {
      if (values[i]) continue;
      BATON_TRY_ASSIGN(values[i],
                       random.make(instance, baton_function_parameter_type(function, i), nameOf(i)));
    }
  }

  for (size_t i = 0; i < count; ++i)
    if (!values[i])
      throw UsageError(fmt::format("no value for parameter %{}: {}; {}", nameOf(i),
                                   baton_type_text(baton_function_parameter_type(function, i)),
                                   signatureHint(function)));
  return values;
}

}  // namespace baton::tools
