#include "compiler/driver/bind_params.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bytecode/container/reader.h"
#include "formats/npy.h"
#include "formats/npz.h"

namespace baton::driver {

namespace {

bool beginsWith(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), magic.size()) == magic;
}

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// "dir/encoder.w.npy" holds the one array "encoder.w".
std::string stem(std::string_view path) {
  if (const size_t slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (endsWith(path, ".npy")) path.remove_suffix(4);
  return std::string(path);
}

Result<std::vector<NpzEntry>> readArrays(const Params& file) {
  if (beginsWith(file.bytes, "PK")) return readNpz(file.bytes);
  if (beginsWith(file.bytes, "\x93NUMPY")) {
    BATON_TRY_ASSIGN(Array array, readNpy(file.bytes));
    std::vector<NpzEntry> entries;
    entries.push_back({stem(file.name), std::move(array)});
    return entries;
  }
  if (bytecode::hasContainerMagic(file.bytes)) {
    BATON_TRY_ASSIGN(const bytecode::Params params,
                     bytecode::readParams(file.bytes, {bytecode::ReadMode::Borrow, true}));
    std::vector<NpzEntry> entries;
    for (const bytecode::Constant& tensor : params.tensors) {
      if (!tensor.layout.empty())
        return Error(ErrorCode::Unsupported,
                     fmt::format("{} is packed as {}", tensor.externalKey, tensor.layout));
      entries.push_back(
          {tensor.externalKey, {tensor.dtype, tensor.extents, {tensor.bytes.begin(), tensor.bytes.end()}}});
    }
    return entries;
  }
  return Error(ErrorCode::Malformed, "not a .npz, .npy or .vmparams file");
}

std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
}

}  // namespace

Result<void> bindParams(std::span<const Params> files, ir::Module& module,
                        frontend::Diagnostics& diagnostics) {
  std::vector<NpzEntry> arrays;
  std::unordered_map<std::string, size_t> byKey;
  for (const Params& file : files) {
    Result<std::vector<NpzEntry>> read = readArrays(file);
    if (!read.has_value()) return std::move(read).assume_error().withContext(file.name);
    for (NpzEntry& entry : read.assume_value()) {
      byKey[entry.name] = arrays.size();  // the last file wins
      arrays.push_back(std::move(entry));
    }
  }
  for (ir::Constant& constant : module.constants) {
    if (!constant.isExternal()) continue;
    const auto found = byKey.find(constant.externalKey);
    if (found == byKey.end()) {
      if (constant.externalKey.find("::") == std::string::npos)
        constant.externalKey = "params::" + constant.externalKey;
      continue;
    }
    // Two params may share a key, so the array stays.
    const Array& array = arrays[found->second].array;
    if (array.dtype != constant.dtype || array.shape != constant.shape) {
      diagnostics.error(
          {}, fmt::format("param @{}: the value of \"{}\" is {} {}, declared is {} {}", constant.name,
                          constant.externalKey, dtypeName(array.dtype), shapeText(array.shape),
                          dtypeName(constant.dtype), shapeText(constant.shape)));
      continue;
    }
    constant.bytes = array.bytes;
    constant.externalKey.clear();
  }
  return success();
}

}  // namespace baton::driver
