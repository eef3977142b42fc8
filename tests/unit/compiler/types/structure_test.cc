// Structure: what unifies, what does not, and what is specialised.
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

std::vector<std::string> messagesOf(const std::string& text) {
  std::vector<std::string> out;
  Program program = type(text);
  for (const frontend::Diagnostic& item : program.diagnostics.items())
    out.push_back(std::to_string(item.location.line) + ":" + std::to_string(item.location.column) + ": " +
                  item.message);
  return out;
}

using Messages = std::vector<std::string>;

TEST_CASE("types that do not fit are reported with both") {
  CHECK(messagesOf("type L[A] { C(A, L[A]), E }\n"
                   "def @main(%x: Tensor[(n, 4), float32], %b: bool, %l: L[int32]) {\n"
                   "  let %a = if (%b) { 1 } else { 2f };\n"
                   "  let %c = @f(%x, 1, 2);\n"
                   "  let %d = @f(1);\n"
                   "  let %e = %l + 1;\n"
                   "  let %f = %x(1);\n"
                   "  let %g = (1, 2).3;\n"
                   "  let %h = nn.dense(%x, 1);\n"
                   "  let %i = C(1, C(2f, E));\n"
                   "  let %j: int64 = 1;\n"
                   "  let %k = if (%x) { 1 } else { 2 };\n"
                   "  let %m = fn (%a) { %a(%a) };\n"
                   "  let %n = match (%b) { C(_, _) => 1, E => 2 };\n"
                   "  let %o = ref_write(ref(1), 2f);\n"
                   "  let %p = ref_read(1);\n"
                   "  1\n"
                   "}\n"
                   "def @f(%x: float32) -> int32 { 1f }\n") ==
        Messages{"3:33: the second branch has type float32; expected int32",
                 "4:12: @f takes 1 argument, found 3",
                 "5:15: argument 1 of @f has type int32; expected float32",
                 "6:12: add: the first operand must be a tensor",
                 "7:12: %x has type Tensor[(?, ?), float32]; expected fn (int32) -> _",
                 "8:12: field 3 of a tuple that has 2 fields",
                 "9:25: nn.dense: the weight has type int32; expected rank 2",
                 "10:17: field 2 of C has type L[float32]; expected L[int32]",
                 "11:7: %j has type int32; expected int64",
                 "12:16: the condition has type Tensor[(?, ?), float32]; expected bool",
                 "13:22: %a would have a type that contains itself",
                 "14:25: the value matched by C has type bool; expected L[_]",
                 "14:39: the value matched by E has type bool; expected L[_]",
                 "15:30: the value of ref_write has type float32; expected int32",
                 "16:21: the argument of ref_read has type int32; expected ref(_)",
                 "19:32: the result of @f has type float32; expected int32"});
}

TEST_CASE("operators wait for their inputs") {
  // The parameter gets its type from a call that comes later.
  CHECK(resultOf("def @main(%x: Tensor[(2, 3), float32]) { let %f = fn (%a) { %a + 1f }; %f(%x) }") ==
        "Tensor[(2, 3), float32]");
  CHECK(resultOf("def @main() { @f(1i64) }\ndef @f(%a) { %a + %a }") == "int64");
  CHECK(messagesOf("def @main() { let %f = fn (%a) { %a + %a }; 1 }") ==
        Messages{"1:37: add: the types of its inputs are not known; annotate them"});
  CHECK(messagesOf("def @main(%x) { %x }") ==
        Messages{"1:11: the type of %x is not known, and @main is exported; annotate it"});
  CHECK(messagesOf("def @main() { let %f = fn (%a) { %a.0 }; 1 }") ==
        Messages{"1:34: the type of the tuple is not known; annotate it"});
}

TEST_CASE("lists of tensors are flattened, by projection where they come from elsewhere") {
  Program program =
      type("def @main(%p: (Tensor[(2,), float32], Tensor[(n,), float32])) { concatenate(%p, axis=0) }");
  REQUIRE(program.messages() == "");
  const ir::Function& main = program.function("main");
  REQUIRE(main.block(main.body).bindings.size() == 3);
  const auto& call = std::get<ir::CallOp>(main.block(main.body).bindings[2].rhs);
  CHECK(call.args.size() == 2);
  CHECK(ir::print(program.module, main.result) == "Tensor[(n + 2,), float32]");
  CHECK(messagesOf("def @main(%p: Tensor[(2,), float32]) { concatenate(%p, axis=0) }") ==
        Messages{"1:52: concatenate: the data must be a tuple of tensors"});
  CHECK(messagesOf("def @main(%p: (int32, (int32,))) { stack(%p) }") ==
        Messages{"1:42: stack: element 1 of the data must be a tensor"});
}

TEST_CASE("polymorphic functions are copied once per instantiation") {
  Program program = type(
      "import \"prelude\"\n"
      "def @main(%x: int32, %y: float32, %l: List[bool]) { (@id(%x), @id(%y), @id(%x + 1), @hd(%l), "
      "@compose(@id, @id)(%y)) }");
  REQUIRE(program.messages() == "");
  std::vector<std::string> names;
  for (const ir::Function& function : program.module.functions) names.push_back(function.name);
  CHECK(names == std::vector<std::string>{"main", "id", "id_1", "hd", "compose"});
  CHECK(ir::print(program.module, program.function("main").result) ==
        "(int32, float32, int32, bool, float32)");
  Result<void> verified = ir::verify(program.module);
  CHECK((verified.has_value() ? "" : verified.error().message()) == "");
}

TEST_CASE("a function may call itself with other types, but not with ever larger ones") {
  CHECK(resultOf("def @main() { @f(1, 3) }\n"
                 "def @f[A](%x: A, %n: int32) -> int32 { if (%n == 0) { 0 } else { @f(True, %n - 1) } }") ==
        "int32");
  CHECK(messagesOf("def @main() { @f(1) }\ndef @f[A](%x: A) -> int32 { @f((%x, %x)) }").size() == 1);
  CHECK(messagesOf("def @main() { @f(1) }\ndef @f[A](%x: A) -> int32 { @g((%x, 1)) }\ndef @g[A](%x: A) -> "
                   "int32 { @f(%x) }") ==
        Messages{"3:29: @f calls itself, directly or not, with ever more types"});
}

TEST_CASE("a function may be used with any number of types") {
  std::string text = "def @second[A, B](%a: A, %b: B) -> B { %b }\n";
  std::string body = "def @main(%x: int32) {\n";
  for (int i = 0; i < 600; ++i) {
    const std::string n = std::to_string(i);
    text += "type U" + n + " { U" + n + "(int32) }\n";
    body += "  let %x = @second(U" + n + "(%x), %x);\n";
  }
  Program program = type(text + body + "  %x\n}");
  REQUIRE(program.messages() == "");
  CHECK(program.module.functions.size() == 601);
}

TEST_CASE("the result of a polymorphic function need not be declared") {
  CHECK(resultOf("def @main(%x: int32) { @twice(fn (%a) { %a + 1 }, %x) }\n"
                 "def @twice[A](%f: fn (A) -> A, %x: A) { %f(%f(%x)) }") == "int32");
}

TEST_CASE("local functions may be polymorphic, inside each other too") {
  const std::string text =
      "def @main(%x: int32) {\n"
      "  let %id = fn [A](%x: A) -> A { %x };\n"
      "  let %two = fn [A, B](%a: A, %b: B) { let %swap = fn [C](%c: C) { (%c, %a) }; (%swap(%b), %id(%a)) "
      "};\n"
      "  let %count = fn [A](%n: int32, %v: A) -> A { if (%n == 0) { %v } else { %count(%n - 1, %v) } };\n"
      "  let %none = fn [A](%v: A) { %v };\n"
      "  (%id(%x), %id(True), %two(1f, %x), %two(%x, (1, 2)), %count(3, %x), %count(2, 1.5f))\n"
      "}";
  CHECK(resultOf(text) ==
        "(int32, bool, ((int32, float32), float32), (((int32, int32), int32), int32), int32, float32)");
  Program program = type(text);
  std::vector<std::string> names;
  const ir::Function& main = program.function("main");
  for (const ir::Binding& binding : main.block(main.body).bindings)
    if (std::holds_alternative<ir::Lambda>(binding.rhs)) names.push_back(main.var(binding.var).name);
  CHECK(names == std::vector<std::string>{"id", "id", "id", "two", "two", "count", "count"});
  // Captured variables and parameters of an outer polymorphic function.
  CHECK(resultOf("def @main(%x: float32) { @pair(%x, 1) }\n"
                 "def @pair[A, B](%a: A, %b: B) { let %with = fn [C](%c: C) { (%a, %c) }; (%with(%b), "
                 "%with(%a)) }") == "((float32, int32), (float32, float32))");
  CHECK(resultOf("def @main(%p: bool) { let %f = fn [A](%x: A) { match ((%x, 1)) { (%y, _) => { if (%p) { %y "
                 "} else { %x } } } }; "
                 "(%f(1), %f(2f)) }") == "(int32, float32)");
}

TEST_CASE("what a polymorphic function does not declare has one type") {
  CHECK(resultOf("def @main() { let %f = fn [A](%a: A, %b) { (%a, %b) }; (%f(1, 2f), %f(True, 3f)) }") ==
        "((int32, float32), (bool, float32))");
  CHECK(messagesOf("def @main() { let %f = fn [A](%a: A, %b) { (%a, %b) }; (%f(1, 2f), %f(True, 3)) }") ==
        Messages{"1:68: a use of a function needs type int32; it has float32"});
  CHECK(messagesOf(
            "def @main() { @g(1) }\ndef @g[B](%y: B) { @f(True, %y) }\ndef @f[A](%a: A, %b) { (%a, %b) }") ==
        Messages{"3:18: the type of %b depends on type parameters of another function; annotate it"});
}

TEST_CASE("generics are rigid inside their function") {
  CHECK(messagesOf("def @main() { @f(1) }\ndef @f[A](%x: A) -> int32 { %x }") ==
        Messages{"2:29: the result of @f has type A; expected int32"});
  CHECK(messagesOf("def @f[A](%x: A) -> A { %x + 1 }\ndef @main() { @f(1) }").size() == 1);
}

TEST_CASE("what nothing exported reaches is dropped") {
  Program program = type("import \"prelude\"\ndef @main() { 1 }\ndef @unused() { 2 }");
  REQUIRE(program.ok());
  CHECK(program.module.functions.size() == 1);
  CHECK(messagesOf("def @main() { 1 }\ndef @unused() { 1 + 2f }").size() == 1);
  Program generic = type("def @main[A](%x: A) { %x }");
  CHECK(generic.messages().find("@main is exported, so it cannot have type parameters") != std::string::npos);
}

TEST_CASE("ranks may follow from the length of a shape") {
  CHECK(resultOf("def @main(%x: Tensor[(?,), float32], %y: Tensor[(?, ?), float32]) { reshape(%x, "
                 "shape_of(%y)) }") == "Tensor[(y_0, y_1), float32]");
  CHECK(resultOf("def @main(%x: Tensor[(?,), float32], %s: Tensor[(3,), int64]) { reshape(%x, %s) }")
            .substr(0, 7) == "Tensor[");
  CHECK(messagesOf("def @main(%x: Tensor[(?,), float32], %s: Tensor[(?,), int64]) { reshape(%x, %s) }")
            .size() == 1);
}

TEST_CASE("matches cover every case") {
  const std::string types = "type L { C(int32, L), E }\ntype T { A, B(T, T), D }\n";
  CHECK(messagesOf(types + "def @main(%l: L) { match (%l) { C(_, C(_, _)) => 1 } }") ==
        Messages{"3:20: match does not cover every case: missing C(_, E), E"});
  CHECK(
      messagesOf(types + "def @main(%t: T) { match ((%t, %t)) { (A, B(A, _)) => 1, (B(_, _), _) => 2 } }") ==
      Messages{
          "3:20: match does not cover every case: missing (A, A), (A, B(B(_, _), _)), (A, B(D, _)), (A, D), "
          "(D, _)"});
  CHECK(messagesOf(types + "def @main(%t: T) { match (%t) { } }") ==
        Messages{"3:20: match does not cover every case: missing _"});
  CHECK(messagesOf(types + "def @main(%l: L) { match? (%l) { C(_, C(_, _)) => 1 } }") == Messages{});
  CHECK(messagesOf(
            types +
            "def @main(%l: L) { match (%l) { C(_, C(_, E)) => 1, E => 2, C(_, _) => 3, E => 3, _ => 4 } }") ==
        Messages{"3:75: clause is never reached: earlier ones cover it",
                 "3:83: clause is never reached: earlier ones cover it"});
  CHECK(messagesOf(types + "def @main() { match (()) { () => 1 } }") == Messages{});
  CHECK(messagesOf(types + "def @main() { match ((1,)) { (%x,) => %x } }") == Messages{});
}

TEST_CASE("constructors that no clause mentions are one case") {
  std::string text = "type T { ";
  for (int i = 0; i < 400; ++i) text += "C" + std::to_string(i) + "(int32), ";
  text += "}\ndef @main(%a: T, %b: T) { match ((%a, %b)) { ";
  for (int i = 0; i < 400; ++i)
    text += "(C" + std::to_string(i) + "(_), C" + std::to_string(i == 0 ? 1 : i) + "(_)) => 1, ";
  CHECK(messagesOf(text + "(_, _) => 2 } }") == Messages{});
  CHECK(messagesOf(text + "(C0(_), _) => 2, (C2(_), C5(_)) => 3 } }") ==
        Messages{
            "2:27: match does not cover every case: missing (C1(_), C0(_)), (C1(_), C2(_)), (C1(_), C3(_)), "
            "(C1(_), C4(_)), (C1(_), C5(_)) and 159195 more"});
}

TEST_CASE("a match with too many cases is refused in time") {
  std::string wide = "type B { T, F }\ndef @main(%b: B) { match ((%b";
  for (int i = 1; i < 40; ++i) wide += ", %b";
  wide += ")) { ";
  for (int i = 0; i < 40; ++i) {
    wide += "(";
    for (int j = 0; j < 40; ++j)
      wide += (j > 0 ? ", " : "") + std::string(i == j ? "T" : j == (i + 7) % 40 ? "F" : "_");
    wide += ") => 1, ";
  }
  CHECK(messagesOf(wide + "_ => 2 } }").size() <= 1);
}

TEST_CASE("types of programs that are large or deep") {
  std::string chain = "def @main(%x: Tensor[(?, 4), float32]) {\n";
  for (int i = 0; i < effort(50000, 5000); ++i) chain += "  let %x = add(%x, 1f);\n";
  CHECK(resultOf(chain + "  %x\n}") == "Tensor[(x_0, 4), float32]");
  std::string pairs = "def @main(%x: int32) {\n";
  for (int i = 0; i < 60; ++i) pairs += "  let %x = (%x, %x);\n";
  CHECK(type(pairs + "  1\n}").messages().find("the type of %x has more than 100000 parts") !=
        std::string::npos);
  std::string nested = "def @main(%x: int32) {\n";
  for (int i = 0; i < 500; ++i) nested += "  let %x = (%x,);\n";
  CHECK(resultOf(nested + "  1\n}") == "int32");
}

TEST_CASE("a local function has a limited number of types") {
  std::string text = "def @main() {\n  let %g = fn [A](%x: A) -> A { %x };\n  let %x = 1;\n";
  for (int i = 0; i < 260; ++i) text += "  let %x = (%x,);\n  let %y = %g(%x);\n";
  CHECK(messagesOf(text + "  1\n}") == Messages{"2:12: %g is used with ever more types"});
}

}  // namespace
}  // namespace baton
