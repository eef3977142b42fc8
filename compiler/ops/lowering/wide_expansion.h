// An operator that is made of others and computes in the type of accumulation: each input is cast to
// that once, and the result back once.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

class WideExpansion {
 public:
  explicit WideExpansion(ExpandContext& context)
      : context_(context), type_(accumulationType(context.dtype(context.input(0)))) {}

  DType type() const { return type_; }
  TensorId number(double value) { return context_.scalar(type_, value); }

  Result<TensorId> wide(TensorId tensor) { return context_.cast(tensor, type_); }
  Result<TensorId> input(size_t index) { return wide(context_.input(index)); }
  /// In the type of a result.
  Result<TensorId> narrow(TensorId tensor) { return context_.cast(tensor, context_.resultType()); }

  Result<TensorId> apply(std::string_view op, const std::vector<TensorId>& inputs) {
    return context_.make(op, {}, inputs);
  }
  /// "sum", "max" and "mean" over some axes, which stay with extent 1.
  Result<TensorId> reduce(std::string_view op, TensorId tensor, std::vector<int64_t> axes) {
    ir::Attrs attrs;
    attrs.set("axis", std::move(axes));
    attrs.set("keepdims", true);
    return context_.make(op, attrs, {tensor});
  }

 private:
  ExpandContext& context_;
  DType type_;
};

}  // namespace baton::ops
