#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/fp_environment.h"

namespace baton {

namespace {

constexpr size_t kCacheLine = 64;
constexpr int kMaxGroups = 64;
/// Pieces per thread: what a thread that comes late or is slow leaves to the others.
constexpr int64_t kPiecesPerThread = 4;

// Set while this thread runs pieces of a region, so that nested regions stay in it.
thread_local bool insideRegion = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins, and lets other threads run once that has taken long: with more threads than CPUs
/// the awaited one may need this CPU.
class Spinner {
 public:
  void turn() {
    relax();
    if (++turns_ > kPatience && turns_ % 64 == 0) std::this_thread::yield();
  }

 private:
  static constexpr uint32_t kPatience = 4000;  // about 100 us
  uint32_t turns_ = 0;
};

int availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

/// One parallel loop, on the stack of its caller. Its pieces are dealt to groups, one per
/// thread that was hoped for; a thread empties its own group and then helps with the others.
struct ThreadPool::Region {
  // A plain integer behind an atomic_ref: groups that are not in use stay untouched.
  struct alignas(kCacheLine) Group {
    int64_t next;
    int64_t end;
  };

  Body body;
  void* closure;
  int64_t extent;
  int64_t pieceCount;
  int groupCount;
  alignas(kCacheLine) std::atomic<int32_t> result{0};
  alignas(kCacheLine) std::atomic<int32_t> left{0};  // workers that are done with the region
  Group groups[kMaxGroups];

  // Pieces differ by at most one index: extent * i / pieceCount without overflow.
  int64_t boundary(int64_t piece) const {
    return extent / pieceCount * piece + extent % pieceCount * piece / pieceCount;
  }

  void work(int ownGroup) {
    insideRegion = true;
    for (int i = 0; i < groupCount; ++i) {
      const int index = ownGroup + i < groupCount ? ownGroup + i : ownGroup + i - groupCount;
      Group& group = groups[index];
      while (result.load(std::memory_order_relaxed) == 0) {
        const int64_t piece = std::atomic_ref(group.next).fetch_add(1, std::memory_order_relaxed);
        if (piece >= group.end) break;
        const int32_t status = body(closure, boundary(piece), boundary(piece + 1));
        int32_t none = 0;
        if (status != 0) result.compare_exchange_strong(none, status, std::memory_order_relaxed);
      }
    }
    insideRegion = false;
  }
};

struct alignas(kCacheLine) ThreadPool::Worker {
  // Null: free. kBusy: runs a region. Else: offered, and may still be taken back.
  std::atomic<Region*> slot{nullptr};
  std::atomic<int32_t> asleep{0};
  int index = 0;
  std::thread thread;

  static Region* busy() { return reinterpret_cast<Region*>(1); }
};

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(Options options) {
  constexpr int kMaxThreads = 1024;
  if (options.threadCount < 0 || options.threadCount > kMaxThreads)
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("thread count {} is not within 0..{}", options.threadCount, kMaxThreads));
  const int count = options.threadCount == 0 ? std::min(availableCpus(), kMaxThreads) : options.threadCount;
  std::unique_ptr<ThreadPool> pool(new ThreadPool(options, count));
  for (int i = 0; i < count - 1; ++i) {
    Worker& worker = pool->workers_[i];
    worker.index = i;
    try {
      worker.thread = std::thread([raw = pool.get(), &worker] { raw->runWorker(worker); });
    } catch (const std::system_error& failure) {
      return Error(ErrorCode::OutOfMemory,
                   fmt::format("cannot start worker thread {} of {}: {}", i + 1, count - 1, failure.what()));
    }
  }
  return pool;
}

ThreadPool::ThreadPool(Options options, int threadCount)
    : threadCount_(threadCount),
      spin_(options.spin),
      workers_(new Worker[static_cast<size_t>(threadCount - 1)]) {}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  for (int i = 0; i < threadCount_ - 1; ++i) {
    Worker& worker = workers_[i];
    if (!worker.thread.joinable()) continue;
    worker.asleep.store(0);
    worker.asleep.notify_one();
    worker.thread.join();
  }
}

ThreadPool::Region* ThreadPool::waitForRegion(Worker& worker) {
  using Clock = std::chrono::steady_clock;
  constexpr uint32_t kTurnsPerClockRead = 32;
  Clock::time_point deadline{};
  uint32_t turns = 0;
  Spinner spinner;
  while (true) {
    Region* offered = worker.slot.load(std::memory_order_relaxed);
    if (offered && worker.slot.compare_exchange_strong(offered, Worker::busy(), std::memory_order_acquire))
      return offered;
    if (stopping_.load(std::memory_order_relaxed)) return nullptr;
    bool sleepNow = runningCalls_.load(std::memory_order_relaxed) == 0;
    if (!sleepNow && turns++ % kTurnsPerClockRead == 0) {
      const Clock::time_point now = Clock::now();
      if (deadline == Clock::time_point{}) deadline = now + spin_;
      sleepNow = now >= deadline;
    }
    if (!sleepNow) {
      spinner.turn();
      continue;
    }
    // Both sides write their own word and then read the other's, in one total order: either
    // the caller sees `asleep`, or this thread sees the offer.
    worker.asleep.store(1);
    if (worker.slot.load() == nullptr && !stopping_.load()) worker.asleep.wait(1);
    worker.asleep.store(0);
    turns = 0;
    deadline = {};
    spinner = {};
  }
}

void ThreadPool::runWorker(Worker& worker) {
  while (Region* region = waitForRegion(worker)) {
    {
      const FpEnvironment environment;
      region->work((worker.index + 1) % region->groupCount);
    }
    // Free before the region ends, so that the caller's next region finds this worker.
    worker.slot.store(nullptr, std::memory_order_release);
    region->left.fetch_add(1, std::memory_order_release);
  }
}

int32_t ThreadPool::parallelFor(int64_t extent, int64_t grain, Body body, void* closure) {
  if (extent <= 0) return 0;
  // Rounding down keeps every piece at `grain` or more.
  const int64_t mostPieces = grain <= 1 ? extent : extent / grain;
  if (threadCount_ == 1 || mostPieces <= 1 || insideRegion) return body(closure, 0, extent);

  Region region;
  region.body = body;
  region.closure = closure;
  region.extent = extent;
  region.pieceCount = std::min(mostPieces, kPiecesPerThread * threadCount_);
  const int wanted = static_cast<int>(std::min<int64_t>(region.pieceCount, threadCount_));
  region.groupCount = std::min(wanted, kMaxGroups);
  for (int i = 0; i < region.groupCount; ++i) {
    region.groups[i].next = region.pieceCount * i / region.groupCount;
    region.groups[i].end = region.pieceCount * (i + 1) / region.groupCount;
  }

  // Offer the region to free workers, lowest index first.
  int offered = 0;
  int lastOffered = -1;
  uint64_t offeredTo[16] = {};  // a bit per worker; kMaxThreads / 64 words
  for (int i = 0; i < threadCount_ - 1 && offered < wanted - 1; ++i) {
    Worker& worker = workers_[i];
    Region* free = nullptr;
    if (worker.slot.load(std::memory_order_relaxed) != nullptr ||
        !worker.slot.compare_exchange_strong(free, &region))
      continue;
    ++offered;
    lastOffered = i;
    offeredTo[i / 64] |= uint64_t{1} << (i % 64);
    if (worker.asleep.load() != 0) {
      worker.asleep.store(0);
      worker.asleep.notify_one();
    }
  }

  region.work(0);

  // Take back what nobody accepted, and wait for those who did.
  int32_t accepted = 0;
  for (int i = 0; i <= lastOffered; ++i) {
    if (!(offeredTo[i / 64] >> (i % 64) & 1)) continue;
    Region* mine = &region;
    if (!workers_[i].slot.compare_exchange_strong(mine, nullptr)) ++accepted;
  }
  Spinner spinner;
  while (region.left.load(std::memory_order_acquire) != accepted) spinner.turn();
  return region.result.load(std::memory_order_relaxed);
}

}  // namespace baton
