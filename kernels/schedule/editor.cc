#include "kernels/schedule/editor.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/dim_dividend.h"

namespace baton::schedule {

void Editor::reindex() {
  blockOf_.assign(k_.nodes.size(), std::nullopt);
  ownerOf_.assign(k_.blocks.size(), std::nullopt);
  outer_.assign(k_.blocks.size(), std::nullopt);
  position_.assign(k_.nodes.size(), 0);
  next_ = 0;
  index(BlockId(0), std::nullopt);
}

// Blocks nest at most loop::kMaxNesting deep.
void Editor::index(BlockId block, std::optional<NodeId> owner) {
  ownerOf_[block.value()] = owner;
  if (owner) outer_[block.value()] = blockOf_[owner->value()];
  for (const NodeId id : k_.block(block).nodes) {
    blockOf_[id.value()] = block;
    position_[id.value()] = next_++;
    const Node& node = k_.node(id);
    if (node.op == Op::For || node.op == Op::Reduce) {
      for (const NodeId var : loopParts(k_, node).vars) {
        blockOf_[var.value()] = node.body;
        position_[var.value()] = next_;
      }
      index(node.body, id);
    } else if (node.op == Op::If) {
      index(node.body, id);
      index(node.otherwise, id);
    }
  }
}

size_t Editor::placeIn(BlockId block, NodeId id) const {
  const Nodes& nodes = nodesOf(block);
  return static_cast<size_t>(std::find(nodes.begin(), nodes.end(), id) - nodes.begin());
}

bool Editor::isInside(BlockId inner, BlockId outer) const {
  for (std::optional<BlockId> at = inner; at; at = outer_[at->value()])
    if (*at == outer) return true;
  return false;
}

bool Editor::isMadeIn(NodeId value, BlockId block) const {
  const std::optional<BlockId> own = blockOf(value);
  return own && isInside(*own, block);
}

Nodes Editor::allIn(BlockId block) const {
  Nodes all;
  for (const NodeId id : nodesOf(block)) {
    all.push_back(id);
    const Node& own = node(id);
    const auto join = [&](BlockId inner) {
      const Nodes nested = allIn(inner);
      all.insert(all.end(), nested.begin(), nested.end());
    };
    if (own.op == Op::For || own.op == Op::Reduce || own.op == Op::If) join(own.body);
    if (own.op == Op::If) join(own.otherwise);
  }
  return all;
}

namespace {

Error noSuch(const char* what, std::string_view name) {
  return Error(ErrorCode::InvalidArgument, fmt::format("there is no {} {}", what, name));
}

}  // namespace

Result<NodeId> Editor::loopNamed(std::string_view name) const {
  for (const NodeId id : allIn(BlockId(0)))
    if (node(id).op == Op::For && loop::loopName(k_, node(id)) == name) return id;
  return noSuch("loop", name);
}

Result<NodeId> Editor::reductionNamed(std::string_view name) const {
  for (const NodeId id : allIn(BlockId(0)))
    if (node(id).op == Op::Reduce && loop::loopName(k_, node(id)) == name) return id;
  return noSuch("reduction", name);
}

Result<loop::BufferIndex> Editor::bufferNamed(std::string_view name) const {
  const size_t inputs = k_.descriptor.inputs.size();
  const size_t outputs = k_.descriptor.outputs.size();
  for (uint32_t i = 0; i < k_.bufferCount(); ++i) {
    const std::string own = i < inputs             ? fmt::format("in{}", i)
                            : i < inputs + outputs ? fmt::format("out{}", i - inputs)
                                                   : fmt::format("tmp{}", i - inputs - outputs);
    if (own == name) return loop::BufferIndex(i);
  }
  return noSuch("buffer", name);
}

Result<void> Editor::nameLoop(NodeId loop, std::string_view name) {
  std::vector<std::string>& names = k_.loopNames;
  if (std::find(names.begin(), names.end(), name) != names.end())
    return Error(ErrorCode::InvalidArgument, fmt::format("there is a loop {} already", name));
  names.emplace_back(name);
  node(loop).target = static_cast<uint32_t>(names.size());
  return success();
}

NodeId Editor::make(Node node, std::span<const NodeId> operands) {
  const NodeId id(static_cast<uint32_t>(k_.nodes.size()));
  k_.nodes.push_back(node);
  setOperands(id, operands);
  return id;
}

void Editor::setOperands(NodeId id, std::span<const NodeId> operands) {
  const Nodes copy(operands.begin(), operands.end());  // they may be those of a node
  Node& own = node(id);
  own.firstOperand = static_cast<uint32_t>(k_.operands.size());
  own.operandCount = static_cast<uint32_t>(copy.size());
  k_.operands.insert(k_.operands.end(), copy.begin(), copy.end());
}

NodeId Editor::number(int64_t value) {
  return make({.op = Op::Const, .type = DType::I64, .bits = static_cast<uint64_t>(value)}, {});
}

std::optional<int64_t> Editor::constantOf(NodeId id) const {
  const Node& own = node(id);
  if (own.op != Op::Const || own.type != DType::I64) return std::nullopt;
  return static_cast<int64_t>(own.bits);
}

NodeId Editor::arithmetic(Nodes& out, Op op, NodeId a, NodeId b) {
  const std::optional<int64_t> x = constantOf(a);
  const std::optional<int64_t> y = constantOf(b);
  const auto wrap = [](uint64_t bits) { return static_cast<int64_t>(bits); };
  const auto bits = [](int64_t value) { return static_cast<uint64_t>(value); };
  if (x && y) {
    switch (op) {
      case Op::Add: return number(wrap(bits(*x) + bits(*y)));
      case Op::Sub: return number(wrap(bits(*x) - bits(*y)));
      case Op::Mul: return number(wrap(bits(*x) * bits(*y)));
      case Op::Min: return number(std::min(*x, *y));
      case Op::Max: return number(std::max(*x, *y));
      default: break;
    }
  }
  if (op == Op::Add && x == 0) return b;
  if ((op == Op::Add || op == Op::Sub) && y == 0) return a;
  if (op == Op::Mul && x == 1) return b;
  if (op == Op::Mul && y == 1) return a;
  out.push_back(make({.op = op, .type = DType::I64}, {a, b}));
  return out.back();
}

NodeId Editor::divide(Nodes& out, Op op, NodeId a, NodeId b) {
  if (constantOf(b) == 1) return op == Op::FloorDiv ? a : number(0);
  uint32_t message = loop::kNoMessage;
  if (constantOf(b).value_or(0) <= 0) {
    std::vector<std::string>& messages = k_.descriptor.messages;
    const auto found = std::find(messages.begin(), messages.end(), loop::kZeroExtentMessage);
    message = static_cast<uint32_t>(found - messages.begin());
    if (found == messages.end()) messages.emplace_back(loop::kZeroExtentMessage);
  }
  out.push_back(make({.op = op, .type = DType::I64, .target = message}, {a, b}));
  return out.back();
}

namespace {

struct DimNodes {
  using Value = NodeId;
  Editor& editor;
  Nodes& out;

  NodeId number(int64_t value) { return editor.number(value); }
  NodeId symbol(DimSymbol symbol) {
    return editor.make({.op = Op::Symbol, .type = DType::I64, .target = symbol.value()}, {});
  }
  NodeId add(NodeId a, NodeId b) { return editor.add(out, a, b); }
  NodeId multiply(NodeId a, NodeId b) { return editor.mul(out, a, b); }
  NodeId operation(DimOp op, NodeId a, NodeId b) {
    switch (op) {
      case DimOp::FloorDiv: return editor.divide(out, Op::FloorDiv, a, b);
      case DimOp::FloorMod: return editor.divide(out, Op::FloorMod, a, b);
      case DimOp::CeilDiv:  // -floor_div(-a, b)
        return editor.sub(out, number(0), editor.divide(out, Op::FloorDiv, editor.sub(out, number(0), a), b));
      case DimOp::Min: return editor.arithmetic(out, Op::Min, a, b);
      case DimOp::Max: return editor.arithmetic(out, Op::Max, a, b);
      case DimOp::TooLarge: break;  // verify() has excluded it
    }
    return number(0);
  }
};

}  // namespace

NodeId Editor::dim(Nodes& out, const DimExpr& expr) { return writeDim(DimNodes{*this, out}, expr); }

BlockId Editor::newBlock(Nodes nodes) {
  k_.blocks.push_back({std::move(nodes)});
  return BlockId(static_cast<uint32_t>(k_.blocks.size() - 1));
}

void Editor::insertBefore(NodeId place, std::span<const NodeId> nodes) {
  const BlockId block = *blockOf(place);
  Nodes& all = nodesOf(block);
  all.insert(std::find(all.begin(), all.end(), place), nodes.begin(), nodes.end());
}

void Editor::insertAtStart(BlockId block, std::span<const NodeId> nodes) {
  Nodes& all = nodesOf(block);
  all.insert(all.begin(), nodes.begin(), nodes.end());
}

void Editor::insertAtEnd(BlockId block, std::span<const NodeId> nodes) {
  Nodes& all = nodesOf(block);
  all.insert(all.end(), nodes.begin(), nodes.end());
}

void Editor::remove(NodeId id) {
  Nodes& all = nodesOf(*blockOf(id));
  all.erase(std::find(all.begin(), all.end(), id));
}

void Editor::replaceUses(NodeId old, NodeId by) {
  std::replace(k_.operands.begin(), k_.operands.end(), old, by);
}

void Editor::removeScratch(loop::BufferIndex buffer) {
  const size_t first = k_.descriptor.inputs.size() + k_.descriptor.outputs.size();
  k_.scratch.erase(k_.scratch.begin() + static_cast<std::ptrdiff_t>(buffer.value() - first));
  for (Node& node : k_.nodes)
    if ((node.op == Op::Load || node.op == Op::Store) && node.target > buffer.value()) --node.target;
}

uint32_t Editor::addLocal(loop::LocalArray array) {
  k_.locals.push_back(std::move(array));
  return static_cast<uint32_t>(k_.locals.size() - 1);
}

void Editor::removeLocal(uint32_t local) {
  k_.locals.erase(k_.locals.begin() + local);
  for (Node& node : k_.nodes)
    if ((node.op == Op::Local || node.op == Op::GetLocal || node.op == Op::SetLocal) && node.target > local)
      --node.target;
}

}  // namespace baton::schedule
