// Float sums and products in the order of the numeric contract (kernels/loop/reduction_order.h). They
// come in three forms:
//   blockOf        one loop variable: the 64 partials of a block are vectors in registers
//   blockInLanes   one loop variable, inside lanes: each lane has partials of its own, in an array
//   streamOrdered  anything else: the partials are an array, elements are added as they come
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

/// Of whole vectors of the partials in memory.
llvm::Align partialsAlign(unsigned width) { return llvm::Align(64 < width * 4 ? 64 : width * 4); }

}  // namespace

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

  if (parts.vars.size() != 1 || (analysis == nullptr && lanes_.width == 0)) {
    streamOrdered(o, node);
    values_[id.value()] = finishBlocks(o);
    return;
  }
  Value* const count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, scalarOf(parts.extents[0]), i64(0));
  Value* const isLong = b_.CreateICmpSGT(count, i64(kReductionBlock));
  llvm::AllocaInst* const result = allocate(o.element, "sum");
  b_.CreateStore(o.identity, result);
  const auto addBlocks = [&] {
    countedLoop(i64(0), count, kReductionBlock, true, [&](Value* start) {
      Value* const length =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(count, start), i64(kReductionBlock));
      Value* const block =
          lanes_.width > 0 ? blockInLanes(o, node, start, length) : blockOf(o, node, start, length);
      // Of a single block, that is all.
      b_.CreateStore(block, result);
      ifThen(isLong, [&] { pushBlock(o, block); });
    });
    ifThen(isLong, [&] { b_.CreateStore(finishBlocks(o), result); });
  };
  if (lanes_.width == 0 && analysis->isLight()) {
    // What a short row needs stays in registers from row to row.
    ifElse(isLong, addBlocks, [&] { b_.CreateStore(blockOf(o, node, i64(0), count), result); });
  } else {
    addBlocks();
  }
  values_[id.value()] = b_.CreateLoad(o.element, result);
}

/// The value of the block of elements [start, start + length), length at most kReductionBlock.
llvm::Value* FunctionEmitter::blockOf(Ordered& o, const Node& node, Value* start, Value* length) {
  const unsigned width = shared_.nativeLanes;
  const auto registers = static_cast<unsigned>(kReductionPartials) / width;
  auto* const vector = llvm::FixedVectorType::get(o.element, width);
  llvm::Constant* const identity = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width),
                                                                  llvm::cast<llvm::Constant>(o.identity));
  const bool isLight = o.analysis->isLight();
  /// The elements from `first` of the block on; the identity, which changes no partial, where `mask` is not.
  const auto elements = [&](Value* first, Value* mask) {
    Value* value = nullptr;
    inLanes(width, *o.analysis, o.lastVar, b_.CreateNSWAdd(start, first), mask, [&] {
      block(node.body);
      value = reducedOf(node);
    });
    return mask == nullptr ? value : b_.CreateSelect(mask, value, identity);
  };
  std::vector<Value*> partials;

  if (isLight) {
    std::vector<llvm::AllocaInst*> accumulators;
    for (unsigned i = 0; i < registers; ++i) {
      accumulators.push_back(allocate(vector, "partial"));
      b_.CreateStore(identity, accumulators[i]);
    }
    const auto addTo = [&](unsigned i, Value* value) {
      Value* const old = b_.CreateLoad(vector, accumulators[i]);
      b_.CreateStore(emitCombine(b_, o.op, o.type, old, value), accumulators[i]);
    };
    const auto at = [&](Value* first, unsigned i) { return b_.CreateNSWAdd(first, i64(int64_t{i} * width)); };
    Value* const done = b_.CreateAnd(length, i64(-kReductionPartials));
    countedLoop(i64(0), done, kReductionPartials, true, [&](Value* first) {
      for (unsigned i = 0; i < registers; ++i) addTo(i, elements(at(first, i), nullptr));
    });
    Value* const left = b_.CreateSub(length, done);
    if (o.analysis->hasCheapMasks()) {
      // What does not fill all 64: whole vectors, then a part of one.
      const std::function<void(unsigned)> addRest = [&](unsigned i) {
        Value* const here = b_.CreateSub(left, i64(int64_t{i} * width));
        const auto addPart = [&] {
          ifThen(b_.CreateICmpSGT(here, i64(0)),
                 [&] { addTo(i, elements(at(done, i), firstLanes(here, width))); });
        };
        if (i + 1 == registers) return addPart();
        const auto addWhole = [&] {
          addTo(i, elements(at(done, i), nullptr));
          addRest(i + 1);
        };
        ifElse(b_.CreateICmpSGE(here, i64(width)), addWhole, addPart);
      };
      addRest(0);
      for (unsigned i = 0; i < registers; ++i) partials.push_back(b_.CreateLoad(vector, accumulators[i]));
      return foldPartials(o, std::move(partials));
    }
    for (unsigned i = 0; i < registers; ++i)
      b_.CreateAlignedStore(b_.CreateLoad(vector, accumulators[i]), partialsAt(o, i64(int64_t{i} * width)),
                            partialsAlign(width));
    addInMemory(o, elements, node, start, done, length);
  } else {
    for (unsigned i = 0; i < registers; ++i)
      b_.CreateAlignedStore(identity, partialsAt(o, i64(int64_t{i} * width)), partialsAlign(width));
    addInMemory(o, elements, node, start, i64(0), length);
  }
  for (unsigned i = 0; i < registers; ++i)
    partials.push_back(
        b_.CreateAlignedLoad(vector, partialsAt(o, i64(int64_t{i} * width)), partialsAlign(width)));
  return foldPartials(o, std::move(partials));
}

llvm::Value* FunctionEmitter::partialsAt(const Ordered& o, Value* index) {
  return b_.CreateInBoundsGEP(o.element, o.partials, index);
}

/// Adds the elements [done, length) of a block to the partials in memory: vector by vector, then
/// what is left.
void FunctionEmitter::addInMemory(Ordered& o, const std::function<Value*(Value*, Value*)>& elements,
                                  const Node& node, Value* start, Value* done, Value* length) {
  const unsigned width = shared_.nativeLanes;
  const auto addTo = [&](Value* first, Value* value, llvm::Align align) {
    Value* const address = partialsAt(o, b_.CreateAnd(first, i64(kReductionPartials - 1)));
    Value* const old = b_.CreateAlignedLoad(value->getType(), address, align);
    b_.CreateAlignedStore(emitCombine(b_, o.op, o.type, old, value), address, align);
  };
  Value* const vectorEnd = b_.CreateAnd(length, i64(-int64_t{width}));
  countedLoop(done, vectorEnd, width, true,
              [&](Value* first) { addTo(first, elements(first, nullptr), partialsAlign(width)); });
  if (o.analysis->hasCheapMasks()) {
    Value* const left = b_.CreateSub(length, vectorEnd);
    ifThen(b_.CreateICmpSGT(left, i64(0)),
           [&] { addTo(vectorEnd, elements(vectorEnd, firstLanes(left, width)), partialsAlign(width)); });
    return;
  }
  countedLoop(vectorEnd, length, 1, true, [&](Value* one) {
    inLanes(0, *o.analysis, o.lastVar, b_.CreateNSWAdd(start, one), nullptr, [&] {
      block(node.body);
      addTo(one, reducedOf(node), llvm::Align(static_cast<uint64_t>(sizeBytes(o.type))));
    });
  });
}

/// The same for each lane, whatever `blockOf` does over lanes of its own.
llvm::Value* FunctionEmitter::blockInLanes(Ordered& o, const Node& node, Value* start, Value* length) {
  const auto elementAt = [&](Value* i) {
    values_[o.lastVar.value()] = b_.CreateNSWAdd(start, i);
    block(node.body);
    return reducedOf(node);
  };
  const auto put = [&](Value* j, Value* value) { b_.CreateStore(value, partialsAt(o, j)); };
  const auto join = [&](Value* old, Value* i) { return emitCombine(b_, o.op, o.type, old, elementAt(i)); };
  // The first element of each partial needs no memory that is cleared before.
  constexpr size_t kShort = 12;
  Value* done = i64(0);
  if (k_.block(node.body).nodes.size() <= kShort) {
    done = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, i64(kReductionPartials));
    countedLoop(i64(0), done, 1, true, [&](Value* j) { put(j, join(o.identity, j)); });
  }
  countedLoop(done, i64(kReductionPartials), 1, true, [&](Value* j) { put(j, o.identity); });
  countedLoop(done, length, kReductionPartials, true, [&](Value* base) {
    Value* const count =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(length, base), i64(kReductionPartials));
    countedLoop(i64(0), count, 1, true, [&](Value* j) {
      put(j, join(b_.CreateLoad(o.element, partialsAt(o, j)), b_.CreateNSWAdd(base, j)));
    });
  });
  // p[j] op p[j + half]: the first three halvings for one of eight at a time, then the others.
  constexpr int64_t kAtOnce = 8;
  const std::function<Value*(Value*, int64_t, int64_t, int64_t)> fold = [&](Value* first, int64_t stride,
                                                                            int64_t i, int64_t distance) {
    if (distance == kAtOnce)
      return static_cast<Value*>(
          b_.CreateLoad(o.element, partialsAt(o, b_.CreateNSWAdd(first, i64(i * stride)))));
    Value* const left = fold(first, stride, i, 2 * distance);
    return emitCombine(b_, o.op, o.type, left, fold(first, stride, i + distance, 2 * distance));
  };
  countedLoop(i64(0), i64(kAtOnce), 1, true,
              [&](Value* j) { put(j, fold(j, kReductionPartials / kAtOnce, 0, 1)); });
  return fold(i64(0), 1, 0, 1);
}

llvm::Value* FunctionEmitter::foldPartials(Ordered& o, std::vector<Value*> partials) {
  while (partials.size() > 1) {
    const size_t half = partials.size() / 2;
    for (size_t i = 0; i < half; ++i)
      partials[i] = emitCombine(b_, o.op, o.type, partials[i], partials[i + half]);
    partials.resize(half);
  }
  return foldLanes(o.op, o.type, partials[0]);
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
