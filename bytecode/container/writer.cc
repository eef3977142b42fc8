#include "bytecode/container/writer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/checked_math.h"
#include "bytecode/container/archive_writer.h"
#include "bytecode/container/describe.h"
#include "bytecode/container/layout.h"

namespace baton::bytecode {

namespace {

/// A section: pieces that follow each other, each at a multiple of the piece alignment.
struct Section {
  SectionId id;
  uint32_t flags;
  uint64_t alignment;
  std::vector<std::span<const std::byte>> pieces;
  uint64_t pieceAlignment = 1;
  std::vector<std::byte> owned;  ///< what a metadata section's one piece points to
};

constexpr std::array<std::byte, kPageBytes> kZeros{};

/// Calls f(bytes) for the content in order, gaps included.
template <class F>
Result<void> forEachPiece(const Section& section, F&& f) {
  uint64_t at = 0;
  for (std::span<const std::byte> piece : section.pieces) {
    const uint64_t aligned =
        (at + section.pieceAlignment - 1) / section.pieceAlignment * section.pieceAlignment;
    if (aligned != at) BATON_TRY(f(std::span(kZeros).first(aligned - at)));
    BATON_TRY(f(piece));
    at = aligned + piece.size();
  }
  return success();
}

class ContainerWriter {
 public:
  void addMetadata(SectionId id, uint32_t flags, std::vector<std::byte> bytes) {
    Section& section = sections_.emplace_back(Section{id, flags, 8, {}});
    section.owned = std::move(bytes);
  }
  void addRaw(SectionId id, uint64_t alignment, std::vector<std::span<const std::byte>> pieces,
              uint64_t pieceAlignment) {
    sections_.emplace_back(Section{id, kSectionRequired, alignment, std::move(pieces), pieceAlignment});
  }

  Result<void> write(ContainerKind kind, std::string_view producer, const ByteSink& sink) {
    std::vector<SectionEntry> table;
    uint64_t end = sizeof(FileHeader) + sections_.size() * sizeof(SectionEntry);
    for (Section& section : sections_) {
      if (!section.owned.empty()) section.pieces = {section.owned};
      SectionEntry entry;
      entry.id = static_cast<uint32_t>(section.id);
      entry.flags = section.flags;
      entry.alignment = section.alignment;
      XXH3_state_t* state = XXH3_createState();
      if (!state) return Error(ErrorCode::OutOfMemory, "no memory for a hash");
      XXH3_64bits_reset(state);
      const auto hashed = forEachPiece(section, [&](std::span<const std::byte> piece) -> Result<void> {
        XXH3_64bits_update(state, piece.data(), piece.size());
        entry.sizeBytes += piece.size();
        return success();
      });
      entry.hash = XXH3_64bits_digest(state);
      XXH3_freeState(state);
      BATON_CHECK(hashed.has_value());
      const auto offset = checkedAlignUp(end, entry.alignment);
      const auto next = offset ? checkedAdd(*offset, entry.sizeBytes) : std::nullopt;
      if (!next) return Error(ErrorCode::InvalidArgument, "file exceeds 64-bit sizes");
      entry.offset = *offset;
      end = *next;
      table.push_back(entry);
    }
    const std::span<const std::byte> tableBytes = std::as_bytes(std::span(table));

    FileHeader header;
    header.kind = kind;
    header.fileSizeBytes = end;
    header.sectionCount = static_cast<uint32_t>(table.size());
    header.tableHash = XXH3_64bits(tableBytes.data(), tableBytes.size());
    const std::string_view shown = producer.substr(0, header.producer.size());
    std::copy(shown.begin(), shown.end(), header.producer.begin());
    header.headerHash = XXH3_64bits(&header, offsetof(FileHeader, headerHash));
    BATON_TRY(sink(std::as_bytes(std::span(&header, 1))));
    BATON_TRY(sink(tableBytes));
    uint64_t at = sizeof(FileHeader) + tableBytes.size();
    for (size_t i = 0; i < table.size(); ++i) {
      if (table[i].offset != at) BATON_TRY(sink(std::span(kZeros).first(table[i].offset - at)));
      BATON_TRY(forEachPiece(sections_[i], sink));
      at = table[i].offset + table[i].sizeBytes;
    }
    return success();
  }

  void addConstants(const std::vector<Constant>& constants) {
    std::vector<StoredConstant> stored;
    std::vector<std::span<const std::byte>> pieces;
    uint64_t at = 0;
    for (const Constant& constant : constants) {
      StoredConstant& one = stored.emplace_back();
      one.dtype = constant.dtype;
      one.extents = constant.extents;
      one.layout = constant.layout;
      one.source = constant.source;
      one.key = constant.externalKey;
      if (constant.source != ConstantSource::Inline) continue;
      at = (at + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
      one.offset = at;
      one.sizeBytes = constant.bytes.size();
      at += one.sizeBytes;
      pieces.push_back(constant.bytes);
    }
    addMetadata(SectionId::Constants, kSectionRequired, packConstants(stored));
    if (!pieces.empty()) addRaw(SectionId::ConstantData, kPageBytes, std::move(pieces), kConstantAlignment);
  }

 private:
  std::vector<Section> sections_;
};

Result<void> checkStorable(const Program& program) {
  const auto refuse = [](std::string message) {
    return Error(ErrorCode::InvalidArgument, std::move(message));
  };
  uint64_t end = 0;
  for (const Function& function : program.functions) {
    if (function.codeOffset != end)
      return refuse(
          fmt::format("code of @{} begins at word {}, expected {}", function.name, function.codeOffset, end));
    end += function.codeSize;
  }
  if (end != program.code.size())
    return refuse(fmt::format("functions have {} words of code, the program {}", end, program.code.size()));
  if (!program.loops.empty() && program.loops.size() != program.kernels.size())
    return refuse(fmt::format("{} loop texts for {} kernels", program.loops.size(), program.kernels.size()));
  return success();
}

template <class T>
Result<std::vector<std::byte>> collect(Result<void> (*write)(const T&, const ByteSink&), const T& content) {
  std::vector<std::byte> file;
  BATON_TRY(write(content, [&](std::span<const std::byte> bytes) -> Result<void> {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return success();
  }));
  return file;
}

}  // namespace

Result<void> writeExecutable(const Program& program, const ByteSink& sink) {
  BATON_TRY(checkStorable(program));
  ContainerWriter writer;
  writer.addMetadata(SectionId::Meta, kSectionRequired, packMeta(program.meta));
  writer.addMetadata(SectionId::Types, kSectionRequired, packTypes(program));
  writer.addMetadata(SectionId::Functions, kSectionRequired, packFunctions(program.functions));
  writer.addRaw(SectionId::Code, kConstantAlignment, {std::as_bytes(std::span(program.code))}, 1);
  writer.addConstants(program.constants);
  writer.addMetadata(SectionId::Kernels, kSectionRequired, packKernels(program));
  for (const NativeImage& image : program.images)
    writer.addRaw(SectionId::Native, kPageBytes, {image.bytes}, 1);
  if (!program.loops.empty()) writer.addMetadata(SectionId::Loops, 0, packLoops(program.loops));
  const DebugInfo& debug = program.debug;
  if (!debug.files.empty() || !debug.names.empty() || !debug.positions.empty())
    writer.addMetadata(SectionId::Debug, 0, packDebug(debug));
  if (!program.tests.empty()) writer.addMetadata(SectionId::Tests, 0, packTests(program.tests));
  return writer.write(ContainerKind::Executable, program.meta.compilerVersion, sink);
}

Result<void> writeParams(const Params& params, const ByteSink& sink) {
  std::set<std::string_view> keys;
  for (const Constant& tensor : params.tensors) {
    if (tensor.source != ConstantSource::Inline)
      return Error(ErrorCode::InvalidArgument, fmt::format("tensor `{}` has no bytes", tensor.externalKey));
    if (!keys.insert(tensor.externalKey).second)
      return Error(ErrorCode::InvalidArgument, fmt::format("key `{}` occurs twice", tensor.externalKey));
  }
  ContainerWriter writer;
  writer.addMetadata(SectionId::Meta, kSectionRequired, packMeta(params.meta));
  writer.addConstants(params.tensors);
  return writer.write(ContainerKind::Params, params.meta.compilerVersion, sink);
}

Result<std::vector<std::byte>> writeExecutable(const Program& program) {
  return collect(&writeExecutable, program);
}

Result<std::vector<std::byte>> writeParams(const Params& params) { return collect(&writeParams, params); }

}  // namespace baton::bytecode
