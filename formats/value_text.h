// Values as text, for commands and APIs: what is printed can be read back.
//
//   2x3xf32=1 2 3 4 5 6    a tensor; brackets and commas are optional; `f32`, `float32`
//   ?xi64=1 2 3            one extent may follow from the number of elements
//   i64=7                  a scalar
//   2x3xf32=@raw.bin       its bytes from a file; `@x.npy` (with or without a type)
//   (a, b)  (a,)  ()       tuples; (a) is a
//   Cons(a, Nil)           constructors by name
//   [a, b]                 a list
//   @"a file, b.npy"       names with spaces, commas or brackets are quoted
//
// An input may be named, `x=VALUE` or `%x=VALUE`: the left side is a type exactly when it has the form of
// one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/text_value.h"

namespace baton {

/// Gives the bytes of a file that a value names. This library opens none.
using FileReader = std::function<Result<std::vector<std::byte>>(const std::string& name)>;

/// Malformed, with the column (from 1), what was expected and what was found. Without a
/// reader `@name` is an error.
Result<TextValue> parseValue(std::string_view text, const FileReader& files = {});

/// `x=` or `%x=` before a value. There is none when the left side of the first '=' is a type.
struct NamePrefix {
  std::string_view name;  ///< without '%'; empty for none
  size_t valueBegin = 0;
};
NamePrefix namePrefix(std::string_view text);

struct NamedValue {
  std::optional<std::string> name;
  TextValue value;
};
/// `x=VALUE` (or `%x=VALUE`), or `VALUE`.
Result<NamedValue> parseNamedValue(std::string_view text, const FileReader& files = {});

/// The text that parseValue reads as the same value; floats are as short as they can be.
/// Elements of a tensor beyond `elementLimit` (0: none) become "...", for the eye only: such
/// text does not read back.
std::string formatValue(const TextValue& value, size_t elementLimit = 0);

/// Whether `text` is a tensor type as in "2x3xf32"; gives dtype and extents, with -1 for `?`.
struct TensorTypeText {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};
std::optional<TensorTypeText> parseTensorType(std::string_view text);

}  // namespace baton
