#include "vm/context.h"

namespace baton::vm {

Context::Context(Ref<const Executable> executable, const ContextOptions& options,
                 std::unique_ptr<Allocator> local)
    : executable_(std::move(executable)),
      memory_(&executable_->instance().memory()),
      options_(options),
      local_(std::move(local)),
      segments_(*local_) {}

Result<Ref<Context>> Context::create(Ref<const Executable> executable, const ContextOptions& options) {
  Memory& memory = executable->instance().memory();
  Ref<Context> context = adopt(new Context(std::move(executable), options, memory.makeLocal()));
  BATON_TRY_ASSIGN(context->heap_, Heap::create(*context->local_, memory.shared(), memory));
  if (options.profile) context->profile_ = std::make_unique<Profile>(*context->executable_);
  return context;
}

Context::~Context() {
  segments_.trim();
  if (heap_) heap_->abandon();
}

MemoryStatistics Context::memoryStatistics() const {
  MemoryStatistics statistics = local_->statistics();
  // What the heap has reserved in pages is in use below it, whether objects fill it or not.
  statistics.inUseBytes = heap_->inUseBytes();
  statistics.peakInUseBytes = heap_->peakInUseBytes();
  return statistics;
}

void Context::trim() {
  segments_.trim();
  heap_->trim();
}

}  // namespace baton::vm
