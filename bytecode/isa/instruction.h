// Opcodes, descriptors and typed views of encoded instructions. Everything below is data
// and accessors; policy (what is legal, what it does) lives with the verifier and the VM.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "bytecode/isa/encoder.h"
#include "bytecode/kind.h"

namespace baton::bytecode {

static_assert(std::endian::native == std::endian::little,
              "code is executed in its on-disk form, which is little-endian");

/// Elements of a list operand. Borrows the code.
template <class T>
class OperandList {
 public:
  OperandList(const uint64_t* words, uint32_t unit, uint32_t count)
      : data_(reinterpret_cast<const unsigned char*>(words) + 2 * unit), count_(count) {}
  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// Where the first element stands in the code.
  const unsigned char* data() const { return data_; }
  T operator[](uint32_t i) const {
    if constexpr (sizeof(T) == 2) {
      uint16_t raw;
      std::memcpy(&raw, data_ + 2 * i, 2);
      return T(raw);
    } else {
      uint32_t raw;
      std::memcpy(&raw, data_ + 4 * i, 4);
      return T(raw);
    }
  }

 private:
  const unsigned char* data_;
  uint32_t count_;
};

/// An instruction in place; borrows the code.
struct InstructionView {
  const uint64_t* words;

  Opcode opcode() const { return Opcode(unit16(0)); }
  uint16_t unit16(uint32_t unit) const {
    // A load of its own: cheaper than a shift of the word, several times per instruction.
    uint16_t value;
    std::memcpy(&value, reinterpret_cast<const unsigned char*>(words) + 2 * unit, sizeof value);
    return value;
  }
  uint32_t unit32(uint32_t unit) const { return static_cast<uint32_t>(words[unit / 4] >> (16 * (unit % 4))); }
  uint64_t unit64(uint32_t unit) const { return words[unit / 4]; }
  static constexpr uint32_t alignUnit2(uint32_t unit) { return (unit + 1) & ~1u; }
};

#include "bytecode/isa/generated/instrs.inc"

/// Encoding and role of an operand; the records of isa.td in the same order.
enum class OperandKind : uint8_t {
  SUse,
  SDef,
  RUse,
  ROwn,
  RDef,
  SUseList,
  SDefList,
  RUseList,
  ROwnList,
  RDefList,
  DTypeImm,
  SmallImm,
  FunctionRef,
  KernelRef,
  ConstantRef,
  TypeRef,
  KindRef,
  MessageRef,
  Target,
  TargetList,
  Imm64,
};

constexpr bool isList(OperandKind kind) {
  return (kind >= OperandKind::SUseList && kind <= OperandKind::RDefList) || kind == OperandKind::TargetList;
}
constexpr bool isScalarOperand(OperandKind kind) {
  return kind == OperandKind::SUse || kind == OperandKind::SDef || kind == OperandKind::SUseList ||
         kind == OperandKind::SDefList;
}
constexpr bool isReferenceOperand(OperandKind kind) {
  return (kind >= OperandKind::RUse && kind <= OperandKind::RDef) ||
         (kind >= OperandKind::RUseList && kind <= OperandKind::RDefList);
}
constexpr bool isDef(OperandKind kind) {
  return kind == OperandKind::SDef || kind == OperandKind::RDef || kind == OperandKind::SDefList ||
         kind == OperandKind::RDefList;
}
constexpr bool isOwned(OperandKind kind) {
  return kind == OperandKind::ROwn || kind == OperandKind::ROwnList;
}
/// Units of one element: 1, 2 or 4.
constexpr uint32_t elementUnits(OperandKind kind) {
  if (kind <= OperandKind::SmallImm) return 1;  // register operands and lists of them come first
  return kind == OperandKind::Imm64 ? 4 : 2;
}

struct OperandDesc {
  std::string_view name;
  OperandKind kind;
  uint8_t unit;         ///< where it, or the count of a list, stands
  std::string_view of;  ///< a scalar dtype, a class of references, or "any"
};

inline constexpr uint8_t kEffectTerminator = 1;
inline constexpr uint8_t kEffectMayFail = 2;
inline constexpr uint8_t kEffectAllocates = 4;
inline constexpr uint8_t kEffectCalls = 8;
inline constexpr uint8_t kEffectWrites = 16;

struct InstructionDesc {
  Opcode opcode;
  std::string_view mnemonic;
  std::span<const OperandDesc> operands;
  uint8_t fixedUnits;
  uint8_t effects;
  bool hasVerifyHook;
  uint16_t since;

  bool isTerminator() const { return effects & kEffectTerminator; }
};

/// All descriptors, in order of opcode.
std::span<const InstructionDesc> allInstructionDescs();
/// Null for a number that is no instruction.
const InstructionDesc* findInstructionDesc(uint16_t opcode);
const InstructionDesc* findInstructionDesc(std::string_view mnemonic);

/// Words of the instruction at `code`, of which `available` words exist; nothing when the
/// opcode is unknown or the instruction reaches beyond them.
std::optional<uint32_t> instructionWordCount(std::span<const uint64_t> code);

}  // namespace baton::bytecode
