// Positions along an axis that are elements of a tensor.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/ops/lowering/lowering.h"

namespace baton::ops {

/// A position along an axis, from an index in any integer type. `mode` as of `take`: "clip", "wrap",
/// or "fast", in which one outside [-extent, extent) is a program error.
loop::Value position(CallContext& context, loop::Value index, loop::Value extent, std::string_view mode);

/// The same on numbers; nothing when it is out of range.
std::optional<int64_t> plainPosition(uint64_t bits, DType type, int64_t extent, std::string_view mode);

}  // namespace baton::ops
