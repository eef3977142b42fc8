// What is encoded is what the disassembler of the bytecode reads.
#include <catch2/catch.hpp>

#include "bytecode/vmasm/printer.h"
#include "compiler/emit/encode.h"
#include "compiler/lir/cfg.h"
#include "compiler/lir/parser.h"
#include "compiler/lir/passes/passes.h"

namespace baton::emit {
namespace {

lir::Module allocated(std::string_view text) {
  Result<lir::Module> parsed = lir::parseModule(text);
  if (!parsed.has_value()) FAIL(parsed.assume_error().message());
  lir::Module module = std::move(parsed).assume_value();
  for (lir::Function& function : module.functions) {
    lir::layOutBlocks(function);
    lir::markLastUses(function);
    REQUIRE(lir::allocateRegisters(function).has_value());
  }
  return module;
}

/// Lines of the first function as the disassembler prints them, without its head and foot.
std::vector<std::string> disassembled(const lir::Module& module) {
  bytecode::Program program;
  program.signatures.resize(8);
  program.types.resize(2);
  program.kinds.resize(2);
  program.messages = {"m0", "m1"};
  program.kernels.resize(2);
  program.kernels[0].name = "k0";
  program.kernels[1].name = "k1";
  program.constants.resize(2);
  for (const lir::Function& source : module.functions) {
    const EncodedFunction encoded = encode(source);
    bytecode::Function& function = program.functions.emplace_back();
    function.name = source.name;
    function.codeOffset = static_cast<uint32_t>(program.code.size());
    function.codeSize = static_cast<uint32_t>(encoded.code.size());
    program.code.insert(program.code.end(), encoded.code.begin(), encoded.code.end());
  }
  const std::string text = bytecode::printFunction(program, bytecode::FunctionIndex(0));
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  REQUIRE(lines.size() > 2);
  return {lines.begin() + 1, lines.end() - 1};
}

TEST_CASE("every kind of operand is encoded where the disassembler looks for it") {
  const lir::Module module = allocated(R"(func @f signature<0> {
b0(%0: i64, %1: adt<0>, %2: tensor<f32,1>, %3: closure<1>):
  %4: i64 = const i64, 0xffffffffffffffff
  %5: bool = lt.i64 %0, %4
  check %5, message<1>, (%0, %4)
  %6: f32 = load_scalar %2, (%0)
  %7: i32 = cast %6, f32, i32
  %8: tensor<f32,1> = load_const constant<1>
  %9: tensor<f32,2> = alloc_tensor f32, 0, (%0, %4)
  %10: i64 = call_kernel kernel<1>, (%2, %8), (%9), (%7)
  %11: cell<0> = cell_new_scalar kind<1>, %10
  %12: i64, %13: adt<0> = call_closure %3, (%0), (%1, %11)
  %14: adt<1> = make_adt 2, type<1>, (%13, %9), (%12)
  switch_tag %1, [b1, b2, b2]
b1:
  %15: closure<1> = make_closure @g, (%14), (%0)
  tail_call_closure %15, (%0), ()
b2:
  switch %0, [b3, b4, b4]
b3:
  tail_call @g, (%0), (%14)
b4:
  fail message<0>, (%4)
}

func @g signature<0> {
b0:
  ret (), ()
}
)");
  CHECK(disassembled(module) == std::vector<std::string>{
                                    "  s1 = const i64, -1",
                                    "  s2 = lt.i64 s0, s1",
                                    "  check s2, \"m1\", [s0, s1]",
                                    "  s2 = load_scalar r1, [s0]",
                                    "  s2 = cast s2, f32, i32",
                                    "  r3 = load_const c1",
                                    "  r4 = alloc_tensor f32, 0, [s0, s1]",
                                    "  s2 = call_kernel $k1, [r1!, r3!], [r4], [s2]",
                                    "  r1 = cell_new_scalar k1, s2",
                                    "  s2, r1 = call_closure r2!, [s0], [r0, r1!]",
                                    "  r1 = make_adt 2, t1, [r1!, r4!], [s2]",
                                    "  switch_tag r0!, [b0, b1, b1]",
                                    "b0:",
                                    "  r0 = make_closure @g, [r1!], [s0]",
                                    "  tail_call_closure r0!, [s0], []",
                                    "b1:",
                                    "  switch s0, [b2, b3, b3]",
                                    "b2:",
                                    "  tail_call @g, [s0], [r1!]",
                                    "b3:",
                                    "  drop r1!",
                                    "  fail \"m0\", [s1]",
                                });
}

TEST_CASE("positions are noted where the source changes") {
  lir::Module module = allocated(R"(func @f signature<0> {
b0(%0: i64):
  %1: i64 = add.i64 %0, %0
  %2: i64 = add.i64 %1, %0
  %3: i64 = add.i64 %2, %0
  ret (%3), ()
}
)");
  std::vector<lir::Instruction>& code = module.functions[0].blocks[0].instructions;
  code[1].location = code[2].location = {0, 7, 3};
  code[3].location = {0, 8, 1};
  const EncodedFunction encoded = encode(module.functions[0]);
  REQUIRE(encoded.positions.size() == 2);
  CHECK(encoded.positions[0].pc == 1);
  CHECK(encoded.positions[0].location.line == 7);
  CHECK(encoded.positions[1].pc == 3);
  CHECK(encoded.positions[1].location.line == 8);
}

}  // namespace
}  // namespace baton::emit
