// What the makers of random calls share; those of a family are in a file of their own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/compiler/ops/operator_cases.h"

namespace baton::ops::test {

/// By name of the operator.
using Makers = std::map<std::string, std::function<Case(Random&)>, std::less<>>;
void addBlockMakers(Makers& makers);
void addFourierMakers(Makers& makers);
/// Of operators that index with several tensors, replace a part, or name axes.
void addIndexingMakers(Makers& makers);
void addImageMakers(Makers& makers);
/// Of operators that take shapes from other tensors.
void addLikeMakers(Makers& makers);
/// Of functions of neural networks, and what normalises.
void addNormalisationMakers(Makers& makers);
void addPaddingMakers(Makers& makers);
void addPositionMakers(Makers& makers);
/// Of products of matrices.
void addProductMakers(Makers& makers);
void addRandomMakers(Makers& makers);
void addQuantisedMakers(Makers& makers);
/// Of layers over sequences, and attention.
void addRecurrentMakers(Makers& makers);
void addScanMakers(Makers& makers);
void addSparseMakers(Makers& makers);
/// Of pools and convolutions.
void addWindowMakers(Makers& makers);
/// Of operators on boxes.
void addVisionMakers(Makers& makers);

using Ints = std::vector<int64_t>;

inline const std::vector<DType> kFloats = {DType::F32, DType::F32, DType::F64, DType::F16, DType::BF16};
inline const std::vector<DType> kIntegers = {DType::I8, DType::I16, DType::I32, DType::I64,
                                             DType::U8, DType::U16, DType::U32, DType::U64};
inline const std::vector<DType> kNumeric = {DType::F32, DType::F64, DType::F16, DType::BF16,
                                            DType::I8,  DType::I32, DType::I64, DType::U8,
                                            DType::U64, DType::I16, DType::U32};
inline const std::vector<DType> kAny = {DType::F32, DType::F64, DType::F16, DType::BF16,
                                        DType::I8,  DType::I32, DType::I64, DType::U8,
                                        DType::U64, DType::I16, DType::Bool};
inline const std::vector<DType> kIndices = {DType::I32, DType::I64};

/// A shape that broadcasts with `shape`: some axes 1, some leading ones missing.
inline std::vector<int64_t> broadcastable(Random& random, const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(
      shape.begin() + (shape.empty() ? 0 : random.between(0, static_cast<int64_t>(shape.size()))),
      shape.end());
  if (random.chance(50)) out = shape;
  for (int64_t& extent : out)
    if (random.chance(25)) extent = 1;
  return out;
}

inline int64_t anyAxis(Random& random, size_t rank) {
  return random.between(-static_cast<int64_t>(rank), static_cast<int64_t>(rank) - 1);
}

/// What an axis is when it is counted from the front.
inline size_t fromFront(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

inline void addAxes(Random& random, Case& c, size_t rank) {
  if (random.chance(75)) {
    Ints axes;
    for (size_t axis = 0; axis < rank; ++axis)
      if (random.chance(50))
        axes.push_back(static_cast<int64_t>(axis) - (random.chance(30) ? static_cast<int64_t>(rank) : 0));
    c.attrs.set("axis", axes);
  }
  c.attrs.set("keepdims", random.chance(50));
  c.attrs.set("exclude", random.chance(20));
}

inline std::vector<DimExpr> dims(const std::vector<int64_t>& values) {
  std::vector<DimExpr> out;
  for (const int64_t value : values) out.push_back(DimExpr::constant(value));
  return out;
}

}  // namespace baton::ops::test
