#include "formats/safetensors.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/checked_math.h"

namespace baton {

namespace {

constexpr size_t kPrefixBytes = 8;
/// What the format allows.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName kTypeNames[] = {
    {"BOOL", DType::Bool}, {"I8", DType::I8},   {"I16", DType::I16}, {"I32", DType::I32}, {"I64", DType::I64},
    {"U8", DType::U8},     {"U16", DType::U16}, {"U32", DType::U32}, {"U64", DType::U64}, {"F16", DType::F16},
    {"BF16", DType::BF16}, {"F32", DType::F32}, {"F64", DType::F64}};

/// A tensor as the header describes it.
struct Entry {
  std::string name;
  std::optional<std::string> type;
  std::optional<std::vector<uint64_t>> shape;
  std::optional<std::vector<uint64_t>> offsets;
};

/// Takes the header's events in order. Nothing nests deeper than the format says, so that no
/// header, however deep, costs more than its bytes.
class HeaderReader {
 public:
  using Number = nlohmann::json::number_integer_t;
  using Unsigned = nlohmann::json::number_unsigned_t;
  using Float = nlohmann::json::number_float_t;

  const std::string& error() const { return error_; }
  std::vector<Entry>& entries() { return entries_; }

  bool start_object(size_t) {
    switch (place_) {
      case Place::Start: return enter(Place::Header);
      case Place::Tensor: return enter(Place::Field);
      case Place::Metadata: return enter(Place::MetadataKey);
      default: return wrong("an object");
    }
  }
  bool key(std::string& text) {
    switch (place_) {
      case Place::Header:
        if (!names_.insert(text).second) return fail(fmt::format("\"{}\" occurs twice", text));
        if (text == "__metadata__") return enter(Place::Metadata);
        entries_.push_back({.name = text, .type = {}, .shape = {}, .offsets = {}});
        return enter(Place::Tensor);
      case Place::MetadataKey: return enter(Place::MetadataText);
      case Place::Field:
        if (text == "dtype" && !entries_.back().type) return enter(Place::Type);
        if (text == "shape" && !entries_.back().shape) return enter(Place::Shape);
        if (text == "data_offsets" && !entries_.back().offsets) return enter(Place::Offsets);
        return fail(fmt::format("found key \"{}\", expected dtype, shape and data_offsets once each", text));
      default: return wrong("a key");
    }
  }
  bool end_object() {
    switch (place_) {
      case Place::Header: return enter(Place::End);
      case Place::MetadataKey: return enter(Place::Header);
      case Place::Field: {
        const Entry& entry = entries_.back();
        if (!entry.type || !entry.shape || !entry.offsets)
          return fail("expected the keys dtype, shape and data_offsets");
        return enter(Place::Header);
      }
      default: return wrong("the end of an object");
    }
  }
  bool start_array(size_t) {
    if (place_ == Place::Shape) {
      entries_.back().shape.emplace();
      return enter(Place::Extent);
    }
    if (place_ == Place::Offsets) {
      entries_.back().offsets.emplace();
      return enter(Place::Offset);
    }
    return wrong("an array");
  }
  bool end_array() { return enter(Place::Field); }
  bool string(std::string& text) {
    if (place_ == Place::MetadataText) return enter(Place::MetadataKey);
    if (place_ != Place::Type) return wrong("a string");
    entries_.back().type = text;
    return enter(Place::Field);
  }
  bool number_unsigned(Unsigned number) {
    if (place_ == Place::Extent) {
      if (entries_.back().shape->size() >= kMaxArrayRank)
        return fail(fmt::format("more than {} dimensions", kMaxArrayRank));
      entries_.back().shape->push_back(number);
      return true;
    }
    if (place_ == Place::Offset) {
      if (entries_.back().offsets->size() >= 2) return fail("more than two data_offsets");
      entries_.back().offsets->push_back(number);
      return true;
    }
    return wrong("a number");
  }
  bool number_integer(Number number) { return wrong(fmt::format("{}", number)); }
  bool number_float(Float, const std::string& text) { return wrong(text); }
  bool null() { return wrong("null"); }
  bool boolean(bool value) { return wrong(value ? "true" : "false"); }
  bool binary(nlohmann::json::binary_t&) { return wrong("binary data"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    if (error_.empty()) error_ = fmt::format("the header is no JSON: error at character {}", position);
    return false;
  }

 private:
  enum class Place : uint8_t {
    Start,
    Header,        // at a key of the outermost object
    Metadata,      // at its object
    MetadataKey,   // in it
    MetadataText,  // at a value in it
    Tensor,        // at a tensor's object
    Field,         // in it, at a key
    Type,
    Shape,
    Extent,  // in the array
    Offsets,
    Offset,
    End
  };

  static const char* expectedAt(Place place) {
    switch (place) {
      case Place::Start: return "an object";
      case Place::Header: return "the name of a tensor";
      case Place::Metadata:
      case Place::Tensor: return "an object";
      case Place::MetadataKey:
      case Place::Field: return "a key";
      case Place::MetadataText: return "a string";
      case Place::Type: return "the name of an element type";
      case Place::Shape:
      case Place::Offsets: return "an array";
      case Place::Extent: return "an extent";
      case Place::Offset: return "an offset";
      case Place::End: return "nothing";
    }
    return "";
  }

  bool enter(Place place) {
    place_ = place;
    return true;
  }
  bool wrong(const std::string& found) {
    return fail(fmt::format("found {}, expected {}", found, expectedAt(place_)));
  }
  bool fail(const std::string& what) {
    const bool isInTensor = place_ >= Place::Tensor && place_ < Place::End;
    const bool isInMetadata = place_ >= Place::Metadata && place_ <= Place::MetadataText;
    error_ = isInTensor     ? fmt::format("tensor \"{}\": {}", entries_.back().name, what)
             : isInMetadata ? "__metadata__: " + what
                            : "header: " + what;
    return false;
  }

  Place place_ = Place::Start;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_;
  std::string error_;
};

Error malformed(const std::string& what) { return Error(ErrorCode::Malformed, "safetensors: " + what); }

uint64_t headerBytes(std::span<const std::byte> file) {
  uint64_t size = 0;
  for (size_t i = 0; i < kPrefixBytes; ++i) size |= static_cast<uint64_t>(file[i]) << (8 * i);
  return size;
}

/// The bytes of one tensor, and whether they are what its type says.
Result<NamedArrayView> viewOf(Entry& entry, std::span<const std::byte> data) {
  const auto wrong = [&](const std::string& what) {
    return malformed(fmt::format("tensor \"{}\": {}", entry.name, what));
  };
  const auto* type = std::ranges::find(kTypeNames, *entry.type, &TypeName::name);
  if (type == std::end(kTypeNames))
    return Error(ErrorCode::Unsupported,
                 fmt::format("safetensors: tensor \"{}\": element type \"{}\" is not supported", entry.name,
                             *entry.type));
  if (entry.offsets->size() != 2) return wrong("expected two data_offsets");
  const auto [begin, end] = std::pair((*entry.offsets)[0], (*entry.offsets)[1]);
  if (begin > end || end > data.size())
    return wrong(fmt::format("found bytes {} to {}, expected a part of the {} bytes of data", begin, end,
                             data.size()));
  NamedArrayView view{std::move(entry.name), type->dtype, {}, data.subspan(begin, end - begin)};
  for (const uint64_t extent : *entry.shape) {
    if (extent > INT64_MAX)
      return malformed(fmt::format("tensor \"{}\": extent {} is too large", view.name, extent));
    view.shape.push_back(static_cast<int64_t>(extent));
  }
  const auto count = checkedElementCount(view.shape);
  const auto size = count ? checkedMul<int64_t>(*count, sizeBytes(view.dtype)) : std::nullopt;
  if (!size || static_cast<uint64_t>(*size) != view.bytes.size())
    return malformed(fmt::format("tensor \"{}\": found {} bytes, expected {} for shape ({}) of {}", view.name,
                                 view.bytes.size(), size ? std::to_string(*size) : "2^63 or more",
                                 fmt::join(view.shape, ", "), dtypeName(view.dtype)));
  if (view.dtype == DType::Bool &&
      std::ranges::any_of(view.bytes, [](std::byte byte) { return byte > std::byte{1}; }))
    return malformed(
        fmt::format("tensor \"{}\": found a byte that is neither 0 nor 1 in a BOOL tensor", view.name));
  return view;
}

/// Every byte of the data belongs to one tensor, and to one only.
Result<void> checkCover(std::span<const NamedArrayView> views, std::span<const std::byte> data) {
  size_t covered = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    const auto begin = static_cast<size_t>(views[i].bytes.data() - data.data());
    if (begin < covered)
      return malformed(fmt::format("tensor \"{}\" begins at byte {}, before tensor \"{}\" ends at {}",
                                   views[i].name, begin, views[i - 1].name, covered));
    if (begin > covered)
      return malformed(
          fmt::format("tensor \"{}\" begins at byte {}, expected {}: no bytes lie between tensors",
                      views[i].name, begin, covered));
    covered = begin + views[i].bytes.size();
  }
  if (covered != data.size())
    return malformed(fmt::format("the tensors have {} bytes, found {}", covered, data.size()));
  return success();
}

}  // namespace

bool looksLikeSafetensors(std::span<const std::byte> file) {
  return file.size() > kPrefixBytes && headerBytes(file) <= kMaxHeaderBytes &&
         file[kPrefixBytes] == std::byte{'{'};
}

Result<std::vector<NamedArrayView>> readSafetensors(std::span<const std::byte> file) {
  if (file.size() < kPrefixBytes)
    return malformed(fmt::format("found {} bytes, expected at least {}", file.size(), kPrefixBytes));
  const uint64_t size = headerBytes(file);
  if (size > kMaxHeaderBytes)
    return malformed(fmt::format("the header claims {} bytes; the format allows {}", size, kMaxHeaderBytes));
  if (size > file.size() - kPrefixBytes)
    return malformed(fmt::format("the file ends inside the header: found {} bytes, expected {}",
                                 file.size() - kPrefixBytes, size));
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + kPrefixBytes, size);
  const std::span<const std::byte> data = file.subspan(kPrefixBytes + size);
  if (!header.starts_with('{')) return malformed("the header does not begin with {");

  HeaderReader reader;
  if (!nlohmann::json::sax_parse(header, &reader)) return malformed(reader.error());
  std::vector<NamedArrayView> views;
  for (Entry& entry : reader.entries()) {
    BATON_TRY_ASSIGN(NamedArrayView view, viewOf(entry, data));
    views.push_back(std::move(view));
  }
  // Tensors without elements lie before the one that begins where they do.
  std::ranges::stable_sort(views, {}, [](const NamedArrayView& view) {
    return std::pair(view.bytes.data(), view.bytes.data() + view.bytes.size());
  });
  BATON_TRY(checkCover(views, data));
  return views;
}

}  // namespace baton
