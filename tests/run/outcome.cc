#include "outcome.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace baton::run {
namespace {

bool isClose(const TextValue& found, const TextValue& expected, double tolerance) {
  std::vector<std::pair<const TextValue*, const TextValue*>> work{{&found, &expected}};
  while (!work.empty()) {
    const auto [a, b] = work.back();
    work.pop_back();
    if (a->kind() != b->kind() || a->name() != b->name() || a->children().size() != b->children().size())
      return false;
    for (size_t i = 0; i < a->children().size(); ++i) work.emplace_back(&a->children()[i], &b->children()[i]);
    if (!a->isTensor()) continue;
    const Array& x = a->tensor();
    const Array& y = b->tensor();
    if (x.dtype != y.dtype || x.shape != y.shape) return false;
    const size_t size = static_cast<size_t>(sizeBytes(x.dtype));
    auto at = [&](const Array& array, size_t i) {
      return scalarFromBits<double>(
          convertScalar(loadScalar(array.bytes.data() + i, array.dtype), array.dtype, DType::F64));
    };
    double largest = 0;
    for (size_t i = 0; i < y.bytes.size(); i += size)
      if (std::isfinite(at(y, i))) largest = std::max(largest, std::abs(at(y, i)));
    for (size_t i = 0; i < y.bytes.size(); i += size) {
      const double u = at(x, i);
      const double v = at(y, i);
      // states: Two NaNs count as equal.
      if (std::isnan(u) && std::isnan(v)) continue;
      if (u == v) continue;
      if (!(std::abs(u - v) <= tolerance * largest)) return false;
    }
  }
  return true;
}

std::string lacksMessage(const Run& run, const Outcome& failed) {
  if (failed.error.find(run.message) != std::string::npos) return {};
  return fmt::format("expected an error with '{}', found {}", run.message, failed.error);
}

}  // namespace

Outcome outcomeOf(Result<std::string> result) {
  if (!result.has_value())
    return {std::nullopt, result.assume_error().describe(), result.assume_error().code()};
  Result<TextValue> value = parseValue(result.assume_value());
  if (!value.has_value())
    return {std::nullopt, "unreadable result: " + result.assume_value(), ErrorCode::Internal};
  return {std::move(value).assume_value(), {}, {}};
}

std::string differenceFromComments(const Run& run, const Outcome& oracle) {
  if (run.agrees) {
    const bool isFine =
        oracle.value || oracle.code == ErrorCode::ProgramError || oracle.code == ErrorCode::LimitReached;
    return isFine ? std::string() : oracle.error;
  }
  if (run.fails) {
    if (oracle.value) return fmt::format("expected a failure, found {}", formatValue(*oracle.value));
    if (oracle.code != ErrorCode::ProgramError && oracle.code != ErrorCode::InvalidArgument)
      return fmt::format("expected a program error, found {}", oracle.error);
    return lacksMessage(run, oracle);
  }
  if (!oracle.value) return oracle.error;
  const Result<TextValue> expected = parseValue(run.expected);
  if (!expected.has_value()) return "expected value: " + expected.assume_error().message();
  const bool fits = run.tolerance == 0 ? *oracle.value == expected.assume_value()
                                       : isClose(*oracle.value, expected.assume_value(), run.tolerance);
  if (fits) return {};
  return fmt::format("expected {}, found {}", formatValue(expected.assume_value()),
                     formatValue(*oracle.value));
}

// states: The same whether an operation is folded by the compiler, run by the evaluator, interpreted or
// compiled, at every optimisation level and on every CPU: results are equal bit for bit.
std::string differenceFromOracle(const Run& run, const Outcome& oracle, const Outcome& other) {
  if (oracle.value) {
    if (other.value && *other.value == *oracle.value) return {};
    return fmt::format("expected {}, found {}", formatValue(*oracle.value, 64),
                       other.value ? formatValue(*other.value, 64) : other.error);
  }
  const std::string found = fmt::format("the evaluator failed with {}; found {}", oracle.error,
                                        other.value ? formatValue(*other.value, 64) : other.error);
  // states: Where the evaluator gives a value, every level gives that value; where it fails, a level fails
  // too, or gives a value if only what does not matter failed.
  const bool matters = run.fails;  // what a program says that fails
  if (other.value) return matters ? found : std::string();
  if (other.code != oracle.code && other.code != ErrorCode::ProgramError) return found;
  if (other.code != ErrorCode::InvalidArgument) return {};
  // Arguments are refused with the same words everywhere; extents in data that are numbers already where
  // the value is made, which knows of no argument.
  const bool namesArgument = oracle.error.find(" bound ") != std::string::npos;
  if (namesArgument && other.error != oracle.error) return found;
  return run.fails ? lacksMessage(run, other) : std::string();
}

}  // namespace baton::run
