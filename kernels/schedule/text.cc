#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "kernels/schedule/primitives.h"

namespace baton::schedule {

namespace {

struct Form {
  std::string_view name;
  size_t minTargets;
  size_t maxTargets;
  size_t numbers;
  size_t results;
};
constexpr size_t kMaxLoops = 64;
constexpr Form kForms[kKindCount] = {
    {"split", 1, 1, 1, 2},      {"fuse", 2, 2, 0, 1},           {"reorder", 2, kMaxLoops, 0, 0},
    {"tile", 2, 2, 2, 4},       {"vectorize", 1, 1, 0, 0},      {"unroll", 1, 1, 0, 0},
    {"parallel", 1, 1, 1, 0},   {"compute_inline", 1, 1, 0, 0}, {"compute_at", 2, 2, 0, 0},
    {"cache_read", 2, 2, 0, 0}, {"cache_write", 2, 2, 0, 0},    {"rfactor", 1, 1, 1, 1},
    {"pack", 1, 1, 2, 0},       {"tensorize", 1, 1, 4, 0},      {"transpose", 2, 2, 1, 0},
};

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const size_t length = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

/// The primitive of a line that has one, or what is wrong with it.
Result<Primitive> parseLine(std::span<const std::string_view> words) {
  const auto malformed = [](std::string message) { return Error(ErrorCode::Malformed, std::move(message)); };
  size_t kind = 0;
  while (kind < kKindCount && kForms[kind].name != words[0]) ++kind;
  if (kind == kKindCount) return malformed(fmt::format("\"{}\" is no primitive", words[0].substr(0, 40)));
  Primitive primitive{.kind = static_cast<Kind>(kind)};
  enum class Part : uint8_t { Targets, Numbers, Results } part = Part::Targets;
  for (const std::string_view word : words.subspan(1)) {
    if (word == "by" && part == Part::Targets) {
      part = Part::Numbers;
    } else if (word == "into" && part != Part::Results) {
      part = Part::Results;
    } else if (part == Part::Numbers) {
      int64_t number = 0;
      const auto end = std::from_chars(word.data(), word.data() + word.size(), number);
      if (end.ec != std::errc() || end.ptr != word.data() + word.size() || number < 0)
        return malformed(fmt::format("expected a number, found \"{}\"", word.substr(0, 40)));
      primitive.numbers.push_back(number);
    } else {
      (part == Part::Targets ? primitive.targets : primitive.results).emplace_back(word);
    }
  }
  if (std::optional<std::string> problem = problemOfForm(primitive)) return malformed(*std::move(problem));
  return primitive;
}

}  // namespace

std::optional<std::string> problemOfForm(const Primitive& primitive) {
  const Form& form = kForms[static_cast<size_t>(primitive.kind)];
  const auto problem = [&](const char* what, size_t found, size_t least,
                           size_t most) -> std::optional<std::string> {
    if (found >= least && found <= most) return std::nullopt;
    return fmt::format("{}: expected {}{} {}, found {}", form.name, most == least ? "" : "at least ", least,
                       what, found);
  };
  if (auto names = problem("names", primitive.targets.size(), form.minTargets, form.maxTargets)) return names;
  if (auto numbers = problem("numbers after \"by\"", primitive.numbers.size(), form.numbers, form.numbers))
    return numbers;
  return problem("names after \"into\"", primitive.results.size(), form.results, form.results);
}

std::string print(const Schedule& schedule) {
  std::string text;
  for (const Primitive& primitive : schedule) {
    text += fmt::format("{} {}", kForms[static_cast<size_t>(primitive.kind)].name,
                        fmt::join(primitive.targets, " "));
    if (!primitive.numbers.empty()) text += fmt::format(" by {}", fmt::join(primitive.numbers, " "));
    if (!primitive.results.empty()) text += fmt::format(" into {}", fmt::join(primitive.results, " "));
    text += "\n";
  }
  return text;
}

Result<Schedule> parse(std::string_view text) {
  Schedule schedule;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::vector<std::string_view> words = wordsOf(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    Result<Primitive> primitive = parseLine(words);
    if (!primitive.has_value())
      return std::move(primitive).assume_error().withContext(fmt::format("line {}", number));
    schedule.push_back(std::move(primitive).assume_value());
  }
  return schedule;
}

}  // namespace baton::schedule
