// Encoder: writes instructions unit by unit; labels become offsets when they are bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "bytecode/kind.h"

namespace baton::bytecode {

enum class Opcode : uint16_t {
#define BATON_INSTRUCTION(name, number) name = number,
#include "bytecode/isa/generated/opcodes.inc"
};

/// A register operand of one bank: 15 bits of register, and whether this is its last use.
template <class Bank>
struct RegisterOperand {
  uint16_t raw = 0;
  constexpr RegisterOperand() = default;
  constexpr explicit RegisterOperand(uint16_t rawUnit) : raw(rawUnit) {}
  static constexpr RegisterOperand of(uint16_t index, bool lastUse = false) {
    return RegisterOperand(static_cast<uint16_t>(index | (lastUse ? 0x8000 : 0)));
  }
  constexpr uint16_t index() const { return raw & 0x7fff; }
  constexpr bool isLastUse() const { return raw & 0x8000; }
  friend constexpr bool operator==(RegisterOperand, RegisterOperand) = default;
};
using ScalarOperand = RegisterOperand<struct ScalarBank>;
using ReferenceOperand = RegisterOperand<struct ReferenceBank>;
inline constexpr uint32_t kMaxRegisters = 1u << 15;

struct CodeOffsetTag;
/// Word offset of a block inside its function.
using CodeOffset = StrongIndex<CodeOffsetTag>;
struct LabelTag;
/// A block whose offset may not be known yet.
using Label = StrongIndex<LabelTag>;

class Encoder {
 public:
  Label newLabel();
  /// Binds the label to the next instruction.
  void bind(Label label);
  /// Word offset of the next instruction.
  uint32_t offset() const { return static_cast<uint32_t>(words_.size()); }
  /// Appends a word as it is, instruction or not.
  void word(uint64_t word) {
    words_.push_back(word);
    end();
  }
  /// The finished code, targets resolved; every label used must be bound (checked).
  std::vector<uint64_t> finish();

  // For the generated encode() functions: begin, the fixed operands, the lists, end.
  void begin(Opcode opcode);
  template <class Bank>
  void fixed(RegisterOperand<Bank> operand) {
    put16(operand.raw);
  }
  void fixed(DType dtype) { put16(static_cast<uint16_t>(dtype)); }
  void fixed(uint16_t value) { put16(value); }
  void fixed(uint64_t value) { put64(value); }
  void fixed(Label label);
  template <class Tag>
  void fixed(StrongIndex<Tag> index) {
    put32(index.value());
  }
  template <class T>
  void count(std::span<const T> list) {
    putCount(list.size());
  }
  template <class Bank>
  void elements(std::span<const RegisterOperand<Bank>> list) {
    for (RegisterOperand<Bank> operand : list) put16(operand.raw);
  }
  void elements(std::span<const Label> list) {
    for (Label label : list) fixed(label);
  }
  void end();

 private:
  struct Fixup {
    uint32_t unit;
    Label label;
  };
  void put16(uint16_t value);
  void put32(uint32_t value);
  void put64(uint64_t value);
  void putCount(size_t count);
  void align(uint32_t units);

  std::vector<uint64_t> words_;
  uint32_t unit_ = 0;  // next unit of the instruction being written, from the start of words_
  std::vector<uint32_t> labelOffsets_;
  std::vector<Fixup> fixups_;
};

}  // namespace baton::bytecode
