#include "vm/tensor_text.h"

#include <fmt/format.h>

namespace baton::vm {

std::string shapeText(std::span<const int64_t> extents) {
  return fmt::format("({}{})", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
}

}  // namespace baton::vm
