#include "base/scalar_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace baton {

namespace {

/// A finite decimal number as 0.DIGITS * 10^exponent, without zeros at either end.
struct Decimal {
  std::string digits;  // empty: zero
  int64_t exponent = 0;
  bool negative = false;
};

/// Of text that from_chars accepted.
Decimal parseDecimal(std::string_view text) {
  constexpr int64_t kExponentLimit = 1'000'000'000;
  Decimal result;
  size_t i = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) result.negative = text[i++] == '-';
  bool afterPoint = false;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      afterPoint = true;
      continue;
    }
    if (text[i] == '0' && result.digits.empty()) {
      result.exponent -= afterPoint ? 1 : 0;
      continue;
    }
    result.digits += text[i];
    result.exponent += afterPoint ? 0 : 1;
  }
  if (i < text.size()) {
    ++i;
    const bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    int64_t exponent = 0;
    for (; i < text.size(); ++i)
      if (exponent < kExponentLimit) exponent = exponent * 10 + (text[i] - '0');
    result.exponent += negative ? -exponent : exponent;
  }
  while (!result.digits.empty() && result.digits.back() == '0') result.digits.pop_back();
  if (result.digits.empty()) result.exponent = 0;
  return result;
}

/// Sign of |a| - |b|.
int compareMagnitudes(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty())
    return static_cast<int>(b.digits.empty()) - static_cast<int>(a.digits.empty());
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/// All digits of a finite double.
Decimal exactDecimal(double value) {
  char buffer[1200];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 1100);
  return parseDecimal({buffer, static_cast<size_t>(end.ptr - buffer)});
}

enum class FloatText { Number, OutOfRange, NotANumber };

/// Reads a finite decimal. Overflow is OutOfRange; underflow gives zero.
template <class T>
FloatText readFloat(std::string_view text, T& value) {
  std::string_view digits = text;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  const size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
  // from_chars also reads "inf" and "nan(...)"
  if (digits.size() <= first || !((digits[first] >= '0' && digits[first] <= '9') || digits[first] == '.'))
    return FloatText::NotANumber;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || status == std::errc::invalid_argument)
    return FloatText::NotANumber;
  if (status == std::errc::result_out_of_range) {
    const Decimal decimal = parseDecimal(digits);
    if (decimal.exponent > 0) return FloatText::OutOfRange;
    value = decimal.negative ? T{-0.0f} : T{0};
  }
  return std::isinf(value) ? FloatText::OutOfRange : FloatText::Number;
}

/// A 16-bit float by way of double, with one rounding: where the double is the middle
/// between two of them, the decimal itself decides.
template <class Small>
FloatText readSmallFloat(std::string_view text, Small& value) {
  double wide = 0;
  if (const FloatText status = readFloat(text, wide); status != FloatText::Number) return status;
  const auto narrow = [](double x) {
    if constexpr (std::is_same_v<Small, Half>)
      return toHalf(x);
    else
      return toBFloat16(x);
  };
  value = narrow(wide);
  const Small below = narrow(std::nextafter(wide, -INFINITY));
  const Small above = narrow(std::nextafter(wide, INFINITY));
  if (below.bits != above.bits && wide != static_cast<double>(toFloat(value))) {
    const int order = compareMagnitudes(parseDecimal(text), exactDecimal(wide));
    if (order != 0) value = (order > 0) != std::signbit(wide) ? above : below;
  }
  return std::isinf(toFloat(value)) ? FloatText::OutOfRange : FloatText::Number;
}

template <class T>
constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The shortest decimal that rounds to the same 16 bits.
template <class Small>
std::string formatSmallFloat(Small value) {
  const double wide = toFloat(value);
  constexpr int kMaxDigits = 6;
  for (int digits = 1; digits < kMaxDigits; ++digits) {
    char buffer[32];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, wide, std::chars_format::scientific, digits - 1);
    const std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
    Small back{};
    if (readSmallFloat(text, back) != FloatText::Number || back.bits != value.bits) continue;
    double rounded = 0;
    std::from_chars(buffer, end.ptr, rounded);
    return fmt::format("{}", rounded);
  }
  return fmt::format("{}", wide);
}

Error malformed(std::string_view text, DType type, std::string_view why) {
  constexpr size_t kMaxShown = 40;
  const bool cut = text.size() > kMaxShown;
  return Error(ErrorCode::Malformed, fmt::format("{} '{}{}' as {}", why, text.substr(0, kMaxShown),
                                                 cut ? "..." : "", dtypeName(type)));
}

template <class T>
Result<uint64_t> parseInteger(std::string_view text, DType type) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all = end == digits.data() + digits.size();
  if (status == std::errc::result_out_of_range && all)
    return malformed(text, type, "number is out of range:");
  if (status != std::errc() || !all) {
    // A negative number for an unsigned type is out of range, not nonsense.
    if (std::is_unsigned_v<T> && digits.size() > 1 && digits[0] == '-' &&
        digits.find_first_not_of("0123456789", 1) == std::string_view::npos)
      return malformed(text, type, "number is out of range:");
    return malformed(text, type, "cannot read");
  }
  return scalarBits(value);
}

}  // namespace

void appendScalar(std::string& out, uint64_t bits, DType type) {
  dispatchDType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = scalarFromBits<T>(bits);
    if constexpr (std::is_same_v<T, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      fmt::format_to(std::back_inserter(out), "{}", value);
    } else {
      double wide;
      if constexpr (kIsSmallFloat<T>)
        wide = toFloat(value);
      else
        wide = value;
      if (std::isnan(wide))
        out += "nan";
      else if (std::isinf(wide))
        out += wide < 0 ? "-inf" : "inf";
      else if constexpr (kIsSmallFloat<T>)
        out += formatSmallFloat(value);
      else
        fmt::format_to(std::back_inserter(out), "{}", value);
    }
  });
}

std::string formatScalar(uint64_t bits, DType type) {
  std::string text;
  appendScalar(text, bits, type);
  return text;
}

Result<uint64_t> parseScalar(std::string_view text, DType type) {
  return dispatchDType(type, [&](auto tag) -> Result<uint64_t> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      if (text == "true" || text == "1") return uint64_t{1};
      if (text == "false" || text == "0") return uint64_t{0};
      return malformed(text, type, "cannot read");
    } else if constexpr (std::is_integral_v<T>) {
      return parseInteger<T>(text, type);
    } else {
      const bool negative = !text.empty() && text[0] == '-';
      std::string_view name = text;
      if (!name.empty() && (name[0] == '-' || name[0] == '+')) name.remove_prefix(1);
      if (name == "nan")
        return convertScalar(scalarBits(std::numeric_limits<double>::quiet_NaN()), DType::F64, type);
      if (name == "inf" || name == "infinity")
        return convertScalar(scalarBits(negative ? -HUGE_VAL : HUGE_VAL), DType::F64, type);
      T value{};
      FloatText status;
      if constexpr (kIsSmallFloat<T>)
        status = readSmallFloat(text, value);
      else
        status = readFloat(text, value);
      if (status == FloatText::OutOfRange) return malformed(text, type, "number is out of range:");
      if (status == FloatText::NotANumber) return malformed(text, type, "cannot read");
      return scalarBits(value);
    }
  });
}

}  // namespace baton
