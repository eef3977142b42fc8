#include "compiler/lir/verifier.h"

#include <fmt/format.h>

#include "compiler/lir/cfg.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/printer.h"

namespace baton::lir {

namespace {

class Verifier {
 public:
  Verifier(const Module& module, const Function& function) : module_(module), function_(function) {}

  Result<void> run() {
    BATON_TRY(checkBlocks());
    const ControlFlow flow(function_);
    BATON_TRY(checkEdges(flow));
    BATON_TRY(findDefinitions());
    for (BlockId block : flow.order()) BATON_TRY(checkUses(flow, block));
    return checkSignature();
  }

 private:
  struct Definition {
    BlockId block = kNoBlock;
    uint32_t position = 0;  ///< 0 for parameters, else 1 + the instruction
  };

  template <class... Args>
  Error broken(BlockId block, fmt::format_string<Args...> format, Args&&... args) const {
    return Error(ErrorCode::Internal,
                 fmt::format("low-level form of @{}, b{}: {}", function_.name, block.value(),
                             fmt::format(format, std::forward<Args>(args)...)));
  }

  Result<void> checkBlocks() {
    if (function_.blocks.empty())
      return Error(ErrorCode::Internal, fmt::format("@{} has no blocks", function_.name));
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const Block& block = function_.blocks[b];
      if (block.instructions.empty()) return broken(BlockId(b), "no instructions");
      for (const Instruction& instruction : block.instructions) {
        const bool isLast = &instruction == &block.instructions.back();
        if (isTerminator(instruction) != isLast)
          return broken(BlockId(b), "a block has one terminator, at its end; found {}",
                        descOf(instruction).mnemonic);
        BATON_TRY(checkOperands(BlockId(b), instruction));
      }
    }
    return success();
  }

  Result<void> checkOperands(BlockId block, const Instruction& instruction) {
    std::string problem;
    const bytecode::InstructionDesc& desc = descOf(instruction);
    forEachSlot(function_, instruction, [&](uint64_t slot, OperandKind kind, size_t operand) {
      if (!problem.empty()) return;
      if (isRegister(kind)) {
        const Register reg = registerOf(slot);
        if (reg.value() >= function_.registers.size()) {
          problem = fmt::format("register %{} does not exist", reg.value());
          return;
        }
        const Kind& found = function_.kindOf(reg);
        if (found.isScalar() != bytecode::isScalarOperand(kind))
          problem = fmt::format("register %{} of kind {} is of the wrong bank", reg.value(), print(found));
        else if (operand < desc.operands.size() && !matches(found, desc.operands[operand].of))
          problem = fmt::format("register %{} is {}, expected {}", reg.value(), print(found),
                                desc.operands[operand].of);
      } else if (kind == OperandKind::Target || kind == OperandKind::TargetList) {
        if (slot >= function_.blocks.size()) problem = fmt::format("block b{} does not exist", slot);
      } else if (kind != OperandKind::Imm64 && slot >= tableSize(kind)) {
        problem = fmt::format("index {} out of range: {} exist", slot, tableSize(kind));
      }
    });
    if (!problem.empty()) return broken(block, "{}: {}", desc.mnemonic, problem);
    return success();
  }

  static bool matches(const Kind& kind, std::string_view of) {
    if (of == "any") return true;
    switch (kind.tag) {
      case bytecode::KindTagValue::Scalar: return of == dtypeShortName(kind.dtype);
      case bytecode::KindTagValue::Tensor: return of == "tensor";
      case bytecode::KindTagValue::Adt: return of == "adt";
      case bytecode::KindTagValue::Closure: return of == "closure";
      case bytecode::KindTagValue::Cell: return of == "cell";
      case bytecode::KindTagValue::Array: return of == "array";
      case bytecode::KindTagValue::Storage: return of == "storage";
    }
    return false;
  }

  uint64_t tableSize(OperandKind kind) const {
    const auto orAny = [](size_t size) { return size == 0 ? UINT64_MAX : uint64_t{size}; };
    switch (kind) {
      case OperandKind::FunctionRef: return module_.functions.size();
      case OperandKind::KernelRef: return orAny(module_.tables.kernels.size());
      case OperandKind::ConstantRef: return orAny(module_.tables.constants.size());
      case OperandKind::TypeRef: return orAny(module_.tables.types.size());
      case OperandKind::KindRef: return orAny(module_.tables.kinds.size());
      case OperandKind::MessageRef: return orAny(module_.tables.messages.size());
      case OperandKind::DTypeImm: return kDTypeCount;
      case OperandKind::SmallImm: return uint64_t{UINT16_MAX} + 1;
      case OperandKind::Imm64:
      case OperandKind::SUse:
      case OperandKind::SDef:
      case OperandKind::RUse:
      case OperandKind::ROwn:
      case OperandKind::RDef:
      case OperandKind::SUseList:
      case OperandKind::SDefList:
      case OperandKind::RUseList:
      case OperandKind::ROwnList:
      case OperandKind::RDefList:
      case OperandKind::Target:
      case OperandKind::TargetList: break;
    }
    return UINT64_MAX;  // registers and blocks are checked by the caller
  }

  Result<void> checkEdges(const ControlFlow& flow) {
    for (BlockId block : flow.order()) {
      const Instruction& terminator = terminatorOf(function_.block(block));
      for (BlockId target : flow.successors(block)) {
        if (target == kEntryBlock) return broken(block, "the entry block cannot be a target");
        const Block& to = function_.block(target);
        if (terminator.opcode != Opcode::Jump) {
          if (!to.params.empty())
            return broken(block, "b{} has parameters and is reached by no jump", target.value());
          if (flow.predecessors(target).size() != 1)
            return broken(block, "critical edge to b{}", target.value());
          continue;
        }
        const std::span<const uint64_t> arguments = listOperand(function_, terminator, 1);
        if (arguments.size() != to.params.size())
          return broken(block, "{} arguments found for b{}, expected {}", arguments.size(), target.value(),
                        to.params.size());
        for (size_t i = 0; i < arguments.size(); ++i) {
          const Kind& found = function_.kindOf(registerOf(arguments[i]));
          const Kind& expected = function_.kindOf(to.params[i]);
          if (!bytecode::isAssignable(found, expected))
            return broken(block, "argument {} of b{} is {}, expected {}", i, target.value(), print(found),
                          print(expected));
        }
      }
    }
    return success();
  }

  Result<void> findDefinitions() {
    definitions_.assign(function_.registers.size(), {});
    for (uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const Block& block = function_.blocks[b];
      for (Register param : block.params) BATON_TRY(define(param, BlockId(b), 0));
      for (uint32_t i = 0; i < block.instructions.size(); ++i) {
        std::vector<Register> defs;
        forEachDef(function_, block.instructions[i],
                   [&](uint64_t slot, OperandKind) { defs.push_back(registerOf(slot)); });
        for (Register reg : defs) BATON_TRY(define(reg, BlockId(b), i + 1));
      }
    }
    return success();
  }

  Result<void> define(Register reg, BlockId block, uint32_t position) {
    if (reg.value() >= definitions_.size()) return broken(block, "register %{} does not exist", reg.value());
    Definition& definition = definitions_[reg.value()];
    if (definition.block != kNoBlock)
      return broken(block, "register %{} is defined twice, first in b{}", reg.value(),
                    definition.block.value());
    definition = {block, position};
    return success();
  }

  Result<void> checkUses(const ControlFlow& flow, BlockId block) {
    const std::vector<Instruction>& instructions = function_.block(block).instructions;
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      Register undefined = kNoRegister;
      forEachUse(function_, instructions[i], [&](uint64_t slot, OperandKind) {
        const Register reg = registerOf(slot);
        const Definition& definition = definitions_[reg.value()];
        const bool isDefined = definition.block == block
                                   ? definition.position <= i
                                   : definition.block != kNoBlock && flow.isReachable(definition.block) &&
                                         flow.dominates(definition.block, block);
        if (!isDefined) undefined = reg;
      });
      if (undefined != kNoRegister)
        return broken(block, "{}: register %{} is not defined on every path",
                      descOf(instructions[i]).mnemonic, undefined.value());
      BATON_TRY(checkCall(block, instructions[i]));
    }
    return success();
  }

  Result<void> checkList(BlockId block, const Instruction& instruction, size_t operand, Bank bank,
                         std::span<const Kind> kinds, std::string_view what) {
    const std::span<const uint64_t> found = listOperand(function_, instruction, operand);
    std::vector<Kind> expected;
    for (const Kind& kind : kinds)
      if (kind.isScalar() == (bank == Bank::Scalar)) expected.push_back(kind);
    const std::string_view mnemonic = descOf(instruction).mnemonic;
    if (found.size() != expected.size())
      return broken(block, "{}: {} {} found, expected {}", mnemonic, found.size(), what, expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const Kind& kind = function_.kindOf(registerOf(found[i]));
      const bool isDefinition = bytecode::isDef(descOf(instruction).operands[operand].kind);
      if (isDefinition ? !bytecode::isAssignable(expected[i], kind)
                       : !bytecode::isAssignable(kind, expected[i]))
        return broken(block, "{}: {} {} is {}, expected {}", mnemonic, what, i, print(kind),
                      print(expected[i]));
    }
    return success();
  }

  /// Arguments and results of calls, and the results of this function.
  Result<void> checkCall(BlockId block, const Instruction& instruction) {
    const std::vector<bytecode::Signature>& signatures = module_.tables.signatures;
    if (signatures.empty()) return success();
    const bytecode::Signature& own = signatures[function_.signature.value()];
    const bytecode::Signature* callee = nullptr;
    switch (instruction.opcode) {
      case Opcode::Ret:
        BATON_TRY(checkList(block, instruction, 0, Bank::Scalar, own.results, "result"));
        return checkList(block, instruction, 1, Bank::Reference, own.results, "result");
      case Opcode::Call:
      case Opcode::TailCall:
        callee = &signatures[module_.functions[fixedOperand(function_, instruction, 0)].signature.value()];
        break;
      case Opcode::CallClosure:
      case Opcode::TailCallClosure:
        callee = &signatures[function_.kindOf(registerOperand(function_, instruction, 0)).index];
        break;
      default: return success();
    }
    BATON_TRY(checkList(block, instruction, 1, Bank::Scalar, callee->params, "argument"));
    BATON_TRY(checkList(block, instruction, 2, Bank::Reference, callee->params, "argument"));
    if (isTerminator(instruction)) {
      if (callee->results != own.results)
        return broken(block, "{}: the results are not those of the function", descOf(instruction).mnemonic);
      return success();
    }
    BATON_TRY(checkList(block, instruction, 3, Bank::Scalar, callee->results, "result"));
    return checkList(block, instruction, 4, Bank::Reference, callee->results, "result");
  }

  Result<void> checkSignature() {
    if (module_.tables.signatures.empty()) return success();
    if (function_.signature.value() >= module_.tables.signatures.size())
      return broken(kEntryBlock, "signature {} does not exist", function_.signature.value());
    const std::vector<Kind>& kinds = module_.tables.signatures[function_.signature.value()].params;
    const std::vector<Register>& params = function_.blocks[0].params;
    const size_t first = function_.isClosure ? 1 : 0;
    if (params.size() != kinds.size() + first)
      return broken(kEntryBlock, "{} parameters found, expected {}", params.size(), kinds.size() + first);
    for (size_t i = 0; i < kinds.size(); ++i)
      if (!bytecode::isAssignable(kinds[i], function_.kindOf(params[i + first])))
        return broken(kEntryBlock, "parameter {} is {}, expected {}", i,
                      print(function_.kindOf(params[i + first])), print(kinds[i]));
    return success();
  }

  const Module& module_;
  const Function& function_;
  std::vector<Definition> definitions_;
};

}  // namespace

Result<void> verify(const Module& module, const Function& function) {
  return Verifier(module, function).run();
}

Result<void> verify(const Module& module) {
  for (const Function& function : module.functions) BATON_TRY(verify(module, function));
  return success();
}

}  // namespace baton::lir
