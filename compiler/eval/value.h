// Values of the evaluator: tensors, tuples, data, arrays, closures and cells, counted references.
// Letting go of a value never recurses, however long the list that hangs on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/eval/host_tensor.h"
#include "compiler/ir/ir.h"

namespace baton::eval {

struct Object;

/// A reference to an object, or nothing. Not for use by several threads at once.
class Value {
 public:
  Value() = default;
  Value(const Value& other) : object_(other.object_) { retain(); }
  Value(Value&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Value() {
    if (object_ != nullptr) release(object_);
  }

  static Value tensor(HostTensor tensor);
  /// A rank-0 tensor from its 64-bit form.
  static Value scalar(DType dtype, uint64_t bits);
  static Value tuple(std::vector<Value> fields);
  static Value data(ir::ConstructorRef constructor, std::vector<Value> fields);
  static Value cell(Value content);
  static Value array(std::vector<Value> elements);

  explicit operator bool() const { return object_ != nullptr; }
  const Object* object() const { return object_; }
  bool isTensor() const;
  bool isTuple() const;
  bool isData() const;
  bool isFunction() const;
  bool isCell() const;
  bool isArray() const;

  const HostTensor& asTensor() const;        ///< isTensor() only
  bool asBool() const;                       ///< a bool scalar only
  const std::vector<Value>& fields() const;  ///< isTuple() or isData() only
  ir::ConstructorRef constructor() const;    ///< isData() only
  std::span<const Value> elements() const;   ///< isArray() only
  Value withPushed(Value element) const;     ///< isArray() only
  bool growsInPlace() const;                 ///< isArray() only: withPushed copies no elements
  const Value& content() const;              ///< isCell() only
  void setContent(Value content) const;      ///< isCell() only

 private:
  friend class Evaluator;
  friend struct Object;
  explicit Value(Object* fresh) : object_(fresh) {}
  void retain() const;
  static void release(Object* object);
  Object* object_ = nullptr;
};

/// Code that a function value runs: a function of the module, or a local one.
struct CodeId {
  ir::GlobalId function;
  ir::BlockId body;
  friend bool operator==(const CodeId&, const CodeId&) = default;
};

struct Object {
  /// A Buffer holds elements of arrays that grew out of one another: each sees as many as it has.
  enum class Kind : uint8_t { Tensor, Tuple, Data, Closure, Cell, Array, Buffer };
  Kind kind;
  uint32_t references = 1;
  HostTensor tensor;               // Tensor
  ir::ConstructorRef constructor;  // Data
  CodeId code;                     // Closure
  std::vector<Value> fields;  // Tuple, Data, Buffer; Closure: captures; Cell: the content; Array: its buffer
  size_t length = 0;          // Array
  std::vector<std::optional<int64_t>> extents;  // Closure: values of captured symbols, if they have any
};

/// Equal bit for bit; all NaNs of a dtype are equal. Function values are equal when they are
/// one object, cells when their contents are equal.
bool identical(const Value& a, const Value& b);

}  // namespace baton::eval
