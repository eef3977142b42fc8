#include <catch2/catch.hpp>

#include "program.h"

namespace baton::passes {
namespace {

/// The body of a function of one expression over %x: TYPE and %y: TYPE, after the pass.
std::string simplified(const std::string& type, const std::string& expression) {
  const std::vector<std::vector<std::string>> scalars = {
      {"i32=0", "i32=1"},           {"i32=-7", "i32=3"}, {"i32=-2147483648", "i32=-1"},
      {"i32=2147483647", "i32=31"}, {"i32=5", "i32=5"},  {"i32=1", "i32=-2147483648"},
  };
  const std::vector<std::vector<std::string>> floats = {
      {"f32=0", "f32=-0"},   {"f32=-0", "f32=0"},       {"f32=nan", "f32=1"},    {"f32=inf", "f32=-inf"},
      {"f32=1.5", "f32=-3"}, {"f32=1e-45", "f32=3e38"}, {"f32=-inf", "f32=nan"}, {"f32=0.1", "f32=7"},
  };
  const std::vector<std::vector<std::string>> bools = {{"bool=true", "bool=true"},
                                                       {"bool=true", "bool=false"},
                                                       {"bool=false", "bool=true"},
                                                       {"bool=false", "bool=false"}};
  const std::string text = "def @main(%x: " + type + ", %y: " + type + ") { " + expression + " }";
  Program program = checkSame(text, {"simplify-algebra", "fold-constants", "dead-code"},
                              type == "int32"  ? scalars
                              : type == "bool" ? bools
                                               : floats);
  const std::string printed = program.text("main");
  const size_t open = printed.find("{\n") + 2;
  std::string body = printed.substr(open, printed.rfind('}') - open);
  std::string tight;
  for (char c : body)
    if (c != '\n') tight += c;
  while (!tight.empty() && tight.front() == ' ') tight.erase(tight.begin());
  return tight;
}

TEST_CASE("integers have all their identities", "[simplify-algebra]") {
  for (const char* same : {"%x + 0",
                           "0 + %x",
                           "%x - 0",
                           "%x * 1",
                           "1 * %x",
                           "%x / 1",
                           "floor_divide(%x, 1)",
                           "negative(negative(%x))",
                           "bitwise_or(%x, 0)",
                           "bitwise_and(%x, -1)",
                           "bitwise_xor(0, %x)",
                           "bitwise_and(%x, %x)",
                           "maximum(%x, %x)",
                           "left_shift(%x, 0)",
                           "right_shift(%x, 0)",
                           "floor(%x)",
                           "round(%x)",
                           "copy(%x)",
                           "cast(%x, dtype=\"int32\")",
                           "bitwise_not(bitwise_not(%x))",
                           "(%x + 0) * 1",
                           "where(%x < %y, %x, %x)",
                           "if (%x < %y) { %x } else { %x }"}) {
    INFO(same);
    CHECK(simplified("int32", same) == "%x");
  }
  for (const char* zero : {"%x - %x", "%x * 0", "0 * %x", "mod(%x, 1)", "floor_mod(%x, 1)",
                           "bitwise_and(0, %x)", "bitwise_xor(%x, %x)"}) {
    INFO(zero);
    CHECK(simplified("int32", zero) == "0");
  }
  for (const char* truth :
       {"%x == %x", "%x <= %x", "%x >= %x", "logical_not(%x < %x)", "logical_not(%x != %x)"}) {
    INFO(truth);
    CHECK(simplified("int32", truth) == "True");
  }
  CHECK(simplified("int32", "0 - %x").find("negative(%x)") != std::string::npos);
  CHECK(simplified("int32", "%x * -1").find("negative(%x)") != std::string::npos);
  CHECK(simplified("int32", "negative(%x - %y)").find("subtract(%y, %x)") != std::string::npos);
  CHECK(simplified("int32", "logical_not(%x < %y)").find("greater_equal(%x, %y)") != std::string::npos);
  CHECK(simplified("int32", "if (%x < %y) { True } else { False }").find("if") == std::string::npos);
}

TEST_CASE("what can fail is not made to vanish by a rule about its divisor", "[simplify-algebra]") {
  for (const auto& [expression, stays] :
       std::vector<std::pair<std::string, std::string>>{{"%x / -1", "= divide(%x, -1)"},
                                                        {"%x / 0", "= divide(%x, 0)"},
                                                        {"mod(%x, %y)", "= mod(%x, %y)"},
                                                        {"%x / %x", "= divide(%x, %x)"},
                                                        {"left_shift(%x, %y)", "= left_shift(%x, %y)"},
                                                        {"nn.relu(abs(%x))", "= nn.relu("},
                                                        {"floor_divide(%x, 2)", "= floor_divide(%x, 2)"}}) {
    INFO(expression);
    CHECK(simplified("int32", expression).find(stays) != std::string::npos);
  }
}

TEST_CASE("floats keep their zeros, infinities and NaN", "[simplify-algebra]") {
  for (const char* same : {"%x * 1f", "1f * %x", "%x / 1f", "%x - 0f", "%x + -0f", "-0f + %x",
                           "negative(negative(%x))", "maximum(%x, %x)", "minimum(%x, %x)", "copy(%x)"}) {
    INFO(same);
    CHECK(simplified("float32", same) == "%x");
  }
  for (const char* stays :
       {"%x + 0f", "0f + %x", "%x - -0f", "%x * 0f", "%x - %x", "%x / %x", "%x == %x", "%x < %x",
        "logical_not(%x < %y)", "floor_divide(%x, 1f)", "%x / 3f", "0f - %x", "%x * 2f", "%x / 1e-45f",
        "reinterpret(reinterpret(%x, dtype=\"int32\"), dtype=\"float32\")", "negative(%x - %y)",
        "mod(%x, 1f)"}) {
    INFO(stays);
    CHECK(simplified("float32", stays).find('(') != std::string::npos);
  }
  CHECK(simplified("float32", "%x * -1f").find("negative(%x)") != std::string::npos);
  CHECK(simplified("float32", "%x / 8f").find("multiply(%x, 0.125f)") != std::string::npos);
  CHECK(simplified("float32", "%x / -0.25f").find("multiply(%x, -4f)") != std::string::npos);
  CHECK(simplified("float32", "floor(ceil(%x))").find("floor") == std::string::npos);
  CHECK(simplified("float32", "abs(negative(%x))").find("negative") == std::string::npos);
  CHECK(simplified("float32", "nn.relu(abs(%x))").find("relu") == std::string::npos);
  CHECK(simplified("float32", "abs(nn.relu(%x))").find("abs") == std::string::npos);
  CHECK(simplified("float32", "logical_not(%x == %y)").find("not_equal(%x, %y)") != std::string::npos);
}

TEST_CASE("bools", "[simplify-algebra]") {
  for (const char* same :
       {"logical_and(%x, True)", "logical_or(False, %x)", "logical_xor(%x, False)",
        "logical_not(logical_not(%x))", "logical_and(%x, %x)", "%x == True", "%x != False",
        "where(%x, True, False)", "if (%x) { True } else { False }", "%x + False", "%x * True"}) {
    INFO(same);
    CHECK(simplified("bool", same) == "%x");
  }
  CHECK(simplified("bool", "logical_and(%x, False)") == "False");
  CHECK(simplified("bool", "logical_or(True, %x)") == "True");
  CHECK(simplified("bool", "logical_xor(%x, True)").find("logical_not(%x)") != std::string::npos);
  CHECK(simplified("bool", "if (%x) { False } else { True }").find("logical_not(%x)") != std::string::npos);
  CHECK(simplified("bool", "if (%x) { %y } else { True }").find("if") != std::string::npos);
}

/// cast(cast(x: from, through), to), over values that tell.
size_t casts(const char* from, const char* through, const char* to) {
  const std::string text = std::string("def @main(%x: Tensor[(n,), float64]) { cast(cast(cast(%x, dtype=\"") +
                           from + "\"), dtype=\"" + through + "\"), dtype=\"" + to + "\") }";
  Program program = checkSame(
      text, {"simplify-algebra", "fold-constants", "dead-code"},
      {{"13xf64=0 -0 1 -1 255 256 -128 65504 1e9 -1e10 1e300 nan inf"}, {"3xf64=0.1 16777217 -2.5"}});
  return occurrences(program.text("main"), "cast(") - 1;
}

TEST_CASE("casts that a detour does not change", "[simplify-algebra]") {
  CHECK(casts("int32", "int64", "int16") == 1);
  CHECK(casts("int64", "int32", "int16") == 1);
  CHECK(casts("int32", "int64", "int32") == 0);
  CHECK(casts("int16", "float32", "int16") == 0);
  CHECK(casts("uint8", "float16", "float32") == 1);
  CHECK(casts("float16", "float32", "float64") == 1);
  CHECK(casts("float32", "float64", "float32") == 0);
  CHECK(casts("float32", "float64", "int8") == 1);
  CHECK(casts("bool", "float32", "int64") == 1);
  CHECK(casts("int32", "float64", "int32") == 0);
  // Floats saturate where integers wrap, round, and lose what is small.
  CHECK(casts("int32", "float64", "int8") == 2);
  CHECK(casts("int32", "float32", "int32") == 2);
  CHECK(casts("int32", "int16", "int32") == 2);
  CHECK(casts("int32", "int16", "int64") == 2);
  CHECK(casts("float32", "float16", "float32") == 2);
  CHECK(casts("float32", "int32", "float32") == 2);
  CHECK(casts("int32", "bool", "int32") == 2);
  CHECK(casts("float32", "bfloat16", "float16") == 2);
  CHECK(casts("uint32", "int32", "int64") == 2);
}

std::string shapes(const char* params, const char* expression,
                   const std::vector<std::vector<std::string>>& runs) {
  Program program = checkSame(std::string("def @main(") + params + ") { " + expression + " }",
                              {"simplify-algebra", "fold-constants", "dead-code"}, runs);
  return program.text("main");
}

TEST_CASE("shapes that come back", "[simplify-algebra]") {
  const char* x = "%x: Tensor[(2, n), float32]";
  const std::vector<std::vector<std::string>> runs = {{"2x3xf32=1 2 3 4 5 6"}, {"2x0xf32="}};
  for (const char* same :
       {"transpose(transpose(%x))", "transpose(%x, axes=[0, -1])", "reverse(reverse(%x, axis=1), axis=-1)",
        "squeeze(expand_dims(%x, axis=1), axis=[1])", "broadcast_to(%x, shape=[2, n])",
        "concatenate((%x,), axis=1)", "strided_slice(%x, begin=[0, 0], end=[2, n], strides=[1, 1])",
        "tile(%x, reps=[1, 1])"}) {
    INFO(same);
    CHECK(occurrences(shapes(x, same, runs), "(%x") == 1);  // @main(%x
  }
  const std::string composed =
      shapes("%x: Tensor[(2, 3, 4), int32]", "transpose(transpose(%x, axes=[1, 2, 0]), axes=[1, 0, 2])",
             {{"2x3x4xi32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"}});
  CHECK(occurrences(composed, "transpose(") == 1);
  CHECK(occurrences(composed, "axes=[2, 1, 0]") == 1);
  // The last of several reshapes counts, unless it says something about the one before.
  const char* four = "%x: Tensor[(4, 6), int32]";
  const std::string data = "4x6xi32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24";
  CHECK(occurrences(shapes(four, "reshape(reshape(%x, newshape=[2, 12]), newshape=[8, -1])", {{data}}),
                    "reshape(") == 1);
  CHECK(occurrences(shapes(four, "reshape(reshape(%x, newshape=[2, 12]), newshape=[0, 3, 4])", {{data}}),
                    "reshape(") == 2);
}

TEST_CASE("shapes that do not come back", "[simplify-algebra]") {
  const char* x = "%x: Tensor[(n,), float32]";
  const std::vector<std::vector<std::string>> runs = {{"3xf32=1 -0 3"}, {"0xf32="}};
  // A zero of higher rank changes the shape, and so does a one.
  CHECK(occurrences(shapes(x, "%x + -0f * ones(shape=[1, 1], dtype=\"float32\")", runs), "add(") == 1);
  CHECK(occurrences(shapes(x, "%x * ones(shape=[1, 1], dtype=\"float32\")", runs), "multiply(") == 1);
  CHECK(occurrences(shapes(x, "reverse(%x, axis=0)", runs), "reverse(") == 1);
  CHECK(occurrences(shapes(x, "strided_slice(%x, begin=[0], end=[n], strides=[2])", runs),
                    "strided_slice(") == 1);
  CHECK(occurrences(shapes(x, "strided_slice(%x, begin=[-1], end=[-9], strides=[-1])", runs),
                    "strided_slice(") == 1);
  // Where extents may differ, so may values.
  const std::vector<std::vector<std::string>> two = {{"3xf32=1 2 3", "1xf32=5"}, {"1xf32=1", "3xf32=1 2 3"}};
  CHECK(occurrences(
            shapes("%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]", "where(%x < %y, %x, %x)", two),
            "where(") == 1);
}

TEST_CASE("comparisons of extents", "[simplify-algebra]") {
  const std::vector<std::vector<std::string>> runs = {{"3xf32=1 2 3"}, {"0xf32="}};
  const auto body = [&](const char* condition) {
    return shapes("%x: Tensor[(n,), float32]",
                  (std::string("let %n = take(shape_of(%x, dtype=\"int64\"), 0); if (") + condition +
                   ") { 1 } else { 2 }")
                      .c_str(),
                  runs);
  };
  CHECK(occurrences(body("%n >= 0i64"), "if") == 0);
  CHECK(occurrences(body("%n < 0i64"), "if") == 0);
  CHECK(occurrences(body("%n == %n"), "if") == 0);
  CHECK(occurrences(body("%n > 0i64"), "if") == 1);
}

TEST_CASE("operators with checks of their own stay", "[simplify-algebra]") {
  Program program =
      checkSame("def @main(%x: Tensor[(n,), int32], %y: Tensor[(m,), int32]) { %x + (%y - %y) }",
                {"simplify-algebra", "fold-constants", "dead-code"},
                {{"3xi32=1 2 3", "1xi32=5"}, {"2xi32=1 2", "2xi32=5 6"}, {"3xi32=1 2 3", "2xi32=5 6"}});
  CHECK(occurrences(program.text("main"), "add(") == 1);
}

}  // namespace
}  // namespace baton::passes
