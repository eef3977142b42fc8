#include <catch2/catch.hpp>

#include <map>

#include "bytecode/isa/instruction.h"
#include "bytecode/message_template.h"
#include "bytecode/scalar_form.h"
#include "bytecode/vmasm/base64.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/unit/bytecode/sample.h"

namespace baton::bytecode {
namespace {

std::string roundTrip(std::string_view text) {
  auto program = parseVmasm(text);
  if (!program.has_value()) return "error: " + program.error().message();
  return printVmasm(program.value()).value();
}

std::string errorOf(std::string_view text) {
  auto program = parseVmasm(text);
  return program.has_value() ? "no error" : program.error().message();
}

std::string errorIn(const std::string& code) {
  return errorOf("vmasm 1\nfn @f () -> () {\n" + code + "\n}\n");
}

TEST_CASE("everything that a program can hold round-trips through text") {
  CHECK(roundTrip(kEverything) == kEverything);
}

TEST_CASE("text may leave out what follows from the rest") {
  CHECK(roundTrip("vmasm 1 fn @f(i64, tensor<f32,1>)->(i64){s2=add.i64 s0,s0 drop r0! ret[s2],[]}") ==
        "vmasm 1\nfn @f (i64, tensor<f32, 1>) -> (i64) regs s3 r1 {\n  s2 = add.i64 s0, s0\n  drop r0!\n  "
        "ret [s2], "
        "[]\n}\n");
}

TEST_CASE("strings are collected in the order of their uses") {
  auto program = parseVmasm(
      "vmasm 1\nfn @f (bool) -> () {\n  check s0, \"b\", []\n  check s0, \"a\", []\n  fail \"b\", []\n}\n");
  REQUIRE(program.has_value());
  CHECK(program.value().messages == std::vector<std::string>{"b", "a"});
}

TEST_CASE("errors say where, what was expected and what was found") {
  CHECK(errorOf("") == "1:1: expected `vmasm 1`, found end of text");
  CHECK(errorOf("vmasm 2\n") == "1:7: text of version 2: this build reads version 1");
  CHECK(errorOf("vmasm 1\nfoo") ==
        "2:1: expected a statement (meta kind signature message source label site type constant kernel image "
        "entry fn "
        "position test), found `foo`");
  CHECK(errorOf("vmasm 1\nkind k1 = f32") == "2:6: expected `k0`, found `k1`: entries are numbered in order");
  CHECK(errorOf("vmasm 1\nkind k0 = float") == "2:11: expected a kind, found `float`");
  CHECK(errorOf("vmasm 1\nconstant c0 = f32[1] base64 \"AA\"") == "2:29: string is not base64");
  CHECK(errorOf("vmasm 1\nconstant c0 = f32[1] file \"x\"") ==
        "2:27: text refers to a file, but no directory of files was given");
  CHECK(errorOf("vmasm 1\nconstant c0 = f32[1] file \"../x\"") ==
        "2:27: expected a plain file name, found `\"../x\"`");
  CHECK(errorOf("vmasm 1\nmeta { name \"x }") == "2:13: string without an end on its line");
  CHECK(errorOf("vmasm 1\nmeta { name \"\\q\" }") ==
        "2:13: unknown escape `\\q` in a string: expected n t r x \\ or \"");
  CHECK(errorOf("vmasm 1\nmeta { name \"\\x4\" }") == "2:13: `\\x` in a string needs two hexadecimal digits");
  CHECK(errorOf("vmasm 1\n&") == "2:1: unexpected character `&`");
  CHECK(errorOf("vmasm 1\n\x01") == "2:1: unexpected byte 0x01");
  CHECK(errorOf("vmasm 1\nentry \"m\" @nobody {}") == "2:12: `@nobody` is not declared");

  CHECK(errorIn("  frob s0") == "3:3: unknown instruction `frob`");
  CHECK(errorIn("  s0 = add.i64 s0") == "4:1: expected `,`, found `}`");
  CHECK(errorIn("  s0 = add.i64 s0, r0") == "3:20: b of add.i64: expected a register of bank s, found `r0`");
  CHECK(errorIn("  add.i64 s0, s0") == "3:3: add.i64 has one result of bank s, found 0");
  CHECK(errorIn("  s0, r1 = add.i64 s0, s0") == "3:12: add.i64 has no such results: 1 of 2 fit");
  CHECK(errorIn("  s32768 = add.i64 s0, s0") ==
        "3:3: register s32768 out of range: there are 32768 of a bank");
  CHECK(errorIn("  jump nowhere") == "3:8: label `nowhere` is not bound in this function");
  CHECK(errorIn("a:\na:") == "4:1: label `a` is bound twice");
  CHECK(errorIn("  s0 = const i8, 300") == "3:18: `300` is no value of i8");
  CHECK(errorIn("  s0 = const f32, maybe") == "3:19: `maybe` is no value of f32");
  CHECK(errorIn("  s0 = dim r0, 70000") == "3:16: axis out of range: found 70000, at most 65535");
  CHECK(errorIn("  ret [s0 s1], []") == "3:11: expected `,` or `]`, found `s1`");
}

TEST_CASE("a list is bounded by its count") {
  std::string list;
  for (int i = 0; i < 65536; ++i) list += i == 0 ? "s0" : ", s0";
  CHECK(errorIn("  fail \"x\", [" + list + "]") == "3:3: a list of 65536: at most 65535");
}

TEST_CASE("deep nesting of dims is an error, not a deep recursion") {
  const std::string open(100000, '(');
  CHECK(errorOf("vmasm 1\nentry \"m\" @0 { symbols [n] where " + open) ==
        "2:106: dim expression is nested too deeply");
}

TEST_CASE("long sums of dims take no quadratic time") {
  std::string sum = "n";
  for (int i = 0; i < 100000; ++i) sum += " + " + std::to_string(i) + "*n";
  CHECK(parseVmasm("vmasm 1\nentry \"m\" @0 { symbols [n] where " + sum + " >= 0 result f32 }").has_value());
}

std::string dimRoundTrip(const std::string& dim) {
  const std::string text = "vmasm 1\nentry \"m\" @0 {\n  symbols [n, m]\n  where " + dim +
                           " == 0\n  result f32\n  peak unknown\n}\n";
  const std::string printed = roundTrip(text);
  const size_t begin = printed.find("where ");
  if (begin == std::string::npos) return printed;
  return printed.substr(begin + 6, printed.find(" == 0") - begin - 6);
}

TEST_CASE("dims keep their value and their order of operations") {
  for (const char* dim :
       {"n", "0", "-n", "4*n + 2", "n*n*m - 3*m", "-9223372036854775808", "9223372036854775807",
        "-9223372036854775808*n", "floor_div(n, m)", "floor_mod(n*m, 8)", "ceil_div(n, 4)",
        "min(n, max(m, 3)) + 1", "n - 2*floor_div(n + 1, m)", "n + ?7", "n - 9223372036854775807"})
    CHECK(dimRoundTrip(dim) == dim);
  CHECK(dimRoundTrip("2*(n - m)*(n + m)") == "2*n*n - 2*m*m");
  CHECK(dimRoundTrip("n - -9223372036854775808") == "error: 4:13: expected a dim, found `-`");
  CHECK(dimRoundTrip("floor_div(n, m") == "error: 4:24: expected `)`, found `==`");
  CHECK(dimRoundTrip("k") == "error: 4:9: `k` is no symbol of this scope");
}

TEST_CASE("symbols without a usable name go by number") {
  const std::string text =
      "vmasm 1\nentry \"m\" @0 {\n  symbols [\"?\", n, n, min, \"a b\"]\n  result f32[?0, ?1, ?2, ?3, ?4]\n  "
      "peak "
      "unknown\n}\n";
  CHECK(roundTrip(text) == text);
}

TEST_CASE("bytes go to files and come back") {
  std::map<std::string, std::vector<std::byte>> files;
  auto program = parseVmasm(kEverything);
  REQUIRE(program.has_value());
  VmasmPrintOptions print;
  print.writeBlob = [&](const std::string& name, std::span<const std::byte> bytes) -> Result<void> {
    files[name].assign(bytes.begin(), bytes.end());
    return success();
  };
  const std::string text = printVmasm(program.value(), print).value();
  CHECK(text.find("base64") == std::string::npos);
  CHECK(text.find("constant c0 = f32[2, 2] file \"c0.bin\"\n") != std::string::npos);
  CHECK(files.at("c0.bin").size() == 16);
  CHECK(files.at("image0.bin").size() == 2);
  VmasmParseOptions parse;
  parse.readBlob = [&](std::string_view name) -> Result<std::vector<std::byte>> {
    const auto found = files.find(std::string(name));
    if (found == files.end()) return Error(ErrorCode::Io, "no such file");
    return found->second;
  };
  CHECK(printVmasm(parseVmasm(text, parse).value()).value() == kEverything);
  files.erase("c0.bin");
  CHECK(parseVmasm(text, parse).error().message().find("no such file") != std::string::npos);
}

TEST_CASE("names of files from text stay inside the directory") {
  CHECK(isSafeBlobName("c0.bin"));
  CHECK(isSafeBlobName("..x"));
  for (const char* name : {"", ".", "..", "a/b", "/a", "a\\b", "a\nb"}) CHECK_FALSE(isSafeBlobName(name));
  CHECK_FALSE(isSafeBlobName(std::string_view("a\0b", 3)));
  CHECK_FALSE(isSafeBlobName(std::string(256, 'a')));
}

TEST_CASE("base64 follows RFC 4648 and accepts one text for each byte string") {
  const auto bytesOf = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  for (const auto& [bytes, text] : std::map<std::string, std::string>{{"", ""},
                                                                      {"f", "Zg=="},
                                                                      {"fo", "Zm8="},
                                                                      {"foo", "Zm9v"},
                                                                      {"foob", "Zm9vYg=="},
                                                                      {"fooba", "Zm9vYmE="},
                                                                      {"foobar", "Zm9vYmFy"}}) {
    std::string encoded;
    appendBase64(encoded, bytesOf(bytes));
    CHECK(encoded == text);
    std::vector<std::byte> decoded;
    REQUIRE(decodeBase64(text, decoded));
    CHECK(std::equal(decoded.begin(), decoded.end(), bytesOf(bytes).begin(), bytesOf(bytes).end()));
  }
  std::vector<std::byte> ignored;
  for (const char* bad : {"Zg=", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9", "Zm9\xff", "Z=g="})
    CHECK_FALSE(decodeBase64(bad, ignored));
}

TEST_CASE("scalars read back to the same bits, whatever the bits are") {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (uint64_t bits :
         {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{0x80}, uint64_t{0x7e00}, uint64_t{0x7c00},
          uint64_t{0xfc00}, uint64_t{0x7fc00000}, uint64_t{0x7f800001}, uint64_t{0x80000000},
          uint64_t{0x3dcccccd}, uint64_t{0x7ff8000000000000}, uint64_t{1} << 63, UINT64_MAX}) {
      INFO(scalarText(bits, dtype));
      CHECK(parseScalarText(scalarText(bits, dtype), dtype) == bits);
    }
  }
  CHECK(scalarText(UINT64_MAX, DType::I8) == "-1");
  CHECK(scalarText(255, DType::I8) == "0xff");
  CHECK_FALSE(isScalarForm(255, DType::I8));
  CHECK(isScalarForm(255, DType::U8));
  CHECK_FALSE(isScalarForm(2, DType::Bool));
  CHECK_FALSE(isScalarForm(uint64_t{1} << 32, DType::F32));
}

TEST_CASE("places in messages are found, and only those") {
  const auto places = messagePlaces("{0} {1:f32} {x} {2:} {{3:i64}} {4294967295:bfloat16} {4294967296} {0");
  REQUIRE(places.size() == 4);
  CHECK(places[0].value == 0);
  CHECK(places[0].dtype == DType::I64);
  CHECK(places[0].begin == 0);
  CHECK(places[0].end == 3);
  CHECK(places[1].value == 1);
  CHECK(places[1].dtype == DType::F32);
  CHECK(places[2].value == 3);
  CHECK(places[3].value == 4294967295);
  CHECK(places[3].dtype == DType::BF16);
}

TEST_CASE("single instructions and functions print for people") {
  auto program = parseVmasm(kEverything).value();
  CHECK(printInstruction(program, FunctionIndex(0), 0) == "s1 = dim r0, 1");
  CHECK(printInstruction(program, FunctionIndex(0), 9999) == "(outside the code)");
  CHECK(printFunction(program, FunctionIndex(1)) ==
        "fn @\"other fn\" closure [tensor<f32, 2>, i64] (tensor<f32, 2>, i64) -> (tensor<f32, 2>) regs s1 r2 "
        "{\n  ret "
        "[], [r1!]\n}\n");
}

}  // namespace
}  // namespace baton::bytecode
