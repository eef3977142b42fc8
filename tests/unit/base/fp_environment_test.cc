#include "base/fp_environment.h"

#include <catch2/catch.hpp>
#include <cfenv>
#include <limits>

namespace baton {
namespace {

TEST_CASE("the guard sets rounding to nearest and restores what was") {
  REQUIRE(std::fesetround(FE_UPWARD) == 0);
  volatile double one = 1.0;
  volatile double tiny = 1e-30;
  {
    const FpEnvironment guard;
    CHECK(one + tiny == 1.0);
  }
  CHECK(one + tiny > 1.0);
  std::fesetround(FE_TONEAREST);
}

#if defined(__x86_64__)
TEST_CASE("the guard turns flushing of denormals and traps off") {
  const unsigned int before = _mm_getcsr();
  _mm_setcsr((before | 0x8040u) & ~0x0200u);  // FTZ, DAZ, trap on division by zero
  volatile float smallest = std::numeric_limits<float>::min();
  volatile float half = 0.5f;
  {
    const FpEnvironment guard;
    CHECK(smallest * half > 0.0f);
    volatile float zero = 0.0f;
    CHECK(half / zero == std::numeric_limits<float>::infinity());
  }
  const bool flushed = smallest * half == 0.0f;
  _mm_setcsr(before);
  CHECK(flushed);
}
#endif

}  // namespace
}  // namespace baton
