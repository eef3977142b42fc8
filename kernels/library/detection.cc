// Boxes chosen class by class, and proposals: class_suppression, class_suppression_by_batch,
// regular_suppression and proposal.

#include <cmath>

#include "kernels/library/boxes.h"
#include "kernels/library/families.h"

namespace baton::library {

namespace {

/// Boxes and scores of one class, and what of them may stay.
template <class T>
struct ClassChoice {
  const T* boxes;  ///< four numbers each
  const T* scores;
  int64_t stride;  ///< between scores
  int64_t count;
  int64_t mostKept;  ///< all where negative
};

/// The boxes that stay, best first: `isCandidate(score)` says which take part, `isSuppressed(box, other)`
/// which do not stand beside a better one. `order` has room for all; they are its first ones afterwards.
template <class T, class Candidate, class Suppressed>
int64_t choose(const ClassChoice<T>& choice, Ranked* order, const Candidate& isCandidate,
               const Suppressed& isSuppressed) {
  int64_t candidates = 0;
  for (int64_t i = 0; i < choice.count; ++i)
    if (const T score = choice.scores[i * choice.stride]; isCandidate(score))
      order[candidates++] = ranked(score, i);
  std::sort(order, order + candidates);
  int64_t kept = 0;
  for (int64_t i = 0; i < candidates && kept != choice.mostKept; ++i) {
    const T* box = choice.boxes + 4 * order[i].index;
    const bool stays = std::none_of(order, order + kept, [&](const Ranked& better) {
      return isSuppressed(box, choice.boxes + 4 * better.index);
    });
    if (stays) order[kept++] = order[i];
  }
  return kept;
}

/// What class_suppression and class_suppression_by_batch have in common. Scalars: batches, boxes, classes;
/// then mostKept, overlap, threshold.
template <class T>
struct ClassSuppression {
  int64_t batches, boxes, classes;
  int64_t mostKept;
  double most, threshold;
  const T* corners;
  const T* scores;

  ClassSuppression(void* const* buffers, const int64_t* scalars)
      : batches(scalars[0]),
        boxes(scalars[1]),
        classes(scalars[2]),
        mostKept(scalars[3]),
        most(std::bit_cast<double>(scalars[4])),
        threshold(std::bit_cast<double>(scalars[5])),
        corners(static_cast<const T*>(buffers[0])),
        scores(static_cast<const T*>(buffers[1])) {}

  int64_t chooseOf(int64_t batch, int64_t klass, Ranked* order) const {
    const ClassChoice<T> choice{corners + 4 * batch * boxes, scores + (batch * classes + klass) * boxes, 1,
                                boxes, mostKept};
    return choose(
        choice, order, [&](T score) { return static_cast<double>(score) > threshold; },
        [&](const T* a, const T* b) {
          const auto shared = static_cast<double>(overlap(Box<T>(a), Box<T>(b)));
          return shared >= most && shared > 0;
        });
  }
};

template <class T>
int32_t classSuppression(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const ClassSuppression<T> s(buffers, scalars);
  auto* rows = static_cast<int64_t*>(buffers[2]);
  const int64_t sets = s.batches * s.classes;
  auto* order = scratchFor<Ranked>(ctx, sets * s.boxes);
  auto* counts = scratchFor<int64_t>(ctx, sets);
  if (order == nullptr || counts == nullptr) return BATON_KERNEL_OUT_OF_MEMORY;
  const int32_t result = forEachBatch(ctx, sets, [=](int64_t set) {
    counts[set] = s.chooseOf(set / s.classes, set % s.classes, order + set * s.boxes);
  });
  if (result != BATON_KERNEL_OK) return result;
  int64_t total = 0;
  for (int64_t set = 0; set < sets; ++set)
    for (int64_t i = 0; i < counts[set]; ++i, ++total) {
      rows[3 * total] = set / s.classes;
      rows[3 * total + 1] = set % s.classes;
      rows[3 * total + 2] = order[set * s.boxes + i].index;
    }
  std::fill(rows + 3 * total, rows + 3 * sets * s.boxes, 0);
  *static_cast<int64_t*>(buffers[3]) = total;
  return BATON_KERNEL_OK;
}

template <class T>
int32_t classSuppressionByBatch(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const ClassSuppression<T> s(buffers, scalars);
  auto* rows = static_cast<int64_t*>(buffers[2]);
  auto* kept = static_cast<T*>(buffers[3]);
  auto* counts = static_cast<int64_t*>(buffers[4]);
  auto* orders = scratchFor<Ranked>(ctx, s.batches * s.boxes);
  if (orders == nullptr) return BATON_KERNEL_OUT_OF_MEMORY;
  return forEachBatch(ctx, s.batches, [=](int64_t batch) {
    const int64_t room = s.classes * s.boxes;
    Ranked* order = orders + batch * s.boxes;
    int64_t total = 0;
    for (int64_t klass = 0; klass < s.classes; ++klass) {
      const int64_t count = s.chooseOf(batch, klass, order);
      for (int64_t i = 0; i < count; ++i, ++total) {
        const int64_t at = batch * room + total;
        rows[2 * at] = klass;
        rows[2 * at + 1] = order[i].index;
        kept[at] = s.scores[(batch * s.classes + klass) * s.boxes + order[i].index];
      }
    }
    std::fill(rows + 2 * (batch * room + total), rows + 2 * (batch + 1) * room, 0);
    std::fill(kept + batch * room + total, kept + (batch + 1) * room, T{0});
    counts[batch] = total;
  });
}

/// Of regular_suppression: corners (top, left, bottom, right) as they are.
float overlapOfCorners(const float* a, const float* b) {
  const float areaA = (a[2] - a[0]) * (a[3] - a[1]);
  const float areaB = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(areaA > 0 && areaB > 0)) return 0;
  const float height = greater(lesser(a[2], b[2]) - greater(a[0], b[0]), 0.0F);
  const float width = greater(lesser(a[3], b[3]) - greater(a[1], b[1]), 0.0F);
  const float shared = height * width;
  return shared / (areaA + areaB - shared);
}

/// A box that was chosen, in the order of scores and, among equal ones, of classes.
struct Found {
  Ranked rank;
  int64_t klass;
};

// Scalars: batches, boxes, labels, most, classes; then mostOfClass, most, classes, overlap, threshold.
int32_t regularSuppression(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const int64_t batches = scalars[0];
  const int64_t boxes = scalars[1];
  const int64_t labels = scalars[2];
  const int64_t most = scalars[3];
  const int64_t classes = scalars[4];
  const int64_t mostOfClass = scalars[5];
  const double shared = std::bit_cast<double>(scalars[8]);
  const double threshold = std::bit_cast<double>(scalars[9]);
  const auto* corners = static_cast<const float*>(buffers[0]);
  const auto* scores = static_cast<const float*>(buffers[1]);
  auto* outBoxes = static_cast<float*>(buffers[2]);
  auto* outClasses = static_cast<float*>(buffers[3]);
  auto* outScores = static_cast<float*>(buffers[4]);
  auto* counts = static_cast<int32_t*>(buffers[5]);
  auto* orders = scratchFor<Ranked>(ctx, batches * boxes);
  auto* found = scratchFor<Found>(ctx, batches * boxes * classes);
  if (orders == nullptr || found == nullptr) return BATON_KERNEL_OUT_OF_MEMORY;
  return forEachBatch(ctx, batches, [=](int64_t batch) {
    Ranked* order = orders + batch * boxes;
    Found* own = found + batch * boxes * classes;
    const float* ownBoxes = corners + 4 * batch * boxes;
    int64_t total = 0;
    for (int64_t klass = 0; klass < classes; ++klass) {
      // The labels before the classes are the background.
      const float* ownScores = scores + batch * boxes * labels + (labels - classes) + klass;
      const int64_t kept = choose<float>(
          {ownBoxes, ownScores, labels, boxes, std::max<int64_t>(mostOfClass, 0)}, order,
          [&](float score) { return static_cast<double>(score) >= threshold; },
          [&](const float* a, const float* b) {
            return static_cast<double>(overlapOfCorners(b, a)) > shared;
          });
      for (int64_t i = 0; i < kept; ++i) {
        own[total] = {{order[i].key, total}, klass * boxes + order[i].index};
        ++total;
      }
    }
    std::sort(own, own + total, [](const Found& a, const Found& b) { return a.rank < b.rank; });
    const int64_t count = std::min(total, most);
    counts[batch] = static_cast<int32_t>(count);
    for (int64_t i = 0; i < most; ++i) {
      const int64_t at = batch * most + i;
      const bool isThere = i < count;
      const int64_t klass = isThere ? own[i].klass / boxes : 0;
      const int64_t box = isThere ? own[i].klass % boxes : 0;
      for (int64_t c = 0; c < 4; ++c) outBoxes[4 * at + c] = isThere ? ownBoxes[4 * box + c] : 0;
      outClasses[at] = static_cast<float>(klass);
      outScores[at] = isThere ? scores[(batch * boxes + box) * labels + (labels - classes) + klass] : 0;
    }
  });
}

/// Of proposal: corners (left, top, right, bottom) of pixels, which belong to the box.
template <class T>
T overlapOfPixels(const T* a, const T* b) {
  const T width = greater(T{0}, lesser(a[2], b[2]) - greater(a[0], b[0]) + 1);
  const T height = greater(T{0}, lesser(a[3], b[3]) - greater(a[1], b[1]) + 1);
  const T shared = width * height;
  const T covered = (a[2] - a[0] + 1) * (a[3] - a[1] + 1) + (b[2] - b[0] + 1) * (b[3] - b[1] + 1) - shared;
  return shared / covered;
}

// Scalars: batches, boxes, wanted; then considered, wanted, threshold.
template <class T>
int32_t proposal(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars) {
  const int64_t batches = scalars[0];
  const int64_t boxes = scalars[1];
  const int64_t wanted = scalars[2];
  const int64_t considered = scalars[3] > 0 ? std::min(scalars[3], boxes) : boxes;
  const double threshold = std::bit_cast<double>(scalars[5]);
  const auto* rows = static_cast<const T*>(buffers[0]);
  auto* out = static_cast<T*>(buffers[1]);
  auto* orders = scratchFor<Ranked>(ctx, batches * boxes);
  if (orders == nullptr) return BATON_KERNEL_OUT_OF_MEMORY;
  return forEachBatch(ctx, batches, [=](int64_t batch) {
    Ranked* order = orders + batch * boxes;
    const auto row = [&](int64_t i) { return rows + (batch * boxes + i) * 5; };
    for (int64_t i = 0; i < boxes; ++i) order[i] = ranked(row(i)[4], i);
    std::sort(order, order + boxes);
    int64_t kept = 0;
    for (int64_t i = 0; i < considered && kept < wanted; ++i) {
      const bool stays = std::none_of(order, order + kept, [&](const Ranked& better) {
        return static_cast<double>(overlapOfPixels(row(better.index), row(order[i].index))) > threshold;
      });
      if (stays) order[kept++] = order[i];
    }
    // Those that stay, again and again, until there are as many as are wanted.
    for (int64_t i = 0; i < wanted; ++i) {
      T* to = out + (batch * wanted + i) * 5;
      std::fill(to, to + 5, T{0});
      if (kept == 0) continue;
      to[0] = static_cast<T>(batch);
      std::copy(row(order[i % kept].index), row(order[i % kept].index) + 4, to + 1);
    }
  });
}

template <class T>
void addDetectionFor(std::vector<LibraryKernel>& kernels, DType dtype) {
  const DimExpr two = DimExpr::constant(2);
  const DimExpr four = DimExpr::constant(4);
  for (const bool isByBatch : {false, true}) {
    Description d;
    const DimExpr batches = d.extent("batches", 0, 0);
    const DimExpr boxes = d.extent("boxes", 0, 1);
    const DimExpr classes = d.extent("classes", 1, 1);
    d.input(dtype, {batches, boxes, four}).input(dtype, {batches, classes, boxes});
    if (isByBatch)
      d.output(DType::I64, {batches, classes * boxes, two})
          .output(dtype, {batches, classes * boxes})
          .output(DType::I64, {batches});
    else
      d.output(DType::I64, {batches * classes * boxes, DimExpr::constant(3)})
          .output(DType::I64, {DimExpr::constant(1)});
    kernels.push_back(d.kernel(isByBatch ? "class_suppression_by_batch" : "class_suppression",
                               {DType::I64, DType::F64, DType::F64},
                               isByBatch ? classSuppressionByBatch<T> : classSuppression<T>));
  }
  Description d;
  const DimExpr batches = d.extent("batches", 0, 0);
  const DimExpr boxes = d.extent("boxes", 0, 1);
  const DimExpr wanted = d.scalar("wanted", 1);
  d.input(dtype, {batches, boxes, DimExpr::constant(5)});
  d.output(dtype, {batches * wanted, DimExpr::constant(5)});
  d.require(wanted, Relation::Ge, DimExpr());
  kernels.push_back(d.kernel("proposal", {DType::I64, DType::I64, DType::F64}, proposal<T>));
}

LibraryKernel regularKernel() {
  const DimExpr zero;
  Description d;
  const DimExpr batches = d.extent("batches", 0, 0);
  const DimExpr boxes = d.extent("boxes", 0, 1);
  const DimExpr labels = d.extent("labels", 1, 2);
  const DimExpr most = d.scalar("most", 1);
  const DimExpr classes = d.scalar("classes", 2);
  d.input(DType::F32, {batches, boxes, DimExpr::constant(4)}).input(DType::F32, {batches, boxes, labels});
  d.output(DType::F32, {batches, most, DimExpr::constant(4)})
      .output(DType::F32, {batches, most})
      .output(DType::F32, {batches, most})
      .output(DType::I32, {batches});
  d.require(most, Relation::Ge, zero);
  d.require(classes, Relation::Ge, zero);
  d.require(classes, Relation::Le, labels);
  return d.kernel("regular_suppression", {DType::I64, DType::I64, DType::I64, DType::F64, DType::F64},
                  regularSuppression);
}

}  // namespace

void addDetectionKernels(std::vector<LibraryKernel>& kernels) {
  addDetectionFor<float>(kernels, DType::F32);
  addDetectionFor<double>(kernels, DType::F64);
  kernels.push_back(regularKernel());
}

}  // namespace baton::library
