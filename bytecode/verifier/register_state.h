// What is known of every register of a function at one point of its code. States share
// structure, so that one per block costs what it differs by, and joining two looks only at
// where they differ.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bytecode/isa/encoder.h"

namespace baton::bytecode {

enum class RegisterBank : uint8_t { Scalar = 0, Reference = 1 };

/// A number: one of the constants, or kFirstKind plus the number of a kind.
using RegisterValue = uint32_t;
inline constexpr RegisterValue kUndefined = 0;
inline constexpr RegisterValue kMoved = 1;
inline constexpr RegisterValue kDiffers = 2;  ///< scalars: different kinds on different paths
inline constexpr RegisterValue kInconsistent =
    3;  ///< references: the same, or full on one path and empty on another
inline constexpr RegisterValue kUnknown = 4;  ///< after a violation; anything may be done with it
inline constexpr RegisterValue kFirstKind = 5;

/// Memory of all states of one function: reference-counted nodes, recycled.
class StatePool {
 public:
  static constexpr uint32_t kFanout = 32;  // three levels: 32768 registers
  struct Node {
    uint32_t count = 1;  // references to the node
    union {
      std::array<Node*, kFanout> children;  // null: all undefined
      std::array<RegisterValue, kFanout> values;
    };
    Node() : children{} {}
  };

  Node* allocate();
  void free(Node* node) noexcept;
  /// Nodes in use.
  size_t liveCount() const { return liveCount_; }
  /// Elements looked at by joins so far.
  uint64_t work = 0;

 private:
  size_t nextSlab_ = 8;  // nodes; grows, so that small programs cost little
  size_t nodeCount_ = 0;
  std::vector<std::unique_ptr<Node[]>> slabs_;
  std::vector<Node*> free_;
  size_t liveCount_ = 0;
};

/// Generalises two different kinds of references to one that both are assignable to, or
/// gives kInconsistent.
class KindJoiner {
 public:
  virtual RegisterValue joinReferences(RegisterValue a, RegisterValue b) = 0;

 protected:
  ~KindJoiner() = default;
};

/// A value; copying shares. The pool must outlive it.
class RegisterState {
 public:
  explicit RegisterState(StatePool& pool) : pool_(&pool) {}
  RegisterState(const RegisterState& other);
  RegisterState(RegisterState&& other) noexcept;
  RegisterState& operator=(RegisterState other) noexcept;
  ~RegisterState();

  RegisterValue get(RegisterBank bank, uint32_t index) const;
  void set(RegisterBank bank, uint32_t index, RegisterValue value);

  /// Weakens this state to what holds of both; whether it changed.
  bool joinWith(const RegisterState& other, KindJoiner& joiner);

  /// Reference registers that hold a kind.
  uint32_t heldReferences() const { return held_; }
  /// Reference registers with a value that `predicate` accepts, in order.
  std::vector<uint32_t> findReferences(bool (*predicate)(RegisterValue)) const;
  /// Whether joins have made a register inconsistent since the last call of forgetInconsistent().
  bool hasInconsistent() const { return hasInconsistent_; }
  void forgetInconsistent();

 private:
  using Node = StatePool::Node;
  static constexpr int kLevels = 3;

  void release(Node* node, int level);
  Node* writable(Node*& slot, int level);
  bool join(Node*& into, Node* from, int level, RegisterBank bank, KindJoiner& joiner);
  RegisterValue joinValues(RegisterValue a, RegisterValue b, RegisterBank bank, KindJoiner& joiner);

  StatePool* pool_;
  Node* roots_[2] = {nullptr, nullptr};
  uint32_t held_ = 0;
  bool hasInconsistent_ = false;
};

}  // namespace baton::bytecode
