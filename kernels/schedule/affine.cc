#include "kernels/schedule/affine.h"

#include <algorithm>

namespace baton::schedule {

namespace {

/// Sums within sums, and bounds of bounds, that are looked into.
constexpr int kMaxDepth = 64;

int64_t checkedAdd(int64_t a, int64_t b, bool& fits) {
  int64_t out = 0;
  fits = !__builtin_add_overflow(a, b, &out) && fits;
  return out;
}
int64_t checkedMul(int64_t a, int64_t b, bool& fits) {
  int64_t out = 0;
  fits = !__builtin_mul_overflow(a, b, &out) && fits;
  return out;
}

/// to += factor * from; false where a number does not fit.
bool accumulate(Affine& to, const Affine& from, int64_t factor) {
  bool fits = true;
  to.constant = checkedAdd(to.constant, checkedMul(from.constant, factor, fits), fits);
  for (const auto& [value, coefficient] : from.terms) {
    int64_t& own = to.terms[value];
    own = checkedAdd(own, checkedMul(coefficient, factor, fits), fits);
  }
  std::erase_if(to.terms, [](const auto& term) { return term.second == 0; });
  return fits;
}

Affine affineAt(const Editor& editor, NodeId value, int depth) {
  const Affine itself{{{value, 1}}, 0};
  if (const std::optional<int64_t> constant = editor.constantOf(value)) return {{}, *constant};
  const Node& node = editor.node(value);
  const bool isSum = node.op == Op::Add || node.op == Op::Sub;
  if (depth == kMaxDepth || node.type != DType::I64 || (!isSum && node.op != Op::Mul)) return itself;
  const auto ids = editor.kernel().operandsOf(node);
  const Affine a = affineAt(editor, ids[0], depth + 1);
  const Affine b = affineAt(editor, ids[1], depth + 1);
  Affine result;
  if (isSum) {
    const bool fits = accumulate(result, a, 1) && accumulate(result, b, node.op == Op::Add ? 1 : -1);
    return fits ? result : itself;
  }
  if (!a.terms.empty() && !b.terms.empty()) return itself;
  const bool fits = a.terms.empty() ? accumulate(result, b, a.constant) : accumulate(result, a, b.constant);
  return fits ? result : itself;
}

Range rangeAt(const Editor& editor, NodeId value, int depth);

Range rangeOfSum(const Editor& editor, const Affine& affine, int depth) {
  Range sum{affine.constant, affine.constant};
  const auto add = [](std::optional<int64_t>& end, std::optional<int64_t> other, int64_t factor) {
    bool fits = true;
    if (end && other) end = checkedAdd(*end, checkedMul(*other, factor, fits), fits);
    if (!other || !fits) end.reset();
  };
  for (const auto& [value, coefficient] : affine.terms) {
    const Range own = rangeAt(editor, value, depth + 1);
    add(sum.low, coefficient > 0 ? own.low : own.high, coefficient);
    add(sum.high, coefficient > 0 ? own.high : own.low, coefficient);
  }
  return sum;
}

Range rangeAt(const Editor& editor, NodeId value, int depth) {
  if (const std::optional<int64_t> constant = editor.constantOf(value)) return {constant, constant};
  const Node& node = editor.node(value);
  if (depth >= kMaxDepth || node.type != DType::I64) return {};
  const loop::Kernel& kernel = editor.kernel();
  const auto ids = kernel.operandsOf(node);
  switch (node.op) {
    case Op::Symbol: {
      const bool isExtent = kernel.descriptor.symbols[node.target].from == KernelSymbol::From::Operand;
      return {isExtent ? std::optional<int64_t>(0) : std::nullopt, std::nullopt};
    }
    case Op::LoopVar: {
      const std::optional<BlockId> body = editor.blockOf(value);
      if (!body) return {};
      const loop::LoopParts parts = loopParts(kernel, editor.node(*editor.ownerOf(*body)));
      const auto at =
          static_cast<size_t>(std::find(parts.vars.begin(), parts.vars.end(), value) - parts.vars.begin());
      const Range extent = rangeAt(editor, parts.extents[at], depth + 1);
      return {0, extent.high && *extent.high > INT64_MIN ? std::optional(*extent.high - 1) : std::nullopt};
    }
    case Op::Min:
    case Op::Max: {
      const Range a = rangeAt(editor, ids[0], depth + 1);
      const Range b = rangeAt(editor, ids[1], depth + 1);
      const bool isMin = node.op == Op::Min;
      const auto either = [&](std::optional<int64_t> x, std::optional<int64_t> y) {
        if (!x || !y) return x ? x : y;
        return std::optional(isMin ? std::min(*x, *y) : std::max(*x, *y));
      };
      const auto both = [&](std::optional<int64_t> x, std::optional<int64_t> y) {
        return x && y ? either(x, y) : std::nullopt;
      };
      if (isMin) return {both(a.low, b.low), either(a.high, b.high)};
      return {either(a.low, b.low), both(a.high, b.high)};
    }
    case Op::FloorDiv: {
      const std::optional<int64_t> divisor = editor.constantOf(ids[1]);
      if (!divisor || *divisor < 1) return {};
      const Range all = rangeAt(editor, ids[0], depth + 1);
      const auto quotient = [&](std::optional<int64_t> end) {
        return end ? std::optional(*end / *divisor - (*end % *divisor < 0 ? 1 : 0)) : std::nullopt;
      };
      return {quotient(all.low), quotient(all.high)};
    }
    case Op::FloorMod: {
      const std::optional<int64_t> divisor = editor.constantOf(ids[1]);
      if (divisor && *divisor > 0) return {0, *divisor - 1};
      return {};
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul: {
      const Affine affine = affineAt(editor, value, depth + 1);
      if (affine.terms.size() == 1 && affine.terms.begin()->first == value) {
        // A product of two that are not constant: of what is not negative, it is not negative.
        const auto isNatural = [&](NodeId factor) { return rangeAt(editor, factor, depth + 1).low >= 0; };
        if (node.op != Op::Mul || !isNatural(ids[0]) || !isNatural(ids[1])) return {};
        return {0, std::nullopt};
      }
      return rangeOfSum(editor, affine, depth + 1);
    }
    default: return {};
  }
}

}  // namespace

NodeId materialise(Editor& editor, Nodes& out, const Affine& affine) {
  NodeId sum = editor.number(affine.constant);
  for (const auto& [value, coefficient] : affine.terms)
    sum = editor.add(out, editor.mul(out, value, editor.number(coefficient)), sum);
  return sum;
}

std::pair<NodeId, NodeId> divided(Editor& editor, Nodes& out, NodeId value, int64_t divisor) {
  Affine quotient;
  Affine remainder;
  const Affine affine = affineOf(editor, value);
  for (const auto& [term, coefficient] : affine.terms)
    if (coefficient % divisor == 0)
      quotient.terms.emplace(term, coefficient / divisor);
    else
      remainder.terms.emplace(term, coefficient);
  remainder.constant = (affine.constant % divisor + divisor) % divisor;
  quotient.constant = (affine.constant - remainder.constant) / divisor;
  const Range range = rangeOf(editor, remainder);
  if (range.low && range.high && *range.low >= 0 && *range.high < divisor)
    return {materialise(editor, out, quotient), materialise(editor, out, remainder)};
  const NodeId size = editor.number(divisor);
  const NodeId whole = editor.divide(out, Op::FloorDiv, value, size);
  return {whole, editor.divide(out, Op::FloorMod, value, size)};
}

Affine affineOf(const Editor& editor, NodeId value) { return affineAt(editor, value, 0); }
Range rangeOf(const Editor& editor, NodeId value) { return rangeAt(editor, value, 0); }
Range rangeOf(const Editor& editor, const Affine& affine) { return rangeOfSum(editor, affine, 0); }

}  // namespace baton::schedule
