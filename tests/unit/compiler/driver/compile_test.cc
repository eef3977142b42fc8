// Options, diagnostics and the forms of output; nothing here runs a program.
#include <catch2/catch.hpp>

#include "bytecode/container/writer.h"
#include "formats/npz.h"
#include "tests/unit/compiler/driver/harness.h"

namespace baton::driver::test {
namespace {

constexpr const char* kAdd = "def @main(%x: Tensor[(n, 4), float32]) { nn.relu(%x) }\n";

std::string textOf(std::string_view program, Emit emit, int level = 3) {
  CompileOptions options;
  options.emit = emit;
  options.level = level;
  const CompileOutput output = compiled(program, options);
  CHECK(!output.program.has_value());
  return output.text;
}

ErrorCode codeOf(const CompileOptions& options) {
  Result<CompileOutput> result = compile({"test.relay", kAdd}, options);
  REQUIRE(!result.has_value());
  return result.assume_error().code();
}

TEST_CASE("every form of output can be had") {
  CHECK_THAT(textOf(kAdd, Emit::Ir), Catch::Contains("def @main"));
  CHECK_THAT(textOf(kAdd, Emit::Types), Catch::Contains("Tensor[(n, 4), float32]"));
  CHECK_THAT(textOf(kAdd, Emit::Lowered), Catch::Contains("nn.relu"));
  CHECK_THAT(textOf(kAdd, Emit::Lir), Catch::Contains("call_kernel kernel<0>"));
  CHECK_THAT(textOf(kAdd, Emit::Loop), Catch::Contains("nn_relu"));
  CHECK_THAT(textOf(kAdd, Emit::Llvm), Catch::Contains("define"));
  CHECK_THAT(textOf(kAdd, Emit::CSource), Catch::Contains("int32_t kernel_"));
  CHECK_THAT(textOf(kAdd, Emit::Vmasm), Catch::Contains("fn @main (tensor<f32, 2>)"));
}

TEST_CASE("the same input gives the same bytes") {
  const auto bytes = [] {
    Result<std::vector<std::byte>> written = bytecode::writeExecutable(*compiled(kAdd).program);
    REQUIRE(written.has_value());
    return std::move(written).assume_value();
  };
  CHECK(bytes() == bytes());
}

TEST_CASE("meta says what the program was made with") {
  CompileOptions options;
  options.cpuLevels = {"x86-64-v3", "x86-64-v4"};
  options.isPortable = true;
  options.level = 2;
  const CompileOutput output = compiled(kAdd, options);
  const bytecode::Program& program = *output.program;
  CHECK(program.meta.name == "test");
  CHECK(program.meta.flags == "-O2 --portable");
  CHECK(program.meta.targets == options.cpuLevels);
  REQUIRE(program.images.size() == 2);
  CHECK(program.images[0].level == "x86-64-v3");
  CHECK(program.images[1].level == "x86-64-v4");
  CHECK(program.loops.size() == program.kernels.size());
  REQUIRE(program.entryPoints.size() == 1);
  CHECK(program.entryPoints[0].symbols == std::vector<std::string>{"n"});
  CHECK(program.entryPoints[0].parameters[0].name == "x");
}

TEST_CASE("a portable program without native code") {
  CompileOptions options;
  options.hasNativeCode = false;
  CHECK(codeOf(options) == ErrorCode::InvalidArgument);
  options.isPortable = true;
  const CompileOutput output = compiled(kAdd, options);
  CHECK(output.program->images.empty());
  CHECK(output.program->loops.size() == 1);
}

TEST_CASE("equal operators share a kernel") {
  const CompileOutput output = compiled(R"(
def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 4), float32], %z: Tensor[(4,), float32]) {
  (nn.relu(%x), nn.relu(%y), nn.relu(%z), nn.relu(nn.relu(%y)))
}
)",
                                        {.level = 0});
  CHECK(output.program->kernels.size() == 2);
}

TEST_CASE("options that make no sense are refused") {
  CHECK(codeOf({.level = 4}) == ErrorCode::InvalidArgument);
  CHECK(codeOf({.disabledPasses = {"no-such-pass"}}) == ErrorCode::InvalidArgument);
  CHECK(codeOf({.disabledPasses = {"lir-registers"}}) == ErrorCode::InvalidArgument);
  CHECK(codeOf({.printAfter = {"no-such-pass"}}) == ErrorCode::InvalidArgument);
  CHECK(codeOf({.dims = {{"k", 3}}}) == ErrorCode::InvalidArgument);
  CHECK(codeOf({.dims = {{"n", -1}}}) == ErrorCode::InvalidArgument);
}

TEST_CASE("all errors come with their place, and nothing else comes out") {
  const std::string errors = errorsOf("def @main(%x: int64) -> float32 { %y }\ndef @f() { %z }\n");
  CHECK_THAT(errors, Catch::Contains("test.relay:1:35") && Catch::Contains("test.relay:2:12") &&
                         Catch::Contains("^"));
}

TEST_CASE("a ref cannot leave the program") {
  CHECK_THAT(errorsOf("def @main() { ref(1) }"),
             Catch::Contains("@main: a ref cannot be the result of an exported function"));
  CHECK_THAT(errorsOf("def @main(%r: ref(int32)) { ref_read(%r) }"),
             Catch::Contains("@main: a ref cannot be a parameter of an exported function"));
  // Nor in what it is a part of.
  CHECK_THAT(errorsOf("def @main(%x: int32) { (1, (%x, ref(%x))) }"),
             Catch::Contains("@main: a ref cannot be the result of an exported function"));
  CHECK_THAT(errorsOf("def @main(%x: Array[ref(int32)]) { array_length(%x) }"),
             Catch::Contains("@main: a ref cannot be a parameter of an exported function"));
}

TEST_CASE("a named extent can be fixed") {
  CompileOptions options;
  options.dims = {{"n", 8}};
  const CompileOutput output = compiled(kAdd, options);
  const bytecode::EntryPoint& entry = output.program->entryPoints[0];
  CHECK(entry.symbols.empty());
  CHECK(entry.parameters[0].type.extents[0].asConstant() == 8);
}

TEST_CASE("extents that the body decides have names of their own") {
  const CompileOutput output = compiled(
      "def @main(%a: Array[Tensor[(4,), float32]], %b: Array[Tensor[(4,), float32]]) {\n"
      "  (array_stack(%a), array_stack(%b))\n"
      "}\n");
  CHECK(output.program->entryPoints[0].symbols == std::vector<std::string>{"r", "r_1"});
}

TEST_CASE("params get their values from files, or stay external") {
  const char* text = R"(
param @w : Tensor[(2,), float32] = "layer.w"
def @main(%x: Tensor[(2,), float32]) { %x + @w }
)";
  {
    const CompileOutput output = compiled(text);
    REQUIRE(output.program->constants.size() == 1);
    CHECK(output.program->constants[0].source == bytecode::ConstantSource::External);
    CHECK(output.program->constants[0].externalKey == "params::layer.w");
  }
  Array array{DType::F32, {2}, std::vector<std::byte>(8, std::byte{0})};
  CompileOptions options;
  std::vector<NpzEntry> entries{{"layer.w", array}};
  Result<std::vector<std::byte>> file = writeNpz(entries);
  REQUIRE(file.has_value());
  options.params = {{"weights.npz", file.assume_value()}};
  {
    const CompileOutput output = compiled(text, options);
    REQUIRE(output.program->constants.size() == 1);
    CHECK(output.program->constants[0].source == bytecode::ConstantSource::Inline);
    CHECK(output.program->constants[0].bytes.size() == 8);
  }
  entries[0].array.shape = {1, 2};
  file = writeNpz(entries);
  REQUIRE(file.has_value());
  options.params = {{"weights.npz", file.assume_value()}};
  CHECK_THAT(
      errorsOf(text, options),
      Catch::Contains("param @w: the value of \"layer.w\" is float32 (1, 2), declared is float32 (2,)"));

  const std::vector<std::byte> rubbish(16, std::byte{'x'});
  options.params = {{"weights.npz", rubbish}};
  Result<CompileOutput> result = compile({"test.relay", text}, options);
  REQUIRE(!result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::Malformed);
  CHECK_THAT(result.assume_error().message(), Catch::Contains("weights.npz"));
}

TEST_CASE("passes can be watched") {
  CompileOptions options;
  options.printAfter = {"lir-dead-code"};
  options.printBefore = {"flatten-matches"};
  options.timePasses = true;
  const CompileOutput output = compiled(kAdd, options);
  CHECK_THAT(output.log, Catch::Contains("after lir-dead-code") &&
                             Catch::Contains("before flatten-matches") && Catch::Contains("emit"));
}

}  // namespace
}  // namespace baton::driver::test
