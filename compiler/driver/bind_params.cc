#include "compiler/driver/bind_params.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bytecode/container/reader.h"
#include "compiler/frontend/suggest.h"
#include "formats/array_file.h"

namespace baton::driver {

namespace {

/// The arrays of one file. `params` keeps those of a container.
struct Arrays {
  ArrayFile file;
  bytecode::Params params;
};

Result<Arrays> readArrays(const Params& file) {
  Arrays result;
  if (!bytecode::hasContainerMagic(file.bytes)) {
    BATON_TRY_ASSIGN(result.file, readArrayFile(file.name, file.bytes));
    return result;
  }
  BATON_TRY_ASSIGN(result.params, bytecode::readParams(file.bytes, {bytecode::ReadMode::Borrow, true}));
  for (const bytecode::Constant& tensor : result.params.tensors) {
    if (!tensor.layout.empty())
      return Error(ErrorCode::Unsupported,
                   fmt::format("{} is packed as {}", tensor.externalKey, tensor.layout));
    result.file.arrays.push_back({tensor.externalKey, tensor.dtype, tensor.extents, tensor.bytes});
  }
  return result;
}

std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
}

}  // namespace

Result<void> bindParams(std::span<const Params> files, ir::Module& module,
                        frontend::Diagnostics& diagnostics) {
  std::vector<Arrays> read;
  std::unordered_map<std::string, const NamedArrayView*> byKey;
  read.reserve(files.size());
  for (const Params& file : files) {
    Result<Arrays> arrays = readArrays(file);
    if (!arrays.has_value()) {
      // What a file has and this build does not take makes it a bad file, not a bad program.
      Error error = std::move(arrays).assume_error();
      if (error.code() == ErrorCode::Unsupported) error = Error(ErrorCode::Incompatible, error.message());
      return std::move(error).withContext(file.name);
    }
    read.push_back(std::move(arrays).assume_value());
    for (const NamedArrayView& array : read.back().file.arrays)
      byKey[array.name] = &array;  // the last file wins
  }
  std::unordered_set<std::string> declared;
  for (const ir::Constant& constant : module.constants)
    if (constant.isExternal()) declared.insert(constant.externalKey);
  for (ir::Constant& constant : module.constants) {
    if (!constant.isExternal()) continue;
    const auto found = byKey.find(constant.externalKey);
    if (found == byKey.end()) {
      if (!files.empty()) {
        frontend::NearestName nearest(constant.externalKey);
        for (const auto& [key, array] : byKey)
          if (!declared.contains(key)) nearest.consider(key);
        diagnostics.warning(constant.location,
                            fmt::format("param @{}: no file of weights has \"{}\", so it stays open{}",
                                        constant.name, constant.externalKey, nearest.text()));
      }
      continue;
    }
    // Two params may share a key, so the array stays.
    const NamedArrayView& array = *found->second;
    if (array.dtype != constant.dtype || array.shape != constant.shape) {
      diagnostics.error(
          constant.location,
          fmt::format("param @{}: the value of \"{}\" is {} {}, declared is {} {}", constant.name,
                      constant.externalKey, dtypeName(array.dtype), shapeText(array.shape),
                      dtypeName(constant.dtype), shapeText(constant.shape)));
      continue;
    }
    constant.bytes.assign(array.bytes.begin(), array.bytes.end());
    constant.externalKey.clear();
  }
  return success();
}

}  // namespace baton::driver
