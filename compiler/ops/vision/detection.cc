// vision.all_class_non_max_suppression and vision.regular_non_max_suppression: boxes that stay, class by
// class.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/relations.h"
#include "compiler/ops/vision/boxes.h"
#include "compiler/ops/vision/plain_boxes.h"

namespace baton::ops {

namespace {

Result<void> requireScalars(const OpCall& call, StructureContext& context, size_t first) {
  for (size_t scalar = first; scalar < call.inputCount; ++scalar) BATON_TRY(context.requireRank(scalar, 0));
  return success();
}

Result<DimExpr> sameExtent(const OpCall& call, DimsContext& context, size_t axis, size_t input,
                           size_t other) {
  context.blame(input);
  return requireEqual(
      context, context.dims(0)[axis], context.dims(input)[other],
      fmt::format("{}: dimension {} of the {} ({{0}}) does not match dimension {} of the {} ({{1}})",
                  call.op->name, axis, call.op->inputs[0].name, other, call.op->inputs[input].name));
}

Result<void> requireCorners(const OpCall& call, DimsContext& context, int64_t width) {
  context.blame(0);
  return context.require(context.dims(0)[2], Relation::Eq, DimExpr::constant(width),
                         fmt::format("{}: a box has {{0}} elements; expected {{1}}", call.op->name));
}

Result<std::optional<StructureResult>> classStructure(const OpCall& call, StructureContext& context,
                                                      bool isByBatch, std::optional<DType> scores) {
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 3));
  BATON_TRY(requireScalars(call, context, 2));
  if (!isByBatch) return StructureResult{{{DType::I64, 2}, {DType::I64, 1}}, true};
  if (!scores) return std::nullopt;
  return StructureResult{{{DType::I64, 3}, {*scores, 2}, {DType::I64, 1}}, true};
}
Result<std::vector<TensorDims>> classDims(const OpCall& call, DimsContext& context, bool isByBatch) {
  BATON_TRY(requireCorners(call, context, 4));
  BATON_TRY_ASSIGN(const DimExpr batches, sameExtent(call, context, 0, 1, 0));
  BATON_TRY_ASSIGN(const DimExpr boxes, sameExtent(call, context, 1, 1, 2));
  const DimExpr rows = context.dims(1)[1] * boxes;
  if (!isByBatch) return std::vector<TensorDims>{{{batches * rows, DimExpr::constant(3)}}, {{one()}}};
  return std::vector<TensorDims>{{{batches, rows, DimExpr::constant(2)}}, {{batches, rows}}, {{batches}}};
}

bool isTensorFlow(const OpCall& call) {
  return AllClassNonMaxSuppressionAttrs{*call.attrs}.outputFormat() == "tensorflow";
}

}  // namespace

Result<std::optional<StructureResult>> allClassNonMaxSuppressionStructure(const OpCall& call,
                                                                          StructureContext& context) {
  const std::string& format = AllClassNonMaxSuppressionAttrs{*call.attrs}.outputFormat();
  if (format != "onnx" && format != "tensorflow")
    return opError(call, fmt::format("output_format is \"{}\"; expected \"onnx\" or \"tensorflow\"", format));
  return classStructure(call, context, isTensorFlow(call), DType::F32);
}
Result<std::vector<TensorDims>> allClassNonMaxSuppressionDims(const OpCall& call, DimsContext& context) {
  return classDims(call, context, isTensorFlow(call));
}
Result<std::optional<StructureResult>> libraryClassSuppressionStructure(const OpCall& call,
                                                                        StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireDType(2, DType::I64));
  BATON_TRY(context.requireDType(3, DType::F64));
  BATON_TRY(context.requireDType(4, DType::F64));
  return classStructure(call, context, false, std::nullopt);
}
Result<std::vector<TensorDims>> libraryClassSuppressionDims(const OpCall& call, DimsContext& context) {
  return classDims(call, context, false);
}
Result<std::optional<StructureResult>> libraryClassSuppressionByBatchStructure(const OpCall& call,
                                                                               StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireDType(2, DType::I64));
  BATON_TRY(context.requireDType(3, DType::F64));
  BATON_TRY(context.requireDType(4, DType::F64));
  return classStructure(call, context, true, context.dtype(0));
}
Result<std::vector<TensorDims>> libraryClassSuppressionByBatchDims(const OpCall& call, DimsContext& context) {
  return classDims(call, context, true);
}

Result<void> allClassNonMaxSuppressionLegal(ExpandContext& context) {
  // One type for both.
  const bool isWide =
      context.dtype(context.input(0)) == DType::F64 || context.dtype(context.input(1)) == DType::F64;
  const DType type = isWide ? DType::F64 : DType::F32;
  std::vector<TensorId> inputs;
  const DType types[] = {type, type, DType::I64, DType::F64, DType::F64};
  for (size_t i = 0; i < 5; ++i) {
    BATON_TRY_ASSIGN(const TensorId input, context.cast(context.input(i), types[i]));
    inputs.push_back(input);
  }
  const bool isByBatch = isTensorFlow(context.call());
  BATON_TRY_ASSIGN(
      std::vector<TensorId> made,
      context.makeAll(isByBatch ? "library.class_suppression_by_batch" : "library.class_suppression", {},
                      inputs));
  if (isByBatch) {
    BATON_TRY_ASSIGN(made[1], context.cast(made[1], DType::F32));
  }
  context.become(std::move(made));
  return success();
}

namespace {

StructureResult regularResult() {
  return {{{DType::F32, 3}, {DType::F32, 2}, {DType::F32, 2}, {DType::I32, 1}}, true};
}
Result<std::vector<TensorDims>> regularDims(const OpCall& call, DimsContext& context, const DimExpr& most,
                                            const DimExpr& classes) {
  BATON_TRY(requireCorners(call, context, 4));
  BATON_TRY_ASSIGN(const DimExpr batches, sameExtent(call, context, 0, 1, 0));
  BATON_TRY(sameExtent(call, context, 1, 1, 1));
  context.blame(1);
  BATON_TRY(
      context.require(classes, Relation::Le, context.dims(1)[2],
                      fmt::format("{}: there are {{0}} classes, but {{1}} scores of a box", call.op->name)));
  return std::vector<TensorDims>{
      {{batches, most, DimExpr::constant(4)}}, {{batches, most}}, {{batches, most}}, {{batches}}};
}

}  // namespace

Result<std::optional<StructureResult>> regularNonMaxSuppressionStructure(const OpCall& call,
                                                                         StructureContext& context) {
  for (const std::string_view name : {"max_detections_per_class", "max_detections", "num_classes"})
    if (const int64_t value = call.attrs->intOf(name); value < 0 || value > INT32_MAX)
      return opError(call, fmt::format("{} is {}; expected 0 to {}", name, value, INT32_MAX));
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 3));
  return regularResult();
}
Result<std::vector<TensorDims>> regularNonMaxSuppressionDims(const OpCall& call, DimsContext& context) {
  const RegularNonMaxSuppressionAttrs attrs{*call.attrs};
  return regularDims(call, context, DimExpr::constant(attrs.maxDetections()),
                     DimExpr::constant(attrs.numClasses()));
}
Result<std::optional<StructureResult>> libraryRegularSuppressionStructure(const OpCall& call,
                                                                          StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 3));
  BATON_TRY(requireScalars(call, context, 2));
  for (const size_t input : {0, 1}) BATON_TRY(context.requireDType(input, DType::F32));
  for (const size_t input : {2, 3, 4}) BATON_TRY(context.requireDType(input, DType::I64));
  for (const size_t input : {5, 6}) BATON_TRY(context.requireDType(input, DType::F64));
  return regularResult();
}
Result<std::vector<TensorDims>> libraryRegularSuppressionDims(const OpCall& call, DimsContext& context) {
  const DimExpr most = (*context.valuesOrSymbols(3))[0];
  const DimExpr classes = (*context.valuesOrSymbols(4))[0];
  for (const DimExpr& number : {most, classes})
    BATON_TRY(context.require(number, Relation::Ge, DimExpr(),
                              "library.regular_suppression: a number is negative ({0})"));
  return regularDims(call, context, most, classes);
}

Result<void> regularNonMaxSuppressionLegal(ExpandContext& context) {
  const RegularNonMaxSuppressionAttrs attrs{*context.call().attrs};
  const auto number = [&](int64_t value) { return context.scalar(DType::I64, static_cast<double>(value)); };
  BATON_TRY_ASSIGN(const TensorId boxes, context.cast(context.input(0), DType::F32));
  BATON_TRY_ASSIGN(const TensorId scores, context.cast(context.input(1), DType::F32));
  BATON_TRY_ASSIGN(
      std::vector<TensorId> made,
      context.makeAll("library.regular_suppression", {},
                      {boxes, scores, number(attrs.maxDetectionsPerClass()), number(attrs.maxDetections()),
                       number(attrs.numClasses()), context.scalar(DType::F64, attrs.iouThreshold()),
                       context.scalar(DType::F64, attrs.scoreThreshold())}));
  context.become(std::move(made));
  return success();
}

namespace {

/// Boxes that stay: of those with scores that count, by score, those that no better one suppresses.
template <class T, class Counts, class Suppresses>
std::vector<size_t> plainChoice(const std::vector<T>& scores, int64_t most, Counts&& counts,
                                Suppresses&& suppresses) {
  std::vector<size_t> chosen;
  std::vector<bool> isGone(scores.size());
  for (const size_t box : plainByScore(scores)) {
    if (isGone[box] || !counts(scores[box]) || static_cast<int64_t>(chosen.size()) == most) continue;
    chosen.push_back(box);
    for (size_t other = 0; other < scores.size(); ++other)
      if (suppresses(box, other)) isGone[other] = true;
  }
  return chosen;
}

/// Results: of format `onnx` rows and how many, of `tensorflow` rows, scores and how many.
template <class T>
void plainClassSuppression(ReferenceCall& call, bool isByBatch) {
  const int64_t boxes = call.extent(0, 1);
  const int64_t classes = call.extent(1, 1);
  const auto most = static_cast<int64_t>(call.load(2, 0));
  const double threshold = plainElement<double>(call, 4, 0);
  const double overlap = plainElement<double>(call, 3, 0);
  int64_t row = 0;
  for (int64_t batch = 0; batch < call.extent(0, 0); ++batch) {
    const int64_t first = batch * classes * boxes;
    if (isByBatch) row = first;
    for (int64_t klass = 0; klass < classes; ++klass) {
      std::vector<T> scores;
      for (int64_t box = 0; box < boxes; ++box)
        scores.push_back(plainElement<T>(call, 1, first + klass * boxes + box));
      const auto corners = [&](size_t box) {
        return plainCorners<T>(call, 0, 4 * (batch * boxes + static_cast<int64_t>(box)));
      };
      const std::vector<size_t> chosen = plainChoice(
          scores, most, [&](T score) { return static_cast<double>(score) > threshold; },
          [&](size_t box, size_t other) {
            const auto shared = static_cast<double>(plainOverlap<T>(corners(other), corners(box)));
            return shared > 0 && shared >= overlap;
          });
      for (const size_t box : chosen) {
        int64_t column = 0;
        if (!isByBatch) plainStore(call, 0, 3 * row + column++, batch);
        plainStore(call, 0, (isByBatch ? 2 : 3) * row + column++, klass);
        plainStore(call, 0, (isByBatch ? 2 : 3) * row + column++, static_cast<int64_t>(box));
        if (isByBatch) plainStore(call, 1, row, scores[box]);
        ++row;
      }
    }
    if (isByBatch) plainStore(call, 2, batch, row - first);
  }
  if (!isByBatch) plainStore(call, 1, 0, row);
}

Result<void> classReference(ReferenceCall& call, bool isByBatch) {
  if (call.inputs[0].dtype == DType::F64 || call.inputs[1].dtype == DType::F64)
    plainClassSuppression<double>(call, isByBatch);
  else
    plainClassSuppression<float>(call, isByBatch);
  return success();
}

float plainCornersOverlap(const PlainCorners<float>& a, const PlainCorners<float>& b) {
  const float areaA = (a[2] - a[0]) * (a[3] - a[1]);
  const float areaB = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(areaA > 0) || !(areaB > 0)) return 0;
  const float shared = plainGreater(plainLesser(a[2], b[2]) - plainGreater(a[0], b[0]), 0.0F) *
                       plainGreater(plainLesser(a[3], b[3]) - plainGreater(a[1], b[1]), 0.0F);
  return shared / (areaA + areaB - shared);
}

void plainRegular(ReferenceCall& call, int64_t mostOfClass, int64_t classes, double overlap,
                  double threshold) {
  const int64_t boxes = call.extent(0, 1);
  const int64_t labels = call.extent(1, 2);
  const int64_t most = call.results[1].shape[1];
  for (int64_t batch = 0; batch < call.extent(0, 0); ++batch) {
    struct Found {
      int64_t klass;
      size_t box;
    };
    std::vector<Found> found;
    std::vector<float> foundScores;
    const auto corners = [&](size_t box) {
      return plainCorners<float>(call, 0, 4 * (batch * boxes + static_cast<int64_t>(box)));
    };
    for (int64_t klass = 0; klass < classes; ++klass) {
      std::vector<float> scores;
      for (int64_t box = 0; box < boxes; ++box)
        scores.push_back(
            plainElement<float>(call, 1, (batch * boxes + box) * labels + labels - classes + klass));
      const std::vector<size_t> chosen = plainChoice(
          scores, mostOfClass, [&](float score) { return static_cast<double>(score) >= threshold; },
          [&](size_t box, size_t other) {
            return static_cast<double>(plainCornersOverlap(corners(box), corners(other))) > overlap;
          });
      for (const size_t box : chosen) {
        found.push_back({klass, box});
        foundScores.push_back(scores[box]);
      }
    }
    const std::vector<size_t> order = plainByScore(foundScores);
    const int64_t count = std::min(static_cast<int64_t>(found.size()), most);
    for (int64_t i = 0; i < count; ++i) {
      const size_t which = order[static_cast<size_t>(i)];
      const int64_t at = batch * most + i;
      const PlainCorners<float> box = corners(found[which].box);
      for (int64_t c = 0; c < 4; ++c) plainStore(call, 0, 4 * at + c, box[static_cast<size_t>(c)]);
      plainStore(call, 1, at, found[which].klass);
      plainStore(call, 2, at, foundScores[which]);
    }
    plainStore(call, 3, batch, count);
  }
}

}  // namespace

Result<void> allClassNonMaxSuppressionReference(ReferenceCall& call) {
  return classReference(call, isTensorFlow(call.call));
}
Result<void> libraryClassSuppressionReference(ReferenceCall& call) { return classReference(call, false); }
Result<void> libraryClassSuppressionByBatchReference(ReferenceCall& call) {
  return classReference(call, true);
}

Result<void> regularNonMaxSuppressionReference(ReferenceCall& call) {
  const RegularNonMaxSuppressionAttrs attrs{*call.call.attrs};
  plainRegular(call, attrs.maxDetectionsPerClass(), attrs.numClasses(), attrs.iouThreshold(),
               attrs.scoreThreshold());
  return success();
}
Result<void> libraryRegularSuppressionReference(ReferenceCall& call) {
  plainRegular(call, std::max<int64_t>(static_cast<int64_t>(call.load(2, 0)), 0),
               static_cast<int64_t>(call.load(4, 0)), plainElement<double>(call, 5, 0),
               plainElement<double>(call, 6, 0));
  return success();
}

}  // namespace baton::ops
