// The part of a buffer that an iteration of a loop touches. Private to kernels/schedule.
#pragma once

#include <functional>
#include <vector>

#include "kernels/schedule/accesses.h"

namespace baton::schedule {

/// Elements start[axis] + [0, length[axis]), in values that are there before the statement `before` of the
/// loop's body.
struct Region {
  NodeId before;
  std::vector<Affine> start;
  std::vector<Affine> length;
  /// Extents of loops around the accesses that no index tells of: when one is 0, nothing is touched.
  Nodes counts;
};

/// What accesses of a buffer, all in the body of a loop, touch. An error where an iteration may leave some of
/// them out, or where the part has no such form.
Result<Region> regionOf(const Editor& editor, NodeId loop, const std::vector<Access>& accesses);

/// Nested loops over a region, left out where nothing of it is touched; `body` writes what is done for the
/// indices in the region and in the buffer. The statements, not placed.
Nodes loopsOver(Editor& editor, const Region& region,
                const std::function<void(Nodes& out, const Nodes& inRegion, const Nodes& inBuffer)>& body);

}  // namespace baton::schedule
