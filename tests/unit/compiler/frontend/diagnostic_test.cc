#include "compiler/frontend/diagnostic.h"

#include <catch2/catch.hpp>

#include "tests/unit/compiler/program.h"

namespace baton {
namespace {

using testing::parse;
using testing::type;

std::vector<std::string> messagesOf(const testing::Program& program) {
  std::vector<std::string> out;
  for (const frontend::Diagnostic& item : program.diagnostics.items())
    out.push_back(std::to_string(item.location.line) + ":" + std::to_string(item.location.column) + ": " +
                  item.message);
  return out;
}

using Messages = std::vector<std::string>;

TEST_CASE("a message shows the place, the line, a caret and the type") {
  CHECK(type("def @main(%x: Tensor[(n, 300), float32], %w: Tensor[(64, 512), float32]) {\n"
             "  %h = nn.dense(%x, %w);\n"
             "  %h\n"
             "}\n")
            .messages() ==
        "test.relay:2:17: error: nn.dense: dimension 1 of the data (300) does not match dimension 1 of the "
        "weight (512)\n"
        "    2 |   %h = nn.dense(%x, %w);\n"
        "      |                 ^~  Tensor[(n, 300), float32]\n");
}

TEST_CASE("every wrong statement is reported once") {
  CHECK(messagesOf(parse("def @main() {\n"
                         "  let %a = ;\n"
                         "  let %b = foo(%a);\n"
                         "  let %c = (1, ;\n"
                         "  let = 3;\n"
                         "  if (True) { let %q = ]; 1 } else { 2 };\n"
                         "  %nope\n"
                         "}\n"
                         "def @g( { 1 }\n"
                         "def @h() { @nothing(1) }\n"
                         "type T { A(, B }\n")) ==
        Messages{"11:12: expected a type, found ','", "2:12: expected an expression, found ';'",
                 "3:12: unknown operator or constructor foo", "4:16: expected an expression, found ';'",
                 "5:7: expected a local name after 'let', found '='",
                 "6:24: expected an expression, found ']'", "7:3: %nope is not defined here",
                 "9:9: expected a local name as a parameter, found '{'", "10:12: @nothing is not defined"});
}

TEST_CASE("names are defined once") {
  CHECK(messagesOf(parse("def @f() { 1 }\ndef @f() { 2 }\ntype T { A, A }\ntype T { B }\n"
                         "def @g(%x: int32, %x: int32) { 1 }")) ==
        Messages{"2:5: @f is defined twice", "1:5: the other definition", "4:6: type T is defined twice",
                 "3:6: the other definition", "3:13: constructor A is defined twice",
                 "3:10: the other definition", "5:19: parameter %x is defined twice", "5:8: the other one"});
  CHECK(messagesOf(parse("free_var %x: int32;\nfree_var %y: int32;\nfree_var %x: int32;\n%y")) ==
        Messages{"3:10: parameter %x is defined twice", "1:10: the other one"});
}

TEST_CASE("attributes are checked against the operator") {
  CHECK(messagesOf(parse("def @main(%x: Tensor[(2, 2), float32]) {\n"
                         "  let %a = sum(%x, axes=[1]);\n"
                         "  let %b = sum(%x, axis=\"one\");\n"
                         "  let %c = sum(%x, axis=[1], axis=[0]);\n"
                         "  let %d = cast(%x);\n"
                         "  let %e = cast(%x, dtype=\"float33\");\n"
                         "  let %f = nn.dense(%x);\n"
                         "  let %g = (fn (%y) { %y })(%x, axis=1);\n"
                         "  let %h = sum(%x, axis=99999999999999999999);\n"
                         "  1\n"
                         "}")) ==
        Messages{"2:20: sum has no attribute axes: it has axis, keepdims, exclude; did you mean axis?",
                 "3:25: sum: attribute axis must be a list of integers, found \"one\"",
                 "4:30: attribute axis is given twice", "5:12: cast: attribute dtype is missing",
                 "6:27: cast: attribute dtype must be a dtype, found \"float33\"; did you mean float32?",
                 "7:12: nn.dense takes 2 inputs, found 1",
                 "8:33: attribute axis: only operators have attributes",
                 "9:25: 99999999999999999999 does not fit 64 bits"});
}

TEST_CASE("dims are bound by a whole extent") {
  CHECK(messagesOf(parse("def @main(%x: Tensor[(2*n, 3), float32]) { 1 }")) ==
        Messages{"1:25: dim n is never a whole extent of a tensor, so nothing gives it a value"});
  CHECK(parse("def @main(%x: Tensor[(2*n, n), float32]) { 1 }").ok());
  CHECK(messagesOf(parse("def @main(%x: Tensor[(n,), float32]) where m < n { 1 }")) ==
        Messages{"1:44: unknown dim m"});
  CHECK(messagesOf(parse("def @main(%x: Tensor[(-1,), float32]) { 1 }")) ==
        Messages{"1:23: extent -1 is negative"});
  CHECK(messagesOf(parse("def @main(%x: Tensor[(n, floor_div(n, 0)), float32]) { 1 }")) ==
        Messages{"1:26: floor_div by zero"});
  CHECK(messagesOf(parse("def @main(%x: Tensor[(n, foo(n, 2)), float32]) { 1 }")).size() == 1);
}

TEST_CASE("long lines are cut around the place and errors past the limit are counted") {
  std::string text = "def @main() { " + std::string(500, ' ') + "%a }";
  std::string message = parse(text).messages();
  CHECK(message.size() < 500);
  CHECK(message.find("^~") != std::string::npos);
  std::string many = "def @main() {\n";
  for (int i = 0; i < 150; ++i) many += "let %x = ;\n";
  CHECK(parse(many + "1 }").messages().find("50 more errors\n") != std::string::npos);
}

TEST_CASE("tabs do not move the caret") {
  CHECK(parse("def @main() {\n\t\t%a\n}").messages() ==
        "test.relay:2:3: error: %a is not defined here\n    2 | \t\t%a\n      | \t\t^~\n");
}

}  // namespace
}  // namespace baton
