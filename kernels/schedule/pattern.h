// What a schedule can be chosen by.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/loop/kernel.h"

namespace baton::schedule {

struct TransposedRead {
  std::string loop;
  int64_t elementBytes;
};
/// Of loops one in another, which write along the last one: another of them along which something that is
/// read lies in memory. Nothing where all lies along the last one, or anywhere.
std::optional<TransposedRead> transposedRead(const loop::Kernel& kernel, std::span<const std::string> loops);

/// Of loops one in another: how many of the last ones, which could be one, since whatever uses their
/// variables is at the place in memory that comes next. At least 1.
size_t contiguousLoops(const loop::Kernel& kernel, std::span<const std::string> loops);

}  // namespace baton::schedule
