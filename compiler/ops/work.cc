#include "compiler/ops/work.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/lowering/expand.h"

namespace baton::ops {

namespace {

/// A sum of products that stays at the largest number.
class WorkSum {
 public:
  void add(uint64_t amount) {
    if (__builtin_add_overflow(sum_, amount, &sum_)) sum_ = UINT64_MAX;
  }
  void add(std::span<const DimExpr> shape, uint64_t times) {
    uint64_t elements = times;
    for (const DimExpr& dim : shape) {
      const uint64_t extent = extentOf(dim);
      if (extent == 0) return;
      if (__builtin_mul_overflow(elements, extent, &elements)) elements = UINT64_MAX;
    }
    add(elements);
  }
  uint64_t sum() const { return sum_; }

  static uint64_t extentOf(const DimExpr& dim) {
    const std::optional<int64_t> extent = dim.asConstant();
    return extent && *extent >= 0 ? static_cast<uint64_t>(*extent) : UINT64_MAX;
  }

 private:
  uint64_t sum_ = 0;
};

/// Writes the calls that an operator is made of, and counts what each does.
class CountedExpansion final : public ExpandContext {
 public:
  CountedExpansion(const OpCall& call, std::span<const KnownInput> inputs,
                   std::span<const KnownInput> results)
      : call_(call), results_(results), tensors_(inputs.begin(), inputs.end()) {}

  const OpCall& call() const override { return call_; }
  TensorId input(size_t index) const override { return TensorId(static_cast<uint32_t>(index)); }
  DType resultType(size_t result) const override { return results_[result].dtype; }
  std::vector<DimExpr> resultDims(size_t result) const override { return results_[result].dims; }
  DType dtype(TensorId tensor) const override { return tensors_[tensor.value()].dtype; }
  std::vector<DimExpr> dims(TensorId tensor) const override { return tensors_[tensor.value()].dims; }
  TensorId scalar(DType dtype, double value) override {
    KnownInput scalar{dtype, {}, std::nullopt, std::nullopt};
    if (!isFloat(dtype)) scalar.values = {DimExpr::constant(static_cast<int64_t>(value))};
    return add(std::move(scalar));
  }
  void become(std::vector<TensorId>) override {}
  Result<std::vector<TensorId>> makeAll(std::string_view name, const ir::Attrs& attrs,
                                        const std::vector<TensorId>& inputs) override {
    const OpDef* op = OpRegistry::instance().find(name);
    BATON_CHECK(op != nullptr);
    const ir::Attrs complete = completeAttrs(*op, attrs);
    std::vector<KnownInput> known;
    for (const TensorId input : inputs) known.push_back(tensors_[input.value()]);
    const OpCall call{op, &complete, inputs.size()};
    const DimKnowledge nothing;
    KnownDims relations(known, nothing, 0);
    BATON_TRY_ASSIGN(const CallResults made, inferCall(call, known, relations));
    work_.add(workOf(call, known, made.tensors));
    std::vector<TensorId> ids;
    for (const KnownInput& result : made.tensors) ids.push_back(add(result));
    return ids;
  }

  /// All rounds do as much as one.
  Result<std::vector<TensorId>> repeat(TensorId rows, const std::vector<TensorId>& states,
                                       const Round& round) override {
    const DimExpr count = tensors_[rows.value()].dims[0];
    const WorkSum before = std::exchange(work_, WorkSum());
    const TensorId number = add({DType::I64, {}, std::nullopt, std::nullopt});
    BATON_TRY(round(number, states));
    const uint64_t once = work_.sum();
    work_ = before;
    work_.add(std::span(&count, 1), once);
    std::vector<TensorId> results = states;
    KnownInput all = tensors_[states.at(0).value()];
    all.dims.insert(all.dims.begin(), count);
    results.push_back(add(std::move(all)));
    return results;
  }

  uint64_t work() const { return work_.sum(); }
  /// No extent is one that only a run tells.
  bool isKnown() const {
    return std::all_of(tensors_.begin(), tensors_.end(), [](const KnownInput& tensor) {
      return std::all_of(tensor.dims.begin(), tensor.dims.end(),
                         [](const DimExpr& dim) { return dim.isConstant() || dim.isTooLarge(); });
    });
  }

 private:
  TensorId add(KnownInput tensor) {
    tensors_.push_back(std::move(tensor));
    return TensorId(static_cast<uint32_t>(tensors_.size() - 1));
  }

  const OpCall& call_;
  std::span<const KnownInput> results_;
  std::vector<KnownInput> tensors_;
  WorkSum work_;
};

}  // namespace

uint64_t workOf(const OpCall& call, std::span<const KnownInput> inputs, std::span<const KnownInput> results) {
  const ExpandFunction expand = call.op->expand != nullptr ? call.op->expand : call.op->legal;
  if (expand != nullptr) {
    // What is written is made of what is not, or is so in turn: the depth is that of the definitions.
    CountedExpansion expansion(call, inputs, results);
    if (expand(expansion).has_value() && expansion.isKnown()) return expansion.work();
  }
  uint64_t terms = 1;
  if (call.op->fusion == FusionKind::Anchor)
    for (const DimExpr& dim : inputs[0].dims) terms = std::max(terms, WorkSum::extentOf(dim));
  WorkSum work;
  for (const KnownInput& input : inputs) work.add(input.dims, 1);
  for (const KnownInput& result : results) work.add(result.dims, terms);
  return work.sum();
}

}  // namespace baton::ops
