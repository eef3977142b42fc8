#include "vm/message.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace baton::vm {

std::string formatScalar(DType type, uint64_t bits) {
  if (type == DType::Bool) return bits ? "true" : "false";
  if (isSignedInt(type)) return fmt::format("{}", static_cast<int64_t>(bits));
  if (isUnsignedInt(type)) return fmt::format("{}", bits);
  if (type == DType::F64) {
    const auto value = scalarFromBits<double>(bits);
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
  }
  const auto value = scalarFromBits<float>(convertScalar(bits, type, DType::F32));
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string formatMessage(std::string_view text, std::span<const uint64_t> values) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const size_t close = text.find('}');
    if (close == std::string_view::npos) return out += text;
    const std::string_view place = text.substr(1, close - 1);
    size_t index = 0;
    const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), index);
    const std::string_view rest(end, static_cast<size_t>(place.data() + place.size() - end));
    const std::optional<DType> type = rest.empty()          ? std::optional(DType::I64)
                                      : rest.front() == ':' ? parseDType(rest.substr(1))
                                                            : std::nullopt;
    if (error == std::errc() && type && index < values.size())
      out += formatScalar(*type, values[index]);
    else
      out += text.substr(0, close + 1);
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace baton::vm
