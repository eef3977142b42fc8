// What a resize does, from its attributes or from those of an upsampling.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/reference_call.h"

namespace baton::ops {

struct ResizeSettings {
  std::vector<size_t> axes;  ///< depth, height and width, as far as there are
  std::string method;
  std::string mode;
  std::string rounding;
  double alpha = -0.5;
  bool excludesOutside = false;
  double extrapolation = 0;

  bool isCrop() const { return mode == "tf_crop_and_resize"; }
  bool isNearest() const { return method == "nearest_neighbor"; }
};

/// An error unless it is one of those of `image.resize2d`.
Result<void> checkResizeMode(const OpCall& call);

/// `roi`: starts, then ends, for tf_crop_and_resize.
void plainResize(const ReferenceCall& call, const ResizeSettings& settings, const std::vector<float>& roi);

}  // namespace baton::ops
