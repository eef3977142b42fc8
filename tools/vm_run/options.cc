#include "tools/vm_run/options.h"

#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

namespace baton::tools {

namespace {

using Unit = std::pair<const char*, double>;

/// A non-negative number and one of the units, which scale it; nothing when it does not fit 63 bits.
std::optional<uint64_t> parseWithUnit(const std::string& text, std::span<const Unit> units) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number < 0) return std::nullopt;
  for (const auto& [unit, scale] : units) {
    if (std::string(end) != unit) continue;
    const double scaled = number * scale;
    if (scaled >= 9.2e18) return std::nullopt;
    return static_cast<uint64_t>(scaled);
  }
  return std::nullopt;
}

}  // namespace

ScopedFile splitScope(const std::string& argument) {
  const size_t equals = argument.find('=');
  const bool hasScope = equals != std::string::npos && equals != 0 && argument.find('/') > equals;
  if (!hasScope) return {"params", argument};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::optional<uint64_t> parseByteSize(const std::string& text) {
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"B", 1},
                                    {"kB", 1e3},
                                    {"KB", 1e3},
                                    {"MB", 1e6},
                                    {"GB", 1e9},
                                    {"TB", 1e12},
                                    {"KiB", 1024.0},
                                    {"MiB", 1024.0 * 1024},
                                    {"GiB", 1024.0 * 1024 * 1024},
                                    {"TiB", 1024.0 * 1024 * 1024 * 1024}};
  return parseWithUnit(text, kUnits);
}

std::optional<uint64_t> parseDuration(const std::string& text) {
  static constexpr Unit kUnits[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6},  {"s", 1e9},
                                    {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
  return parseWithUnit(text, kUnits);
}

}  // namespace baton::tools
