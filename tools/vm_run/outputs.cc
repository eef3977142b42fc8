#include "tools/vm_run/outputs.h"

#include <cstdio>

#include <fmt/format.h>

#include "formats/npy.h"
#include "formats/npz.h"
#include "tools/cli/command.h"
#include "tools/cli/file.h"
#include "tools/vm_run/inputs.h"

namespace baton::tools {

namespace {

/// A printed tensor is for the eye; --output - gives all of it.
constexpr size_t kPrintedElements = 64;

Result<Array> arrayOf(const baton_value* value, const std::string& what) {
  const baton_kind kind = baton_value_kind(value);
  if (kind != BATON_TENSOR && kind != BATON_SCALAR)
    throw UsageError(fmt::format("{}: only a tensor can be written as an array", what));
  Array array;
  array.dtype = static_cast<DType>(baton_value_dtype(value));
  array.shape.assign(baton_value_extents(value), baton_value_extents(value) + baton_value_rank(value));
  const auto* data = static_cast<const std::byte*>(baton_value_data(value));
  array.bytes.assign(data, data + baton_value_size_bytes(value));
  return array;
}

std::string outputName(size_t index) { return fmt::format("output_{}", index); }

bool report(size_t index, const std::optional<std::string>& difference) {
  if (difference) fmt::print("[FAILED] {}: {}\n", outputName(index), *difference);
  return !difference;
}

/// Type of one of the results.
const baton_type* resultType(const baton_function* function, size_t index) {
  const baton_type* type = baton_function_result_type(function);
  return baton_type_kind(type) == BATON_TUPLE ? baton_type_field(type, 0, index) : type;
}

}  // namespace

Result<std::vector<Value>> splitResult(baton_value* result) {
  std::vector<Value> results;
  if (baton_value_kind(result) != BATON_TUPLE) {
    baton_value_retain(result);
    results.emplace_back(result);
    return results;
  }
  for (size_t i = 0; i < baton_value_field_count(result); ++i) {
    baton_value* field = nullptr;
    BATON_TRY(check(baton_value_field(result, i, &field)));
    results.emplace_back(field);
  }
  return results;
}

void checkOutputOptions(const baton_function* function, const RunOptions& options) {
  const baton_type* type = baton_function_result_type(function);
  const size_t count = baton_type_kind(type) == BATON_TUPLE ? baton_type_field_count(type, 0) : 1;
  const auto checkCount = [&](const char* option, size_t found) {
    if (found > count)
      throw UsageError(
          fmt::format("found {} {} options, expected at most {}, one per result", found, option, count));
  };
  checkCount("--output", options.outputs.size());
  checkCount("--expect", options.expected.size());
  for (const std::string& where : options.outputs)
    if (where != "-" && (where.size() < 2 || where[0] != '@'))
      throw UsageError(fmt::format("--output {}: expected - or @FILE.npy", where));
}

Result<void> writeOutputs(const std::vector<Value>& results, const RunOptions& options) {
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    const std::string& where = options.outputs[i];
    if (where == "-") {
      BATON_TRY_ASSIGN(const std::string text, formatValue(results[i].get(), 0));
      fmt::print("{}\n", text);
    } else {
      BATON_TRY_ASSIGN(const Array array, arrayOf(results[i].get(), where));
      BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, writeNpy(array));
      BATON_TRY(writeFile(where.substr(1), bytes));
    }
  }
  if (!options.outputsNpz.empty()) {
    std::vector<NpzEntry> entries;
    for (size_t i = 0; i < results.size(); ++i) {
      BATON_TRY_ASSIGN(Array array, arrayOf(results[i].get(), outputName(i)));
      entries.push_back({outputName(i), std::move(array)});
    }
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, writeNpz(entries));
    BATON_TRY(writeFile(options.outputsNpz, bytes));
  }
  const bool isQuiet = !options.outputs.empty() || !options.outputsNpz.empty() || !options.expected.empty() ||
                       !options.expectedNpz.empty();
  if (isQuiet) return success();
  for (const Value& result : results) {
    BATON_TRY_ASSIGN(const std::string text, formatValue(result.get(), kPrintedElements));
    fmt::print("{}\n", text);
  }
  return success();
}

Result<bool> checkExpectations(baton_instance* instance, const baton_function* function,
                               const std::vector<Value>& results, const RunOptions& options) {
  if (options.expected.empty() && options.expectedNpz.empty()) return true;
  bool agree = true;
  for (size_t i = 0; i < options.expected.size(); ++i) {
    const std::string what = fmt::format("--expect {}", options.expected[i]);
    Result<Value> expected = parseValue(instance, resultType(function, i), options.expected[i], what);
    if (!expected) return std::move(expected).assume_error().withContext(what);
    agree &= report(i, findDifference(results[i].get(), expected.assume_value().get(), options.tolerance));
  }
  if (!options.expectedNpz.empty()) {
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(options.expectedNpz));
    Result<std::vector<NpzEntry>> entries = readNpz(bytes);
    if (!entries) return std::move(entries).assume_error().withContext(options.expectedNpz);
    size_t found = 0;
    for (const NpzEntry& entry : entries.assume_value()) {
      size_t index = 0;
      while (index < results.size() && entry.name != outputName(index)) ++index;
      if (index == results.size())
        return Error(ErrorCode::InvalidArgument,
                     fmt::format("{}: found \"{}\", expected output_0 to output_{}", options.expectedNpz,
                                 entry.name, results.size() - 1));
      baton_value* expected = nullptr;
      BATON_TRY(check(baton_value_create_tensor(
          instance, static_cast<baton_dtype>(entry.array.dtype), entry.array.shape.size(),
          entry.array.shape.data(), entry.array.bytes.data(), entry.array.bytes.size(), &expected)));
      const Value owned(expected);
      agree &= report(index, findDifference(results[index].get(), expected, options.tolerance));
      ++found;
    }
    if (found < results.size()) {
      fmt::print("[FAILED] {}: found {} arrays, expected {}\n", options.expectedNpz, found, results.size());
      agree = false;
    }
  }
  if (agree) fmt::print("[SUCCESS]\n");
  return agree;
}

}  // namespace baton::tools
