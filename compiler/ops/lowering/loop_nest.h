// The loops around the elements of a tensor: which are parallel, which are executed in
// lanes, and where reductions that are shared by several elements find their place.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "compiler/ops/lowering/emitter.h"

namespace baton::ops {

struct NestPlan {
  /// Numbers of leading axes on which alone something is computed: each needs a loop of
  /// which the body sees these axes and no others.
  std::set<size_t> prefixes;
  /// Nothing needs to be done when one of these is 0.
  std::vector<DimExpr> served = {};
  /// Something runs along contiguous memory inside the innermost loop: no lanes there.
  bool isRowWise = false;
  /// Operations for one element, roughly.
  double cost = 4;
};

using NestBody = std::function<Result<void>(std::span<const loop::Value> index)>;

/// Calls `body` once; it emits what is done for each index.
Result<void> forEachIndex(Emitter& emitter, std::span<const DimExpr> extents, const NestPlan& plan,
                          const NestBody& body);

/// A parallel loop, or a serial one where it is certain that there is little to do.
/// `cost`: operations of one iteration. `most`: an upper bound of an extent that is not constant.
loop::Value beginParallel(Emitter& emitter, loop::Value extent, double cost,
                          std::optional<int64_t> most = std::nullopt);

}  // namespace baton::ops
