// Low-level form: each function is a control-flow graph of instructions over virtual
// registers of two banks. An instruction is one of the bytecode's, with virtual registers
// and block numbers in its operands, so everything generic (printer, parser, def and use,
// encoder) is written once over the descriptors of the instruction set.
//
// Before register allocation a function is in SSA form: each register is defined once, by
// an instruction or as a parameter of a block. Only `jump` passes arguments to the block
// it goes to; the blocks that a branch or switch goes to have no parameters and no other
// predecessor, so no edge needs splitting. The parameters of block 0 are the function's.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/source_location.h"
#include "base/strong_index.h"
#include "bytecode/isa/instruction.h"
#include "bytecode/kind.h"
#include "bytecode/program.h"
#include "kernels/loop/kernel.h"
#include "kernels/schedule/schedule.h"

namespace baton::lir {

using bytecode::ConstantIndex;
using bytecode::FunctionIndex;
using bytecode::KernelIndex;
using bytecode::Kind;
using bytecode::KindIndex;
using bytecode::MessageIndex;
using bytecode::Opcode;
using bytecode::OperandKind;
using bytecode::SignatureIndex;
using bytecode::TypeIndex;

struct RegisterTag;
struct BlockTag;
struct NameTag;
using Register = StrongIndex<RegisterTag>;  ///< virtual, both banks; into Function::registers
using BlockId = StrongIndex<BlockTag>;      ///< into Function::blocks
using NameId = StrongIndex<NameTag>;        ///< into Module::names; 0 is the empty name

inline constexpr Register kNoRegister{UINT32_MAX};
inline constexpr BlockId kNoBlock{UINT32_MAX};
inline constexpr BlockId kEntryBlock{0};

enum class Bank : uint8_t { Scalar = 0, Reference = 1 };
inline constexpr int kBankCount = 2;

struct RegisterInfo {
  Kind kind;
  Bank bank() const { return kind.isScalar() ? Bank::Scalar : Bank::Reference; }
};

/// A register operand as it stands in a slot.
struct RegisterOperand {
  Register reg;
  bool isLastUse = false;

  static constexpr uint64_t kLastUse = uint64_t{1} << 32;
  static RegisterOperand fromSlot(uint64_t slot) {
    return {Register(static_cast<uint32_t>(slot)), (slot & kLastUse) != 0};
  }
  uint64_t slot() const { return reg.value() | (isLastUse ? kLastUse : 0); }
};

/// Operands are slots of the function: first one per operand of the descriptor (a list has
/// its count there), then the elements of all lists in declared order. `jump` has one list
/// more than its descriptor, the arguments. See operands.h.
struct Instruction {
  Opcode opcode = Opcode::Jump;
  uint32_t firstSlot = 0;  ///< into Function::slots
  SourceLocation location;
  NameId name;  ///< the operator or variable that it comes from
};

struct Block {
  std::vector<Register> params;
  std::vector<Instruction> instructions;  ///< the last is a terminator, and no other
};

struct Function {
  std::string name;  ///< without the "@"; unique
  SignatureIndex signature;
  bool isClosure = false;      ///< its first parameter is the closure itself
  std::vector<Kind> captures;  ///< of a closure: references first, then scalars
  std::vector<RegisterInfo> registers;
  std::vector<Block> blocks;  ///< in the order in which they are laid out
  std::vector<uint64_t> slots;

  /// After register allocation: the register of the bank that each virtual one lives in.
  std::vector<uint16_t> assignment;
  uint32_t registerCount[kBankCount] = {0, 0};
  bool isAllocated = false;

  Block& block(BlockId id) { return blocks[id.value()]; }
  const Block& block(BlockId id) const { return blocks[id.value()]; }
  const Kind& kindOf(Register reg) const { return registers[reg.value()].kind; }
  Bank bankOf(Register reg) const { return registers[reg.value()].bank(); }
  Register addRegister(Kind kind) {
    registers.push_back({kind});
    return Register(static_cast<uint32_t>(registers.size() - 1));
  }
  BlockId addBlock() {
    blocks.emplace_back();
    return BlockId(static_cast<uint32_t>(blocks.size() - 1));
  }
};

/// What was lowered, before the loops were scheduled, and the schedules that made bodies of it.
struct UnscheduledKernel {
  loop::Kernel kernel;
  schedule::Schedule schedule;
  std::optional<schedule::Schedule> narrowSchedule;  ///< of the body in Module::narrowKernels
};

/// The program on its way out. `tables` is everything of the executable but its code:
/// kinds, types, signatures, entry points, messages, constants, kernel descriptors, meta.
struct Module {
  bytecode::Program tables;
  std::vector<Function> functions;    ///< by FunctionIndex
  std::vector<loop::Kernel> kernels;  ///< by KernelIndex; the bodies of tables.kernels
  /// Other bodies of some of them, for CPUs of few and short vector registers.
  std::map<uint32_t, loop::Kernel> narrowKernels;
  std::map<uint32_t, UnscheduledKernel> unscheduled;  ///< of all but kernels of the library
  std::vector<std::string> names = {""};
  std::vector<std::string> files;       ///< by SourceLocation::file
  std::vector<InlineSite> inlineSites;  ///< by SourceLocation::inlinedAt - 1

  Function& function(FunctionIndex index) { return functions[index.value()]; }
  const Function& function(FunctionIndex index) const { return functions[index.value()]; }
};

}  // namespace baton::lir
