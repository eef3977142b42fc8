// Files with the values of external constants.
#pragma once

#include <string>

#include "base/error.h"
#include "bytecode/container/params.h"
#include "bytecode/container/reader.h"

namespace baton::vm {

/// The tensors of a .vmparams file, which stay mapped or are copied as `options` say, or of a .npz,
/// .npy or .safetensors file, which are copied so that they lie as kernels want them. Arrays of
/// rank 0 are left out: constants have at least one axis. Errors begin with the path.
Result<bytecode::Params> openParameterFile(const std::string& path, const bytecode::OpenOptions& options);

}  // namespace baton::vm
