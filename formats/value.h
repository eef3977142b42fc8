// A value as text and files show it: tensors, tuples, lists and constructors, without types
// beyond those that are written. A program's own types decide what it becomes.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "formats/tensor_data.h"

namespace baton {

/// Owns everything inside. Moves only; copying is `clone`. Neither destruction nor copying
/// nor comparison recurses, so a list of any length, nested to its right or not, is safe.
class Value {
 public:
  enum class Kind : uint8_t {
    Tensor,
    Tuple,
    List,         ///< `[a, b]`, short for Cons(a, Cons(b, Nil))
    Constructor,  ///< by name, with its fields
  };

  /// The empty tuple.
  Value() : content_(Compound{}) {}
  static Value tensor(TensorData data);
  /// A tensor of rank 0, from the 64-bit form of base/dtype.h.
  static Value scalar(DType dtype, uint64_t bits);
  static Value tuple(std::vector<Value> children);
  static Value list(std::vector<Value> children);
  static Value constructor(std::string name, std::vector<Value> fields);

  Value(Value&&) noexcept = default;
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value clone() const;

  Kind kind() const;
  bool isTensor() const { return kind() == Kind::Tensor; }
  /// Of a tensor.
  const TensorData& tensor() const { return std::get<TensorData>(content_); }
  TensorData& tensor() { return std::get<TensorData>(content_); }
  /// Of a constructor; empty for the others.
  const std::string& name() const;
  /// Of everything but a tensor; empty for that.
  std::span<const Value> children() const;
  std::vector<Value>& mutableChildren() { return std::get<Compound>(content_).children; }

  /// Same structure, names, types and elements; all NaNs are equal.
  friend bool operator==(const Value& a, const Value& b);

 private:
  struct Compound {
    Kind kind = Kind::Tuple;
    std::string name;
    std::vector<Value> children;
  };

  Value(Kind kind, std::string name, std::vector<Value> children);
  void dismantle() noexcept;

  std::variant<Compound, TensorData> content_;
};

/// Same type and elements, all NaNs equal.
bool sameTensor(const TensorData& a, const TensorData& b);

}  // namespace baton
