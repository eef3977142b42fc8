// Writes a loop-IR kernel: a cursor into the blocks of a Kernel, and values with operators.
//
//   Builder b(descriptor);
//   Value n = b.symbol(0);
//   b.vectorized(n, [&](Value i) { b.store(y, {i}, exp(b.load(x, {i}) * b.f32(0.5))); });
//   Kernel kernel = b.take();
//
// Every operation appends a node at the cursor, so a value may be used only inside the block
// where it was made and the blocks nested in it, and using it twice computes it once. Mistakes
// of type or arity are defects of the caller and stop the process; verify() finds the rest.
#pragma once

#include <initializer_list>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/loop/kernel.h"

namespace baton::loop {

class Builder;

/// A value of the kernel under construction; borrows the builder.
class Value {
 public:
  Value() = default;
  Value(Builder& builder, NodeId id) : builder_(&builder), id_(id) {}
  Builder& builder() const { return *builder_; }
  NodeId id() const { return id_; }
  DType type() const;

 private:
  Builder* builder_ = nullptr;
  NodeId id_;
};

class Builder {
 public:
  explicit Builder(KernelDescriptor descriptor);

  // Declarations.
  BufferIndex input(uint32_t index) const { return BufferIndex(index); }
  BufferIndex output(uint32_t index) const {
    return BufferIndex(static_cast<uint32_t>(kernel_.descriptor.inputs.size()) + index);
  }
  BufferIndex scratch(DType type, std::vector<DimExpr> extents);
  /// Adds a message to the descriptor, or finds it there.
  uint32_t message(const std::string& text);
  const KernelDescriptor& descriptor() const { return kernel_.descriptor; }

  // Leaves.
  Value symbol(uint32_t index);
  Value scalarInput(uint32_t index);
  Value constantBits(DType type, uint64_t bits);
  /// The number converted to `type` as the language does it.
  Value constant(DType type, double value);
  Value i64(int64_t value) { return constantBits(DType::I64, static_cast<uint64_t>(value)); }
  Value f32(double value) { return constant(DType::F32, value); }
  Value boolean(bool value) { return constantBits(DType::Bool, value); }
  /// An expression over the descriptor's symbols; min, max and the divisions become nodes.
  /// Extents are what they are checked to be before the kernel runs, so a zero divisor fails.
  Value dim(const DimExpr& expr);
  /// The extent of a buffer along an axis.
  Value extent(BufferIndex buffer, uint32_t axis);

  // Values.
  Value unary(Op op, Value a);
  Value binary(Op op, Value a, Value b);
  /// Integer division; `message` is reported on a zero divisor or MIN / -1.
  Value divide(Op op, Value a, Value b, uint32_t message);
  Value select(Value condition, Value ifTrue, Value ifFalse);
  Value fma(Value a, Value b, Value c);
  Value cast(Value a, DType type);
  Value bitcast(Value a, DType type);

  // Memory.
  Value load(BufferIndex buffer, std::span<const Value> indices);
  Value load(BufferIndex buffer, std::initializer_list<Value> indices) {
    return load(buffer, std::span(indices.begin(), indices.size()));
  }
  void store(BufferIndex buffer, std::span<const Value> indices, Value value);
  void store(BufferIndex buffer, std::initializer_list<Value> indices, Value value) {
    store(buffer, std::span(indices.begin(), indices.size()), value);
  }
  LocalIndex local(DType type, std::vector<int64_t> extents = {});
  Value get(LocalIndex local, std::initializer_list<Value> indices = {});
  void set(LocalIndex local, Value value) { set(local, {}, value); }
  void set(LocalIndex local, std::initializer_list<Value> indices, Value value);
  void setScalar(uint32_t scalarOutput, Value value);

  // Control. Each body is called once, with the loop variables.
  template <class Body>
  void loop(LoopKind kind, Value extent, Body&& body, uint64_t grain = 1) {
    const Value var = beginLoop(kind, extent, grain);
    body(var);
    end();
  }
  template <class Body>
  void serial(Value extent, Body&& body) {
    loop(LoopKind::Serial, extent, body);
  }
  template <class Body>
  void vectorized(Value extent, Body&& body) {
    loop(LoopKind::Vectorized, extent, body);
  }
  template <class Body>
  void unrolled(int64_t extent, Body&& body) {
    loop(LoopKind::Unrolled, i64(extent), body);
  }
  template <class Body>
  void parallel(Value extent, Body&& body, uint64_t grain = 1) {
    loop(LoopKind::Parallel, extent, body, grain);
  }
  template <class Then>
  void ifThen(Value condition, Then&& then) {
    beginIf(condition);
    then();
    end();
  }
  template <class Then, class Else>
  void ifThenElse(Value condition, Then&& then, Else&& otherwise) {
    beginIf(condition);
    then();
    beginElse();
    otherwise();
    end();
  }
  /// `body(std::span<const Value> vars)` returns the value to reduce.
  template <class Body>
  Value reduce(ReduceOp op, std::span<const Value> extents, Body&& body) {
    const std::vector<Value> vars = beginReduce(op, extents);
    return endReduce(body(std::span<const Value>(vars)));
  }
  /// One loop variable: `body(Value var)`.
  template <class Body>
  Value reduce(ReduceOp op, Value extent, Body&& body) {
    const std::vector<Value> vars = beginReduce(op, std::span(&extent, 1));
    return endReduce(body(vars[0]));
  }
  void fail(uint32_t message, std::initializer_list<Value> values = {});
  /// Fails unless 0 <= index < extent; {0} and {1} of the message are the two.
  void failUnlessInside(Value index, Value extent, uint32_t message);
  /// min(max(index, 0), extent - 1).
  Value clampIndex(Value index, Value extent);

  // The same without lambdas.
  Value beginLoop(LoopKind kind, Value extent, uint64_t grain = 1);
  void beginIf(Value condition);
  void beginElse();
  std::vector<Value> beginReduce(ReduceOp op, std::span<const Value> extents);
  Value endReduce(Value reduced);
  void end();
  /// Names the innermost open loop or reduction; `name` is an identifier that no other has.
  void nameLoop(std::string name);

  // Placement. The cursor stands in the innermost open block, but may be moved outwards: a
  // statement joins its block when it is ended, so that what is made in an enclosing block
  // meanwhile comes before it.
  /// Of the block at the cursor; the body has depth 0. Depths grow inwards, not always by one.
  size_t depth() const { return cursor_; }
  /// To an open block around the cursor, or back to where it came from.
  void moveTo(size_t depth);
  /// Depth of the block around an open one (not the body).
  size_t parentOf(size_t depth) const { return open_[depth].parent; }
  /// Depth of the block in which a value was made; 0 for leaves that are no loop variables.
  size_t depthOf(Value value) const { return depths_[value.id().value()]; }

  const Node& node(NodeId id) const { return kernel_.node(id); }
  size_t nodeCount() const { return kernel_.nodes.size(); }
  std::span<const NodeId> operandsOf(NodeId id) const { return kernel_.operandsOf(id); }
  /// The finished kernel; every block must have been ended.
  Kernel take();

 private:
  struct Open {
    BlockId block;
    NodeId owner;   // the For, If or Reduce; of no meaning for the body
    size_t parent;  // where that belongs
  };
  struct LeafKey {
    Op op;
    DType type;
    uint64_t payload;
    friend bool operator==(const LeafKey&, const LeafKey&) = default;
  };
  struct LeafHash {
    size_t operator()(const LeafKey& key) const;
  };

  NodeId append(Node node, std::span<const NodeId> operands);
  NodeId make(Node node, std::span<const NodeId> operands);
  Value leaf(Op op, DType type, uint64_t payload);
  NodeId access(Op op, DType type, uint32_t target, std::span<const Value> indices, const Value* value);
  BlockId newBlock();
  /// Makes a block the innermost one; its owner belongs to the block at the cursor.
  void open(BlockId block, NodeId owner);
  /// Ends the innermost block: its owner takes its place.
  void close();

  Kernel kernel_;
  std::vector<Open> open_;
  size_t cursor_ = 0;
  std::vector<size_t> depths_;  // by node
  std::unordered_map<LeafKey, NodeId, LeafHash> leaves_;
};

// Operators: both operands of one type.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);  ///< floats
Value operator-(Value a);
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator~(Value a);
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
Value operator>(Value a, Value b);
Value operator>=(Value a, Value b);
Value equal(Value a, Value b);
Value notEqual(Value a, Value b);
Value min(Value a, Value b);
Value max(Value a, Value b);
Value sqrt(Value a);
Value abs(Value a);
Value floor(Value a);
Value ceil(Value a);
Value trunc(Value a);
Value round(Value a);
Value select(Value condition, Value ifTrue, Value ifFalse);
Value fma(Value a, Value b, Value c);
Value cast(Value a, DType type);
Value bitcast(Value a, DType type);

// Transcendentals (kernels/loop/math), expanded in place: f32 and f64, at most 4 ulp.
Value exp(Value a);
Value log(Value a);
Value tanh(Value a);
Value sigmoid(Value a);
Value erf(Value a);
Value rsqrt(Value a);
// These compute in f64 and round once.
Value sin(Value a);
Value cos(Value a);
Value tan(Value a);
Value asin(Value a);
Value acos(Value a);
Value atan(Value a);
Value sinh(Value a);
Value cosh(Value a);
Value asinh(Value a);
Value acosh(Value a);
Value atanh(Value a);
Value log2(Value a);
Value log10(Value a);
Value pow(Value a, Value b);  ///< as C's

}  // namespace baton::loop
