// Message templates of a program: "{0:i64}" is value 0, a scalar of the dtype after the colon.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace baton::vm {

/// The template with its values filled in. A place that names no value given, or no dtype, is left as
/// it stands; "{0}" without a dtype is an i64.
std::string formatMessage(std::string_view text, std::span<const uint64_t> values);
/// A scalar as value text writes it: "7", "true", "1.5", "nan".
std::string formatScalar(DType type, uint64_t bits);

}  // namespace baton::vm
