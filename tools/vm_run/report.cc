#include "tools/vm_run/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace baton::tools {

void printMemoryStatistics(const baton_instance* instance) {
  baton_memory_statistics s = BATON_MEMORY_STATISTICS_INIT;
  baton_instance_memory_statistics(instance, &s);
  fmt::print("memory:       in use     {:>14} bytes, peak {:>14}\n", s.in_use_bytes, s.peak_in_use_bytes);
  fmt::print("              reserved   {:>14} bytes, peak {:>14}\n", s.reserved_bytes, s.peak_reserved_bytes);
  fmt::print("allocations:  {} (released {}, from the system {}, from the pool {})\n", s.allocation_count,
             s.release_count, s.system_allocation_count, s.cache_hit_count);
}

void printProfile(baton_context* context, bool asJson) {
  std::vector<baton_profile_row> rows(baton_context_profile_count(context),
                                      baton_profile_row BATON_PROFILE_ROW_INIT);
  uint64_t total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    baton_context_profile_row(context, i, &rows[i]);
    total += rows[i].nanoseconds;
  }
  auto kindOf = [](const baton_profile_row& row) {
    return row.kind == BATON_PROFILE_KERNEL ? "kernel" : "function";
  };
  if (asJson) {
    nlohmann::json json = nlohmann::json::array();
    for (const baton_profile_row& row : rows)
      json.push_back({{"kind", kindOf(row)},
                      {"name", row.name},
                      {"count", row.count},
                      {"nanoseconds", row.nanoseconds},
                      {"instructions", row.instruction_count}});
    fmt::print("{}\n", json.dump(1));
    return;
  }
  fmt::print("{:<9} {:>10} {:>12} {:>10} {:>6} {:>14}  {}\n", "kind", "count", "total us", "mean us", "%",
             "instructions", "name");
  for (const baton_profile_row& row : rows)
    fmt::print(
        "{:<9} {:>10} {:>12.1f} {:>10.3f} {:>6.1f} {:>14}  {}\n", kindOf(row), row.count,
        static_cast<double>(row.nanoseconds) * 1e-3,
        static_cast<double>(row.nanoseconds) * 1e-3 / static_cast<double>(std::max<uint64_t>(row.count, 1)),
        total == 0 ? 0 : 100.0 * static_cast<double>(row.nanoseconds) / static_cast<double>(total),
        row.instruction_count, row.name);
}

void printTimes(std::vector<double> seconds) {
  const double first = seconds.front();
  std::sort(seconds.begin(), seconds.end());
  fmt::print("runs: {}, first {:.1f} us, median {:.1f} us, least {:.1f} us, most {:.1f} us\n", seconds.size(),
             first * 1e6, seconds[seconds.size() / 2] * 1e6, seconds.front() * 1e6, seconds.back() * 1e6);
}

}  // namespace baton::tools
