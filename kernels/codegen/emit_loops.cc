// FunctionEmitter: counted loops, lanes and parallel bodies.
#include "kernels/codegen/function_emitter.h"

#include <algorithm>
#include <utility>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Intrinsics.h>

#include "baton/kernel_abi.h"
#include "kernels/codegen/value_ops.h"

namespace baton::codegen {

using llvm::BasicBlock;
using loop::BlockId;
using loop::LoopKind;
using loop::Node;
using loop::NodeId;
using loop::Op;

namespace {

constexpr int64_t kParallelForOffset = offsetof(BatonKernelContext, parallel_for);
/// Bytes: a line of the instruction cache. Some processors need up to a tenth more time for a short loop that
/// begins in the middle of one.
constexpr uint32_t kLoopAlignment = 64;

/// Whether iterations are made of lanes, with no other loop around them.
bool hasLanes(const loop::Kernel& kernel, BlockId block) {
  return std::ranges::any_of(kernel.block(block).nodes, [&](NodeId id) {
    const Node& node = kernel.node(id);
    if (node.op == Op::If) return hasLanes(kernel, node.body) || hasLanes(kernel, node.otherwise);
    if (node.op != Op::For) return false;
    return node.loopKind == LoopKind::Vectorized ||
           (node.loopKind == LoopKind::Unrolled && hasLanes(kernel, node.body));
  });
}

}  // namespace

void FunctionEmitter::countedLoop(Value* begin, Value* end, int64_t step, bool isFinal, const Body& body) {
  BasicBlock* const before = b_.GetInsertBlock();
  BasicBlock* const start = newBlock("loop");
  BasicBlock* const rest = newBlock("rest");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), start, rest);
  b_.SetInsertPoint(start);
  llvm::PHINode* const var = b_.CreatePHI(b_.getInt64Ty(), 2);
  var->addIncoming(begin, before);
  body(var);
  Value* const next = b_.CreateNSWAdd(var, i64(step));
  var->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* const latch = b_.CreateCondBr(b_.CreateICmpSLT(next, end), start, rest);
  if (isFinal) {
    llvm::Metadata* const hints[] = {
        nullptr,
        llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.vectorize.enable"),
                                     llvm::ConstantAsMetadata::get(b_.getFalse())}),
        llvm::MDNode::get(context_, llvm::MDString::get(context_, "llvm.loop.unroll.disable")),
        llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.align"),
                                     llvm::ConstantAsMetadata::get(b_.getInt32(kLoopAlignment))})};
    llvm::MDNode* const id = llvm::MDNode::getDistinct(context_, hints);
    id->replaceOperandWith(0, id);
    latch->setMetadata(llvm::LLVMContext::MD_loop, id);
  }
  b_.SetInsertPoint(rest);
}

void FunctionEmitter::nest(std::span<Value* const> extents, std::span<const NodeId> vars,
                           const std::function<void()>& body) {
  if (extents.empty()) return body();
  countedLoop(i64(0), extents[0], 1, false, [&](Value* var) {
    values_[vars[0].value()] = var;
    nest(extents.subspan(1), vars.subspan(1), body);
  });
}

void FunctionEmitter::inLanes(unsigned width, const LaneAnalysis& analysis, NodeId laneVar, Value* first,
                              Value* mask, const std::function<void()>& body) {
  const Lanes saved = lanes_;
  lanes_ = {width, width == 0 ? nullptr : &analysis, mask};
  values_[laneVar.value()] = first;
  body();
  lanes_ = saved;
}

llvm::Value* FunctionEmitter::firstLanes(Value* count, unsigned width) {
  std::vector<llvm::Constant*> lanes;
  for (unsigned lane = 0; lane < width; ++lane) lanes.push_back(b_.getInt32(lane));
  Value* const limit = b_.CreateVectorSplat(width, b_.CreateTrunc(count, b_.getInt32Ty()));
  return b_.CreateICmpULT(llvm::ConstantVector::get(lanes), limit);
}

void FunctionEmitter::forLoop(const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  switch (node.loopKind) {
    case LoopKind::Unrolled: return unrolledLoop(node);
    case LoopKind::Parallel:
      if (!isInsideParallel_ && lanes_.width == 0) return parallelLoop(node);
      break;
    case LoopKind::Vectorized: {
      if (lanes_.width > 0) break;
      const LaneAnalysis analysis = LaneAnalysis::of(k_, node.body, parts.vars[0]);
      if (analysis.isVectorizable()) return vectorLoop(node, analysis);
      break;
    }
    case LoopKind::Serial: break;
  }
  countedLoop(i64(0), scalarOf(parts.extents[0]), 1, hasLanes(k_, node.body), [&](Value* var) {
    values_[parts.vars[0].value()] = var;
    block(node.body);
  });
}

void FunctionEmitter::unrolledLoop(const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  const auto extent = static_cast<int64_t>(k_.node(parts.extents[0]).bits);
  const bool wasUnrolled = std::exchange(isUnrolled_, true);
  for (int64_t i = 0; i < extent && shared_.error.empty(); ++i) {
    values_[parts.vars[0].value()] = i64(i);
    block(node.body);
  }
  isUnrolled_ = wasUnrolled;
}

void FunctionEmitter::vectorLoop(const Node& node, const LaneAnalysis& analysis) {
  const loop::LoopParts parts = loopParts(k_, node);
  const NodeId var = parts.vars[0];
  const auto body = [&] { block(node.body); };
  Value* const extent = scalarOf(parts.extents[0]);
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extent)) {
    // A few whole vectors, without a loop.
    constexpr uint64_t kWidest = 64;
    const uint64_t count = constant->getZExtValue();
    if (count >= 2 && count <= kWidest && (count & (count - 1)) == 0)
      return inLanes(static_cast<unsigned>(count), analysis, var, i64(0), nullptr, body);
  }
  const unsigned width = shared_.nativeLanes;
  // Short bodies take several vectors at a time, so that latencies overlap.
  constexpr uint32_t kShort = 12;
  constexpr uint32_t kMedium = 40;
  const unsigned wide = width * (analysis.nodeCount() <= kShort    ? 4
                                 : analysis.nodeCount() <= kMedium ? 2
                                                                   : 1);
  Value* const count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, i64(0));
  Value* const wideEnd = b_.CreateAnd(count, i64(-int64_t{wide}));
  countedLoop(i64(0), wideEnd, wide, true,
              [&](Value* first) { inLanes(wide, analysis, var, first, nullptr, body); });
  Value* end = wideEnd;
  if (wide != width) {
    end = b_.CreateAnd(count, i64(-int64_t{width}));
    countedLoop(wideEnd, end, width, true,
                [&](Value* first) { inLanes(width, analysis, var, first, nullptr, body); });
  }
  if (analysis.hasCheapMasks()) {
    Value* const left = b_.CreateSub(count, end);
    ifSeldom(b_.CreateICmpSGT(left, i64(0)),
             [&] { inLanes(width, analysis, var, end, firstLanes(left, width), body); });
  } else {
    countedLoop(end, count, 1, true, [&](Value* one) { inLanes(0, analysis, var, one, nullptr, body); });
  }
}

void FunctionEmitter::parallelLoop(const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  const loop::Captures captures = loop::capturesOf(k_, node);

  std::vector<Value*> members = buffers_;
  members.insert(members.end(), symbols_.begin(), symbols_.end());
  members.insert(members.end(), scalarInputs_.begin(), scalarInputs_.end());
  for (const NodeId id : captures.values) members.push_back(values_[id.value()]);
  for (const uint32_t local : captures.locals) members.push_back(locals_[local].pointer);
  std::vector<llvm::Type*> types;
  for (Value* const member : members) types.push_back(member->getType());
  auto* const closureType = llvm::StructType::get(context_, types);

  llvm::AllocaInst* const closure = allocate(closureType, "closure");
  for (unsigned i = 0; i < members.size(); ++i)
    b_.CreateStore(members[i], b_.CreateStructGEP(closureType, closure, i));

  llvm::Type* const ptr = b_.getPtrTy();
  llvm::Type* const i64Type = b_.getInt64Ty();
  auto* const bodyType = llvm::FunctionType::get(b_.getInt32Ty(), {ptr, ptr, i64Type, i64Type}, false);
  llvm::Function* const body = shared_.newFunction(bodyType, "parallel");
  // What is known of a value here is told there: divisions and comparisons of indices need it.
  std::vector<bool> isNatural;
  for (Value* const member : members)
    isNatural.push_back(member->getType() == i64Type &&
                        llvm::computeKnownBits(member, shared_.module.getDataLayout()).isNonNegative());
  const llvm::ConstantRange naturals(llvm::APInt::getZero(64), llvm::APInt::getSignedMinValue(64));
  for (const unsigned bound : {2U, 3U})
    body->addParamAttr(bound, llvm::Attribute::get(context_, llvm::Attribute::Range, naturals));
  FunctionEmitter inner(shared_, body, true);
  inner.emitParallelBody(node, captures, closureType, isNatural);

  Value* const extent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, scalarOf(parts.extents[0]), i64(0));
  ifThen(b_.CreateICmpSGT(extent, i64(0)), [&] {
    Value* const function =
        b_.CreateLoad(ptr, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), kernelContext_, kParallelForOffset));
    auto* const type = llvm::FunctionType::get(b_.getInt32Ty(), {ptr, i64Type, i64Type, ptr, ptr}, false);
    Value* const status = b_.CreateCall(
        type, function, {kernelContext_, extent, i64(static_cast<int64_t>(node.bits)), body, closure});
    ifThen(b_.CreateICmpNE(status, b_.getInt32(0)), [&] { b_.CreateRet(status); });
  });
}

void FunctionEmitter::emitParallelBody(const Node& loop, const loop::Captures& captures,
                                       llvm::StructType* closureType, const std::vector<bool>& isNatural) {
  kernelContext_ = function_->getArg(0);
  Value* const closure = function_->getArg(1);
  unsigned next = 0;
  const auto member = [&] {
    Value* const address = b_.CreateStructGEP(closureType, closure, next);
    llvm::LoadInst* const loaded = b_.CreateLoad(closureType->getElementType(next), address);
    if (isNatural[next]) setRange(loaded, 0, INT64_MAX);
    ++next;
    return loaded;
  };
  for (uint32_t i = 0; i < k_.bufferCount(); ++i) buffers_.push_back(member());
  for (uint32_t i = 0; i < k_.descriptor.symbols.size(); ++i) setSymbol(i, member());
  for (size_t i = 0; i < k_.descriptor.scalarInputs.size(); ++i) scalarInputs_.push_back(member());
  for (const NodeId id : captures.values) values_[id.value()] = member();
  for (const uint32_t local : captures.locals) locals_[local].pointer = member();
  computeStrides();
  const loop::LoopParts parts = loopParts(k_, loop);
  countedLoop(function_->getArg(2), function_->getArg(3), 1, false, [&](Value* var) {
    values_[parts.vars[0].value()] = var;
    block(loop.body);
  });
  returnStatus(BATON_KERNEL_OK);
}

}  // namespace baton::codegen
