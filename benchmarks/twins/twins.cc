#include "benchmarks/twins/twins.h"

#include "kernels/abi/cpu_features.h"

#ifdef BATON_BENCHMARKS_WITH_TWINS
extern "C" const baton::benchmarks::Twins batonTwinsV3;
extern "C" const baton::benchmarks::Twins batonTwinsV4;
#endif

namespace baton::benchmarks {

namespace {

const Twins* best() {
#ifdef BATON_BENCHMARKS_WITH_TWINS
  for (const Twins* each : {&batonTwinsV4, &batonTwinsV3}) {
    const CpuFeatureSet needed = *cpuLevelFeatures(each->level);
    if ((hostCpuFeatures() & needed) == needed) return each;
  }
#endif
  return nullptr;
}

}  // namespace

const Twins* twins() {
  static const Twins* const chosen = best();
  return chosen;
}

}  // namespace baton::benchmarks
