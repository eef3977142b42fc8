// How the loops of a kernel are to run when nobody says otherwise.
#pragma once

#include <vector>

#include "base/error.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "kernels/loop/kernel.h"
#include "kernels/schedule/schedule.h"

namespace baton::ops {

/// What register tiles fit into.
struct VectorRegisters {
  int64_t bytes;
  int64_t count;
};
inline constexpr VectorRegisters kWideVectors = {64, 32};
inline constexpr VectorRegisters kNarrowVectors = {32, 16};

/// For a kernel with these nests: rows, or pieces of one, over threads; elements next to each other in lanes;
/// sums of products in register tiles. It has been applied to the kernel, so it is legal.
Result<schedule::Schedule> defaultSchedule(const loop::Kernel& kernel, const std::vector<LoopNest>& nests,
                                           VectorRegisters registers);

}  // namespace baton::ops
