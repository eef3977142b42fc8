#include <string_view>

#include "vm/capi/handles.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

namespace {

class CallbackSink final : public LogSink {
 public:
  CallbackSink(baton_log_sink sink, void* user, baton_log_level lowest)
      : sink_(sink), user_(user), lowest_(lowest) {}
  bool wants(LogLevel level) const noexcept override {
    return static_cast<int>(level) >= static_cast<int>(lowest_);
  }
  void write(LogLevel level, std::string_view message) noexcept override {
    if (!wants(level)) return;
    try {
      sink_(user_, static_cast<baton_log_level>(level), std::string(message).c_str());
    } catch (const std::bad_alloc&) {
      sink_(user_, static_cast<baton_log_level>(level), "(no memory for the message)");
    }
  }

 private:
  baton_log_sink sink_;
  void* user_;
  baton_log_level lowest_;
};

}  // namespace

extern "C" {

baton_status* baton_instance_create(const baton_instance_options* given, baton_instance** out) {
  return guarded([&]() -> Result<void> {
    if (!out) return missing("out");
    const baton_instance_options defaults = BATON_INSTANCE_OPTIONS_INIT;
    const baton_instance_options options = readOptions(given, defaults);
    InstanceOptions made;
    if (options.thread_count > 4096)
      return Error(ErrorCode::InvalidArgument,
                   "thread_count " + std::to_string(options.thread_count) + " exceeds 4096");
    made.threads.threadCount = static_cast<int>(options.thread_count);
    made.threads.spin = std::chrono::microseconds(options.spin_microseconds);
    if (options.memory_limit_bytes != 0) made.memory.limitBytes = options.memory_limit_bytes;
    made.memory.refuseRequest = options.fail_allocation;
    const std::string_view allocator = options.allocator ? options.allocator : "pool";
    if (allocator != "pool" && allocator != "system")
      return Error(ErrorCode::InvalidArgument,
                   "no allocator " + std::string(allocator) + ": there are pool and system");
    made.memory.kind = allocator == "pool" ? Memory::Kind::Pool : Memory::Kind::System;
    if (options.log_sink)
      made.log = std::make_unique<CallbackSink>(options.log_sink, options.log_user, options.log_level);
    BATON_TRY_ASSIGN(Ref<Instance> instance, Instance::create(std::move(made)));
    *out = give<baton_instance>(std::move(instance));
    return success();
  });
}

void baton_instance_retain(baton_instance* instance) {
  if (instance) unwrap(instance)->retain();
}

void baton_instance_release(baton_instance* instance) {
  if (instance) unwrap(instance)->release();
}

void baton_instance_memory_statistics(const baton_instance* instance, baton_memory_statistics* out) {
  if (instance && out) writeStatistics(unwrap(instance)->memory().statistics(), out);
}

void baton_instance_trim(baton_instance* instance) {
  if (instance) unwrap(instance)->trim();
}

}  // extern "C"
