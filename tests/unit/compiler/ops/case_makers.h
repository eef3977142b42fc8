// What the makers of random calls share, and what each family of operators adds to them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/compiler/ops/operator_cases.h"

namespace baton::ops::test {

using Makers = std::map<std::string, std::function<Case(Random&)>, std::less<>>;

inline const std::vector<DType> kIntegers = {DType::I8, DType::I16, DType::I32, DType::I64,
                                             DType::U8, DType::U16, DType::U32, DType::U64};
inline const std::vector<DType> kNumeric = {DType::F32, DType::F64, DType::F16, DType::BF16,
                                            DType::I8,  DType::I32, DType::I64, DType::U8,
                                            DType::U64, DType::I16, DType::U32};
inline const std::vector<DType> kAny = {DType::F32, DType::F64, DType::F16, DType::BF16,
                                        DType::I8,  DType::I32, DType::I64, DType::U8,
                                        DType::U64, DType::I16, DType::Bool};
inline const std::vector<DType> kIndices = {DType::I32, DType::I64};

inline int64_t anyAxis(Random& random, size_t rank) {
  return random.between(-static_cast<int64_t>(rank), static_cast<int64_t>(rank) - 1);
}
/// Which one it is.
inline size_t axisOf(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}
inline std::vector<DimExpr> dims(const std::vector<int64_t>& values) {
  std::vector<DimExpr> out;
  for (const int64_t value : values) out.push_back(DimExpr::constant(value));
  return out;
}

void addBlockCases(Makers& makers);
void addPaddingCases(Makers& makers);
void addPositionCases(Makers& makers);
void addScanCases(Makers& makers);

}  // namespace baton::ops::test
