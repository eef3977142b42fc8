// What an instruction's hook sees: the kinds of its operands, and a way to give kinds to its
// results. Operands are already known to be in range, defined and not moved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bytecode/isa/instruction.h"
#include "bytecode/program.h"
#include "bytecode/verifier/reporter.h"
#include "bytecode/verifier/shared_tables.h"

namespace baton::bytecode {

class Typing {
 public:
  /// Without a reporter violations are not reported.
  Typing(const Program& program, FunctionIndex function, SharedTables& tables, Reporter* reporter)
      : program(program),
        function(program.functions[function.value()]),
        tables(tables),
        functionIndex_(function),
        reporter_(reporter) {}

  const Program& program;
  const Function& function;
  SharedTables& tables;

  /// The kind that the register has before the instruction; nothing after a violation, which
  /// has been reported: the hook then leaves what depends on it alone.
  std::optional<Kind> kindOf(ScalarOperand operand) const {
    return kindAt(RegisterBank::Scalar, operand.index());
  }
  std::optional<Kind> kindOf(ReferenceOperand operand) const {
    return kindAt(RegisterBank::Reference, operand.index());
  }
  /// The same, with a violation of operand-kind unless it has this tag.
  std::optional<Kind> expect(ReferenceOperand operand, KindTagValue tag, const char* what);

  /// Gives a result its kind. Results that got none are unknown.
  void define(ScalarOperand operand, const Kind& kind) {
    pending_.push_back({RegisterBank::Scalar, operand.index(), kind});
  }
  void define(ReferenceOperand operand, const Kind& kind) {
    pending_.push_back({RegisterBank::Reference, operand.index(), kind});
  }

  /// Reports; `message` is a function, called only when it will be read.
  template <class F>
  void fail(Rule rule, F&& message) {
    if (reporter_ && !reporter_->isFull()) reporter_->report(rule, message(), functionIndex_, pc_);
  }

  /// The operands must be of these kinds, in order.
  template <class Operand>
  void checkList(Rule rule, const std::vector<Kind>& expected, OperandList<Operand> found, const char* what);
  /// Results get these kinds, in order.
  template <class Operand>
  void defineList(Rule rule, const std::vector<Kind>& kinds, OperandList<Operand> results);
  /// One operand.
  template <class Operand>
  bool check(Rule rule, const Kind& expected, Operand operand, const std::string& what);

  std::string text(const Kind& kind) const;

  // -- For the flow analysis ----------------------------------------------------------------
  struct Pending {
    RegisterBank bank;
    uint32_t index;
    Kind kind;
  };
  RegisterValue valueAt(RegisterBank bank, uint32_t index) const { return state_->get(bank, index); }
  void begin(const RegisterState& state, uint32_t pc) {
    state_ = &state;
    pc_ = pc;
    pending_.clear();
  }
  const std::vector<Pending>& pending() const { return pending_; }

 private:
  std::optional<Kind> kindAt(RegisterBank bank, uint32_t index) const {
    const RegisterValue value = state_->get(bank, index);
    if (value < kFirstKind) return std::nullopt;
    return tables.kinds.kindOf(value);
  }

  FunctionIndex functionIndex_;
  Reporter* reporter_;
  const RegisterState* state_ = nullptr;
  uint32_t pc_ = 0;
  std::vector<Pending> pending_;
};

// One overload per instruction; those whose record asks for a hook are defined in hooks_*.cc,
// and a missing one fails to link.
#define BATON_INSTRUCTION(name, number) void verifyInstruction(name view, Typing& typing);
#include "bytecode/isa/generated/opcodes.inc"

/// Calls the hook of the instruction, if it has one.
void verifyKinds(const InstructionDesc& desc, InstructionView view, Typing& typing);

}  // namespace baton::bytecode
