// vision.get_valid_counts and vision.non_max_suppression: rows of which some stay.
#include <optional>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/relations.h"
#include "compiler/ops/vision/boxes.h"
#include "compiler/ops/vision/plain_boxes.h"

namespace baton::ops {

Result<TensorId> asKernelType(ExpandContext& context, TensorId tensor) {
  const DType type = context.dtype(tensor);
  return context.cast(tensor, type == DType::F16 || type == DType::BF16 ? DType::F32 : type);
}

Result<TensorId> scalarOr(ExpandContext& context, size_t input, DType type, double otherwise) {
  if (context.call().inputCount > input) return context.cast(context.input(input), type);
  return context.scalar(type, otherwise);
}

namespace {

/// Where things are in a row.
struct RowForm {
  int64_t score = 0;
  int64_t id = -1;
  int64_t coord = 0;
};

Result<void> checkRowForm(const OpCall& call, bool hasBox) {
  if (const int64_t score = call.attrs->intOf("score_index"); score < 0)
    return opError(call, fmt::format("score_index is {}; expected 0 or more", score));
  if (!hasBox) return success();
  const int64_t coord = call.attrs->intOf("coord_start");
  if (coord < 0 || coord > INT32_MAX)
    return opError(call, fmt::format("coord_start is {}; expected 0 to {}", coord, INT32_MAX));
  return success();
}

Result<void> requireInRow(const OpCall& call, DimsContext& context, const DimExpr& place,
                          std::string_view what) {
  const DimExpr width = context.dims(0)[2];
  context.blame(0);
  return context.require(place, Relation::Lt, width,
                         fmt::format("{}: {} is {{0}}, but a row has {{1}} elements", call.op->name, what));
}

DimExpr scalarValue(DimsContext& context, size_t input) { return (*context.valuesOrSymbols(input))[0]; }

std::vector<TensorDims> validCountsDims(const DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  return {{{data[0]}}, {data}, {{data[0], data[1]}}};
}

Result<std::optional<StructureResult>> validCountsStructure(StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return StructureResult{{{DType::I32, 1}, {*dtype, 3}, {DType::I32, 2}}, true};
}

/// Batches and rows of the other operands are those of the data.
Result<void> requireRows(const OpCall& call, DimsContext& context, bool hasIndices) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const auto require = [&](size_t input, size_t axis) -> Result<void> {
    context.blame(input);
    BATON_TRY(
        requireEqual(context, data[axis], context.dims(input)[axis],
                     fmt::format("{}: dimension {} of the data ({{0}}) does not match that of the {} ({{1}})",
                                 call.op->name, axis, call.op->inputs[input].name)));
    return success();
  };
  BATON_TRY(require(1, 0));
  if (!hasIndices) return success();
  BATON_TRY(require(2, 0));
  return require(2, 1);
}

}  // namespace

Result<std::optional<StructureResult>> getValidCountsStructure(const OpCall& call,
                                                               StructureContext& context) {
  BATON_TRY(checkRowForm(call, false));
  if (call.inputCount > 1) BATON_TRY(context.requireRank(1, 0));
  return validCountsStructure(context);
}
Result<std::vector<TensorDims>> getValidCountsDims(const OpCall& call, DimsContext& context) {
  const GetValidCountsAttrs attrs{*call.attrs};
  BATON_TRY(requireInRow(call, context, DimExpr::constant(attrs.scoreIndex()), "score_index"));
  BATON_TRY(requireInRow(call, context, DimExpr::constant(attrs.idIndex()), "id_index"));
  return validCountsDims(context);
}
Result<std::optional<StructureResult>> libraryValidCountsStructure(const OpCall&, StructureContext& context) {
  for (size_t scalar = 1; scalar < 4; ++scalar) BATON_TRY(context.requireRank(scalar, 0));
  BATON_TRY(context.requireDType(1, DType::F64));
  BATON_TRY(context.requireDType(2, DType::I64));
  BATON_TRY(context.requireDType(3, DType::I64));
  return validCountsStructure(context);
}
Result<std::vector<TensorDims>> libraryValidCountsDims(const OpCall& call, DimsContext& context) {
  const DimExpr score = scalarValue(context, 3);
  BATON_TRY(context.require(score, Relation::Ge, DimExpr(),
                            "library.valid_counts: the score index is negative ({0})"));
  BATON_TRY(requireInRow(call, context, score, "the score index"));
  BATON_TRY(requireInRow(call, context, scalarValue(context, 2), "the id index"));
  return validCountsDims(context);
}

Result<void> getValidCountsLegal(ExpandContext& context) {
  const GetValidCountsAttrs attrs{*context.call().attrs};
  const auto index = [&](int64_t value) {
    return context.scalar(DType::I64, static_cast<double>(std::max<int64_t>(value, -1)));
  };
  BATON_TRY_ASSIGN(const TensorId data, asKernelType(context, context.input(0)));
  BATON_TRY_ASSIGN(const TensorId threshold,
                   scalarOr(context, 1, DType::F64, attrs.scoreThreshold().value_or(0)));
  BATON_TRY_ASSIGN(std::vector<TensorId> made,
                   context.makeAll("library.valid_counts", {},
                                   {data, threshold, index(attrs.idIndex()), index(attrs.scoreIndex())}));
  BATON_TRY_ASSIGN(made[1], context.cast(made[1], context.resultType(1)));
  context.become(std::move(made));
  return success();
}

Result<std::optional<StructureResult>> nonMaxSuppressionStructure(const OpCall& call,
                                                                  StructureContext& context) {
  BATON_TRY(checkRowForm(call, true));
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 1));
  BATON_TRY(context.requireDType(1, DType::I32));
  for (size_t scalar = 3; scalar < call.inputCount; ++scalar) BATON_TRY(context.requireRank(scalar, 0));
  if (NonMaxSuppressionAttrs{*call.attrs}.returnIndices()) {
    BATON_TRY(context.requireRank(2, 2));
    BATON_TRY(context.requireDType(2, DType::I32));
    return StructureResult{{{DType::I32, 2}, {DType::I32, 2}}, true};
  }
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 3);
}
Result<std::vector<TensorDims>> nonMaxSuppressionDims(const OpCall& call, DimsContext& context) {
  const NonMaxSuppressionAttrs attrs{*call.attrs};
  BATON_TRY(requireRows(call, context, attrs.returnIndices()));
  BATON_TRY(requireInRow(call, context, DimExpr::constant(attrs.scoreIndex()), "score_index"));
  BATON_TRY(requireInRow(call, context, DimExpr::constant(attrs.idIndex()), "id_index"));
  BATON_TRY(requireInRow(call, context, DimExpr::constant(attrs.coordStart() + 3), "the end of the box"));
  const std::vector<DimExpr> data = copyDims(context, 0);
  if (!attrs.returnIndices()) return std::vector<TensorDims>{{data}};
  return std::vector<TensorDims>{{{data[0], data[1]}}, {{data[0], one()}}};
}

Result<std::optional<StructureResult>> libraryNonMaxSuppressionStructure(const OpCall&,
                                                                         StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 1));
  BATON_TRY(context.requireRank(2, 2));
  for (size_t scalar = 3; scalar < 11; ++scalar) BATON_TRY(context.requireRank(scalar, 0));
  BATON_TRY(context.requireDType(1, DType::I32));
  BATON_TRY(context.requireDType(2, DType::I32));
  BATON_TRY(context.requireDType(4, DType::F64));
  for (const size_t index : {3, 6, 7, 8, 9}) BATON_TRY(context.requireDType(index, DType::I64));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return StructureResult{{{*dtype, 3}, {DType::I32, 2}, {DType::I32, 2}}, true};
}
Result<std::vector<TensorDims>> libraryNonMaxSuppressionDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireRows(call, context, true));
  const DimExpr coord = scalarValue(context, 7);
  const DimExpr score = scalarValue(context, 8);
  for (const DimExpr& index : {coord, score})
    BATON_TRY(context.require(index, Relation::Ge, DimExpr(),
                              "library.non_max_suppression: an index is negative ({0})"));
  BATON_TRY(requireInRow(call, context, score, "the score index"));
  BATON_TRY(requireInRow(call, context, scalarValue(context, 9), "the id index"));
  BATON_TRY(requireInRow(call, context, coord + DimExpr::constant(3), "the end of the box"));
  const std::vector<DimExpr> data = copyDims(context, 0);
  return std::vector<TensorDims>{{data}, {{data[0], data[1]}}, {{data[0], one()}}};
}

Result<void> nonMaxSuppressionLegal(ExpandContext& context) {
  const NonMaxSuppressionAttrs attrs{*context.call().attrs};
  const auto number = [&](int64_t value) {
    return context.scalar(DType::I64, static_cast<double>(std::max<int64_t>(value, -1)));
  };
  const auto flag = [&](bool value) { return context.scalar(DType::Bool, value ? 1 : 0); };
  BATON_TRY_ASSIGN(const TensorId data, asKernelType(context, context.input(0)));
  BATON_TRY_ASSIGN(
      const TensorId most,
      scalarOr(context, 3, DType::I64, static_cast<double>(std::max<int64_t>(attrs.maxOutputSize(), -1))));
  BATON_TRY_ASSIGN(const TensorId overlap, scalarOr(context, 4, DType::F64, attrs.iouThreshold()));
  TensorId indices = context.input(2);
  if (!attrs.returnIndices()) {
    // Whatever is there: programs for TVM give the counts once more.
    const std::vector<DimExpr> extents = context.dims(data);
    ir::Attrs none;
    none.set("shape", std::vector<DimExpr>{extents[0], extents[1]});
    none.set("dtype", DType::I32);
    BATON_TRY_ASSIGN(indices, context.make("zeros", none, {}));
  }
  BATON_TRY_ASSIGN(
      const std::vector<TensorId> made,
      context.makeAll("library.non_max_suppression", {},
                      {data, context.input(1), indices, most, overlap, flag(attrs.forceSuppress()),
                       number(attrs.topK()), number(attrs.coordStart()), number(attrs.scoreIndex()),
                       number(attrs.idIndex()), flag(attrs.invalidToBottom())}));
  if (attrs.returnIndices()) {
    context.become({made[1], made[2]});
    return success();
  }
  BATON_TRY_ASSIGN(const TensorId rows, context.cast(made[0], context.resultType()));
  context.become({rows});
  return success();
}

namespace {

/// Results: counts, rows, indices.
template <class T>
void plainValidCounts(ReferenceCall& call, double threshold, const RowForm& form) {
  const int64_t rows = call.extent(0, 1);
  const int64_t width = call.extent(0, 2);
  for (int64_t batch = 0; batch < call.extent(0, 0); ++batch) {
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t first = (batch * rows + i) * width;
      const bool isCounted = form.id < 0 || plainElement<T>(call, 0, first + form.id) >= 0;
      if (isCounted && static_cast<double>(plainElement<T>(call, 0, first + form.score)) > threshold)
        kept.push_back(i);
    }
    plainStore(call, 0, batch, static_cast<int64_t>(kept.size()));
    kept.resize(static_cast<size_t>(rows), -1);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t from = kept[static_cast<size_t>(i)];
      for (int64_t c = 0; c < width; ++c)
        plainStore(call, 1, (batch * rows + i) * width + c,
                   from < 0 ? T{-1} : plainElement<T>(call, 0, (batch * rows + from) * width + c));
      plainStore(call, 2, batch * rows + i, from);
    }
  }
}

void validCountsReference(ReferenceCall& call, double threshold, const RowForm& form) {
  if (call.inputs[0].dtype == DType::F64)
    plainValidCounts<double>(call, threshold, form);
  else
    plainValidCounts<float>(call, threshold, form);
}

struct PlainSuppression {
  RowForm form;
  int64_t most = -1;
  int64_t topK = -1;
  double threshold = 0;
  bool isForced = false;
  bool movesDown = false;
  /// Numbers of the results for rows, indices and counts.
  std::optional<size_t> rows, indices, counts;
};

template <class T>
void plainSuppression(ReferenceCall& call, const PlainSuppression& s) {
  using Row = std::vector<T>;
  const int64_t count = call.extent(0, 1);
  const int64_t width = call.extent(0, 2);
  const auto at = [](int64_t index) { return static_cast<size_t>(index); };
  for (int64_t batch = 0; batch < call.extent(0, 0); ++batch) {
    const int64_t valid = std::clamp<int64_t>(static_cast<int64_t>(call.load(1, batch)), 0, count);
    const Row gone(at(width), T{-1});
    std::vector<Row> given;
    std::vector<T> scores;
    for (int64_t i = 0; i < valid; ++i) {
      Row row;
      for (int64_t c = 0; c < width; ++c)
        row.push_back(plainElement<T>(call, 0, (batch * count + i) * width + c));
      scores.push_back(row[at(s.form.score)]);
      given.push_back(std::move(row));
    }
    const bool sorts = s.threshold > 0;
    std::vector<size_t> order = plainByScore(scores);
    if (!sorts) std::ranges::sort(order);
    if (sorts && s.topK > 0 && s.topK < valid) order.resize(at(s.topK));
    std::vector<Row> out(at(count), gone);
    std::vector<int64_t> boxes(at(count), -1);
    std::vector<size_t> better;  // of those that stay
    for (size_t i = 0; i < order.size(); ++i) {
      const Row& row = given[order[i]];
      const auto corners = [&](const Row& of) {
        PlainCorners<T> c;
        for (int64_t k = 0; k < 4; ++k) c[at(k)] = of[at(s.form.coord + k)];
        return c;
      };
      const bool takesPart = sorts && row[at(s.form.score)] > 0;
      bool stays = !sorts || static_cast<int64_t>(better.size()) != s.most;
      for (const size_t other : better) {
        const Row& b = out[other];
        const bool counts = s.form.id < 0 ||
                            (b[at(s.form.id)] >= 0 && (s.isForced || b[at(s.form.id)] == row[at(s.form.id)]));
        if (takesPart && counts &&
            static_cast<double>(plainOverlap<T>(corners(row), corners(b))) >= s.threshold)
          stays = false;
      }
      if (!stays) continue;
      out[i] = row;
      boxes[i] = static_cast<int64_t>(order[i]);
      if (takesPart) better.push_back(i);
    }
    if (s.movesDown) {
      std::erase_if(out, [](const Row& row) { return !(row[0] >= 0); });
      out.resize(at(count), gone);
    }
    std::vector<int64_t> indices;
    for (const int64_t box : boxes)
      if (const int64_t index =
              box < 0 || !s.indices ? -1 : static_cast<int64_t>(call.load(2, batch * count + box));
          index >= 0)
        indices.push_back(index);
    if (s.counts) plainStore(call, *s.counts, batch, static_cast<int64_t>(indices.size()));
    indices.resize(at(count), -1);
    for (int64_t i = 0; i < count; ++i) {
      if (s.indices) plainStore(call, *s.indices, batch * count + i, indices[at(i)]);
      for (int64_t c = 0; s.rows && c < width; ++c)
        plainStore(call, *s.rows, (batch * count + i) * width + c, out[at(i)][at(c)]);
    }
  }
}

void suppressionReference(ReferenceCall& call, const PlainSuppression& s) {
  if (call.inputs[0].dtype == DType::F64)
    plainSuppression<double>(call, s);
  else
    plainSuppression<float>(call, s);
}

double doubleInput(const ReferenceCall& call, size_t input) { return plainElement<double>(call, input, 0); }
int64_t intInput(const ReferenceCall& call, size_t input) {
  return static_cast<int64_t>(call.load(input, 0));
}

}  // namespace

Result<void> getValidCountsReference(ReferenceCall& call) {
  const GetValidCountsAttrs attrs{*call.call.attrs};
  validCountsReference(call,
                       call.inputs.size() > 1 ? doubleInput(call, 1) : attrs.scoreThreshold().value_or(0),
                       {attrs.scoreIndex(), attrs.idIndex()});
  return success();
}
Result<void> libraryValidCountsReference(ReferenceCall& call) {
  validCountsReference(call, doubleInput(call, 1), {intInput(call, 3), intInput(call, 2)});
  return success();
}

Result<void> nonMaxSuppressionReference(ReferenceCall& call) {
  const NonMaxSuppressionAttrs attrs{*call.call.attrs};
  PlainSuppression s{{attrs.scoreIndex(), attrs.idIndex(), attrs.coordStart()},
                     call.inputs.size() > 3 ? intInput(call, 3) : attrs.maxOutputSize(),
                     attrs.topK(),
                     call.inputs.size() > 4 ? doubleInput(call, 4) : attrs.iouThreshold(),
                     attrs.forceSuppress(),
                     attrs.invalidToBottom()};
  if (attrs.returnIndices()) {
    s.indices = 0;
    s.counts = 1;
  } else {
    s.rows = 0;
  }
  suppressionReference(call, s);
  return success();
}
Result<void> libraryNonMaxSuppressionReference(ReferenceCall& call) {
  suppressionReference(call, {{intInput(call, 8), intInput(call, 9), intInput(call, 7)},
                              intInput(call, 3),
                              intInput(call, 6),
                              doubleInput(call, 4),
                              call.load(5, 0) != 0,
                              call.load(10, 0) != 0,
                              0,
                              1,
                              2});
  return success();
}

}  // namespace baton::ops
