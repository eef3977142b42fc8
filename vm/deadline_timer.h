// The thread that tells calls that their time is over, by setting a bit of a word that they
// look at anyway.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include <boost/intrusive/set.hpp>

#include "base/error.h"

namespace baton::vm {

/// Thread-safe. The thread starts with the first deadline.
class DeadlineTimer {
 public:
  using Clock = std::chrono::steady_clock;

  /// One deadline; its owner keeps it where it is between arm() and disarm().
  class Deadline : public boost::intrusive::set_base_hook<> {
   public:
    Clock::time_point at;
    std::atomic<uint32_t>* word = nullptr;
    uint32_t bit = 0;
    friend bool operator<(const Deadline& a, const Deadline& b) { return a.at < b.at; }
  };

  DeadlineTimer() = default;
  ~DeadlineTimer();

  /// An error when the system refuses the thread.
  Result<void> arm(Deadline& deadline);
  /// Afterwards the word is not touched any more. Nothing happens when it was not armed.
  void disarm(Deadline& deadline);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  boost::intrusive::multiset<Deadline> deadlines_;
  std::thread thread_;
  bool isStopping_ = false;
};

}  // namespace baton::vm
