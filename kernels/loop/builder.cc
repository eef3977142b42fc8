#include "kernels/loop/builder.h"

#include <algorithm>

#include "base/dim_dividend.h"
#include "base/error.h"

namespace baton::loop {

namespace {

std::vector<NodeId> idsOf(std::span<const Value> values) {
  std::vector<NodeId> ids;
  ids.reserve(values.size() + 1);
  for (Value value : values) ids.push_back(value.id());
  return ids;
}

}  // namespace

DType Value::type() const { return builder_->node(id_).type; }

Builder::Builder(KernelDescriptor descriptor) {
  kernel_.descriptor = std::move(descriptor);
  kernel_.blocks.emplace_back();
  open_.push_back({BlockId(0), NodeId(0), 0});
}

size_t Builder::LeafHash::operator()(const LeafKey& key) const {
  return std::hash<uint64_t>()(key.payload * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(key.op) * 16 +
                               static_cast<uint64_t>(key.type));
}

BufferIndex Builder::scratch(DType type, std::vector<DimExpr> extents) {
  kernel_.scratch.push_back({type, std::move(extents)});
  return BufferIndex(kernel_.bufferCount() - 1);
}

uint32_t Builder::message(const std::string& text) {
  std::vector<std::string>& messages = kernel_.descriptor.messages;
  const auto found = std::find(messages.begin(), messages.end(), text);
  if (found == messages.end()) {
    messages.push_back(text);
    return static_cast<uint32_t>(messages.size() - 1);
  }
  return static_cast<uint32_t>(found - messages.begin());
}

BlockId Builder::newBlock() {
  kernel_.blocks.emplace_back();
  return BlockId(static_cast<uint32_t>(kernel_.blocks.size() - 1));
}

NodeId Builder::make(Node node, std::span<const NodeId> operands) {
  node.firstOperand = static_cast<uint32_t>(kernel_.operands.size());
  node.operandCount = static_cast<uint32_t>(operands.size());
  kernel_.operands.insert(kernel_.operands.end(), operands.begin(), operands.end());
  kernel_.nodes.push_back(node);
  depths_.push_back(isLeaf(node.op) ? 0 : cursor_);
  return NodeId(static_cast<uint32_t>(kernel_.nodes.size() - 1));
}

NodeId Builder::append(Node node, std::span<const NodeId> operands) {
  const NodeId id = make(node, operands);
  kernel_.blocks[open_[cursor_].block.value()].nodes.push_back(id);
  return id;
}

void Builder::moveTo(size_t depth) {
  BATON_CHECK(depth < open_.size());
  cursor_ = depth;
}

void Builder::open(BlockId block, NodeId owner) {
  open_.push_back({block, owner, cursor_});
  cursor_ = open_.size() - 1;
}

void Builder::close() {
  BATON_CHECK(open_.size() > 1 && cursor_ == open_.size() - 1);
  const Open closed = open_.back();
  open_.pop_back();
  cursor_ = closed.parent;
  kernel_.blocks[open_[cursor_].block.value()].nodes.push_back(closed.owner);
}

Value Builder::leaf(Op op, DType type, uint64_t payload) {
  const auto [place, isNew] = leaves_.try_emplace({op, type, payload}, NodeId(0));
  if (isNew) {
    Node node{.op = op, .type = type};
    if (op == Op::Const)
      node.bits = payload;
    else
      node.target = static_cast<uint32_t>(payload);
    place->second = make(node, {});
  }
  return {*this, place->second};
}

Value Builder::symbol(uint32_t index) {
  BATON_CHECK(index < kernel_.descriptor.symbols.size());
  return leaf(Op::Symbol, DType::I64, index);
}

Value Builder::scalarInput(uint32_t index) {
  BATON_CHECK(index < kernel_.descriptor.scalarInputs.size());
  return leaf(Op::ScalarInput, kernel_.descriptor.scalarInputs[index], index);
}

Value Builder::constantBits(DType type, uint64_t bits) { return leaf(Op::Const, type, bits); }

Value Builder::constant(DType type, double value) {
  return constantBits(type, convertScalar(scalarBits(value), DType::F64, type));
}

namespace {

struct DimNodes {
  using Value = loop::Value;
  Builder& builder;

  Value number(int64_t value) { return builder.i64(value); }
  Value symbol(DimSymbol symbol) { return builder.symbol(symbol.value()); }
  Value add(Value a, Value b) { return a + b; }
  Value multiply(Value a, Value b) { return a * b; }
  Value operation(DimOp op, Value a, Value b) {
    const auto quotient = [&](Op division) {
      return builder.divide(division, a, b, builder.message("division by zero in a dimension"));
    };
    switch (op) {
      case DimOp::FloorDiv: return quotient(Op::FloorDiv);
      case DimOp::FloorMod: return quotient(Op::FloorMod);
      case DimOp::CeilDiv: {
        const Value whole = quotient(Op::FloorDiv);
        return whole + loop::cast(loop::notEqual(quotient(Op::FloorMod), number(0)), DType::I64);
      }
      case DimOp::Min: return builder.binary(Op::Min, a, b);
      case DimOp::Max: return builder.binary(Op::Max, a, b);
      case DimOp::TooLarge: break;  // no dim that is written
    }
    return number(0);
  }
};

}  // namespace

Value Builder::dim(const DimExpr& expr) {
  BATON_CHECK(!expr.isTooLarge());
  return writeDim(DimNodes{*this}, expr);
}

Value Builder::extent(BufferIndex buffer, uint32_t axis) {
  BATON_CHECK(axis < kernel_.bufferExtents(buffer).size());
  // A copy: declaring messages or scratch may move the descriptor's vectors.
  const DimExpr expr = kernel_.bufferExtents(buffer)[axis];
  return dim(expr);
}

Value Builder::unary(Op op, Value a) {
  BATON_CHECK(opInfo(op).arity == 1 && op != Op::Cast && op != Op::Bitcast);
  BATON_CHECK(isInClass(a.type(), opInfo(op).types));
  const NodeId ids[] = {a.id()};
  return {*this, append({.op = op, .type = a.type()}, ids)};
}

Value Builder::binary(Op op, Value a, Value b) {
  BATON_CHECK(opInfo(op).arity == 2);
  if (isIntegerDivision(op)) return divide(op, a, b, kNoMessage);
  BATON_CHECK(a.type() == b.type() && isInClass(a.type(), opInfo(op).types));
  const NodeId ids[] = {a.id(), b.id()};
  return {*this, append({.op = op, .type = isComparison(op) ? DType::Bool : a.type()}, ids)};
}

Value Builder::divide(Op op, Value a, Value b, uint32_t message) {
  BATON_CHECK(isIntegerDivision(op) && a.type() == b.type() && isInteger(a.type()));
  const Node& divisor = node(b.id());
  if (divisor.op == Op::Const) {
    const bool minusOne = isSignedInt(divisor.type) && divisor.bits == UINT64_MAX;
    if (divisor.bits != 0 && !minusOne) message = kNoMessage;
  } else {
    BATON_CHECK(message != kNoMessage);
  }
  const NodeId ids[] = {a.id(), b.id()};
  return {*this, append({.op = op, .type = a.type(), .target = message}, ids)};
}

Value Builder::select(Value condition, Value ifTrue, Value ifFalse) {
  BATON_CHECK(condition.type() == DType::Bool && ifTrue.type() == ifFalse.type());
  const NodeId ids[] = {condition.id(), ifTrue.id(), ifFalse.id()};
  return {*this, append({.op = Op::Select, .type = ifTrue.type()}, ids)};
}

Value Builder::fma(Value a, Value b, Value c) {
  BATON_CHECK(a.type() == b.type() && a.type() == c.type() && isInClass(a.type(), TypeClass::Float));
  const NodeId ids[] = {a.id(), b.id(), c.id()};
  return {*this, append({.op = Op::Fma, .type = a.type()}, ids)};
}

Value Builder::cast(Value a, DType type) {
  if (a.type() == type) return a;
  const NodeId ids[] = {a.id()};
  return {*this, append({.op = Op::Cast, .type = type}, ids)};
}

Value Builder::bitcast(Value a, DType type) {
  BATON_CHECK(sizeBytes(a.type()) == sizeBytes(type) && a.type() != DType::Bool && type != DType::Bool);
  const NodeId ids[] = {a.id()};
  return {*this, append({.op = Op::Bitcast, .type = type}, ids)};
}

NodeId Builder::access(Op op, DType type, uint32_t target, std::span<const Value> indices,
                       const Value* value) {
  std::vector<NodeId> ids = idsOf(indices);
  for (Value index : indices) BATON_CHECK(index.type() == DType::I64);
  if (value != nullptr) {
    BATON_CHECK(value->type() == type);
    ids.push_back(value->id());
  }
  return append({.op = op, .type = type, .target = target}, ids);
}

Value Builder::load(BufferIndex buffer, std::span<const Value> indices) {
  BATON_CHECK(buffer.value() < kernel_.bufferCount());
  BATON_CHECK(indices.size() == kernel_.bufferExtents(buffer).size());
  return {*this, access(Op::Load, kernel_.bufferType(buffer), buffer.value(), indices, nullptr)};
}

void Builder::store(BufferIndex buffer, std::span<const Value> indices, Value value) {
  BATON_CHECK(buffer.value() < kernel_.bufferCount() && !kernel_.isInput(buffer));
  BATON_CHECK(indices.size() == kernel_.bufferExtents(buffer).size());
  access(Op::Store, kernel_.bufferType(buffer), buffer.value(), indices, &value);
}

LocalIndex Builder::local(DType type, std::vector<int64_t> extents) {
  const auto index = static_cast<uint32_t>(kernel_.locals.size());
  kernel_.locals.push_back({type, std::move(extents)});
  append({.op = Op::Local, .type = type, .target = index}, {});
  return LocalIndex(index);
}

Value Builder::get(LocalIndex local, std::initializer_list<Value> indices) {
  const LocalArray& array = kernel_.locals[local.value()];
  BATON_CHECK(indices.size() == array.extents.size());
  const std::span<const Value> span(indices.begin(), indices.size());
  return {*this, access(Op::GetLocal, array.dtype, local.value(), span, nullptr)};
}

void Builder::set(LocalIndex local, std::initializer_list<Value> indices, Value value) {
  const LocalArray& array = kernel_.locals[local.value()];
  BATON_CHECK(indices.size() == array.extents.size());
  access(Op::SetLocal, array.dtype, local.value(), std::span(indices.begin(), indices.size()), &value);
}

void Builder::setScalar(uint32_t scalarOutput, Value value) {
  BATON_CHECK(scalarOutput < kernel_.descriptor.scalarOutputs.size());
  BATON_CHECK(value.type() == kernel_.descriptor.scalarOutputs[scalarOutput]);
  const NodeId ids[] = {value.id()};
  append({.op = Op::SetScalar, .type = value.type(), .target = scalarOutput}, ids);
}

Value Builder::beginLoop(LoopKind kind, Value extent, uint64_t grain) {
  BATON_CHECK(extent.type() == DType::I64);
  BATON_CHECK(kind != LoopKind::Unrolled || node(extent.id()).op == Op::Const);
  const NodeId var = make({.op = Op::LoopVar, .type = DType::I64}, {});
  const BlockId body = newBlock();
  const NodeId ids[] = {extent.id(), var};
  const uint64_t bits = kind == LoopKind::Parallel ? std::max<uint64_t>(grain, 1) : 0;
  open(body, make({.op = Op::For, .loopKind = kind, .bits = bits, .body = body}, ids));
  depths_[var.value()] = cursor_;
  return {*this, var};
}

void Builder::beginIf(Value condition) {
  BATON_CHECK(condition.type() == DType::Bool);
  const BlockId then = newBlock();
  const BlockId otherwise = newBlock();
  const NodeId ids[] = {condition.id()};
  open(then, make({.op = Op::If, .body = then, .otherwise = otherwise}, ids));
}

void Builder::beginElse() {
  const NodeId owner = open_.back().owner;
  BATON_CHECK(open_.size() > 1 && node(owner).op == Op::If && open_.back().block == node(owner).body);
  open_.back().block = node(owner).otherwise;
}

std::vector<Value> Builder::beginReduce(ReduceOp op, std::span<const Value> extents) {
  BATON_CHECK(extents.size() <= static_cast<size_t>(kMaxRank));
  std::vector<Value> vars;
  std::vector<NodeId> ids = idsOf(extents);
  for (Value extent : extents) {
    BATON_CHECK(extent.type() == DType::I64);
    vars.emplace_back(*this, make({.op = Op::LoopVar, .type = DType::I64}, {}));
    ids.push_back(vars.back().id());
  }
  const BlockId body = newBlock();
  // The reduced value is appended to the operands by endReduce.
  open(body, make({.op = Op::Reduce, .reduceOp = op, .body = body}, ids));
  for (const Value var : vars) depths_[var.id().value()] = cursor_;
  return vars;
}

Value Builder::endReduce(Value reduced) {
  const NodeId id = open_.back().owner;
  BATON_CHECK(open_.size() > 1 && node(id).op == Op::Reduce);
  std::vector<NodeId> ids(kernel_.operandsOf(id).begin(), kernel_.operandsOf(id).end());
  ids.push_back(reduced.id());
  Node& reduce = kernel_.nodes[id.value()];
  reduce.firstOperand = static_cast<uint32_t>(kernel_.operands.size());
  reduce.operandCount = static_cast<uint32_t>(ids.size());
  kernel_.operands.insert(kernel_.operands.end(), ids.begin(), ids.end());
  switch (reduce.reduceOp) {
    case ReduceOp::Sum:
    case ReduceOp::Prod:
      BATON_CHECK(isInClass(reduced.type(), TypeClass::Arithmetic));
      reduce.type = reduced.type();
      break;
    case ReduceOp::Max:
    case ReduceOp::Min:
      BATON_CHECK(isInClass(reduced.type(), TypeClass::Comparable));
      reduce.type = reduced.type();
      break;
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin:
      BATON_CHECK(isInClass(reduced.type(), TypeClass::Comparable));
      reduce.type = DType::I64;
      break;
    case ReduceOp::All:
    case ReduceOp::Any:
      BATON_CHECK(reduced.type() == DType::Bool);
      reduce.type = DType::Bool;
      break;
  }
  close();
  depths_[id.value()] = cursor_;
  return {*this, id};
}

void Builder::end() {
  BATON_CHECK(open_.size() > 1 && node(open_.back().owner).op != Op::Reduce);
  close();
}

void Builder::nameLoop(std::string name) {
  Node& loop = kernel_.nodes[open_.back().owner.value()];
  BATON_CHECK(open_.size() > 1 && (loop.op == Op::For || loop.op == Op::Reduce) && loop.target == 0);
  kernel_.loopNames.push_back(std::move(name));
  loop.target = static_cast<uint32_t>(kernel_.loopNames.size());
}

void Builder::fail(uint32_t message, std::initializer_list<Value> values) {
  BATON_CHECK(message < kernel_.descriptor.messages.size());
  const std::vector<NodeId> ids = idsOf(std::span(values.begin(), values.size()));
  append({.op = Op::Fail, .target = message}, ids);
}

void Builder::failUnlessInside(Value index, Value extent, uint32_t message) {
  ifThen((index < i64(0)) | (index >= extent), [&] { fail(message, {index, extent}); });
}

Value Builder::clampIndex(Value index, Value extent) { return min(max(index, i64(0)), extent - i64(1)); }

Kernel Builder::take() {
  BATON_CHECK(open_.size() == 1);
  leaves_.clear();
  return std::move(kernel_);
}

Value operator+(Value a, Value b) { return a.builder().binary(Op::Add, a, b); }
Value operator-(Value a, Value b) { return a.builder().binary(Op::Sub, a, b); }
Value operator*(Value a, Value b) { return a.builder().binary(Op::Mul, a, b); }
Value operator/(Value a, Value b) { return a.builder().binary(Op::Div, a, b); }
Value operator-(Value a) { return a.builder().unary(Op::Neg, a); }
Value operator&(Value a, Value b) { return a.builder().binary(Op::And, a, b); }
Value operator|(Value a, Value b) { return a.builder().binary(Op::Or, a, b); }
Value operator^(Value a, Value b) { return a.builder().binary(Op::Xor, a, b); }
Value operator~(Value a) { return a.builder().unary(Op::Not, a); }
Value operator<(Value a, Value b) { return a.builder().binary(Op::Lt, a, b); }
Value operator<=(Value a, Value b) { return a.builder().binary(Op::Le, a, b); }
Value operator>(Value a, Value b) { return a.builder().binary(Op::Gt, a, b); }
Value operator>=(Value a, Value b) { return a.builder().binary(Op::Ge, a, b); }
Value equal(Value a, Value b) { return a.builder().binary(Op::Eq, a, b); }
Value notEqual(Value a, Value b) { return a.builder().binary(Op::Ne, a, b); }
Value min(Value a, Value b) { return a.builder().binary(Op::Min, a, b); }
Value max(Value a, Value b) { return a.builder().binary(Op::Max, a, b); }
Value sqrt(Value a) { return a.builder().unary(Op::Sqrt, a); }
Value abs(Value a) { return a.builder().unary(Op::Abs, a); }
Value floor(Value a) { return a.builder().unary(Op::Floor, a); }
Value ceil(Value a) { return a.builder().unary(Op::Ceil, a); }
Value trunc(Value a) { return a.builder().unary(Op::Trunc, a); }
Value round(Value a) { return a.builder().unary(Op::Round, a); }
Value select(Value condition, Value ifTrue, Value ifFalse) {
  return condition.builder().select(condition, ifTrue, ifFalse);
}
Value fma(Value a, Value b, Value c) { return a.builder().fma(a, b, c); }
Value cast(Value a, DType type) { return a.builder().cast(a, type); }
Value bitcast(Value a, DType type) { return a.builder().bitcast(a, type); }

}  // namespace baton::loop
