#include "vm/call.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include "base/fp_environment.h"
#include "vm/cycles.h"
#include "vm/dispatch.h"
#include "vm/share.h"

namespace baton::vm {

namespace {

/// "field 1 of Cons, field 0 of a tuple": the way from a value to a cell in it.
std::string cellPath(const TypeInfo& type, Object* object, const std::vector<uint32_t>& path) {
  std::string text;
  const TypeInfo* current = &type;
  for (const uint32_t slot : path) {
    if (!current || !current->hasParts()) break;
    if (current->isArray()) {
      text += fmt::format("{}element {}", text.empty() ? "" : ", ", slot);
      object = object->slotSpan()[slot];
      current = &current->element();
      if (object->kind != ObjectKind::Adt && object->kind != ObjectKind::Array) break;
      continue;
    }
    const bytecode::Constructor& constructor = current->definition->constructors[object->tag];
    const auto field = std::ranges::find_if(constructor.fields, [&](const bytecode::Field& candidate) {
      return !candidate.isScalar && candidate.slot == slot;
    });
    if (field == constructor.fields.end()) break;
    const auto index = static_cast<size_t>(field - constructor.fields.begin());
    text += fmt::format("{}field {} of {}", text.empty() ? "" : ", ", index,
                        constructor.name.empty() ? "a tuple" : constructor.name);
    current = &(*current->fields)[object->tag][index];
    object = object->slots()[slot];
    if (object->kind != ObjectKind::Adt && object->kind != ObjectKind::Array) break;
  }
  return text.empty() ? "a captured variable" : text;
}

}  // namespace

Call::Call(Ref<Context> context, const EntryPoint& entry)
    : context_(std::move(context)),
      entry_(entry),
      inputs_(entry.parameters().size()),
      machine_(context_->heap(), context_->segments()),
      kernels_(context_->executable().kernels().bindings(), context_->executable().instance().threads(),
               context_->allocator()) {
  const Executable& executable = context_->executable();
  machine_.functions = executable.functions();
  machine_.constants = executable.constants();
  machine_.kernels = &kernels_;
  machine_.program = &executable.program();
  deadline_.word = &machine_.interrupt;
  deadline_.bit = kInterruptDeadline;
  const bytecode::Program& program = executable.program();
  const bytecode::Signature& signature =
      program.signatures[program.functions[entry.declared().function.value()].signature.value()];
  const auto scalarCount = std::ranges::count_if(signature.results, &bytecode::Kind::isScalar);
  machine_.scalarResults.resize(static_cast<size_t>(scalarCount));
  machine_.referenceResults.resize(signature.results.size() - static_cast<size_t>(scalarCount));
}

Call::~Call() { reset(); }

Result<void> Call::setInput(size_t index, Ref<Value> value, bool isDonated, ErrorDetails& details) {
  if (state_ != CallState::Ready)
    return Error(ErrorCode::InvalidArgument, "inputs are set before a call starts");
  if (index >= inputs_.size())
    return Error(ErrorCode::InvalidArgument, fmt::format("input {} out of range: @{} has {} parameters",
                                                         index, entry_.name(), inputs_.size()));
  BATON_TRY(entry_.checkOne(index, *value, details));
  inputs_[index] = {std::move(value), isDonated};
  return success();
}

Result<void> Call::setLimits(const CallLimits& limits) {
  if (state_ != CallState::Ready)
    return Error(ErrorCode::InvalidArgument, "limits are set before a call starts");
  limits_ = limits;
  return success();
}

Result<CallState> Call::advance(std::optional<uint64_t> instructionCount, ErrorDetails& details) {
  if (state_ == CallState::Finished || state_ == CallState::Failed)
    return Error(ErrorCode::InvalidArgument, "the call has ended: reset it before it runs again");
  if (state_ == CallState::Ready) BATON_TRY(start(details));
  try {
    return run(instructionCount);
  } catch (const std::bad_alloc&) {
    // Thrown where a message or a small table was made.
    context_->executable().instance().timer().disarm(deadline_);
    context_->heap().setLimit(Heap::kNoLimit);
    kernels_.setObserver(nullptr);
    endRun(CallState::Failed);
    return Error(ErrorCode::OutOfMemory, "out of memory");
  }
}

Result<void> Call::start(ErrorDetails& details) {
  boost::container::small_vector<const Value*, 8> values;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].value) {
      details = {{"argument", entry_.parameters()[i].name}};
      return Error(ErrorCode::InvalidArgument, fmt::format("argument %{} of @{} was not given",
                                                           entry_.parameters()[i].name, entry_.name()));
    }
    values.push_back(inputs_[i].value.get());
  }
  BATON_TRY(entry_.checkAll({values.data(), values.size()}, details));
  machine_.stackLimitBytes = limits_.stackBytes;
  machine_.depthLimit = limits_.callDepth;
  BATON_TRY(machine_.enterOutermost(machine_.functions[entry_.declared().function.value()]));
  passArguments();
  executed_ = 0;
  timeUsed_ = {};
  memoryUsed_ = 0;
  machine_.error.reset();
  state_ = CallState::Suspended;
  return success();
}

void Call::passArguments() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    const EntryPoint::Parameter& parameter = entry_.parameters()[i];
    if (parameter.type.kind == TypeKind::Scalar) {
      machine_.scalars[parameter.registerIndex] = input.value->bits();
    } else {
      Object*& slot = machine_.references[parameter.registerIndex];
      if (input.isDonated && input.value->isOnlyReference()) {
        slot = input.value->takeObject();
      } else {
        slot = input.value->object();
        retain(slot);
      }
    }
    if (input.isDonated) input = {};
  }
}

Stop Call::runSlice() {
  const ContextOptions& options = context_->options();
  return options.useSwitch ? runSwitch(machine_) : runGoto(machine_);
}

Result<CallState> Call::run(std::optional<uint64_t> instructionCount) {
  Instance& instance = context_->executable().instance();
  Heap& heap = context_->heap();
  Profile* profile = context_->profile();
  const FpEnvironment floats;
  const ThreadPool::CallScope threads(instance.threads());

  const auto begin = DeadlineTimer::Clock::now();
  if (limits_.timeout.count() > 0) {
    deadline_.at = begin + (limits_.timeout - timeUsed_);
    if (Result<void> armed = instance.timer().arm(deadline_); !armed.has_value()) {
      endRun(CallState::Failed);
      return std::move(armed).assume_error();
    }
  }
  const int64_t inUseBefore = static_cast<int64_t>(heap.inUseBytes());
  if (limits_.memoryBytes == Heap::kNoLimit) {
    heap.setLimit(Heap::kNoLimit);
  } else {
    const int64_t left =
        static_cast<int64_t>(std::min<uint64_t>(limits_.memoryBytes, INT64_MAX / 2)) - memoryUsed_;
    heap.setLimit(static_cast<uint64_t>(std::max<int64_t>(left, 0)));
  }
  kernels_.setObserver(profile);
  if (profile) profile->begin();

  uint64_t stepsLeft = instructionCount.value_or(UINT64_MAX);
  std::optional<Error> failure;
  CallState next = CallState::Suspended;
  for (;;) {
    const uint64_t limitLeft = limits_.instructionCount - std::min(limits_.instructionCount, executed_);
    const uint64_t fuel = std::min({limitLeft, stepsLeft, static_cast<uint64_t>(INT64_MAX / 2)});
    machine_.fuel = static_cast<int64_t>(fuel);
    kernels_.instructionsLeft = static_cast<int64_t>(std::min<uint64_t>(limitLeft, INT64_MAX / 2));
    const Stop stop = instructionCount || profile ? runPrecisely(machine_, profile) : runSlice();
    const auto used = static_cast<uint64_t>(static_cast<int64_t>(fuel) - machine_.fuel);
    executed_ += used;
    stepsLeft -= std::min(stepsLeft, used);
    if (stop == Stop::Finished) {
      next = CallState::Finished;
      break;
    }
    if (stop == Stop::Failed) {
      failure = machine_.error ? locate(std::move(*machine_.error))
                               : failAt(ErrorCode::OutOfMemory, "the machine refused memory");
      break;
    }
    const uint32_t interrupt = machine_.interrupt.load(std::memory_order_relaxed);
    if (interrupt & kInterruptCancel) {
      failure = failAt(ErrorCode::Cancelled, "the call was cancelled");
      break;
    }
    if (interrupt & kInterruptDeadline) {
      failure = failAt(ErrorCode::DeadlineExceeded,
                       fmt::format("the deadline of the call has passed: {} ms were allowed",
                                   std::chrono::duration<double, std::milli>(limits_.timeout).count()));
      break;
    }
    if (interrupt & kInterruptSuspend) {
      machine_.interrupt.fetch_and(~uint32_t{kInterruptSuspend}, std::memory_order_relaxed);
      break;
    }
    if (executed_ >= limits_.instructionCount) {
      failure =
          failAt(ErrorCode::LimitReached,
                 fmt::format("instruction limit reached: {} instructions allowed", limits_.instructionCount));
      break;
    }
    if (stepsLeft == 0) break;
  }

  if (profile) profile->end();
  kernels_.setObserver(nullptr);
  if (limits_.timeout.count() > 0) {
    instance.timer().disarm(deadline_);
    timeUsed_ += DeadlineTimer::Clock::now() - begin;
  }
  if (failure) {
    endRun(CallState::Failed);
  } else if (next == CallState::Finished) {
    Result<CallState> finished = finish();
    if (!finished.has_value()) {
      failure = std::move(finished).assume_error();
      next = CallState::Failed;
    }
    endRun(next);
  }
  memoryUsed_ += static_cast<int64_t>(heap.inUseBytes()) - inUseBefore;
  heap.setLimit(Heap::kNoLimit);
  if (failure) return std::move(*failure);
  return next;
}

void Call::endRun(CallState state) {
  machine_.unwind();
  machine_.error.reset();
  machine_.lacksMemory = false;
  machine_.interrupt.store(0, std::memory_order_relaxed);
  for (Object*& object : machine_.referenceResults)
    if (object) context_->heap().release(std::exchange(object, nullptr));
  for (Input& input : inputs_) input = {};
  state_ = state;
  collectCycles(context_->heap());
}

void Call::reset() {
  if (state_ == CallState::Suspended) endRun(CallState::Ready);
  for (Input& input : inputs_) input = {};
  result_.reset();
  machine_.interrupt.store(0, std::memory_order_relaxed);
  state_ = CallState::Ready;
}

Result<Ref<Value>> Call::wrap(const TypeInfo& type, uint64_t bits, Object* object) {
  switch (type.kind) {
    case TypeKind::Scalar: return Value::scalar(type.dtype, bits);
    case TypeKind::Tensor: return Value::tensor(object);
    case TypeKind::Tuple:
    case TypeKind::Adt:
    case TypeKind::Closure:
    case TypeKind::Ref:
    case TypeKind::Array: break;
  }
  return Value::data(type, object, false);
}

Result<CallState> Call::finish() {
  Heap& heap = context_->heap();
  const TypeInfo& type = entry_.result();
  Object* object = nullptr;
  if (entry_.declared().resultIsSplit) {
    // One level of the tuple was returned as several results: it is built for whoever asked.
    const bytecode::Constructor& constructor = type.definition->constructors.front();
    object = heap.allocateRecord(ObjectKind::Adt, 0, constructor.referenceCount, constructor.scalarCount);
    if (!object) return heap.takeFailure();
    std::ranges::copy(machine_.referenceResults, object->slots());
    std::ranges::copy(machine_.scalarResults, object->scalars());
    std::ranges::fill(machine_.referenceResults, nullptr);
  } else if (type.kind != TypeKind::Scalar) {
    object = std::exchange(machine_.referenceResults.front(), nullptr);
  }
  if (object) {
    std::vector<uint32_t> path;
    const ShareOutcome outcome = share(heap, object, &context_->executable(), &path);
    if (outcome != ShareOutcome::Done) {
      Error failure =
          outcome == ShareOutcome::NoMemory
              ? heap.takeFailure()
              : Error(ErrorCode::ProgramError,
                      fmt::format("the result of @{} holds a ref, which cannot leave its context: {}",
                                  entry_.name(), cellPath(type, object, path)));
      heap.release(object);
      return failure;
    }
  }
  const uint64_t bits = machine_.scalarResults.empty() ? 0 : machine_.scalarResults.front();
  BATON_TRY_ASSIGN(result_, wrap(type, bits, object));
  return CallState::Finished;
}

Result<Ref<Value>> Call::result() const {
  if (state_ != CallState::Finished)
    return Error(ErrorCode::InvalidArgument, "the call has not finished: it has no result");
  return result_;
}

Call::Backtrace Call::backtrace(size_t limit) const {
  Backtrace trace;
  if (!machine_.isRunning()) return trace;
  const Executable& executable = context_->executable();
  size_t count = 0;
  for (FrameWalk walk(machine_); !walk.isDone() && count < limit; walk.next(), ++count) {
    const uint32_t function = executable.functionIndex(walk.function());
    const auto word = static_cast<uint32_t>(walk.at() - walk.function().code);
    executable.locate(function, executable.instructionStart(function, word), trace.frames);
  }
  trace.omittedCount = machine_.depth + 1 - count;
  return trace;
}

Error Call::locate(Error failure) const {
  Backtrace trace = backtrace(kMaxFrames);
  for (ProgramLocation& location : trace.frames) failure.at(std::move(location));
  failure.omitFrames(trace.omittedCount);
  return failure;
}

Error Call::failAt(ErrorCode code, std::string message) { return locate(Error(code, std::move(message))); }

}  // namespace baton::vm
