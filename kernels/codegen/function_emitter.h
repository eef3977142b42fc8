// Emits the body of one kernel, or of one parallel loop of it, into an LLVM function.
// Private to kernels/codegen.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/codegen/lane_analysis.h"
#include "kernels/codegen/nan_analysis.h"
#include "kernels/loop/captures.h"
#include "kernels/loop/kernel.h"

namespace baton::codegen {

/// What all functions of one kernel share.
struct KernelShared {
  const loop::Kernel& kernel;
  llvm::Module& module;
  unsigned nativeLanes;                    ///< floats in a vector register of the CPU level
  std::vector<llvm::MDNode*> ownScope;     ///< for each buffer, !alias.scope of its accesses
  std::vector<llvm::MDNode*> otherScopes;  ///< ... and !noalias
  std::function<llvm::Function*(llvm::FunctionType*, const char* name)> newFunction;
  std::optional<NanAnalysis> nans;  ///< made when it is first asked
  std::string error;                ///< the first problem met; empty when there is none
};

class FunctionEmitter {
 public:
  FunctionEmitter(KernelShared& shared, llvm::Function* function, bool isInsideParallel);

  /// The whole kernel: arguments are context, buffers, scalars.
  void emitKernel();
  /// One piece of a parallel loop: arguments are context, closure, begin, end. `isNatural`: of each member of
  /// the closure, whether it is known to be a number that is not negative.
  void emitParallelBody(const loop::Node& loop, const loop::Captures& captures, llvm::StructType* closureType,
                        const std::vector<bool>& isNatural);

 private:
  using Value = llvm::Value;
  using Body = std::function<void(Value* var)>;

  /// How code is emitted now: as scalars (width 0) or in lanes.
  struct Lanes {
    unsigned width = 0;
    const LaneAnalysis* analysis = nullptr;
    Value* mask = nullptr;  ///< active lanes; null: all
  };
  struct LocalStorage {
    llvm::AllocaInst* memory = nullptr;
    Value* pointer = nullptr;
    unsigned width = 0;  ///< of the lanes that have a copy each; 0: a single copy
  };

  struct LocalPlace {
    Value* address = nullptr;
    llvm::Align align;
    bool isVector = false;   ///< of an element in each lane
    bool needsMask = false;  ///< lanes that are not active must not touch memory
  };

  // Set-up (function_emitter.cc).
  void setRange(llvm::LoadInst* loaded, int64_t low, int64_t high);
  /// Declares the next symbol, with what is known of its range.
  void setSymbol(uint32_t index, llvm::LoadInst* loaded);
  void loadArguments(Value* scalars, Value* buffers);
  void allocateScratch();
  void computeStrides();
  Value* dim(const DimExpr& expr, Value** divisorIsZero);
  llvm::AllocaInst* allocate(llvm::Type* type, const char* name);

  // Values and memory (emit_memory.cc).
  Value* scalarOf(loop::NodeId id);
  Value* vectorOf(loop::NodeId id);
  Value* splat(Value* scalar) const;
  Value* lanesFrom(Value* first, int64_t stride);  ///< first + lane * stride
  struct AxisPosition {
    loop::NodeId position;
    size_t axis;
  };
  std::vector<AxisPosition> joinedAxes(uint32_t buffer, std::span<const loop::NodeId> indices) const;
  struct Offset {
    Value* shared;  ///< elements, to the place that neighbours share
    Value* fours;   ///< bytes from there, to the one that four of them share; 0 unless isInFours
    Value* own;     ///< bytes from there
    bool isInFours;
    int64_t elementBytes;
  };
  void addPosition(Offset& offset, Value* position, Value* stride);
  Value* opaque(Value* address);
  struct Address {
    Value* each;            ///< the one address, or a vector of addresses where lanes are not consecutive
    Value* first;           ///< of the first lane
    Value* step = nullptr;  ///< from lane to lane, in elements, where they go their way by a number not known
  };
  Address elementAddress(uint32_t buffer, std::span<const loop::NodeId> indices);
  /// Whether the lanes have their turns: addresses a step apart are found by adding it. Processors with 16
  /// lanes have instructions that gather and scatter as fast.
  bool isOneByOne(const Address& address) const {
    return address.step != nullptr && lanes_.mask == nullptr && shared_.nativeLanes < 16;
  }
  void annotate(llvm::Instruction* access, uint32_t buffer) const;
  void load(loop::NodeId id, const loop::Node& node);
  void store(const loop::Node& node);
  void declareLocal(const loop::Node& node);
  LocalPlace localPlace(const loop::Node& node, std::span<const loop::NodeId> indices);
  void getLocal(loop::NodeId id, const loop::Node& node);
  Value* column(const loop::Node& node, std::span<const loop::NodeId> indices);
  size_t transposeRows(std::vector<Value*>& rows, int64_t elementBytes, size_t wanted);
  void setLocal(const loop::Node& node);
  llvm::FixedVectorType* vectorType(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, lanes_.width);
  }

  // Statements (function_emitter.cc).
  void block(loop::BlockId id);
  void statement(loop::NodeId id);
  void valueOp(loop::NodeId id, const loop::Node& node);
  bool needsCanonicalNan(loop::NodeId id, const loop::Node& node);
  void branch(const loop::Node& node);
  void failWith(uint32_t message, std::span<Value* const> values);
  void returnStatus(int32_t status);
  void forLoop(const loop::Node& node);
  void vectorLoop(const loop::Node& node, const LaneAnalysis& analysis);
  void parallelLoop(const loop::Node& node);
  void unrolledLoop(const loop::Node& node);
  /// for (var = begin; var < end; var += step); end - begin is a multiple of step. A final loop is
  /// in lanes or right around them, or is what lanes leave over: it is marked so that LLVM leaves it alone.
  void countedLoop(Value* begin, Value* end, int64_t step, bool isFinal, const Body& body);
  void nest(std::span<Value* const> extents, std::span<const loop::NodeId> vars,
            const std::function<void()>& body);
  /// Runs `body` with lanes [first, first + width), active where `mask` says.
  void inLanes(unsigned width, const LaneAnalysis& analysis, loop::NodeId laneVar, Value* first, Value* mask,
               const std::function<void()>& body);
  Value* firstLanes(Value* count, unsigned width);  ///< a mask: lane < count
  void ifThen(Value* condition, const std::function<void()>& then, llvm::MDNode* weights = nullptr);
  /// What runs seldom beside the rest: LLVM then moves no constants of it to where they take registers from
  /// others.
  void ifSeldom(Value* condition, const std::function<void()>& then);
  void ifElse(Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise);

  // Reductions (emit_reduce.cc), and those with an order (emit_ordered.cc).
  struct Ordered;
  void reduce(loop::NodeId id, const loop::Node& node);
  void reduceAnyOrder(loop::NodeId id, const loop::Node& node, const LaneAnalysis* analysis);
  void reduceArg(loop::NodeId id, const loop::Node& node);
  void reduceOrdered(loop::NodeId id, const loop::Node& node, const LaneAnalysis* analysis);
  Value* blockOf(Ordered& o, const loop::Node& node, Value* start, Value* length);
  Value* blockInLanes(Ordered& o, const loop::Node& node, Value* start, Value* length);
  void addInMemory(Ordered& o, const std::function<Value*(Value* first, Value* mask)>& elements,
                   const loop::Node& node, Value* start, Value* done, Value* length);
  Value* foldPartials(Ordered& o, std::vector<Value*> partials);
  Value* partialsAt(const Ordered& o, Value* index);
  void streamOrdered(Ordered& o, const loop::Node& node);
  void closeBlock(Ordered& o);
  void pushBlock(Ordered& o, Value* value);
  Value* finishBlocks(Ordered& o);
  Value* foldLanes(loop::ReduceOp op, DType type, Value* vector);
  Value* reducedOf(const loop::Node& node);  ///< in the present lanes

  Value* i64(int64_t value) const {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context_), value);
  }
  llvm::BasicBlock* newBlock(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }

  KernelShared& shared_;
  const loop::Kernel& k_;
  llvm::LLVMContext& context_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  const bool isInsideParallel_;
  Value* kernelContext_ = nullptr;
  std::vector<Value*> symbols_;
  std::vector<Value*> scalarInputs_;
  Value* scalarOutputs_ = nullptr;
  std::vector<Value*> buffers_;
  std::vector<std::vector<Value*>> bufferStrides_;  ///< elements, for each axis
  std::vector<Value*> values_;                      ///< of the nodes emitted so far
  std::vector<LocalStorage> locals_;
  Lanes lanes_;
  bool isUnrolled_ = false;  ///< inside of an iteration of an unrolled loop
  uint32_t emitted_ = 0;
};

}  // namespace baton::codegen
