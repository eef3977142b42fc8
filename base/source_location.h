// A place in program text: which file, which line, which column.
#pragma once

#include <cstdint>

namespace baton {

/// Lines and columns count from 1; line 0 means "nowhere in particular". `file` indexes
/// the table of source files of whoever hands the location out.
struct SourceLocation {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;

  bool isKnown() const { return line != 0; }
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

}  // namespace baton
