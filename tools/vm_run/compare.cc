#include "tools/vm_run/compare.h"

#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/dtype.h"

namespace baton::tools {

namespace {

struct ReleaseValue {
  void operator()(baton_value* value) const { baton_value_release(value); }
};
using OwnedValue = std::unique_ptr<baton_value, ReleaseValue>;

/// The place of a value inside the result: a list of a million cells has one of a million
/// parts, so the text is made only when there is something to say.
struct Place {
  size_t parent;
  size_t field;
};

std::string pathOf(const std::vector<Place>& places, size_t place) {
  std::vector<size_t> fields;
  for (; place != 0; place = places[place].parent) fields.push_back(places[place].field);
  constexpr size_t kShown = 16;
  std::string path = "result";
  const size_t skipped = fields.size() > kShown ? fields.size() - kShown : 0;
  if (skipped != 0) path += fmt::format("...({} levels)", skipped);
  for (size_t i = fields.size() - skipped; i-- > 0;) path += fmt::format(".{}", fields[i]);
  return path;
}

const char* kindName(baton_kind kind) {
  switch (kind) {
    case BATON_TENSOR: return "a tensor";
    case BATON_SCALAR: return "a scalar";
    case BATON_TUPLE: return "a tuple";
    case BATON_ADT: return "a value of a data type";
    case BATON_CLOSURE: return "a function";
    case BATON_REF: return "a ref";
    case BATON_ARRAY: return "an array";
  }
  return "an unknown value";
}

double asDouble(uint64_t bits, DType type) {
  return scalarFromBits<double>(convertScalar(bits, type, DType::F64));
}

std::string elementText(uint64_t bits, DType type) {
  if (isFloat(type)) return fmt::format("{}", asDouble(bits, type));
  if (isSignedInt(type)) return fmt::format("{}", static_cast<int64_t>(bits));
  return fmt::format("{}", bits);
}

bool elementsAgree(uint64_t found, uint64_t expected, DType type, const Tolerance& tolerance) {
  if (found == expected || !isFloat(type)) return found == expected;
  const double a = asDouble(found, type);
  const double b = asDouble(expected, type);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  // Without a tolerance -0 and +0 differ, as bits do.
  if (tolerance.absolute == 0 && tolerance.relative == 0) return false;
  return std::fabs(a - b) <= tolerance.absolute + tolerance.relative * std::fabs(b);
}

std::optional<std::string> tensorDifference(const baton_value* found, const baton_value* expected,
                                            const Tolerance& tolerance) {
  if (baton_value_dtype(found) != baton_value_dtype(expected))
    return fmt::format("found {}, expected {}", baton_dtype_name(baton_value_dtype(found)),
                       baton_dtype_name(baton_value_dtype(expected)));
  const std::vector<int64_t> extents(baton_value_extents(found),
                                     baton_value_extents(found) + baton_value_rank(found));
  const std::vector<int64_t> expectedExtents(baton_value_extents(expected),
                                             baton_value_extents(expected) + baton_value_rank(expected));
  if (extents != expectedExtents)
    return fmt::format("found shape ({}), expected ({})", fmt::join(extents, ", "),
                       fmt::join(expectedExtents, ", "));

  const auto type = static_cast<DType>(baton_value_dtype(found));
  const size_t step = baton_dtype_size(baton_value_dtype(found));
  const size_t count = baton_value_size_bytes(found) / step;
  const auto* a = static_cast<const std::byte*>(baton_value_data(found));
  const auto* b = static_cast<const std::byte*>(baton_value_data(expected));
  size_t differing = 0;
  size_t first = 0;
  for (size_t i = 0; i < count; ++i) {
    if (elementsAgree(loadScalar(a + i * step, type), loadScalar(b + i * step, type), type, tolerance))
      continue;
    if (differing++ == 0) first = i;
  }
  if (differing == 0) return std::nullopt;
  std::vector<int64_t> index(extents.size());
  size_t rest = first;
  for (size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = static_cast<int64_t>(rest % static_cast<size_t>(extents[axis]));
    rest /= static_cast<size_t>(extents[axis]);
  }
  return fmt::format("{} of {} elements differ, first at [{}]: found {}, expected {}", differing, count,
                     fmt::join(index, ", "), elementText(loadScalar(a + first * step, type), type),
                     elementText(loadScalar(b + first * step, type), type));
}

size_t partCount(const baton_value* value) {
  return baton_value_kind(value) == BATON_ARRAY ? baton_value_length(value) : baton_value_field_count(value);
}

/// A field, or an element of an array.
OwnedValue partOf(const baton_value* value, size_t part, std::optional<std::string>& problem) {
  baton_value* out = nullptr;
  if (baton_status* status = baton_value_kind(value) == BATON_ARRAY ? baton_value_element(value, part, &out)
                                                                    : baton_value_field(value, part, &out)) {
    problem = baton_status_message(status);
    baton_status_release(status);
  }
  return OwnedValue(out);
}

}  // namespace

std::optional<std::string> findDifference(const baton_value* found, const baton_value* expected,
                                          const Tolerance& tolerance) {
  struct Pair {
    OwnedValue found;
    OwnedValue expected;
    size_t place;
  };
  auto share = [](const baton_value* value) {
    auto* shared = const_cast<baton_value*>(value);
    baton_value_retain(shared);
    return OwnedValue(shared);
  };
  std::vector<Place> places = {{0, 0}};
  std::vector<Pair> pending;
  pending.push_back({share(found), share(expected), 0});
  while (!pending.empty()) {
    const Pair pair = std::move(pending.back());
    pending.pop_back();
    auto differs = [&](const std::string& what) { return pathOf(places, pair.place) + ": " + what; };

    const baton_kind kind = baton_value_kind(pair.found.get());
    if (kind != baton_value_kind(pair.expected.get()))
      return differs(fmt::format("found {}, expected {}", kindName(kind),
                                 kindName(baton_value_kind(pair.expected.get()))));
    if (kind == BATON_TENSOR || kind == BATON_SCALAR) {
      if (auto difference = tensorDifference(pair.found.get(), pair.expected.get(), tolerance))
        return differs(*difference);
      continue;
    }
    if (kind != BATON_TUPLE && kind != BATON_ADT && kind != BATON_ARRAY)
      return differs(std::string(kindName(kind)) + " cannot be compared");
    if (baton_value_constructor(pair.found.get()) != baton_value_constructor(pair.expected.get()))
      return differs(fmt::format("found {}, expected {}", baton_value_constructor_name(pair.found.get()),
                                 baton_value_constructor_name(pair.expected.get())));
    const size_t parts = partCount(pair.found.get());
    if (parts != partCount(pair.expected.get()))
      return differs(fmt::format("found {} {}, expected {}", parts,
                                 kind == BATON_ARRAY ? "elements" : "fields",
                                 partCount(pair.expected.get())));
    for (size_t i = parts; i-- > 0;) {
      std::optional<std::string> problem;
      OwnedValue a = partOf(pair.found.get(), i, problem);
      OwnedValue b = partOf(pair.expected.get(), i, problem);
      if (problem) return differs(*problem);
      places.push_back({pair.place, i});
      pending.push_back({std::move(a), std::move(b), places.size() - 1});
    }
  }
  return std::nullopt;
}

}  // namespace baton::tools
