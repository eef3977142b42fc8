// Kernels from loop IR, interpreted: descriptors are checked, failures carry their messages.
#include "runtime.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

constexpr std::string_view kKernels = R"vmasm(
kernel $add compiled {
  symbol n = operand 0 axis 0
  input f32[n]
  input f32[n]
  output f32[n]
  loop
    "kernel \"add\" {\n"
    "  symbol n = operand 0 axis 0\n"
    "  input f32[n]\n"
    "  input f32[n]\n"
    "  output f32[n]\n"
    "  for %0 < $n {\n"
    "    %1 = load in0[%0]\n"
    "    %2 = load in1[%0]\n"
    "    %3 = add f32 %1, %2\n"
    "    store out0[%0], %3\n"
    "  }\n"
    "}\n"
}
kernel $rows compiled {
  symbol n = operand 0 axis 0
  input f32[n, 2]
  output f32[2*n]
  scalar_inputs [f32]
  scalar_outputs [f32, i64]
  message "row {0} is negative, after {1} good ones"
  where n <= 4
  loop
    "kernel \"rows\" {\n"
    "  symbol n = operand 0 axis 0\n"
    "  input f32[n, 2]\n"
    "  output f32[2*n]\n"
    "  scalar_input f32\n"
    "  scalar_output f32\n"
    "  scalar_output i64\n"
    "  message \"row {0} is negative, after {1} good ones\"\n"
    "  where n <= 4\n"
    "  for %0 < $n {\n"
    "    %1 = load in0[%0, 0]\n"
    "    %2 = lt f32 %1, f32(0)\n"
    "    if %2 { fail 0, %0, %0 }\n"
    "    %3 = mul i64 %0, 2\n"
    "    store out0[%3], %1\n"
    "    %4 = add i64 %3, 1\n"
    "    store out0[%4], arg0\n"
    "  }\n"
    "  set_scalar 0, arg0\n"
    "  set_scalar 1, $n\n"
    "}\n"
}
entry "add" @add {
  symbols [n, m]
  param "x" f32[n]
  param "y" f32[m]
  result f32[n]
}
entry "double" @double {
  symbols [n]
  param "x" f32[n]
  result f32[n]
}
entry "rows" @rows {
  symbols [n]
  param "x" f32[n, 2]
  param "a" f32
  result split adt<t0>
}
entry "constant" @constant {
  result f32[2]
}
entry "wrong" @wrong {
  symbols [n]
  param "x" f32[n, 2]
  result f32
}
entry "overwrite" @overwrite {
  symbols [n]
  param "x" f32[n]
  result f32[n]
}
entry "overwrite_view" @overwrite_view {
  symbols [n]
  param "x" f32[n]
  result f32[n]
}
entry "many" @many {
  symbols [n]
  param "x" f32[n]
  param "turns" i64
  result f32[n]
}
type t0 = "result" tuple {
  "" (f32[?0] r0, f32 s0, i64 s1)
}
constant c0 = f32[2] base64 "AACAPwAAAEA="
fn @add (tensor<f32, 1>, tensor<f32, 1>) -> (tensor<f32, 1>) regs s1 r3 {
  s0 = dim r0, 0
  r2 = alloc_tensor f32, 0, [s0]
  call_kernel $add, [r0!, r1!], [r2], []
  ret [], [r2!]
}
fn @double (tensor<f32, 1>) -> (tensor<f32, 1>) regs s1 r2 {
  s0 = dim r0, 0
  r1 = alloc_reuse r0, f32, [s0]
  call_kernel $add, [r0, r0!], [r1], []
  ret [], [r1!]
}
fn @rows (tensor<f32, 2>, f32) -> (tensor<f32, 1>, f32, i64) regs s4 r2 {
  s1 = dim r0, 0
  s2 = const i64, 2
  s1 = extent_mul s1, s2
  r1 = alloc_tensor f32, 0, [s1]
  s2, s3 = call_kernel $rows, [r0!], [r1], [s0]
  ret [s2, s3], [r1!]
}
fn @constant () -> (tensor<f32, 1>) regs s0 r2 {
  r0 = load_const c0
  r1 = load_const c0
  call_kernel $add, [r0, r0], [r1], []
  drop r0!
  ret [], [r1!]
}
fn @wrong (tensor<f32, 2>) -> (f32) regs s3 r2 {
  s0 = const i64, 1
  s1 = const f32, 0
  r1 = alloc_tensor f32, 0, [s0]
  s1, s2 = call_kernel $rows, [r0!], [r1!], [s1]
  ret [s1], []
}
fn @overwrite (tensor<f32, 1>) -> (tensor<f32, 1>) regs s0 r1 {
  call_kernel $add, [r0, r0], [r0], []
  ret [], [r0!]
}
fn @overwrite_view (tensor<f32, 1>) -> (tensor<f32, 1>) regs s1 r2 {
  s0 = dim r0, 0
  r1 = reshape r0, [s0]
  call_kernel $add, [r0, r0!], [r1], []
  ret [], [r1!]
}
fn @many (tensor<f32, 1>, i64) -> (tensor<f32, 1>) regs s4 r2 {
  s1 = dim r0, 0
  s2 = const i64, 1
b0:
  r1 = alloc_reuse r0, f32, [s1]
  call_kernel $add, [r0, r0!], [r1], []
  r0 = move r1!
  s0 = sub.i64 s0, s2
  s3 = const i64, 0
  s3 = lt.i64 s3, s0
  branch s3, b0, b1
b1:
  ret [], [r0!]
}
)vmasm";

}  // namespace

TEST_CASE("kernels compute, with scalars in and out") {
  for (const bool useSwitch : {false, true}) {
    const Runtime runtime(kKernels, {.useSwitch = useSwitch});
    CHECK(elements<float>(
              *require(runtime.run("add", {runtime.tensor({2}, {1, 2}), runtime.tensor({2}, {10, 20})}))) ==
          std::vector<float>{11, 22});
    CHECK(require(runtime.run("add", {runtime.tensor({0}, {}), runtime.tensor({0}, {})}))->sizeBytes() == 0);
    const auto x = runtime.tensor({2}, {1, 2});
    CHECK(elements<float>(*require(runtime.run("double", {x}))) == std::vector<float>{2, 4});
    CHECK(elements<float>(*x) == std::vector<float>{1, 2});
    const Ref<Value> rows = require(runtime.run(
        "rows", {runtime.tensor({2, 2}, {1, 2, 3, 4}), Value::scalar(DType::F32, scalarBits(9.0f))}));
    CHECK(elements<float>(*fieldOf(*rows, 0)) == std::vector<float>{1, 9, 3, 9});
    CHECK(element<float>(*fieldOf(*rows, 1)) == 9);
    CHECK(element<int64_t>(*fieldOf(*rows, 2)) == 2);
  }
}

TEST_CASE("extents that disagree with the descriptor never reach a kernel") {
  const Runtime runtime(kKernels, {.useSwitch = GENERATE(false, true)});
  CHECK(messageOf(runtime.run("add", {runtime.tensor({2}, {1, 2}), runtime.tensor({3}, {1, 2, 3})})) ==
        "kernel add: dimension 0 of input 1 is 3, expected n = 2");
  CHECK(messageOf(runtime.run("wrong", {runtime.tensor({2, 2}, {1, 2, 3, 4})})) ==
        "kernel rows: dimension 0 of output 0 is 1, expected 2*n = 4");
  const std::vector<float> data(10, 1.0f);
  CHECK(messageOf(runtime.run("rows", {runtime.tensor({5, 2}, data), Value::scalar(DType::F32, 0)})) ==
        "kernel rows: n <= 4 does not hold: found 5 and 4");
}

TEST_CASE("a kernel fills a donated input in place, and no other") {
  const Runtime runtime(kKernels, {.useSwitch = GENERATE(false, true)});
  Ref<Value> x = runtime.tensor({2000}, std::vector<float>(2000, 1.0f));
  const void* memory = x->elements();
  ErrorDetails details;
  const auto call = runtime.call("double");
  require(call->setInput(0, std::move(x), true, details));
  require(call->advance(std::nullopt, details));
  const Ref<Value> doubled = require(call->result());
  CHECK(doubled->elements() == memory);
  CHECK(element<float>(*doubled, 1999) == 2);
  const Ref<Value> again = require(runtime.run("double", {doubled}));
  CHECK(again->elements() != memory);
  CHECK(element<float>(*doubled, 1999) == 2);
  CHECK(messageOf(runtime.run("overwrite", {doubled})) ==
        "kernel add: output 0 is memory that may not be written");
  CHECK(messageOf(runtime.run("overwrite_view", {doubled})) ==
        "kernel add: output 0 is memory that may not be written");
  CHECK(element<float>(*doubled, 1999) == 2);
}

TEST_CASE("a kernel may not write into a constant") {
  const Runtime runtime(kKernels, {.useSwitch = GENERATE(false, true)});
  CHECK(messageOf(runtime.run("constant")) == "kernel add: output 0 is memory that may not be written");
}

TEST_CASE("a kernel's failure has its message and values") {
  const Runtime runtime(kKernels, {.useSwitch = GENERATE(false, true)});
  const auto failed =
      runtime.run("rows", {runtime.tensor({2, 2}, {1, 2, -3, 4}), Value::scalar(DType::F32, 0)});
  CHECK(messageOf(failed) == "row 1 is negative, after 1 good ones");
  REQUIRE(failed.assume_error().programTrail().size() == 1);
  CHECK(failed.assume_error().programTrail()[0].function == "rows");
  CHECK(runtime.context->heap().inUseBytes() == 0);
}

TEST_CASE("turns of interpreted kernels count against the limits") {
  const Runtime runtime(kKernels, {.useSwitch = GENERATE(false, true)});
  const std::vector<float> data(100000, 1.0f);
  const auto x = runtime.tensor({100000}, data);
  const auto limited = runtime.run("add", {x, x}, {.instructionCount = 100000});
  REQUIRE_FALSE(limited.has_value());
  CHECK(limited.assume_error().code() == ErrorCode::LimitReached);
  CHECK(limited.assume_error().message() == "instruction limit reached in kernel add");
  const auto call = runtime.call("add", {x, x});
  ErrorDetails details;
  require(call->advance(std::nullopt, details));
  CHECK(call->instructionCount() > 100000);
  const auto late =
      runtime.run("many", {x, Runtime::i64(1000000)}, {.timeout = std::chrono::milliseconds(20)});
  REQUIRE_FALSE(late.has_value());
  CHECK(late.assume_error().code() == ErrorCode::DeadlineExceeded);
  CHECK(elements<float>(*require(runtime.run("many", {runtime.tensor({1}, {1}), Runtime::i64(10)}))) ==
        std::vector<float>{1024});
}

TEST_CASE("kernels that nothing can run are refused when the program is loaded") {
  const Ref<Instance> instance = makeInstance();
  const auto refused = [&](std::string_view text, LoadOptions options = {}) {
    const auto loaded = Executable::load(instance, parse(text), options);
    REQUIRE_FALSE(loaded.has_value());
    return std::string(errorCodeName(loaded.assume_error().code())) + ": " + loaded.assume_error().message();
  };
  CHECK(refused("kernel $k compiled {\n}\n") ==
        "unsupported: kernel k has no code that may run here: the file has neither an image nor loop IR for "
        "it");
  CHECK(refused("kernel $k compiled {\n}\n", {.useNativeCode = false}) ==
        "unsupported: kernel k has no code that may run here: native code is switched off and the file has "
        "no loop IR for it: compile with --portable");
  CHECK(refused("kernel $k external {\n}\n") ==
        "unsupported: kernel k is an external kernel, which this runtime cannot provide");
  CHECK(
      refused("kernel $k compiled {\n  output f32[2]\n  loop \"kernel \\\"k\\\" { output f32[3] }\"\n}\n") ==
      "malformed input: kernel k: its loop IR has other operands than its descriptor");
  CHECK(refused("kernel $k compiled {\n  loop \"nonsense\"\n}\n").find("malformed input: kernel k: ") == 0);
}

namespace {
constexpr std::string_view kSort = R"vmasm(
kernel $sort.f32.f32 library {
  symbol outer = operand 0 axis 0
  symbol count = operand 0 axis 1
  symbol inner = operand 0 axis 2
  input f32[outer, count, inner] align 4
  output f32[outer, count, inner] align 4
  scalar_inputs [bool]
}
entry "sort" @sort {
  symbols [n]
  param "x" f32[1, n, 1]
  param "upwards" bool
  result f32[1, n, 1]
}
fn @sort (tensor<f32, 3>, bool) -> (tensor<f32, 3>) regs s3 r2 {
  s1 = dim r0, 1
  s2 = const i64, 1
  r1 = alloc_tensor f32, 0, [s2, s1, s2]
  call_kernel $sort.f32.f32, [r0!], [r1], [s0]
  ret [], [r1!]
}
)vmasm";
}  // namespace

TEST_CASE("kernels of the library are bound by name, if they are what the file says") {
  const Runtime runtime(kSort);
  const auto sorted = [&](std::vector<float> data, bool isUpwards) {
    const auto x = runtime.tensor({1, static_cast<int64_t>(data.size()), 1}, data);
    return elements<float>(*require(runtime.run("sort", {x, Value::scalar(DType::Bool, isUpwards)})));
  };
  CHECK(sorted({3, 1, 2}, true) == std::vector<float>{1, 2, 3});
  CHECK(sorted({3, 1, 2}, false) == std::vector<float>{3, 2, 1});
  CHECK(sorted({}, true).empty());

  const Ref<Instance> instance = makeInstance();
  const auto messageWith = [&](std::string_view from, std::string_view to) {
    std::string text(kSort.substr(0, kSort.find("entry")));
    text.replace(text.find(from), from.size(), to);
    const auto loaded = Executable::load(instance, parse(text), {});
    REQUIRE_FALSE(loaded.has_value());
    return loaded.assume_error().message();
  };
  CHECK(messageWith("sort.f32.f32", "sort.f32") == "kernel sort.f32 is not in the library of this runtime");
  // Another type, another shape, memory that may be shared, less to align: none of it is the kernel's.
  for (const auto& [from, to] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"input f32", "input i32"},
           {"output f32[outer, count, inner]", "output f32[outer, count]"},
           {"[outer, count, inner] align 4\n  scalar", "[outer, count, inner] align 4 alias [0]\n  scalar"},
           {"scalar_inputs [bool]", "scalar_inputs [i64]"}}) {
    INFO(to);
    CHECK(messageWith(from, to) ==
          "kernel sort.f32.f32 is described otherwise in the library than in the file");
  }
}

#if defined(__x86_64__)
namespace {
/// `xor eax, eax; ret`: a kernel that does nothing, for any x86-64 machine; another image asks for
/// what no machine has.
constexpr std::string_view kNative = R"vmasm(
kernel $six compiled {
  symbol n = operand 0 axis 0
  input f32[n]
  input f32[n]
  input f32[n]
  output f32[n]
  output f32[n]
  output f32[2*n] align 64
}
image "impossible" features ["nothing_has_this"] entries [0] base64 "zA=="
image "any" features [] entries [0] base64 "McDD"
entry "six" @six {
  symbols [n]
  param "x" f32[n]
  param "turns" i64
  result i64
}
fn @six (tensor<f32, 1>, i64) -> (i64) regs s5 r6 {
  s1 = dim r0, 0
  s2 = const i64, 2
  s2 = extent_mul s1, s2
  s3 = const i64, 0
  s4 = const i64, 1
b0:
  r1 = move r0
  r2 = move r0
  r3 = alloc_tensor f32, 0, [s1]
  r4 = alloc_tensor f32, 0, [s1]
  r5 = alloc_tensor f32, 0, [s2]
  call_kernel $six, [r0, r1!, r2!], [r3!, r4!, r5!], []
  s3 = add.i64 s3, s4
  s1 = lt.i64 s3, s0
  branch s1, b2, b1
b2:
  s1 = dim r0, 0
  jump b0
b1:
  drop r0!
  ret [s3], []
}
)vmasm";
}  // namespace

TEST_CASE("native code runs on machines that have what it needs") {
  const Runtime runtime(kNative, {.useSwitch = GENERATE(false, true)});
  CHECK(runtime.executable->kernels().cpuLevel() == "any");
  CHECK(runtime.runI64("six", {runtime.tensor({4}, {1, 2, 3, 4}), Runtime::i64(1000)}) == 1000);
  const Ref<Instance> instance = makeInstance();
  const auto chosen = Executable::load(instance, parse(kNative), {.cpuLevel = "impossible"});
  REQUIRE_FALSE(chosen.has_value());
  CHECK(chosen.assume_error().code() == ErrorCode::Incompatible);
  CHECK(chosen.assume_error().message().find("nothing_has_this") != std::string::npos);
  const auto unknown = Executable::load(instance, parse(kNative), {.cpuLevel = "x86-64-v9"});
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.assume_error().message() ==
        "no native code for CPU level x86-64-v9: the file has impossible, any");
}
#endif
