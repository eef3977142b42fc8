// What is measured, and what comes out: a figure gives rows, a row is a number with its spread and
// perhaps a bar.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "benchmarks/sampler.h"

namespace baton::benchmarks {

/// How a run measures.
struct Settings {
  uint64_t seed = 1;
  /// Small sizes and few samples: shows that everything runs, and measures nothing.
  bool isSmoke = false;

  /// For workloads of one thread. `isLong`: one run is a sample or more, so a few of them do.
  SamplerOptions sampling(bool isLong = false) const {
    if (isSmoke)
      return {.clock = Clock::Thread, .samples = 1, .sampleSeconds = 1e-5, .maxDrift = 1e9, .maxAttempts = 1};
    return {.clock = Clock::Thread,
            .samples = isLong ? 11 : 21,
            .sampleSeconds = 0.01,
            .maxAttempts = isLong ? 60 : 400};
  }
};

enum class Bar : uint8_t { None, AtLeast, AtMost };

struct Row {
  std::string id;
  std::string what;
  std::string unit;              ///< "turns", "GB/s"; empty: a ratio
  std::optional<Spread> spread;  ///< nothing: no round was accepted
  Bar bar = Bar::None;
  double limit = 0;    ///< what the bar says
  double seconds = 0;  ///< median of one run of the workload, for orientation only
  int accepted = 0;
  int discarded = 0;
  bool hasSettled = true;  ///< as many rounds were accepted as were wanted

  /// Whether the bar is met: false too where nothing could be measured.
  bool holds() const {
    if (bar == Bar::None) return true;
    if (!spread) return false;
    return bar == Bar::AtLeast ? spread->median >= limit : spread->median <= limit;
  }
};

/// A row of what each round gives; `workload` is whose time it shows.
Row rowOf(std::string id, std::string what, const Rounds& rounds,
          const std::function<double(const Round&)>& figure, size_t workload = 0);

struct Figure {
  std::string id;
  std::string what;
  std::function<Result<std::vector<Row>>(const Settings&)> measure;
};

/// Figures with one purpose. Making them is cheap: the work is in `measure`.
struct Group {
  std::string name;
  std::string what;
  std::vector<Figure> (*figures)(const Settings&);
};

std::vector<Group> allGroups();

}  // namespace baton::benchmarks
