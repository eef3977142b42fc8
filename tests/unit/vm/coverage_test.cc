// No instruction without a test: the programs of this folder, all of which run in both dispatch
// loops, contain every opcode.
#include <set>

#include "array_programs.h"
#include "bytecode/isa/instruction.h"
#include "mixed_program.h"
#include "programs.h"
#include "runtime.h"
#include "scalar_programs.h"
#include "tensor_programs.h"

using namespace baton;
using namespace baton::vm::test;

TEST_CASE("the programs of the tests contain every instruction") {
  std::vector<std::string> texts{
      std::string(kScalars), std::string(kLists),   std::string(kClosures), std::string(kCells),
      std::string(kTensors), std::string(kChoices), std::string(kArrays),   std::string(baton::test::kMixed)};
  for (const ScalarOps& ops : allScalarOps()) texts.push_back(programOf(ops));
  std::set<std::string_view> found;
  for (const std::string& text : texts) {
    const bytecode::Program program = parse(text);
    for (const bytecode::Function& function : program.functions) {
      std::span<const uint64_t> code =
          std::span(program.code).subspan(function.codeOffset, function.codeSize);
      while (!code.empty()) {
        const bytecode::InstructionView view{code.data()};
        found.insert(bytecode::findInstructionDesc(static_cast<uint16_t>(view.opcode()))->mnemonic);
        code = code.subspan(bytecode::instructionWordCount(code).value());
      }
    }
  }
  for (const bytecode::InstructionDesc& desc : bytecode::allInstructionDescs()) {
    INFO(desc.mnemonic);
    CHECK(found.contains(desc.mnemonic));
  }
}
