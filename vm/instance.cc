#include "vm/instance.h"

#include "vm/share.h"

namespace baton::vm {

Result<std::unique_ptr<SharedHeap>> SharedHeap::create(Memory& memory) {
  // The owner of the heap comes first, so that nothing can go wrong in between.
  std::unique_ptr<SharedHeap> shared(new SharedHeap(memory.makeLocal()));
  BATON_TRY_ASSIGN(shared->heap_, Heap::create(*shared->local_, memory.shared(), memory));
  return shared;
}

SharedHeap::~SharedHeap() {
  if (heap_) heap_->abandon();
}

void SharedHeap::markShared(Object* object) {
  // Nothing in here is a constant or a cell, so the walk needs no memory and cannot fail.
  const ShareOutcome outcome = share(*heap_, object, nullptr);
  BATON_DCHECK(outcome == ShareOutcome::Done);
  static_cast<void>(outcome);
}

Result<Ref<Instance>> Instance::create(InstanceOptions options) {
  Ref<Instance> instance = adopt(new Instance);
  instance->log_ = options.log ? std::move(options.log) : std::make_unique<NullLogSink>();
  instance->memory_ = adopt(new Memory(options.memory));
  BATON_TRY_ASSIGN(instance->threads_, ThreadPool::create(options.threads));
  BATON_TRY_ASSIGN(instance->values_, SharedHeap::create(*instance->memory_));
  return instance;
}

}  // namespace baton::vm
