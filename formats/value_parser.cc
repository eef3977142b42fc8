#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/scalar_text.h"
#include "formats/array_elements.h"
#include "formats/npy.h"
#include "formats/value_text.h"

namespace baton {

namespace {

bool looksLikeNpy(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/'; }
bool isWord(char c) { return isLetter(c) || isDigit(c) || c == '.' || c == '?'; }
/// Input names come from other tools too ("encoder.x:0").
bool isName(std::string_view text) {
  if (text.empty() || !isLetter(text[0])) return false;
  for (const char c : text)
    if (!isLetter(c) && !isDigit(c) && c != '.' && c != ':' && c != '-') return false;
  return true;
}

/// One pass over the text; what is open lies on a stack of our own.
class ValueParser {
 public:
  ValueParser(std::string_view text, size_t begin, const FileReader& files)
      : text_(text), at_(begin), files_(files) {}

  Result<TextValue> parse() {
    while (true) {
      BATON_TRY_ASSIGN(std::optional<TextValue> value, beginValue());
      while (value) {
        if (open_.empty()) {
          if (peek() != '\0' || at_ < text_.size()) return wrong("the end of the text");
          return std::move(*value);
        }
        BATON_TRY_ASSIGN(value, endValue(std::move(*value)));
      }
    }
  }

 private:
  struct Open {
    TextValue::Kind kind;
    std::string name;
    std::vector<TextValue> children;
  };

  char peek() {
    while (at_ < text_.size() && isSpace(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  Error wrongAt(size_t at, const std::string& what) const {
    return Error(ErrorCode::Malformed, fmt::format("column {}: {}", at + 1, what));
  }
  Error wrong(std::string_view expected) {
    peek();
    std::string found = "the end of the text";
    if (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      found = c >= 32 && c < 127 ? fmt::format("'{}'", text_[at_]) : fmt::format("byte {}", c);
    }
    return wrongAt(at_, fmt::format("expected {}, found {}", expected, found));
  }

  /// A whole value, or nothing when one was opened that holds others.
  Result<std::optional<TextValue>> beginValue() {
    const char c = peek();
    if (c == '(' || c == '[') {
      ++at_;
      return open(c == '(' ? TextValue::Kind::Tuple : TextValue::Kind::List, {});
    }
    if (c == '@') {
      BATON_TRY_ASSIGN(TextValue value, untypedFile());
      return std::optional<TextValue>(std::move(value));
    }
    const size_t begin = at_;
    while (at_ < text_.size() && isWord(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return wrong("a value");
    if (peek() == '=') {
      const auto type = parseTensorType(word);
      if (!type)
        return wrongAt(begin, fmt::format("expected a type such as f32 or 2x3xi64, found '{}'", word));
      ++at_;
      BATON_TRY_ASSIGN(Array data, tensor(*type, begin));
      return std::optional<TextValue>(TextValue::tensor(std::move(data)));
    }
    if (!isLetter(word[0]) || word.find('?') != std::string_view::npos) {
      at_ = begin;
      return wrongAt(begin, fmt::format("expected a value with its type (such as f32={}), found '{}'",
                                        isDigit(word[0]) ? word : "1", word));
    }
    if (parseTensorType(word)) return wrong(fmt::format("'=' after the type {}", word));
    if (accept('(')) return open(TextValue::Kind::Constructor, std::string(word));
    return std::optional<TextValue>(TextValue::constructor(std::string(word), {}));
  }

  Result<std::optional<TextValue>> open(TextValue::Kind kind, std::string name) {
    open_.push_back({kind, std::move(name), {}});
    if (peek() == closing()) return close(true);
    return std::optional<TextValue>();
  }

  char closing() const { return open_.back().kind == TextValue::Kind::List ? ']' : ')'; }

  /// Takes a value into what is open; gives that when it ends here.
  Result<std::optional<TextValue>> endValue(TextValue value) {
    open_.back().children.push_back(std::move(value));
    if (accept(',')) {
      if (peek() == closing() && open_.back().kind == TextValue::Kind::Tuple) return close(true);
      return std::optional<TextValue>();
    }
    if (peek() == closing()) return close(false);
    return wrong(fmt::format("',' or '{}'", closing()));
  }

  std::optional<TextValue> close(bool isTuple) {
    ++at_;
    Open done = std::move(open_.back());
    open_.pop_back();
    switch (done.kind) {
      case TextValue::Kind::Tuple:
        if (!isTuple && done.children.size() == 1) return std::move(done.children[0]);
        return TextValue::tuple(std::move(done.children));
      case TextValue::Kind::List: return TextValue::list(std::move(done.children));
      case TextValue::Kind::Constructor:
        return TextValue::constructor(std::move(done.name), std::move(done.children));
      case TextValue::Kind::Tensor: break;
    }
    return std::nullopt;
  }

  // --- tensors

  Result<Array> tensor(const TensorTypeText& type, size_t typeColumn) {
    if (peek() == '@') return typedFile(type);
    Array data{type.dtype, type.shape, {}};
    BATON_TRY(elements(type, data));
    const size_t count = data.bytes.size() / static_cast<size_t>(sizeBytes(type.dtype));
    BATON_TRY(settleShape(data.shape, static_cast<int64_t>(count), typeColumn));
    return data;
  }

  /// Replaces the unknown extent, and checks the number of elements.
  Result<void> settleShape(std::vector<int64_t>& shape, int64_t count, size_t column) {
    const auto unknown = std::find(shape.begin(), shape.end(), -1);
    if (unknown != shape.end()) {
      *unknown = 1;
      const auto others = checkedElementCount(shape);
      *unknown = -1;
      if (!others || *others == 0 || count % *others != 0)
        return wrongAt(column, fmt::format("no extent for '?' gives {} elements", count));
      *unknown = count / *others;
    }
    const auto expected = checkedElementCount(shape);
    if (!expected || *expected != count)
      return wrongAt(column,
                     fmt::format("the type has {} elements, found {}",
                                 expected ? fmt::format("{}", *expected) : std::string("too many"), count));
    return success();
  }

  /// How many elements a type has; nothing when it does not say, or says too many to be true.
  static std::optional<size_t> countOf(std::span<const int64_t> shape) {
    const auto count = checkedElementCount(shape);
    return count ? std::optional<size_t>(static_cast<size_t>(*count)) : std::nullopt;
  }

  /// "2xf32=": a tensor begins here, and no element.
  bool atTensorType() const {
    size_t end = at_;
    while (end < text_.size() && isWord(text_[end])) ++end;
    return end < text_.size() && text_[end] == '=' && parseTensorType(text_.substr(at_, end - at_));
  }

  bool atElement() {
    const char c = peek();
    if (isDigit(c) || c == '-' || c == '+' || c == '.') return true;
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    for (const std::string_view word : {"nan", "inf", "true", "false"})
      if (rest.starts_with(word) && (rest.size() == word.size() || !isWord(rest[word.size()]))) return true;
    return false;
  }

  Result<void> element(Array& data) {
    const size_t begin = at_;
    while (at_ < text_.size() && (isWord(text_[at_]) || text_[at_] == '-' || text_[at_] == '+')) ++at_;
    Result<uint64_t> bits = parseScalar(text_.substr(begin, at_ - begin), data.dtype);
    if (!bits.has_value()) return wrongAt(begin, bits.assume_error().message());
    appendElement(data, bits.assume_value());
    return success();
  }

  Result<void> elements(const TensorTypeText& type, Array& data) {
    if (peek() == '[') return bracketedElements(type, data);
    const auto count = countOf(type.shape);
    for (size_t have = 0; !count || have < *count; ++have) {
      const size_t before = at_;
      if (have != 0) accept(',');
      if (atElement() && (count || !atTensorType())) {
        BATON_TRY(element(data));
        continue;
      }
      if (count) return wrong(fmt::format("element {} of {}", have + 1, *count));
      // With an open extent what follows the comma may be the next value.
      at_ = before;
      return success();
    }
    return success();
  }

  /// Brackets are either one pair around all elements, or nested like the axes.
  Result<void> bracketedElements(const TensorTypeText& type, Array& data) {
    const size_t rank = type.shape.size();
    const auto width = static_cast<size_t>(sizeBytes(type.dtype));
    std::vector<size_t> begins;                      // elements before each open bracket
    std::vector<std::optional<size_t>> sizes(rank);  // elements within a bracket of each depth
    for (size_t axis = 0; axis < rank; ++axis) sizes[axis] = countOf(std::span(type.shape).subspan(axis));
    std::optional<size_t> depth;  // of the elements
    bool separated = true;
    do {
      const char c = peek();
      const size_t have = data.bytes.size() / width;
      if (c == '[') {
        if (begins.size() >= std::max<size_t>(rank, 1)) return wrong("an element");
        ++at_;
        begins.push_back(have);
        separated = true;
      } else if (c == ']') {
        const size_t axis = begins.size() - 1;
        const size_t size = have - begins.back();
        if (depth == rank && rank > 0) {
          if (!sizes[axis]) sizes[axis] = size;
          if (*sizes[axis] != size)
            return wrongAt(at_, fmt::format("{} elements end here, expected {}", size, *sizes[axis]));
        }
        ++at_;
        begins.pop_back();
        separated = false;
      } else if (c == ',' && !separated) {
        ++at_;
        separated = true;
      } else {
        if (!atElement()) return wrong("an element or ']'");
        if (!depth) depth = begins.size();
        if (*depth != begins.size() || (*depth != rank && *depth != 1))
          return wrongAt(at_, "brackets do not nest like the axes of the type");
        BATON_TRY(element(data));
        separated = false;
      }
    } while (!begins.empty());
    return success();
  }

  // --- files

  Result<std::string> fileName() {
    ++at_;  // '@'
    std::string name;
    if (at_ < text_.size() && text_[at_] == '"') {
      const size_t begin = at_++;
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        name += text_[at_++];
      }
      if (at_ >= text_.size())
        return wrongAt(begin, "expected '\"' at the end of the file name, found the end of the text");
      ++at_;
    } else if (open_.empty()) {
      name = text_.substr(at_);
      while (!name.empty() && isSpace(name.back())) name.pop_back();
      at_ = text_.size();
    } else {
      const size_t begin = at_;
      while (at_ < text_.size() && !isSpace(text_[at_]) && text_[at_] != ',' && text_[at_] != ')' &&
             text_[at_] != ']')
        ++at_;
      name = text_.substr(begin, at_ - begin);
    }
    if (name.empty()) return wrong("a file name");
    return name;
  }

  Result<std::vector<std::byte>> readFile(const std::string& name, size_t column) {
    if (!files_)
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("column {}: files cannot be read here", column + 1));
    Result<std::vector<std::byte>> bytes = files_(name);
    if (!bytes.has_value())
      return std::move(bytes).assume_error().withContext(fmt::format("column {}", column + 1));
    return bytes;
  }

  Result<TextValue> untypedFile() {
    const size_t column = at_;
    BATON_TRY_ASSIGN(const std::string name, fileName());
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(name, column));
    if (!looksLikeNpy(bytes))
      return wrongAt(
          column,
          fmt::format("{} is no .npy file; bytes without a header need a type: 2x3xf32=@{}", name, name));
    Result<Array> data = readNpy(bytes);
    if (!data.has_value()) return std::move(data).assume_error().withContext(name);
    return TextValue::tensor(std::move(data).assume_value());
  }

  Result<Array> typedFile(const TensorTypeText& type) {
    const size_t column = at_;
    BATON_TRY_ASSIGN(const std::string name, fileName());
    BATON_TRY_ASSIGN(std::vector<std::byte> bytes, readFile(name, column));
    if (name.ends_with(".npy")) {
      Result<Array> data = readNpy(bytes);
      if (!data.has_value()) return std::move(data).assume_error().withContext(name);
      const std::vector<int64_t>& shape = data.assume_value().shape;
      bool matches = data.assume_value().dtype == type.dtype && shape.size() == type.shape.size();
      for (size_t i = 0; matches && i < shape.size(); ++i)
        matches = type.shape[i] == -1 || type.shape[i] == shape[i];
      if (!matches)
        return wrongAt(column, fmt::format("{} holds {}, not what the type says", name,
                                           arrayTypeText(data.assume_value().dtype, shape)));
      return data;
    }
    const auto width = static_cast<size_t>(sizeBytes(type.dtype));
    if (bytes.size() % width != 0)
      return wrongAt(column, fmt::format("{} has {} bytes, no multiple of the {} of {}", name, bytes.size(),
                                         width, dtypeName(type.dtype)));
    Array data{type.dtype, type.shape, std::move(bytes)};
    Result<void> settled = settleShape(data.shape, static_cast<int64_t>(data.bytes.size() / width), column);
    if (!settled.has_value()) return std::move(settled).assume_error().withContext(name);
    if (type.dtype == DType::Bool)
      for (std::byte& value : data.bytes) value = value == std::byte{0} ? std::byte{0} : std::byte{1};
    return data;
  }

  std::string_view text_;
  size_t at_;
  const FileReader& files_;
  std::vector<Open> open_;
};

}  // namespace

std::optional<TensorTypeText> parseTensorType(std::string_view text) {
  TensorTypeText type;
  bool unknown = false;
  while (!text.empty() && (isDigit(text[0]) || text[0] == '?')) {
    int64_t extent = -1;
    size_t size = 1;
    if (text[0] == '?') {
      if (std::exchange(unknown, true)) return std::nullopt;
    } else {
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), extent);
      if (status != std::errc()) return std::nullopt;
      size = static_cast<size_t>(end - text.data());
    }
    if (size >= text.size() || text[size] != 'x' || type.shape.size() == kMaxArrayRank) return std::nullopt;
    type.shape.push_back(extent);
    text.remove_prefix(size + 1);
  }
  const auto dtype = parseDType(text);
  if (!dtype) return std::nullopt;
  type.dtype = *dtype;
  return type;
}

Result<TextValue> parseValue(std::string_view text, const FileReader& files) {
  return ValueParser(text, 0, files).parse();
}

NamePrefix namePrefix(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  std::string_view left = text.substr(0, equals);
  while (!left.empty() && isSpace(left.front())) left.remove_prefix(1);
  while (!left.empty() && isSpace(left.back())) left.remove_suffix(1);
  if (!left.empty() && left.front() == '%') left.remove_prefix(1);
  if (!isName(left) || parseTensorType(left)) return {};
  return {left, equals + 1};
}

Result<NamedValue> parseNamedValue(std::string_view text, const FileReader& files) {
  NamedValue result;
  const NamePrefix prefix = namePrefix(text);
  if (!prefix.name.empty()) result.name = std::string(prefix.name);
  BATON_TRY_ASSIGN(result.value, ValueParser(text, prefix.valueBegin, files).parse());
  return result;
}

}  // namespace baton
