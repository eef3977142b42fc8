#include "bytecode/container/container_view.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/checked_math.h"

namespace baton::bytecode {

namespace {

Error malformed(std::string message, std::source_location where = std::source_location::current()) {
  return Error(ErrorCode::Malformed, std::move(message), where);
}

constexpr const char* kWhatToDo =
    "compile the model again with this version, or use the version that wrote it";

constexpr const char* kDamagedHint =
    "the file was cut or changed on its way here: copy it again, or compile the model again";

Error damaged(const std::string& what, std::source_location where = std::source_location::current()) {
  return malformed(fmt::format("{}; {}", what, kDamagedHint), where);
}

}  // namespace

std::string_view sectionName(uint32_t id) {
  constexpr std::array<std::string_view, kLastSectionId + 1> kNames = {
      "unknown",       "meta",    "types",  "functions", "code",  "constants",
      "constant data", "kernels", "native", "loops",     "debug", "tests"};
  return id <= kLastSectionId ? kNames[id] : kNames[0];
}

Result<void> checkHash(const SectionEntry& section, std::span<const std::byte> bytes) {
  if (XXH3_64bits(bytes.data(), bytes.size()) == section.hash) return success();
  return damaged(fmt::format("section {} is damaged: its hash does not match", sectionName(section.id)));
}

Result<ContainerView> ContainerView::open(std::span<const std::byte> file) {
  ContainerView view;
  view.file_ = file;
  BATON_TRY(view.readHeader());
  BATON_TRY(view.readTable());
  return view;
}

Result<ContainerView> ContainerView::open(std::span<const std::byte> file, ContainerKind kind) {
  BATON_TRY_ASSIGN(ContainerView view, open(file));
  if (view.header_.kind != kind)
    return malformed(kind == ContainerKind::Executable ? "a weights file (.vmparams), expected an executable"
                                                       : "an executable (.vmexe), expected a weights file");
  return view;
}

std::vector<const SectionEntry*> ContainerView::find(SectionId id) const {
  std::vector<const SectionEntry*> found;
  for (const SectionEntry& section : sections_)
    if (section.id == static_cast<uint32_t>(id)) found.push_back(&section);
  return found;
}

/// "written by `baton 0.2`", with what is not printable replaced.
std::string ContainerView::origin() const {
  std::string text;
  for (char c : header_.producer) {
    if (c == 0) break;
    text += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return text.empty() ? "written by an unnamed producer" : "written by `" + text + "`";
}

Result<void> ContainerView::readHeader() {
  const size_t magicBytes = std::min(file_.size(), kMagic.size());
  if (file_.empty() || std::memcmp(file_.data(), kMagic.data(), magicBytes) != 0)
    return malformed("not a .vmexe or .vmparams file: wrong first bytes; such files come from vm-compile");
  if (file_.size() < sizeof(FileHeader))
    return damaged(
        fmt::format("truncated: {} bytes, the header alone has {}", file_.size(), sizeof(FileHeader)));
  std::memcpy(&header_, file_.data(), sizeof(FileHeader));
  if (header_.major != kFormatMajor || header_.minor > kFormatMinor)
    return Error(ErrorCode::Incompatible,
                 fmt::format("format {}.{}, {}: this build reads {}.0 to {}.{}; {}", header_.major,
                             header_.minor, origin(), kFormatMajor, kFormatMajor, kFormatMinor, kWhatToDo));
  if (XXH3_64bits(file_.data(), offsetof(FileHeader, headerHash)) != header_.headerHash)
    return damaged("the header is damaged: its hash does not match");
  if (header_.fileSizeBytes > file_.size())
    return damaged(fmt::format("truncated: {} bytes of {}", file_.size(), header_.fileSizeBytes));
  if (header_.fileSizeBytes < file_.size())
    return damaged(fmt::format("{} bytes after the end of the file at {}",
                               file_.size() - header_.fileSizeBytes, header_.fileSizeBytes));
  if (const uint64_t unknown = header_.requiredFeatures & ~kKnownFeatures; unknown != 0)
    return Error(ErrorCode::Incompatible,
                 fmt::format("needs features {:#x} that this build does not know, {}; {}", unknown, origin(),
                             kWhatToDo));
  if (header_.kind != ContainerKind::Executable && header_.kind != ContainerKind::Params)
    return malformed(fmt::format("unknown kind of file {}", static_cast<uint32_t>(header_.kind)));
  if (header_.reserved != 0) return malformed("reserved bytes of the header are not zero");
  return success();
}

Result<void> ContainerView::readTable() {
  if (header_.sectionCount > kMaxSections)
    return malformed(fmt::format("{} sections, at most {}", header_.sectionCount, kMaxSections));
  const uint64_t tableBytes = header_.sectionCount * sizeof(SectionEntry);
  uint64_t end = sizeof(FileHeader) + tableBytes;
  if (end > file_.size()) return malformed(fmt::format("truncated: the section table ends at {}", end));
  sections_.resize(header_.sectionCount);
  if (tableBytes > 0) std::memcpy(sections_.data(), file_.data() + sizeof(FileHeader), tableBytes);
  if (XXH3_64bits(sections_.data(), tableBytes) != header_.tableHash)
    return damaged("the section table is damaged: its hash does not match");

  uint32_t lastId = 0;
  for (const SectionEntry& section : sections_) {
    const bool isKnown = section.id >= 1 && section.id <= kLastSectionId;
    const std::string name =
        isKnown ? std::string(sectionName(section.id)) : fmt::format("number {}", section.id);
    if (!isKnown && (section.flags & kSectionRequired))
      return Error(
          ErrorCode::Incompatible,
          fmt::format("needs section {} that this build does not know, {}; {}", name, origin(), kWhatToDo));
    if (section.flags & ~kSectionRequired)
      return malformed(fmt::format("section {} has unknown flags {:#x}", name, section.flags));
    if (!std::has_single_bit(section.alignment) || section.alignment > kPageBytes)
      return malformed(fmt::format("section {} has alignment {}", name, section.alignment));
    const auto sectionEnd = checkedAdd(section.offset, section.sizeBytes);
    if (!sectionEnd || *sectionEnd > file_.size())
      return malformed(fmt::format("section {} reaches beyond the file: {} bytes at {}, the file has {}",
                                   name, section.sizeBytes, section.offset, file_.size()));
    if (section.offset != checkedAlignUp(end, section.alignment))
      return malformed(
          fmt::format("section {} is at {}, not where the one before ends ({})", name, section.offset, end));
    for (uint64_t at = end; at < section.offset; ++at)
      if (file_[at] != std::byte{0}) return damaged(fmt::format("byte {} between sections is not zero", at));
    if (isKnown && (section.id < lastId ||
                    (section.id == lastId && section.id != static_cast<uint32_t>(SectionId::Native))))
      return malformed(fmt::format("section {} is out of order or occurs twice", name));
    if (isKnown) lastId = section.id;
    end = *sectionEnd;
  }
  if (end != file_.size())
    return malformed(fmt::format("{} bytes after the last section", file_.size() - end));
  return success();
}

}  // namespace baton::bytecode
