#include "formats/extent_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace baton {

namespace {

/// Operations within operations: the depth of the recursion.
constexpr uint32_t kMaxNesting = kMaxDimDepth + 8;

class ExtentParser {
 public:
  ExtentParser(std::string_view text, std::vector<std::string>& names) : text_(text), names_(names) {}

  Result<DimExpr> parse() {
    BATON_TRY_ASSIGN(DimExpr extent, sum());
    if (at_ != text_.size()) return unexpected();
    return extent;
  }

 private:
  Error unexpected() const {
    return Error(ErrorCode::Malformed,
                 fmt::format("\"{}\" is no extent: error at character {}", text_, at_ + 1));
  }
  void skipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool takeIf(char c) {
    skipSpaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skipSpaces();
    return true;
  }
  template <class Accepts>
  std::string_view takeWhile(Accepts accepts) {
    const size_t first = at_;
    while (at_ < text_.size() && accepts(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(first, at_ - first);
  }

  Result<DimExpr> sum() {
    if (++nesting_ > kMaxNesting) return unexpected();
    DimExpr total;
    bool isNegative = takeIf('-');
    while (true) {
      BATON_TRY_ASSIGN(const DimExpr term, product());
      total = isNegative ? total - term : total + term;
      if (takeIf('+')) {
        isNegative = false;
      } else if (takeIf('-')) {
        isNegative = true;
      } else {
        break;
      }
    }
    --nesting_;
    return total;
  }

  Result<DimExpr> product() {
    BATON_TRY_ASSIGN(DimExpr result, factor());
    while (takeIf('*')) {
      BATON_TRY_ASSIGN(const DimExpr next, factor());
      result = result * next;
    }
    return result;
  }

  Result<DimExpr> factor() {
    skipSpaces();
    const std::string_view digits = takeWhile([](unsigned char c) { return std::isdigit(c) != 0; });
    if (!digits.empty()) {
      int64_t value = 0;
      if (std::from_chars(digits.begin(), digits.end(), value).ec != std::errc()) return unexpected();
      return DimExpr::constant(value);
    }
    const std::string_view name =
        takeWhile([](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
    if (name.empty()) return unexpected();
    if (!takeIf('(')) return symbol(name);
    for (const DimOp op : {DimOp::FloorDiv, DimOp::FloorMod, DimOp::CeilDiv, DimOp::Min, DimOp::Max}) {
      if (name != dimOpName(op)) continue;
      BATON_TRY_ASSIGN(const DimExpr a, sum());
      if (!takeIf(',')) return unexpected();
      BATON_TRY_ASSIGN(const DimExpr b, sum());
      if (!takeIf(')')) return unexpected();
      return DimExpr::opaque(op, a, b);
    }
    return unexpected();
  }

  DimExpr symbol(std::string_view name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    const auto number = static_cast<uint32_t>(found - names_.begin());
    if (found == names_.end()) names_.emplace_back(name);
    return DimExpr::symbol(DimSymbol(number));
  }

  std::string_view text_;
  std::vector<std::string>& names_;
  size_t at_ = 0;
  uint32_t nesting_ = 0;
};

}  // namespace

Result<DimExpr> parseExtent(std::string_view text, std::vector<std::string>& names) {
  return ExtentParser(text, names).parse();
}

}  // namespace baton
