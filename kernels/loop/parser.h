// Reads loop-IR text. The input may come from an untrusted file: every error is a message
// with a line and column, nesting and sizes are bounded.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernels/loop/kernel.h"

namespace baton::loop {

/// One kernel; nothing but white space and comments (`//` to the end of the line) may follow.
/// The result is well formed but not verified.
Result<Kernel> parseKernel(std::string_view text);
/// Any number of kernels, one after the other.
Result<std::vector<Kernel>> parseKernels(std::string_view text);

}  // namespace baton::loop
