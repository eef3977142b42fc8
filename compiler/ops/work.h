// How much a call does, before it runs: what the budgets of the evaluator and of folding count.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/ops/call_contexts.h"

namespace baton::ops {

/// Elements that the call reads and makes, each of a product as often as it may have terms; of an
/// operator that is made of others, what those read and make. Extents are numbers.
uint64_t workOf(const OpCall& call, std::span<const KnownInput> inputs, std::span<const KnownInput> results);

}  // namespace baton::ops
