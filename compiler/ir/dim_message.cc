// Messages about extents, for those who check them and those who print what is checked.
#include "compiler/ir/op.h"

namespace baton::ops {

std::string formatDimMessage(std::string_view message, std::span<const std::string> values) {
  std::string out;
  for (size_t at = 0; at < message.size(); ++at) {
    size_t end = at + 1;
    size_t index = 0;
    while (end < message.size() && message[end] >= '0' && message[end] <= '9' && index < 1000)
      index = index * 10 + static_cast<size_t>(message[end++] - '0');
    const bool isPlaceholder =
        message[at] == '{' && end > at + 1 && end < message.size() && message[end] == '}';
    if (!isPlaceholder || index >= values.size()) {
      out += message[at];
      continue;
    }
    out += values[index];
    at = end;
  }
  return out;
}

}  // namespace baton::ops
