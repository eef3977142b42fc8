#include "kernels/abi/cpu_features.h"

#include <array>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace baton {

namespace {

enum class Register : uint8_t { Eax, Ebx, Ecx, Edx };
/// State that the operating system must save for the feature to be usable.
enum class State : uint8_t { None, Ymm, Zmm };

struct Feature {
  std::string_view name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  uint8_t bit;
  State state;
  uint8_t level;  ///< of x86-64 to which it belongs; 0: to none
};

constexpr uint32_t kExtended = 0x80000001;
/// No leaf: all of that machine have it, and no x86-64 has.
constexpr uint32_t kOtherMachine = UINT32_MAX;

// Append only: the order is that of the bits in a CpuFeatureSet.
constexpr Feature kFeatures[] = {
    {"cx16", 1, 0, Register::Ecx, 13, State::None, 2},
    {"sahf", kExtended, 0, Register::Ecx, 0, State::None, 2},
    {"popcnt", 1, 0, Register::Ecx, 23, State::None, 2},
    {"sse3", 1, 0, Register::Ecx, 0, State::None, 2},
    {"ssse3", 1, 0, Register::Ecx, 9, State::None, 2},
    {"sse4.1", 1, 0, Register::Ecx, 19, State::None, 2},
    {"sse4.2", 1, 0, Register::Ecx, 20, State::None, 2},
    {"avx", 1, 0, Register::Ecx, 28, State::Ymm, 3},
    {"avx2", 7, 0, Register::Ebx, 5, State::Ymm, 3},
    {"bmi", 7, 0, Register::Ebx, 3, State::None, 3},
    {"bmi2", 7, 0, Register::Ebx, 8, State::None, 3},
    {"f16c", 1, 0, Register::Ecx, 29, State::Ymm, 3},
    {"fma", 1, 0, Register::Ecx, 12, State::Ymm, 3},
    {"lzcnt", kExtended, 0, Register::Ecx, 5, State::None, 3},
    {"movbe", 1, 0, Register::Ecx, 22, State::None, 3},
    {"avx512f", 7, 0, Register::Ebx, 16, State::Zmm, 4},
    {"avx512bw", 7, 0, Register::Ebx, 30, State::Zmm, 4},
    {"avx512cd", 7, 0, Register::Ebx, 28, State::Zmm, 4},
    {"avx512dq", 7, 0, Register::Ebx, 17, State::Zmm, 4},
    {"avx512vl", 7, 0, Register::Ebx, 31, State::Zmm, 4},
    {"avx512vnni", 7, 0, Register::Ecx, 11, State::Zmm, 0},
    {"avx512vbmi", 7, 0, Register::Ecx, 1, State::Zmm, 0},
    {"avx512bf16", 7, 1, Register::Eax, 5, State::Zmm, 0},
    {"avxvnni", 7, 1, Register::Eax, 4, State::Ymm, 0},
    {"aarch64", kOtherMachine, 0, Register::Eax, 0, State::None, 0},
};
constexpr size_t kFeatureCount = std::size(kFeatures);
static_assert(kFeatureCount <= 64);

constexpr auto kNames = [] {
  std::array<std::string_view, kFeatureCount> names;
  for (size_t i = 0; i < kFeatureCount; ++i) names[i] = kFeatures[i].name;
  return names;
}();

#if defined(__x86_64__)
/// Register state that the operating system saves (XCR0).
uint64_t enabledState() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}
#endif

}  // namespace

std::span<const std::string_view> cpuFeatureNames() { return kNames; }

std::optional<CpuFeatureSet> cpuFeatureByName(std::string_view name) {
  for (size_t i = 0; i < kFeatureCount; ++i)
    if (kFeatures[i].name == name) return CpuFeatureSet{1} << i;
  return std::nullopt;
}

std::vector<std::string> namesOf(CpuFeatureSet features) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kFeatureCount; ++i)
    if (features >> i & 1) names.emplace_back(kFeatures[i].name);
  return names;
}

CpuFeatureSet hostCpuFeatures() {
  CpuFeatureSet found = 0;
#if defined(__x86_64__)
  uint32_t r[4] = {};
  constexpr uint32_t kSavesState = 1u << 27;  // OSXSAVE, in ecx of leaf 1
  const bool knowsState = __get_cpuid_count(1, 0, &r[0], &r[1], &r[2], &r[3]) && (r[2] & kSavesState) != 0;
  const uint64_t state = knowsState ? enabledState() : 0;
  for (size_t i = 0; i < kFeatureCount; ++i) {
    const Feature& feature = kFeatures[i];
    if (feature.leaf == kOtherMachine) continue;
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &r[0], &r[1], &r[2], &r[3])) continue;
    const uint64_t needed = feature.state == State::None ? 0 : feature.state == State::Ymm ? 0x6 : 0xE6;
    if ((r[static_cast<int>(feature.reg)] >> feature.bit & 1) != 0 && (state & needed) == needed)
      found |= CpuFeatureSet{1} << i;
  }
#elif defined(__aarch64__)
  found = *cpuFeatureByName("aarch64");
#endif
  return found;
}

std::optional<CpuFeatureSet> cpuLevelFeatures(std::string_view level) {
  constexpr std::string_view kPrefix = "x86-64-v";
  if (level.size() != kPrefix.size() + 1 || level.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const int number = level.back() - '0';
  if (number < 2 || number > 4) return std::nullopt;
  CpuFeatureSet features = 0;
  for (size_t i = 0; i < kFeatureCount; ++i)
    if (kFeatures[i].level != 0 && kFeatures[i].level <= number) features |= CpuFeatureSet{1} << i;
  return features;
}

Result<void> checkCpuFeatures(std::string_view level, std::span<const std::string> required,
                              CpuFeatureSet host) {
  std::string missing;
  for (const std::string& name : required) {
    const std::optional<CpuFeatureSet> feature = cpuFeatureByName(name);
    if (feature && (host & *feature) == *feature) continue;
    missing += (missing.empty() ? "" : ", ") + name;
  }
  if (missing.empty()) return success();
  return Error(
      ErrorCode::Incompatible,
      fmt::format("the code was compiled for {}; this processor lacks {}: compile it for another level "
                  "(--cpu x86-64-v3), or to run anywhere (--portable)",
                  level, missing));
}

}  // namespace baton
