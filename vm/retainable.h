// What is counted and deleted with its last reference: instances, executables, and other
// things that objects may keep alive from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <boost/smart_ptr/intrusive_ptr.hpp>

namespace baton::vm {

/// Begins with one reference, its creator's.
class Retainable {
 public:
  void retain() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Whether the caller's reference is the only one.
  bool isOnlyReference() const noexcept { return references_.load(std::memory_order_acquire) == 1; }
  Retainable(const Retainable&) = delete;
  Retainable& operator=(const Retainable&) = delete;

 protected:
  Retainable() = default;
  virtual ~Retainable() = default;

 private:
  mutable std::atomic<int64_t> references_{1};
};

inline void intrusive_ptr_add_ref(const Retainable* object) noexcept { object->retain(); }
inline void intrusive_ptr_release(const Retainable* object) noexcept { object->release(); }

template <class T>
using Ref = boost::intrusive_ptr<T>;

/// Takes over the reference that the creator holds.
template <class T>
Ref<T> adopt(T* object) {
  return Ref<T>(object, false);
}

}  // namespace baton::vm
