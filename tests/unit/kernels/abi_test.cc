#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <random>

#include <unistd.h>

#include "dims.h"
#include "kernels/abi/cpu_features.h"
#include "kernels/abi/descriptor_check.h"
#include "kernels/abi/dim_program.h"
#include "kernels/abi/image.h"

namespace baton {
namespace {

DimExpr num(int64_t value) { return DimExpr::constant(value); }

/// y[n, 4*m + 2] of x[n, m], bias[m], with scalar s, where n <= 8.
KernelDescriptor example() {
  KernelDescriptor d;
  d.name = "example";
  d.symbols = {{.name = "n", .index = 0, .axis = 0},
               {.name = "m", .index = 0, .axis = 1},
               {.name = "s", .from = KernelSymbol::From::Scalar, .index = 1}};
  d.inputs = {{.dtype = DType::F32, .alignmentBytes = 64, .extents = {sym(0), sym(1)}},
              {.dtype = DType::F32, .extents = {sym(1)}},
              {.dtype = DType::I8, .extents = {num(3)}}};
  d.outputs = {{.dtype = DType::F32, .extents = {sym(0), num(4) * sym(1) + num(2)}, .mayAlias = {0}}};
  d.scalarInputs = {DType::F32, DType::I32};
  d.constraints = {{sym(0), Relation::Le, num(8)}, {sym(0) + sym(1), Relation::Ne, num(11)}};
  return d;
}

TEST_CASE("dim program: agrees with DimExpr::evaluate") {
  const DimExpr x = sym(0);
  const DimExpr y = sym(1);
  const DimExpr exprs[] = {num(0),
                           num(-7),
                           x,
                           num(-3) * x + num(5),
                           x * y * y - num(2) * x + num(1),
                           floorDiv(x + num(7), y),
                           floorMod(x - num(3), y) * y + x,
                           ceilDiv(x, num(4)) + ceilDiv(x, y),
                           min(x, max(y, floorDiv(x, num(3)))) * x,
                           x * x * x * x - x * x * x * x * y,
                           floorDiv(x * x * x * y + x, num(10)),
                           floorDiv(x * floorDiv(x * x * x, num(2)) * y, num(3))};
  const int64_t values[] = {0, 1, 2, 3, 7, 64, -5, 1000003, INT64_MAX, INT64_MIN};
  for (const DimExpr& expr : exprs)
    for (const int64_t a : values)
      for (const int64_t b : values) {
        const int64_t symbols[] = {a, b};
        const Result<int64_t> exact =
            expr.evaluate([&](DimSymbol symbol) { return std::optional(symbols[symbol.value()]); });
        const std::optional<int64_t> found = DimProgram(expr).evaluate(symbols);
        INFO(expr.print([](DimSymbol s) { return std::string(s.value() == 0 ? "x" : "y"); })
             << " at " << a << ", " << b);
        CHECK(found.has_value() == exact.has_value());
        if (found && exact.has_value()) CHECK(*found == exact.value());
      }
}

TEST_CASE("descriptor check: every rule has a message") {
  const auto messageOf = [](auto change) {
    KernelDescriptor d = example();
    change(d);
    Result<void> result = validateDescriptor(d);
    return result.has_value() ? std::string() : result.error().message();
  };
  CHECK(messageOf([](KernelDescriptor&) {}) == "");
  CHECK(messageOf([](KernelDescriptor& d) { d.inputs[0].extents[0] = sym(3); }) ==
        "kernel example: axis 0 of input 0 uses a symbol that is not declared, or is too large");
  CHECK(messageOf([](KernelDescriptor& d) { d.inputs[0].extents.assign(33, num(1)); }) ==
        "kernel example: input 0 has rank 33: at most 32 is allowed");
  CHECK(messageOf([](KernelDescriptor& d) { d.inputs[1].alignmentBytes = 3; }) ==
        "kernel example: input 1 has alignment 3: expected a power of two of at most 4096");
  CHECK(messageOf([](KernelDescriptor& d) { d.inputs[1].alignmentBytes = 0; }) ==
        "kernel example: input 1 has alignment 0: expected a power of two of at most 4096");
  CHECK(messageOf([](KernelDescriptor& d) { d.outputs[0].independentAxis = 2; }) ==
        "kernel example: independent axis 2 of output 0 is out of range: its rank is 2");
  CHECK(messageOf([](KernelDescriptor& d) { d.outputs[0].mayAlias = {3}; }) ==
        "kernel example: output 0 may alias input 3: there are 3");
  CHECK(messageOf([](KernelDescriptor& d) { d.outputs[0].mayAlias = {2}; }) ==
        "kernel example: output 0 may alias input 2, whose elements have another size");
  CHECK(messageOf([](KernelDescriptor& d) { d.inputs[0].mayAlias = {0}; }) ==
        "kernel example: input 0 lists aliases: only outputs may");
  CHECK(messageOf([](KernelDescriptor& d) { d.symbols[0].index = 4; }) ==
        "kernel example: symbol n comes from operand 4: there are 4");
  CHECK(messageOf([](KernelDescriptor& d) { d.symbols[0].axis = 2; }) ==
        "kernel example: symbol n comes from axis 2 of operand 0, whose rank is 2");
  CHECK(messageOf([](KernelDescriptor& d) { d.symbols[2].index = 2; }) ==
        "kernel example: symbol s comes from scalar input 2: there are 2");
  CHECK(messageOf([](KernelDescriptor& d) { d.symbols[2].index = 0; }) ==
        "kernel example: symbol s comes from a scalar input of type f32: expected an integer");
  CHECK(messageOf([](KernelDescriptor& d) { d.constraints[0].rhs = sym(9); }) ==
        "kernel example: a constraint uses a symbol that is not declared, or is too large");
  CHECK(messageOf([](KernelDescriptor& d) { d.scalarInputs.assign(2000, DType::F32); }) ==
        "kernel example: 2003 scalars: at most 1024 are allowed");
  CHECK(messageOf([](KernelDescriptor& d) { d.inputs.assign(2000, d.inputs[0]); }) ==
        "kernel example: 2001 operands: at most 1024 are allowed");
}

TEST_CASE("cpu features: levels contain one another and missing ones are named") {
  const CpuFeatureSet v2 = *cpuLevelFeatures("x86-64-v2");
  const CpuFeatureSet v3 = *cpuLevelFeatures("x86-64-v3");
  const CpuFeatureSet v4 = *cpuLevelFeatures("x86-64-v4");
  CHECK((v3 & v2) == v2);
  CHECK((v4 & v3) == v3);
  CHECK(v4 != v3);
  CHECK(!cpuLevelFeatures("x86-64-v5"));
  CHECK(!cpuLevelFeatures("x86-64-v"));
  CHECK(*cpuFeatureByName("fma") == (v3 & *cpuFeatureByName("fma")));
  CHECK(!cpuFeatureByName("mmx"));
  for (const std::string_view name : cpuFeatureNames())
    CHECK(namesOf(*cpuFeatureByName(name)) == std::vector<std::string>{std::string(name)});
  const std::vector<std::string> needed = {"avx", "fma", "quantum"};
  CHECK(checkCpuFeatures("x86-64-v3", std::vector<std::string>{"avx"}, v3).has_value());
  CHECK(
      checkCpuFeatures("x86-64-v3", needed, *cpuFeatureByName("avx")).error().message() ==
      "the code was compiled for x86-64-v3; this processor lacks fma, quantum: compile it for another level "
      "(--cpu x86-64-v3), or to run anywhere (--portable)");
  CHECK((hostCpuFeatures() & *cpuFeatureByName("sse3")) != 0);
}

#if defined(__x86_64__)
/// mov eax, [rip + 0x39] (the word at 64); ret
std::vector<std::byte> tinyImage(uint8_t result) {
  std::vector<std::byte> image(128);
  const uint8_t code[] = {0x8B, 0x05, 0x3A, 0x00, 0x00, 0x00, 0xC3};
  for (size_t i = 0; i < sizeof code; ++i) image[i] = std::byte{code[i]};
  image[64] = std::byte{result};
  return image;
}

TEST_CASE("native code: copied and mapped images run") {
  const std::vector<std::byte> image = tinyImage(42);
  Result<NativeCode> copied = NativeCode::copy(image);
  REQUIRE(copied.has_value());
  CHECK(copied.value().entry(0).value()(nullptr, nullptr, nullptr) == 42);
  CHECK(copied.value().entry(128).error().message() == "kernel entry 128 is outside its image of 128 bytes");

  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::vector<std::byte> contents(4096);
  contents.insert(contents.end(), image.begin(), image.end());
  REQUIRE(std::fwrite(contents.data(), 1, contents.size(), file) == contents.size());
  std::fflush(file);
  Result<NativeCode> mapped = NativeCode::map(fileno(file), 4096, 128);
  REQUIRE(mapped.has_value());
  CHECK(NativeCode::map(fileno(file), 100, 28).error().message() ==
        "image offset 100 is not a multiple of the page size 4096");
  CHECK(NativeCode::map(fileno(file), 4096, 129).error().message() ==
        "an image of 129 bytes at 4096 exceeds the file of 4224 bytes");
  CHECK(NativeCode::map(fileno(file), 0, 0).error().code() == ErrorCode::Malformed);
  std::fclose(file);
  NativeCode moved = std::move(mapped).value();
  CHECK(moved.entry(0).value()(nullptr, nullptr, nullptr) == 42);
  CHECK(NativeCode::map(-1, 0, 128).error().code() == ErrorCode::Io);
  CHECK(NativeCode::copy({}).error().code() == ErrorCode::Malformed);
}
#endif

}  // namespace
}  // namespace baton
