#include "case_file.h"

#include <charconv>

#include <fmt/format.h>

namespace baton::run {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// Inputs are separated by semicolons outside of quotes.
std::vector<std::string> splitInputs(std::string_view text) {
  std::vector<std::string> inputs;
  std::string current;
  bool isQuoted = false;
  for (char c : text) {
    if (c == '"') isQuoted = !isQuoted;
    if (c == ';' && !isQuoted) {
      inputs.emplace_back(trim(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trim(current).empty()) inputs.emplace_back(trim(current));
  return inputs;
}

}  // namespace

Result<CaseFile> parseCaseFile(std::string_view text) {
  CaseFile file;
  std::string entry = "main";
  int line = 0;
  bool isOpen = false;  // a run without its result
  while (!text.empty()) {
    ++line;
    const size_t end = text.find('\n');
    std::string_view row = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!row.starts_with("// ")) continue;
    row = trim(row.substr(3));
    const size_t colon = row.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(row.substr(0, colon));
    const std::string_view value = trim(row.substr(colon + 1));
    auto malformed = [&](std::string what) {
      return Error(ErrorCode::Malformed, fmt::format("line {}: {}", line, what));
    };
    if (key == "entry") {
      entry = value;
    } else if (key == "run") {
      if (isOpen) return malformed("the run before has no result");
      file.runs.push_back({.entry = entry, .inputs = splitInputs(value), .line = line});
      isOpen = true;
    } else if (key == "expect" || key.starts_with("expect ~")) {
      if (!isOpen) return malformed("a result without a run");
      Run& run = file.runs.back();
      run.expected = value;
      if (key != "expect") {
        const std::string_view number = key.substr(8);
        if (std::from_chars(number.data(), number.data() + number.size(), run.tolerance).ec != std::errc{})
          return malformed("a tolerance that is no number");
      }
      isOpen = false;
    } else if (key == "agrees") {
      if (!isOpen) return malformed("agreement without a run");
      file.runs.back().agrees = true;
      isOpen = false;
    } else if (key == "fails") {
      if (!isOpen) return malformed("a failure without a run");
      file.runs.back().fails = true;
      file.runs.back().message = value;
      isOpen = false;
    } else if (key == "compile-fails") {
      file.compileErrors.emplace_back(value);
    } else if (key == "once") {
      file.isOnce = true;
    }
  }
  if (isOpen) return Error(ErrorCode::Malformed, "the last run has no result");
  if (file.runs.empty() && file.compileErrors.empty())
    return Error(ErrorCode::Malformed, "no run and no error is asked for");
  return file;
}

}  // namespace baton::run
