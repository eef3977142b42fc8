#include "compiler/frontend/parser.h"

#include <catch2/catch.hpp>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "tests/unit/compiler/program.h"

namespace baton {
namespace {

using testing::parse;
using testing::Program;

std::string printed(const std::string& text) {
  Program program = parse(text);
  if (!program.ok()) return program.messages();
  Result<void> verified = ir::verify(program.module, {.isTyped = false});
  if (!verified.has_value()) return verified.error().message();
  return ir::print(program.module);
}

TEST_CASE("operators follow their precedence and associate to the left") {
  CHECK(printed("def @main(%a: int32, %b: int32) { %a - %b - %a * %b + 1 }") ==
        "def @main(%a: int32, %b: int32) {\n"
        "  %0 = subtract(%a, %b);\n"
        "  %1 = multiply(%a, %b);\n"
        "  %2 = subtract(%0, %1);\n"
        "  %3 = add(%2, 1);\n"
        "  %3\n"
        "}\n");
  CHECK(printed("def @main(%a: int32) { %a + 1 < %a * 2 == True }") ==
        "def @main(%a: int32) {\n"
        "  %0 = add(%a, 1);\n"
        "  %1 = multiply(%a, 2);\n"
        "  %2 = less(%0, %1);\n"
        "  %3 = equal(%2, True);\n"
        "  %3\n"
        "}\n");
}

TEST_CASE("unary minus makes literals negative and negates the rest") {
  CHECK(printed("def @main(%a: int32) { -%a - -2 }") ==
        "def @main(%a: int32) {\n  %0 = negative(%a);\n  %1 = subtract(%0, -2);\n  %1\n}\n");
  CHECK(printed("def @main() { -2147483648 }") == "def @main() {\n  -2147483648\n}\n");
  CHECK(printed("def @main() { (2147483648, -9223372036854775808i64, -0f, -inff, nan, 1e-05f, 2.5f16) }") ==
        "def @main() {\n  %0 = (2147483648i64, -9223372036854775808i64, -0f, -inff, nanf, 1e-05f, 2.5f16);\n "
        " %0\n}\n");
}

TEST_CASE("literals that do not fit wrap around with a warning") {
  Program program = parse("def @main() { (171i8, -1u8, 255u8) }");
  REQUIRE(program.ok());
  CHECK(ir::print(program.module) == "def @main() {\n  %0 = (-85i8, 255u8, 255u8);\n  %0\n}\n");
  REQUIRE(program.diagnostics.items().size() == 2);
  CHECK(program.diagnostics.items()[0].message == "171 does not fit int8 and wraps around");
  CHECK(program.diagnostics.items()[1].message == "-1 does not fit uint8 and wraps around");
  CHECK(!parse("def @main() { 18446744073709551616 }").ok());
}

TEST_CASE("inner names do not capture outer uses") {
  CHECK(printed("def @main() { let %y = 10; let %x = (let %y = 2; %y * %y); %x + %y }") ==
        "def @main() {\n"
        "  let %y = 10;\n"
        "  let %y_1 = 2;\n"
        "  let %x = multiply(%y_1, %y_1);\n"
        "  %0 = add(%x, %y);\n"
        "  %0\n"
        "}\n");
  CHECK(printed("def @main(%v: int32) { let %v = %v + 1; let %v = %v * 2; %v }") ==
        "def @main(%v: int32) {\n"
        "  let %v_1 = add(%v, 1);\n"
        "  let %v_2 = multiply(%v_1, 2);\n"
        "  %v_2\n"
        "}\n");
}

TEST_CASE("names of a branch or clause end with it") {
  CHECK(parse("def @main(%b: bool) { let %r = if (%b) { let %t = 1; %t } else { 2 }; %t }")
            .messages()
            .find("%t is not defined here") != std::string::npos);
  CHECK(parse("type T { A(int32), B }\ndef @main(%t: T) { let %r = match (%t) { A(%q) => %q, B => 0 }; %q }")
            .messages()
            .find("%q is not defined here") != std::string::npos);
}

TEST_CASE("match may stand wherever an expression may") {
  CHECK(printed("def @main() { %1 = match (()) { _ => 4 }; add(%1, (match (%1) { %x => %x },).0) }") ==
        "def @main() {\n"
        "  %0 = ();\n"
        "  %1 = match (%0) {\n    _ => {\n      4\n    },\n  };\n"
        "  %2 = match (%1) {\n    %x => {\n      %x\n    },\n  };\n"
        "  %3 = (%2,);\n"
        "  %4 = %3.0;\n"
        "  %5 = add(%1, %4);\n"
        "  %5\n"
        "}\n");
}

TEST_CASE("all forms print to text that parses to the same") {
  const std::string text =
      "/// A pair.\n"
      "type P[A, B] {\n  Q(A, B),\n  N,\n}\n"
      "extern type Handle\n"
      "param @w : Tensor[(2, 3), float32] = \"layer.w\"\n"
      "/// Does it all.\n"
      "def @all[A](%f: fn (A) -> A, %p: P[A, (int32, bool)], %r: ref(float16), %t: Tensor[(n, ?, 2*n + 1), "
      "int8]) -> _ "
      "where n <= 512, floor_mod(n, 8) == 0 {\n"
      "  let %g = fn (%x: A, Primitive=1, name=\"k\") -> A {\n"
      "    %0 = %g(%x);\n"
      "    %0\n"
      "  };\n"
      "  %1 = match? (%p) {\n"
      "    Q(%a, (%b, _)) => {\n"
      "      %2 = if (True) {\n        %b\n      } else {\n        1\n      };\n"
      "      %2\n"
      "    },\n"
      "    N => {\n      2\n    },\n"
      "  };\n"
      "  %3 = ref(%1);\n"
      "  %4 = ref_write(%3, 5);\n"
      "  %5 = ref_read(%3);\n"
      "  %6 = {\n"
      "    let %j = fn (%i: int32, join=1) {\n"
      "      %7 = less(%i, 0);\n"
      "      %8 = if (%7) {\n        %i\n      } else {\n        %9 = %j(%i);\n        %9\n      };\n"
      "      %8\n"
      "    };\n"
      "    %10 = %j(%5);\n"
      "    %10\n"
      "  };\n"
      "  %11 = N;\n"
      "  %12 = nn.dense(@w, @w, out_dtype=\"float32\");\n"
      "  %13 = sum(%12, axis=[0, 1], keepdims=True);\n"
      "  %14 = @all(%f, %p, %r, %t);\n"
      "  %15 = (%14, %13, %11);\n"
      "  %15\n"
      "}\n";
  CHECK(printed(text) == text);
}

TEST_CASE("constants travel in the metadata section") {
  Program program = parse("def @main() { 1 }");
  ir::Constant constant;
  constant.dtype = DType::I16;
  constant.shape = {0, 3};
  ir::ConstantId empty = program.module.addConstant(constant);
  constant.shape = {2};
  constant.bytes = {std::byte{1}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};
  ir::ConstantId two = program.module.addConstant(constant);
  ir::Function& main = program.module.functions[0];
  ir::VarId tuple = main.addVar({});
  main.block(main.body).bindings.push_back({tuple, ir::MakeTuple{{two, empty, two}}, {}, {}});
  main.block(main.body).result = tuple;
  std::string text = ir::print(program.module, {.constants = true});
  Program again = parse(text);
  REQUIRE(again.messages() == "");
  CHECK(ir::print(again.module, {.constants = true}) == text);
  const auto& made = std::get<ir::MakeTuple>(again.function("main").blocks[0].bindings[0].rhs);
  CHECK(made.elements[0] == made.elements[2]);
  CHECK(again.module.constant(made.elements[0].constant()).bytes == constant.bytes);
  CHECK(again.module.constant(made.elements[1].constant()).shape == std::vector<int64_t>{0, 3});
  // Without the section the text can be read, but not compiled.
  CHECK(ir::print(program.module).find("meta[relay.Constant][0] /* int16[2] */") != std::string::npos);
  CHECK(parse(ir::print(program.module)).messages().find("the text has no #[metadata] section") !=
        std::string::npos);
}

TEST_CASE("metadata that is not what it should be is refused") {
  const std::string head = "def @main() { meta[relay.Constant][0] }\n#[metadata]\n";
  for (const char* section :
       {"", "x", "[]", "{}", "{\"root\": 1}", "{\"root\": 1, \"nodes\": []}",
        "{\"root\": 5, \"nodes\": [1, 2]}",
        "{\"root\":1,\"nodes\":[{},{\"type_key\":\"Map\",\"keys\":[\"relay.Constant\"],\"data\":[2]},"
        "{\"data\":[3]},{\"attrs\":{\"data\":\"0\"}}],\"b64ndarrays\":[\"AAAA\"]}",
        "{\"root\":1,\"nodes\":[{},{\"type_key\":\"Map\",\"keys\":[\"relay.Constant\"],\"data\":[2]},"
        "{\"data\":[3]},{\"attrs\":{\"data\":\"0\"}}],\"b64ndarrays\":[\"!!\"]}"}) {
    INFO(section);
    CHECK(!parse(head + section).ok());
  }
  CHECK(!parse(head + std::string(100000, '[')).ok());
}

TEST_CASE("objects of the metadata that contain themselves are refused") {
  const std::string section =
      "\n#[metadata]\n{\"root\": 1, \"nodes\": [{\"type_key\": \"\"}, {\"type_key\": \"Map\", \"keys\": "
      "[\"Array\", "
      "\"tir.Add\"], \"data\": [2, 3]}, {\"type_key\": \"Array\", \"data\": [4]}, {\"type_key\": \"Array\", "
      "\"data\": "
      "[5]}, {\"type_key\": \"Array\", \"data\": [4, 4]}, {\"type_key\": \"tir.Add\", \"attrs\": {\"a\": "
      "\"5\", \"b\": "
      "\"5\"}}]}";
  CHECK(parse("def @main(%x: Tensor[(2,), float32]) { sum(%x, axis=meta[Array][0]) }" + section)
            .messages()
            .find("meta[Array][0] is no attribute") != std::string::npos);
  CHECK(parse("def @main(%x: Tensor[(meta[tir.Add][0],), float32]) { %x }" + section)
            .messages()
            .find("the metadata holds no extent here") != std::string::npos);
}

TEST_CASE("names with dots are found before fields are") {
  CHECK(printed("def @main(%x.1: int32, %x: (int32, int32), %a.b.0: (int32,)) { (%x.1, %x.0, %a.b.0, "
                "%a.b.0.0) }") ==
        "def @main(%x.1: int32, %x: (int32, int32), %a.b.0: (int32,)) {\n"
        "  %0 = %x.0;\n"
        "  %1 = %a.b.0.0;\n"
        "  %2 = (%x.1, %0, %a.b.0, %1);\n"
        "  %2\n"
        "}\n");
  // What stands apart is a field.
  CHECK(printed("def @main(%x: (int32, int32)) { let %y .1 = 2; %x }").find("expected") != std::string::npos);
}

TEST_CASE("strings keep their escapes") {
  const std::string text = "def @main(note=\"a \\\"b\\\" \\\\ c\\n\") {\n  1\n}\n";
  CHECK(printed(text) == text);
  Program program = parse(text);
  REQUIRE(program.ok());
  CHECK(program.function("main").attrs.stringOf("note") == "a \"b\" \\ c\n");
}

TEST_CASE("the printed text is the same program") {
  // What the text has no other form for: numbers of attributes that look like integers.
  Program program = parse("def @main(scale=2.0, count=2, list=[1, 2], none=None) { 1 }");
  REQUIRE(program.ok());
  const ir::Attrs& attrs = program.function("main").attrs;
  Program again = parse(ir::print(program.module));
  REQUIRE(again.ok());
  CHECK(again.function("main").attrs == attrs);
  CHECK(attrs.get<double>("scale") == 2.0);
  CHECK(attrs.get<int64_t>("count") == 2);
}

TEST_CASE("constructors and operators are values") {
  CHECK(printed("type L { C(int32, L), E }\ndef @main() { (C, E, negative) }").find("fn (%a0, %a1)") !=
        std::string::npos);
}

TEST_CASE("imports bring the prelude once, and only what is known") {
  Program program = parse("import \"prelude\"\nimport \"prelude\";\ndef @main() { @length(Cons(1, Nil)) }");
  CHECK(program.messages() == "");
  CHECK(program.module.findFunction("length"));
  CHECK(parse("import \"other\"\ndef @main() { 1 }").messages().find("unknown module \"other\"") !=
        std::string::npos);
}

TEST_CASE("what is exported") {
  Program program = parse("def @main() { 1 }\ndef @f() { 2 }\ndef @g() { 3 }", {.entries = {"g"}});
  REQUIRE(program.ok());
  CHECK(program.function("main").isExported);
  CHECK(!program.function("f").isExported);
  CHECK(program.function("g").isExported);
  CHECK(parse("def @main() { 1 }", {.entries = {"h"}}).messages() == "error: no function @h to export\n");
  Program none = parse("import \"prelude\"\ndef @f() { 2 }\ndef @g[A](%x: A) { %x }");
  CHECK(none.function("f").isExported);
  CHECK(!none.function("g").isExported);
  CHECK(!none.function("id").isExported);
}

TEST_CASE("length is no obstacle and depth is bounded") {
  std::string sum = "def @main(%x: int32) { %x";
  for (int i = 0; i < 50000; ++i) sum += " + %x";
  Program flat = parse(sum + " }");
  REQUIRE(flat.ok());
  CHECK(flat.function("main").blocks[0].bindings.size() == 50000);
  auto nested = [](int depth) {
    return "def @main() { " + std::string(static_cast<size_t>(depth), '(') + "1" +
           std::string(static_cast<size_t>(depth), ')') + " }";
  };
  CHECK(parse(nested(2100)).ok());
  CHECK(parse(nested(100000)).messages().find("nested deeper than 2200 levels") != std::string::npos);
  std::string type = "def @main(%x: " + std::string(100000, '(') + ") { 1 }";
  CHECK(parse(type).messages().find("nested deeper than 2200 levels") != std::string::npos);
  std::string list = "def @main() { sum(1, axis=" + std::string(100000, '[');
  CHECK(!parse(list).ok());
  std::string braces = "def @main() { " + std::string(100000, '{');
  CHECK(!parse(braces).ok());
  std::string pattern = "def @main() { match (1) { " + std::string(100000, '(');
  CHECK(!parse(pattern).ok());
  std::string ifs = "def @main() { ";
  for (int i = 0; i < 100000; ++i) ifs += "if (True) { 1 } else ";
  CHECK(!parse(ifs).ok());
  std::string dims = "def @main(%x: Tensor[(" + std::string(100000, '-');
  CHECK(!parse(dims).ok());
}

}  // namespace
}  // namespace baton
