#include "compiler/frontend/lexer.h"

#include <catch2/catch.hpp>

namespace baton::frontend {
namespace {

std::vector<std::string> kindsAndTexts(std::string_view text) {
  Diagnostics diagnostics;
  std::vector<std::string> out;
  for (const Token& token : lex(text, 0, diagnostics).tokens)
    if (token.kind != TokenKind::End)
      out.push_back(std::string(tokenKindName(token.kind)) + " " + std::string(token.text));
  for (const Diagnostic& diagnostic : diagnostics.items()) out.push_back("! " + diagnostic.message);
  return out;
}

using Texts = std::vector<std::string>;

TEST_CASE("numbers keep their digits and their suffix") {
  Diagnostics diagnostics;
  TokenStream stream = lex("1 2i64 2.5f 1e-05f 3f16 1.0f64 7u8", 0, diagnostics);
  REQUIRE(stream.tokens.size() == 8);
  CHECK(stream.tokens[0].kind == TokenKind::Integer);
  CHECK(!stream.tokens[0].suffix);
  CHECK(stream.tokens[1].suffix == DType::I64);
  CHECK(stream.tokens[2].kind == TokenKind::Float);
  CHECK(stream.tokens[2].text == "2.5");
  CHECK(stream.tokens[3].text == "1e-05");
  CHECK(stream.tokens[3].suffix == DType::F32);
  CHECK(stream.tokens[4].kind == TokenKind::Float);
  CHECK(stream.tokens[4].suffix == DType::F16);
  CHECK(stream.tokens[5].suffix == DType::F64);
  CHECK(stream.tokens[6].suffix == DType::U8);
  CHECK(diagnostics.items().empty());
}

TEST_CASE("projections are not numbers with a fraction") {
  CHECK(kindsAndTexts("%0.1.0") ==
        Texts{"a graph binding 0", "'.' .", "an integer 1", "'.' .", "an integer 0"});
}

TEST_CASE("a slash is part of a name only between letters or digits") {
  CHECK(kindsAndTexts("%a/b / %c") == Texts{"a local name a/b", "'/' /", "a local name c"});
  CHECK(kindsAndTexts("%a/%c") == Texts{"a local name a", "'/' /", "a local name c"});
}

TEST_CASE("comments nest and doc comments are kept") {
  Diagnostics diagnostics;
  TokenStream stream = lex("/* a /* b */ c */ x // y\n/// One.\n/// Two.\ndef", 0, diagnostics);
  REQUIRE(stream.tokens.size() == 3);
  REQUIRE(stream.docs.size() == 1);
  CHECK(stream.docs[0].token == 1);
  CHECK(stream.docs[0].text == "One.\nTwo.");
  CHECK(stream.tokens[1].location == SourceLocation{0, 4, 1});
}

TEST_CASE("what cannot be a token is reported and skipped") {
  CHECK(kindsAndTexts("a $ b") == Texts{"a name a", "a name b", "! unexpected character '$'"});
  CHECK(kindsAndTexts("\xc3\xa9\xff x") == Texts{"a name x", "! unexpected byte 0xc3"});
  CHECK(kindsAndTexts("\"abc") == Texts{"a string abc", "! string is not closed"});
  CHECK(kindsAndTexts("/* x") == Texts{"! comment is not closed"});
  CHECK(kindsAndTexts("1q") == Texts{"an integer 1", "! unknown suffix 'q' of a number"});
  CHECK(kindsAndTexts("% 1") ==
        Texts{"an integer 1", "! a name must follow '%'; remainders are mod and floor_mod"});
  CHECK(kindsAndTexts("\"a\\") == Texts{"a string a\\", "! string is not closed"});
}

TEST_CASE("the version line is checked and metadata ends the program") {
  CHECK(kindsAndTexts("#[version = \"0.0.5\"]\nx") == Texts{"a name x"});
  CHECK(kindsAndTexts("#[version = \"9\"]\nx").size() == 2);
  Diagnostics diagnostics;
  TokenStream stream = lex("x #[metadata]\n{}", 0, diagnostics);
  CHECK(stream.tokens.size() == 2);
  CHECK(stream.metadata == "\n{}");
  CHECK(stream.tokens.back().location.line == 1);
  CHECK(stream.tokens.back().location.column == 3);
  CHECK(lex("#[metadata]", 0, diagnostics).tokens.size() == 1);
}

}  // namespace
}  // namespace baton::frontend
