// reshape: the same elements in another shape, with TVM's special values; and
// contrib_reverse_reshape, which walks over both shapes from their ends.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

ShapeSource newShape(const OpCall& call) { return {ReshapeAttrs{*call.attrs}.newshape(), 1, "new shape"}; }

bool isReversed(const OpCall& call) { return call.op->name == "contrib_reverse_reshape"; }

/// Extents, or elements of the new shape, in the order in which they are walked over.
std::vector<DimExpr> inOrder(const OpCall& call, std::vector<DimExpr> dims) {
  if (isReversed(call)) std::reverse(dims.begin(), dims.end());
  return dims;
}

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
      : call_(call),
        context_(context),
        data_(inOrder(call, std::move(data))),
        shape_(inOrder(call, std::move(shape))) {}

  Result<std::vector<DimExpr>> run() {
    for (size_t i = 0; i < shape_.size(); ++i) {
      const std::optional<int64_t> value = shape_[i].asConstant();
      const int64_t least = newShape(call_).attribute == nullptr ? -1 : isReversed(call_) ? -3 : -4;
      if (value && *value < least)
        return opError(call_, fmt::format("element {} of the new shape is {}; expected {} or more",
                                          placeOf(i), *value, least));
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
  /// The position in the new shape, as it was written.
  size_t placeOf(size_t i) const { return isReversed(call_) ? shape_.size() - 1 - i : i; }

  bool allowsZero() const { return ReshapeAttrs{*call_.attrs}.allowzero(); }

  /// The next extent of the data, for a value that needs one.
  Result<DimExpr> next(int64_t value) {
    if (at_ >= data_.size())
      return opError(
          call_, fmt::format("{} in the new shape stands for extent {}{} of the data, which has {}", value,
                             at_, isReversed(call_) ? " from the end" : "", data_.size()));
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

  /// An extent as it stands. Elements of an input that come out as 0 or -1 mean what these
  /// mean in an attribute.
  Result<void> plain(const DimExpr& value) {
    const std::string place =
        fmt::format("{}: element {} of the new shape", call_.op->name, placeOf(result_.size()));
    if (value.isConstant() || context_.decide(value, Relation::Gt, DimExpr()) == Truth::True) {
      push(value);
    } else if (newShape(call_).attribute != nullptr) {
      BATON_TRY(context_.require(value, Relation::Ge, DimExpr(), place + " is negative ({0})"));
      push(value);
    } else if (context_.decide(value, Relation::Ge, DimExpr()) == Truth::True) {
      // An extent of some tensor. Where it may be 0 and that would mean another extent, the
      // result is not worth its complexity: the run is stopped.
      if (!allowsZero() && !vanishesWith(value))
        BATON_TRY(context_.require(value, Relation::Ge, one(),
                                   place + " is {0}, which stands for an extent of the data"));
      else if (!allowsZero() && !(data_[at_] == value))
        counted_.emplace(result_.size(), countCopy(value, value));
      push(value);
    } else {
      BATON_TRY(anything(value, place));
    }
    ++at_;
    return success();
  }

  /// Whether the extent of the data at this position is 0 whenever `value` is.
  bool vanishesWith(const DimExpr& value) const {
    if (at_ >= data_.size()) return false;
    if (data_[at_] == value) return true;
    const std::optional<DimSymbol> symbol = value.asSymbol();
    if (!symbol) return false;
    return data_[at_]
        .substitute([&](DimSymbol s) { return s == *symbol ? std::optional(DimExpr()) : std::nullopt; })
        .isZero();
  }

  /// An element of which nothing is known: an expression that covers extents, 0 and -1. The cases are joined
  /// by `max`, which makes one factor of a product: sums would be multiplied out, past what a dim can be.
  Result<void> anything(const DimExpr& value, const std::string& place) {
    BATON_TRY(
        context_.require(value, Relation::Ge, DimExpr::constant(-1), place + " is {0}; expected -1 or more"));
    const DimExpr size = max(value, DimExpr() - value);
    DimExpr extent = max(value, DimExpr());
    DimExpr counted = size;
    if (!allowsZero() && at_ < data_.size()) {
      extent = max(value, max(one() - size, DimExpr()) * data_[at_]);
      counted = countCopy(value, size);
    } else if (!allowsZero()) {
      BATON_TRY(
          context_.require(value, Relation::Ne, DimExpr(),
                           fmt::format("{} is {{0}}, which stands for extent {} of the data, which has {}",
                                       place, at_, data_.size())));
    }
    counted_.emplace(result_.size(), std::move(counted));
    isInferred_.emplace(result_.size(), max(DimExpr() - value, DimExpr()));
    push(std::move(extent));
    return success();
  }

  /// What an element counts of what -1 stands for, where it may turn out to be 0: the extent of the data that
  /// is copied then counts on neither side. `size` is 0 for 0, and 1 for -1.
  DimExpr countCopy(const DimExpr& value, const DimExpr& size) {
    total_[at_] = max(min(size, one()) * data_[at_], max(one() - size, DimExpr()));
    return max(value, one());
  }

  /// Whether an extent of both shapes may be left out of what -1 stands for. A zero that is no copy may not.
  bool mayCancel(const DimExpr& extent) const {
    return !allowsZero() || context_.decide(extent, Relation::Ge, one()) == Truth::True;
  }

  /// What `factors` leave of `total` for -1. They divide one after another, which is the same, where their
  /// product need not be a number of 64 bits: numbers of a program, unlike extents, may be anything.
  DimExpr dividedBy(DimExpr total, const std::vector<DimExpr>& factors) const {
    const auto divide = [&](const DimExpr& divisor) {
      const bool isPositive = context_.decide(divisor, Relation::Ge, one()) == Truth::True;
      return floorDiv(total, isPositive ? divisor : max(divisor, one()));
    };
    const DimExpr whole = product(factors);
    if (counted_.empty() && !whole.isTooLarge()) return divide(whole);
    for (const DimExpr& factor : factors) total = divide(factor);
    return total;
  }

  Result<std::vector<DimExpr>> finish() {
    // Equal extents cancel where -1 is inferred, so that what remains is simple.
    std::vector<DimExpr> known;
    DimExpr inferredCount = DimExpr::constant(inferred_ ? 1 : 0);
    for (size_t i = 0; i < result_.size(); ++i) {
      if (i == inferred_) continue;
      if (const auto counted = counted_.find(i); counted != counted_.end())
        known.push_back(counted->second);
      else if (!mayCancel(result_[i]) || !cancel(total_, result_[i]))
        known.push_back(result_[i]);
    }
    for (const auto& [i, isInferred] : isInferred_) inferredCount = inferredCount + isInferred;
    if (!inferredCount.isConstant())
      BATON_TRY(context_.require(inferredCount, Relation::Le, one(),
                                 fmt::format("{}: the new shape holds {{0}} times -1", call_.op->name)));
    if (!inferredCount.isZero()) {
      const DimExpr rest = dividedBy(product(total_), known);
      if (inferred_) result_[*inferred_] = rest;
      for (const auto& [i, isInferred] : isInferred_) result_[i] = max(result_[i], isInferred * rest);
    }
    data_ = inOrder(call_, std::move(data_));
    result_ = inOrder(call_, std::move(result_));
    std::vector<DimExpr> shown = data_;
    shown.insert(shown.end(), result_.begin(), result_.end());
    BATON_TRY(context_.require(
        product(data_), Relation::Eq, product(result_),
        fmt::format("{}: the shapes {} and {} have different numbers of elements", call_.op->name,
                    shapePlaceholders(0, data_.size()), shapePlaceholders(data_.size(), result_.size())),
        std::move(shown)));
    return std::move(result_);
  }

  const OpCall& call_;
  DimsContext& context_;
  std::vector<DimExpr> data_;
  std::vector<DimExpr> total_ = data_;  // the extents that -1 shares among the others
  std::vector<DimExpr> shape_;
  size_t at_ = 0;
  std::vector<DimExpr> result_;
  std::optional<size_t> inferred_;
  // Of elements that only the run tells, by position in the result:
  std::map<size_t, DimExpr> counted_;     // the factor of what -1 stands for
  std::map<size_t, DimExpr> isInferred_;  // 1 for -1, else 0
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
  const std::vector<DimExpr> shape = inOrder(call, *source.attribute);
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::optional<int64_t> value = shape[i].asConstant();
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
  return oneResult(*dtype, rank);
}

Result<std::vector<TensorDims>> reshapeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> shape, shapeElements(call, context, newShape(call)));
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents,
                   ShapeWalk(call, context, copyDims(context, 0), std::move(shape)).run());
  return std::vector<TensorDims>{{std::move(extents)}};
}

std::optional<ir::Attrs> explicitReshape(const OpCall& call, const TensorDims& result) {
  if (call.op->name != "reshape") return std::nullopt;
  const std::vector<DimExpr>* shape = newShape(call).attribute;
  if (shape == nullptr || asConstants(*shape)) return std::nullopt;
  ir::Attrs attrs = *call.attrs;
  attrs.set("newshape", result.extents);
  attrs.set("allowzero", true);
  return attrs;
}

std::optional<std::vector<DimExpr>> reshapeValues(const OpCall& call, DimsContext& context,
                                                  const TensorDims& result) {
  return copyValues(call, context, result);
}

namespace {

using loop::Value;

/// Consecutive axes of data and result that hold the same elements.
struct AxisRun {
  size_t dataBegin, dataEnd;
  size_t resultBegin, resultEnd;
};

/// The finest division into runs that is sure to be right.
std::vector<AxisRun> matchAxes(const DimsContext& context, std::span<const DimExpr> data,
                               std::span<const DimExpr> result) {
  std::vector<AxisRun> runs;
  size_t d = 0;
  size_t r = 0;
  while (d < data.size() || r < result.size()) {
    AxisRun run{d, d, r, r};
    DimExpr left = one();
    DimExpr right = one();
    // Grow whichever side is smaller until both are equal; the last run takes the rest.
    while (true) {
      const bool isEmpty = run.dataEnd == d && run.resultEnd == r;
      if (!isEmpty && context.decide(left, Relation::Eq, right) == Truth::True) break;
      const bool canGrowData = run.dataEnd < data.size();
      const bool canGrowResult = run.resultEnd < result.size();
      if (!canGrowData && !canGrowResult) break;
      const bool dataIsSmaller = context.decide(left, Relation::Lt, right) == Truth::True;
      if (canGrowData && (!canGrowResult || dataIsSmaller || run.dataEnd - d <= run.resultEnd - r))
        left = left * data[run.dataEnd++];
      else
        right = right * result[run.resultEnd++];
    }
    d = run.dataEnd;
    r = run.resultEnd;
    runs.push_back(run);
  }
  return runs;
}

}  // namespace

Result<Value> reshapeElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  const auto data = context.inputDims(0);
  const auto result = context.wantedDims();
  std::vector<Value> at(data.size(), emitter.number(0));
  for (const AxisRun& run : matchAxes(context.relations(), data, result)) {
    Value linear = emitter.number(0);
    for (size_t axis = run.resultBegin; axis < run.resultEnd; ++axis)
      linear = emitter.add(emitter.mul(linear, emitter.dim(result[axis])), index[axis]);
    for (size_t axis = run.dataEnd; axis-- > run.dataBegin;) {
      if (axis == run.dataBegin) {
        at[axis] = linear;
        break;
      }
      const Value extent = emitter.dim(data[axis]);
      at[axis] = emitter.floorMod(linear, extent);
      linear = emitter.floorDiv(linear, extent);
    }
  }
  return context.read(0, at);
}

/// Of whatever keeps the order of the elements.
Result<void> reshapeReference(ReferenceCall& call) {
  const int64_t count = elementCount(call.results[0].shape);
  for (int64_t i = 0; i < count; ++i) call.store(0, i, call.load(0, i));
  return success();
}

}  // namespace baton::ops
