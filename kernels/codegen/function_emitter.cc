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

void FunctionEmitter::setRange(llvm::LoadInst* loaded, int64_t low, int64_t high) {
  // The upper end is excluded; one past the greatest int64 wraps, which the format allows.
  if (low > high || (low == INT64_MIN && high == INT64_MAX)) return;
  llvm::MDBuilder metadata(context_);
  loaded->setMetadata(llvm::LLVMContext::MD_range,
                      metadata.createRange(llvm::APInt(64, static_cast<uint64_t>(low)),
                                           llvm::APInt(64, static_cast<uint64_t>(high) + 1)));
}

void FunctionEmitter::setSymbol(uint32_t index, llvm::LoadInst* loaded) {
  const auto [low, high] = symbolRange(k_.descriptor, index);
  setRange(loaded, low, high);
  symbols_.push_back(loaded);
}

void FunctionEmitter::loadArguments(Value* scalars, Value* buffers) {
  const KernelDescriptor& descriptor = k_.descriptor;
  llvm::Type* const i64Type = b_.getInt64Ty();
  for (uint32_t i = 0; i < descriptor.symbols.size(); ++i) {
    auto* const loaded = b_.CreateAlignedLoad(i64Type, b_.CreateConstInBoundsGEP1_64(i64Type, scalars, i),
                                              llvm::Align(8), descriptor.symbols[i].name);
    setSymbol(i, loaded);
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

namespace {

/// Divisors that may be zero are made 1, and `*divisorIsZero` (when asked for) tells whether one was zero.
struct DimValues {
  using Value = llvm::Value*;
  llvm::IRBuilder<>& builder;
  std::span<llvm::Value* const> symbols;
  llvm::Value** divisorIsZero;

  Value number(int64_t value) { return builder.getInt64(static_cast<uint64_t>(value)); }
  Value symbol(DimSymbol symbol) { return symbols[symbol.value()]; }
  Value add(Value a, Value b) { return builder.CreateAdd(a, b); }
  Value multiply(Value a, Value b) { return builder.CreateMul(a, b); }
  Value emit(Op op, Value a, Value b) {
    Value const operands[] = {a, b};
    return emitValueOp(builder, op, DType::I64, DType::I64, operands);
  }
  Value operation(DimOp op, Value a, Value b) {
    if (op == DimOp::Min) return emit(Op::Min, a, b);
    if (op == DimOp::Max) return emit(Op::Max, a, b);
    if (op == DimOp::TooLarge) return number(0);  // verify() has excluded it
    Value const isZero = builder.CreateICmpEQ(b, number(0));
    b = builder.CreateSelect(isZero, number(1), b);
    if (divisorIsZero != nullptr) *divisorIsZero = builder.CreateOr(*divisorIsZero, isZero);
    if (op == DimOp::FloorMod) return emit(Op::FloorMod, a, b);
    Value const quotient = emit(Op::FloorDiv, a, b);
    if (op == DimOp::FloorDiv) return quotient;
    Value const isAbove = builder.CreateICmpNE(emit(Op::FloorMod, a, b), number(0));
    return builder.CreateAdd(quotient, builder.CreateZExt(isAbove, builder.getInt64Ty()));
  }
};

}  // namespace

llvm::Value* FunctionEmitter::dim(const DimExpr& expr, Value** divisorIsZero) {
  return writeDim(DimValues{b_, symbols_, divisorIsZero}, expr);
}

void FunctionEmitter::allocateScratch() {
  for (const loop::ScratchBuffer& scratch : k_.scratch) {
    Value* isBad = b_.getFalse();
    // None of no elements is too large, whatever its other extents.
    Value* isEmpty = b_.getFalse();
    std::vector<Value*> extents;
    for (const DimExpr& expr : scratch.extents) {
      extents.push_back(dim(expr, &isBad));
      isEmpty = b_.CreateOr(isEmpty, b_.CreateICmpSLE(extents.back(), i64(0)));
    }
    Value* size = b_.CreateSelect(isEmpty, i64(0), i64(sizeBytes(scratch.dtype)));
    for (Value* const extent : extents) {
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

void FunctionEmitter::ifThen(Value* condition, const std::function<void()>& then, llvm::MDNode* weights) {
  BasicBlock* const yes = newBlock("then");
  BasicBlock* const rest = newBlock("rest");
  b_.CreateCondBr(condition, yes, rest, weights);
  b_.SetInsertPoint(yes);
  then();
  if (b_.GetInsertBlock()->getTerminator() == nullptr) b_.CreateBr(rest);
  b_.SetInsertPoint(rest);
}

void FunctionEmitter::ifSeldom(Value* condition, const std::function<void()>& then) {
  ifThen(condition, then, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
}

void FunctionEmitter::ifElse(Value* condition, const std::function<void()>& then,
                             const std::function<void()>& otherwise) {
  BasicBlock* const yes = newBlock("then");
  BasicBlock* const no = newBlock("else");
  BasicBlock* const rest = newBlock("rest");
  b_.CreateCondBr(condition, yes, no);
  b_.SetInsertPoint(yes);
  then();
  b_.CreateBr(rest);
  b_.SetInsertPoint(no);
  otherwise();
  b_.CreateBr(rest);
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
  values_[id.value()] = emitValueOp(b_, node.op, operandType, node.type, operands,
                                    {.canonicalNan = needsCanonicalNan(id, node)});
}

bool FunctionEmitter::needsCanonicalNan(NodeId id, const Node& node) {
  const bool readsBits = node.op == Op::CopySign || (node.op == Op::Bitcast && !isFloat(node.type) &&
                                                     isFloat(k_.node(k_.operandsOf(node)[0]).type));
  if (!readsBits) return true;
  if (!shared_.nans) shared_.nans.emplace(k_);
  return shared_.nans->needsCanonical(id);
}

void FunctionEmitter::branch(const Node& node) {
  const NodeId condition = k_.operandsOf(node)[0];
  Value* const value = scalarOf(condition);
  if (!value->getType()->isVectorTy()) {
    ifElse(value, [&] { block(node.body); }, [&] { block(node.otherwise); });
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

}  // namespace baton::codegen
