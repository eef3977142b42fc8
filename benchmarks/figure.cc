#include "benchmarks/figure.h"

namespace baton::benchmarks {

Row rowOf(std::string id, std::string what, const Rounds& rounds,
          const std::function<double(const Round&)>& figure, size_t workload) {
  Row row{.id = std::move(id), .what = std::move(what)};
  row.spread = spreadOf(rounds, figure);
  if (const auto time = spreadOf(rounds, [&](const Round& r) { return r.workloads[workload]; }))
    row.seconds = time->median;
  row.accepted = static_cast<int>(rounds.accepted.size());
  row.discarded = rounds.discarded;
  row.hasSettled = rounds.hasSettled();
  return row;
}

}  // namespace baton::benchmarks
