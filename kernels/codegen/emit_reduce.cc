// Reductions. Float sums and products have the order of the numeric contract (see
// kernels/loop/reduction_order.h); they come in two forms:
//   addPartials    one loop variable: the 64 partials of a block are vectors in registers
//   streamOrdered  anything else, and reductions inside lanes (where each lane has partials of
//                  its own): the partials are an array, elements are added as they come
// The others may be combined in any order and use accumulators of their own in each lane.
#include <algorithm>

#include "base/error.h"
#include "kernels/codegen/function_emitter.h"
#include "kernels/codegen/value_ops.h"
#include "kernels/loop/reduction_order.h"

namespace baton::codegen {

using llvm::BasicBlock;
using loop::kReductionBlock;
using loop::kReductionLevels;
using loop::kReductionPartials;
using loop::Node;
using loop::NodeId;
using loop::ReduceOp;

/// State of an ordered reduction that is being emitted.
struct FunctionEmitter::Ordered {
  ReduceOp op;
  DType type;
  llvm::Type* element;  ///< of a partial: a scalar, or a vector in lanes
  llvm::Value* identity;
  llvm::AllocaInst* partials;  ///< [64 x element]
  llvm::AllocaInst* levels;    ///< [levels x element]: the binary counter of block values
  llvm::AllocaInst* blocks;    ///< i64: blocks so far
  llvm::AllocaInst* count;     ///< i64: elements so far (streamOrdered)
  const LaneAnalysis* analysis;
  NodeId lastVar;
};

namespace {

/// Bodies of up to this many nodes are repeated for each register of partials.
constexpr uint32_t kLightBody = 16;

llvm::Value* halfOf(llvm::IRBuilder<>& b, llvm::Value* vector, bool upper) {
  const unsigned width = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements() / 2;
  std::vector<int> lanes;
  for (unsigned lane = 0; lane < width; ++lane) lanes.push_back(static_cast<int>(lane + (upper ? width : 0)));
  return b.CreateShuffleVector(vector, lanes);
}

}  // namespace

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
  const unsigned repeat = analysis->nodeCount() <= kLightBody ? 4 : 1;
  auto* const wideType = llvm::FixedVectorType::get(scalarType, width);
  llvm::Constant* const wideIdentity =
      llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width), identity);
  std::vector<llvm::AllocaInst*> wides;
  for (unsigned i = 0; i < repeat; ++i) {
    wides.push_back(allocate(wideType, "accumulators"));
    b_.CreateStore(wideIdentity, wides.back());
  }
  const NodeId var = parts.vars.back();
  const auto body = [&] { block(node.body); };
  nest(std::span(extents).first(extents.size() - 1), parts.vars.first(extents.size() - 1), [&] {
    Value* const count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extents.back(), i64(0));
    Value* const wideEnd = b_.CreateAnd(count, i64(-int64_t{width * repeat}));
    countedLoop(i64(0), wideEnd, int64_t{width} * repeat, true, [&](Value* first) {
      for (unsigned i = 0; i < repeat; ++i)
        inLanes(width, *analysis, var, b_.CreateNSWAdd(first, i64(int64_t{i} * width)), nullptr, [&] {
          body();
          take(wides[i], reducedOf(node));
        });
    });
    Value* end = wideEnd;
    if (repeat > 1) {
      end = b_.CreateAnd(count, i64(-int64_t{width}));
      countedLoop(wideEnd, end, width, true, [&](Value* first) {
        inLanes(width, *analysis, var, first, nullptr, [&] {
          body();
          take(wides[0], reducedOf(node));
        });
      });
    }
    countedLoop(end, count, 1, true, [&](Value* one) {
      inLanes(0, *analysis, var, one, nullptr, [&] {
        body();
        take(single, reducedOf(node));
      });
    });
  });
  Value* folded = b_.CreateLoad(wideType, wides[0]);
  for (unsigned i = 1; i < repeat; ++i)
    folded = emitCombine(b_, op, type, folded, b_.CreateLoad(wideType, wides[i]));
  values_[id.value()] =
      emitCombine(b_, op, type, foldLanes(op, type, folded), b_.CreateLoad(singleType, single));
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

// ---- the ordered ones

void FunctionEmitter::reduceOrdered(NodeId id, const Node& node, const LaneAnalysis* analysis) {
  const loop::LoopParts parts = loopParts(k_, node);
  Ordered o{.op = node.reduceOp, .type = k_.node(reducedValue(k_, node)).type, .analysis = analysis};
  llvm::Constant* const identity = reduceIdentity(context_, o.op, o.type);
  o.element = registerType(context_, o.type);
  o.identity = identity;
  if (lanes_.width > 0) {
    o.element = vectorType(o.element);
    o.identity = splat(identity);
  }
  if (!parts.vars.empty()) o.lastVar = parts.vars.back();
  o.partials = allocate(llvm::ArrayType::get(o.element, kReductionPartials), "partials");
  o.levels = allocate(llvm::ArrayType::get(o.element, kReductionLevels), "levels");
  o.blocks = allocate(b_.getInt64Ty(), "blocks");
  // Whole vectors of the partials are accessed, whatever the element.
  o.partials->setAlignment(llvm::Align(64));
  b_.CreateStore(i64(0), o.blocks);

  if (analysis == nullptr || parts.vars.size() != 1) {
    streamOrdered(o, node);
    values_[id.value()] = finishBlocks(o);
    return;
  }
  Value* const count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, scalarOf(parts.extents[0]), i64(0));
  Value* const wholeEnd = b_.CreateAnd(count, i64(-kReductionBlock));
  countedLoop(i64(0), wholeEnd, kReductionBlock, true,
              [&](Value* start) { addPartials(o, node, start, i64(kReductionBlock)); });
  Value* const left = b_.CreateSub(count, wholeEnd);
  ifThen(b_.CreateICmpSGT(left, i64(0)), [&] { addPartials(o, node, wholeEnd, left); });
  values_[id.value()] = finishBlocks(o);
}

/// The block of elements [start, start + length), length at most kReductionBlock.
void FunctionEmitter::addPartials(Ordered& o, const Node& node, Value* start, Value* length) {
  const unsigned width = shared_.nativeLanes;
  const auto registers = static_cast<unsigned>(kReductionPartials) / width;
  auto* const vector = llvm::FixedVectorType::get(o.element, width);
  llvm::Constant* const identity = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width),
                                                                  llvm::cast<llvm::Constant>(o.identity));
  const llvm::Align align(64 < width * 4 ? 64 : width * 4);
  const auto slot = [&](Value* index) { return b_.CreateInBoundsGEP(o.element, o.partials, index); };

  Value* done = i64(0);
  if (o.analysis->nodeCount() <= kLightBody) {
    std::vector<llvm::AllocaInst*> accumulators;
    for (unsigned i = 0; i < registers; ++i) {
      accumulators.push_back(allocate(vector, "partial"));
      b_.CreateStore(identity, accumulators[i]);
    }
    done = b_.CreateAnd(length, i64(-kReductionPartials));
    countedLoop(i64(0), done, kReductionPartials, true, [&](Value* first) {
      for (unsigned i = 0; i < registers; ++i) {
        Value* const at = b_.CreateNSWAdd(b_.CreateNSWAdd(start, first), i64(int64_t{i} * width));
        inLanes(width, *o.analysis, o.lastVar, at, nullptr, [&] {
          block(node.body);
          Value* const old = b_.CreateLoad(vector, accumulators[i]);
          b_.CreateStore(emitCombine(b_, o.op, o.type, old, reducedOf(node)), accumulators[i]);
        });
      }
    });
    for (unsigned i = 0; i < registers; ++i)
      b_.CreateAlignedStore(b_.CreateLoad(vector, accumulators[i]), slot(i64(int64_t{i} * width)), align);
  } else {
    for (unsigned i = 0; i < registers; ++i)
      b_.CreateAlignedStore(identity, slot(i64(int64_t{i} * width)), align);
  }
  // What does not fill all 64, vector by vector, then one by one.
  Value* const vectorEnd = b_.CreateAnd(length, i64(-int64_t{width}));
  countedLoop(done, vectorEnd, width, true, [&](Value* first) {
    inLanes(width, *o.analysis, o.lastVar, b_.CreateNSWAdd(start, first), nullptr, [&] {
      block(node.body);
      Value* const address = slot(b_.CreateAnd(first, i64(kReductionPartials - 1)));
      Value* const old = b_.CreateAlignedLoad(vector, address, align);
      b_.CreateAlignedStore(emitCombine(b_, o.op, o.type, old, reducedOf(node)), address, align);
    });
  });
  countedLoop(vectorEnd, length, 1, true, [&](Value* one) {
    inLanes(0, *o.analysis, o.lastVar, b_.CreateNSWAdd(start, one), nullptr, [&] {
      block(node.body);
      Value* const address = slot(b_.CreateAnd(one, i64(kReductionPartials - 1)));
      Value* const old = b_.CreateLoad(o.element, address);
      b_.CreateStore(emitCombine(b_, o.op, o.type, old, reducedOf(node)), address);
    });
  });
  std::vector<Value*> folded;
  for (unsigned i = 0; i < registers; ++i)
    folded.push_back(b_.CreateAlignedLoad(vector, slot(i64(int64_t{i} * width)), align));
  while (folded.size() > 1) {
    const size_t half = folded.size() / 2;
    for (size_t i = 0; i < half; ++i) folded[i] = emitCombine(b_, o.op, o.type, folded[i], folded[i + half]);
    folded.resize(half);
  }
  pushBlock(o, foldLanes(o.op, o.type, folded[0]));
}

void FunctionEmitter::streamOrdered(Ordered& o, const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  o.count = allocate(b_.getInt64Ty(), "count");
  b_.CreateStore(i64(0), o.count);
  const auto clear = [&] {
    countedLoop(i64(0), i64(kReductionPartials), 1, true, [&](Value* j) {
      b_.CreateStore(o.identity, b_.CreateInBoundsGEP(o.element, o.partials, j));
    });
  };
  clear();
  std::vector<Value*> extents;
  for (const NodeId extent : parts.extents) extents.push_back(scalarOf(extent));
  const auto inBlock = [&](Value* count, int64_t mask) { return b_.CreateAnd(count, i64(mask - 1)); };
  /// `step` elements have joined.
  const auto advance = [&](Value* count, int64_t step) {
    Value* const next = b_.CreateNSWAdd(count, i64(step));
    b_.CreateStore(next, o.count);
    ifThen(b_.CreateICmpEQ(inBlock(next, kReductionBlock), i64(0)), [&] {
      closeBlock(o);
      clear();
    });
  };
  const auto addOne = [&] {
    block(node.body);
    Value* const x = reducedOf(node);
    Value* const count = b_.CreateLoad(b_.getInt64Ty(), o.count);
    Value* const address = b_.CreateInBoundsGEP(o.element, o.partials, inBlock(count, kReductionPartials));
    b_.CreateStore(emitCombine(b_, o.op, o.type, b_.CreateLoad(o.element, address), x), address);
    advance(count, 1);
  };
  if (o.analysis == nullptr) {
    nest(extents, parts.vars, addOne);
  } else {
    // The innermost variable in lanes, as long as they do not go past the 64th partial.
    const unsigned width = shared_.nativeLanes;
    auto* const vector = llvm::FixedVectorType::get(o.element, width);
    llvm::AllocaInst* const position = allocate(b_.getInt64Ty(), "position");
    nest(std::span(extents).first(extents.size() - 1), parts.vars.first(extents.size() - 1), [&] {
      b_.CreateStore(i64(0), position);
      BasicBlock* const head = newBlock("head");
      BasicBlock* const step = newBlock("step");
      BasicBlock* const wide = newBlock("wide");
      BasicBlock* const narrow = newBlock("narrow");
      BasicBlock* const rest = newBlock("rest");
      b_.CreateBr(head);
      b_.SetInsertPoint(head);
      Value* const j = b_.CreateLoad(b_.getInt64Ty(), position);
      Value* const left = b_.CreateSub(extents.back(), j);
      b_.CreateCondBr(b_.CreateICmpSGT(left, i64(0)), step, rest);
      b_.SetInsertPoint(step);
      Value* const count = b_.CreateLoad(b_.getInt64Ty(), o.count);
      Value* const first = inBlock(count, kReductionPartials);
      Value* const fits = b_.CreateAnd(b_.CreateICmpSGE(left, i64(width)),
                                       b_.CreateICmpSLE(first, i64(kReductionPartials - int64_t{width})));
      b_.CreateCondBr(fits, wide, narrow);
      b_.SetInsertPoint(wide);
      inLanes(width, *o.analysis, o.lastVar, j, nullptr, [&] {
        block(node.body);
        const llvm::Align align(static_cast<uint64_t>(sizeBytes(o.type)));
        Value* const address = b_.CreateInBoundsGEP(o.element, o.partials, first);
        Value* const old = b_.CreateAlignedLoad(vector, address, align);
        b_.CreateAlignedStore(emitCombine(b_, o.op, o.type, old, reducedOf(node)), address, align);
      });
      b_.CreateStore(b_.CreateNSWAdd(j, i64(width)), position);
      advance(count, width);
      b_.CreateBr(head);
      b_.SetInsertPoint(narrow);
      inLanes(0, *o.analysis, o.lastVar, j, nullptr, addOne);
      b_.CreateStore(b_.CreateNSWAdd(j, i64(1)), position);
      b_.CreateBr(head);
      b_.SetInsertPoint(rest);
    });
  }
  Value* const count = b_.CreateLoad(b_.getInt64Ty(), o.count);
  ifThen(b_.CreateICmpNE(inBlock(count, kReductionBlock), i64(0)), [&] { closeBlock(o); });
}

/// Folds the array of partials and hands the block's value on.
void FunctionEmitter::closeBlock(Ordered& o) {
  if (!o.element->isVectorTy()) {
    auto* const whole = llvm::FixedVectorType::get(o.element, static_cast<unsigned>(kReductionPartials));
    return pushBlock(o, foldLanes(o.op, o.type, b_.CreateAlignedLoad(whole, o.partials, llvm::Align(64))));
  }
  const auto slot = [&](Value* index) { return b_.CreateInBoundsGEP(o.element, o.partials, index); };
  for (int64_t half = kReductionPartials / 2; half > 0; half /= 2)
    countedLoop(i64(0), i64(half), 1, true, [&](Value* j) {
      Value* const left = b_.CreateLoad(o.element, slot(j));
      Value* const right = b_.CreateLoad(o.element, slot(b_.CreateNSWAdd(j, i64(half))));
      b_.CreateStore(emitCombine(b_, o.op, o.type, left, right), slot(j));
    });
  pushBlock(o, b_.CreateLoad(o.element, o.partials));
}

/// Like adding 1 to a binary number: equal-sized neighbours are combined, left op right.
void FunctionEmitter::pushBlock(Ordered& o, Value* value) {
  Value* const blocks = b_.CreateLoad(b_.getInt64Ty(), o.blocks);
  BasicBlock* const before = b_.GetInsertBlock();
  BasicBlock* const head = newBlock("carry");
  BasicBlock* const merge = newBlock("merge");
  BasicBlock* const rest = newBlock("rest");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* const level = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::PHINode* const sum = b_.CreatePHI(o.element, 2);
  level->addIncoming(i64(0), before);
  sum->addIncoming(value, before);
  Value* const address = b_.CreateInBoundsGEP(o.element, o.levels, level);
  Value* const bit = b_.CreateAnd(b_.CreateLShr(blocks, level), i64(1));
  b_.CreateCondBr(b_.CreateICmpNE(bit, i64(0)), merge, rest);
  b_.SetInsertPoint(merge);
  Value* const merged = emitCombine(b_, o.op, o.type, b_.CreateLoad(o.element, address), sum);
  level->addIncoming(b_.CreateNSWAdd(level, i64(1)), merge);
  sum->addIncoming(merged, merge);
  b_.CreateBr(head);
  b_.SetInsertPoint(rest);
  b_.CreateStore(sum, address);
  b_.CreateStore(b_.CreateNSWAdd(blocks, i64(1)), o.blocks);
}

/// The leftovers, from the smallest up: result = left op result.
llvm::Value* FunctionEmitter::finishBlocks(Ordered& o) {
  Value* const blocks = b_.CreateLoad(b_.getInt64Ty(), o.blocks);
  llvm::AllocaInst* const result = allocate(o.element, "result");
  b_.CreateStore(o.identity, result);
  ifThen(b_.CreateICmpNE(blocks, i64(0)), [&] {
    Value* const lowest =
        b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt64Ty()}, {blocks, b_.getTrue()});
    b_.CreateStore(b_.CreateLoad(o.element, b_.CreateInBoundsGEP(o.element, o.levels, lowest)), result);
    Value* const used = b_.CreateSub(
        i64(64), b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {b_.getInt64Ty()}, {blocks, b_.getTrue()}));
    countedLoop(b_.CreateNSWAdd(lowest, i64(1)), used, 1, true, [&](Value* level) {
      Value* const bit = b_.CreateAnd(b_.CreateLShr(blocks, level), i64(1));
      ifThen(b_.CreateICmpNE(bit, i64(0)), [&] {
        Value* const left = b_.CreateLoad(o.element, b_.CreateInBoundsGEP(o.element, o.levels, level));
        b_.CreateStore(emitCombine(b_, o.op, o.type, left, b_.CreateLoad(o.element, result)), result);
      });
    });
  });
  return b_.CreateLoad(o.element, result);
}

}  // namespace baton::codegen
