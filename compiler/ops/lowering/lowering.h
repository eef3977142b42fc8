// What the lowering functions of the operators are given (types of the functions: op.h).
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/ops/lowering/emitter.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/lowering/kernel_lowering.h"
#include "kernels/loop/builder.h"

namespace baton::ops {

struct ScalarContext {
  loop::Builder& builder;
  const OpCall& call;
  DType resultType;
};

/// Float storage types as f32; everything else as it is.
loop::Value widen(loop::Value value);
/// Applies `f` to the widened inputs and rounds its result to the type of the result.
template <class F>
loop::Value computeWide(const ScalarContext& context, std::span<const loop::Value> inputs, F&& f) {
  std::vector<loop::Value> wide;
  for (const loop::Value input : inputs) wide.push_back(widen(input));
  return loop::cast(f(std::span<const loop::Value>(wide)), context.resultType);
}

/// The group under lowering, as the functions of one of its calls see it.
class CallLowering {
 public:
  virtual ~CallLowering() = default;
  virtual Emitter& emitter() = 0;
  virtual Result<loop::Value> element(TensorId tensor, std::span<const loop::Value> index) = 0;
  virtual DType dtype(TensorId tensor) const = 0;
  virtual std::span<const DimExpr> dims(TensorId tensor) const = 0;
  /// A reduction was begun for the element at this index; `isContiguous`: it runs along the
  /// last axis of its data.
  virtual void noteReduction(TensorId result, std::span<const loop::Value> index, bool isContiguous) = 0;
  /// The element of an input that broadcasts to `target`.
  virtual Result<loop::Value> broadcastElement(TensorId tensor, std::span<const DimExpr> target,
                                               std::span<const loop::Value> index) = 0;
};

/// One call: inputs, results and relations.
class CallContext {
 public:
  CallContext(CallLowering& lowering, const OpCall& call, std::span<const TensorId> inputs,
              std::span<const TensorId> results, DimsContext& relations)
      : lowering_(lowering), call_(call), inputs_(inputs), results_(results), relations_(relations) {}

  const OpCall& call() const { return call_; }
  size_t inputCount() const { return inputs_.size(); }
  DType inputType(size_t input) const { return lowering_.dtype(inputs_[input]); }
  std::span<const DimExpr> inputDims(size_t input) const { return lowering_.dims(inputs_[input]); }
  DType resultType(size_t result = 0) const { return lowering_.dtype(results_[result]); }
  std::span<const DimExpr> resultDims(size_t result = 0) const { return lowering_.dims(results_[result]); }
  /// For functions that say where a result begins (slice.h): dims as in type inference.
  DimsContext& relations() { return relations_; }
  Emitter& emitter() { return lowering_.emitter(); }
  loop::Builder& builder() { return lowering_.emitter().builder(); }

  Result<loop::Value> read(size_t input, std::span<const loop::Value> index) {
    return lowering_.element(inputs_[input], index);
  }
  Result<loop::Value> read(size_t input, std::initializer_list<loop::Value> index) {
    return read(input, std::span(index.begin(), index.size()));
  }
  /// The element of an input for an index of the (first) result to which it broadcasts.
  Result<loop::Value> readBroadcast(size_t input, std::span<const loop::Value> index) {
    return readBroadcast(input, resultDims(), index);
  }
  /// The same for an index of another shape.
  Result<loop::Value> readBroadcast(size_t input, std::span<const DimExpr> target,
                                    std::span<const loop::Value> index) {
    return lowering_.broadcastElement(inputs_[input], target, index);
  }

 protected:
  CallLowering& lowering_;
  const OpCall& call_;
  std::span<const TensorId> inputs_;
  std::span<const TensorId> results_;
  DimsContext& relations_;
};

class ElementContext : public CallContext {
 public:
  ElementContext(CallContext context, size_t result) : CallContext(context), result_(result) {}
  /// Which result is wanted.
  size_t result() const { return result_; }
  DType wantedType() const { return resultType(result_); }
  std::span<const DimExpr> wantedDims() const { return resultDims(result_); }

  /// Reduces `body(vars)` over extents, for the element at `index`. `isContiguous`: along the
  /// last axis of the data, which decides what is executed in lanes.
  template <class Body>
  Result<loop::Value> reduce(loop::ReduceOp op, std::span<const DimExpr> extents, bool isContiguous,
                             std::span<const loop::Value> index, Body&& body) {
    lowering_.noteReduction(results_[result_], index, isContiguous);
    std::vector<loop::Value> counts;
    for (const DimExpr& extent : extents) counts.push_back(emitter().dim(extent));
    const std::vector<loop::Value> vars = emitter().beginReduce(op, counts);
    BATON_TRY_ASSIGN(const loop::Value value, body(std::span<const loop::Value>(vars)));
    return emitter().endReduce(value);
  }

 private:
  size_t result_;
};

/// Receives each element of the (only) result once, in loops that the operator has opened. An operator
/// that is never fused may hand one on again: what comes last stays.
using Sink = std::function<Result<void>(std::span<const loop::Value> index, loop::Value element)>;

class NestContext : public CallContext {
 public:
  NestContext(CallContext context, Sink sink) : CallContext(context), sink_(std::move(sink)) {}
  Result<void> sink(std::span<const loop::Value> index, loop::Value element) { return sink_(index, element); }

 private:
  Sink sink_;
};

}  // namespace baton::ops
