#include "tests/unit/compiler/lir/simulator.h"

#include <map>

#include <fmt/format.h>

#include "compiler/lir/operands.h"

namespace baton::lir::test {

namespace {

constexpr uint64_t kMaxSteps = 100000;

class Simulator {
 public:
  Simulator(const Function& function, bool checkOwnership) : function_(function), checks_(checkOwnership) {}

  Outcome run(const std::vector<int64_t>& scalars, const std::vector<int64_t>& objects) {
    size_t s = 0;
    size_t r = 0;
    for (Register param : function_.blocks[0].params) {
      if (function_.bankOf(param) == Bank::Scalar)
        scalars_[place(param)] = scalars.at(s++);
      else
        write(param, make(objects.at(r++)));
    }
    BlockId block = kEntryBlock;
    while (outcome_.problem.empty() && !isDone_) block = runBlock(block);
    if (outcome_.problem.empty() && checks_) {
      for (const auto& [reg, object] : references_)
        if (object != 0) fail(fmt::format("register {} still holds a reference at the end", reg));
      for (size_t i = 1; i < counts_.size(); ++i)
        if (counts_[i] != results_[i]) fail(fmt::format("object {} has count {}", i, counts_[i]));
    }
    return outcome_;
  }

 private:
  void fail(std::string problem) {
    if (outcome_.problem.empty()) outcome_.problem = std::move(problem);
  }
  uint32_t place(Register reg) const {
    return function_.isAllocated ? function_.assignment[reg.value()] : reg.value();
  }
  size_t make(int64_t number) {
    numbers_.push_back(number);
    counts_.push_back(1);
    results_.push_back(0);
    return numbers_.size() - 1;
  }
  void write(Register reg, size_t object) {
    size_t& slot = references_[place(reg)];
    // In SSA form a register is written again when a loop comes round; only real ones are strict.
    if (checks_ && function_.isAllocated && slot != 0)
      fail(fmt::format("register r{} is overwritten", place(reg)));
    slot = object;
  }
  int64_t scalar(uint64_t slot) { return scalars_[place(registerOf(slot))]; }
  /// Reads a reference; a last use empties the register, and the caller owns the count.
  size_t read(uint64_t slot, bool own) {
    const RegisterOperand operand = RegisterOperand::fromSlot(slot);
    size_t& held = references_[place(operand.reg)];
    if (held == 0) {
      fail(fmt::format("register {} is empty", place(operand.reg)));
      return 0;
    }
    const size_t object = held;
    if (operand.isLastUse) held = 0;
    if (own && !operand.isLastUse) ++counts_[object];
    if (!own && operand.isLastUse) --counts_[object];
    return object;
  }

  BlockId jump(const Instruction& instruction) {
    const BlockId target(static_cast<uint32_t>(fixedOperand(function_, instruction, 0)));
    const std::vector<Register>& params = function_.block(target).params;
    const std::span<const uint64_t> arguments = listOperand(function_, instruction, 1);
    std::vector<int64_t> values;
    for (uint64_t slot : arguments)
      values.push_back(function_.bankOf(registerOf(slot)) == Bank::Scalar
                           ? scalar(slot)
                           : static_cast<int64_t>(read(slot, true)));
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (function_.bankOf(params[i]) == Bank::Scalar)
        scalars_[place(params[i])] = values[i];
      else
        write(params[i], static_cast<size_t>(values[i]));
    }
    return target;
  }

  BlockId runBlock(BlockId id) {
    for (const Instruction& i : function_.block(id).instructions) {
      if (++steps_ > kMaxSteps) fail("does not end");
      if (!outcome_.problem.empty()) return id;
      const auto slot = [&](size_t operand) { return fixedOperand(function_, i, operand); };
      const auto block = [&](size_t operand) { return BlockId(static_cast<uint32_t>(slot(operand))); };
      const auto setScalar = [&](int64_t value) { scalars_[place(registerOf(slot(0)))] = value; };
      switch (i.opcode) {
        case Opcode::Const: setScalar(static_cast<int64_t>(slot(2))); break;
        case Opcode::MoveScalar:
          ++outcome_.moves;
          setScalar(scalar(slot(1)));
          break;
        case Opcode::AddI64: setScalar(scalar(slot(1)) + scalar(slot(2))); break;
        case Opcode::SubI64: setScalar(scalar(slot(1)) - scalar(slot(2))); break;
        case Opcode::LtI64: setScalar(scalar(slot(1)) < scalar(slot(2))); break;
        case Opcode::Branch: return scalar(slot(0)) != 0 ? block(1) : block(2);
        case Opcode::Jump: return jump(i);
        case Opcode::Move: {
          ++outcome_.moves;
          write(registerOf(slot(0)), read(slot(1), true));
          break;
        }
        case Opcode::Drop: read(slot(0), false); break;
        // A fresh object, numbered by its scalars.
        case Opcode::MakeAdt: {
          int64_t number = 0;
          for (uint64_t reference : listOperand(function_, i, 3)) {
            const size_t object = read(reference, true);
            number += object == 0 ? 0 : numbers_[object];
            if (object != 0) --counts_[object];
          }
          for (uint64_t value : listOperand(function_, i, 4)) number = 10 * number + scalar(value);
          write(registerOf(slot(0)), make(number));
          break;
        }
        // Reads an object and gives its number.
        case Opcode::GetTag: {
          const size_t object = read(slot(1), false);
          setScalar(object == 0 ? 0 : numbers_[object]);
          break;
        }
        case Opcode::Ret:
          for (uint64_t value : listOperand(function_, i, 0)) outcome_.scalars.push_back(scalar(value));
          for (uint64_t reference : listOperand(function_, i, 1)) {
            const size_t object = read(reference, true);
            outcome_.objects.push_back(object == 0 ? 0 : numbers_[object]);
            ++results_[object];
          }
          isDone_ = true;
          return id;
        default: fail(fmt::format("{} is not simulated", descOf(i).mnemonic)); return id;
      }
    }
    fail("block without end");
    return id;
  }

  const Function& function_;
  bool checks_;
  std::map<uint32_t, int64_t> scalars_;
  std::map<uint32_t, size_t> references_;  // 0: empty
  std::vector<int64_t> numbers_ = {0};
  std::vector<int64_t> counts_ = {0};
  std::vector<int64_t> results_ = {0};
  uint64_t steps_ = 0;
  bool isDone_ = false;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const Function& function, const std::vector<int64_t>& scalars,
                 const std::vector<int64_t>& objects, bool checkOwnership) {
  return Simulator(function, checkOwnership).run(scalars, objects);
}

}  // namespace baton::lir::test
