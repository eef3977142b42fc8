// The kernels that are compared with twins, at the sizes at which they are.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/figure.h"
#include "benchmarks/native_kernel.h"
#include "benchmarks/twins/twins.h"

namespace baton::benchmarks {

struct KernelCase {
  std::string id;    ///< "kernels.gelu.8MiB"
  std::string what;  ///< "gelu of 2097152 elements"
  /// The program, its extents as numbers or as names.
  std::function<std::string(bool isDynamic)> text;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;  ///< one of rank 0 is a scalar result
  Twin Twins::* twin;
  std::vector<int64_t> twinExtents;
  double bytesRead;
  double bytesWritten;
  double operations;  ///< on elements, at least
  double divisions;   ///< of those
  bool isLong;        ///< a run is long enough that few of them do
};

/// At 256 KiB, 8 MiB and 256 MiB a tensor, and at odd extents near the first two.
std::vector<KernelCase> kernelCases(const Settings& settings);

}  // namespace baton::benchmarks
