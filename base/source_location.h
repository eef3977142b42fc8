// A place in program text: which file, which line, which column.
#pragma once

#include <cstdint>
#include <string>

namespace baton {

/// Lines and columns count from 1; line 0 means "nowhere in particular". `file` indexes
/// the table of source files of whoever hands the location out.
struct SourceLocation {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t inlinedAt = 0;  ///< 0: nowhere; else 1 + index of the InlineSite whose body it is in

  bool isKnown() const { return line != 0; }
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// A call that was replaced by the body of the function it called. Whoever hands out locations
/// keeps a table of them; a site that is itself in a replaced body comes after that body's site.
struct InlineSite {
  std::string function;  ///< that was called
  SourceLocation call;
};

}  // namespace baton
