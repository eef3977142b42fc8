#include "compiler/ir/saved_tensor.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/limits.h"

namespace baton::ir {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// First word of a saved tensor.
constexpr uint64_t kTensorMagic = 0xDD5E40F096B4A13FULL;

std::string encodeBase64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 3; ++j) word = word << 8 | (j < count ? static_cast<uint32_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += j <= count ? kAlphabet[word >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

Result<std::vector<std::byte>> decodeBase64(std::string_view text) {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (int i = 0; i < 64; ++i) values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t word = 0;
  int bits = 0;
  for (char c : text) {
    if (c == '=' || c == '\n' || c == '\r') continue;
    int8_t value = values[static_cast<uint8_t>(c)];
    if (value < 0) return Error(ErrorCode::Malformed, "metadata: invalid base64");
    word = word << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::byte>(word >> bits & 0xff));
  }
  return bytes;
}

/// Code and width of an element type as DLPack numbers them.
struct TypeCode {
  uint8_t code;
  uint8_t bits;
};

TypeCode typeCode(DType dtype) {
  uint8_t bits = static_cast<uint8_t>(8 * sizeBytes(dtype));
  if (dtype == DType::Bool) return {1, 1};
  if (dtype == DType::BF16) return {4, bits};
  if (isFloat(dtype)) return {2, bits};
  return {static_cast<uint8_t>(isUnsignedInt(dtype) ? 1 : 0), bits};
}

std::optional<DType> dtypeOf(uint8_t code, uint8_t bits) {
  for (int i = 0; i < kDTypeCount; ++i) {
    TypeCode known = typeCode(static_cast<DType>(i));
    if (known.code == code && known.bits == bits) return static_cast<DType>(i);
  }
  return std::nullopt;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::byte* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

template <class T>
bool take(std::span<const std::byte>& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes = bytes.subspan(sizeof(T));
  return true;
}

Result<Constant> readTensor(std::span<const std::byte> bytes) {
  auto malformed = [](const char* what) {
    return Error(ErrorCode::Malformed, fmt::format("metadata: tensor {}", what));
  };
  uint64_t magic = 0, reserved = 0, dataBytes = 0;
  int32_t deviceType = 0, deviceId = 0, rank = 0;
  uint8_t code = 0, bits = 0;
  uint16_t lanes = 0;
  if (!take(bytes, magic) || !take(bytes, reserved) || !take(bytes, deviceType) || !take(bytes, deviceId) ||
      !take(bytes, rank) || !take(bytes, code) || !take(bytes, bits) || !take(bytes, lanes))
    return malformed("is cut off");
  if (magic != kTensorMagic) return malformed("does not start with its magic number");
  std::optional<DType> dtype = dtypeOf(code, bits);
  if (!dtype || lanes != 1) return malformed("has an unknown element type");
  if (rank < 0 || rank > kMaxRank) return malformed("has an impossible rank");
  Constant constant;
  constant.dtype = *dtype;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t extent = 0;
    if (!take(bytes, extent)) return malformed("is cut off");
    constant.shape.push_back(extent);
  }
  if (!take(bytes, dataBytes)) return malformed("is cut off");
  std::optional<int64_t> count = checkedElementCount(constant.shape);
  std::optional<int64_t> expected = count ? checkedMul<int64_t>(*count, sizeBytes(*dtype)) : std::nullopt;
  if (!expected || static_cast<uint64_t>(*expected) != dataBytes || bytes.size() < dataBytes)
    return malformed("does not have the number of bytes that its shape needs");
  constant.bytes.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(dataBytes));
  if (*dtype == DType::Bool)
    for (std::byte& element : constant.bytes) element = std::byte{element != std::byte{0}};
  return constant;
}

}  // namespace

std::string encodeTensor(const Constant& constant) {
  std::vector<std::byte> bytes;
  append(bytes, kTensorMagic);
  append(bytes, uint64_t{0});
  append(bytes, int32_t{1});
  append(bytes, int32_t{0});
  append(bytes, static_cast<int32_t>(constant.shape.size()));
  append(bytes, typeCode(constant.dtype).code);
  append(bytes, typeCode(constant.dtype).bits);
  append(bytes, uint16_t{1});
  for (int64_t extent : constant.shape) append(bytes, extent);
  append(bytes, static_cast<uint64_t>(constant.bytes.size()));
  bytes.insert(bytes.end(), constant.bytes.begin(), constant.bytes.end());
  return encodeBase64(bytes);
}

Result<Constant> decodeTensor(std::string_view base64) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, decodeBase64(base64));
  return readTensor(bytes);
}

}  // namespace baton::ir
