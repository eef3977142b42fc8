// Reductions: those that may be combined in any order use accumulators of their own in each lane;
// float sums and products are in emit_ordered.cc.
#include <algorithm>

#include "base/error.h"
#include "kernels/codegen/float_extremes.h"
#include "kernels/codegen/function_emitter.h"
#include "kernels/codegen/value_ops.h"

namespace baton::codegen {

using loop::Node;
using loop::NodeId;
using loop::ReduceOp;

llvm::Value* FunctionEmitter::reducedOf(const Node& node) {
  const NodeId value = reducedValue(k_, node);
  return lanes_.width == 0 ? scalarOf(value) : vectorOf(value);
}

/// p[j] op p[j + half], until one is left.
llvm::Value* FunctionEmitter::foldLanes(ReduceOp op, DType type, Value* vector) {
  while (llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements() > 1)
    vector = emitCombine(b_, op, type, halfOf(b_, vector, false), halfOf(b_, vector, true));
  return b_.CreateExtractElement(vector, uint64_t{0});
}

void FunctionEmitter::reduce(NodeId id, const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  std::optional<LaneAnalysis> analysis;
  if (lanes_.width == 0 && !parts.vars.empty()) {
    analysis.emplace(LaneAnalysis::of(k_, node.body, parts.vars.back()));
    if (!analysis->isVectorizable()) analysis.reset();
  }
  const LaneAnalysis* const lanes = analysis ? &*analysis : nullptr;
  const DType type = k_.node(reducedValue(k_, node)).type;
  switch (node.reduceOp) {
    case ReduceOp::Sum:
    case ReduceOp::Prod:
      if (isFloat(type)) return reduceOrdered(id, node, lanes);
      return reduceAnyOrder(id, node, lanes);
    case ReduceOp::Max:
    case ReduceOp::Min:
    case ReduceOp::All:
    case ReduceOp::Any: return reduceAnyOrder(id, node, lanes);
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin: return reduceArg(id, node);
  }
}

void FunctionEmitter::reduceAnyOrder(NodeId id, const Node& node, const LaneAnalysis* analysis) {
  const loop::LoopParts parts = loopParts(k_, node);
  const DType type = k_.node(reducedValue(k_, node)).type;
  const ReduceOp op = node.reduceOp;
  llvm::Constant* const identity = reduceIdentity(context_, op, type);
  const auto take = [&](llvm::AllocaInst* accumulator, Value* value) {
    Value* const old = b_.CreateLoad(accumulator->getAllocatedType(), accumulator);
    b_.CreateStore(emitCombine(b_, op, type, old, value), accumulator);
  };
  std::vector<Value*> extents;
  for (const NodeId extent : parts.extents) extents.push_back(scalarOf(extent));

  llvm::Type* const scalarType = registerType(context_, type);
  llvm::Type* const singleType = lanes_.width == 0 ? scalarType : vectorType(scalarType);
  llvm::AllocaInst* const single = allocate(singleType, "accumulator");
  b_.CreateStore(lanes_.width == 0 ? identity : splat(identity), single);
  if (analysis == nullptr) {
    nest(extents, parts.vars, [&] {
      block(node.body);
      take(single, reducedOf(node));
    });
    values_[id.value()] = b_.CreateLoad(singleType, single);
    return;
  }

  const unsigned width = shared_.nativeLanes;
  const unsigned repeat = analysis->isLight() ? 4 : 1;
  auto* const wideType = llvm::FixedVectorType::get(scalarType, width);
  llvm::Constant* const wideIdentity =
      llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width), identity);
  const auto make = [&](llvm::Type* wanted) { return allocate(wanted, "accumulators"); };
  std::optional<FloatExtremes> extremes;
  std::vector<llvm::AllocaInst*> wides;
  if (isFloat(type) && (op == ReduceOp::Max || op == ReduceOp::Min)) {
    extremes.emplace(b_, op == ReduceOp::Max, wideType, repeat, width == 16, make);
  } else {
    for (unsigned i = 0; i < repeat; ++i) {
      wides.push_back(make(wideType));
      b_.CreateStore(wideIdentity, wides.back());
    }
  }
  const auto takeWide = [&](std::span<Value* const> vectors) {
    if (extremes) return extremes->take(vectors);
    for (size_t i = 0; i < vectors.size(); ++i) take(wides[i], vectors[i]);
  };
  /// The value of the body in the lanes from `first` on.
  const auto valueAt = [&](Value* first, Value* mask) {
    Value* value = nullptr;
    inLanes(width, *analysis, parts.vars.back(), first, mask, [&] {
      block(node.body);
      value = reducedOf(node);
    });
    return mask == nullptr ? value : b_.CreateSelect(mask, value, wideIdentity);
  };
  nest(std::span(extents).first(extents.size() - 1), parts.vars.first(extents.size() - 1), [&] {
    Value* const count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extents.back(), i64(0));
    Value* const wideEnd = b_.CreateAnd(count, i64(-int64_t{width * repeat}));
    countedLoop(i64(0), wideEnd, int64_t{width} * repeat, true, [&](Value* first) {
      std::vector<Value*> vectors;
      for (unsigned i = 0; i < repeat; ++i)
        vectors.push_back(valueAt(b_.CreateNSWAdd(first, i64(int64_t{i} * width)), nullptr));
      takeWide(vectors);
    });
    Value* end = wideEnd;
    if (repeat > 1) {
      end = b_.CreateAnd(count, i64(-int64_t{width}));
      countedLoop(wideEnd, end, width, true, [&](Value* first) {
        Value* const vector[] = {valueAt(first, nullptr)};
        takeWide(vector);
      });
    }
    if (analysis->hasCheapMasks()) {
      Value* const left = b_.CreateSub(count, end);
      ifThen(b_.CreateICmpSGT(left, i64(0)), [&] {
        Value* const vector[] = {valueAt(end, firstLanes(left, width))};
        takeWide(vector);
      });
    } else {
      countedLoop(end, count, 1, true, [&](Value* one) {
        inLanes(0, *analysis, parts.vars.back(), one, nullptr, [&] {
          block(node.body);
          take(single, reducedOf(node));
        });
      });
    }
  });
  Value* folded = nullptr;
  if (extremes) {
    folded = extremes->finish();
  } else {
    folded = b_.CreateLoad(wideType, wides[0]);
    for (unsigned i = 1; i < repeat; ++i)
      folded = emitCombine(b_, op, type, folded, b_.CreateLoad(wideType, wides[i]));
    folded = foldLanes(op, type, folded);
  }
  // With masks, nothing was left to take one by one.
  values_[id.value()] = analysis->hasCheapMasks()
                            ? folded
                            : emitCombine(b_, op, type, folded, b_.CreateLoad(singleType, single));
}

void FunctionEmitter::reduceArg(NodeId id, const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  const DType type = k_.node(reducedValue(k_, node)).type;
  const bool isMax = node.reduceOp == ReduceOp::ArgMax;
  llvm::Type* valueType = registerType(context_, type);
  llvm::Type* indexType = b_.getInt64Ty();
  if (lanes_.width > 0) {
    valueType = vectorType(valueType);
    indexType = vectorType(indexType);
  }
  llvm::AllocaInst* const best = allocate(valueType, "best");
  llvm::AllocaInst* const bestIndex = allocate(indexType, "best_index");
  llvm::AllocaInst* const count = allocate(b_.getInt64Ty(), "count");
  b_.CreateStore(llvm::Constant::getNullValue(valueType), best);
  b_.CreateStore(llvm::Constant::getNullValue(indexType), bestIndex);
  b_.CreateStore(i64(0), count);
  std::vector<Value*> extents;
  for (const NodeId extent : parts.extents) extents.push_back(scalarOf(extent));
  nest(extents, parts.vars, [&] {
    block(node.body);
    Value* const x = reducedOf(node);
    Value* const soFar = b_.CreateLoad(valueType, best);
    Value* const index = b_.CreateLoad(b_.getInt64Ty(), count);
    Value* const pair[] = {isMax ? soFar : x, isMax ? x : soFar};
    Value* isBetter = emitValueOp(b_, loop::Op::Lt, type, DType::Bool, pair);
    if (isFloat(type)) {
      // The first NaN wins for good.
      isBetter = b_.CreateOr(isBetter, b_.CreateFCmpUNO(x, x));
      isBetter = b_.CreateAnd(isBetter, b_.CreateFCmpORD(soFar, soFar));
    }
    Value* isFirst = b_.CreateICmpEQ(index, i64(0));
    if (lanes_.width > 0) isFirst = splat(isFirst);
    isBetter = b_.CreateOr(isBetter, isFirst);
    b_.CreateStore(b_.CreateSelect(isBetter, x, soFar), best);
    Value* const indexValue = lanes_.width > 0 ? splat(index) : index;
    b_.CreateStore(b_.CreateSelect(isBetter, indexValue, b_.CreateLoad(indexType, bestIndex)), bestIndex);
    b_.CreateStore(b_.CreateNSWAdd(index, i64(1)), count);
  });
  values_[id.value()] = b_.CreateLoad(indexType, bestIndex);
}

}  // namespace baton::codegen
