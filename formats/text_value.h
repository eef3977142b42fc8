// A value as text and files show it: tensors, tuples, lists and constructors, without types
// beyond those that are written. A program's own types decide what it becomes.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "formats/array.h"

namespace baton {

/// Owns everything inside. Moves only; copying is `clone`. Neither destruction nor copying
/// nor comparison recurses, so a list of any length, nested to its right or not, is safe.
class TextValue {
 public:
  enum class Kind : uint8_t {
    Tensor,
    Tuple,
    List,         ///< `[a, b]`, short for Cons(a, Cons(b, Nil))
    Constructor,  ///< by name, with its fields
  };

  /// The empty tuple.
  TextValue() : content_(Compound{}) {}
  static TextValue tensor(Array data);
  /// A tensor of rank 0, from the 64-bit form of base/dtype.h.
  static TextValue scalar(DType dtype, uint64_t bits);
  static TextValue tuple(std::vector<TextValue> children);
  static TextValue list(std::vector<TextValue> children);
  static TextValue constructor(std::string name, std::vector<TextValue> fields);

  TextValue(TextValue&&) noexcept = default;
  TextValue& operator=(TextValue&&) noexcept;
  ~TextValue();
  TextValue clone() const;

  Kind kind() const;
  bool isTensor() const { return kind() == Kind::Tensor; }
  /// Of a tensor.
  const Array& tensor() const { return std::get<Array>(content_); }
  Array& tensor() { return std::get<Array>(content_); }
  /// Of a constructor; empty for the others.
  const std::string& name() const;
  /// Of everything but a tensor; empty for that.
  std::span<const TextValue> children() const;
  std::vector<TextValue>& mutableChildren() { return std::get<Compound>(content_).children; }

  /// Same structure, names, types and elements; all NaNs are equal.
  friend bool operator==(const TextValue& a, const TextValue& b);

 private:
  struct Compound {
    Kind kind = Kind::Tuple;
    std::string name;
    std::vector<TextValue> children;
  };

  TextValue(Kind kind, std::string name, std::vector<TextValue> children);
  void dismantle() noexcept;

  std::variant<Compound, Array> content_;
};

}  // namespace baton
