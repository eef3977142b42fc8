// Layout of the container that `.vmexe` and `.vmparams` share: header, section table,
// sections. Little-endian, fixed width, every gap zero; docs/vmexe.md describes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::bytecode {

/// Made to notice transfers that change line ends or clear the high bit.
inline constexpr std::array<unsigned char, 8> kMagic = {0x8f, 'V', 'M', 'X', '\r', '\n', 0x1a, '\n'};
/// A reader accepts its own major and any minor up to its own. Major 0 promises nothing.
inline constexpr uint16_t kFormatMajor = 0;
inline constexpr uint16_t kFormatMinor = 3;
/// Feature bits that this build understands; a file that sets others is Incompatible.
inline constexpr uint64_t kKnownFeatures = 0;

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kConstantAlignment = 64;
inline constexpr uint32_t kMaxSections = 1024;

enum class ContainerKind : uint32_t { Executable = 0, Params = 1 };

/// Values are on disk: append only. Sections stand in this order.
enum class SectionId : uint32_t {
  Meta = 1,
  Types = 2,
  Functions = 3,
  Code = 4,
  Constants = 5,     ///< descriptors
  ConstantData = 6,  ///< raw
  Kernels = 7,       ///< descriptors of kernels and images
  Native = 8,        ///< raw; one section per image, in their order
  Loops = 9,
  Debug = 10,
  Tests = 11,
};
inline constexpr uint32_t kLastSectionId = 11;
/// "code", or "unknown".
std::string_view sectionName(uint32_t id);

struct FileHeader {
  std::array<unsigned char, 8> magic = kMagic;
  uint16_t major = kFormatMajor;
  uint16_t minor = kFormatMinor;
  ContainerKind kind = ContainerKind::Executable;
  uint64_t requiredFeatures = 0;
  uint64_t fileSizeBytes = 0;
  uint32_t sectionCount = 0;
  uint32_t reserved = 0;
  uint64_t tableHash = 0;           ///< xxh3 of the section table
  std::array<char, 72> producer{};  ///< who wrote it: text, zero-padded
  uint64_t headerHash = 0;          ///< xxh3 of all bytes before it
};
static_assert(sizeof(FileHeader) == 128 && alignof(FileHeader) == 8);

inline constexpr uint32_t kSectionRequired = 1;  ///< a reader that does not know it must refuse the file

struct SectionEntry {
  uint32_t id = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;  ///< from the start of the file
  uint64_t sizeBytes = 0;
  uint64_t alignment = 0;
  uint64_t hash = 0;  ///< xxh3
};
static_assert(sizeof(SectionEntry) == 40);

}  // namespace baton::bytecode
