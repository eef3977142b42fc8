#include <algorithm>
#include <unordered_map>
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

bool isLook(const Instruction& instruction) {
  return instruction.opcode == Opcode::CellReadRef || instruction.opcode == Opcode::CellTakeRef;
}

/// Which functions may look into a cell of references or write one, themselves or through what
/// they call. A closure may be any.
class CellAccess {
 public:
  explicit CellAccess(const Module& module) : accesses_(module.functions.size(), false) {
    std::vector<std::vector<uint32_t>> callers(module.functions.size());
    std::vector<uint32_t> closureCallers;
    for (uint32_t f = 0; f < module.functions.size(); ++f)
      for (const Block& block : module.functions[f].blocks)
        for (const Instruction& instruction : block.instructions) {
          const Opcode opcode = instruction.opcode;
          if (opcode == Opcode::CellWriteRef || isLook(instruction))
            mark(f);
          else if (opcode == Opcode::Call || opcode == Opcode::TailCall)
            callers[calleeOf(module.functions[f], instruction)].push_back(f);
          else if (opcode == Opcode::CallClosure || opcode == Opcode::TailCallClosure)
            closureCallers.push_back(f);
        }
    while (!work_.empty()) {
      const uint32_t f = work_.back();
      work_.pop_back();
      for (uint32_t caller : callers[f]) mark(caller);
      if (!module.functions[f].isClosure || closuresAccess_) continue;
      closuresAccess_ = true;
      for (uint32_t caller : closureCallers) mark(caller);
    }
  }

  bool ofCall(const Function& function, const Instruction& call) const {
    return call.opcode == Opcode::Call ? accesses_[calleeOf(function, call)] : closuresAccess_;
  }

 private:
  static uint32_t calleeOf(const Function& function, const Instruction& call) {
    return static_cast<uint32_t>(fixedOperand(function, call, 0));
  }
  void mark(uint32_t function) {
    if (accesses_[function]) return;
    accesses_[function] = true;
    work_.push_back(function);
  }

  std::vector<bool> accesses_;
  bool closuresAccess_ = false;
  std::vector<uint32_t> work_;
};

/// How many cells something is known of in one place, and how many arms take the same value. A
/// program may have any number; the nearest matter.
constexpr size_t kMaxKnown = 16;

/// Cells, by register, that every path from some place writes before anything can look into them.
struct Replaced {
  bool isEnd = false;  ///< no path comes from there to anything else: all cells
  std::vector<Register> cells;

  bool contains(Register cell) const { return std::find(cells.begin(), cells.end(), cell) != cells.end(); }
  void add(Register cell) {
    if (isEnd || contains(cell)) return;
    if (cells.size() == kMaxKnown) cells.erase(cells.begin());
    cells.push_back(cell);
  }
  template <class F>
  void eraseIf(F&& f) {
    std::erase_if(cells, f);
  }
  void clear() { *this = {}; }
  void keepOnly(const Replaced& others) {
    if (others.isEnd) return;
    if (isEnd) *this = others;
    eraseIf([&](Register cell) { return !others.contains(cell); });
  }
};

class Taker {
 public:
  Taker(const CellAccess& access, Function& function)
      : access_(access),
        function_(function),
        flow_(function),
        atEntry_(function.blocks.size(), Replaced{.isEnd = true, .cells = {}}) {}

  void run() {
    // Starts from all cells, for the sake of loops, and goes down until nothing changes.
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (size_t i = flow_.order().size(); i-- > 0;) hasChanged |= narrow(flow_.order()[i]);
    }
    for (BlockId id : flow_.order()) walk(id, [](Instruction& read) { read.opcode = Opcode::CellTakeRef; });
    takeInArms();
  }

 private:
  /// What a cell is known to hold.
  struct Content {
    Register cell;
    Register value;
  };
  using Contents = std::vector<Content>;
  /// The blocks that one dominates, where what was read is taken again.
  struct Arm {
    BlockId begin;
    Register cell;
    Register taken;
    bool isUsed = false;
  };

  bool narrow(BlockId id) {
    walk(id, [](Instruction&) {});
    Replaced& known = atEntry_[id.value()];
    const bool wasEnd = known.isEnd;
    const size_t count = known.cells.size();
    known.keepOnly(now_);
    return known.isEnd != wasEnd || known.cells.size() != count;
  }

  /// From the end of a block to its begin, where `now_` is what holds. `onReplaced` is told of
  /// reads of a cell that is written next.
  template <class F>
  void walk(BlockId id, F&& onReplaced) {
    Block& block = function_.block(id);
    now_ = {.isEnd = block.instructions.back().opcode == Opcode::Fail || !flow_.successors(id).empty(),
            .cells = {}};
    for (BlockId successor : flow_.successors(id)) now_.keepOnly(atEntry_[successor.value()]);
    for (size_t i = block.instructions.size(); i-- > 0;) visit(block.instructions[i], onReplaced);
    for (Register param : block.params) forget(param);
  }

  template <class F>
  void visit(Instruction& instruction, F&& onReplaced) {
    forEachDef(function_, instruction, [&](uint64_t slot, OperandKind) { forget(registerOf(slot)); });
    if (instruction.opcode == Opcode::CellWriteRef) {
      now_.add(registerOperand(function_, instruction, 0));
    } else if (isLook(instruction)) {
      const Register cell = registerOperand(function_, instruction, 1);
      if (now_.contains(cell)) onReplaced(instruction);
      now_.isEnd = false;
      now_.eraseIf([&](Register other) { return mayBeSame(other, cell); });
    } else if (isAccessingCall(instruction)) {
      now_.clear();
    }
  }

  bool mayBeSame(Register cell, Register other) const {
    return function_.kindOf(cell) == function_.kindOf(other);
  }
  bool isAccessingCall(const Instruction& instruction) const {
    return (instruction.opcode == Opcode::Call || instruction.opcode == Opcode::CallClosure) &&
           access_.ofCall(function_, instruction);
  }

  /// Where one arm of a branch only replaces what was read in front of it, the arm takes the value
  /// for itself, and the one that was read ends on the way there.
  void takeInArms() {
    std::vector<Contents> atExit(function_.blocks.size());
    for (BlockId id : flow_.order()) {
      contents_.clear();
      if (const auto predecessors = flow_.predecessors(id); predecessors.size() == 1)
        contents_ = atExit[predecessors[0].value()];
      for (const Content& content : Contents(contents_))
        if (atEntry_[id.value()].contains(content.cell) && isKnown(content)) startArm(id, content);
      for (const Instruction& instruction : function_.block(id).instructions) {
        forEachUse(function_, instruction, [&](uint64_t& slot, OperandKind) { rename(id, slot); });
        follow(instruction);
      }
      atExit[id.value()] = contents_;
    }
    for (size_t i = arms_.size(); i-- > 0;)
      if (arms_[i].isUsed) takeAtBegin(arms_[i]);
  }

  void follow(const Instruction& instruction) {
    if (instruction.opcode == Opcode::CellReadRef) {
      const Content content{registerOperand(function_, instruction, 1),
                            registerOperand(function_, instruction, 0)};
      std::erase_if(contents_, [&](const Content& other) { return other.cell == content.cell; });
      if (contents_.size() == kMaxKnown) contents_.erase(contents_.begin());
      contents_.push_back(content);
    } else if (instruction.opcode == Opcode::CellTakeRef) {
      forgetKind(registerOperand(function_, instruction, 1));
    } else if (instruction.opcode == Opcode::CellWriteRef) {
      forgetKind(registerOperand(function_, instruction, 0));
    } else if (isAccessingCall(instruction)) {
      contents_.clear();
    }
  }

  bool isKnown(const Content& content) const {
    return std::ranges::any_of(contents_, [&](const Content& other) { return other.value == content.value; });
  }
  void forgetKind(Register cell) {
    std::erase_if(contents_, [&](const Content& content) { return mayBeSame(content.cell, cell); });
  }

  void startArm(BlockId id, const Content& content) {
    std::vector<size_t>& arms = armsOf_[content.value.value()];
    if (arms.size() == kMaxKnown) return;
    arms.push_back(arms_.size());
    arms_.push_back(
        {.begin = id, .cell = content.cell, .taken = function_.addRegister(function_.kindOf(content.value))});
    forgetKind(content.cell);
  }

  void rename(BlockId id, uint64_t& slot) {
    const auto found = armsOf_.find(registerOf(slot).value());
    if (found == armsOf_.end()) return;
    for (size_t arm : found->second) {
      if (!flow_.dominates(arms_[arm].begin, id)) continue;
      slot = arms_[arm].taken.value();
      arms_[arm].isUsed = true;
      return;
    }
  }

  void takeAtBegin(const Arm& arm) {
    Instruction take = makeInstruction(function_, Opcode::CellTakeRef, {arm.taken, arm.cell});
    std::vector<Instruction>& instructions = function_.block(arm.begin).instructions;
    take.location = instructions.front().location;
    take.name = instructions.front().name;
    instructions.insert(instructions.begin(), take);
  }

  /// Before its definition a register holds what it held in the round before.
  void forget(Register reg) {
    now_.eraseIf([&](Register cell) { return cell == reg; });
  }

  const CellAccess& access_;
  Function& function_;
  ControlFlow flow_;
  std::vector<Replaced> atEntry_;  ///< by block
  Replaced now_;
  Contents contents_;
  std::vector<Arm> arms_;
  std::unordered_map<uint32_t, std::vector<size_t>> armsOf_;  ///< by what was read, looked up only
};

bool writesCell(const Function& function) {
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions)
      if (instruction.opcode == Opcode::CellWriteRef) return true;
  return false;
}

}  // namespace

void takeFromCells(Module& module) {
  const CellAccess access(module);
  for (Function& function : module.functions)
    if (writesCell(function)) Taker(access, function).run();
}

}  // namespace baton::lir
