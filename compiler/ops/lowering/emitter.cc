#include "compiler/ops/lowering/emitter.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton::ops {

using loop::Op;
using loop::Value;

namespace {

constexpr uint32_t kArithmeticKey = 1;
/// Empty iterations that take no time worth a guard.
constexpr int64_t kFewIterations = 65536;

}  // namespace

Emitter::Emitter(KernelDescriptor descriptor, std::vector<DimSymbol> symbols)
    : builder_(std::move(descriptor)), symbols_(std::move(symbols)), known_(1), isBranch_(1, false) {}

std::optional<int64_t> Emitter::constantOf(Value value) const {
  const loop::Node& node = builder_.node(value.id());
  if (node.op != Op::Const) return std::nullopt;
  return static_cast<int64_t>(node.bits);
}

bool Emitter::isLoopVariable(Value value) const { return builder_.node(value.id()).op == Op::LoopVar; }

DimExpr Emitter::toKernelSymbols(const DimExpr& expr) const {
  return expr.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
    const auto at = std::find(symbols_.begin(), symbols_.end(), symbol);
    BATON_CHECK(at != symbols_.end());
    return DimExpr::symbol(DimSymbol(static_cast<uint32_t>(at - symbols_.begin())));
  });
}

Value Emitter::dim(const DimExpr& expr) {
  if (const std::optional<int64_t> constant = expr.asConstant()) return number(*constant);
  std::vector<DimSymbol> used;
  expr.collectSymbols(used);
  const bool isKnown = std::all_of(used.begin(), used.end(), [&](DimSymbol symbol) {
    return std::find(symbols_.begin(), symbols_.end(), symbol) != symbols_.end();
  });
  if (expr.isTooLarge() || !isKnown) {
    hasFailed_ = true;
    return number(0);
  }
  const auto known = dims_.find(expr);
  if (known != dims_.end()) return known->second;
  const Value value = at(0, [&] { return builder_.dim(toKernelSymbols(expr)); });
  dims_.emplace(expr, value);
  return value;
}

Value Emitter::arithmetic(Op op, Value a, Value b) {
  const Key key = {kArithmeticKey, static_cast<uint32_t>(op), a.id().value(), b.id().value()};
  const Value operands[] = {a, b};
  const size_t depth = deepest(operands);
  if (const std::optional<Value> known = find(depth, key)) return *known;
  const Value value = at(depth, [&] {
    if (!loop::isIntegerDivision(op)) return builder_.binary(op, a, b);
    const bool isSafe = constantOf(b).value_or(0) > 0;
    return builder_.divide(
        op, a, b, isSafe ? loop::kNoMessage : builder_.message(std::string(loop::kZeroExtentMessage)));
  });
  remember(depth, key, value);
  return value;
}

namespace {

/// Integers of loop IR wrap around, those that are folded, too.
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace

Value Emitter::add(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y) return number(wrapped(uint64_t(*x) + uint64_t(*y)));
  if (x == 0) return b;
  if (y == 0) return a;
  return arithmetic(Op::Add, a, b);
}

Value Emitter::sub(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y) return number(wrapped(uint64_t(*x) - uint64_t(*y)));
  if (y == 0) return a;
  if (a.id() == b.id()) return number(0);
  return arithmetic(Op::Sub, a, b);
}

Value Emitter::mul(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y) return number(wrapped(uint64_t(*x) * uint64_t(*y)));
  if (x == 0 || y == 0) return number(0);
  if (x == 1) return b;
  if (y == 1) return a;
  return arithmetic(Op::Mul, a, b);
}

Value Emitter::floorDiv(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y && *y > 0) return number(*x / *y - (*x % *y < 0 ? 1 : 0));
  if (y == 1) return a;
  return arithmetic(Op::FloorDiv, a, b);
}

Value Emitter::mulAtMost(Value a, Value b) {
  const Value most = number(INT64_MAX);
  return builder_.select(a > floorDiv(most, max(b, number(1))), most, mul(a, b));
}

Value Emitter::floorMod(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y && *y > 0) return number(*x % *y + (*x % *y < 0 ? *y : 0));
  if (y == 1) return number(0);
  return arithmetic(Op::FloorMod, a, b);
}

Value Emitter::min(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y) return number(std::min(*x, *y));
  return a.id() == b.id() ? a : arithmetic(Op::Min, a, b);
}

Value Emitter::max(Value a, Value b) {
  const auto x = constantOf(a);
  const auto y = constantOf(b);
  if (x && y) return number(std::max(*x, *y));
  return a.id() == b.id() ? a : arithmetic(Op::Max, a, b);
}

void Emitter::openedBlock(bool isBranch) {
  known_.resize(std::max(known_.size(), builder_.depth() + 1));
  isBranch_.resize(known_.size());
  isBranch_[builder_.depth()] = isBranch;
  known_[builder_.depth()].clear();
}

Value Emitter::beginLoop(loop::LoopKind kind, Value extent, uint64_t grain) {
  const Value var = builder_.beginLoop(kind, extent, grain);
  openedBlock(false);
  return var;
}

std::string Emitter::nameLoop(std::string_view prefix) {
  std::string name = fmt::format("{}{}", prefix, namedLoops_++);
  builder_.nameLoop(name);
  return name;
}

void Emitter::beginIf(Value condition) {
  builder_.beginIf(condition);
  openedBlock(true);
}

void Emitter::beginElse() {
  builder_.beginElse();
  openedBlock(true);
}

void Emitter::skipWhenEmpty(std::vector<Value>& counts) {
  // Loops of a few iterations keep their constant counts: the guard goes to the next one.
  int64_t iterations = 1;
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::optional<int64_t> constant = constantOf(counts[i]);
    if (constant && *constant <= kFewIterations / iterations) {
      iterations *= std::max<int64_t>(*constant, 1);
      continue;
    }
    for (size_t inner = i + 1; inner < counts.size(); ++inner)
      counts[i] = mul(counts[i], min(counts[inner], number(1)));
    return;
  }
}

std::vector<Value> Emitter::beginReduce(loop::ReduceOp op, std::span<const Value> extents) {
  std::vector<Value> counts(extents.begin(), extents.end());
  skipWhenEmpty(counts);
  std::vector<Value> vars = builder_.beginReduce(op, counts);
  openedBlock(false);
  return vars;
}

size_t Emitter::deepest(std::span<const Value> values) const {
  size_t depth = 0;
  for (const Value value : values) depth = std::max(depth, builder_.depthOf(value));
  return depth;
}

size_t Emitter::guarded(std::span<const Value> values) const {
  const size_t least = deepest(values);
  for (size_t depth = builder_.depth(); depth > least; depth = builder_.parentOf(depth))
    if (isBranch_[depth]) return depth;
  return least;
}

std::optional<Value> Emitter::find(size_t depth, const Key& key) const {
  for (size_t at = builder_.depth();; at = builder_.parentOf(at)) {
    const auto found = known_[at].find(key);
    if (found != known_[at].end()) return found->second;
    if (at <= depth) return std::nullopt;
  }
}

void Emitter::remember(size_t depth, Key key, Value value) {
  known_[depth].insert_or_assign(std::move(key), value);
}

void Emitter::watch(std::span<const Value> loopVars) {
  watched_.clear();
  dependencies_.clear();
  for (size_t i = 0; i < loopVars.size() && i < 63; ++i)
    watched_[loopVars[i].id().value()] = uint64_t{1} << i;
}

uint64_t Emitter::dependencies(std::span<const Value> values) {
  // An explicit stack: chains of index arithmetic may be long.
  std::vector<loop::NodeId> stack;
  for (const Value value : values) stack.push_back(value.id());
  while (!stack.empty()) {
    const loop::NodeId id = stack.back();
    if (dependencies_.count(id.value()) != 0) {
      stack.pop_back();
      continue;
    }
    if (builder_.node(id).op == Op::LoopVar) {
      const auto bit = watched_.find(id.value());
      dependencies_[id.value()] = bit == watched_.end() ? kOtherLoop : bit->second;
      continue;
    }
    uint64_t all = 0;
    bool isComplete = true;
    for (const loop::NodeId operand : builder_.operandsOf(id)) {
      const auto known = dependencies_.find(operand.value());
      if (known == dependencies_.end()) {
        stack.push_back(operand);
        isComplete = false;
      } else {
        all |= known->second;
      }
    }
    if (isComplete) dependencies_[id.value()] = all;
  }
  uint64_t all = 0;
  for (const Value value : values) all |= dependencies_[value.id().value()];
  return all;
}

}  // namespace baton::ops
