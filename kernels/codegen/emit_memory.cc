// Loads, stores and locals, as scalars and in lanes.
#include <algorithm>

#include "base/error.h"
#include "kernels/codegen/function_emitter.h"
#include "kernels/codegen/value_ops.h"

namespace baton::codegen {

using loop::Node;
using loop::NodeId;
using loop::Op;

llvm::Value* FunctionEmitter::scalarOf(NodeId id) {
  const Node& node = k_.node(id);
  switch (node.op) {
    case Op::Const: return constantOf(context_, node.type, node.bits);
    case Op::Symbol: return symbols_[node.target];
    case Op::ScalarInput: return scalarInputs_[node.target];
    default: return values_[id.value()];
  }
}

llvm::Value* FunctionEmitter::splat(Value* scalar) const {
  // A constant splat needs no builder; b_ is only const here by declaration.
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(scalar))
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_.width), constant);
  return const_cast<llvm::IRBuilder<>&>(b_).CreateVectorSplat(lanes_.width, scalar);
}

llvm::Value* FunctionEmitter::lanesFrom(Value* first, int64_t stride) {
  Value* const start = splat(first);
  if (stride == 0) return start;
  std::vector<llvm::Constant*> steps;
  for (unsigned lane = 0; lane < lanes_.width; ++lane)
    steps.push_back(llvm::ConstantInt::get(b_.getInt64Ty(), static_cast<uint64_t>(stride) * lane));
  return b_.CreateAdd(start, llvm::ConstantVector::get(steps));
}

llvm::Value* FunctionEmitter::vectorOf(NodeId id) {
  Value* const value = scalarOf(id);
  if (value->getType()->isVectorTy()) return value;
  const std::optional<int64_t> stride = lanes_.analysis->stride(id);
  BATON_CHECK(stride.has_value());
  return lanesFrom(value, *stride);
}

void FunctionEmitter::annotate(llvm::Instruction* access, uint32_t buffer) const {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, shared_.ownScope[buffer]);
  access->setMetadata(llvm::LLVMContext::MD_noalias, shared_.otherScopes[buffer]);
}

/// Positions along axes that were one number, as floordiv(i, n) and floormod(i, n) along an axis of n, are
/// that number along the latter axis. Axes of one element do not count.
std::vector<FunctionEmitter::AxisPosition> FunctionEmitter::joinedAxes(
    uint32_t buffer, std::span<const NodeId> indices) const {
  const std::vector<DimExpr>& extents = k_.bufferExtents(loop::BufferIndex(buffer));
  const auto isExtent = [&](NodeId id, const DimExpr& extent) {
    const Node& node = k_.node(id);
    if (node.op == Op::Const) return extent.asConstant() == static_cast<int64_t>(node.bits);
    return node.op == Op::Symbol && extent == DimExpr::symbol(DimSymbol(node.target));
  };
  std::vector<AxisPosition> joined;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    const Node& inner = k_.node(indices[axis]);
    if (extents[axis].asConstant() == 1 && inner.op == Op::Const) continue;  // 0
    if (!joined.empty() && inner.op == Op::FloorMod) {
      const Node& outer = k_.node(joined.back().position);
      const auto a = k_.operandsOf(outer);
      const auto b = k_.operandsOf(inner);
      if (outer.op == Op::FloorDiv && a[0] == b[0] && a[1] == b[1] && isExtent(b[1], extents[axis])) {
        joined.back() = {b[0], axis};
        continue;
      }
    }
    joined.push_back({indices[axis], axis});
  }
  return joined;
}

namespace {

/// A number as a sum of others and a constant.
struct Sum {
  llvm::SmallVector<llvm::Value*, 4> terms;
  uint64_t constant = 0;
};

void addTo(Sum& sum, llvm::Value* value, unsigned depth = 0) {
  constexpr unsigned kDeepest = 6;
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    sum.constant += constant->getZExtValue();
    return;
  }
  auto* const add = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (add == nullptr || add->getOpcode() != llvm::Instruction::Add || depth == kDeepest) {
    sum.terms.push_back(value);
    return;
  }
  addTo(sum, add->getOperand(0), depth + 1);
  addTo(sum, add->getOperand(1), depth + 1);
}

}  // namespace

/// Adds a position along an axis. Where the stride is not known, LLVM does not see what iterations of an
/// unrolled loop have in common: constant parts of positions are kept apart. A few strides after a place have
/// an address in one instruction, so every fourth iteration of those in lanes has a place of its own.
void FunctionEmitter::addPosition(Offset& offset, Value* position, Value* stride) {
  Sum sum;
  if (!llvm::isa<llvm::Constant>(stride)) addTo(sum, position);
  if (sum.constant == 0 || sum.terms.empty()) {
    // In bounds by the program's promise, so nothing wraps.
    offset.shared = b_.CreateNSWAdd(offset.shared, b_.CreateNSWMul(position, stride));
    return;
  }
  Value* shared = sum.terms[0];
  for (Value* const term : llvm::ArrayRef(sum.terms).drop_front()) shared = b_.CreateAdd(shared, term);
  Value* const bytes = b_.CreateMul(stride, i64(offset.elementBytes));
  const auto addTimes = [&](Value*& to, uint64_t count) {
    to = b_.CreateAdd(to, b_.CreateMul(bytes, b_.getInt64(count)));
  };
  offset.shared = b_.CreateAdd(offset.shared, b_.CreateMul(shared, stride));
  const uint64_t own = offset.isInFours ? sum.constant % 4 : sum.constant;
  addTimes(offset.own, own);
  addTimes(offset.fours, sum.constant - own);
}

/// An address that LLVM does not look into, lest it be counted on in registers for each of its neighbours.
llvm::Value* FunctionEmitter::opaque(Value* address) { return b_.CreateStripInvariantGroup(address); }

FunctionEmitter::Address FunctionEmitter::elementAddress(uint32_t buffer, std::span<const NodeId> indices) {
  llvm::Type* const element = memoryType(context_, k_.bufferType(loop::BufferIndex(buffer)));
  const std::vector<Value*>& strides = bufferStrides_[buffer];
  const auto isConstant = [](Value* value, uint64_t wanted) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant != nullptr && constant->getZExtValue() == wanted;
  };
  const std::vector<AxisPosition> axes = joinedAxes(buffer, indices);
  const auto laneStride = [&](NodeId position) {
    return lanes_.width == 0 ? std::optional<int64_t>(0) : lanes_.analysis->stride(position);
  };
  const bool isUniform = std::all_of(
      axes.begin(), axes.end(), [&](const AxisPosition& axis) { return laneStride(axis.position) == 0; });
  const bool isKnown = std::all_of(strides.begin(), strides.end(),
                                   [](Value* stride) { return llvm::isa<llvm::Constant>(stride); });
  Offset offset{.shared = i64(0),
                .fours = i64(0),
                .own = i64(0),
                .isInFours = isUnrolled_ && !isUniform && !isKnown,
                .elementBytes = sizeBytes(k_.bufferType(loop::BufferIndex(buffer)))};
  Value* step = i64(0);         // from lane to lane
  Value* laneOffset = nullptr;  // of lanes without such a step
  for (const auto& [position, axis] : axes) {
    if (const std::optional<int64_t> stride = laneStride(position)) {
      addPosition(offset, scalarOf(position), strides[axis]);
      if (*stride != 0) step = b_.CreateAdd(step, b_.CreateMul(i64(*stride), strides[axis]));
    } else {
      Value* const term = b_.CreateMul(vectorOf(position), splat(strides[axis]));
      laneOffset = laneOffset == nullptr ? term : b_.CreateAdd(laneOffset, term);
    }
  }
  const bool isOneAddress = isUniform || (laneOffset == nullptr && isConstant(step, 1));
  // Parts of an address may be out of bounds, and lanes that are not active.
  const bool isWhole = isConstant(offset.own, 0) && isConstant(offset.fours, 0);
  Value* first =
      b_.CreateGEP(element, buffers_[buffer], offset.shared, "",
                   isOneAddress && isWhole ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none());
  if (offset.isInFours) first = opaque(first);
  if (!isConstant(offset.fours, 0)) first = opaque(b_.CreatePtrAdd(first, offset.fours));
  if (!isConstant(offset.own, 0)) first = b_.CreatePtrAdd(first, offset.own);
  if (isOneAddress) return {first, first};
  // The same all the time, unless lanes go their own ways.
  Value* const steps = b_.CreateMul(splat(step), lanesFrom(i64(0), 1));
  if (laneOffset != nullptr) return {b_.CreateGEP(element, first, b_.CreateAdd(steps, laneOffset)), first};
  return {b_.CreateGEP(element, first, steps), first, llvm::isa<llvm::Constant>(step) ? nullptr : step};
}

void FunctionEmitter::load(NodeId id, const Node& node) {
  const auto indices = k_.operandsOf(node);
  llvm::Type* const element = memoryType(context_, node.type);
  const llvm::Align align(static_cast<uint64_t>(sizeBytes(node.type)));
  const Address address = elementAddress(node.target, indices);
  const auto single = [&](llvm::Type* type, Value* at) {
    llvm::LoadInst* const loaded = b_.CreateAlignedLoad(type, at, align);
    annotate(loaded, node.target);
    return loaded;
  };
  Value* loaded = nullptr;
  const bool isUniform = lanes_.width == 0 || lanes_.analysis->stride(id) == 0;
  if (isUniform) {
    loaded = single(element, address.each);
  } else if (isOneByOne(address)) {
    loaded = llvm::PoisonValue::get(vectorType(element));
    Value* at = address.first;
    for (unsigned lane = 0; lane < lanes_.width; ++lane) {
      loaded = b_.CreateInsertElement(loaded, single(element, at), lane);
      at = b_.CreateGEP(element, at, address.step);
    }
  } else if (address.each->getType()->isVectorTy()) {
    Value* const mask = lanes_.mask != nullptr ? lanes_.mask : splat(b_.getTrue());
    llvm::CallInst* const gathered = b_.CreateMaskedGather(vectorType(element), address.each, align, mask,
                                                           llvm::Constant::getNullValue(vectorType(element)));
    annotate(gathered, node.target);
    loaded = gathered;
  } else if (lanes_.mask != nullptr) {
    llvm::CallInst* const part = b_.CreateMaskedLoad(vectorType(element), address.each, align, lanes_.mask,
                                                     llvm::Constant::getNullValue(vectorType(element)));
    annotate(part, node.target);
    loaded = part;
  } else {
    loaded = single(vectorType(element), address.each);
  }
  values_[id.value()] = fromMemory(b_, node.type, loaded);
}

void FunctionEmitter::store(const Node& node) {
  const auto ids = k_.operandsOf(node);
  const llvm::Align align(static_cast<uint64_t>(sizeBytes(node.type)));
  const Address address = elementAddress(node.target, ids.first(ids.size() - 1));
  Value* const value =
      toMemory(b_, node.type, lanes_.width == 0 ? scalarOf(ids.back()) : vectorOf(ids.back()));
  if (lanes_.width > 0 && isOneByOne(address)) {
    Value* at = address.first;
    for (unsigned lane = 0; lane < lanes_.width; ++lane) {
      annotate(b_.CreateAlignedStore(b_.CreateExtractElement(value, lane), at, align), node.target);
      at = b_.CreateGEP(memoryType(context_, node.type), at, address.step);
    }
    return;
  }
  llvm::Instruction* stored = nullptr;
  if (address.each->getType()->isVectorTy())
    stored = b_.CreateMaskedScatter(value, address.each, align, lanes_.mask);
  else if (lanes_.mask != nullptr)
    stored = b_.CreateMaskedStore(value, address.each, align, lanes_.mask);
  else
    stored = b_.CreateAlignedStore(value, address.each, align);
  annotate(stored, node.target);
}

void FunctionEmitter::declareLocal(const Node& node) {
  const loop::LocalArray& array = k_.locals[node.target];
  const auto count = static_cast<uint64_t>(array.elementCount());
  llvm::Type* element = memoryType(context_, array.dtype);
  if (lanes_.width > 0) element = vectorType(element);
  LocalStorage& storage = locals_[node.target];
  // The same local may be emitted more than once, in lanes of several widths.
  if (storage.memory == nullptr || storage.width != lanes_.width) {
    storage.memory = allocate(llvm::ArrayType::get(element, count), "local");
    storage.pointer = storage.memory;
    storage.width = lanes_.width;
  }
  const llvm::DataLayout& layout = shared_.module.getDataLayout();
  const uint64_t size = layout.getTypeAllocSize(element) * count;
  if (size > 0) b_.CreateMemSet(storage.pointer, b_.getInt8(0), size, storage.memory->getAlign());
}

FunctionEmitter::LocalPlace FunctionEmitter::localPlace(const Node& node, std::span<const NodeId> indices) {
  const loop::LocalArray& array = k_.locals[node.target];
  const LocalStorage& storage = locals_[node.target];
  Value* offset = i64(0);
  LocalPlace place{.isVector = storage.width > 0};
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    Value* const index = scalarOf(indices[axis]);
    offset = b_.CreateNSWAdd(b_.CreateNSWMul(offset, i64(array.extents[axis])), index);
    // Lanes over consecutive elements of a local that exists once. Where lanes are masked, the
    // others must not leave the array: they do not if the first index is a known constant.
    if (lanes_.width == 0 || lanes_.analysis->stride(indices[axis]) != 1) continue;
    place.isVector = true;
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index);
    const bool fits = constant != nullptr && constant->getSExtValue() >= 0 &&
                      constant->getSExtValue() + int64_t{lanes_.width} <= array.extents[axis];
    place.needsMask = lanes_.mask != nullptr && !fits;
  }
  llvm::Type* element = memoryType(context_, array.dtype);
  if (storage.width > 0) element = llvm::FixedVectorType::get(element, storage.width);
  place.address = b_.CreateInBoundsGEP(element, storage.pointer, offset);
  place.align = storage.width > 0 ? shared_.module.getDataLayout().getABITypeAlign(element)
                                  : llvm::Align(static_cast<uint64_t>(sizeBytes(node.type)));
  return place;
}

/// Lanes down a column of a local that exists once.
llvm::Value* FunctionEmitter::column(const Node& node, std::span<const NodeId> indices) {
  const loop::LocalArray& array = k_.locals[node.target];
  llvm::Type* const element = memoryType(context_, array.dtype);
  const llvm::Align align(static_cast<uint64_t>(sizeBytes(array.dtype)));
  Value* const storage = locals_[node.target].pointer;
  Value* const first = scalarOf(indices[0]);
  Value* const at = scalarOf(indices[1]);
  const int64_t side = array.extents[1];
  const auto* row = llvm::dyn_cast<llvm::ConstantInt>(first);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(at);
  const bool isSquare = array.extents[0] == side && side == lanes_.width && lanes_.mask == nullptr &&
                        row != nullptr && row->isZero() && constant != nullptr;
  if (!isSquare) {
    Value* const offsets = b_.CreateAdd(b_.CreateMul(lanesFrom(first, 1), splat(i64(side))), splat(at));
    Value* const mask = lanes_.mask != nullptr ? lanes_.mask : splat(b_.getTrue());
    return b_.CreateMaskedGather(vectorType(element), b_.CreateGEP(element, storage, offsets), align, mask,
                                 llvm::Constant::getNullValue(vectorType(element)));
  }
  // The rows, transposed. Columns that are read in turn share all of this.
  std::vector<Value*> rows;
  for (int64_t i = 0; i < side; ++i)
    rows.push_back(b_.CreateAlignedLoad(vectorType(element),
                                        b_.CreateInBoundsGEP(element, storage, i64(i * side)), align));
  return rows[transposeRows(rows, sizeBytes(array.dtype), constant->getZExtValue())];
}

/// Transposes a square of whole rows, in instructions that processors have, and says which row a column is
/// then.
size_t FunctionEmitter::transposeRows(std::vector<Value*>& rows, int64_t elementBytes, size_t wanted) {
  constexpr int64_t kGroupBytes = 16;
  const auto side = static_cast<int64_t>(rows.size());
  const int64_t group = std::min(side, kGroupBytes / elementBytes);
  /// Rows whose numbers differ by `distance` become those that `lower` and `upper` pick from both.
  const auto pairs = [&](int64_t distance, const auto& lower, const auto& upper) {
    std::vector<int> first;
    std::vector<int> second;
    for (int64_t lane = 0; lane < side; ++lane) {
      first.push_back(static_cast<int>(lower(lane)));
      second.push_back(static_cast<int>(upper(lane)));
    }
    for (int64_t i = 0; i < side; ++i) {
      if ((i & distance) != 0) continue;
      Value*& a = rows[static_cast<size_t>(i)];
      Value*& b = rows[static_cast<size_t>(i + distance)];
      Value* const combined = b_.CreateShuffleVector(a, b, first);
      b = b_.CreateShuffleVector(a, b, second);
      a = combined;
    }
  };
  // Inside of groups, pieces of 1, 2, 4, ... elements of one row and of the other in turn, from the first
  // half of the groups and from the second one.
  for (int64_t piece = 1; piece < group; piece *= 2) {
    const auto from = [&](int64_t lane) {
      const int64_t inGroup = lane % group;
      const int64_t isOther = inGroup / piece % 2;
      return isOther * side + lane - inGroup + inGroup / (2 * piece) * piece + inGroup % piece;
    };
    pairs(piece, from, [&](int64_t lane) { return from(lane) + group / 2; });
  }
  // Groups that are on the wrong side of the diagonal change places.
  for (int64_t distance = group; distance < side; distance *= 2)
    pairs(
        distance, [&](int64_t lane) { return (lane & distance) != 0 ? side + lane - distance : lane; },
        [&](int64_t lane) { return (lane & distance) != 0 ? side + lane : lane + distance; });
  // The halves in turn have turned the bits of the number round.
  auto row = static_cast<int64_t>(wanted) / group * group;
  for (int64_t bit = 1, back = group / 2; bit < group; bit *= 2, back /= 2)
    if ((static_cast<int64_t>(wanted) & bit) != 0) row += back;
  return static_cast<size_t>(row);
}

void FunctionEmitter::getLocal(NodeId id, const Node& node) {
  const auto indices = k_.operandsOf(node);
  const bool isColumn = lanes_.width > 0 && locals_[node.target].width == 0 && indices.size() == 2 &&
                        lanes_.analysis->stride(indices[0]) == 1;
  if (isColumn) {
    values_[id.value()] = fromMemory(b_, node.type, column(node, indices));
    return;
  }
  const LocalPlace place = localPlace(node, k_.operandsOf(node));
  llvm::Type* element = memoryType(context_, node.type);
  if (place.isVector) element = vectorType(element);
  Value* loaded = nullptr;
  if (place.needsMask)
    loaded = b_.CreateMaskedLoad(element, place.address, place.align, lanes_.mask,
                                 llvm::Constant::getNullValue(element));
  else
    loaded = b_.CreateAlignedLoad(element, place.address, place.align);
  values_[id.value()] = fromMemory(b_, node.type, loaded);
}

void FunctionEmitter::setLocal(const Node& node) {
  const auto ids = k_.operandsOf(node);
  const LocalPlace place = localPlace(node, ids.first(ids.size() - 1));
  Value* value = toMemory(b_, node.type, place.isVector ? vectorOf(ids.back()) : scalarOf(ids.back()));
  if (place.needsMask) {
    b_.CreateMaskedStore(value, place.address, place.align, lanes_.mask);
    return;
  }
  if (lanes_.mask != nullptr && place.isVector) {
    Value* const old = b_.CreateAlignedLoad(value->getType(), place.address, place.align);
    value = b_.CreateSelect(lanes_.mask, value, old);
  }
  b_.CreateAlignedStore(value, place.address, place.align);
}

}  // namespace baton::codegen
