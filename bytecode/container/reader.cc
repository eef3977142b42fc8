#include "bytecode/container/reader.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "bytecode/container/archive_reader.h"
#include "bytecode/container/container_view.h"
#include "bytecode/container/describe.h"
#include "bytecode/container/file_map.h"
#include "bytecode/owned_bytes.h"

namespace baton::bytecode {

namespace {

class Reader {
 public:
  Reader(const ContainerView& view, ReadOptions options, std::vector<std::unique_ptr<ByteStorage>>& storage)
      : view_(view), options_(options), storage_(storage) {}

  /// A copy of the one section with this id, its hash checked: the copy is what is then
  /// parsed, whatever happens to the file.
  Result<std::vector<std::byte>> copyOf(SectionId id, bool isRequired) {
    const auto found = view_.find(id);
    if (found.empty()) {
      if (isRequired)
        return malformed(fmt::format("section {} is missing", sectionName(static_cast<uint32_t>(id))));
      return std::vector<std::byte>();
    }
    const auto bytes = view_.bytesOf(*found[0]);
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    BATON_TRY(checkHash(*found[0], copy));
    return copy;
  }

  template <class F>
  Result<void> metadata(SectionId id, bool isRequired, F&& unpack) {
    BATON_TRY_ASSIGN(const auto bytes, copyOf(id, isRequired));
    if (bytes.empty() && view_.find(id).empty()) return success();
    auto unpacked = unpack(bytes, ArchiveOptions{view_.isOlder()});
    if (!unpacked.has_value())
      return std::move(unpacked.error())
          .withContext(fmt::format("section {}", sectionName(static_cast<uint32_t>(id))));
    return success();
  }

  /// The bytes of a raw section as the options say; hash checked unless told otherwise.
  Result<std::span<const std::byte>> raw(const SectionEntry& section, bool checksHash) {
    std::span<const std::byte> bytes = view_.bytesOf(section);
    const bool isMisplaced = reinterpret_cast<uintptr_t>(bytes.data()) % kConstantAlignment != 0;
    if (options_.mode == ReadMode::Copy || isMisplaced) {
      auto owned = std::make_unique<OwnedBytes>(bytes);
      bytes = owned->bytes();
      storage_.push_back(std::move(owned));
    }
    if (checksHash) BATON_TRY(checkHash(section, bytes));
    return bytes;
  }

  Result<std::vector<Constant>> constants() {
    std::vector<StoredConstant> stored;
    BATON_TRY(metadata(SectionId::Constants, true, [&](auto bytes, ArchiveOptions options) {
      return unpackConstants(bytes, options, stored);
    }));
    std::span<const std::byte> data;
    const bool checksBytes = options_.mode == ReadMode::Copy || options_.verifyConstants;
    const auto sections = view_.find(SectionId::ConstantData);
    if (!sections.empty()) {
      if (sections[0]->alignment != kPageBytes) return malformed("constant data is not aligned to pages");
      BATON_TRY_ASSIGN(data, raw(*sections[0], checksBytes));
    }
    std::vector<Constant> constants;
    uint64_t end = 0;
    for (size_t i = 0; i < stored.size(); ++i) {
      StoredConstant& one = stored[i];
      Constant& constant = constants.emplace_back();
      constant.dtype = one.dtype;
      constant.extents = std::move(one.extents);
      constant.layout = std::move(one.layout);
      constant.source = one.source;
      constant.externalKey = std::move(one.key);
      if (one.source != ConstantSource::Inline) {
        if (one.offset != 0 || one.sizeBytes != 0)
          return malformed(fmt::format("external constant c{} has bytes", i));
        continue;
      }
      const auto offset = checkedAlignUp(end, kConstantAlignment);
      const auto next = checkedAdd(one.offset, one.sizeBytes);
      if (!offset || one.offset != *offset)
        return malformed(
            fmt::format("constant c{} is at {}, not where the one before ends ({})", i, one.offset, end));
      if (!next || *next > data.size())
        return malformed(
            fmt::format("constant c{} reaches beyond the constant data: {} bytes at {}, there are {}", i,
                        one.sizeBytes, one.offset, data.size()));
      if (checksBytes)
        for (uint64_t at = end; at < one.offset; ++at)
          if (data[at] != std::byte{0})
            return malformed(fmt::format("byte {} between constants is not zero", at));
      constant.bytes = data.subspan(one.offset, one.sizeBytes);
      end = *next;
    }
    if (end != data.size())
      return malformed(fmt::format("{} bytes after the last constant", data.size() - end));
    return constants;
  }

 private:
  const ContainerView& view_;
  ReadOptions options_;
  std::vector<std::unique_ptr<ByteStorage>>& storage_;
};

Result<void> readCode(Reader& reader, Program& program) {
  BATON_TRY(reader.metadata(SectionId::Functions, true, [&](auto bytes, ArchiveOptions options) {
    return unpackFunctions(bytes, options, program.functions);
  }));
  BATON_TRY_ASSIGN(const auto bytes, reader.copyOf(SectionId::Code, true));
  if (bytes.size() % sizeof(uint64_t) != 0)
    return malformed(fmt::format("{} bytes of code are no whole words", bytes.size()));
  program.code.resize(bytes.size() / sizeof(uint64_t));
  if (!bytes.empty()) std::memcpy(program.code.data(), bytes.data(), bytes.size());
  uint64_t end = 0;
  for (Function& function : program.functions) {
    function.codeOffset = static_cast<uint32_t>(end);
    end += function.codeSize;
    if (end > program.code.size() || end > UINT32_MAX)
      return malformed(fmt::format("code of @{} reaches beyond the code section", function.name));
  }
  if (end != program.code.size())
    return malformed(
        fmt::format("functions have {} words of code, the section {}", end, program.code.size()));
  return success();
}

Result<void> readKernels(Reader& reader, const ContainerView& view, Program& program) {
  BATON_TRY(reader.metadata(SectionId::Kernels, true, [&](auto bytes, ArchiveOptions options) {
    return unpackKernels(bytes, options, program);
  }));
  const auto natives = view.find(SectionId::Native);
  if (natives.size() != program.images.size())
    return malformed(fmt::format("{} native sections for {} images", natives.size(), program.images.size()));
  for (size_t i = 0; i < natives.size(); ++i) {
    if (natives[i]->alignment != kPageBytes) return malformed("a native image is not aligned to pages");
    BATON_TRY_ASSIGN(program.images[i].bytes, reader.raw(*natives[i], true));
  }
  BATON_TRY(reader.metadata(SectionId::Loops, false, [&](auto bytes, ArchiveOptions options) {
    return unpackLoops(bytes, options, program.loops);
  }));
  if (!program.loops.empty() && program.loops.size() != program.kernels.size())
    return malformed(
        fmt::format("{} loop texts for {} kernels", program.loops.size(), program.kernels.size()));
  return success();
}

Result<Program> readProgram(std::span<const std::byte> file, ReadOptions options) {
  BATON_TRY_ASSIGN(const ContainerView view, ContainerView::open(file, ContainerKind::Executable));
  Program program;
  Reader reader(view, options, program.storage);
  BATON_TRY(reader.metadata(SectionId::Meta, true, [&](auto bytes, ArchiveOptions archive) {
    return unpackMeta(bytes, archive, program.meta);
  }));
  BATON_TRY(reader.metadata(SectionId::Types, true, [&](auto bytes, ArchiveOptions archive) {
    return unpackTypes(bytes, archive, program);
  }));
  BATON_TRY(readCode(reader, program));
  BATON_TRY_ASSIGN(program.constants, reader.constants());
  for (size_t i = 0; i < program.constants.size(); ++i)
    if (program.constants[i].source == ConstantSource::Inline && !program.constants[i].externalKey.empty())
      return malformed(fmt::format("constant c{} has bytes and a key", i));
  BATON_TRY(readKernels(reader, view, program));
  BATON_TRY(reader.metadata(SectionId::Debug, false, [&](auto bytes, ArchiveOptions archive) {
    return unpackDebug(bytes, archive, program.debug);
  }));
  BATON_TRY(reader.metadata(SectionId::Tests, false, [&](auto bytes, ArchiveOptions archive) {
    return unpackTests(bytes, archive, program.tests);
  }));
  return program;
}

Result<Params> readTensors(std::span<const std::byte> file, ReadOptions options) {
  BATON_TRY_ASSIGN(const ContainerView view, ContainerView::open(file, ContainerKind::Params));
  Params params;
  Reader reader(view, options, params.storage);
  BATON_TRY(reader.metadata(SectionId::Meta, true, [&](auto bytes, ArchiveOptions archive) {
    return unpackMeta(bytes, archive, params.meta);
  }));
  BATON_TRY_ASSIGN(params.tensors, reader.constants());
  std::set<std::string_view> keys;
  for (const Constant& tensor : params.tensors) {
    if (tensor.source != ConstantSource::Inline)
      return malformed(fmt::format("tensor `{}` has no bytes", tensor.externalKey));
    if (!keys.insert(tensor.externalKey).second)
      return malformed(fmt::format("key `{}` occurs twice", tensor.externalKey));
    if (tensor.layout.empty()) {
      const auto count = checkedElementCount(tensor.extents);
      const auto size = count ? checkedMul<int64_t>(*count, sizeBytes(tensor.dtype)) : std::nullopt;
      if (!size || static_cast<uint64_t>(*size) != tensor.bytes.size())
        return malformed(fmt::format("tensor `{}` has {} bytes, which is not its shape", tensor.externalKey,
                                     tensor.bytes.size()));
    }
  }
  return params;
}

/// Reads the whole file (Copy) or maps it, and keeps what the result points into.
template <class T>
Result<T> readFrom(FileHandle file, OpenOptions options,
                   Result<T> (*read)(std::span<const std::byte>, ReadOptions)) {
  const std::string name = file.name();
  std::unique_ptr<ByteStorage> storage;
  std::span<const std::byte> bytes;
  const bool copies = options.mode == OpenMode::Copy;
  if (copies) {
    BATON_TRY_ASSIGN(auto owned, readWhole(file));
    bytes = owned->bytes();
    storage = std::move(owned);
  } else {
    BATON_TRY_ASSIGN(auto map, FileMap::map(std::move(file)));
    bytes = map->bytes();
    storage = std::move(map);
  }
  Result<T> result = read(bytes, {ReadMode::Borrow, options.verifyConstants || copies});
  if (!result.has_value()) return std::move(result.error()).withContext(name);
  result.value().storage.push_back(std::move(storage));
  return result;
}

/// An image's place in the file, so that it can be mapped for execution.
void setImageOffsets(Program& program) {
  const FileMap* map = findFileMap(program);
  if (!map) return;
  for (NativeImage& image : program.images)
    if (!image.bytes.empty())
      image.fileOffset = static_cast<uint64_t>(image.bytes.data() - map->bytes().data());
}

}  // namespace

Result<Program> readExecutable(std::span<const std::byte> file, ReadOptions options) {
  return readProgram(file, options);
}

Result<Params> readParams(std::span<const std::byte> file, ReadOptions options) {
  return readTensors(file, options);
}

Result<Program> openExecutable(const std::string& path, OpenOptions options) {
  BATON_TRY_ASSIGN(FileHandle file, FileHandle::open(path));
  BATON_TRY_ASSIGN(Program program, readFrom(std::move(file), options, &readProgram));
  setImageOffsets(program);
  return program;
}

Result<Program> openExecutable(int descriptor, const std::string& name, OpenOptions options) {
  BATON_TRY_ASSIGN(FileHandle file, FileHandle::duplicate(descriptor, name));
  BATON_TRY_ASSIGN(Program program, readFrom(std::move(file), options, &readProgram));
  setImageOffsets(program);
  return program;
}

Result<Params> openParams(const std::string& path, OpenOptions options) {
  BATON_TRY_ASSIGN(FileHandle file, FileHandle::open(path));
  return readFrom(std::move(file), options, &readTensors);
}

bool hasContainerMagic(std::span<const std::byte> file) {
  return file.size() >= kMagic.size() && std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<std::vector<SectionSize>> readSectionSizes(std::span<const std::byte> file) {
  BATON_TRY_ASSIGN(const ContainerView view, ContainerView::open(file));
  std::vector<SectionSize> sizes;
  sizes.push_back(
      {"header and table", 0, sizeof(FileHeader) + view.sections().size() * sizeof(SectionEntry)});
  for (const SectionEntry& section : view.sections())
    sizes.push_back({std::string(sectionName(section.id)), section.offset, section.sizeBytes});
  return sizes;
}

}  // namespace baton::bytecode
