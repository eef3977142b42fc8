// einsum: written with transposes, sums and products of matrices, two operands at a time.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// A character for each axis. Those that `...` stands for are '0', '1', ... from the last one.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool has(std::string_view labels, char label) { return labels.find(label) != std::string_view::npos; }

/// `count`: how many axes `...` stands for.
std::string withEllipsis(std::string labels, size_t count) {
  const size_t at = labels.find("...");
  if (at == std::string::npos) return labels;
  std::string axes;
  for (size_t i = count; i-- > 0;) axes += static_cast<char>('0' + i);
  return labels.replace(at, 3, axes);
}

Result<void> checkTerm(const OpCall& call, std::string term) {
  if (const size_t at = term.find("..."); at != std::string::npos) term.erase(at, 3);
  for (const char c : term)
    if (!isLetter(c))
      return opError(call,
                     fmt::format("the equation has \"{}\"; expected letters, commas, `...` and `->`", c));
  return success();
}

Result<Equation> parseEquation(const OpCall& call, const std::vector<size_t>& ranks) {
  std::string text = EinsumAttrs{*call.attrs}.equation();
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string rest = text.substr(0, arrow);
  Equation equation;
  for (size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
    equation.operands.push_back(rest.substr(0, comma));
    rest.erase(0, comma + 1);
  }
  equation.operands.push_back(rest);
  if (equation.operands.size() != ranks.size())
    return opError(call, fmt::format("the equation has {} operands; expected {}", equation.operands.size(),
                                     ranks.size()));
  size_t further = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    std::string& labels = equation.operands[i];
    BATON_TRY(checkTerm(call, labels));
    const bool isOpen = has(labels, '.');
    const size_t named = labels.size() - (isOpen ? 3 : 0);
    if (isOpen ? ranks[i] < named || ranks[i] - named > 10 : ranks[i] != named)
      return opError(call, fmt::format("operand {} has rank {}; \"{}\" is for {}{}", i, ranks[i], labels,
                                       named, isOpen ? " to " + std::to_string(named + 10) : ""));
    if (isOpen) further = std::max(further, ranks[i] - named);
    labels = withEllipsis(labels, ranks[i] - named);
  }
  if (arrow != std::string::npos) {
    equation.result = text.substr(arrow + 2);
    BATON_TRY(checkTerm(call, equation.result));
    equation.result = withEllipsis(equation.result, further);
  } else {
    equation.result = withEllipsis("...", further);
    std::map<char, int> counts;
    for (const std::string& labels : equation.operands)
      for (const char label : labels) ++counts[label];
    for (const auto& [label, count] : counts)
      if (count == 1 && isLetter(label)) equation.result += label;
  }
  for (size_t i = 0; i < equation.result.size(); ++i) {
    const char label = equation.result[i];
    const bool isKnown =
        std::ranges::any_of(equation.operands, [&](const auto& labels) { return has(labels, label); });
    if (!isKnown || has(std::string_view(equation.result).substr(0, i), label))
      return opError(
          call, fmt::format("the result has \"{}\" {}", label, isKnown ? "twice" : "which no operand has"));
  }
  return equation;
}

/// What happens to one operand after another: which axes are summed alone, which with those before.
struct Contraction {
  std::string summed;   ///< of the operand alone
  std::string batch;    ///< of both, and kept
  std::string reduced;  ///< of both, and not kept
  std::string left;     ///< of what is there
  std::string right;    ///< of the operand
};
/// `before`: the axes that the operands before `operand` have become; `own`: its own, each once.
Contraction contractionOf(const Equation& equation, size_t operand, const std::string& before,
                          const std::string& own) {
  std::string kept = equation.result;
  for (size_t i = operand + 1; i < equation.operands.size(); ++i) kept += equation.operands[i];
  Contraction c;
  for (const char label : own) {
    if (has(before, label))
      (has(kept, label) ? c.batch : c.reduced) += label;
    else
      (has(kept, label) ? c.right : c.summed) += label;
  }
  for (const char label : before)
    if (!has(own, label)) c.left += label;
  return c;
}

std::string eachOnce(const std::string& labels) {
  std::string out;
  for (const char label : labels)
    if (!has(out, label)) out += label;
  return out;
}

Result<std::optional<std::vector<size_t>>> operandRanks(const OpCall& call, const StructureContext& context) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < call.inputCount; ++i) {
    const std::optional<int> rank = context.rank(i);
    if (!rank) return std::nullopt;
    ranks.push_back(static_cast<size_t>(*rank));
  }
  return ranks;
}

}  // namespace

Result<std::optional<StructureResult>> einsumStructure(const OpCall& call, StructureContext& context) {
  if (call.inputCount == 0) return opError(call, "the tuple has no elements");
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  for (size_t i = 1; i < call.inputCount; ++i) BATON_TRY(context.requireSameDType(0, i));
  BATON_TRY_ASSIGN(const std::optional<std::vector<size_t>> ranks, operandRanks(call, context));
  if (!ranks) return std::nullopt;
  BATON_TRY_ASSIGN(const Equation equation, parseEquation(call, *ranks));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, static_cast<int>(equation.result.size()));
}

Result<std::vector<TensorDims>> einsumDims(const OpCall& call, DimsContext& context) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < call.inputCount; ++i) ranks.push_back(context.dims(i).size());
  BATON_TRY_ASSIGN(const Equation equation, parseEquation(call, ranks));
  std::map<char, DimExpr> extents;
  for (size_t i = 0; i < call.inputCount; ++i)
    for (size_t axis = 0; axis < ranks[i]; ++axis) {
      const DimExpr own = context.dims(i)[axis];
      const auto [at, isNew] = extents.try_emplace(equation.operands[i][axis], own);
      context.blame(i);
      if (isNew) continue;
      BATON_TRY_ASSIGN(
          at->second,
          requireEqual(
              context, at->second, own,
              fmt::format("einsum: dimension {} of operand {} is {{1}}; another with its letter is {{0}}",
                          axis, i)));
    }
  TensorDims result;
  for (const char label : equation.result) result.extents.push_back(extents.at(label));
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

/// A tensor with a label for each axis.
struct LabelledTensor {
  TensorId tensor;
  std::string labels;
};

class EinsumExpansion {
 public:
  explicit EinsumExpansion(ExpandContext& context) : context_(context) {}

  Result<LabelledTensor> ordered(LabelledTensor t, const std::string& labels) {
    if (t.labels == labels) return t;
    std::vector<int64_t> axes;
    for (const char label : labels) axes.push_back(static_cast<int64_t>(t.labels.find(label)));
    ir::Attrs attrs;
    attrs.set("axes", std::move(axes));
    BATON_TRY_ASSIGN(const TensorId moved, context_.make("transpose", attrs, {t.tensor}));
    return LabelledTensor{moved, labels};
  }

  Result<LabelledTensor> summed(LabelledTensor t, const std::string& labels) {
    if (labels.empty()) return t;
    std::vector<int64_t> axes;
    for (const char label : labels) axes.push_back(static_cast<int64_t>(t.labels.find(label)));
    ir::Attrs attrs;
    attrs.set("axis", std::move(axes));
    BATON_TRY_ASSIGN(t.tensor, context_.make("sum", attrs, {t.tensor}));
    std::erase_if(t.labels, [&](char label) { return has(labels, label); });
    return t;
  }

  /// Each label once: what stands on the diagonal of its axes.
  Result<LabelledTensor> diagonal(LabelledTensor t) {
    const std::string wanted = eachOnce(t.labels);
    for (;;) {
      const auto twice =
          std::ranges::find_if(t.labels, [&](char c) { return std::ranges::count(t.labels, c) > 1; });
      if (twice == t.labels.end()) return ordered(std::move(t), wanted);
      const char label = *twice;
      std::vector<int64_t> axes;
      std::string rest;
      for (size_t axis = 0; axis < t.labels.size(); ++axis)
        if (t.labels[axis] == label) axes.push_back(static_cast<int64_t>(axis));
      const auto count = axes.size();
      const auto first = static_cast<size_t>(axes[0]);
      for (size_t axis = 0; axis < t.labels.size(); ++axis)
        if (t.labels[axis] != label) {
          axes.push_back(static_cast<int64_t>(axis));
          rest += t.labels[axis];
        }
      ir::Attrs permuted;
      permuted.set("axes", std::move(axes));
      BATON_TRY_ASSIGN(const TensorId length, context_.extentOf(t.tensor, first));
      BATON_TRY_ASSIGN(const TensorId places, context_.make("arange", {},
                                                            {context_.scalar(DType::I64, 0), length,
                                                             context_.scalar(DType::I64, 1)}));
      BATON_TRY_ASSIGN(const TensorId positions,
                       context_.make("stack", {}, std::vector<TensorId>(count, places)));
      BATON_TRY_ASSIGN(const TensorId moved, context_.make("transpose", permuted, {t.tensor}));
      BATON_TRY_ASSIGN(t.tensor, context_.make("gather_nd", {}, {moved, positions}));
      t.labels = label + rest;
    }
  }

  Result<LabelledTensor> product(LabelledTensor a, LabelledTensor b, const Contraction& c) {
    BATON_TRY_ASSIGN(a, ordered(std::move(a), c.batch + c.left + c.reduced));
    BATON_TRY_ASSIGN(b, ordered(std::move(b), c.batch + c.right + c.reduced));
    BATON_TRY_ASSIGN(const TensorId left, matrices(a, c.batch.size(), c.left.size()));
    BATON_TRY_ASSIGN(const TensorId right, matrices(b, c.batch.size(), c.right.size()));
    ir::Attrs attrs;
    attrs.set("transpose_b", true);
    BATON_TRY_ASSIGN(const TensorId whole, context_.make("nn.batch_matmul", attrs, {left, right}));
    std::vector<DimExpr> extents = context_.dims(a.tensor);
    extents.resize(c.batch.size() + c.left.size());
    const std::vector<DimExpr> other = context_.dims(b.tensor);
    extents.insert(extents.end(), other.begin() + static_cast<std::ptrdiff_t>(c.batch.size()),
                   other.end() - static_cast<std::ptrdiff_t>(c.reduced.size()));
    BATON_TRY_ASSIGN(const TensorId result, context_.reshape(whole, std::move(extents)));
    return LabelledTensor{result, c.batch + c.left + c.right};
  }

 private:
  /// (batch, rows, what is reduced)
  Result<TensorId> matrices(const LabelledTensor& t, size_t batch, size_t rows) {
    const std::vector<DimExpr> dims = context_.dims(t.tensor);
    const std::span<const DimExpr> all(dims);
    return context_.reshape(
        t.tensor, {baton::ops::product(all.first(batch)), baton::ops::product(all.subspan(batch, rows)),
                   baton::ops::product(all.subspan(batch + rows))});
  }

  ExpandContext& context_;
};

}  // namespace

Result<void> einsumLegal(ExpandContext& context) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < context.call().inputCount; ++i) ranks.push_back(context.rank(context.input(i)));
  BATON_TRY_ASSIGN(const Equation equation, parseEquation(context.call(), ranks));
  WideExpansion wide(context);
  EinsumExpansion e(context);
  LabelledTensor whole{};
  for (size_t i = 0; i < ranks.size(); ++i) {
    BATON_TRY_ASSIGN(const TensorId data, wide.input(i));
    BATON_TRY_ASSIGN(LabelledTensor operand, e.diagonal({data, equation.operands[i]}));
    const Contraction c = contractionOf(equation, i, whole.labels, operand.labels);
    BATON_TRY_ASSIGN(operand, e.summed(std::move(operand), c.summed));
    if (i == 0) {
      whole = std::move(operand);
    } else {
      BATON_TRY_ASSIGN(whole, e.product(std::move(whole), std::move(operand), c));
    }
  }
  BATON_TRY_ASSIGN(whole, e.ordered(std::move(whole), equation.result));
  BATON_TRY_ASSIGN(const TensorId result, wide.narrow(whole.tensor));
  context.become({result});
  return success();
}

namespace {

/// Numbers with a label for each axis.
template <class T>
struct PlainOperand {
  std::string labels;
  std::vector<int64_t> shape;
  std::vector<T> elements;

  /// The element where each label has the value that `at` gives it; a label may stand twice.
  T at(const std::map<char, int64_t>& place) const {
    std::vector<int64_t> index;
    for (const char label : labels) index.push_back(place.at(label));
    return elements[static_cast<size_t>(linearIndex(shape, index))];
  }
};

template <class T>
class PlainEinsum {
 public:
  PlainEinsum(const ReferenceCall& call, const Equation& equation) : equation_(equation) {
    for (size_t i = 0; i < call.inputs.size(); ++i)
      for (size_t axis = 0; axis < call.inputs[i].shape.size(); ++axis)
        extents_[equation.operands[i][axis]] = call.extent(i, axis);
  }

  /// Of labels, `f(place)` for each, in row-major order.
  template <class F>
  void forEach(const std::string& labels, std::map<char, int64_t> place, F&& f) const {
    forEachPosition(shapeOf(labels), [&](std::span<const int64_t> index) {
      for (size_t i = 0; i < labels.size(); ++i) place[labels[i]] = index[i];
      f(place);
    });
  }

  template <class F>
  PlainOperand<T> made(const std::string& labels, F&& element) const {
    PlainOperand<T> out{labels, shapeOf(labels), {}};
    forEach(labels, {},
            [&](const std::map<char, int64_t>& place) { out.elements.push_back(element(place)); });
    return out;
  }

  PlainOperand<T> summed(const PlainOperand<T>& operand, const std::string& labels) const {
    std::string kept = eachOnce(operand.labels);
    std::string inOrder;
    for (const char label : kept)
      if (has(labels, label)) inOrder += label;
    std::erase_if(kept, [&](char label) { return has(labels, label); });
    return made(kept, [&](const std::map<char, int64_t>& place) {
      if (labels.empty()) return operand.at(place);
      std::vector<T> values;
      forEach(inOrder, place,
              [&](const std::map<char, int64_t>& inner) { values.push_back(operand.at(inner)); });
      return reduceInOrder(values, T{0}, [](T a, T b) { return plus(a, b); });
    });
  }

  PlainOperand<T> product(const PlainOperand<T>& a, const PlainOperand<T>& b, const Contraction& c) const {
    return made(c.batch + c.left + c.right, [&](const std::map<char, int64_t>& place) {
      T sum{};
      forEach(c.reduced, place, [&](const std::map<char, int64_t>& inner) {
        if constexpr (std::is_floating_point_v<T>)
          sum = std::fma(a.at(inner), b.at(inner), sum);
        else
          sum = plus(sum,
                     static_cast<T>(static_cast<uint64_t>(a.at(inner)) * static_cast<uint64_t>(b.at(inner))));
      });
      return sum;
    });
  }

 private:
  static T plus(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  std::vector<int64_t> shapeOf(const std::string& labels) const {
    std::vector<int64_t> shape;
    for (const char label : labels) shape.push_back(extents_.at(label));
    return shape;
  }

  const Equation& equation_;
  std::map<char, int64_t> extents_;
};

template <class T>
void plainEinsum(ReferenceCall& call, const Equation& equation) {
  const DType type = call.inputs[0].dtype;
  const DType wide = accumulationType(type);
  const PlainEinsum<T> plain(call, equation);
  PlainOperand<T> whole;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    PlainOperand<T> operand{
        equation.operands[i], {call.inputs[i].shape.begin(), call.inputs[i].shape.end()}, {}};
    for (int64_t k = 0; k < elementCount(operand.shape); ++k)
      operand.elements.push_back(scalarFromBits<T>(convertScalar(call.load(i, k), type, wide)));
    const Contraction c = contractionOf(equation, i, whole.labels, eachOnce(operand.labels));
    operand = plain.summed(operand, c.summed);
    whole = i == 0 ? std::move(operand) : plain.product(whole, operand, c);
  }
  int64_t at = 0;
  plain.forEach(equation.result, {}, [&](const std::map<char, int64_t>& place) {
    call.store(0, at++, convertScalar(scalarBits(whole.at(place)), wide, type));
  });
}

}  // namespace

Result<void> einsumReference(ReferenceCall& call) {
  std::vector<size_t> ranks;
  for (const TensorView& input : call.inputs) ranks.push_back(input.shape.size());
  BATON_TRY_ASSIGN(const Equation equation, parseEquation(call.call, ranks));
  dispatchDType(accumulationType(call.inputs[0].dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) plainEinsum<T>(call, equation);
  });
  return success();
}

}  // namespace baton::ops
