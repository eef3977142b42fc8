// Shapes in messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace baton::vm {

/// "(2, 3)", "(5,)", "()".
std::string shapeText(std::span<const int64_t> extents);

}  // namespace baton::vm
