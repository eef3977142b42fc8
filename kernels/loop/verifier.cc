#include "kernels/loop/verifier.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "kernels/abi/descriptor_check.h"

namespace baton::loop {

namespace {

constexpr int64_t kMaxUnroll = 1024;

bool isIdentifier(const std::string& name) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return isLetter(c) || isDigit(c) || c == '.'; });
}

/// Whether the bits are the 64-bit form of a value of the type.
bool isCanonical(DType type, uint64_t bits) {
  if (type == DType::Bool) return bits <= 1;
  const int width = sizeBytes(type) * 8;
  if (width == 64) return true;
  if (isSignedInt(type)) {
    const auto value = static_cast<int64_t>(bits);
    return value >= -(int64_t{1} << (width - 1)) && value < (int64_t{1} << (width - 1));
  }
  return bits >> width == 0;
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : k_(kernel),
        state_(kernel.nodes.size(), State::Unseen),
        blockSeen_(kernel.blocks.size(), false),
        locals_(kernel.locals.size()) {}

  Result<void> run() {
    BATON_TRY(validateDescriptor(k_.descriptor));
    BATON_TRY(declarations());
    BATON_TRY(block(BlockId(0), 1));
    return success();
  }

 private:
  enum class State : uint8_t { Unseen, InScope, Gone };
  struct LocalState {
    bool declared = false;
    bool inScope = false;
    int parallelDepth = 0;  ///< loops of each kind around the declaration
    int vectorDepth = 0;
    int reduceDepth = 0;
  };

  Error error(const std::string& message) const {
    return Error(ErrorCode::VerifyFailed, fmt::format("kernel {}: {}", k_.descriptor.name, message));
  }
  Error error(NodeId id, const std::string& message) const {
    return error(fmt::format("node {} ({}): {}", id.value(), opInfo(k_.node(id).op).name, message));
  }

  Result<void> declarations() {
    std::set<std::string> names;
    for (const KernelSymbol& symbol : k_.descriptor.symbols) {
      if (!isIdentifier(symbol.name))
        return error(fmt::format("symbol name '{}' is no identifier", symbol.name));
      if (!names.insert(symbol.name).second)
        return error(fmt::format("symbol {} is declared twice", symbol.name));
    }
    names.clear();
    for (const std::string& name : k_.loopNames) {
      if (!isIdentifier(name)) return error(fmt::format("loop name '{}' is no identifier", name));
      if (!names.insert(name).second) return error(fmt::format("two loops have the name {}", name));
    }
    for (size_t i = 0; i < k_.scratch.size(); ++i) {
      if (k_.scratch[i].extents.size() > static_cast<size_t>(kMaxRank))
        return error(fmt::format("scratch buffer {} has rank {}: at most {} is allowed", i,
                                 k_.scratch[i].extents.size(), kMaxRank));
      for (const DimExpr& extent : k_.scratch[i].extents)
        if (!isOverSymbols(extent, k_.descriptor.symbols.size()))
          return error(
              fmt::format("scratch buffer {} uses a symbol that is not declared, or is too large", i));
    }
    int64_t localBytes = 0;
    for (size_t i = 0; i < k_.locals.size(); ++i) {
      const LocalArray& local = k_.locals[i];
      const auto count = checkedElementCount(local.extents);
      if (local.extents.size() > static_cast<size_t>(kMaxRank) || !count || *count > kMaxLocalElements)
        return error(
            fmt::format("local {} is too large: at most {} elements are allowed", i, kMaxLocalElements));
      localBytes += *count * sizeBytes(local.dtype);
      if (localBytes > kMaxLocalBytes)
        return error(fmt::format("locals take more than {} bytes", kMaxLocalBytes));
    }
    if (k_.blocks.empty()) return error("there is no body");
    if (k_.nodes.size() >= UINT32_MAX / 2 || k_.operands.size() >= UINT32_MAX / 2)
      return error("too many nodes");
    return success();
  }

  Result<void> block(BlockId id, int depth) {
    if (depth > kMaxNesting) return error(fmt::format("blocks nest deeper than {}", kMaxNesting));
    if (id.value() >= k_.blocks.size()) return error(fmt::format("block {} out of range", id.value()));
    if (blockSeen_[id.value()]) return error(fmt::format("block {} is used twice", id.value()));
    blockSeen_[id.value()] = true;
    for (const NodeId node : k_.block(id).nodes) {
      if (node.value() >= k_.nodes.size()) return error(fmt::format("node {} out of range", node.value()));
      if (state_[node.value()] != State::Unseen) return error(node, "is in two places");
      if (isLeaf(k_.node(node).op)) return error(node, "a leaf is in a block");
      BATON_TRY(statement(node, depth));
      state_[node.value()] = State::InScope;
    }
    return success();
  }

  /// Ends the scope of everything that the block defines.
  void close(BlockId id) {
    for (const NodeId node : k_.block(id).nodes) {
      state_[node.value()] = State::Gone;
      if (k_.node(node).op == Op::Local) locals_[k_.node(node).target].inScope = false;
    }
  }

  /// A value that may be used here; leaves check themselves.
  Result<DType> use(NodeId user, NodeId id) {
    if (id.value() >= k_.nodes.size()) return error(user, fmt::format("operand {} out of range", id.value()));
    const Node& node = k_.node(id);
    switch (node.op) {
      case Op::Const:
        if (!isCanonical(node.type, node.bits))
          return error(user, fmt::format("constant 0x{:x} is no {}", node.bits, dtypeShortName(node.type)));
        return node.type;
      case Op::Symbol:
        if (node.target >= k_.descriptor.symbols.size() || node.type != DType::I64)
          return error(user, fmt::format("symbol {} out of range", node.target));
        return node.type;
      case Op::ScalarInput:
        if (node.target >= k_.descriptor.scalarInputs.size() ||
            node.type != k_.descriptor.scalarInputs[node.target])
          return error(user, fmt::format("scalar input {} out of range or of another type", node.target));
        return node.type;
      default: break;
    }
    if (state_[id.value()] != State::InScope)
      return error(user, fmt::format("operand {} is not defined here", id.value()));
    const bool hasValue = isValueOp(node.op) || node.op == Op::LoopVar || node.op == Op::Load ||
                          node.op == Op::GetLocal || node.op == Op::Reduce;
    if (!hasValue) return error(user, fmt::format("operand {} has no value", id.value()));
    return node.type;
  }

  Result<void> useAs(NodeId user, NodeId id, DType type) {
    BATON_TRY_ASSIGN(const DType found, use(user, id));
    if (found != type)
      return error(
          user, fmt::format("operand of type {}: expected {}", dtypeShortName(found), dtypeShortName(type)));
    return success();
  }

  Result<std::span<const NodeId>> operands(NodeId id, size_t count) {
    const Node& node = k_.node(id);
    if (uint64_t{node.firstOperand} + node.operandCount > k_.operands.size())
      return error(id, "operands out of range");
    if (node.operandCount != count)
      return error(id, fmt::format("{} operands: expected {}", node.operandCount, count));
    return k_.operandsOf(node);
  }

  Result<void> valueOp(NodeId id) {
    const Node& node = k_.node(id);
    const OpInfo& info = opInfo(node.op);
    BATON_TRY_ASSIGN(const auto ids, operands(id, static_cast<size_t>(info.arity)));
    BATON_TRY_ASSIGN(const DType first, use(id, ids[0]));
    if (node.op == Op::Cast) return success();
    if (node.op == Op::Bitcast) {
      if (first == DType::Bool || node.type == DType::Bool || sizeBytes(first) != sizeBytes(node.type))
        return error(id, fmt::format("{} as {}", dtypeShortName(first), dtypeShortName(node.type)));
      return success();
    }
    if (node.op == Op::Select) {
      BATON_TRY(useAs(id, ids[0], DType::Bool));
      BATON_TRY(useAs(id, ids[1], node.type));
      return useAs(id, ids[2], node.type);
    }
    if (!isInClass(first, info.types))
      return error(id, fmt::format("operand of type {}", dtypeShortName(first)));
    for (const NodeId operand : ids) BATON_TRY(useAs(id, operand, first));
    if (node.type != (isComparison(node.op) ? DType::Bool : first))
      return error(id, fmt::format("result of type {}", dtypeShortName(node.type)));
    if (!isIntegerDivision(node.op)) return success();
    if (node.target != kNoMessage) return message(id, node.target);
    const Node& divisor = k_.node(ids[1]);
    if (divisor.op != Op::Const || divisor.bits == 0 || (isSignedInt(first) && divisor.bits == UINT64_MAX))
      return error(id, "division that can fail has no message");
    return success();
  }

  Result<void> message(NodeId id, uint32_t index) const {
    if (index >= k_.descriptor.messages.size())
      return error(
          id, fmt::format("message {} out of range: there are {}", index, k_.descriptor.messages.size()));
    return success();
  }

  /// Indices, and the stored value when there is one.
  Result<void> access(NodeId id, size_t rank, DType type, bool stores) {
    BATON_TRY_ASSIGN(const auto ids, operands(id, rank + (stores ? 1 : 0)));
    for (size_t i = 0; i < rank; ++i) BATON_TRY(useAs(id, ids[i], DType::I64));
    if (stores) BATON_TRY(useAs(id, ids[rank], type));
    if (k_.node(id).type != type)
      return error(id, fmt::format("element type {}", dtypeShortName(k_.node(id).type)));
    return success();
  }

  Result<void> loopVar(NodeId user, NodeId var) {
    if (var.value() >= k_.nodes.size()) return error(user, "loop variable out of range");
    const Node& node = k_.node(var);
    if (node.op != Op::LoopVar || node.type != DType::I64 || state_[var.value()] != State::Unseen)
      return error(user, fmt::format("node {} is no loop variable of its own", var.value()));
    state_[var.value()] = State::InScope;
    return success();
  }

  /// That of a loop, which is no other's.
  Result<void> takeName(NodeId id) {
    const uint32_t name = k_.node(id).target;
    if (name == 0) return success();
    if (name > k_.loopNames.size()) return error(id, fmt::format("name {} out of range", name));
    if (!namesTaken_.insert(name).second)
      return error(id, fmt::format("the name {} is another loop's", k_.loopNames[name - 1]));
    return success();
  }

  Result<void> loop(NodeId id, int depth) {
    const Node& node = k_.node(id);
    BATON_TRY(takeName(id));
    BATON_TRY_ASSIGN(const auto ids, operands(id, 2));
    BATON_TRY(useAs(id, ids[0], DType::I64));
    BATON_TRY(loopVar(id, ids[1]));
    const Node& extent = k_.node(ids[0]);
    if (node.loopKind == LoopKind::Unrolled &&
        (extent.op != Op::Const || static_cast<int64_t>(extent.bits) > kMaxUnroll))
      return error(id, fmt::format("an unrolled loop needs a constant extent of at most {}", kMaxUnroll));
    if (node.loopKind == LoopKind::Parallel && (node.bits == 0 || node.bits > INT64_MAX))
      return error(id, "a parallel loop needs a grain of at least 1");
    int& around = node.loopKind == LoopKind::Parallel ? parallelDepth_ : vectorDepth_;
    const bool counts = node.loopKind == LoopKind::Parallel || node.loopKind == LoopKind::Vectorized;
    around += counts;
    BATON_TRY(block(node.body, depth + 1));
    around -= counts;
    close(node.body);
    state_[ids[1].value()] = State::Gone;
    return success();
  }

  Result<void> reduce(NodeId id, int depth) {
    const Node& node = k_.node(id);
    BATON_TRY(takeName(id));
    if (node.operandCount % 2 == 0 || node.operandCount > 2 * kMaxRank + 1)
      return error(
          id, fmt::format("{} operands: expected extents, loop variables and a value", node.operandCount));
    BATON_TRY_ASSIGN(const auto ids, operands(id, node.operandCount));
    const LoopParts parts = loopParts(k_, node);
    for (const NodeId extent : parts.extents) BATON_TRY(useAs(id, extent, DType::I64));
    for (const NodeId var : parts.vars) BATON_TRY(loopVar(id, var));
    ++reduceDepth_;
    BATON_TRY(block(node.body, depth + 1));
    --reduceDepth_;
    BATON_TRY_ASSIGN(const DType type, use(id, ids.back()));
    close(node.body);
    for (const NodeId var : parts.vars) state_[var.value()] = State::Gone;
    TypeClass allowed = TypeClass::Comparable;
    DType result = type;
    switch (node.reduceOp) {
      case ReduceOp::Sum:
      case ReduceOp::Prod: allowed = TypeClass::Arithmetic; break;
      case ReduceOp::Max:
      case ReduceOp::Min: break;
      case ReduceOp::ArgMax:
      case ReduceOp::ArgMin: result = DType::I64; break;
      case ReduceOp::All:
      case ReduceOp::Any:
        if (type != DType::Bool) return error(id, "expected a bool to reduce");
        break;
    }
    if (!isInClass(type, allowed)) return error(id, fmt::format("value of type {}", dtypeShortName(type)));
    if (node.type != result) return error(id, fmt::format("result of type {}", dtypeShortName(node.type)));
    return success();
  }

  Result<void> local(NodeId id, bool declares, bool stores) {
    const Node& node = k_.node(id);
    if (node.target >= k_.locals.size()) return error(id, fmt::format("local {} out of range", node.target));
    LocalState& state = locals_[node.target];
    const LocalArray& array = k_.locals[node.target];
    if (declares) {
      if (state.declared) return error(id, fmt::format("local {} is declared twice", node.target));
      BATON_TRY_ASSIGN(const auto ids, operands(id, 0));
      static_cast<void>(ids);
      state = {true, true, parallelDepth_, vectorDepth_, reduceDepth_};
      if (node.type != array.dtype) return error(id, "element type");
      return success();
    }
    if (!state.inScope) return error(id, fmt::format("local {} is not declared here", node.target));
    if (stores && state.parallelDepth != parallelDepth_)
      return error(id, "a local declared outside a parallel loop is set inside it");
    if (stores && state.vectorDepth != vectorDepth_ && array.extents.empty())
      return error(id, "a scalar local declared outside a vectorized loop is set inside it");
    if (stores && state.reduceDepth != reduceDepth_)
      return error(id, "a local declared outside a reduction is set inside it");
    return access(id, array.extents.size(), array.dtype, stores);
  }

  Result<void> statement(NodeId id, int depth) {
    const Node& node = k_.node(id);
    switch (node.op) {
      case Op::Load:
      case Op::Store: {
        const BufferIndex buffer(node.target);
        if (buffer.value() >= k_.bufferCount())
          return error(id, fmt::format("buffer {} out of range", node.target));
        if (node.op == Op::Store && k_.isInput(buffer)) return error(id, "an input is written");
        if (node.op == Op::Store && reduceDepth_ > 0) return error(id, "a reduction stores");
        return access(id, k_.bufferExtents(buffer).size(), k_.bufferType(buffer), node.op == Op::Store);
      }
      case Op::GetLocal: return local(id, false, false);
      case Op::SetLocal: return local(id, false, true);
      case Op::Local: return local(id, true, false);
      case Op::SetScalar: {
        if (node.target >= k_.descriptor.scalarOutputs.size())
          return error(id, fmt::format("scalar output {} out of range", node.target));
        if (parallelDepth_ + vectorDepth_ + reduceDepth_ > 0)
          return error(id, "a scalar output is set in a parallel or vectorized loop or a reduction");
        BATON_TRY_ASSIGN(const auto ids, operands(id, 1));
        const DType type = k_.descriptor.scalarOutputs[node.target];
        if (node.type != type) return error(id, "type of the scalar output");
        return useAs(id, ids[0], type);
      }
      case Op::Fail: {
        BATON_TRY(message(id, node.target));
        BATON_TRY_ASSIGN(const auto ids, operands(id, node.operandCount));
        for (const NodeId operand : ids) BATON_TRY(useAs(id, operand, DType::I64));
        return success();
      }
      case Op::For: return loop(id, depth);
      case Op::If: {
        BATON_TRY_ASSIGN(const auto ids, operands(id, 1));
        BATON_TRY(useAs(id, ids[0], DType::Bool));
        BATON_TRY(block(node.body, depth + 1));
        close(node.body);
        BATON_TRY(block(node.otherwise, depth + 1));
        close(node.otherwise);
        return success();
      }
      case Op::Reduce: return reduce(id, depth);
      default: return valueOp(id);
    }
  }

  const Kernel& k_;
  std::vector<State> state_;
  std::vector<bool> blockSeen_;
  std::vector<LocalState> locals_;
  std::set<uint32_t> namesTaken_;
  int parallelDepth_ = 0;
  int vectorDepth_ = 0;
  int reduceDepth_ = 0;
};

}  // namespace

Result<void> verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace baton::loop
