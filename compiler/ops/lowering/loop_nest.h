// The loops around the elements of a tensor, one for each axis, and what is known of them: how they run is
// for a schedule to say (default_schedule.h).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
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

/// Calls `body` once; it emits what is done for each index. The nest is noted in the emitter.
Result<void> forEachIndex(Emitter& emitter, std::span<const DimExpr> extents, const NestPlan& plan,
                          const NestBody& body);

/// Operations that are worth handing to another thread.
inline constexpr double kPieceCost = 32768;

/// A parallel loop, or a serial one where it is certain that there is little to do. For operators that know
/// of more independence than a schedule can see. `cost`: operations of one iteration. `most`: an upper
/// bound of an extent that is not constant.
loop::Value beginParallel(Emitter& emitter, loop::Value extent, double cost,
                          std::optional<int64_t> most = std::nullopt);

}  // namespace baton::ops
