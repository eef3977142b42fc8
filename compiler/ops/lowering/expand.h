// What an operator that is made of others is given to say so (ExpandFunction in op.h): its own
// inputs and the calls that it writes, in order. Within a kernel (lowering Expand) the calls
// are emitted together; in a program (Legal) each is an operator like any other.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strong_index.h"
#include "compiler/ir/op.h"

namespace baton::ops {

/// A tensor of what is being put together.
struct TensorTag;
using TensorId = StrongIndex<TensorTag>;

class ExpandContext {
 public:
  virtual ~ExpandContext() = default;

  /// The call itself, with its attributes; its inputs, an input list flattened; and the
  /// types that its relations gave its results.
  virtual const OpCall& call() const = 0;
  virtual TensorId input(size_t index) const = 0;
  virtual DType resultType(size_t result = 0) const = 0;
  virtual std::vector<DimExpr> resultDims(size_t result = 0) const = 0;

  virtual DType dtype(TensorId tensor) const = 0;
  virtual std::vector<DimExpr> dims(TensorId tensor) const = 0;
  size_t rank(TensorId tensor) const { return dims(tensor).size(); }

  /// A constant of rank 0.
  virtual TensorId scalar(DType dtype, double value) = 0;
  /// The results of a call; attributes that are not given have their defaults. An error when
  /// the inputs do not fit.
  virtual Result<std::vector<TensorId>> makeAll(std::string_view op, const ir::Attrs& attrs,
                                                const std::vector<TensorId>& inputs) = 0;
  /// The single result of a call.
  Result<TensorId> make(std::string_view op, const ir::Attrs& attrs, const std::vector<TensorId>& inputs) {
    BATON_TRY_ASSIGN(const std::vector<TensorId> results, makeAll(op, attrs, inputs));
    BATON_CHECK(results.size() == 1);
    return results[0];
  }
  /// The tensor itself where it has the type.
  Result<TensorId> cast(TensorId tensor, DType wanted) {
    if (dtype(tensor) == wanted) return tensor;
    ir::Attrs attrs;
    attrs.set("dtype", wanted);
    return make("cast", attrs, {tensor});
  }
  Result<TensorId> reshape(TensorId tensor, std::vector<DimExpr> extents) {
    ir::Attrs attrs;
    attrs.set("newshape", std::move(extents));
    attrs.set("allowzero", true);
    return make("reshape", attrs, {tensor});
  }
  /// Rows, or elements of a vector, at indices along the first axis.
  Result<TensorId> takeRows(TensorId data, TensorId indices) {
    ir::Attrs attrs;
    attrs.set("axis", int64_t{0});
    return make("take", attrs, {data, indices});
  }
  /// An extent as a tensor of rank 0.
  Result<TensorId> extentOf(TensorId tensor, size_t axis, DType type = DType::I64) {
    ir::Attrs typed;
    typed.set("dtype", type);
    BATON_TRY_ASSIGN(const TensorId shape, make("shape_of", typed, {tensor}));
    return takeRows(shape, scalar(DType::I64, static_cast<double>(axis)));
  }
  /// What a round of a loop makes of the number of the round, an int64, and the states before it: the next
  /// ones, of the same types. Of operators that are not written with others.
  using Round = std::function<Result<std::vector<TensorId>>(TensorId, const std::vector<TensorId>&)>;
  /// A loop in a program, with a round for each row of `rows`. Gives the last states, and the first one after
  /// every round, in one tensor with an axis in front. Not within a kernel.
  virtual Result<std::vector<TensorId>> repeat(TensorId rows, const std::vector<TensorId>& states,
                                               const Round& round);
  /// Says which tensors the results are.
  virtual void become(std::vector<TensorId> results) = 0;
};

inline Result<std::vector<TensorId>> ExpandContext::repeat(TensorId, const std::vector<TensorId>&,
                                                           const Round&) {
  return Error(ErrorCode::Internal, "a loop of a program in a kernel");
}

}  // namespace baton::ops
