#include "formats/tensor_data.h"

#include <fmt/format.h>

#include "base/checked_math.h"

namespace baton {

Result<size_t> tensorSizeBytes(DType dtype, std::span<const int64_t> shape) {
  const auto count = checkedElementCount(shape);
  const auto bytes = count ? checkedMul<int64_t>(*count, sizeBytes(dtype)) : std::nullopt;
  if (!bytes)
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("no tensor can have the type {}", tensorTypeText(dtype, shape)));
  return static_cast<size_t>(*bytes);
}

std::string tensorTypeText(DType dtype, std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t extent : shape) text += fmt::format("{}x", extent);
  return text.append(dtypeShortName(dtype));
}

}  // namespace baton
