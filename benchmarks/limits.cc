#include "benchmarks/limits.h"

namespace baton::benchmarks {

Workload addAndBranchLoop() {
  return {"add-and-branch loop", [](uint64_t turns) {
            uint64_t sum = 0;
            for (uint64_t i = 0; i < turns; ++i) {
              sum += i;
              asm volatile("" : "+r"(sum));  // neither vectorised, unrolled away, nor folded into a formula
            }
          }};
}

}  // namespace baton::benchmarks
