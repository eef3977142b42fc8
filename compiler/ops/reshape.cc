// reshape: the same elements in another shape, with TVM's special values.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

DimExpr one() { return DimExpr::constant(1); }

ShapeSource newShape(const OpCall& call) { return {ReshapeAttrs{*call.attrs}.newshape(), 1, "new shape"}; }

/// Removes one factor equal to `dim`; false when there is none.
bool cancel(std::vector<DimExpr>& factors, const DimExpr& dim) {
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(factors[i] == dim)) continue;
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

/// Walks the new shape and the extents of the data side by side.
class ShapeWalk {
 public:
  ShapeWalk(const OpCall& call, DimsContext& context, std::vector<DimExpr> data, std::vector<DimExpr> shape)
      : call_(call), context_(context), data_(std::move(data)), shape_(std::move(shape)) {}

  Result<std::vector<DimExpr>> run() {
    for (size_t i = 0; i < shape_.size(); ++i) {
      const std::optional<int64_t> value = shape_[i].asConstant();
      if (value && *value < -4)
        return opError(call_,
                       fmt::format("element {} of the new shape is {}; expected -4 or more", i, *value));
      if (value == -4) {
        BATON_TRY(split(i));
        i += 2;
      } else if (value && (*value < 0 || (*value == 0 && !allowsZero()))) {
        BATON_TRY(special(*value));
      } else {
        BATON_TRY(plain(shape_[i]));
      }
    }
    return finish();
  }

 private:
  bool allowsZero() const { return ReshapeAttrs{*call_.attrs}.allowzero(); }

  /// The next extent of the data, for a value that needs one.
  Result<DimExpr> next(int64_t value) {
    if (at_ >= data_.size())
      return opError(call_, fmt::format("{} in the new shape stands for extent {} of the data, which has {}",
                                        value, at_, data_.size()));
    return data_[at_++];
  }

  void push(DimExpr extent) { result_.push_back(std::move(extent)); }

  Result<void> special(int64_t value) {
    if (value == 0) {
      BATON_TRY_ASSIGN(DimExpr extent, next(value));
      push(std::move(extent));
    } else if (value == -1) {
      if (inferred_) return opError(call_, "the new shape holds more than one -1");
      inferred_ = result_.size();
      push(one());
      ++at_;
    } else if (value == -2) {
      while (at_ < data_.size()) push(data_[at_++]);
    } else {
      BATON_TRY_ASSIGN(DimExpr first, next(value));
      BATON_TRY_ASSIGN(const DimExpr second, next(value));
      push(first * second);
    }
    return success();
  }

  Result<void> split(size_t i) {
    if (i + 2 >= shape_.size()) return opError(call_, "-4 in the new shape must be followed by two extents");
    BATON_TRY_ASSIGN(const DimExpr whole, next(-4));
    DimExpr left = shape_[i + 1];
    DimExpr right = shape_[i + 2];
    const bool infersLeft = left.asConstant() == -1;
    const bool infersRight = right.asConstant() == -1;
    if (infersLeft && infersRight) return opError(call_, "both extents after -4 in the new shape are -1");
    if (infersLeft) left = floorDiv(whole, max(right, one()));
    if (infersRight) right = floorDiv(whole, max(left, one()));
    BATON_TRY(
        context_.require(left * right, Relation::Eq, whole,
                         fmt::format("reshape: an extent of {{0}} cannot be split into {{1}} times {{2}}"),
                         {whole, left, right}));
    push(std::move(left));
    push(std::move(right));
    return success();
  }

  /// An extent as it stands; where an element of the second input may turn out to be 0 or
  /// -1, an expression that covers these cases.
  Result<void> plain(const DimExpr& value) {
    const bool isPositive = context_.decide(value, Relation::Gt, DimExpr()) == Truth::True;
    if (isPositive || value.isConstant() || newShape(call_).attribute != nullptr) {
      if (!isPositive && !value.isConstant())
        BATON_TRY(context_.require(
            value, Relation::Ge, DimExpr(),
            fmt::format("reshape: element {} of the new shape is negative ({{0}})", result_.size())));
      push(value);
      ++at_;
      return success();
    }
    if (context_.decide(value, Relation::Ge, DimExpr()) != Truth::True) {
      BATON_TRY(context_.require(
          value, Relation::Ge, DimExpr::constant(-1),
          fmt::format("reshape: element {} of the new shape is {{0}}; expected -1 or more", result_.size())));
      const DimExpr isInferred = max(DimExpr() - value, DimExpr());
      infersHere_.resize(result_.size());
      infersHere_.push_back(isInferred);
    }
    DimExpr extent = max(value, DimExpr());
    if (!allowsZero()) {
      const DimExpr isZero = max(one() - max(value, DimExpr() - value), DimExpr());
      if (at_ < data_.size())
        extent = extent + isZero * data_[at_];
      else
        BATON_TRY(context_.require(
            value, Relation::Ne, DimExpr(),
            fmt::format("reshape: 0 in the new shape stands for extent {} of the data, which has {}", at_,
                        data_.size())));
    }
    push(std::move(extent));
    ++at_;
    return success();
  }

  Result<std::vector<DimExpr>> finish() {
    infersHere_.resize(result_.size());
    // Equal extents cancel, so that what remains is simple and 0 divides nothing.
    std::vector<DimExpr> total = data_;
    std::vector<DimExpr> known;
    DimExpr inferredCount;
    for (size_t i = 0; i < result_.size(); ++i) {
      if (i == inferred_) continue;
      const bool isDoubtful = !infersHere_[i].isZero();
      inferredCount = inferredCount + infersHere_[i];
      if (isDoubtful || !cancel(total, result_[i])) known.push_back(result_[i] + infersHere_[i]);
    }
    const DimExpr dividend = product(total);
    const DimExpr divisor = product(known);
    const DimExpr rest = context_.decide(divisor, Relation::Ge, one()) == Truth::True
                             ? floorDiv(dividend, divisor)
                             : floorDiv(dividend, max(divisor, one()));
    if (inferred_) {
      result_[*inferred_] = rest;
      inferredCount = inferredCount + one();
    }
    if (!inferredCount.isConstant())
      BATON_TRY(context_.require(inferredCount, Relation::Le, one(),
                                 "reshape: the new shape holds more than one -1 ({0})"));
    for (size_t i = 0; i < result_.size(); ++i)
      if (!infersHere_[i].isZero()) result_[i] = result_[i] + infersHere_[i] * rest;
    std::vector<DimExpr> shown = data_;
    shown.insert(shown.end(), result_.begin(), result_.end());
    const DimExpr factor = inferred_                ? rest
                           : inferredCount.isZero() ? one()
                                                    : max(one() - inferredCount, inferredCount * rest);
    BATON_TRY(context_.require(
        dividend, Relation::Eq, divisor * factor,
        fmt::format("reshape: the shapes {} and {} have different numbers of elements",
                    shapePlaceholders(0, data_.size()), shapePlaceholders(data_.size(), result_.size())),
        std::move(shown)));
    return std::move(result_);
  }

  const OpCall& call_;
  DimsContext& context_;
  std::vector<DimExpr> data_;
  std::vector<DimExpr> shape_;
  size_t at_ = 0;
  std::vector<DimExpr> result_;
  std::optional<size_t> inferred_;
  std::vector<DimExpr>
      infersHere_;  // 1 where an element turns out to be -1, else 0; not always as long as result_
};

}  // namespace

Result<std::optional<StructureResult>> reshapeStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const ShapeSource source = newShape(call);
  BATON_TRY_ASSIGN(std::optional<int> count, shapeRank(call, context, source));
  const std::optional<DType> dtype = context.dtype(0);
  if (!count || !dtype) return std::nullopt;
  if (source.attribute == nullptr) return oneResult(*dtype, *count);
  // -2 stands for as many extents as are left; -3 takes two and leaves one; -4 is none itself.
  int rank = 0;
  int used = 0;
  for (size_t i = 0; i < source.attribute->size(); ++i) {
    const std::optional<int64_t> value = (*source.attribute)[i].asConstant();
    if (value == -2) {
      const std::optional<int> dataRank = context.rank(0);
      if (!dataRank) return std::nullopt;
      rank += std::max(*dataRank - used, 0);
      used = std::max(*dataRank, used);
    } else if (value == -4) {
      rank += 2;
      ++used;
      i += 2;
    } else {
      ++rank;
      used += value == -3 ? 2 : 1;
    }
  }
  std::optional<int64_t> length;
  if (rank == 1 && source.attribute->size() == 1) {
    const std::optional<int64_t> only = source.attribute->front().asConstant();
    if (only && *only > 0) length = only;
    if (only == -1) length = context.length(0);
    if (only == -1 && context.rank(0) == 0) length = 1;
  }
  return oneResult(*dtype, rank, length);
}

Result<std::vector<TensorDims>> reshapeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> shape, shapeElements(call, context, newShape(call)));
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents,
                   ShapeWalk(call, context, copyDims(context, 0), std::move(shape)).run());
  return std::vector<TensorDims>{{std::move(extents)}};
}

std::optional<std::vector<DimExpr>> reshapeValues(const OpCall& call, DimsContext& context,
                                                  const TensorDims& result) {
  return copyValues(call, context, result);
}

}  // namespace baton::ops
