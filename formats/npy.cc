#include "formats/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/checked_math.h"

namespace baton {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the header's Python dictionary: three known keys with a string, a bool and a tuple.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<Header> parse() {
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    BATON_TRY(expect('{'));
    while (!accept('}')) {
      BATON_TRY_ASSIGN(const std::string key, string());
      BATON_TRY(expect(':'));
      if (key == "descr" && !hasDescr) {
        if (peek() == '[')
          return Error(ErrorCode::Unsupported, "npy: structured element types are not supported");
        BATON_TRY_ASSIGN(header.descr, string());
        hasDescr = true;
      } else if (key == "fortran_order" && !hasOrder) {
        BATON_TRY_ASSIGN(header.isFortranOrder, boolean());
        hasOrder = true;
      } else if (key == "shape" && !hasShape) {
        BATON_TRY_ASSIGN(header.shape, tuple());
        hasShape = true;
      } else {
        return malformed(
            fmt::format("found key \"{}\", expected descr, fortran_order and shape once each", key));
      }
      if (!accept(',') && peek() != '}') return malformed("expected , or } after a value");
    }
    skipSpace();
    if (at_ != text_.size()) return malformed("text after the dictionary");
    if (!hasDescr || !hasOrder || !hasShape)
      return malformed("expected the keys descr, fortran_order and shape");
    return header;
  }

 private:
  Error malformed(const std::string& what) const {
    return Error(ErrorCode::Malformed, fmt::format("npy: header, character {}: {}", at_, what));
  }
  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  Result<void> expect(char c) {
    if (!accept(c)) return malformed(fmt::format("expected {}", c));
    return success();
  }
  Result<std::string> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return malformed("expected a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return malformed("string without an end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  Result<bool> boolean() {
    skipSpace();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    return malformed("expected True or False");
  }
  Result<std::vector<int64_t>> tuple() {
    std::vector<int64_t> values;
    BATON_TRY(expect('('));
    while (!accept(')')) {
      skipSpace();
      int64_t value = 0;
      const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (failure != std::errc() || value < 0) return malformed("expected an extent");
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');  // Python 2 wrote long integers so
      values.push_back(value);
      if (values.size() > kMaxArrayRank)
        return malformed(fmt::format("more than {} dimensions", kMaxArrayRank));
      if (!accept(',') && peek() != ')') return malformed("expected , or ) after an extent");
    }
    return values;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct ElementType {
  std::string_view code;  // without byte order
  DType dtype;
};
constexpr ElementType kElementTypes[] = {
    {"b1", DType::Bool}, {"i1", DType::I8},  {"i2", DType::I16}, {"i4", DType::I32}, {"i8", DType::I64},
    {"u1", DType::U8},   {"u2", DType::U16}, {"u4", DType::U32}, {"u8", DType::U64}, {"f2", DType::F16},
    {"V2", DType::BF16}, {"f4", DType::F32}, {"f8", DType::F64}};

Result<ElementType> elementType(const std::string& descr, bool& isBigEndian) {
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
    isBigEndian = descr[0] == '>';
    for (const ElementType& type : kElementTypes)
      if (descr.substr(1) == type.code) return type;
  }
  return Error(ErrorCode::Unsupported, fmt::format("npy: element type \"{}\" is not supported", descr));
}

void swapBytes(std::span<std::byte> bytes, size_t size) {
  for (size_t at = 0; at + size <= bytes.size(); at += size)
    std::reverse(bytes.begin() + at, bytes.begin() + at + size);
}

/// Row-major bytes from column-major ones: walks the target in order with an odometer.
std::vector<std::byte> toRowMajor(std::span<const std::byte> source, const std::vector<int64_t>& shape,
                                  size_t size) {
  std::vector<std::byte> target(source.size());
  std::vector<size_t> index(shape.size(), 0);
  std::vector<size_t> strides(shape.size());
  size_t stride = size;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<size_t>(shape[axis]);
  }
  size_t from = 0;
  for (size_t to = 0; to < target.size(); to += size) {
    std::memcpy(target.data() + to, source.data() + from, size);
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<size_t>(shape[axis])) break;
      from -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return target;
}

std::optional<size_t> sizeOf(const std::vector<int64_t>& shape, DType dtype) {
  const auto count = checkedElementCount(shape);
  const auto size = count ? checkedMul<int64_t>(*count, sizeBytes(dtype)) : std::nullopt;
  if (!size) return std::nullopt;
  return static_cast<size_t>(*size);
}

}  // namespace

bool looksLikeNpy(std::span<const std::byte> file) {
  return std::string_view(reinterpret_cast<const char*>(file.data()), file.size()).starts_with(kMagic);
}

Result<Array> readNpy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < 10 || !looksLikeNpy(file))
    return Error(ErrorCode::Malformed, "npy: not an .npy file (it does not begin with \\x93NUMPY)");
  const auto byteAt = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(text[i])); };
  const size_t version = byteAt(6);
  if (version < 1 || version > 3)
    return Error(ErrorCode::Unsupported,
                 fmt::format("npy: found format version {}, expected 1, 2 or 3", version));
  const size_t lengthBytes = version == 1 ? 2 : 4;
  const size_t start = 8 + lengthBytes;
  if (text.size() < start) return Error(ErrorCode::Malformed, "npy: the file ends inside the header");
  size_t headerSize = 0;
  for (size_t i = 0; i < lengthBytes; ++i) headerSize |= byteAt(8 + i) << (8 * i);
  if (headerSize > text.size() - start)
    return Error(ErrorCode::Malformed,
                 fmt::format("npy: the file ends inside the header: found {} bytes, expected {}",
                             text.size() - start, headerSize));
  BATON_TRY_ASSIGN(Header header, HeaderParser(text.substr(start, headerSize)).parse());
  bool isBigEndian = false;
  BATON_TRY_ASSIGN(const ElementType type, elementType(header.descr, isBigEndian));

  const std::optional<size_t> size = sizeOf(header.shape, type.dtype);
  const size_t available = text.size() - start - headerSize;
  if (!size || *size != available)
    return Error(ErrorCode::Malformed,
                 fmt::format("npy: found {} bytes of data, expected {} for shape ({}) of {}", available,
                             size ? std::to_string(*size) : "2^63 or more", fmt::join(header.shape, ", "),
                             dtypeName(type.dtype)));
  Array array{type.dtype, std::move(header.shape), {}};
  const std::span<const std::byte> data = file.subspan(start + headerSize);
  const size_t elementSize = static_cast<size_t>(sizeBytes(type.dtype));
  if (header.isFortranOrder && array.shape.size() > 1)
    array.bytes = toRowMajor(data, array.shape, elementSize);
  else
    array.bytes.assign(data.begin(), data.end());
  if (isBigEndian) swapBytes(array.bytes, elementSize);
  if (type.dtype == DType::Bool)
    for (std::byte& byte : array.bytes) byte = byte != std::byte{0} ? std::byte{1} : std::byte{0};
  return array;
}

Result<std::vector<std::byte>> writeNpy(const Array& array) {
  const std::optional<size_t> size = sizeOf(array.shape, array.dtype);
  if (!size || *size != array.bytes.size())
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("npy: found {} bytes, expected {} for shape ({}) of {}", array.bytes.size(),
                             size ? std::to_string(*size) : "2^63 or more", fmt::join(array.shape, ", "),
                             dtypeName(array.dtype)));
  const auto* type =
      std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                   [&](const ElementType& candidate) { return candidate.dtype == array.dtype; });
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (",
                                   sizeBytes(array.dtype) == 1 ? '|' : '<', type->code);
  for (const int64_t extent : array.shape)
    header += fmt::format("{},{}", extent, array.shape.size() > 1 ? " " : "");
  if (array.shape.size() > 1) header.erase(header.size() - 2);
  header += "), }";
  // The data begins on a multiple of 64.
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::vector<std::byte> file;
  const auto append = [&](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    file.insert(file.end(), bytes.begin(), bytes.end());
  };
  file.reserve(kMagic.size() + 4 + header.size() + array.bytes.size());
  append(kMagic);
  const char rest[4] = {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  append(std::string_view(rest, 4));
  append(header);
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

}  // namespace baton
