#include "kernels/loop/interpreter.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "kernels/loop/interpreter_program.h"

namespace baton::loop {

/// The flat program and what is needed to set up a frame for it.
struct InterpretedKernel::Program {
  std::vector<Instruction> code;
  std::vector<uint32_t> lists;
  uint32_t registerCount = 0;
  uint32_t accumulatorCount = 0;

  struct Constant {
    uint32_t reg;
    uint64_t bits;
  };
  struct Input {
    uint32_t reg;
    uint32_t scalar;  ///< index into scalars[]
    DType type;
  };
  std::vector<Constant> constants;
  std::vector<Input> inputs;

  struct Buffer {
    int elementBytes;
    uint32_t firstExtent;
    uint32_t rank;
  };
  std::vector<Buffer> buffers;
  std::vector<DimProgram> extents;
  uint32_t operandCount = 0;  ///< buffers that the caller brings
  uint32_t scalarOutputOffset = 0;
};

const Instruction* failRun(Frame& frame, uint32_t message, const int64_t* values, uint32_t count) {
  if (frame.context->fail != nullptr) frame.context->fail(frame.context, message, values, count);
  frame.status = BATON_KERNEL_FAILED;
  return nullptr;
}

namespace {

// ---- control
//   jump:      to code[c]                 branch:   to code[c] unless a
//   forBegin:  dst = 0; to code[c] unless a > 0
//   forEnd:    ++dst; back to code[c] while dst < a; x instructions were done
//   nestBegin: lists[x]: y extents, then y variables; to code[c] when there is nothing to do
//   nestEnd:   the next combination; back to code[c] while there is one; b instructions were done

/// Counts work done; false when the run is to stop.
bool progress(Frame& frame, uint32_t instructions) {
  frame.untilProgress -= instructions;
  if (frame.untilProgress > 0) [[likely]]
    return true;
  const auto interval = static_cast<int64_t>(frame.limits->interval);
  const auto done = static_cast<uint64_t>(interval - frame.untilProgress);
  frame.untilProgress = interval;
  if (frame.limits->onProgress == nullptr) return true;
  frame.status = frame.limits->onProgress(frame.limits->user, done);
  return frame.status == 0;
}

const Instruction* halt(Frame&, const Instruction*) { return nullptr; }
const Instruction* jump(Frame& frame, const Instruction* i) { return frame.code + i->c; }
const Instruction* branch(Frame& frame, const Instruction* i) {
  return frame.registers[i->a] != 0 ? i + 1 : frame.code + i->c;
}
const Instruction* forBegin(Frame& frame, const Instruction* i) {
  frame.registers[i->dst] = 0;
  return static_cast<int64_t>(frame.registers[i->a]) > 0 ? i + 1 : frame.code + i->c;
}
const Instruction* forEnd(Frame& frame, const Instruction* i) {
  if (!progress(frame, i->x)) return nullptr;
  const auto next = static_cast<int64_t>(++frame.registers[i->dst]);
  return next < static_cast<int64_t>(frame.registers[i->a]) ? frame.code + i->c : i + 1;
}
const Instruction* nestBegin(Frame& frame, const Instruction* i) {
  const uint32_t* extents = frame.lists + i->x;
  for (uint32_t n = 0; n < i->y; ++n) {
    if (static_cast<int64_t>(frame.registers[extents[n]]) <= 0) return frame.code + i->c;
    frame.registers[extents[i->y + n]] = 0;
  }
  return i + 1;
}
const Instruction* nestEnd(Frame& frame, const Instruction* i) {
  if (!progress(frame, i->b)) return nullptr;
  const uint32_t* extents = frame.lists + i->x;
  for (uint32_t n = i->y; n-- > 0;) {
    uint64_t& variable = frame.registers[extents[i->y + n]];
    if (++variable < frame.registers[extents[n]]) return frame.code + i->c;
    variable = 0;
  }
  return i + 1;
}

// ---- locals, scalar outputs, failure
//   clear:     registers [a, a + b) become 0
//   get:       dst = local at registers a + index; lists[x]: y (extent, register) pairs
//   set:       the local becomes register dst
//   setScalar: scalar output a becomes register b
//   fail:      message a with the registers lists[x .. x + y)

const Instruction* clear(Frame& frame, const Instruction* i) {
  std::fill_n(frame.registers + i->a, i->b, 0);
  return i + 1;
}
const Instruction* failLocal(Frame& frame, int64_t index, int64_t extent, uint32_t axis) {
  const int64_t values[] = {index, extent, -1, axis};
  return failRun(frame, InterpretedKernel::kIndexOutOfRange, values, 4);
}
template <bool kStores>
const Instruction* accessLocal(Frame& frame, const Instruction* i) {
  const uint32_t* list = frame.lists + i->x;
  uint64_t offset = 0;
  for (uint32_t axis = 0; axis < i->y; ++axis) {
    const uint64_t extent = list[2 * axis];
    const uint64_t index = frame.registers[list[2 * axis + 1]];
    if (index >= extent) [[unlikely]]
      return failLocal(frame, static_cast<int64_t>(index), static_cast<int64_t>(extent), axis);
    offset = offset * extent + index;
  }
  uint64_t& element = frame.registers[i->a + offset];
  uint64_t& value = frame.registers[i->dst];
  if constexpr (kStores)
    element = value;
  else
    value = element;
  return i + 1;
}
const Instruction* setScalar(Frame& frame, const Instruction* i) {
  frame.scalarOutputs[i->a] = static_cast<int64_t>(frame.registers[i->b]);
  return i + 1;
}
const Instruction* fail(Frame& frame, const Instruction* i) {
  int64_t values[16];
  const uint32_t count = std::min<uint32_t>(i->y, std::size(values));
  for (uint32_t n = 0; n < count; ++n)
    values[n] = static_cast<int64_t>(frame.registers[frame.lists[i->x + n]]);
  return failRun(frame, i->a, values, count);
}

}  // namespace

/// Turns blocks into instructions. Recursion follows the nesting of blocks, which verify() bounds.
class InterpreterCompiler {
 public:
  explicit InterpreterCompiler(const Kernel& kernel) : k_(kernel) {}

  Result<std::unique_ptr<const InterpretedKernel::Program>> run() {
    p_ = std::make_unique<InterpretedKernel::Program>();
    uint64_t registers = k_.nodes.size();
    for (const LocalArray& local : k_.locals) {
      localBase_.push_back(static_cast<uint32_t>(registers));
      registers += static_cast<uint64_t>(local.elementCount());
    }
    if (registers > UINT32_MAX)
      return Error(ErrorCode::Unsupported,
                   fmt::format("kernel {} is too large to be interpreted", k_.descriptor.name));
    p_->registerCount = static_cast<uint32_t>(registers);
    leaves();
    buffers();
    block(BlockId(0));
    emit({.handler = halt});
    p_->scalarOutputOffset =
        static_cast<uint32_t>(k_.descriptor.symbols.size() + k_.descriptor.scalarInputs.size());
    return std::unique_ptr<const InterpretedKernel::Program>(std::move(p_));
  }

 private:
  static uint32_t reg(NodeId id) { return id.value(); }
  uint32_t here() const { return static_cast<uint32_t>(p_->code.size()); }
  uint32_t emit(Instruction instruction) {
    p_->code.push_back(instruction);
    return here() - 1;
  }
  uint32_t list(std::span<const NodeId> ids) {
    const auto first = static_cast<uint32_t>(p_->lists.size());
    for (const NodeId id : ids) p_->lists.push_back(reg(id));
    return first;
  }

  void leaves() {
    const auto symbols = static_cast<uint32_t>(k_.descriptor.symbols.size());
    for (uint32_t i = 0; i < k_.nodes.size(); ++i) {
      const Node& node = k_.nodes[i];
      if (node.op == Op::Const) p_->constants.push_back({i, node.bits});
      // Leaves that nothing uses have not been verified.
      if (node.op == Op::Symbol && node.target < symbols) p_->inputs.push_back({i, node.target, DType::I64});
      if (node.op == Op::ScalarInput && node.target < k_.descriptor.scalarInputs.size())
        p_->inputs.push_back({i, symbols + node.target, node.type});
    }
  }

  void buffers() {
    p_->operandCount = static_cast<uint32_t>(k_.descriptor.inputs.size() + k_.descriptor.outputs.size());
    for (uint32_t i = 0; i < k_.bufferCount(); ++i) {
      const BufferIndex buffer(i);
      const std::vector<DimExpr>& extents = k_.bufferExtents(buffer);
      p_->buffers.push_back({sizeBytes(k_.bufferType(buffer)), static_cast<uint32_t>(p_->extents.size()),
                             static_cast<uint32_t>(extents.size())});
      for (const DimExpr& extent : extents) p_->extents.emplace_back(extent);
    }
  }

  void block(BlockId id) {
    for (const NodeId node : k_.block(id).nodes) statement(node);
  }

  void access(NodeId id, const Node& node, bool stores) {
    std::span<const NodeId> ids = k_.operandsOf(node);
    Instruction instruction{.dst = reg(id), .a = node.target};
    if (stores) {
      instruction.dst = reg(ids.back());
      ids = ids.first(ids.size() - 1);
    }
    if (ids.size() == 1 || ids.size() == 2) {
      instruction.b = reg(ids[0]);
      if (ids.size() == 2) instruction.c = reg(ids[1]);
    } else {
      instruction.x = list(ids);
      instruction.y = static_cast<uint32_t>(ids.size());
    }
    instruction.handler = stores ? storeHandler(node.type, ids.size()) : loadHandler(node.type, ids.size());
    emit(instruction);
  }

  void local(NodeId id, const Node& node, bool stores) {
    const std::span<const NodeId> ids = k_.operandsOf(node);
    const LocalArray& array = k_.locals[node.target];
    const auto first = static_cast<uint32_t>(p_->lists.size());
    for (size_t axis = 0; axis < array.extents.size(); ++axis) {
      p_->lists.push_back(static_cast<uint32_t>(array.extents[axis]));
      p_->lists.push_back(reg(ids[axis]));
    }
    emit({.handler = stores ? accessLocal<true> : accessLocal<false>,
          .dst = stores ? reg(ids.back()) : reg(id),
          .a = localBase_[node.target],
          .x = first,
          .y = static_cast<uint32_t>(array.extents.size())});
  }

  void reduce(NodeId id, const Node& node) {
    const LoopParts parts = loopParts(k_, node);
    const NodeId value = reducedValue(k_, node);
    const Handler handler = reduceHandler(node.reduceOp, k_.node(value).type);
    const uint32_t accumulator = reduceDepth_++;
    p_->accumulatorCount = std::max(p_->accumulatorCount, reduceDepth_);
    emit({.handler = handler, .a = accumulator, .y = 0});
    const uint32_t lists = list(parts.extents);
    list(parts.vars);
    const auto rank = static_cast<uint32_t>(parts.vars.size());
    const uint32_t begin = emit({.handler = nestBegin, .x = lists, .y = rank});
    const uint32_t first = here();
    block(node.body);
    emit({.handler = handler, .a = accumulator, .b = reg(value), .y = 1});
    emit({.handler = nestEnd, .b = here() - first + 1, .c = first, .x = lists, .y = rank});
    p_->code[begin].c = here();
    emit({.handler = handler, .dst = reg(id), .a = accumulator, .y = 2});
    --reduceDepth_;
  }

  void statement(NodeId id) {
    const Node& node = k_.node(id);
    const std::span<const NodeId> ids = k_.operandsOf(node);
    switch (node.op) {
      case Op::Load: return access(id, node, false);
      case Op::Store: return access(id, node, true);
      case Op::GetLocal: return local(id, node, false);
      case Op::SetLocal: return local(id, node, true);
      case Op::Local:
        emit({.handler = clear,
              .a = localBase_[node.target],
              .b = static_cast<uint32_t>(k_.locals[node.target].elementCount())});
        return;
      case Op::SetScalar: emit({.handler = setScalar, .a = node.target, .b = reg(ids[0])}); return;
      case Op::Fail:
        emit({.handler = fail, .a = node.target, .x = list(ids), .y = static_cast<uint32_t>(ids.size())});
        return;
      case Op::For: {
        const LoopParts parts = loopParts(k_, node);
        const uint32_t extent = reg(parts.extents[0]);
        const uint32_t var = reg(parts.vars[0]);
        const uint32_t begin = emit({.handler = forBegin, .dst = var, .a = extent});
        block(node.body);
        emit({.handler = forEnd, .dst = var, .a = extent, .c = begin + 1, .x = here() - begin});
        p_->code[begin].c = here();
        return;
      }
      case Op::If: {
        const uint32_t test = emit({.handler = branch, .a = reg(ids[0])});
        block(node.body);
        if (k_.block(node.otherwise).nodes.empty()) {
          p_->code[test].c = here();
          return;
        }
        const uint32_t over = emit({.handler = jump});
        p_->code[test].c = here();
        block(node.otherwise);
        p_->code[over].c = here();
        return;
      }
      case Op::Reduce: return reduce(id, node);
      default: break;
    }
    Instruction instruction{.handler = valueHandler(node.op, k_.node(ids[0]).type, node.type),
                            .dst = reg(id)};
    if (node.op == Op::Select) instruction.handler = valueHandler(node.op, node.type, node.type);
    instruction.a = reg(ids[0]);
    if (ids.size() > 1) instruction.b = reg(ids[1]);
    if (ids.size() > 2) instruction.c = reg(ids[2]);
    if (isIntegerDivision(node.op)) instruction.x = node.target;
    if (node.op == Op::Cast) {
      instruction.x = static_cast<uint32_t>(k_.node(ids[0]).type);
      instruction.y = static_cast<uint32_t>(node.type);
    }
    emit(instruction);
  }

  const Kernel& k_;
  std::unique_ptr<InterpretedKernel::Program> p_;
  std::vector<uint32_t> localBase_;
  uint32_t reduceDepth_ = 0;
};

InterpretedKernel::InterpretedKernel(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
InterpretedKernel::InterpretedKernel(InterpretedKernel&&) noexcept = default;
InterpretedKernel& InterpretedKernel::operator=(InterpretedKernel&&) noexcept = default;
InterpretedKernel::~InterpretedKernel() = default;

Result<InterpretedKernel> InterpretedKernel::compile(const Kernel& kernel) {
  BATON_TRY_ASSIGN(std::unique_ptr<const Program> program, InterpreterCompiler(kernel).run());
  return InterpretedKernel(std::move(program));
}

int32_t InterpretedKernel::run(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars,
                               const InterpreterLimits& limits) const {
  const Program& p = *program_;
  // One block: registers, extents, views, accumulators.
  std::unique_ptr<uint64_t[]> registers(new (std::nothrow) uint64_t[p.registerCount + 1]);
  std::unique_ptr<int64_t[]> extents(new (std::nothrow) int64_t[p.extents.size() + 1]);
  std::unique_ptr<BufferView[]> views(new (std::nothrow) BufferView[p.buffers.size() + 1]);
  std::unique_ptr<Accumulator[]> accumulators(new (std::nothrow) Accumulator[p.accumulatorCount]);
  if (!registers || !extents || !views || !accumulators) return BATON_KERNEL_OUT_OF_MEMORY;

  for (size_t i = 0; i < p.extents.size(); ++i) {
    const std::optional<int64_t> extent = p.extents[i].evaluate(scalars);
    // An operand cannot have an extent that does not fit; a scratch buffer can.
    if (!extent) return BATON_KERNEL_OUT_OF_MEMORY;
    extents[i] = std::max<int64_t>(*extent, 0);
  }
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Program::Buffer& buffer = p.buffers[i];
    views[i].extents = extents.get() + buffer.firstExtent;
    if (i < p.operandCount) {
      views[i].data = static_cast<std::byte*>(buffers[i]);
      continue;
    }
    const auto count = checkedElementCount({views[i].extents, buffer.rank});
    const auto size = count ? checkedMul<int64_t>(*count, buffer.elementBytes) : std::nullopt;
    if (!size) return BATON_KERNEL_OUT_OF_MEMORY;
    views[i].data = static_cast<std::byte*>(ctx->scratch(ctx, static_cast<uint64_t>(*size)));
    if (views[i].data == nullptr && *size > 0) return BATON_KERNEL_OUT_OF_MEMORY;
  }
  for (const Program::Constant& constant : p.constants) registers[constant.reg] = constant.bits;
  for (const Program::Input& input : p.inputs)
    // The upper bits of a narrow scalar are not to be trusted.
    registers[input.reg] = dispatchDType(input.type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      return scalarBits(scalarFromBits<T>(static_cast<uint64_t>(scalars[input.scalar])));
    });

  Frame frame{.registers = registers.get(),
              .buffers = views.get(),
              .accumulators = accumulators.get(),
              .lists = p.lists.data(),
              .code = p.code.data(),
              .context = ctx,
              .scalarOutputs = scalars + p.scalarOutputOffset,
              .limits = &limits,
              .untilProgress = static_cast<int64_t>(limits.interval)};
  for (const Instruction* next = p.code.data(); next != nullptr;) next = next->handler(frame, next);
  return frame.status;
}

}  // namespace baton::loop
