#include "formats/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "formats/npy.h"

namespace baton {

namespace {

/// Deflate cannot do better than this, so a larger claim is a lie or a bomb.
constexpr uint64_t kMaxCompression = 1100;

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, CloseZip>;
using Source = std::unique_ptr<zip_source_t, CloseZip>;

std::string textOf(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Result<Array> readEntry(zip_t* archive, uint64_t index, uint64_t size) {
  const std::unique_ptr<zip_file_t, CloseZip> file(zip_fopen_index(archive, index, 0));
  if (!file) return Error(ErrorCode::Malformed, zip_strerror(archive));
  std::vector<std::byte> bytes(size);
  uint64_t used = 0;
  while (used < size) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + used, size - used);
    if (got <= 0) return Error(ErrorCode::Malformed, fmt::format("found {} bytes, expected {}", used, size));
    used += static_cast<uint64_t>(got);
  }
  // Reading to the end makes libzip check the sum.
  std::byte extra;
  if (zip_fread(file.get(), &extra, 1) != 0)
    return Error(ErrorCode::Malformed, zip_file_strerror(file.get()));
  return readNpy(bytes);
}

}  // namespace

bool looksLikeNpz(std::span<const std::byte> file) {
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size()).starts_with("PK");
}

Result<std::vector<NpzEntry>> readNpz(std::span<const std::byte> file, uint64_t maxBytes) {
  // libzip takes an empty file for an empty archive.
  if (file.empty()) return Error(ErrorCode::Malformed, "npz: the file is empty");
  zip_error_t error;
  zip_error_init(&error);
  Source source(zip_source_buffer_create(file.data(), file.size(), 0, &error));
  if (!source) return Error(ErrorCode::OutOfMemory, "npz: " + textOf(error));
  Archive archive(zip_open_from_source(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, &error));
  if (!archive) return Error(ErrorCode::Malformed, "npz: " + textOf(error));
  source.release();  // the archive has it now

  std::vector<NpzEntry> entries;
  uint64_t total = 0;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t info;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &info) != 0 ||
        !(info.valid & ZIP_STAT_NAME) || !(info.valid & ZIP_STAT_SIZE) || !(info.valid & ZIP_STAT_COMP_SIZE))
      return Error(ErrorCode::Malformed, fmt::format("npz: entry {}: {}", i, zip_strerror(archive.get())));
    std::string name = info.name;
    if (name.size() < 4 || name.substr(name.size() - 4) != ".npy")
      return Error(ErrorCode::Malformed,
                   fmt::format("npz: found entry \"{}\", expected a name that ends in .npy", name));
    name.resize(name.size() - 4);
    if (info.size > kMaxCompression * (info.comp_size + 1) || info.size > maxBytes - total)
      return Error(ErrorCode::Malformed,
                   fmt::format("npz: entry \"{}\" claims {} bytes, which is more than it can or may hold",
                               name, info.size));
    total += info.size;
    Result<Array> array = readEntry(archive.get(), static_cast<uint64_t>(i), info.size);
    if (!array) return std::move(array).assume_error().withContext(fmt::format("npz: entry \"{}\"", name));
    const bool isRepeated = std::any_of(entries.begin(), entries.end(),
                                        [&](const NpzEntry& entry) { return entry.name == name; });
    if (isRepeated) return Error(ErrorCode::Malformed, fmt::format("npz: entry \"{}\" occurs twice", name));
    entries.push_back({std::move(name), std::move(array).assume_value()});
  }
  return entries;
}

Result<std::vector<std::byte>> writeNpz(std::span<const NpzEntry> entries) {
  if (entries.empty()) {
    // libzip writes no archive without entries; it is an end record and nothing else.
    std::vector<std::byte> end(22, std::byte{0});
    std::memcpy(end.data(), "PK\5\6", 4);
    return end;
  }
  zip_error_t error;
  zip_error_init(&error);
  Source target(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (!target) return Error(ErrorCode::OutOfMemory, "npz: " + textOf(error));
  Archive archive(zip_open_from_source(target.get(), ZIP_TRUNCATE, &error));
  if (!archive) return Error(ErrorCode::Internal, "npz: " + textOf(error));
  zip_source_keep(target.get());  // to read the bytes after the archive is closed

  std::vector<std::vector<std::byte>> files;
  files.reserve(entries.size());  // libzip keeps pointers to them until it closes
  for (const NpzEntry& entry : entries) {
    BATON_TRY_ASSIGN(std::vector<std::byte> bytes, writeNpy(entry.array));
    files.push_back(std::move(bytes));
    Source content(zip_source_buffer(archive.get(), files.back().data(), files.back().size(), 0));
    const zip_int64_t index =
        content ? zip_file_add(archive.get(), (entry.name + ".npy").c_str(), content.get(), ZIP_FL_ENC_UTF_8)
                : -1;
    if (index < 0)
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("npz: entry \"{}\": {}", entry.name, zip_strerror(archive.get())));
    content.release();
    constexpr zip_uint16_t kDate1980 = (0 << 9) | (1 << 5) | 1;
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    zip_file_set_dostime(archive.get(), static_cast<zip_uint64_t>(index), 0, kDate1980, 0);
  }
  if (zip_close(archive.get()) != 0)
    return Error(ErrorCode::Internal, fmt::format("npz: {}", zip_strerror(archive.get())));
  archive.release();

  std::vector<std::byte> bytes;
  zip_stat_t info;
  if (zip_source_stat(target.get(), &info) != 0 || zip_source_open(target.get()) != 0)
    return Error(ErrorCode::Internal, "npz: cannot read back what was written");
  bytes.resize(info.size);
  const zip_int64_t got = zip_source_read(target.get(), bytes.data(), bytes.size());
  zip_source_close(target.get());
  if (got < 0 || static_cast<uint64_t>(got) != info.size)
    return Error(ErrorCode::Internal, "npz: cannot read back what was written");
  return bytes;
}

}  // namespace baton
