#include "vm/parameter_file.h"

#include <utility>

#include "bytecode/container/file_map.h"
#include "formats/array_file.h"

namespace baton::vm {

Result<bytecode::Params> openParameterFile(const std::string& path, const bytecode::OpenOptions& options) {
  BATON_TRY_ASSIGN(bytecode::FileHandle handle, bytecode::FileHandle::open(path));
  BATON_TRY_ASSIGN(const std::unique_ptr<bytecode::FileMap> map, bytecode::FileMap::map(std::move(handle)));
  if (bytecode::hasContainerMagic(map->bytes())) return bytecode::openParams(path, options);
  Result<ArrayFile> read = readArrayFile(path, map->bytes());
  if (!read.has_value()) return std::move(read).assume_error().withContext(path);

  bytecode::Params params;
  for (NamedArrayView& array : read.assume_value().arrays) {
    if (array.shape.empty()) continue;
    auto bytes = std::make_unique<bytecode::OwnedBytes>(array.bytes);
    bytecode::Constant& tensor = params.tensors.emplace_back();
    tensor.dtype = array.dtype;
    tensor.extents = std::move(array.shape);
    tensor.externalKey = std::move(array.name);
    tensor.bytes = bytes->bytes();
    params.storage.push_back(std::move(bytes));
  }
  return params;
}

}  // namespace baton::vm
