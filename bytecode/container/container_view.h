// Header and section table of a container, checked; sections by id.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "bytecode/container/layout.h"

namespace baton::bytecode {

/// A file that does not follow the format.
inline Error malformed(std::string message, std::source_location where = std::source_location::current()) {
  return Error(ErrorCode::Malformed, std::move(message), where);
}

/// Borrows the file. Header and table are copies, checked; section contents are not.
class ContainerView {
 public:
  static Result<ContainerView> open(std::span<const std::byte> file, ContainerKind kind);
  /// Of either kind.
  static Result<ContainerView> open(std::span<const std::byte> file);

  const FileHeader& header() const { return header_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }
  bool isOlder() const { return header_.minor < kFormatMinor; }

  /// In the order of the file.
  std::vector<const SectionEntry*> find(SectionId id) const;
  std::span<const std::byte> bytesOf(const SectionEntry& section) const {
    return file_.subspan(section.offset, section.sizeBytes);
  }

 private:
  Result<void> readHeader();
  Result<void> readTable();
  std::string origin() const;

  std::span<const std::byte> file_;
  FileHeader header_;
  std::vector<SectionEntry> sections_;
};

/// Malformed unless `bytes`, the content of the section, have its hash.
Result<void> checkHash(const SectionEntry& section, std::span<const std::byte> bytes);

}  // namespace baton::bytecode
