// Dims: what is known of extents, what is checked when, and what is an error.
#include <catch2/catch.hpp>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "tests/effort.h"
#include "tests/unit/compiler/program.h"

namespace baton {
namespace {

using testing::Program;
using testing::resultOf;
using testing::type;

/// "lhs == rhs" of every check in a function, in order of blocks.
std::vector<std::string> checksOf(const std::string& text, const std::string& name = "main") {
  Program program = type(text);
  std::vector<std::string> out;
  if (!program.ok()) return {program.messages()};
  for (const ir::Block& block : program.function(name).blocks)
    for (const ir::Binding& binding : block.bindings)
      for (const ir::Obligation& check : binding.obligations)
        out.push_back(ir::print(program.module, check.lhs) + " " + relationName(check.relation) + " " +
                      ir::print(program.module, check.rhs));
  return out;
}

using Checks = std::vector<std::string>;

TEST_CASE("extents follow symbols through operators") {
  CHECK(resultOf(
            "def @main(%x: Tensor[(n, 16), float32], %w: Tensor[(8, 16), float32]) { nn.dense(%x, %w) }") ==
        "Tensor[(n, 8), float32]");
  CHECK(resultOf("def @main(%x: Tensor[(n, m), float32]) { concatenate((%x, %x, reshape(%x, newshape=[n, "
                 "m])), axis=1) }") == "Tensor[(n, 3*m), float32]");
  CHECK(resultOf("def @main(%x: Tensor[(n, 0), float32]) { reshape(%x, newshape=[n, 0]) }") ==
        "Tensor[(n, 0), float32]");
}

TEST_CASE("an extent that was broadcast with another stays as it is when it meets it again") {
  const std::string params = "def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) { ";
  const std::string once = resultOf(params + "%x + %y }");
  CHECK(once == "Tensor[(min(n, min(m, 1))*max(n, m),), float32]");
  CHECK(resultOf(params + "%x + %y + %y + %x + %y }") == once);
  CHECK(resultOf(params + "(%x + %y) + (%y + %x) }") == once);
  std::string chain = "def @main(%x: Tensor[(?,), float32], %y: Tensor[(?,), float32]) {\n";
  for (int i = 0; i < effort(300, 30); ++i) chain += "  let %x = %x + %y;\n";
  CHECK(checksOf(chain + "  %x }").size() == 2);
}

TEST_CASE("local functions that are called one after the other are typed in few rounds") {
  std::string text = "def @main(%x: Tensor[(n,), float32]) {\n";
  for (int i = 0; i < effort(3000, 200); ++i) text += "  let %f = fn (%a) { %a * %x };\n  let %x = %f(%x);\n";
  CHECK(resultOf(text + "  %x }") == "Tensor[(n,), float32]");
}

TEST_CASE("products of extents that are long sums keep the sums as factors") {
  std::string given = "def @main(";
  std::string extents;
  for (int axis = 0; axis < 4; ++axis) {
    std::string names;
    std::string sum;
    for (int i = 0; i < 8; ++i) {
      const std::string name = std::string(1, static_cast<char>('a' + axis)) + std::to_string(i);
      names += name + ", ";
      sum += (i == 0 ? "" : " + ") + name;
    }
    given += "%p" + std::to_string(axis) + ": Tensor[(" + names + "), float32], ";
    extents += sum + ", ";
  }
  Program program = type(given + "%x: Tensor[(" + extents + "), float32]) { reshape(%x, newshape=[-1, 2]) }");
  REQUIRE(program.messages() == "");
  const ir::Function& function = program.function("main");
  const DimExpr& rows = function.result->dims()[0];
  REQUIRE(rows.terms().size() == 1);
  // Multiplied out, the four sums are 4096 terms.
  const DimExpr& whole = rows.asOpaque()->a;
  REQUIRE(whole.terms().size() == 1);
  CHECK(whole.terms()[0].factors.size() == 4);
}

TEST_CASE("extents of operators in a row do not grow") {
  const std::string given = "def @main(%x: Tensor[(?, ?, ?), float32], %s: Tensor[(3,), int64]) {\n";
  // One reshape is an expression of what was given; of several, all but the first have extents of their own.
  CHECK(resultOf(given + "  reshape(%x, %s) }").find("floor_div") != std::string::npos);
  std::string chain = given;
  for (int i = 0; i < effort(40, 5); ++i) chain += "  let %x = reshape(%x, %s);\n";
  CHECK(resultOf(chain + "  %x }") == "Tensor[(r, r_1, r_2), float32]");
}

TEST_CASE("a reshape that names extents lists all of them") {
  Program program = type(
      "def @main(%x: Tensor[(2*n, 3), float32], %y: Tensor[(n,), float32]) { (reshape(%x, newshape=[n, -1]), "
      "reshape(%x, newshape=[0, -1])) }");
  REQUIRE(program.messages() == "");
  std::vector<std::string> shapes;
  for (const ir::Binding& binding : program.function("main").block(program.function("main").body).bindings)
    if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
      std::string shape = call->attrs.boolOf("allowzero") ? "zeros stay:" : "zeros copy:";
      const std::vector<DimExpr> extents = *call->attrs.get<std::vector<DimExpr>>("newshape");
      for (const DimExpr& dim : extents) shape += " " + ir::print(program.module, dim);
      shapes.push_back(shape);
    }
  CHECK(shapes == std::vector<std::string>{"zeros stay: n floor_div(6*n, max(n, 1))", "zeros copy: 0 -1"});
}

TEST_CASE("shapes as values keep their symbols") {
  CHECK(resultOf("def @main(%x: Tensor[(n, m, 4), float32]) {\n"
                 "  let %n = take(shape_of(%x, dtype=\"int64\"), 0);\n"
                 "  reshape(%x, concatenate((expand_dims(%n, axis=0), expand_dims(-1i64, axis=0))))\n"
                 "}") == "Tensor[(n, 4*m), float32]");
  // A shape from a run-time scalar: the number beside it stays a number.
  CHECK(resultOf("def @main(%n: int64) { full(1f, stack((%n, 2i64))) }") == "Tensor[(n, 2), float32]");
  CHECK(checksOf("def @main(%n: int64) { let %s = stack((%n, 2i64)); (full(1f, %s), full(2f, %s)) }") ==
        Checks{"n >= 0"});
  // int32 arithmetic may wrap, so the sum is a value of its own.
  Program sum = type("def @main(%n: int32) { full(1f, stack((%n + 1, %n))) }");
  REQUIRE(sum.messages() == "");
  CHECK(ir::print(sum.module, sum.function("main").result) == "Tensor[(r, n), float32]");
  CHECK(sum.function("main").var(sum.function("main").params[0]).valueDims.has_value());
}

TEST_CASE("branches: extents that differ become the extent of the result") {
  CHECK(resultOf("def @main(%b: bool, %p: Tensor[(3,), float32], %q: Tensor[(?,), float32]) { (if (%b) { %p "
                 "} else { %q }) + 1f }") == "Tensor[(r,), float32]");
  CHECK(resultOf("def @main(%b: bool, %p: Tensor[(n, 3), float32], %q: Tensor[(n, 3), float32]) { if (%b) { "
                 "%p } else { %q } }") == "Tensor[(n, 3), float32]");
  // Two results that agree on every edge share a symbol.
  Program program = type(
      "def @main(%b: bool, %p: Tensor[(2,), float32], %q: Tensor[(3,), float32]) {\n"
      "  let %r = if (%b) { (%p, %p) } else { (%q, %q) };\n"
      "  %r.0 + %r.1\n"
      "}");
  REQUIRE(program.messages() == "");
  CHECK(checksOf("def @main(%b: bool, %p: Tensor[(2,), float32], %q: Tensor[(3,), float32]) {\n"
                 "  let %r = if (%b) { (%p, %p) } else { (%q, %q) };\n  %r.0 + %r.1\n}") == Checks{});
}

TEST_CASE("loops: what stays the same is kept and what changes is not claimed") {
  const std::string grow =
      "def @main(%x: Tensor[(1, n), float32], %k: int32) {\n"
      "  let %f = fn (%i: int32, %acc, %same) {\n"
      "    if (%i == 0) { (%acc, %same) } else { %f(%i - 1, concatenate((%acc, %x), axis=0), nn.relu(%same)) "
      "}\n"
      "  };\n"
      "  %f(%k, %x, %x)\n"
      "}";
  CHECK(resultOf(grow) == "(Tensor[(r, n), float32], Tensor[(1, n), float32])");
  // The same with a function of the module.
  CHECK(resultOf("def @main(%x: Tensor[(1, 4), float32], %k: int32) { @f(%k, %x, %x) }\n"
                 "def @f(%i: int32, %acc, %x) { if (%i == 0) { (%acc, %x) } else { @f(%i - 1, "
                 "concatenate((%acc, %x), axis=0), %x) } }") ==
        "(Tensor[(r, 4), float32], Tensor[(1, 4), float32])");
  // And with a join.
  CHECK(resultOf("def @main(%x: Tensor[(1, 4), float32], %k: int32) {\n"
                 "  let %r = {\n"
                 "    let %j = fn (%i: int32, %acc: Tensor[(?, 4), float32], join=1) {\n"
                 "      if (%i == 0) { %acc } else { %j(%i - 1, concatenate((%acc, %x), axis=0)) }\n"
                 "    };\n"
                 "    %j(%k, %x)\n"
                 "  };\n"
                 "  %r\n"
                 "}") == "Tensor[(r, 4), float32]");
}

TEST_CASE("calls express results in the extents of the caller") {
  CHECK(resultOf("def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) { (@f(%x), @f(%y)) }\n"
                 "def @f(%a) { concatenate((%a, %a), axis=0) }") ==
        "(Tensor[(2*n, 4), float32], Tensor[(2*m, 4), float32])");
  // Static on every call: static inside.
  Program program = type(
      "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) { (@f(%x), @f(%y)) }\n"
      "def @f(%a: Tensor[(?, ?), float32]) { %a }");
  CHECK(ir::print(program.module, program.function("f").result) == "Tensor[(a_0, 4), float32]");
}

TEST_CASE("results say nothing in numbers that only the callee knows") {
  // Each call has an extent of its own, which is read off the result.
  Program program = type(
      "def @main(%x: int64, %y: int64) { let %a = @f(%x); let %b = @f(%y); concatenate((%a, %b)) }\n"
      "def @f(%n: int64) { arange(0i64, %n, 1i64) }");
  CHECK(ir::print(program.module, program.function("main").result) == "Tensor[(r,), int64]");
  const ir::Function& main = program.function("main");
  std::vector<DimExpr> extents;
  for (const ir::Binding& binding : main.block(main.body).bindings)
    if (std::holds_alternative<ir::CallGlobal>(binding.rhs))
      extents.push_back(main.var(binding.var).type->dims()[0]);
  REQUIRE(extents.size() == 2);
  CHECK(extents[0].asSymbol().has_value());
  CHECK_FALSE(extents[0] == extents[1]);
  CHECK(ir::verify(program.module).has_value());
}

TEST_CASE("recursion that returns what it got keeps the extents") {
  CHECK(resultOf("def @main(%x: Tensor[(n, 4), float32], %k: int32) { @f(%k, %x) }\n"
                 "def @f(%i: int32, %a) { if (%i == 0) { %a } else { @g(%i - 1, nn.relu(%a)) } }\n"
                 "def @g(%i: int32, %a) { @f(%i, %a) }") == "Tensor[(n, 4), float32]");
  CHECK(resultOf("def @main(%k: int32) -> int32 { if (%k == 0) { %k } else { @main(%k - 1) + %k } }") ==
        "int32");
}

TEST_CASE("data keeps extents that all its elements share") {
  const std::string lists =
      "import \"prelude\"\n"
      "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) {\n";
  CHECK(resultOf(lists + "Cons(%x, Cons(%x, Nil)) }") == "List[Tensor[(n, 4), float32]]");
  CHECK(resultOf(lists + "Cons(%x, Cons(%y, Nil)) }") == "List[Tensor[(?, 4), float32]]");
  CHECK(resultOf(lists + "@map(fn (%t) { concatenate((%t, %t), axis=1) }, Cons(%x, Cons(%y, Nil))) }") ==
        "List[Tensor[(?, 8), float32]]");
  CHECK(resultOf(lists + "match? (Cons(%x, Cons(%y, Nil))) { Cons(%a, _) => %a } }") ==
        "Tensor[(r, 4), float32]");
  CHECK(resultOf(lists + "let %l: List[Tensor[(?, 4), float32]] = Nil; match (%l) { Cons(%a, _) => %a + %x, "
                         "Nil => %x } }") == "Tensor[(n, 4), float32]");
}

TEST_CASE("cells hold what is written anywhere") {
  CHECK(resultOf("def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(3, 4), float32]) {\n"
                 "  let %r = ref(%x);\n  ref_write(%r, %y);\n  ref_read(%r)\n}") ==
        "Tensor[(r, 4), float32]");
  CHECK(resultOf("def @main(%x: Tensor[(2, 4), float32]) { let %r = ref(%x); ref_write(%r, %x + 1f); "
                 "ref_read(%r) }") == "Tensor[(2, 4), float32]");
}

TEST_CASE("function values know what all calls agree on") {
  CHECK(resultOf("def @main(%b: bool, %x: Tensor[(n, 4), float32]) {\n"
                 "  let %f = if (%b) { fn (%a) { nn.relu(%a) } } else { fn (%a) { %a + 1f } };\n"
                 "  %f(%x)\n}") == "Tensor[(r, 4), float32]");
  // A declared extent is checked where the function is called.
  CHECK(checksOf("def @main(%b: bool, %x: Tensor[(n, 4), float32]) {\n"
                 "  let %f = if (%b) { fn (%a: Tensor[(2, 4), float32]) { %a } } else { fn (%a: Tensor[(?, "
                 "4), float32]) { %a } };\n"
                 "  %f(%x)\n}") == Checks{"n == 2"});
}

TEST_CASE("unknown equalities are checked once") {
  CHECK(checksOf("def @main(%x: Tensor[(?, 300), float32], %w: Tensor[(64, ?), float32]) { (nn.dense(%x, "
                 "%w), nn.dense(%x, %w)) }") == Checks{"300 == w_1"});
  // What is checked in a branch is not known outside of it.
  CHECK(checksOf("def @main(%b: bool, %x: Tensor[(?, 300), float32], %w: Tensor[(64, ?), float32]) {\n"
                 "  let %u = if (%b) { nn.dense(%x, %w) } else { nn.dense(%x + 1f, %w) };\n"
                 "  (%u, nn.dense(%x, %w))\n}") == Checks{"300 == w_1", "300 == w_1", "300 == w_1"});
}

TEST_CASE("declared extents hold, or are checked, or are errors") {
  CHECK(checksOf("def @main(%x: Tensor[(n, m), float32]) { let %y: Tensor[(n, n), float32] = %x; %y }") ==
        Checks{"m == n"});
  CHECK(resultOf("def @main(%x: Tensor[(n, m), float32]) { let %y: Tensor[(n, n), float32] = %x; %y }") ==
        "Tensor[(n, n), float32]");
  CHECK(resultOf("def @main(%x: Tensor[(n, m), float32]) { let %y: Tensor[(k, ?), float32] = %x; reshape(%y, "
                 "newshape=[m, k]) }") == "Tensor[(m, n), float32]");
  CHECK(checksOf("def @main(%x: Tensor[(n, m), float32]) -> Tensor[(n, 8), float32] { %x }") ==
        Checks{"m == 8"});
  CHECK(resultOf("def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n, 8), float32] { %x }")
            .find("the result of @main: dimension 1 is 4; 8 is declared") != std::string::npos);
  CHECK(checksOf("def @main(%x: Tensor[(a, b), float32]) { @f(%x) }\n"
                 "def @f(%y: Tensor[(n, n), float32]) where n <= 512, floor_mod(n, 8) == 0 { %y }") ==
        Checks{"b == a", "a <= 512", "floor_mod(a, 8) == 0"});
  CHECK(checksOf("type T { B(Tensor[(?, 4), float32]) }\ndef @main(%x: Tensor[(n, m), float32]) { B(%x) }") ==
        Checks{"m == 4"});
}

TEST_CASE("declared results are checked at the ends of branches") {
  // The call stays in tail position: what it gives is as declared.
  const std::string text =
      "def @main(%k: int32, %x: Tensor[(n, m), float32]) -> Tensor[(n, 8), float32] {\n"
      "  if (%k == 0) { %x } else { @main(%k - 1, nn.relu(%x)) }\n"
      "}";
  CHECK(checksOf(text) == Checks{"m == 8"});
  Program program = type(text);
  const ir::Function& main = program.function("main");
  const ir::Block& body = main.block(main.body);
  REQUIRE(std::holds_alternative<ir::If>(body.bindings.back().rhs));
  CHECK(body.result == ir::Atom(body.bindings.back().var));
  const ir::Block& last = main.block(std::get<ir::If>(body.bindings.back().rhs).elseBlock);
  CHECK(std::holds_alternative<ir::CallGlobal>(last.bindings.back().rhs));
  CHECK(last.result == ir::Atom(last.bindings.back().var));
  CHECK(resultOf(text) == "Tensor[(n, 8), float32]");
}

TEST_CASE("a declared result may name an extent, or ask for a multiple of one") {
  CHECK(checksOf("def @main(%x: Tensor[(n, a), float32]) -> Tensor[(n, 4*m), float32] { %x }") ==
        Checks{"floor_mod(a, 4) == 0"});
  CHECK(checksOf("def @main(%x: Tensor[(n, a), float32]) -> Tensor[(n, m + 1), float32] { %x }") == Checks{});
  CHECK(checksOf("def @main(%x: Tensor[(n, a), float32]) -> (Tensor[(m, a), float32], Tensor[(m, m), "
                 "float32]) { (%x, %x) }") == Checks{"a == n"});
  CHECK(type("def @main(%x: Tensor[(n, 6), float32]) -> Tensor[(n, 4*m), float32] { %x }")
            .messages()
            .find("the result of @main: dimension 1 is 6; 4*m is declared") != std::string::npos);
}

TEST_CASE("constraints are relied on") {
  CHECK(checksOf("def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32]) where n == m, n > 1 { "
                 "%x + %y }") == Checks{});
  CHECK(resultOf("def @main(%x: Tensor[(n,), float32]) where n < 3, n > 5 { %x }").find("error") !=
        std::string::npos);
}

TEST_CASE("failures that are certain are errors, others are warnings") {
  const std::string text =
      "def @main(%b: bool, %x: Tensor[(n, 300), float32], %w: Tensor[(64, 512), float32]) {\n";
  CHECK(!type(text + "nn.dense(%x, %w) }").ok());
  Program branch = type(text + "if (%b) { nn.dense(%x, %w) } else { %x } }");
  REQUIRE(branch.ok());
  REQUIRE(branch.diagnostics.items().size() == 1);
  CHECK(branch.diagnostics.items()[0].severity == frontend::Severity::Warning);
  CHECK(branch.diagnostics.items()[0].message ==
        "nn.dense: dimension 1 of the data (300) does not match dimension 1 of the weight (512) (when it is "
        "reached)");
  CHECK(checksOf(text + "if (%b) { nn.dense(%x, %w) } else { %x } }") == Checks{"0 == 1"});
  CHECK(!type(text + "@f(%x, %w) }\ndef @f(%x, %w) { nn.dense(%x, %w) }").ok());
  CHECK(type(text + "if (%b) { @f(%x, %w) } else { %x } }\ndef @f(%x, %w) { nn.dense(%x, %w) }").ok());
}

TEST_CASE("what is never reached has types all the same") {
  CHECK(resultOf("import \"prelude\"\n"
                 "def @main(%x: Tensor[(n, 4), float32]) {\n"
                 "  let %f = fn (%a: Tensor[(?, 4), float32]) { %a + %a };\n"
                 "  let %g = fn (%a: Tensor[(?, 4), float32]) { @forever(%a) + 1f };\n"
                 "  %x\n"
                 "}\n"
                 "def @forever(%a: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] { @forever(%a) }") ==
        "Tensor[(n, 4), float32]");
  CHECK(resultOf("def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(?, ?), float32] { @main(%x) }") ==
        "Tensor[(r, r_1), float32]");
}

TEST_CASE("typed programs read back and get the same types") {
  const std::string text =
      "import \"prelude\"\n"
      "def @main(%x: Tensor[(n, 4), float32], %k: int32) {\n"
      "  let %f = fn (%i: int32, %acc: Tensor[(?, 4), float32]) { if (%i == 0) { %acc } else { %f(%i - 1, "
      "concatenate((%acc, %x), axis=0)) } };\n"
      "  @map(fn (%t) { %t + 1f }, Cons(%f(%k, %x), Nil))\n"
      "}";
  Program first = type(text);
  REQUIRE(first.messages() == "");
  Program second = type(ir::print(first.module));
  REQUIRE(second.messages() == "");
  CHECK(ir::print(second.module) == ir::print(first.module));
}

}  // namespace
}  // namespace baton
