#include "benchmarks/peak_share.h"

#include <algorithm>
#include <utility>

#include "benchmarks/limits.h"

namespace baton::benchmarks {

Row peakShare(std::string id, std::string what, BoundKernel& kernel, double flops,
              std::optional<double> atLeast, const Settings& settings) {
  const Workload workload[] = {{id, [&](uint64_t runs) {
                                  for (uint64_t i = 0; i < runs; ++i) kernel.run();
                                }}};
  SamplerOptions options = settings.sampling();
  options.samples = std::min(options.samples, 9);
  options.sampleSeconds = std::min(options.sampleSeconds, 0.005);
  const Rounds rounds = sampleRounds(workload, multiplyAddLoop(flops / 2), options);
  Row row =
      rowOf(std::move(id), std::move(what), rounds, [](const Round& r) { return r.limit / r.workloads[0]; });
  if (atLeast) {
    row.bar = Bar::AtLeast;
    row.limit = *atLeast;
  }
  return row;
}

}  // namespace baton::benchmarks
