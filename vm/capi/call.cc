#include <chrono>
#include <vector>

#include "vm/capi/handles.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

static_assert(static_cast<int>(CallState::Ready) == BATON_CALL_READY &&
              static_cast<int>(CallState::Suspended) == BATON_CALL_SUSPENDED &&
              static_cast<int>(CallState::Finished) == BATON_CALL_FINISHED &&
              static_cast<int>(CallState::Failed) == BATON_CALL_FAILED);

namespace {

Result<void> setInput(baton_call* call, size_t index, Ref<Value> value, bool isDonated,
                      ErrorDetails& details) {
  return call->call.setInput(index, std::move(value), isDonated, details);
}

baton_status* advance(baton_call* call, std::optional<uint64_t> instructionCount, baton_call_state* state) {
  return guardedWithDetails([&](ErrorDetails& details) -> Result<void> {
    if (!call) return missing("call");
    Result<CallState> outcome = call->call.advance(instructionCount, details);
    if (state) *state = static_cast<baton_call_state>(call->call.state());
    if (!outcome.has_value()) return std::move(outcome).assume_error();
    return success();
  });
}

}  // namespace

extern "C" {

baton_status* baton_context_create(baton_executable* executable, const baton_context_options* given,
                                   baton_context** out) {
  return guarded([&]() -> Result<void> {
    if (!executable || !out) return missing("executable or out");
    const baton_context_options defaults = BATON_CONTEXT_OPTIONS_INIT;
    const baton_context_options options = readOptions(given, defaults);
    BATON_TRY_ASSIGN(Ref<Context> context, Context::create(Ref<const Executable>(unwrap(executable)),
                                                           {.profile = options.profile != 0,
                                                            .useSwitch = options.switch_dispatch != 0}));
    *out = give<baton_context>(std::move(context));
    return success();
  });
}

void baton_context_release(baton_context* context) {
  if (context) unwrap(context)->release();
}

void baton_context_memory_statistics(const baton_context* context, baton_memory_statistics* out) {
  if (context && out) writeStatistics(unwrap(context)->memoryStatistics(), out);
}

void baton_context_trim(baton_context* context) {
  if (context) unwrap(context)->trim();
}

size_t baton_context_profile_count(baton_context* context) {
  return guardedOr(size_t{0}, [&] {
    return context && unwrap(context)->profile() ? unwrap(context)->profile()->rows().size() : 0;
  });
}

int baton_context_profile_row(baton_context* context, size_t index, baton_profile_row* out) {
  return guardedOr(0, [&] {
    if (!context || !out || !unwrap(context)->profile()) return 0;
    const std::vector<Profile::Row> rows = unwrap(context)->profile()->rows();
    if (index >= rows.size()) return 0;
    const Profile::Row& row = rows[index];
    writeStruct(out, {sizeof(baton_profile_row), row.isKernel ? BATON_PROFILE_KERNEL : BATON_PROFILE_FUNCTION,
                      row.name->c_str(), row.count, row.nanoseconds, row.instructionCount});
    return 1;
  });
}

void baton_context_profile_reset(baton_context* context) {
  if (context && unwrap(context)->profile()) unwrap(context)->profile()->reset();
}

baton_status* baton_call_create(baton_context* context, const baton_function* function, baton_call** out) {
  return guarded([&]() -> Result<void> {
    if (!context || !function || !out) return missing("context, function or out");
    if (&unwrap(function)->executable() != &unwrap(context)->executable())
      return Error(ErrorCode::InvalidArgument, "the function belongs to another executable than the context");
    *out = new baton_call(Ref<Context>(unwrap(context)), *unwrap(function));
    return success();
  });
}

void baton_call_release(baton_call* call) { delete call; }

void baton_call_reset(baton_call* call) {
  if (call) call->call.reset();
}

baton_status* baton_call_set_input(baton_call* call, size_t index, baton_value* value) {
  return guardedWithDetails([&](ErrorDetails& details) -> Result<void> {
    if (!call || !value) return missing("call or value");
    return setInput(call, index, Ref<Value>(unwrap(value)), false, details);
  });
}

baton_status* baton_call_set_input_by_name(baton_call* call, const char* name, baton_value* value) {
  return guardedWithDetails([&](ErrorDetails& details) -> Result<void> {
    if (!call || !name || !value) return missing("call, name or value");
    const size_t index = call->call.entryPoint().findParameter(name);
    if (index == SIZE_MAX)
      return Error(ErrorCode::InvalidArgument,
                   "@" + call->call.entryPoint().name() + " has no parameter %" + std::string(name));
    return setInput(call, index, Ref<Value>(unwrap(value)), false, details);
  });
}

baton_status* baton_call_donate_input(baton_call* call, size_t index, baton_value* value) {
  return guardedWithDetails([&](ErrorDetails& details) -> Result<void> {
    if (!call || !value) return missing("call or value");
    // Only on success is the caller's reference taken over.
    Result<void> set = setInput(call, index, Ref<Value>(unwrap(value)), true, details);
    if (set.has_value()) unwrap(value)->release();
    return set;
  });
}

baton_status* baton_call_set_limits(baton_call* call, const baton_call_limits* given) {
  return guarded([&]() -> Result<void> {
    if (!call) return missing("call");
    const baton_call_limits none = BATON_CALL_LIMITS_INIT;
    const baton_call_limits limits = readOptions(given, none);
    CallLimits made;
    if (limits.memory_bytes != 0) made.memoryBytes = limits.memory_bytes;
    if (limits.instruction_count != 0) made.instructionCount = limits.instruction_count;
    if (limits.call_depth != 0) made.callDepth = limits.call_depth;
    if (limits.stack_bytes != 0) made.stackBytes = limits.stack_bytes;
    made.timeout = std::chrono::nanoseconds(std::min<uint64_t>(limits.timeout_nanoseconds, INT64_MAX / 2));
    return call->call.setLimits(made);
  });
}

baton_status* baton_call_run(baton_call* call) {
  for (;;) {
    baton_call_state state = BATON_CALL_FAILED;
    if (baton_status* status = advance(call, std::nullopt, &state)) return status;
    if (state != BATON_CALL_SUSPENDED) return nullptr;
  }
}

baton_status* baton_call_step(baton_call* call, uint64_t instruction_count, baton_call_state* state) {
  return advance(call, instruction_count, state);
}

baton_status* baton_call_resume(baton_call* call, baton_call_state* state) {
  return advance(call, std::nullopt, state);
}

void baton_call_suspend(baton_call* call) {
  if (call) call->call.suspend();
}

void baton_call_cancel(baton_call* call) {
  if (call) call->call.cancel();
}

baton_call_state baton_call_get_state(const baton_call* call) {
  return call ? static_cast<baton_call_state>(call->call.state()) : BATON_CALL_FAILED;
}

baton_status* baton_call_result(baton_call* call, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!call || !out) return missing("call or out");
    BATON_TRY_ASSIGN(Ref<Value> value, call->call.result());
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

uint64_t baton_call_instruction_count(const baton_call* call) {
  return call ? call->call.instructionCount() : 0;
}

size_t baton_call_frame_count(baton_call* call) {
  return guardedOr(size_t{0}, [&] {
    if (!call) return size_t{0};
    call->frames = call->call.backtrace(SIZE_MAX).frames;
    return call->frames.size();
  });
}

int baton_call_frame(const baton_call* call, size_t index, baton_frame* frame) {
  if (!call || !frame || index >= call->frames.size()) return 0;
  writeFrame(call->frames[index], frame);
  return 1;
}

}  // extern "C"
