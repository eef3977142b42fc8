// lstm and gru: a loop over the steps, written with other operators.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

namespace {

/// The inputs are data, weight, recurrent weight, bias, recurrent bias, and the states.
constexpr size_t kFirstState = 5;

struct RecurrentKind {
  std::string_view gates;  ///< a letter for each
  size_t states;           ///< that a step hands to the next; the first is what comes out
};
constexpr RecurrentKind kLstm = {"ifgo", 2};
constexpr RecurrentKind kGru = {"rzn", 1};

bool isReversed(const OpCall& call) { return call.attrs->stringOf("direction") == "reverse"; }
bool isBatchFirst(const OpCall& call) { return call.attrs->stringOf("layout") == "NTC"; }
/// Where a gate is among those of the weights.
size_t gateIndex(const OpCall& call, char gate) { return call.attrs->stringOf("gates").find(gate); }

Result<std::optional<StructureResult>> recurrentStructure(const OpCall& call, StructureContext& context,
                                                          const RecurrentKind& kind) {
  const std::string& layout = call.attrs->stringOf("layout");
  if (layout != "TNC" && layout != "NTC")
    return opError(call, fmt::format("layout is \"{}\"; expected \"TNC\" or \"NTC\"", layout));
  const std::string& direction = call.attrs->stringOf("direction");
  if (direction != "forward" && direction != "reverse")
    return opError(call, fmt::format("direction is \"{}\"; expected \"forward\" or \"reverse\"", direction));
  const std::string& gates = call.attrs->stringOf("gates");
  if (!std::ranges::is_permutation(gates, kind.gates))
    return opError(
        call, fmt::format("gates is \"{}\"; expected the letters of \"{}\" in any order", gates, kind.gates));
  constexpr int kRanks[] = {3, 2, 2, 1, 1, 2, 2};
  for (size_t i = 0; i < call.inputCount; ++i) {
    BATON_TRY(context.requireSameDType(0, i));
    BATON_TRY(context.requireRank(i, kRanks[i]));
  }
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  StructureResult result{{{*dtype, 3}}, true};
  for (size_t i = 0; i < kind.states; ++i) result.results.push_back({*dtype, 2});
  return result;
}

Result<std::vector<TensorDims>> recurrentDims(const OpCall& call, DimsContext& context,
                                              const RecurrentKind& kind) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const size_t batchAxis = isBatchFirst(call) ? 0 : 1;
  DimExpr units = context.dims(2)[1];
  const DimExpr rows = DimExpr::constant(static_cast<int64_t>(kind.gates.size())) * units;
  const auto require = [&](size_t input, size_t axis, const DimExpr& expected) -> Result<void> {
    context.blame(input);
    const DimExpr found = context.dims(input)[axis];
    return context.require(found, Relation::Eq, expected,
                           fmt::format("{}: dimension {} of the {} is {{0}}; expected {{1}}", call.op->name,
                                       axis, inputName(call, input)));
  };
  BATON_TRY(require(1, 1, data[2]));
  BATON_TRY(require(2, 0, rows));
  BATON_TRY(require(1, 0, rows));
  for (size_t i = 3; i < call.inputCount; ++i) {
    const bool isBias = i < kFirstState;
    BATON_TRY(require(i, 0, isBias ? rows : data[batchAxis]));
    if (!isBias) BATON_TRY(require(i, 1, units));
  }
  const TensorDims state{{data[batchAxis], units}};
  std::vector<TensorDims> results = {{{data[0], data[1], units}}};
  results.insert(results.end(), kind.states, state);
  return results;
}

/// A layer as a loop, in the type of accumulation.
class RecurrentExpansion : public WideExpansion {
 public:
  RecurrentExpansion(ExpandContext& context, const RecurrentKind& kind)
      : WideExpansion(context), context_(context), kind_(kind), state_(context.resultDims(1)) {}

  /// Makes the next states from the input's part of the gates, of (batch, gates * state), and the states.
  using Step = std::function<Result<std::vector<TensorId>>(TensorId, const std::vector<TensorId>&)>;
  Result<void> run(const Step& step);

  /// The recurrent weight times a state, with its bias: of (batch, gates * state).
  Result<TensorId> recurrent(TensorId state) { return product(state, recurrentWeight_, recurrentBias_); }
  /// Of one gate.
  Result<TensorId> recurrent(TensorId state, char gate) {
    BATON_TRY_ASSIGN(const TensorId weight, rowsOf(recurrentWeight_, gate));
    std::optional<TensorId> bias;
    if (recurrentBias_) {
      BATON_TRY_ASSIGN(bias, rowsOf(*recurrentBias_, gate));
    }
    return product(state, weight, bias);
  }
  /// The gates of `kind.gates`, in this order.
  Result<std::vector<TensorId>> parts(TensorId whole) {
    const auto count = static_cast<int64_t>(kind_.gates.size());
    BATON_TRY_ASSIGN(const TensorId view,
                     context_.reshape(whole, {state_[0], DimExpr::constant(count) * state_[1]}));
    ir::Attrs attrs;
    attrs.set("indices_or_sections", count);
    attrs.set("axis", int64_t{1});
    BATON_TRY_ASSIGN(const std::vector<TensorId> found, context_.makeAll("split", attrs, {view}));
    std::vector<TensorId> gates;
    for (const char gate : kind_.gates) gates.push_back(found[gateIndex(context_.call(), gate)]);
    return gates;
  }

 private:
  bool hasInput(size_t i) const { return i < context_.call().inputCount; }
  Result<TensorId> product(TensorId data, TensorId weight, std::optional<TensorId> bias) {
    BATON_TRY_ASSIGN(const TensorId result, apply("nn.dense", {data, weight}));
    return bias ? apply("add", {result, *bias}) : Result<TensorId>(result);
  }
  /// The rows of a weight or bias that belong to a gate.
  Result<TensorId> rowsOf(TensorId tensor, char gate) {
    std::vector<DimExpr> dims = context_.dims(tensor);
    dims[0] = state_[1];
    dims.insert(dims.begin(), DimExpr::constant(static_cast<int64_t>(kind_.gates.size())));
    BATON_TRY_ASSIGN(const TensorId byGate, context_.reshape(tensor, std::move(dims)));
    ir::Attrs first;
    first.set("axis", int64_t{0});
    return context_.make(
        "take", first,
        {byGate, context_.scalar(DType::I64, static_cast<double>(gateIndex(context_.call(), gate)))});
  }
  Result<TensorId> initial(size_t state) {
    if (hasInput(kFirstState + state)) return input(kFirstState + state);
    ir::Attrs attrs;
    attrs.set("shape", state_);
    attrs.set("dtype", type());
    return context_.make("zeros", attrs, {});
  }
  /// Steps first.
  Result<TensorId> exchanged(TensorId tensor) {
    if (!isBatchFirst(context_.call())) return tensor;
    ir::Attrs attrs;
    attrs.set("axes", std::vector<int64_t>{1, 0, 2});
    return context_.make("transpose", attrs, {tensor});
  }

  ExpandContext& context_;
  const RecurrentKind& kind_;
  const std::vector<DimExpr> state_;
  TensorId recurrentWeight_{};
  std::optional<TensorId> recurrentBias_;
};

Result<void> RecurrentExpansion::run(const Step& step) {
  BATON_TRY_ASSIGN(const TensorId wideData, input(0));
  BATON_TRY_ASSIGN(const TensorId data, exchanged(wideData));
  BATON_TRY_ASSIGN(const TensorId weight, input(1));
  BATON_TRY_ASSIGN(recurrentWeight_, input(2));
  std::optional<TensorId> bias;
  if (hasInput(3)) {
    BATON_TRY_ASSIGN(bias, input(3));
  }
  if (hasInput(4)) {
    BATON_TRY_ASSIGN(recurrentBias_, input(4));
  }
  // The inputs of all steps at once.
  BATON_TRY_ASSIGN(const TensorId gates, product(data, weight, bias));
  std::vector<TensorId> states;
  for (size_t i = 0; i < kind_.states; ++i) {
    BATON_TRY_ASSIGN(const TensorId state, initial(i));
    states.push_back(state);
  }
  BATON_TRY_ASSIGN(const TensorId count, context_.extentOf(data, 0));
  BATON_TRY_ASSIGN(const TensorId last, apply("subtract", {count, context_.scalar(DType::I64, 1)}));
  const auto round = [&](TensorId i, const std::vector<TensorId>& before) -> Result<std::vector<TensorId>> {
    TensorId at = i;
    if (isReversed(context_.call())) {
      BATON_TRY_ASSIGN(at, apply("subtract", {last, i}));
    }
    BATON_TRY_ASSIGN(const TensorId now, context_.takeRows(gates, at));
    return step(now, before);
  };
  BATON_TRY_ASSIGN(std::vector<TensorId> results, context_.repeat(data, states, round));
  // The last states, and the first one after each step.
  TensorId sequence = results.back();
  results.pop_back();
  if (isReversed(context_.call())) {
    BATON_TRY_ASSIGN(sequence, apply("reverse", {sequence}));
  }
  BATON_TRY_ASSIGN(sequence, exchanged(sequence));
  results.insert(results.begin(), sequence);
  for (TensorId& result : results) {
    BATON_TRY_ASSIGN(result, narrow(result));
  }
  context_.become(std::move(results));
  return success();
}

}  // namespace

Result<std::optional<StructureResult>> lstmStructure(const OpCall& call, StructureContext& context) {
  return recurrentStructure(call, context, kLstm);
}
Result<std::vector<TensorDims>> lstmDims(const OpCall& call, DimsContext& context) {
  return recurrentDims(call, context, kLstm);
}
Result<void> lstmLegal(ExpandContext& context) {
  RecurrentExpansion e(context, kLstm);
  return e.run([&](TensorId input, const std::vector<TensorId>& states) -> Result<std::vector<TensorId>> {
    BATON_TRY_ASSIGN(const TensorId hidden, e.recurrent(states[0]));
    BATON_TRY_ASSIGN(const TensorId whole, e.apply("add", {input, hidden}));
    BATON_TRY_ASSIGN(const std::vector<TensorId> gates, e.parts(whole));
    BATON_TRY_ASSIGN(const TensorId in, e.apply("sigmoid", {gates[0]}));
    BATON_TRY_ASSIGN(const TensorId forget, e.apply("sigmoid", {gates[1]}));
    BATON_TRY_ASSIGN(const TensorId candidate, e.apply("tanh", {gates[2]}));
    BATON_TRY_ASSIGN(const TensorId out, e.apply("sigmoid", {gates[3]}));
    BATON_TRY_ASSIGN(const TensorId kept, e.apply("multiply", {forget, states[1]}));
    BATON_TRY_ASSIGN(const TensorId added, e.apply("multiply", {in, candidate}));
    BATON_TRY_ASSIGN(const TensorId cell, e.apply("add", {kept, added}));
    BATON_TRY_ASSIGN(const TensorId limited, e.apply("tanh", {cell}));
    BATON_TRY_ASSIGN(const TensorId state, e.apply("multiply", {out, limited}));
    return std::vector{state, cell};
  });
}

Result<std::optional<StructureResult>> gruStructure(const OpCall& call, StructureContext& context) {
  return recurrentStructure(call, context, kGru);
}
Result<std::vector<TensorDims>> gruDims(const OpCall& call, DimsContext& context) {
  return recurrentDims(call, context, kGru);
}
Result<void> gruLegal(ExpandContext& context) {
  const bool resetsProduct = GruAttrs{*context.call().attrs}.linearBeforeReset();
  RecurrentExpansion e(context, kGru);
  return e.run([&](TensorId input, const std::vector<TensorId>& states) -> Result<std::vector<TensorId>> {
    BATON_TRY_ASSIGN(const TensorId hidden, e.recurrent(states[0]));
    BATON_TRY_ASSIGN(const std::vector<TensorId> in, e.parts(input));
    BATON_TRY_ASSIGN(const std::vector<TensorId> back, e.parts(hidden));
    BATON_TRY_ASSIGN(const TensorId resetSum, e.apply("add", {in[0], back[0]}));
    BATON_TRY_ASSIGN(const TensorId reset, e.apply("sigmoid", {resetSum}));
    BATON_TRY_ASSIGN(const TensorId updateSum, e.apply("add", {in[1], back[1]}));
    BATON_TRY_ASSIGN(const TensorId update, e.apply("sigmoid", {updateSum}));
    TensorId remembered{};
    if (resetsProduct) {
      BATON_TRY_ASSIGN(remembered, e.apply("multiply", {reset, back[2]}));
    } else {
      BATON_TRY_ASSIGN(const TensorId part, e.apply("multiply", {reset, states[0]}));
      BATON_TRY_ASSIGN(remembered, e.recurrent(part, 'n'));
    }
    BATON_TRY_ASSIGN(const TensorId newSum, e.apply("add", {in[2], remembered}));
    BATON_TRY_ASSIGN(const TensorId candidate, e.apply("tanh", {newSum}));
    BATON_TRY_ASSIGN(const TensorId rest, e.apply("subtract", {e.number(1), update}));
    BATON_TRY_ASSIGN(const TensorId fresh, e.apply("multiply", {rest, candidate}));
    BATON_TRY_ASSIGN(const TensorId kept, e.apply("multiply", {update, states[0]}));
    BATON_TRY_ASSIGN(const TensorId state, e.apply("add", {fresh, kept}));
    return std::vector{state};
  });
}

namespace {

/// Inputs as numbers, and what a step of one batch is computed from.
template <class T>
class PlainRecurrent {
 public:
  PlainRecurrent(ReferenceCall& call, const RecurrentKind& kind)
      : call_(call), kind_(kind), units_(call.extent(2, 1)), width_(call.extent(0, 2)) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const DType type = call.inputs[i].dtype;
      inputs_.emplace_back();
      for (int64_t k = 0; k < elementCount(call.inputs[i].shape); ++k)
        inputs_[i].push_back(scalarFromBits<T>(convertScalar(call.load(i, k), type, accumulationType(type))));
    }
  }

  /// `step(x, states, unit)`: the next states of a unit, from the row of the data and the states before.
  using Step =
      std::function<std::vector<T>(const T* x, const std::vector<std::vector<T>>& states, int64_t unit)>;
  void run(const Step& step) const {
    const bool isBatchFirst = ops::isBatchFirst(call_.call);
    const int64_t steps = call_.extent(0, isBatchFirst ? 1 : 0);
    const int64_t batches = call_.extent(0, isBatchFirst ? 0 : 1);
    const DType type = call_.results[0].dtype;
    const auto store = [&](size_t result, int64_t at, T value) {
      call_.store(result, at, convertScalar(scalarBits(value), accumulationType(type), type));
    };
    for (int64_t batch = 0; batch < batches; ++batch) {
      std::vector<std::vector<T>> states(kind_.states, std::vector<T>(static_cast<size_t>(units_)));
      for (size_t s = 0; s < kind_.states && kFirstState + s < inputs_.size(); ++s)
        std::copy_n(inputs_[kFirstState + s].begin() + batch * units_, units_, states[s].begin());
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = isReversed(call_.call) ? steps - 1 - i : i;
        const int64_t row = isBatchFirst ? batch * steps + t : t * batches + batch;
        auto next = states;
        for (int64_t unit = 0; unit < units_; ++unit) {
          const std::vector<T> made = step(inputs_[0].data() + row * width_, states, unit);
          for (size_t s = 0; s < made.size(); ++s) next[s][static_cast<size_t>(unit)] = made[s];
          store(0, row * units_ + unit, made[0]);
        }
        states = std::move(next);
      }
      for (size_t s = 0; s < kind_.states; ++s)
        for (int64_t unit = 0; unit < units_; ++unit)
          store(s + 1, batch * units_ + unit, states[s][static_cast<size_t>(unit)]);
    }
  }

  T input(char gate, const T* x, int64_t unit) const { return product(1, 3, gate, x, width_, unit); }
  T recurrent(char gate, const std::vector<T>& state, int64_t unit) const {
    return product(2, 4, gate, state.data(), units_, unit);
  }

 private:
  T product(size_t weight, size_t bias, char gate, const T* x, int64_t count, int64_t unit) const {
    const int64_t row = static_cast<int64_t>(gateIndex(call_.call, gate)) * units_ + unit;
    T sum{};
    for (int64_t k = 0; k < count; ++k)
      sum = std::fma(x[k], inputs_[weight][static_cast<size_t>(row * count + k)], sum);
    return bias < inputs_.size() ? sum + inputs_[bias][static_cast<size_t>(row)] : sum;
  }

  ReferenceCall& call_;
  const RecurrentKind& kind_;
  const int64_t units_;
  const int64_t width_;
  std::vector<std::vector<T>> inputs_;
};

template <class T>
void plainLstm(ReferenceCall& call) {
  const PlainRecurrent<T> plain(call, kLstm);
  plain.run([&](const T* x, const std::vector<std::vector<T>>& states, int64_t unit) {
    const auto gate = [&](char name) {
      return plain.input(name, x, unit) + plain.recurrent(name, states[0], unit);
    };
    const T kept = math::sigmoid(gate('f')) * states[1][static_cast<size_t>(unit)];
    const T cell = kept + math::sigmoid(gate('i')) * math::tanh(gate('g'));
    return std::vector<T>{math::sigmoid(gate('o')) * math::tanh(cell), cell};
  });
}

template <class T>
void plainGru(ReferenceCall& call) {
  const bool resetsProduct = GruAttrs{*call.call.attrs}.linearBeforeReset();
  const PlainRecurrent<T> plain(call, kGru);
  plain.run([&](const T* x, const std::vector<std::vector<T>>& states, int64_t unit) {
    const std::vector<T>& before = states[0];
    const auto gate = [&](char name, int64_t at) {
      return math::sigmoid(plain.input(name, x, at) + plain.recurrent(name, before, at));
    };
    T remembered;
    if (resetsProduct) {
      remembered = gate('r', unit) * plain.recurrent('n', before, unit);
    } else {
      std::vector<T> part;
      for (size_t i = 0; i < before.size(); ++i)
        part.push_back(gate('r', static_cast<int64_t>(i)) * before[i]);
      remembered = plain.recurrent('n', part, unit);
    }
    const T candidate = math::tanh(plain.input('n', x, unit) + remembered);
    const T update = gate('z', unit);
    const T kept = update * before[static_cast<size_t>(unit)];
    return std::vector<T>{(T{1} - update) * candidate + kept};
  });
}

}  // namespace

Result<void> lstmReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainLstm<double>(call) : plainLstm<float>(call);
  return success();
}
Result<void> gruReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainGru<double>(call) : plainGru<float>(call);
  return success();
}

}  // namespace baton::ops
