// The type of a product's result.
#pragma once

#include <optional>

#include "compiler/ir/op.h"

namespace baton::ops {

/// `requested` where it is given, and then at least as wide as the data.
Result<DType> productDType(const OpCall& call, DType data, std::optional<DType> requested);

/// What the products have in common once ranks are settled: one dtype in, one out.
Result<std::optional<StructureResult>> productStructure(const OpCall& call, StructureContext& context,
                                                        std::optional<DType> requested,
                                                        std::optional<int> rank);

}  // namespace baton::ops
