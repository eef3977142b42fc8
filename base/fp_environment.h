// The float environment in which programs run: round to nearest even, no traps, no
// flushing of denormals. Whoever calls us gets theirs back.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#else
#include <cfenv>
#endif

namespace baton {

/// While it lives, the calling thread has the environment of the numeric contract. Costs a
/// few nanoseconds. Must end on the thread on which it began.
class FpEnvironment {
 public:
#if defined(__x86_64__)
  // All six exceptions masked, everything else zero: nearest, no FTZ, no DAZ. The x87 unit
  // is not used by code of ours.
  FpEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FpEnvironment() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  FpEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  }
  ~FpEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
  FpEnvironment() {
    std::feholdexcept(&saved_);
    std::fesetround(FE_TONEAREST);
  }
  ~FpEnvironment() { std::fesetenv(&saved_); }
#endif
  FpEnvironment(const FpEnvironment&) = delete;
  FpEnvironment& operator=(const FpEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  uint32_t saved_;
#elif defined(__aarch64__)
  uint64_t saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace baton
