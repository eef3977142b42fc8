#include "bytecode/builder.h"

#include <catch2/catch.hpp>

#include "bytecode/isa/instruction.h"
#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/printer.h"

namespace baton::bytecode {
namespace {

std::span<const std::byte> bytesOf(const auto& values) { return std::as_bytes(std::span(values)); }

TEST_CASE("equal kinds, signatures, messages and constants become one") {
  ProgramBuilder builder;
  const Kind tensor = Kind::tensor(DType::F32, 2);
  CHECK(builder.addKind(tensor) == builder.addKind(Kind::tensor(DType::F32, 2)));
  CHECK(builder.addKind(tensor) != builder.addKind(Kind::tensor(DType::F32, 2, 1)));
  CHECK(builder.addKind(Kind::closure(SignatureIndex(0))) !=
        builder.addKind(Kind::closure(SignatureIndex(0), FunctionIndex(0))));
  CHECK(builder.addSignature({{tensor}, {}}) == builder.addSignature({{tensor}, {}}));
  CHECK(builder.addSignature({{tensor}, {}}) != builder.addSignature({{}, {tensor}}));
  CHECK(builder.addMessage("a") == MessageIndex(0));
  CHECK(builder.addMessage("b") == MessageIndex(1));
  CHECK(builder.addMessage("a") == MessageIndex(0));

  const float values[] = {1, 2};
  const float others[] = {1, 3};
  const ConstantIndex first = builder.addConstant(DType::F32, {2}, bytesOf(values));
  CHECK(builder.addConstant(DType::F32, {2}, bytesOf(values)) == first);
  CHECK(builder.addConstant(DType::F32, {2, 1}, bytesOf(values)) != first);
  CHECK(builder.addConstant(DType::I32, {2}, bytesOf(values)) != first);
  CHECK(builder.addConstant(DType::F32, {2}, bytesOf(values), "panels64") != first);
  CHECK(builder.addConstant(DType::F32, {2}, bytesOf(others)) != first);
  CHECK(builder.addExternalConstant(DType::F32, {2}, "m::w") ==
        builder.addExternalConstant(DType::F32, {2}, "m::w"));
}

TEST_CASE("functions may be defined in any order, and their code follows their numbers") {
  ProgramBuilder builder;
  const Kind i64 = Kind::scalar(DType::I64);
  const FunctionIndex main = builder.declareFunction({"main", {{i64}, {i64}}});
  const FunctionIndex helper = builder.declareFunction({"helper", {{i64}, {i64}}});

  Encoder helperCode;
  const ScalarOperand doubled[] = {ScalarOperand::of(0)};
  AddI64::encode(helperCode, ScalarOperand::of(0), ScalarOperand::of(0), ScalarOperand::of(0));
  Ret::encode(helperCode, doubled, {});
  builder.defineFunction(helper, 1, 0, helperCode);

  Encoder mainCode;
  TailCall::encode(mainCode, helper, doubled, {});
  builder.defineFunction(main, 1, 0, mainCode);
  builder.addPosition(helper, 0, "m.relay", 2, 3, "add");
  builder.addPosition(main, 0, "m.relay", 1, 1, "");

  const Program program = builder.finish();
  CHECK(findViolations(program).empty());
  CHECK(printVmasm(program).value() ==
        "vmasm 1\nfn @main (i64) -> (i64) regs s1 r0 {\n  .loc \"m.relay\":1:1\n  tail_call @helper, [s0], "
        "[]\n}\nfn @helper (i64) -> (i64) regs s1 r0 {\n  .loc \"m.relay\":2:3 \"add\"\n  s0 = add.i64 s0, "
        "s0\n  ret "
        "[s0], []\n}\n");
  CHECK(builder.finish().functions.empty());
}

TEST_CASE("fields get bank and slot from their types") {
  ProgramBuilder builder;
  const TypeIndex list = builder.addType();
  TypeDef& type = builder.type(list);
  type.name = "List";
  type.constructors = {{"Cons", {}}, {"Nil", {}}};
  ValueType scalar;
  ValueType tail;
  tail.tag = ValueType::Tag::Adt;
  tail.type = list;
  type.constructors[0].fields = {{tail}, {scalar}, {tail}, {scalar}};
  builder.layOutFields(list);
  const Constructor& cons = builder.type(list).constructors[0];
  CHECK(cons.referenceCount == 2);
  CHECK(cons.scalarCount == 2);
  CHECK((cons.fields[1].isScalar && cons.fields[1].slot == 0));
  CHECK((!cons.fields[2].isScalar && cons.fields[2].slot == 1));
  CHECK((cons.fields[3].isScalar && cons.fields[3].slot == 1));
  CHECK(findViolations(builder.finish()).empty());
}

TEST_CASE("loop texts are there for all kernels or for none") {
  ProgramBuilder without;
  KernelDescriptor kernel;
  kernel.name = "k";
  without.addKernel(kernel);
  CHECK(without.finish().loops.empty());
  ProgramBuilder with;
  with.addKernel(kernel);
  kernel.name = "l";
  with.addKernel(kernel, "kernel l {}\n");
  CHECK(with.finish().loops == std::vector<std::string>{"", "kernel l {}\n"});
}

}  // namespace
}  // namespace baton::bytecode
