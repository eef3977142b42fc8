#include "bytecode/verifier/flow.h"

#include <array>
#include <set>

#include <fmt/format.h>

#include "bytecode/verifier/operand_rules.h"
#include "bytecode/verifier/register_state.h"
#include "bytecode/verifier/typing.h"

namespace baton::bytecode {

namespace {

// Limits against code made to be slow to check: real functions need two or three passes and
// states that share nearly everything.
constexpr uint64_t kWorkPerWord = 1024;
constexpr uint64_t kWorkFloor = uint64_t{1} << 16;
constexpr size_t kMaxStateNodes = size_t{1} << 19;

const char* tagName(KindTagValue tag) {
  switch (tag) {
    case KindTagValue::Scalar: return "a scalar";
    case KindTagValue::Tensor: return "a tensor";
    case KindTagValue::Adt: return "a value of a data type";
    case KindTagValue::Closure: return "a closure";
    case KindTagValue::Cell: return "a cell";
    case KindTagValue::Array: return "an array";
    case KindTagValue::Storage: return "a storage";
  }
  return "?";
}

class FlowCheck {
 public:
  FlowCheck(const Program& program, FunctionIndex index, const FunctionStructure& structure,
            SharedTables& tables, Reporter& reporter)
      : program_(program),
        index_(index),
        function_(program.functions[index.value()]),
        code_(std::span(program.code).subspan(function_.codeOffset, function_.codeSize)),
        blocks_(structure.blocks),
        tables_(tables),
        reporter_(reporter),
        in_(structure.blocks.size()) {}

  void run() {
    tables_.work = tables_.pool.work = 0;
    if (!findFixpoint())
      return reporter_.report(
          Rule::Complexity, "the flow of values needs more steps or memory than the verifier allows", index_);
    Typing typing(program_, index_, tables_, &reporter_);
    for (uint32_t b = 0; b < blocks_.size() && !reporter_.isFull(); ++b) {
      if (!in_[b]) continue;  // cannot be reached
      if (in_[b]->hasInconsistent()) reportJoin(b);
      (void)leave(b, typing);
    }
  }

 private:
  void reportJoin(uint32_t b) {
    for (uint32_t r : in_[b]->findReferences([](RegisterValue value) { return value == kInconsistent; }))
      reporter_.report(
          Rule::Join,
          fmt::format("r{} does not hold the same on every path to here: the same kind, or nothing", r),
          index_, blocks_[b].begin);
  }

  RegisterState entryState() {
    RegisterState state(tables_.pool);
    uint32_t next[2] = {0, 0};
    if (function_.isClosure)
      state.set(RegisterBank::Reference, next[1]++,
                tables_.kinds.valueOf(Kind::closure(function_.signature, index_)));
    for (const Kind& kind : program_.signatures[function_.signature.value()].params)
      state.set(kind.isScalar() ? RegisterBank::Scalar : RegisterBank::Reference,
                next[kind.isScalar() ? 0 : 1]++, tables_.kinds.valueOf(kind));
    return state;
  }

  /// Position of each block in reverse postorder, and the blocks in that order.
  void order() {
    std::vector<uint32_t> postorder;
    std::vector<bool> isSeen(blocks_.size(), false);
    std::vector<std::pair<uint32_t, size_t>> stack{{0, 0}};
    isSeen[0] = true;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      if (next == blocks_[block].successors.size()) {
        postorder.push_back(block);
        stack.pop_back();
        continue;
      }
      const uint32_t successor = blocks_[block].successors[next++];
      if (isSeen[successor]) continue;
      isSeen[successor] = true;
      stack.emplace_back(successor, 0);
    }
    sequence_.assign(postorder.rbegin(), postorder.rend());
    rank_.assign(blocks_.size(), 0);
    for (uint32_t i = 0; i < sequence_.size(); ++i) rank_[sequence_[i]] = i;
  }

  bool findFixpoint() {
    order();
    const uint64_t workLimit = kWorkFloor + kWorkPerWord * code_.size();
    Typing typing(program_, index_, tables_, nullptr);
    in_[0] = entryState();
    std::set<uint32_t> pending{rank_[0]};
    while (!pending.empty()) {
      const uint32_t block = sequence_[*pending.begin()];
      pending.erase(pending.begin());
      const RegisterState out = leave(block, typing);
      for (uint32_t successor : blocks_[block].successors) {
        ++tables_.work;
        if (!in_[successor])
          in_[successor] = out;
        else if (!in_[successor]->joinWith(out, tables_.kinds))
          continue;
        pending.insert(rank_[successor]);
        if (tables_.work + tables_.pool.work > workLimit || tables_.pool.liveCount() > kMaxStateNodes)
          return false;
      }
    }
    return true;
  }

  /// The state at the end of a block.
  RegisterState leave(uint32_t block, Typing& typing) {
    RegisterState state = *in_[block];
    if (state.hasInconsistent()) state.forgetInconsistent();  // reported at the block's start
    for (uint32_t pc = blocks_[block].begin; pc < blocks_[block].end;) {
      const InstructionView view{code_.data() + pc};
      const InstructionDesc& desc = *findInstructionDesc(view.unit16(0));
      const uint32_t words = *instructionWordCount(code_.subspan(pc));
      typing.begin(state, pc);
      step(desc, view, state, typing);
      tables_.work += words;
      pc += words;
    }
    return state;
  }

  void step(const InstructionDesc& desc, InstructionView view, RegisterState& state, Typing& typing) {
    tables_.stamps.next();
    const std::vector<OperandRule>& rules = operandRulesOf(desc);
    size_t rule = 0;
    forEachOperand(desc, view, [&](const OperandDesc& operand, uint32_t unit, uint32_t count) {
      const OperandRule& wanted = rules[rule++];
      if (isDef(operand.kind) || !isRegister(operand.kind)) return;
      for (uint32_t i = 0; i < count; ++i) read(operand, wanted, view.unit16(unit + i), typing);
    });
    verifyKinds(desc, view, typing);

    // What is marked as last use is empty afterwards.
    forEachOperand(desc, view, [&](const OperandDesc& operand, uint32_t unit, uint32_t count) {
      if (isDef(operand.kind) || !isRegister(operand.kind)) return;
      for (uint32_t i = 0; i < count; ++i)
        if (const uint16_t raw = view.unit16(unit + i); raw & 0x8000)
          state.set(bankOf(operand), raw & 0x7fff, kMoved);
    });
    writeResults(desc, view, rules, state, typing);
    if ((desc.effects & kEffectCalls) && desc.isTerminator() && state.heldReferences() > 0)
      typing.fail(Rule::Leak, [&] {
        const auto held = state.findReferences([](RegisterValue value) { return value >= kFirstKind; });
        return fmt::format(
            "r{} still holds a value when the function is left: its last use must be marked, or it "
            "must be dropped",
            held[0]);
      });
  }

  static bool isRegister(OperandKind kind) { return isScalarOperand(kind) || isReferenceOperand(kind); }
  static RegisterBank bankOf(const OperandDesc& operand) {
    return isScalarOperand(operand.kind) ? RegisterBank::Scalar : RegisterBank::Reference;
  }
  static char letterOf(RegisterBank bank) { return bank == RegisterBank::Scalar ? 's' : 'r'; }

  /// One operand that is read: defined, not moved, of the kind that the record says.
  void read(const OperandDesc& operand, const OperandRule& wanted, uint16_t raw, Typing& typing) {
    const RegisterBank bank = bankOf(operand);
    const uint32_t number = raw & 0x7fff;
    const char letter = letterOf(bank);
    const bool wasMovedHere = tables_.stamps.isMarked(bank, number);
    if (raw & 0x8000) tables_.stamps.mark(bank, number);
    if (wasMovedHere)
      return typing.fail(Rule::UseAfterMove, [&] {
        return fmt::format("{}{} is read after an operand of the same instruction was its last use", letter,
                           number);
      });
    const RegisterValue value = typing.valueAt(bank, number);
    if (value == kUnknown) return;
    if (value == kMoved)
      return typing.fail(Rule::UseAfterMove,
                         [&] { return fmt::format("{}{} is read after its last use", letter, number); });
    if (value == kUndefined)
      return typing.fail(Rule::UseUndefined, [&] {
        return fmt::format("{}{} is not defined on every path to here", letter, number);
      });
    if (value == kDiffers)
      return typing.fail(Rule::UseUndefined, [&] {
        return fmt::format("{}{} has different kinds on different paths to here", letter, number);
      });
    if (wanted.want == OperandRule::Want::Any) return;
    const Kind& kind = tables_.kinds.kindOf(value);
    const bool isGood = wanted.want == OperandRule::Want::Scalar ? kind == Kind::scalar(wanted.dtype)
                                                                 : kind.tag == wanted.tag;
    if (!isGood)
      typing.fail(Rule::OperandKindRule, [&] {
        return fmt::format("{} {}{} is {}: expected {}", operand.name, letter, number, typing.text(kind),
                           wanted.want == OperandRule::Want::Scalar
                               ? std::string(dtypeShortName(wanted.dtype))
                               : tagName(wanted.tag));
      });
  }

  void writeResults(const InstructionDesc& desc, InstructionView view, const std::vector<OperandRule>& rules,
                    RegisterState& state, Typing& typing) {
    tables_.stamps.next();
    for (const Typing::Pending& result : typing.pending())
      write(result.bank, result.index, tables_.kinds.valueOf(result.kind), state, typing);
    size_t rule = 0;
    forEachOperand(desc, view, [&](const OperandDesc& operand, uint32_t unit, uint32_t count) {
      const OperandRule& wanted = rules[rule++];
      if (!isDef(operand.kind)) return;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = view.unit16(unit + i) & 0x7fff;
        if (tables_.stamps.isMarked(bankOf(operand), number)) continue;  // the hook gave it a kind
        const bool isKnown = wanted.want == OperandRule::Want::Scalar;
        write(bankOf(operand), number, isKnown ? tables_.kinds.valueOf(Kind::scalar(wanted.dtype)) : kUnknown,
              state, typing);
      }
    });
  }

  void write(RegisterBank bank, uint32_t number, RegisterValue value, RegisterState& state, Typing& typing) {
    if (tables_.stamps.mark(bank, number))
      typing.fail(Rule::DuplicateResult,
                  [&] { return fmt::format("{}{} is defined twice", letterOf(bank), number); });
    else if (bank == RegisterBank::Reference && state.get(bank, number) >= kFirstKind)
      typing.fail(Rule::Overwrite, [&] {
        return fmt::format("r{} still holds a value: its last use must be marked, or it must be dropped",
                           number);
      });
    state.set(bank, number, value);
  }

  const Program& program_;
  FunctionIndex index_;
  const Function& function_;
  std::span<const uint64_t> code_;
  const std::vector<CodeBlock>& blocks_;
  SharedTables& tables_;
  Reporter& reporter_;
  std::vector<std::optional<RegisterState>> in_;
  std::vector<uint32_t> sequence_, rank_;
};

}  // namespace

void checkFlow(const Program& program, FunctionIndex index, const FunctionStructure& structure,
               SharedTables& tables, Reporter& reporter) {
  FlowCheck(program, index, structure, tables, reporter).run();
}

}  // namespace baton::bytecode
