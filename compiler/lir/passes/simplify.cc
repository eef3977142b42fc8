#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

/// Registers that stand for others.
class Replacements {
 public:
  explicit Replacements(size_t registerCount) : target_(registerCount, kNoRegister) {}
  void replace(Register reg, Register by) { target_[reg.value()] = by; }
  bool isReplaced(Register reg) const { return target_[reg.value()] != kNoRegister; }
  Register resolve(Register reg) {
    Register last = reg;
    while (isReplaced(last)) last = target_[last.value()];
    while (isReplaced(reg)) {
      const Register next = target_[reg.value()];
      target_[reg.value()] = last;
      reg = next;
    }
    return last;
  }

 private:
  std::vector<Register> target_;
};

class Simplifier {
 public:
  explicit Simplifier(Function& function) : function_(function), replacements_(function.registers.size()) {}

  void run() {
    foldBranches();
    layOutBlocks(function_);
    collectMoves();
    dropTrivialParams();
    applyReplacements();
    joinBlocks();
  }

 private:
  std::optional<uint64_t> constantOf(Register reg) const {
    const auto found = constants_.find(reg.value());
    if (found == constants_.end()) return std::nullopt;
    return found->second;
  }

  void foldBranches() {
    for (const Block& block : function_.blocks)
      for (const Instruction& instruction : block.instructions)
        if (instruction.opcode == Opcode::Const)
          constants_[registerOperand(function_, instruction, 0).value()] =
              fixedOperand(function_, instruction, 2);
    for (Block& block : function_.blocks) {
      Instruction& terminator = block.instructions.back();
      if (terminator.opcode != Opcode::Branch) continue;
      const std::optional<uint64_t> condition = constantOf(registerOperand(function_, terminator, 0));
      if (!condition) continue;
      const BlockId target(
          static_cast<uint32_t>(fixedOperand(function_, terminator, *condition != 0 ? 1 : 2)));
      Instruction jump = makeInstruction(function_, Opcode::Jump, {target, std::span<const Register>()});
      jump.location = terminator.location;
      terminator = jump;
    }
  }

  void collectMoves() {
    for (Block& block : function_.blocks)
      std::erase_if(block.instructions, [&](const Instruction& instruction) {
        if (instruction.opcode != Opcode::Move && instruction.opcode != Opcode::MoveScalar) return false;
        replacements_.replace(registerOperand(function_, instruction, 0),
                              registerOperand(function_, instruction, 1));
        return true;
      });
  }

  /// Parameters whose arguments are all one value, or the parameter itself.
  void dropTrivialParams() {
    struct Param {
      BlockId block;
      uint32_t index;
    };
    std::vector<Param> params;
    std::unordered_map<uint32_t, std::vector<uint32_t>> passedTo;  // register to positions in params
    std::vector<std::vector<Register>> arguments;
    std::vector<uint32_t> firstParam(function_.blocks.size());
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      firstParam[b] = static_cast<uint32_t>(params.size());
      if (b == 0) continue;
      for (uint32_t i = 0; i < function_.blocks[b].params.size(); ++i) params.push_back({BlockId(b), i});
    }
    arguments.resize(params.size());
    for (const Block& block : function_.blocks) {
      if (terminatorOf(block).opcode != Opcode::Jump) continue;
      const uint32_t first = firstParam[fixedOperand(function_, terminatorOf(block), 0)];
      const std::span<const uint64_t> passed = listOperand(function_, terminatorOf(block), 1);
      for (uint32_t i = 0; i < passed.size(); ++i) {
        arguments[first + i].push_back(registerOf(passed[i]));
        passedTo[registerOf(passed[i]).value()].push_back(first + i);
      }
    }
    std::vector<uint32_t> work(params.size());
    for (uint32_t i = 0; i < params.size(); ++i) work[i] = i;
    while (!work.empty()) {
      const uint32_t current = work.back();
      work.pop_back();
      const Register param = function_.block(params[current].block).params[params[current].index];
      if (replacements_.isReplaced(param)) continue;
      Register value = kNoRegister;
      bool isTrivial = true;
      for (Register argument : arguments[current]) {
        const Register resolved = replacements_.resolve(argument);
        if (resolved == param || resolved == value) continue;
        isTrivial = value == kNoRegister;
        value = resolved;
        if (!isTrivial) break;
      }
      if (!isTrivial || value == kNoRegister) continue;
      // A register of a more exact kind may not stand where the plain kind was declared.
      if (function_.kindOf(value) != function_.kindOf(param)) continue;
      replacements_.replace(param, value);
      for (uint32_t user : passedTo[param.value()]) work.push_back(user);
      std::vector<uint32_t>& valueUsers = passedTo[value.value()];
      valueUsers.insert(valueUsers.end(), passedTo[param.value()].begin(), passedTo[param.value()].end());
    }
  }

  void applyReplacements() {
    for (Block& block : function_.blocks) {
      const Instruction& terminator = terminatorOf(block);
      if (terminator.opcode == Opcode::Jump) {
        const std::vector<Register>& params = function_.blocks[fixedOperand(function_, terminator, 0)].params;
        const std::span<uint64_t> arguments = listOperand(function_, terminator, 1);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < arguments.size(); ++i)
          if (!replacements_.isReplaced(params[i])) arguments[kept++] = arguments[i];
        function_.slots[terminator.firstSlot + 1] = kept;
      }
      for (const Instruction& instruction : block.instructions)
        forEachUse(function_, instruction, [&](uint64_t& slot, OperandKind) {
          slot = replacements_.resolve(registerOf(slot)).value();
        });
    }
    for (Block& block : function_.blocks)
      std::erase_if(block.params, [&](Register param) { return replacements_.isReplaced(param); });
  }

  /// A block that ends in the only jump to another takes it in.
  void joinBlocks() {
    const ControlFlow flow(function_);
    for (BlockId id : flow.order()) {
      if (absorbed_.contains(id.value())) continue;
      Block& block = function_.block(id);
      for (;;) {
        const Instruction terminator = terminatorOf(block);
        if (terminator.opcode != Opcode::Jump) break;
        const BlockId target(static_cast<uint32_t>(fixedOperand(function_, terminator, 0)));
        if (target == id || flow.predecessors(target).size() != 1) break;
        Block& next = function_.block(target);
        const std::span<const uint64_t> arguments = listOperand(function_, terminator, 1);
        for (uint32_t i = 0; i < arguments.size(); ++i)
          replacements_.replace(next.params[i], registerOf(arguments[i]));
        block.instructions.pop_back();
        block.instructions.insert(block.instructions.end(), next.instructions.begin(),
                                  next.instructions.end());
        absorbed_[target.value()] = true;
        next.params.clear();
        next.instructions.clear();
        // Keeps the block well formed until it is dropped as unreachable.
        next.instructions.push_back(
            makeInstruction(function_, Opcode::Jump, {target, std::span<const Register>()}));
      }
    }
    if (absorbed_.empty()) return;
    applyReplacements();
    layOutBlocks(function_);
  }

  Function& function_;
  Replacements replacements_;
  std::unordered_map<uint32_t, uint64_t> constants_;
  std::unordered_map<uint32_t, bool> absorbed_;
};

}  // namespace

void simplify(Function& function) { Simplifier(function).run(); }

}  // namespace baton::lir
