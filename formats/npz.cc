#include "formats/npz.h"

#include <zip.h>

#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "formats/npy.h"

namespace baton {

namespace {

constexpr std::string_view kSuffix = ".npy";

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Source = std::unique_ptr<zip_source_t, FreeSource>;

/// The text of a zip_error_t that this owns.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  explicit ZipError(int code) { zip_error_init_with_code(&error_, code); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

Error archiveError(zip_t* archive, const std::string& what) {
  return Error(ErrorCode::Malformed, fmt::format("npz: {}: {}", what, zip_strerror(archive)));
}

}  // namespace

struct NpzReader::Impl {
  Archive archive;
  NpzLimits limits;
  std::vector<std::string> names;
  std::map<std::string, zip_uint64_t> indices;
  uint64_t archiveBytes = 0;
  uint64_t readBytes = 0;

  Result<void> list();
  Result<TensorData> read(const std::string& name, zip_uint64_t index);
};

Result<void> NpzReader::Impl::list() {
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  if (count < 0 || static_cast<uint64_t>(count) > limits.maxEntryCount)
    return Error(ErrorCode::Malformed,
                 fmt::format("npz: {} entries, at most {} are accepted", count, limits.maxEntryCount));
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* raw = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (!raw) return archiveError(archive.get(), fmt::format("entry {} has no name", i));
    std::string name(raw);
    if (!name.ends_with(kSuffix)) continue;
    name.resize(name.size() - kSuffix.size());
    if (!indices.emplace(name, static_cast<zip_uint64_t>(i)).second)
      return Error(ErrorCode::Malformed, fmt::format("npz: array '{}' appears twice", name));
    names.push_back(std::move(name));
  }
  return success();
}

Result<TensorData> NpzReader::Impl::read(const std::string& name, zip_uint64_t index) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive.get(), index, 0, &stat) != 0)
    return archiveError(archive.get(), fmt::format("array '{}'", name));
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded)
    return Error(ErrorCode::Malformed, fmt::format("npz: array '{}' does not say how large it is", name));
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE)
    return Error(ErrorCode::Unsupported, fmt::format("npz: array '{}' is encrypted", name));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    return Error(ErrorCode::Unsupported,
                 fmt::format("npz: array '{}' is compressed by method {}, stored and deflated are supported",
                             name, stat.comp_method));
  if (stat.size > limits.maxEntryBytes || stat.size > limits.maxTotalBytes - readBytes)
    return Error(
        ErrorCode::LimitReached,
        fmt::format("npz: array '{}' has {} bytes, at most {} are accepted for one array and {} for all",
                    name, stat.size, limits.maxEntryBytes, limits.maxTotalBytes));
  // Deflate expands at most 1032 times: a size beyond that is a lie, found before memory is
  // asked for.
  constexpr uint64_t kMaxRatio = 1032;
  constexpr uint64_t kSlackBytes = 4096;
  const bool plausible = stat.comp_size > archiveBytes ? false
                         : stat.comp_method == ZIP_CM_STORE
                             ? stat.size == stat.comp_size
                             : stat.size / kMaxRatio <= stat.comp_size + kSlackBytes;
  if (!plausible)
    return Error(ErrorCode::Malformed,
                 fmt::format("npz: array '{}' claims {} bytes from {}", name, stat.size, stat.comp_size));
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(archive.get(), index, 0));
  if (!file) return archiveError(archive.get(), fmt::format("array '{}'", name));
  const auto broken = [&](const std::string& why) {
    return Error(ErrorCode::Malformed, fmt::format("npz: array '{}': {}", name, why));
  };
  Result<TensorData> tensor = readNpy(stat.size, [&](std::span<std::byte> out) -> Result<void> {
    while (!out.empty()) {
      const zip_int64_t count = zip_fread(file.get(), out.data(), out.size());
      if (count < 0) return broken(zip_file_strerror(file.get()));
      if (count == 0) return broken("has fewer bytes than it claims");
      out = out.subspan(static_cast<size_t>(count));
    }
    return success();
  });
  if (!tensor.has_value())
    return std::move(tensor).assume_error().withContext(fmt::format("array '{}'", name));
  // The checksum is compared when the end is read.
  std::byte beyond{};
  const zip_int64_t more = zip_fread(file.get(), &beyond, 1);
  if (more < 0) return broken(zip_file_strerror(file.get()));
  if (more != 0) return broken("has more bytes than it claims");
  readBytes += stat.size;
  return tensor;
}

NpzReader::NpzReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NpzReader::NpzReader(NpzReader&&) noexcept = default;
NpzReader& NpzReader::operator=(NpzReader&&) noexcept = default;
NpzReader::~NpzReader() = default;

Result<NpzReader> NpzReader::open(const std::string& path, NpzLimits limits) {
  int code = 0;
  auto impl = std::make_unique<Impl>();
  impl->limits = limits;
  impl->archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!impl->archive) {
    const bool system =
        code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ || code == ZIP_ER_SEEK;
    return Error(system ? ErrorCode::Io : ErrorCode::Malformed,
                 fmt::format("{}: {}", path, ZipError(code).text()));
  }
  std::error_code sizeError;
  impl->archiveBytes = std::filesystem::file_size(path, sizeError);
  if (sizeError) return Error(ErrorCode::Io, fmt::format("{}: {}", path, sizeError.message()));
  if (Result<void> listed = impl->list(); !listed.has_value())
    return std::move(listed).assume_error().withContext(path);
  return NpzReader(std::move(impl));
}

Result<NpzReader> NpzReader::fromBytes(std::span<const std::byte> bytes, NpzLimits limits) {
  ZipError error;
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get()));
  if (!source) return Error(ErrorCode::OutOfMemory, fmt::format("npz: {}", error.text()));
  auto impl = std::make_unique<Impl>();
  impl->limits = limits;
  impl->archiveBytes = bytes.size();
  impl->archive.reset(zip_open_from_source(source.get(), ZIP_RDONLY, error.get()));
  if (!impl->archive) return Error(ErrorCode::Malformed, fmt::format("npz: {}", error.text()));
  (void)source.release();  // the archive owns it now
  BATON_TRY(impl->list());
  return NpzReader(std::move(impl));
}

const std::vector<std::string>& NpzReader::names() const { return impl_->names; }

Result<TensorData> NpzReader::read(const std::string& name) {
  const auto found = impl_->indices.find(name);
  if (found == impl_->indices.end())
    return Error(ErrorCode::InvalidArgument, fmt::format("npz: there is no array '{}'", name));
  return impl_->read(name, found->second);
}

Result<std::vector<NamedTensor>> NpzReader::readAll() {
  std::vector<NamedTensor> all;
  for (const std::string& name : impl_->names) {
    BATON_TRY_ASSIGN(TensorData tensor, read(name));
    all.push_back({name, std::move(tensor)});
  }
  return all;
}

Result<std::vector<std::byte>> writeNpz(std::span<const NamedTensor> tensors, NpzCompression compression) {
  std::set<std::string_view> names;
  for (const NamedTensor& each : tensors)
    if (!names.insert(each.name).second)
      return Error(ErrorCode::InvalidArgument, fmt::format("npz: array '{}' appears twice", each.name));
  ZipError error;
  Source buffer(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (!buffer) return Error(ErrorCode::OutOfMemory, fmt::format("npz: {}", error.text()));
  Archive archive(zip_open_from_source(buffer.get(), ZIP_CREATE | ZIP_TRUNCATE, error.get()));
  if (!archive) return Error(ErrorCode::OutOfMemory, fmt::format("npz: {}", error.text()));
  zip_source_keep(buffer.get());
  const auto failed = [&] {
    return Error(ErrorCode::Io, fmt::format("npz: {}", zip_strerror(archive.get())));
  };

  std::vector<std::vector<std::byte>> entries;  // libzip reads them when it closes the archive
  entries.reserve(tensors.size());
  for (const NamedTensor& each : tensors) {
    entries.push_back(writeNpy(each.tensor));
    Source entry(zip_source_buffer(archive.get(), entries.back().data(), entries.back().size(), 0));
    if (!entry) return failed();
    const std::string fileName = each.name + std::string(kSuffix);
    const zip_int64_t index = zip_file_add(archive.get(), fileName.c_str(), entry.get(), ZIP_FL_ENC_UTF_8);
    if (index < 0) return failed();
    (void)entry.release();
    const auto at = static_cast<zip_uint64_t>(index);
    const zip_int32_t method = compression == NpzCompression::Stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
    // The first day that a zip file can name, so that no clock shows in the bytes.
    constexpr zip_uint16_t kFirstDay = (0 << 9) | (1 << 5) | 1;
    if (zip_set_file_compression(archive.get(), at, method, 0) != 0 ||
        zip_file_set_dostime(archive.get(), at, 0, kFirstDay, 0) != 0)
      return failed();
  }
  if (zip_close(archive.get()) != 0) return failed();
  (void)archive.release();

  if (zip_source_open(buffer.get()) != 0) {
    // An archive without entries is not written at all.
    if (tensors.empty()) {
      std::vector<std::byte> empty(22);
      const char end[] = {'P', 'K', 5, 6};
      std::memcpy(empty.data(), end, sizeof end);
      return empty;
    }
    return Error(ErrorCode::Io, fmt::format("npz: {}", zip_error_strerror(zip_source_error(buffer.get()))));
  }
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::vector<std::byte> bytes;
  bool complete = zip_source_stat(buffer.get(), &stat) == 0 && (stat.valid & ZIP_STAT_SIZE);
  if (complete) {
    bytes.resize(stat.size);
    complete = zip_source_read(buffer.get(), bytes.data(), stat.size) == static_cast<zip_int64_t>(stat.size);
  }
  zip_source_close(buffer.get());
  if (!complete) return Error(ErrorCode::Io, "npz: the archive could not be read back from memory");
  return bytes;
}

}  // namespace baton
