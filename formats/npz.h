// Archives of .npy arrays (.npz): zip files whose entries are "name.npy".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/tensor_data.h"

namespace baton {

struct NamedTensor {
  std::string name;
  TensorData tensor;
};

/// What a file may claim before it is refused: a small file can hold a large amount of zeros.
struct NpzLimits {
  uint64_t maxEntryCount = 1 << 20;
  uint64_t maxEntryBytes = uint64_t{16} << 30;  ///< of one array, decompressed
  uint64_t maxTotalBytes = uint64_t{64} << 30;  ///< of all that this reader reads
};

/// An open archive. One thread at a time. Entries are stored or deflated; entries that are
/// no arrays are passed over.
class NpzReader {
 public:
  /// Io when the file cannot be opened, Malformed when it is no archive or has an array twice.
  static Result<NpzReader> open(const std::string& path, NpzLimits limits = {});
  /// The bytes outlive the reader.
  static Result<NpzReader> fromBytes(std::span<const std::byte> bytes, NpzLimits limits = {});
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;
  ~NpzReader();

  /// Names of the arrays (without ".npy"), in the order of the file.
  const std::vector<std::string>& names() const;
  /// InvalidArgument for a name that is not there.
  Result<TensorData> read(const std::string& name);
  Result<std::vector<NamedTensor>> readAll();

 private:
  struct Impl;
  explicit NpzReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

enum class NpzCompression : uint8_t { Stored, Deflated };

/// The same tensors give the same bytes. InvalidArgument for a name that appears twice.
Result<std::vector<std::byte>> writeNpz(std::span<const NamedTensor> tensors,
                                        NpzCompression compression = NpzCompression::Stored);

}  // namespace baton
