// Tensors as the metadata of Relay text stores them.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::ir {

/// Base64 of a header (magic number, device, rank, element type, extents, number of bytes) and
/// the elements, row-major and little-endian.
std::string encodeTensor(const Constant& constant);

/// Malformed when the text is not such a tensor, or holds less than its shape needs.
Result<Constant> decodeTensor(std::string_view base64);

}  // namespace baton::ir
