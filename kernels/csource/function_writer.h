// One kernel, or one parallel loop of it, as C functions. Private to kernels/csource.
#pragma once

#include <string>
#include <string_view>

#include "kernels/loop/kernel.h"

namespace baton::csource {

/// The text of support.h, which everything below is written with.
extern const char* const kSupport;

/// The function `name` and, before it, those of its parallel loops.
std::string writeKernel(const loop::Kernel& kernel, std::string_view name);

}  // namespace baton::csource
