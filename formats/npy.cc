#include "formats/npy.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/byte_cursor.h"
#include "base/checked_math.h"

namespace baton {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = 1 << 20;
constexpr size_t kDataAlignment = 64;

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// The header is a Python dictionary with three keys, each a string, a bool or a tuple of
/// integers. This reads that much of Python and no more.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<Header> parse() {
    Header header;
    bool hasDescr = false;
    bool hasOrder = false;
    bool hasShape = false;
    BATON_TRY(expect('{'));
    while (!accept('}')) {
      BATON_TRY_ASSIGN(const std::string key, string());
      BATON_TRY(expect(':'));
      bool* seen = nullptr;
      if (key == "descr") {
        seen = &hasDescr;
        if (peek() == '[') return unsupported("structured dtypes");
        BATON_TRY_ASSIGN(header.descr, string());
      } else if (key == "fortran_order") {
        seen = &hasOrder;
        BATON_TRY_ASSIGN(header.fortranOrder, boolean());
      } else if (key == "shape") {
        seen = &hasShape;
        BATON_TRY_ASSIGN(header.shape, tuple());
      } else {
        return wrong(fmt::format("unknown key '{}'", key));
      }
      if (*seen) return wrong(fmt::format("key '{}' appears twice", key));
      *seen = true;
      if (!accept(',') && peek() != '}') return wrong("expected ',' or '}'");
    }
    if (peek() != '\0') return wrong("expected the end of the header");
    if (!hasDescr || !hasOrder || !hasShape)
      return wrong(fmt::format("key '{}' is missing", !hasDescr   ? "descr"
                                                      : !hasOrder ? "fortran_order"
                                                                  : "shape"));
    return header;
  }

  static Error unsupported(std::string_view what) {
    return Error(ErrorCode::Unsupported, fmt::format("npy: {} are not supported", what));
  }

 private:
  Error wrong(const std::string& what) const {
    return Error(ErrorCode::Malformed, fmt::format("npy header: {} at character {}", what, at_));
  }

  /// The next character that is no space; '\0' at the end. A zero byte is no part of a header.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  Result<void> expect(char wanted) {
    if (!accept(wanted)) return wrong(fmt::format("expected '{}'", wanted));
    return success();
  }

  Result<std::string> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return wrong("expected a string");
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\' && text_[at_] != '\n') ++at_;
    if (at_ >= text_.size() || text_[at_] != quote) return wrong("expected the end of a string");
    return std::string(text_.substr(begin, at_++ - begin));
  }

  Result<bool> boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    return wrong("expected True or False");
  }

  Result<std::vector<int64_t>> tuple() {
    std::vector<int64_t> extents;
    BATON_TRY(expect('('));
    while (!accept(')')) {
      peek();
      int64_t extent = 0;
      const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (status == std::errc::result_out_of_range) return wrong("extent is out of range");
      if (status != std::errc() || extent < 0) return wrong("expected an extent");
      at_ = static_cast<size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
      if (extents.size() == kMaxNpyRank) return wrong(fmt::format("more than {} extents", kMaxNpyRank));
      extents.push_back(extent);
      // (3) is no tuple in Python, and numpy refuses it
      if (!accept(',') && (peek() != ')' || extents.size() == 1)) return wrong("expected ',' or ')'");
    }
    return extents;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct Element {
  DType dtype;
  bool swapped;
};

Result<Element> parseDescr(const std::string& descr) {
  const auto unknown = [&] {
    return Error(
        ErrorCode::Unsupported,
        fmt::format("npy: dtype '{}' is not supported: bool, integers, floats of 2, 4 or 8 bytes and V2 are",
                    descr));
  };
  if (descr.size() != 3) return unknown();
  std::optional<DType> dtype;
  const std::string_view kind = std::string_view(descr).substr(1);
  constexpr std::pair<std::string_view, DType> kKinds[] = {
      {"b1", DType::Bool}, {"i1", DType::I8},  {"i2", DType::I16}, {"i4", DType::I32}, {"i8", DType::I64},
      {"u1", DType::U8},   {"u2", DType::U16}, {"u4", DType::U32}, {"u8", DType::U64}, {"f2", DType::F16},
      {"f4", DType::F32},  {"f8", DType::F64}, {"V2", DType::BF16}};
  for (const auto& [name, type] : kKinds)
    if (kind == name) dtype = type;
  if (!dtype) return unknown();
  const char order = descr[0];
  const bool unordered = sizeBytes(*dtype) == 1 || *dtype == DType::BF16;
  if (order == '<' || order == '=' || (order == '|' && unordered)) return Element{*dtype, false};
  // Voids have no byte order, so '>V2' does not say that the bytes are swapped.
  if (order == '>') return Element{*dtype, !unordered};
  return unknown();
}

void swapBytes(std::vector<std::byte>& bytes, size_t elementBytes) {
  for (size_t i = 0; i + elementBytes <= bytes.size(); i += elementBytes)
    std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i),
                 bytes.begin() + static_cast<ptrdiff_t>(i + elementBytes));
}

/// From column-major to row-major. The counter runs over row-major positions and keeps the
/// matching column-major offset.
void transposeToRowMajor(TensorData& tensor) {
  const size_t rank = tensor.shape.size();
  const auto elementBytes = static_cast<size_t>(sizeBytes(tensor.dtype));
  std::vector<size_t> strides(rank);
  size_t stride = elementBytes;
  for (size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = stride;
    stride *= static_cast<size_t>(tensor.shape[axis]);
  }
  std::vector<int64_t> index(rank, 0);
  std::vector<std::byte> result(tensor.bytes.size());
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += elementBytes) {
    std::memcpy(result.data() + to, tensor.bytes.data() + from, elementBytes);
    for (size_t axis = rank; axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < tensor.shape[axis]) break;
      from -= strides[axis] * static_cast<size_t>(tensor.shape[axis]);
      index[axis] = 0;
    }
  }
  tensor.bytes = std::move(result);
}

const char* descrOf(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "|b1";
    case DType::I8: return "|i1";
    case DType::I16: return "<i2";
    case DType::I32: return "<i4";
    case DType::I64: return "<i8";
    case DType::U8: return "|u1";
    case DType::U16: return "<u2";
    case DType::U32: return "<u4";
    case DType::U64: return "<u8";
    case DType::F16: return "<f2";
    case DType::BF16: return "<V2";
    case DType::F32: return "<f4";
    case DType::F64: return "<f8";
  }
  return "";
}

}  // namespace

bool looksLikeNpy(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<TensorData> readNpy(std::span<const std::byte> bytes) {
  size_t at = 0;
  return readNpy(bytes.size(), [&](std::span<std::byte> out) -> Result<void> {
    BATON_CHECK(out.size() <= bytes.size() - at);  // readNpy asks for no more than there is
    if (!out.empty()) std::memcpy(out.data(), bytes.data() + at, out.size());
    at += out.size();
    return success();
  });
}

Result<TensorData> readNpy(uint64_t sizeBytes, const ByteSource& source) {
  uint64_t left = sizeBytes;
  const auto take = [&](void* to, size_t count) -> Result<void> {
    if (count > left)
      return Error(ErrorCode::Malformed,
                   fmt::format("npy: ends too early: {} bytes needed at offset {}, {} left", count,
                               sizeBytes - left, left));
    left -= count;
    return source({static_cast<std::byte*>(to), count});
  };
  std::byte start[8] = {};  // magic, major, minor
  BATON_TRY(take(start, std::min<uint64_t>(sizeof start, left)));
  if (!looksLikeNpy(start))
    return Error(ErrorCode::Malformed, "npy: the file does not begin with \\x93NUMPY");
  const auto major = static_cast<int>(start[6]);
  const auto minor = static_cast<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return Error(ErrorCode::Incompatible,
                 fmt::format("npy: version {}.{}, expected 1.0 to 3.0", major, minor));
  uint32_t headerBytes = 0;
  BATON_TRY(take(&headerBytes, major == 1 ? 2 : 4));
  if (headerBytes > kMaxHeaderBytes)
    return Error(ErrorCode::Malformed, fmt::format("npy: a header of {} bytes, at most {} are accepted",
                                                   headerBytes, kMaxHeaderBytes));
  std::string text(std::min<uint64_t>(headerBytes, left), '\0');
  BATON_TRY(take(text.data(), headerBytes));
  BATON_TRY_ASSIGN(Header header, HeaderParser(text).parse());
  BATON_TRY_ASSIGN(const Element element, parseDescr(header.descr));

  const auto count = checkedElementCount(header.shape);
  const auto dataBytes = count ? checkedMul<int64_t>(*count, baton::sizeBytes(element.dtype)) : std::nullopt;
  if (!dataBytes || static_cast<uint64_t>(*dataBytes) != left)
    return Error(ErrorCode::Malformed, fmt::format("npy: {} bytes of data, {} expected for {}", left,
                                                   dataBytes ? fmt::format("{}", *dataBytes)
                                                             : std::string("more than 64 bits count"),
                                                   tensorTypeText(element.dtype, header.shape)));
  TensorData tensor{element.dtype, std::move(header.shape), std::vector<std::byte>(left)};
  BATON_TRY(take(tensor.bytes.data(), left));
  if (element.swapped) swapBytes(tensor.bytes, static_cast<size_t>(baton::sizeBytes(element.dtype)));
  if (element.dtype == DType::Bool)
    for (std::byte& value : tensor.bytes) value = value == std::byte{0} ? std::byte{0} : std::byte{1};
  if (header.fortranOrder && tensor.shape.size() > 1) transposeToRowMajor(tensor);
  return tensor;
}

std::vector<std::byte> writeNpy(const TensorData& tensor) {
  std::string shape;
  for (const int64_t extent : tensor.shape) shape += fmt::format("{}, ", extent);
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape.size() == 1) shape.pop_back();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descrOf(tensor.dtype), shape);
  // Magic, version, length, header and its newline fill a multiple of the alignment.
  size_t prefixBytes = kMagic.size() + 2 + 2;
  const auto pad = [&] {
    const size_t used = prefixBytes + header.size() + 1;
    header.append((kDataAlignment - used % kDataAlignment) % kDataAlignment, ' ');
    header += '\n';
  };
  const bool fitsVersion1 = prefixBytes + header.size() + kDataAlignment < UINT16_MAX;
  if (!fitsVersion1) prefixBytes += 2;
  pad();
  ByteWriter writer;
  writer.writeText(kMagic);
  writer.write(static_cast<uint8_t>(fitsVersion1 ? 1 : 2));
  writer.write(uint8_t{0});
  if (fitsVersion1)
    writer.write(static_cast<uint16_t>(header.size()));
  else
    writer.write(static_cast<uint32_t>(header.size()));
  writer.writeText(header);
  writer.writeBytes(tensor.bytes);
  return std::move(writer).take();
}

}  // namespace baton
