// The `#[metadata]` section of Relay text: tensors that are too large to stand in the
// program, as base64 inside a JSON graph of objects.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::ir {

/// The section that holds these constants as meta[relay.Constant][0], [1], ...
std::string writeMetadata(const Module& module, std::span<const ConstantId> constants);

/// The constants of `meta[relay.Constant]`, in order. Malformed when the text is not such
/// a section; other kinds of objects in it are skipped.
Result<std::vector<Constant>> readMetadata(std::string_view text);

}  // namespace baton::ir
