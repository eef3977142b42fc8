// Weights in panels: of nn.dense in the layout that nn.dense_packed reads, of convolutions in that which
// they read fastest.
#pragma once

#include <string_view>

#include "compiler/ir/ir.h"

namespace baton::ops {

/// Name of the layout, as constants of an executable carry it: [N / 64][K][64], filled up
/// with zeros.
inline constexpr std::string_view kPackedLayout = "N/64,K,64";

/// A weight of shape (N, K...) as one of shape (ceil(N / 64), K..., 64). The bytes must be there.
Result<ir::Constant> packWeight(const ir::Constant& weight);

}  // namespace baton::ops
