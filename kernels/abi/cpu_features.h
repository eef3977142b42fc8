// CPU features by name (those of x86-64 as LLVM and /proc/cpuinfo spell them, more or less): what
// this machine has, what a level needs, and what is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace baton {

/// Features that an image may need, as a set of bits in the order of `cpuFeatureNames()`.
using CpuFeatureSet = uint64_t;

/// Every name that is known: "sse4.2", "avx2", "avx512f".
std::span<const std::string_view> cpuFeatureNames();
std::optional<CpuFeatureSet> cpuFeatureByName(std::string_view name);
/// Names in the order of the table.
std::vector<std::string> namesOf(CpuFeatureSet features);

/// What this machine and its operating system offer (cpuid and xgetbv).
CpuFeatureSet hostCpuFeatures();

/// What "x86-64-v2", "x86-64-v3" and "x86-64-v4" consist of.
std::optional<CpuFeatureSet> cpuLevelFeatures(std::string_view level);

/// Success when `host` has all of `required` (names). Otherwise ErrorCode::Incompatible: the
/// level that is needed and what is missing. A name that is not known counts as missing.
Result<void> checkCpuFeatures(std::string_view level, std::span<const std::string> required,
                              CpuFeatureSet host);

}  // namespace baton
