// Schedules: how the loops of a kernel are to run, as a list of primitives that can be printed, read and
// applied again. A primitive changes when and where things are computed, and never a bit of what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernels/loop/kernel.h"

namespace baton::schedule {

enum class Kind : uint8_t {
  Split,          ///< LOOP by FACTOR into OUTER INNER: LOOP is OUTER * FACTOR + INNER
  Fuse,           ///< OUTER INNER into LOOP: one loop over both
  Reorder,        ///< LOOPS: of a nest, in the order that they shall have
  Tile,           ///< A B by F G into AO BO AI BI: both split, the outer parts outside
  Vectorize,      ///< LOOP: its iterations in lanes
  Unroll,         ///< LOOP of a constant extent: its body repeated
  Parallel,       ///< LOOP by GRAIN: over threads, in pieces of at least so many iterations
  ComputeInline,  ///< BUFFER: computed where it is read, and not stored
  ComputeAt,      ///< BUFFER LOOP: what an iteration of LOOP reads is computed at its beginning
  CacheRead,      ///< BUFFER LOOP: what an iteration of LOOP reads is copied into a local first
  CacheWrite,     ///< BUFFER LOOP: what an iteration of LOOP writes is collected in a local first
  Rfactor,        ///< REDUCTION by PARTS into LOOP: parts of their own, which are then combined
  Pack,           ///< BUFFER by AXIS FACTOR: an input copied, so that FACTOR elements along AXIS lie together
  Tensorize,      ///< LOOP by ROWS LANES REGISTERS CHUNK: register tiles of what sums products, row by row
  Transpose,      ///< OUTER INNER by SIDE: what lies along OUTER is read in squares, and written along INNER
};
inline constexpr int kKindCount = 15;

/// Names are those of loops (`as i` in loop IR) and of buffers (`in0`, `out0`, `tmp0`).
struct Primitive {
  Kind kind = Kind::Split;
  std::vector<std::string> targets;
  std::vector<int64_t> numbers;
  std::vector<std::string> results;  ///< new names
  friend bool operator==(const Primitive&, const Primitive&) = default;
};

using Schedule = std::vector<Primitive>;

/// A line for each: `split i by 64 into io ii`.
std::string print(const Schedule& schedule);
/// What print writes; lines may be empty or begin with `#`. ErrorCode::Malformed names the line.
Result<Schedule> parse(std::string_view text);

/// The kernel must have passed loop::verify(), as the result has. ErrorCode::InvalidArgument, with the
/// primitive, for one that would change what is computed, or that says something of loops and buffers which
/// are not there.
Result<loop::Kernel> apply(loop::Kernel kernel, const Schedule& schedule);

}  // namespace baton::schedule
