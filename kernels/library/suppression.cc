// valid_counts and non_max_suppression: rows of scores, classes and boxes, of which some stay.

#include "kernels/library/boxes.h"
#include "kernels/library/families.h"

namespace baton::library {

namespace {

template <class T>
void fillRow(T* row, int64_t width) {
  std::fill(row, row + width, T{-1});
}

// Scalars: batches, rows, width, scoreIndex, idIndex; then threshold, idIndex, scoreIndex.
template <class T>
int32_t validCounts(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const int64_t rows = scalars[1];
  const int64_t width = scalars[2];
  const int64_t scoreIndex = scalars[3];
  const int64_t idIndex = scalars[4];
  const double threshold = std::bit_cast<double>(scalars[5]);
  const auto* data = static_cast<const T*>(buffers[0]);
  auto* counts = static_cast<int32_t*>(buffers[1]);
  auto* kept = static_cast<T*>(buffers[2]);
  auto* indices = static_cast<int32_t*>(buffers[3]);
  return forEachBatch(ctx, scalars[0], [=](int64_t batch) {
    int64_t count = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = data + (batch * rows + i) * width;
      if (!(static_cast<double>(row[scoreIndex]) > threshold && (idIndex < 0 || row[idIndex] >= 0))) continue;
      std::copy(row, row + width, kept + (batch * rows + count) * width);
      indices[batch * rows + count++] = static_cast<int32_t>(i);
    }
    counts[batch] = static_cast<int32_t>(count);
    fillRow(kept + (batch * rows + count) * width, (rows - count) * width);
    fillRow(indices + batch * rows + count, rows - count);
  });
}

struct Suppression {
  int64_t rows, width;
  int64_t coordStart, scoreIndex, idIndex;
  int64_t mostKept, mostSorted;
  double threshold;
  bool suppressesAll, movesDown;
};

/// One batch: rows by score into `out`, of which those that overlap with a better one become -1, and the
/// numbers of the rows into `boxes`.
template <class T>
void suppress(const Suppression& s, int64_t valid, const T* data, Ranked* order, T* out, int32_t* boxes) {
  const auto row = [&](int64_t i) { return out + i * s.width; };
  const auto drop = [&](int64_t i) {
    fillRow(row(i), s.width);
    boxes[i] = -1;
  };
  const bool sorts = s.threshold > 0;
  for (int64_t i = 0; i < valid; ++i) order[i] = ranked(data[i * s.width + s.scoreIndex], i);
  if (sorts) std::sort(order, order + valid);
  const int64_t sorted = sorts && s.mostSorted > 0 ? std::min(valid, s.mostSorted) : valid;
  for (int64_t i = 0; i < sorted; ++i) {
    const T* from = data + order[i].index * s.width;
    std::copy(from, from + s.width, row(i));
    boxes[i] = static_cast<int32_t>(order[i].index);
  }
  for (int64_t i = sorted; i < s.rows; ++i) drop(i);
  if (!sorts) return;
  int64_t count = 0;
  for (int64_t i = 0; i < sorted; ++i) {
    if (count == s.mostKept) {
      drop(i);
      continue;
    }
    if (!(row(i)[s.scoreIndex] > 0)) continue;
    const Box<T> box(row(i) + s.coordStart);
    bool isSuppressed = false;
    for (int64_t k = 0; k < i && !isSuppressed; ++k) {
      const T* other = row(k);
      const bool counts = other[s.scoreIndex] > 0 && (s.idIndex < 0 || other[s.idIndex] >= 0) &&
                          (s.suppressesAll || s.idIndex < 0 || other[s.idIndex] == row(i)[s.idIndex]);
      isSuppressed = counts && static_cast<double>(overlap(box, Box<T>(other + s.coordStart))) >= s.threshold;
    }
    if (isSuppressed)
      drop(i);
    else
      ++count;
  }
}

/// Rows whose first number is not negative, before the others.
template <class T>
void moveDown(const Suppression& s, T* out) {
  int64_t count = 0;
  for (int64_t i = 0; i < s.rows; ++i) {
    const T* row = out + i * s.width;
    if (!(row[0] >= 0)) continue;
    if (i != count) std::copy(row, row + s.width, out + count * s.width);
    ++count;
  }
  fillRow(out + count * s.width, (s.rows - count) * s.width);
}

// Scalars: batches, rows, width, coordStart, scoreIndex, idIndex; then mostKept, threshold, suppressesAll,
// mostSorted, coordStart, scoreIndex, idIndex, movesDown.
template <class T>
int32_t nonMaxSuppression(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const int64_t* given = scalars + 6;
  const Suppression s{.rows = scalars[1],
                      .width = scalars[2],
                      .coordStart = scalars[3],
                      .scoreIndex = scalars[4],
                      .idIndex = scalars[5],
                      .mostKept = given[0],
                      .mostSorted = given[3],
                      .threshold = std::bit_cast<double>(given[1]),
                      .suppressesAll = given[2] != 0,
                      .movesDown = given[7] != 0};
  auto* order = scratchFor<Ranked>(ctx, scalars[0] * s.rows);
  if (order == nullptr) return BATON_KERNEL_OUT_OF_MEMORY;
  const auto* data = static_cast<const T*>(buffers[0]);
  const auto* valid = static_cast<const int32_t*>(buffers[1]);
  const auto* indices = static_cast<const int32_t*>(buffers[2]);
  auto* out = static_cast<T*>(buffers[3]);
  auto* boxes = static_cast<int32_t*>(buffers[4]);
  auto* counts = static_cast<int32_t*>(buffers[5]);
  return forEachBatch(ctx, scalars[0], [=](int64_t batch) {
    T* rows = out + batch * s.rows * s.width;
    int32_t* own = boxes + batch * s.rows;
    suppress(s, std::clamp<int64_t>(valid[batch], 0, s.rows), data + batch * s.rows * s.width,
             order + batch * s.rows, rows, own);
    int64_t count = 0;
    for (int64_t i = 0; i < s.rows; ++i) {
      const int32_t index = own[i] < 0 ? -1 : indices[batch * s.rows + own[i]];
      if (index >= 0) own[count++] = index;
    }
    fillRow(own + count, s.rows - count);
    counts[batch] = static_cast<int32_t>(count);
    if (s.movesDown) moveDown(s, rows);
  });
}

template <class T>
void addSuppressionFor(std::vector<LibraryKernel>& kernels, DType dtype) {
  const DimExpr one = DimExpr::constant(1);
  const DimExpr zero;
  {
    Description d;
    const DimExpr batches = d.extent("batches", 0, 0);
    const DimExpr rows = d.extent("rows", 0, 1);
    const DimExpr width = d.extent("width", 0, 2);
    const DimExpr score = d.scalar("score", 2);
    const DimExpr id = d.scalar("id", 1);
    d.input(dtype, {batches, rows, width});
    d.output(DType::I32, {batches}).output(dtype, {batches, rows, width}).output(DType::I32, {batches, rows});
    d.require(score, Relation::Ge, zero);
    d.require(score, Relation::Lt, width);
    d.require(id, Relation::Lt, width);
    kernels.push_back(d.kernel("valid_counts", {DType::F64, DType::I64, DType::I64}, validCounts<T>));
  }
  Description d;
  const DimExpr batches = d.extent("batches", 0, 0);
  const DimExpr rows = d.extent("rows", 0, 1);
  const DimExpr width = d.extent("width", 0, 2);
  const DimExpr coord = d.scalar("coord", 4);
  const DimExpr score = d.scalar("score", 5);
  const DimExpr id = d.scalar("id", 6);
  d.input(dtype, {batches, rows, width}).input(DType::I32, {batches}).input(DType::I32, {batches, rows});
  d.output(dtype, {batches, rows, width})
      .output(DType::I32, {batches, rows})
      .output(DType::I32, {batches, one});
  d.require(coord, Relation::Ge, zero);
  d.require(coord + DimExpr::constant(3), Relation::Lt, width);
  d.require(score, Relation::Ge, zero);
  d.require(score, Relation::Lt, width);
  d.require(id, Relation::Lt, width);
  kernels.push_back(d.kernel(
      "non_max_suppression",
      {DType::I64, DType::F64, DType::Bool, DType::I64, DType::I64, DType::I64, DType::I64, DType::Bool},
      nonMaxSuppression<T>));
}

}  // namespace

void addSuppressionKernels(std::vector<LibraryKernel>& kernels) {
  addSuppressionFor<float>(kernels, DType::F32);
  addSuppressionFor<double>(kernels, DType::F64);
}

}  // namespace baton::library
