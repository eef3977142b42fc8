// Damaged kernel text: the parser and the verifier refuse it or accept it, and what they
// accept can be interpreted, within limits, without touching memory that is not its own.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "kernel_harness.h"
#include "kernels/loop/interpreter.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/printer.h"
#include "kernels/loop/verifier.h"

namespace baton::loop {
namespace {

constexpr const char* kSeeds[] = {
    R"(kernel "rows" {
  symbol m = operand 0 axis 0
  symbol n = operand 0 axis 1
  input f32[m, n] align 64
  input i64[n]
  output f32[m, n] alias 0 independent 0
  output f16[ceil_div(n, 4), m]
  scalar_input f32
  scalar_input i64
  scalar_output i64
  message "row {0} is too small"
  where n <= 512
  scratch f32[floor_div(n + 3, 2), min(m, 2)]
  parallel %0 < $m grain 16 {
    %1 = reduce sum (%2 < $n, %3 < 3) { %4 = load in0[%0, %2] yield %4 }
    %5 = gt f32 %1, f32(0.5)
    if %5 {
      vectorized %6 < $n {
        %7 = load in0[%0, %6]
        %8 = mul f32 %7, arg0
        %9 = div f32 %8, %1
        %10 = bitcast u32 %9
        %11 = shl u32 %10, u32(3)
        %12 = bitcast f32 %11
        %13 = fma f32 %12, %9, f32(-0)
        store out0[%0, %6], %13
        %14 = load in1[%6]
        %15 = floormod i64 %14, arg1 or_fail 0
        %16 = max i64 %15, 0
        %17 = min i64 %16, 0
        %18 = cast f16 %13
        store out1[%17, %0], %18
        store tmp0[%17, 0], %7
      }
    } else { fail 0, %0 }
  }
  local l0 i64[2, 3]
  unrolled %19 < 3 { set l0[1, %19], %19 }
  %20 = get l0[1, 2]
  %21 = reduce argmax (%22 < $m) { %23 = load in0[%22, 0] yield %23 }
  %24 = add i64 %20, %21
  set_scalar 0, %24
})",
    R"(kernel "small" {
  symbol s = scalar 0
  scalar_input i64
  scalar_output bool
  scalar_output u8
  for %0 < $s { %1 = truncdiv i64 %0, 3 }
  %2 = select bool true, false, true
  set_scalar 0, %2
  %3 = cast u8 $s
  set_scalar 1, %3
})"};

/// The text with a few bytes, words or lines changed.
std::string damaged(std::string text, std::mt19937& random) {
  const auto pick = [&](size_t count) { return count == 0 ? 0 : random() % count; };
  static constexpr const char* kWords[] = {"0",
                                           "-1",
                                           "9223372036854775807",
                                           "$n",
                                           "%0",
                                           "in0",
                                           "out1",
                                           "f32",
                                           "i64",
                                           "f32(0x7f800000)",
                                           "{",
                                           "}",
                                           "if",
                                           "reduce",
                                           "local",
                                           "[",
                                           "]",
                                           "true",
                                           "yield",
                                           "4096",
                                           "vectorized"};
  for (size_t change = 1 + pick(3); change-- > 0;) {
    const size_t at = pick(text.size());
    switch (pick(6)) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text.erase(at, pick(20)); break;
      case 2: text.insert(at, kWords[pick(std::size(kWords))]); break;
      case 3: {  // one word for another
        const size_t begin = text.find_first_not_of(" \n", at);
        if (begin == std::string::npos) break;
        const size_t end = std::min(text.find_first_of(" \n,[](){}", begin), text.size());
        text.replace(begin, std::max<size_t>(end - begin, 1), kWords[pick(std::size(kWords))]);
        break;
      }
      case 4: {  // a line twice, elsewhere
        const size_t begin = text.rfind('\n', at);
        const size_t end = text.find('\n', at);
        if (begin == std::string::npos || end == std::string::npos) break;
        const std::string line = text.substr(begin, end - begin);
        const size_t target = text.find('\n', pick(text.size()));
        if (target != std::string::npos) text.insert(target, line);
        break;
      }
      default: {  // another number
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text[digit] = static_cast<char>('0' + pick(10));
        break;
      }
    }
  }
  return text;
}

/// Runs a verified kernel on operands of the sizes that its descriptor says, where those are small.
bool interpretSmall(const Kernel& kernel) {
  const KernelDescriptor& d = kernel.descriptor;
  std::vector<int64_t> scalars;
  for (size_t i = 0; i < d.symbols.size(); ++i) scalars.push_back(static_cast<int64_t>(i % 3) + 1);
  scalars.resize(d.symbols.size() + d.scalarInputs.size() + d.scalarOutputs.size(), 2);
  std::vector<std::vector<std::byte>> storage;
  for (const auto* list : {&d.inputs, &d.outputs})
    for (const KernelOperand& operand : *list) {
      int64_t bytes = sizeBytes(operand.dtype);
      for (const DimExpr& extent : operand.extents) {
        const Result<int64_t> value =
            extent.evaluate([&](DimSymbol s) { return std::optional(scalars[s.value()]); });
        if (!value.has_value() || value.value() > 1000) return false;
        bytes *= std::max<int64_t>(value.value(), 0);
        if (bytes > 100000) return false;
      }
      storage.emplace_back(static_cast<size_t>(bytes), std::byte{1});
    }
  std::vector<void*> buffers;
  for (auto& bytes : storage) buffers.push_back(bytes.data());
  Result<InterpretedKernel> compiled = InterpretedKernel::compile(kernel);
  REQUIRE(compiled.has_value());
  int calls = 0;
  InterpreterLimits limits;
  limits.interval = 1000;
  limits.user = &calls;
  limits.onProgress = [](void* user, uint64_t) -> int32_t {
    return ++*static_cast<int*>(user) > 20 ? 99 : 0;
  };
  testing::TestContext context;
  const int32_t status = compiled.value().run(context.get(), buffers.data(), scalars.data(), limits);
  CHECK((status == BATON_KERNEL_OK || status == BATON_KERNEL_FAILED || status == BATON_KERNEL_OUT_OF_MEMORY ||
         status == 99));
  return true;
}

TEST_CASE("loop text: damaged kernels are refused or run within their bounds") {
  const char* const rounds = std::getenv("BATON_MUTATIONS");
  const int count = rounds == nullptr ? 4000 : std::atoi(rounds);
  std::mt19937 random(static_cast<uint32_t>(count));
  int accepted = 0;
  int ran = 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = damaged(kSeeds[random() % std::size(kSeeds)], random);
    Result<Kernel> parsed = parseKernel(text);
    if (!parsed.has_value()) {
      CHECK(parsed.error().code() == ErrorCode::Malformed);
      continue;
    }
    if (!verify(parsed.value()).has_value()) continue;
    ++accepted;
    // What is accepted is also carried by its own text.
    const std::string printed = print(parsed.value());
    Result<Kernel> again = parseKernel(printed);
    INFO(printed);
    REQUIRE(again.has_value());
    CHECK(print(again.value()) == printed);
    if (interpretSmall(parsed.value())) ++ran;
  }
  // The damage is mild enough that some survive.
  CHECK(accepted > count / 50);
  CHECK(ran > count / 100);
}

}  // namespace
}  // namespace baton::loop
