#include "vm/deadline_timer.h"

#include <system_error>

namespace baton::vm {

DeadlineTimer::~DeadlineTimer() {
  {
    const std::lock_guard lock(mutex_);
    isStopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> DeadlineTimer::arm(Deadline& deadline) {
  bool isFirst;
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
      try {
        thread_ = std::thread(&DeadlineTimer::run, this);
      } catch (const std::system_error& failure) {
        return Error(ErrorCode::OutOfMemory, std::string("no thread for deadlines: ") + failure.what());
      }
    }
    deadlines_.insert(deadline);
    isFirst = &*deadlines_.begin() == &deadline;
  }
  if (isFirst) changed_.notify_one();
  return success();
}

void DeadlineTimer::disarm(Deadline& deadline) {
  const std::lock_guard lock(mutex_);
  if (deadline.is_linked()) deadlines_.erase(deadlines_.iterator_to(deadline));
}

void DeadlineTimer::run() {
  std::unique_lock lock(mutex_);
  while (!isStopping_) {
    if (deadlines_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Deadline& first = *deadlines_.begin();
    if (Clock::now() < first.at) {
      const Clock::time_point until = first.at;  // `first` may be gone when the wait ends
      changed_.wait_until(lock, until);
      continue;
    }
    deadlines_.erase(deadlines_.begin());
    first.word->fetch_or(first.bit, std::memory_order_relaxed);
  }
}

}  // namespace baton::vm
