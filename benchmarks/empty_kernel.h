// The program that calls a native kernel which does nothing: what is left is the call itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace baton::benchmarks {

/// `text` declares kernel $empty; its code, for this machine, is added. The bytes of a .vmexe.
Result<std::vector<std::byte>> assembleWithEmptyKernel(const std::string& text);

}  // namespace baton::benchmarks
