#include "compiler/ops/lowering/packed_weight.h"

#include <cstring>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "compiler/ops/lowering/product_nest.h"

namespace baton::ops {

Result<ir::Constant> packWeight(const ir::Constant& weight) {
  if (weight.shape.size() < 2)
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("a weight of rank {}; expected 2 or more", weight.shape.size()));
  const int64_t rows = weight.shape[0];
  const std::span<const int64_t> rest = std::span(weight.shape).subspan(1);
  const int64_t inner = checkedElementCount(rest).value_or(0);
  const int64_t panels = rows / kPanelColumns + (rows % kPanelColumns != 0 ? 1 : 0);
  ir::Constant packed = weight;
  packed.shape = {panels};
  packed.shape.insert(packed.shape.end(), rest.begin(), rest.end());
  packed.shape.push_back(kPanelColumns);
  const auto size = static_cast<int64_t>(sizeBytes(weight.dtype));
  const std::optional<int64_t> count = checkedElementCount(packed.shape);
  const std::optional<int64_t> bytes = count ? checkedMul(*count, size) : std::nullopt;
  if (!bytes) return Error(ErrorCode::InvalidArgument, "a weight that is too large to be packed");
  if (static_cast<int64_t>(weight.bytes.size()) != rows * inner * size)
    return Error(ErrorCode::InvalidArgument, "a weight without its elements cannot be packed");
  packed.bytes.assign(static_cast<size_t>(*bytes), std::byte{0});
  if (inner == 0) return packed;  // rows may be as many as they like
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < inner; ++k) {
      const int64_t to = ((row / kPanelColumns) * inner + k) * kPanelColumns + row % kPanelColumns;
      std::memcpy(packed.bytes.data() + to * size, weight.bytes.data() + (row * inner + k) * size,
                  static_cast<size_t>(size));
    }
  return packed;
}

}  // namespace baton::ops
