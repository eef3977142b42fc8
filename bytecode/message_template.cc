#include "bytecode/message_template.h"

#include <charconv>
#include <optional>

namespace baton::bytecode {

namespace {

/// Bounds the search for the end of a place: "4294967295:bfloat16" and a brace.
constexpr size_t kMaxPlaceBytes = 24;

/// The place whose inner text, without the braces, this is.
std::optional<MessagePlace> parsePlace(std::string_view inner) {
  MessagePlace place{};
  const char* end = inner.data() + inner.size();
  const auto [stop, error] = std::from_chars(inner.data(), end, place.value);
  if (error != std::errc()) return std::nullopt;
  place.dtype = DType::I64;
  if (stop == end) return place;
  if (*stop != ':') return std::nullopt;
  const auto dtype = parseDType(inner.substr(static_cast<size_t>(stop + 1 - inner.data())));
  if (!dtype) return std::nullopt;
  place.dtype = *dtype;
  return place;
}

}  // namespace

std::vector<MessagePlace> messagePlaces(std::string_view text) {
  std::vector<MessagePlace> places;
  for (size_t begin = text.find('{'); begin != std::string_view::npos; begin = text.find('{', begin + 1)) {
    const std::string_view inner = text.substr(begin + 1, kMaxPlaceBytes);
    const size_t end = inner.find('}');
    if (end == std::string_view::npos) continue;
    auto place = parsePlace(inner.substr(0, end));
    if (!place) continue;
    place->begin = begin;
    place->end = begin + end + 2;
    places.push_back(*place);
  }
  return places;
}

}  // namespace baton::bytecode
