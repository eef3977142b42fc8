#include "formats/value_text.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "formats/array_elements.h"
#include "formats/npy.h"
#include "tests/effort.h"

namespace baton {
namespace {

TextValue parsed(std::string_view text, const FileReader& files = {}) {
  Result<TextValue> value = parseValue(text, files);
  INFO(text);
  if (!value.has_value()) FAIL(value.error().message());
  return std::move(value).value();
}

std::string round(std::string_view text) { return formatValue(parsed(text)); }

std::string refused(std::string_view text, const FileReader& files = {}) {
  const Result<TextValue> value = parseValue(text, files);
  INFO(text);
  REQUIRE(!value.has_value());
  return value.error().message();
}

TEST_CASE("tensors read and print") {
  CHECK(round("2x3xf32=1 2 3 4 5 6") == "2x3xf32=1 2 3 4 5 6");
  CHECK(round("2x3xfloat32=[[1,2,3],[4,5,6]]") == "2x3xf32=1 2 3 4 5 6");
  CHECK(round(" 2x3xf32 = [ [1 2 3] , [4, 5 6] ] ") == "2x3xf32=1 2 3 4 5 6");
  CHECK(round("2x3xf32=[1, 2, 3, 4, 5, 6]") == "2x3xf32=1 2 3 4 5 6");
  CHECK(round("2x3xf32=1,2,3,4,5,6") == "2x3xf32=1 2 3 4 5 6");
  CHECK(round("i64=7") == "i64=7");
  CHECK(round("i64=[7]") == "i64=7");
  CHECK(round("int64=-9223372036854775808") == "i64=-9223372036854775808");
  CHECK(round("4xf64=nan inf -inf -0") == "4xf64=nan inf -inf -0");
  CHECK(round("3xbool=true false 1") == "3xbool=true false true");
  CHECK(round("f16=0.1") == "f16=0.1");
  CHECK(round("bf16=3e38") == "bf16=3e+38");
  CHECK(round("1x1x1xu8=255") == "1x1x1xu8=255");
}

TEST_CASE("tensors without elements read and print") {
  CHECK(round("0xf32=") == "0xf32=");
  CHECK(round("0x3xf32=[]") == "0x3xf32=");
  CHECK(round("2x0xf32=[[],[]]") == "2x0xf32=");
  CHECK(round("(0xf32=, i64=1)") == "(0xf32=, i64=1)");
  CHECK(round("[0xf32=]") == "[0xf32=]");
}

TEST_CASE("one extent may follow from the number of elements") {
  CHECK(round("?xi32=1 2 3") == "3xi32=1 2 3");
  CHECK(round("?x2xi32=1 2 3 4") == "2x2xi32=1 2 3 4");
  CHECK(round("2x?xi32=[[1,2,3],[4,5,6]]") == "2x3xi32=1 2 3 4 5 6");
  CHECK(round("(?xf32=1, 2, i64=3)") == "(2xf32=1 2, i64=3)");
  CHECK(round("?xf32=") == "0xf32=");
  CHECK(round("[?xf32=1 2 3, 2xf32=1 2, ?xf32=, 1xf32=7]") == "[3xf32=1 2 3, 2xf32=1 2, 0xf32=, 1xf32=7]");
  CHECK(round("(?xf32=1, 2, f32=3)") == "(2xf32=1 2, f32=3)");
  CHECK(refused("2x?xi32=1 2 3") == "column 1: no extent for '?' gives 3 elements");
  CHECK(refused("2x?xi32=[[1,2,3],[4]]") == "column 20: 1 elements end here, expected 3");
  CHECK(refused("0x?xi32=") == "column 1: no extent for '?' gives 0 elements");
  CHECK(refused("?x?xi32=1") == "column 1: expected a type such as f32 or 2x3xi64, found '?x?xi32'");
}

TEST_CASE("long tensors can be cut for the eye") {
  CHECK(formatValue(parsed("(4xi32=1 2 3 4, 2xi32=5 6)"), 2) == "(4xi32=1 2 ..., 2xi32=5 6)");
  CHECK(formatValue(parsed("0xi32="), 1) == "0xi32=");
  CHECK(refused("4xi32=1 2 ...").find("column 11: ") == 0);
}

TEST_CASE("structures read and print") {
  CHECK(round("()") == "()");
  CHECK(round("(i64=1,)") == "(i64=1,)");
  CHECK(round("(i64=1)") == "i64=1");
  CHECK(round("((i64=1, f32=2), ())") == "((i64=1, f32=2), ())");
  CHECK(round("(i64=1, i64=2,)") == "(i64=1, i64=2)");
  CHECK(round("[]") == "[]");
  CHECK(round("[i64=1,i64=2]") == "[i64=1, i64=2]");
  CHECK(round("[[i64=1], []]") == "[[i64=1], []]");
  CHECK(round("Nil") == "Nil");
  CHECK(round("Nil()") == "Nil");
  CHECK(round("Cons(i64=1, Cons (i64=2, Nil))") == "Cons(i64=1, Cons(i64=2, Nil))");
  CHECK(round("Rose(2xf32=1 2, [Leaf, tree.Node_2(((),))])") ==
        "Rose(2xf32=1 2, [Leaf, tree.Node_2(((),))])");
  CHECK(refused("Leaf(i64=1,)") == "column 12: expected a value, found ')'");
  CHECK(parsed("Some(())").children()[0].kind() == TextValue::Kind::Tuple);
  CHECK(parsed("(f32=1, [i64=1, i64=2])").children()[1].kind() == TextValue::Kind::List);
}

TEST_CASE("inputs may be named") {
  const auto name = [](std::string_view text) {
    Result<NamedValue> input = parseNamedValue(text);
    INFO(text);
    REQUIRE(input.has_value());
    return input.value().name.value_or("(none)") + ": " + formatValue(input.value().value);
  };
  CHECK(name("x=f32=1") == "x: f32=1");
  CHECK(name(" encoder.x:0 = (f32=1, i64=2)") == "encoder.x:0: (f32=1, i64=2)");
  CHECK(name("%x=f32=1") == "x: f32=1");
  CHECK(name("layer/0.w=f32=1") == "layer/0.w: f32=1");
  CHECK(name("f32=1") == "(none): f32=1");
  CHECK(name("x=Nil") == "x: Nil");
  CHECK(name("Cons(i64=1, Nil)") == "(none): Cons(i64=1, Nil)");
  CHECK(name("[i64=1]") == "(none): [i64=1]");
  CHECK(name("f33=i64=1") == "f33: i64=1");
  CHECK(parseNamedValue("x=1").error().message() ==
        "column 3: expected a value with its type (such as f32=1), found '1'");
  CHECK(parseNamedValue("x=").error().message() == "column 3: expected a value, found the end of the text");
}

TEST_CASE("files come through the callback") {
  std::map<std::string, std::vector<std::byte>> stored;
  stored["raw.bin"] = std::vector<std::byte>(8, std::byte{0});
  stored["raw.bin"][4] = std::byte{2};
  Array matrix{DType::I32, {1, 2}, stored["raw.bin"]};
  stored["x.npy"] = writeNpy(matrix).value();
  stored["a, b (1).npy"] = stored["x.npy"];
  const FileReader files = [&](const std::string& name) -> Result<std::vector<std::byte>> {
    if (!stored.contains(name)) return Error(ErrorCode::Io, name + ": no such file");
    return stored[name];
  };
  const auto text = [&](std::string_view source) { return formatValue(parsed(source, files)); };
  CHECK(text("2xi32=@raw.bin") == "2xi32=0 2");
  CHECK(text("?xu8=@raw.bin") == "8xu8=0 0 0 0 2 0 0 0");
  CHECK(text("i64=@raw.bin") == "i64=8589934592");
  CHECK(text("8xbool=@raw.bin") == "8xbool=false false false false true false false false");
  CHECK(text("@x.npy") == "1x2xi32=0 2");
  CHECK(text("1x2xi32=@x.npy") == "1x2xi32=0 2");
  CHECK(text("?x2xi32=@x.npy") == "1x2xi32=0 2");
  CHECK(text("Cons(@x.npy, [@x.npy])") == "Cons(1x2xi32=0 2, [1x2xi32=0 2])");
  CHECK(text("@a, b (1).npy") == "1x2xi32=0 2");
  CHECK(text("(@\"a, b (1).npy\", i64=1)") == "(1x2xi32=0 2, i64=1)");
  CHECK(refused("2xf32=@raw.bi", files) == "column 7: raw.bi: no such file");
  CHECK(refused("f32=@raw.bin", files) == "raw.bin: column 5: the type has 1 elements, found 2");
  CHECK(refused("@raw.bin", files) ==
        "column 1: raw.bin is no .npy file; bytes without a header need a type: 2x3xf32=@raw.bin");
  CHECK(refused("2xi32=@x.npy", files) == "column 7: x.npy holds 1x2xi32, not what the type says");
  CHECK(refused("@", files) == "column 2: expected a file name, found the end of the text");
  CHECK(refused("(@\"x, i64=1)", files) ==
        "column 3: expected '\"' at the end of the file name, found the end of the text");
  CHECK(refused("@x.npy") == "column 1: files cannot be read here");
  stored["cut.npy"] = std::vector<std::byte>(stored["x.npy"].begin(), stored["x.npy"].end() - 1);
  CHECK(refused("@cut.npy", files) ==
        "cut.npy: npy: found 7 bytes of data, expected 8 for shape (1, 2) of int32");
  stored["odd"] = std::vector<std::byte>(3);
  CHECK(refused("?xi16=@odd", files) == "column 7: odd has 3 bytes, no multiple of the 2 of int16");
}

TEST_CASE("errors name the column, what was expected and what was found") {
  CHECK(refused("") == "column 1: expected a value, found the end of the text");
  CHECK(refused("   ") == "column 4: expected a value, found the end of the text");
  CHECK(refused("7") == "column 1: expected a value with its type (such as f32=7), found '7'");
  CHECK(refused("-7") == "column 1: expected a value, found '-'");
  CHECK(refused("(i64=1") == "column 7: expected ',' or ')', found the end of the text");
  CHECK(refused("[i64=1)") == "column 7: expected ',' or ']', found ')'");
  CHECK(refused("[i64=1,]") == "column 8: expected a value, found ']'");
  CHECK(refused("i64=1 2") == "column 7: expected the end of the text, found '2'");
  CHECK(refused("i64=1)") == "column 6: expected the end of the text, found ')'");
  CHECK(refused("2xi64=1") == "column 8: expected element 2 of 2, found the end of the text");
  CHECK(refused("2xi64=1, Nil") == "column 10: expected element 2 of 2, found 'N'");
  CHECK(refused("2x2xf32=1,2,3,x") == "column 15: expected element 4 of 4, found 'x'");
  CHECK(refused("2xi64=1,,2") == "column 9: expected element 2 of 2, found ','");
  CHECK(refused("i64=1.5") == "column 5: cannot read '1.5' as int64");
  CHECK(refused("i8=300") == "column 4: number is out of range: '300' as int8");
  CHECK(refused("f32=x") == "column 5: expected element 1 of 1, found 'x'");
  CHECK(refused("3xfoo=1") == "column 1: expected a type such as f32 or 2x3xi64, found '3xfoo'");
  CHECK(refused("f32") == "column 4: expected '=' after the type f32, found the end of the text");
  CHECK(refused("2x2xf32=[[1,2],[3]]") == "column 18: 1 elements end here, expected 2");
  CHECK(refused("2x3xf32=[[1,2],[3,4],[5,6]]") == "column 14: 2 elements end here, expected 3");
  CHECK(refused("2x2xf32=[[1,2],3,4]") == "column 16: brackets do not nest like the axes of the type");
  CHECK(refused("2xf32=[[1,2]]") == "column 8: expected an element, found '['");
  CHECK(refused("2xf32=[1,2") == "column 11: expected an element or ']', found the end of the text");
  CHECK(refused("2xf32=[1,,2]") == "column 10: expected an element or ']', found ','");
  CHECK(refused("2xf32=[1,2,3]") == "column 13: 3 elements end here, expected 2");
  CHECK(refused(std::string_view("i64=1\0", 6)) == "column 6: expected the end of the text, found byte 0");
  CHECK(refused("\xff") == "column 1: expected a value, found byte 255");
  CHECK(refused("99999999999999999999xf32=1") ==
        "column 1: expected a type such as f32 or 2x3xi64, found '99999999999999999999xf32'");
  CHECK(refused("4611686018427387904x4611686018427387904xf32=1") ==
        "column 1: the type has too many elements, found 1");
  CHECK(refused("1000000000000xf32=1") ==
        "column 20: expected element 2 of 1000000000000, found the end of the text");
}

TEST_CASE("types in text") {
  CHECK(parseTensorType("2x3xf32").value().shape == std::vector<int64_t>{2, 3});
  CHECK(parseTensorType("?xbool").value().shape == std::vector<int64_t>{-1});
  CHECK(parseTensorType("bf16").value().dtype == DType::BF16);
  for (const char* text : {"", "x", "2x", "2xx3xf32", "2 xf32", "xf32", "-1xf32", "2x3", "f32x2", "2xf32 "})
    CHECK_FALSE(parseTensorType(text).has_value());
}

TEST_CASE("lists a million long or deep are read, printed and freed") {
  std::string wide = "[";
  std::string deep;
  std::string nested;
  const int count = effort(1'000'000, 50'000);
  for (int i = 0; i < count; ++i) {
    wide += i == 0 ? "u8=1" : ", u8=1";
    deep += "Cons(u8=1, ";
    nested += '[';
  }
  wide += ']';
  deep += "Nil" + std::string(count, ')');
  nested += std::string(count, ']');
  for (const std::string& text : {wide, deep, nested}) {
    const bool same = round(text) == text;
    CHECK(same);
  }
  CHECK(!parseValue(std::string(count, '(')).has_value());
  CHECK(!parseValue(deep.substr(0, deep.size() / 2)).has_value());
}

TEST_CASE("random values read back as they were") {
  std::mt19937 random(12);
  const auto randomTensor = [&] {
    Array data{static_cast<DType>(random() % kDTypeCount), {}, {}};
    size_t count = 1;
    for (uint32_t rank = random() % 4; rank-- > 0;) {
      data.shape.push_back(random() % 4);
      count *= static_cast<size_t>(data.shape.back());
    }
    for (size_t i = 0; i < count; ++i) {
      const uint64_t raw = (uint64_t{random()} << 32) | random();
      appendElement(data, data.dtype == DType::Bool ? raw % 2 : raw);
    }
    return TextValue::tensor(std::move(data));
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<TextValue> pool;
    for (int i = 0; i < 8; ++i) pool.push_back(randomTensor());
    while (pool.size() > 1) {
      std::vector<TextValue> children;
      for (uint32_t i = random() % 3; i-- > 0 && !pool.empty();) {
        children.push_back(std::move(pool.back()));
        pool.pop_back();
      }
      TextValue made = random() % 3 == 0 ? TextValue::tuple(std::move(children))
                       : random() % 2 == 0
                           ? TextValue::list(std::move(children))
                           : TextValue::constructor("C" + std::to_string(random() % 3), std::move(children));
      pool.insert(pool.begin() + static_cast<ptrdiff_t>(pool.empty() ? 0 : random() % pool.size()),
                  std::move(made));
      if (random() % 20 == 0) break;
    }
    const std::string text = formatValue(pool.front());
    const TextValue back = parsed(text);
    INFO(text);
    REQUIRE(back == pool.front());
    REQUIRE(formatValue(back) == text);
  }
}

TEST_CASE("random damage of text is an error or a value that prints") {
  const std::vector<std::string> good = {
      "(2x3xf32=[[1,2,3],[4,5,6]], i64=7, [Cons(0xf32=, Nil), ()], 3xbool=true false true)",
      "x=Cons(f16=-1.5e3, Cons(?xi32=1, 2, 3, Nil))", "[?x2xbf16=[[nan, inf], [-inf, 0]], @\"a\", u8=@b]"};
  const FileReader files = [](const std::string&) -> Result<std::vector<std::byte>> {
    return std::vector<std::byte>(4);
  };
  std::mt19937 random(6);
  constexpr std::string_view kCharacters = "()[],=@\"x?0123456789.-+efiub nNa\\ \xff";
  int accepted = 0;
  for (int round = 0; round < 40000; ++round) {
    std::string text = good[random() % good.size()];
    for (uint32_t i = 1 + random() % 4; i-- > 0 && !text.empty();) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = kCharacters[random() % kCharacters.size()]; break;
        case 1: text.erase(at, 1 + random() % 3); break;
        case 2: text.insert(at, 1, kCharacters[random() % kCharacters.size()]); break;
        case 3: text.insert(at, text.substr(random() % text.size(), random() % 8)); break;
      }
    }
    Result<NamedValue> value = parseNamedValue(text, files);
    if (!value.has_value()) continue;
    ++accepted;
    const std::string printed = formatValue(value.value().value);
    INFO(text << "\n" << printed);
    const Result<TextValue> back = parseValue(printed);
    REQUIRE(back.has_value());
    REQUIRE(back.value() == value.value().value);
  }
  CHECK(accepted > 1000);
}

}  // namespace
}  // namespace baton
