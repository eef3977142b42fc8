// A context: one heap and what its calls share. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/call_stack.h"
#include "vm/executable.h"
#include "vm/heap.h"
#include "vm/profile.h"

namespace baton::vm {

struct ContextOptions {
  bool profile = false;
  /// The portable dispatch loop instead of the fast one.
  bool useSwitch = false;
};

/// Its calls retain it.
class Context final : public Retainable {
 public:
  static Result<Ref<Context>> create(Ref<const Executable> executable, const ContextOptions& options);

  const Executable& executable() const { return *executable_; }
  Heap& heap() { return *heap_; }
  Allocator& allocator() { return *local_; }
  SegmentCache& segments() { return segments_; }
  const ContextOptions& options() const { return options_; }
  Profile* profile() { return profile_.get(); }

  MemoryStatistics memoryStatistics() const;
  void trim();

 private:
  Context(Ref<const Executable> executable, const ContextOptions& options, std::unique_ptr<Allocator> local);
  ~Context() override;

  Ref<const Executable> executable_;
  Ref<Memory> memory_;
  ContextOptions options_;
  std::unique_ptr<Allocator> local_;
  SegmentCache segments_;
  Heap* heap_ = nullptr;
  std::unique_ptr<Profile> profile_;
};

}  // namespace baton::vm
