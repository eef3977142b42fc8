#include "kernels/codegen/function_emitter.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "base/dim_dividend.h"
#include "base/error.h"
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

/// Most nodes that one function may come to, unrolling included.
constexpr uint32_t kMaxEmitted = 400000;

/// Byte offsets in BatonKernelContext.
constexpr int64_t kParallelForOffset = offsetof(BatonKernelContext, parallel_for);
constexpr int64_t kScratchOffset = offsetof(BatonKernelContext, scratch);
constexpr int64_t kFailOffset = offsetof(BatonKernelContext, fail);

/// The least and greatest value that the descriptor allows a symbol.
std::pair<int64_t, int64_t> symbolRange(const KernelDescriptor& descriptor, uint32_t index) {
  int64_t low = descriptor.symbols[index].from == KernelSymbol::From::Operand ? 0 : INT64_MIN;
  int64_t high = INT64_MAX;
  for (const DimConstraint& constraint : descriptor.constraints) {
    const auto symbol = constraint.lhs.asSymbol();
    const auto bound = constraint.rhs.asConstant();
    if (!symbol || !bound || symbol->value() != index) continue;
    switch (constraint.relation) {
      case Relation::Eq:
        low = std::max(low, *bound);
        high = std::min(high, *bound);
        break;
      case Relation::Lt:
        if (*bound != INT64_MIN) high = std::min(high, *bound - 1);
        break;
      case Relation::Le: high = std::min(high, *bound); break;
      case Relation::Gt:
        if (*bound != INT64_MAX) low = std::max(low, *bound + 1);
        break;
      case Relation::Ge: low = std::max(low, *bound); break;
      case Relation::Ne: break;
    }
  }
  return {low, high};
}

void collectCaptures(const loop::Kernel& kernel, BlockId body, Captures& captures) {
  std::vector<bool> inside(kernel.nodes.size(), false);
  std::vector<bool> localInside(kernel.locals.size(), false);
  std::vector<NodeId> all;
  std::vector<BlockId> pending = {body};
  while (!pending.empty()) {
    const BlockId id = pending.back();
    pending.pop_back();
    for (const NodeId nodeId : kernel.block(id).nodes) {
      const Node& node = kernel.node(nodeId);
      inside[nodeId.value()] = true;
      all.push_back(nodeId);
      if (node.op == Op::Local) localInside[node.target] = true;
      if (node.op == Op::For || node.op == Op::Reduce) {
        for (const NodeId var : loopParts(kernel, node).vars) inside[var.value()] = true;
        pending.push_back(node.body);
      }
      if (node.op == Op::If) {
        pending.push_back(node.body);
        pending.push_back(node.otherwise);
      }
    }
  }
  for (const NodeId nodeId : all) {
    const Node& node = kernel.node(nodeId);
    for (const NodeId operand : kernel.operandsOf(node)) {
      const Op op = kernel.node(operand).op;
      if (op == Op::Const || op == Op::Symbol || op == Op::ScalarInput || inside[operand.value()]) continue;
      inside[operand.value()] = true;
      captures.values.push_back(operand);
    }
    if ((node.op == Op::GetLocal || node.op == Op::SetLocal) && !localInside[node.target]) {
      localInside[node.target] = true;
      captures.locals.push_back(node.target);
    }
  }
  std::sort(captures.values.begin(), captures.values.end());
  std::sort(captures.locals.begin(), captures.locals.end());
}

}  // namespace

FunctionEmitter::FunctionEmitter(KernelShared& shared, llvm::Function* function, bool isInsideParallel)
    : shared_(shared),
      k_(shared.kernel),
      context_(shared.module.getContext()),
      function_(function),
      b_(context_),
      isInsideParallel_(isInsideParallel),
      values_(shared.kernel.nodes.size(), nullptr),
      locals_(shared.kernel.locals.size()) {
  b_.SetInsertPoint(newBlock("entry"));
}

llvm::AllocaInst* FunctionEmitter::allocate(llvm::Type* type, const char* name) {
  BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  return atEntry.CreateAlloca(type, nullptr, name);
}

// ---- set-up

void FunctionEmitter::loadArguments(Value* scalars, Value* buffers) {
  const KernelDescriptor& descriptor = k_.descriptor;
  llvm::MDBuilder metadata(context_);
  llvm::Type* const i64Type = b_.getInt64Ty();
  for (uint32_t i = 0; i < descriptor.symbols.size(); ++i) {
    auto* const loaded = b_.CreateAlignedLoad(i64Type, b_.CreateConstInBoundsGEP1_64(i64Type, scalars, i),
                                              llvm::Align(8), descriptor.symbols[i].name);
    const auto [low, high] = symbolRange(descriptor, i);
    // The upper end is excluded; one past the greatest int64 wraps, which the format allows.
    if (low <= high && !(low == INT64_MIN && high == INT64_MAX))
      loaded->setMetadata(llvm::LLVMContext::MD_range,
                          metadata.createRange(llvm::APInt(64, static_cast<uint64_t>(low)),
                                               llvm::APInt(64, static_cast<uint64_t>(high) + 1)));
    symbols_.push_back(loaded);
  }
  const uint64_t firstInput = descriptor.symbols.size();
  for (uint64_t i = 0; i < descriptor.scalarInputs.size(); ++i) {
    const DType type = descriptor.scalarInputs[i];
    // Little-endian: the low bytes are the value.
    Value* const address = b_.CreateConstInBoundsGEP1_64(i64Type, scalars, firstInput + i);
    Value* const loaded = b_.CreateAlignedLoad(memoryType(context_, type), address, llvm::Align(8));
    scalarInputs_.push_back(fromMemory(b_, type, loaded));
  }
  scalarOutputs_ =
      b_.CreateConstInBoundsGEP1_64(i64Type, scalars, firstInput + descriptor.scalarInputs.size());
  const uint64_t operands = descriptor.inputs.size() + descriptor.outputs.size();
  for (uint64_t i = 0; i < operands; ++i) {
    auto* const pointer = b_.CreateAlignedLoad(
        b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), buffers, i), llvm::Align(8));
    const KernelOperand& operand = i < descriptor.inputs.size()
                                       ? descriptor.inputs[i]
                                       : descriptor.outputs[i - descriptor.inputs.size()];
    const uint64_t align =
        std::max<uint64_t>(operand.alignmentBytes, static_cast<uint64_t>(sizeBytes(operand.dtype)));
    pointer->setMetadata(llvm::LLVMContext::MD_align,
                         llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(b_.getInt64(align))));
    buffers_.push_back(pointer);
  }
}

/// The value of a dim expression. Divisors that may be zero are made 1, and `*divisorIsZero`
/// (when asked for) tells whether one was zero.
llvm::Value* FunctionEmitter::dim(const DimExpr& expr, Value** divisorIsZero) {
  Value* sum = nullptr;
  for (const DimExpr::Term& term : expr.terms()) {
    Value* product = i64(term.coefficient);
    for (const DimExpr::Factor& factor : term.factors) {
      Value* value = nullptr;
      if (factor.opaque == nullptr) {
        value = symbols_[factor.symbol.value()];
      } else {
        const std::optional<DimExpr> lowered = loweredDividend(*factor.opaque);
        Value* const x = dim(lowered ? *lowered : factor.opaque->a, divisorIsZero);
        Value* y = dim(factor.opaque->b, divisorIsZero);
        const DimOp op = factor.opaque->op;
        if (op == DimOp::FloorDiv || op == DimOp::FloorMod || op == DimOp::CeilDiv) {
          Value* const isZero = b_.CreateICmpEQ(y, i64(0));
          y = b_.CreateSelect(isZero, i64(1), y);
          if (divisorIsZero != nullptr) *divisorIsZero = b_.CreateOr(*divisorIsZero, isZero);
        }
        const auto emit = [&](Op valueOp, Value* left) {
          Value* const operands[] = {left, y};
          return emitValueOp(b_, valueOp, DType::I64, DType::I64, operands);
        };
        switch (op) {
          case DimOp::FloorDiv:
            value = emit(Op::FloorDiv, x);
            if (lowered) value = b_.CreateAdd(value, i64(1));
            break;
          case DimOp::FloorMod: value = emit(Op::FloorMod, x); break;
          case DimOp::CeilDiv: {
            Value* const isAbove = b_.CreateICmpNE(emit(Op::FloorMod, x), i64(0));
            value = b_.CreateAdd(emit(Op::FloorDiv, x), b_.CreateZExt(isAbove, b_.getInt64Ty()));
            break;
          }
          case DimOp::Min: value = emit(Op::Min, x); break;
          case DimOp::Max: value = emit(Op::Max, x); break;
          case DimOp::TooLarge: value = i64(0); break;  // verify() has excluded it
        }
      }
      product = b_.CreateMul(product, value);
    }
    sum = sum == nullptr ? product : b_.CreateAdd(sum, product);
  }
  return sum == nullptr ? i64(0) : sum;
}

void FunctionEmitter::allocateScratch() {
  for (const loop::ScratchBuffer& scratch : k_.scratch) {
    Value* size = i64(sizeBytes(scratch.dtype));
    Value* isBad = b_.getFalse();
    for (const DimExpr& expr : scratch.extents) {
      Value* const extent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, dim(expr, &isBad), i64(0));
      Value* const checked = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, size, extent);
      size = b_.CreateExtractValue(checked, 0);
      isBad = b_.CreateOr(isBad, b_.CreateExtractValue(checked, 1));
    }
    ifThen(isBad, [&] { returnStatus(BATON_KERNEL_OUT_OF_MEMORY); });
    Value* const function = b_.CreateLoad(
        b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), kernelContext_, kScratchOffset));
    auto* const type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getInt64Ty()}, false);
    llvm::CallInst* const memory = b_.CreateCall(type, function, {kernelContext_, size});
    memory->addRetAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(64)));
    Value* const isMissing =
        b_.CreateAnd(b_.CreateICmpEQ(memory, llvm::ConstantPointerNull::get(b_.getPtrTy())),
                     b_.CreateICmpSGT(size, i64(0)));
    ifThen(isMissing, [&] { returnStatus(BATON_KERNEL_OUT_OF_MEMORY); });
    buffers_.push_back(memory);
  }
}

void FunctionEmitter::computeStrides() {
  bufferStrides_.resize(k_.bufferCount());
  for (uint32_t i = 0; i < k_.bufferCount(); ++i) {
    const std::vector<DimExpr>& extents = k_.bufferExtents(loop::BufferIndex(i));
    std::vector<Value*>& strides = bufferStrides_[i];
    strides.resize(extents.size());
    Value* stride = i64(1);
    for (size_t axis = extents.size(); axis-- > 0;) {
      strides[axis] = stride;
      if (axis > 0) stride = b_.CreateMul(stride, dim(extents[axis], nullptr));
    }
  }
}

void FunctionEmitter::emitKernel() {
  kernelContext_ = function_->getArg(0);
  loadArguments(function_->getArg(2), function_->getArg(1));
  allocateScratch();
  computeStrides();
  block(BlockId(0));
  returnStatus(BATON_KERNEL_OK);
}

// ---- statements

void FunctionEmitter::returnStatus(int32_t status) {
  b_.CreateRet(b_.getInt32(static_cast<uint32_t>(status)));
}

void FunctionEmitter::ifThen(Value* condition, const std::function<void()>& then) {
  BasicBlock* const yes = newBlock("then");
  BasicBlock* const rest = newBlock("rest");
  b_.CreateCondBr(condition, yes, rest);
  b_.SetInsertPoint(yes);
  then();
  if (b_.GetInsertBlock()->getTerminator() == nullptr) b_.CreateBr(rest);
  b_.SetInsertPoint(rest);
}

void FunctionEmitter::failWith(uint32_t message, std::span<Value* const> values) {
  Value* array = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (!values.empty()) {
    array = allocate(llvm::ArrayType::get(b_.getInt64Ty(), values.size()), "values");
    for (size_t i = 0; i < values.size(); ++i)
      b_.CreateStore(values[i], b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), array, i));
  }
  Value* const function = b_.CreateLoad(
      b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), kernelContext_, kFailOffset));
  auto* const type = llvm::FunctionType::get(
      b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getInt32Ty()}, false);
  b_.CreateCall(
      type, function,
      {kernelContext_, b_.getInt32(message), array, b_.getInt32(static_cast<uint32_t>(values.size()))});
  returnStatus(BATON_KERNEL_FAILED);
}

void FunctionEmitter::block(BlockId id) {
  for (const NodeId node : k_.block(id).nodes) {
    if (!shared_.error.empty()) return;
    statement(node);
  }
}

void FunctionEmitter::valueOp(NodeId id, const Node& node) {
  const auto ids = k_.operandsOf(node);
  const bool isScalar = lanes_.width == 0 || lanes_.analysis->stride(id).has_value();
  std::vector<Value*> operands;
  for (const NodeId operand : ids) operands.push_back(isScalar ? scalarOf(operand) : vectorOf(operand));
  const DType operandType = k_.node(node.op == Op::Select ? ids[1] : ids[0]).type;
  if (isIntegerDivision(node.op) && node.target != loop::kNoMessage)
    ifThen(emitDivisionFails(b_, operandType, operands[0], operands[1]), [&] { failWith(node.target, {}); });
  values_[id.value()] = emitValueOp(b_, node.op, operandType, node.type, operands);
}

void FunctionEmitter::branch(const Node& node) {
  const NodeId condition = k_.operandsOf(node)[0];
  Value* const value = scalarOf(condition);
  if (!value->getType()->isVectorTy()) {
    BasicBlock* const yes = newBlock("then");
    BasicBlock* const no = newBlock("else");
    BasicBlock* const rest = newBlock("rest");
    b_.CreateCondBr(value, yes, no);
    for (const auto& [start, body] : {std::pair(yes, node.body), std::pair(no, node.otherwise)}) {
      b_.SetInsertPoint(start);
      block(body);
      b_.CreateBr(rest);
    }
    b_.SetInsertPoint(rest);
    return;
  }
  // Lanes that disagree: both sides run, each under its mask, unless no lane wants it.
  Value* const outer = lanes_.mask;
  for (const bool side : {true, false}) {
    const BlockId body = side ? node.body : node.otherwise;
    if (k_.block(body).nodes.empty()) continue;
    Value* const wants = side ? value : b_.CreateNot(value);
    Value* const mask = outer == nullptr ? wants : b_.CreateAnd(outer, wants);
    ifThen(b_.CreateOrReduce(mask), [&] {
      lanes_.mask = mask;
      block(body);
      lanes_.mask = outer;
    });
  }
}

void FunctionEmitter::statement(NodeId id) {
  const Node& node = k_.node(id);
  if (++emitted_ > kMaxEmitted) {
    shared_.error = fmt::format("kernel {} is too large: unrolled loops come to more than {} nodes",
                                k_.descriptor.name, kMaxEmitted);
    return;
  }
  const auto ids = k_.operandsOf(node);
  switch (node.op) {
    case Op::Load: return load(id, node);
    case Op::Store: return store(node);
    case Op::GetLocal: return getLocal(id, node);
    case Op::SetLocal: return setLocal(node);
    case Op::Local: return declareLocal(node);
    case Op::SetScalar: {
      // The 64-bit form: integers extended, floats in the low bits.
      Value* value = scalarOf(ids[0]);
      if (isFloat(node.type) && node.type != DType::F16 && node.type != DType::BF16)
        value = b_.CreateBitCast(value, b_.getIntNTy(static_cast<unsigned>(sizeBytes(node.type)) * 8));
      value = isSignedInt(node.type) ? b_.CreateSExt(value, b_.getInt64Ty())
                                     : b_.CreateZExt(value, b_.getInt64Ty());
      b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), scalarOutputs_, node.target));
      return;
    }
    case Op::Fail: {
      std::vector<Value*> values;
      for (const NodeId operand : ids) values.push_back(scalarOf(operand));
      failWith(node.target, values);
      b_.SetInsertPoint(newBlock("unreachable"));  // what follows is dead
      return;
    }
    case Op::For: return forLoop(node);
    case Op::If: return branch(node);
    case Op::Reduce: return reduce(id, node);
    default: return valueOp(id, node);
  }
}

// ---- loops

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
        llvm::MDNode::get(context_, llvm::MDString::get(context_, "llvm.loop.unroll.disable"))};
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
  countedLoop(i64(0), scalarOf(parts.extents[0]), 1, false, [&](Value* var) {
    values_[parts.vars[0].value()] = var;
    block(node.body);
  });
}

void FunctionEmitter::unrolledLoop(const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  const auto extent = static_cast<int64_t>(k_.node(parts.extents[0]).bits);
  for (int64_t i = 0; i < extent && shared_.error.empty(); ++i) {
    values_[parts.vars[0].value()] = i64(i);
    block(node.body);
  }
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
    ifThen(b_.CreateICmpSGT(left, i64(0)),
           [&] { inLanes(width, analysis, var, end, firstLanes(left, width), body); });
  } else {
    countedLoop(end, count, 1, true, [&](Value* one) { inLanes(0, analysis, var, one, nullptr, body); });
  }
}

void FunctionEmitter::parallelLoop(const Node& node) {
  const loop::LoopParts parts = loopParts(k_, node);
  Captures captures;
  collectCaptures(k_, node.body, captures);
  captures.values.erase(std::remove(captures.values.begin(), captures.values.end(), parts.vars[0]),
                        captures.values.end());

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
  FunctionEmitter inner(shared_, body, true);
  inner.emitParallelBody(node, captures, closureType);

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

void FunctionEmitter::emitParallelBody(const Node& loop, const Captures& captures,
                                       llvm::StructType* closureType) {
  kernelContext_ = function_->getArg(0);
  Value* const closure = function_->getArg(1);
  unsigned next = 0;
  const auto member = [&] {
    Value* const address = b_.CreateStructGEP(closureType, closure, next);
    return b_.CreateLoad(closureType->getElementType(next++), address);
  };
  for (uint32_t i = 0; i < k_.bufferCount(); ++i) buffers_.push_back(member());
  llvm::MDBuilder metadata(context_);
  for (uint32_t i = 0; i < k_.descriptor.symbols.size(); ++i) {
    auto* const loaded = member();
    const auto [low, high] = symbolRange(k_.descriptor, i);
    if (low <= high && !(low == INT64_MIN && high == INT64_MAX))
      loaded->setMetadata(llvm::LLVMContext::MD_range,
                          metadata.createRange(llvm::APInt(64, static_cast<uint64_t>(low)),
                                               llvm::APInt(64, static_cast<uint64_t>(high) + 1)));
    symbols_.push_back(loaded);
  }
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
