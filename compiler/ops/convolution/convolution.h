// The attributes of a convolution, and the extents of its operands and result.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ops/convolution/window.h"

namespace baton::ops {

struct Convolution {
  Layout data;
  Layout weight;
  Layout result;
  std::vector<WindowAxis> axes;
  std::vector<int64_t> outputPadding;  ///< zeros, but for a transposed one
  int64_t groups = 1;
  bool isTransposed = false;

  size_t rank() const { return axes.size(); }
  /// Which spatial axis a letter names; nothing for the others.
  std::optional<size_t> axisNamed(char name) const {
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].name == name) return i;
    return std::nullopt;
  }
};

Result<Convolution> convolutionOf(const OpCall& call);

/// Extents of the result; the weight is input `weightInput`.
Result<TensorDims> convolvedDims(const OpCall& call, DimsContext& context, const Convolution& convolution,
                                 size_t weightInput);

/// Extents, with channels as they are in all.
struct ConvolutionExtents {
  DimExpr batch;
  DimExpr inputs;               ///< channels of a group of the data
  DimExpr outputs;              ///< channels of a group of the result
  std::vector<DimExpr> data;    ///< spatial ones
  std::vector<DimExpr> window;  ///< of the weight
  std::vector<DimExpr> places;  ///< of the result
};
/// Of operands that fit.
ConvolutionExtents convolutionExtents(const OpCall& call, const Convolution& convolution,
                                      std::span<const DimExpr> data, std::span<const DimExpr> weight,
                                      std::span<const DimExpr> result);

}  // namespace baton::ops
