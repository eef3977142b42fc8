#include <catch2/catch.hpp>

#include "compiler/lir/cfg.h"
#include "compiler/lir/passes/passes.h"
#include "tests/unit/compiler/lir/pass_output.h"

namespace baton::lir {
namespace {

template <class Pass>
auto onFirst(Pass pass) {
  return [pass](Module& module) { pass(module.functions[0]); };
}

TEST_CASE("what has no use is removed, values that only go round a loop too") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %2: i64 = dim %1, 0
  %3: i64 = floor_div.i64 %2, %0
  %4: i64 = const i64, 0x1
  jump b1(%0, %4)
b1(%5: i64, %6: i64):
  %7: i64 = add.i64 %5, %4
  %8: i64 = add.i64 %6, %6
  %9: bool = lt.i64 %7, %0
  branch %9, b2, b3
b2:
  jump b1(%7, %8)
b3:
  ret (%7), ()
}
)",
              onFirst(removeDeadCode)) == R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %4: i64 = const i64, 0x1
  jump b1(%0)
b1(%5: i64):
  %7: i64 = add.i64 %5, %4
  %9: bool = lt.i64 %7, %0
  branch %9, b2, b3
b2:
  jump b1(%7)
b3:
  ret (%7), ()
}
)");
}

TEST_CASE("kernels go when nobody reads what they write") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %2: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%1), (%2), ()
  %3: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%2), (%3), ()
  %4: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%2), (%4), ()
  %5: f32 = call_kernel kernel<1>, (%3), (), ()
  %6: f32 = call_kernel kernel<1>, (%4), (), ()
  ret (%6), ()
}
)",
              onFirst(removeDeadCode)) == R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %2: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%1), (%2), ()
  %4: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%2), (%4), ()
  %6: f32 = call_kernel kernel<1>, (%4), (), ()
  ret (%6), ()
}
)");
}

TEST_CASE("calls, checks and writes stay whether their results are used or not") {
  const std::string text = R"(func @f signature<0> {
b0(%0: bool, %1: cell<0>, %2: i64):
  check %0, message<0>, ()
  cell_write_scalar %1, %2
  %3: i64 = call @f, (%0, %2), (%1)
  ret (), ()
}
)";
  CHECK(after(text, onFirst(removeDeadCode)) == text);
}

TEST_CASE("moves, trivial parameters, constant branches and single jumps are simplified away") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %2: bool = const bool, 0x1
  %3: tensor<f32,1> = move %1
  branch %2, b1, b2
b1:
  jump b3(%0, %3)
b2:
  jump b3(%0, %1)
b3(%4: i64, %5: tensor<f32,1>):
  %6: bool = lt.i64 %4, %0
  branch %6, b4, b5
b4:
  jump b3(%4, %5)
b5:
  ret (%4), (%5)
}
)",
              onFirst(simplify)) == R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %2: bool = const bool, 0x1
  jump b1
b1:
  %6: bool = lt.i64 %0, %0
  branch %6, b2, b3
b2:
  jump b1
b3:
  ret (%0), (%1)
}
)");
}

TEST_CASE("a block joins its only predecessor with arguments put in") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: i64):
  jump b1(%0)
b1(%1: i64):
  %2: i64 = add.i64 %1, %1
  jump b2(%2)
b2(%3: i64):
  ret (%3), ()
}
)",
              onFirst(simplify)) == R"(func @f signature<0> {
b0(%0: i64):
  %2: i64 = add.i64 %0, %0
  ret (%2), ()
}
)");
}

TEST_CASE("parameters that swap are not trivial") {
  const std::string text = R"(func @f signature<0> {
b0(%0: bool, %1: i64, %2: i64):
  jump b1(%1, %2)
b1(%3: i64, %4: i64):
  branch %0, b2, b3
b2:
  jump b1(%4, %3)
b3:
  ret (%3), ()
}
)";
  CHECK(after(text, onFirst(simplify)) == text);
}

TEST_CASE("redundant computations go where one dominates, and only there") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: bool, %1: tensor<f32,1>, %2: cell<0>):
  %3: i64 = dim %1, 0
  branch %0, b1, b2
b1:
  %4: i64 = dim %1, 0
  %5: i64 = add.i64 %3, %4
  ret (%5), ()
b2:
  %6: i64 = add.i64 %3, %3
  %7: i64 = cell_read_scalar %2
  %8: i64 = cell_read_scalar %2
  %9: i64 = add.i64 %7, %8
  %10: i64 = add.i64 %6, %9
  ret (%10), ()
}
)",
              onFirst(removeRedundancy)) == R"(func @f signature<0> {
b0(%0: bool, %1: tensor<f32,1>, %2: cell<0>):
  %3: i64 = dim %1, 0
  branch %0, b1, b2
b1:
  %5: i64 = add.i64 %3, %3
  ret (%5), ()
b2:
  %6: i64 = add.i64 %3, %3
  %7: i64 = cell_read_scalar %2
  %8: i64 = cell_read_scalar %2
  %9: i64 = add.i64 %7, %8
  %10: i64 = add.i64 %6, %9
  ret (%10), ()
}
)");
}

TEST_CASE("a condition is checked once on every path") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: bool, %1: i64):
  branch %0, b1, b2
b1:
  check %0, message<0>, (%1)
  check %0, message<1>, ()
  ret (), ()
b2:
  check %0, message<2>, ()
  ret (), ()
}
)",
              onFirst(removeRedundancy)) == R"(func @f signature<0> {
b0(%0: bool, %1: i64):
  branch %0, b1, b2
b1:
  check %0, message<0>, (%1)
  ret (), ()
b2:
  check %0, message<2>, ()
  ret (), ()
}
)");
}

TEST_CASE("invariants leave their loops, what can fail does not") {
  CHECK(after(R"(func @f signature<0> {
b0(%0: bool, %1: tensor<f32,1>, %2: i64):
  jump b1(%2)
b1(%3: i64):
  %4: i64 = const i64, 0x2
  %5: i64 = dim %1, 0
  %6: i64 = mul.i64 %5, %4
  %7: i64 = floor_div.i64 %2, %5
  %8: i64 = add.i64 %3, %6
  %9: i64 = add.i64 %8, %7
  branch %0, b2, b3
b2:
  jump b1(%9)
b3:
  ret (%9), ()
}
)",
              onFirst(hoistInvariants)) == R"(func @f signature<0> {
b0(%0: bool, %1: tensor<f32,1>, %2: i64):
  %4: i64 = const i64, 0x2
  %5: i64 = dim %1, 0
  %6: i64 = mul.i64 %5, %4
  jump b1(%2)
b1(%3: i64):
  %7: i64 = floor_div.i64 %2, %5
  %8: i64 = add.i64 %3, %6
  %9: i64 = add.i64 %8, %7
  branch %0, b2, b3
b2:
  jump b1(%9)
b3:
  ret (%9), ()
}
)");
}

TEST_CASE("closures hold only what their functions read") {
  const auto prune = [](Module& module) { REQUIRE(pruneCaptures(module).has_value()); };
  CHECK(after(R"(func @f signature<0> {
b0(%0: i64, %1: f32, %2: adt<0>, %3: adt<1>):
  %4: closure<0> = make_closure @g, (%2, %3), (%0, %1)
  ret (), (%4)
}

func @g signature<0> closure(adt<0>, adt<1>, i64, f32) {
b0(%0: closure<0,1>):
  %1: adt<1> = capture_ref %0, 1
  %2: i64 = capture_scalar %0, 0
  ret (%2), (%1)
}
)",
              prune) == R"(func @f signature<0> {
b0(%0: i64, %1: f32, %2: adt<0>, %3: adt<1>):
  %4: closure<0> = make_closure @g, (%3), (%0)
  ret (), (%4)
}

func @g signature<0> closure(adt<1>, i64) {
b0(%0: closure<0,1>):
  %1: adt<1> = capture_ref %0, 0
  %2: i64 = capture_scalar %0, 0
  ret (%2), (%1)
}
)");
}

Module addKernel(std::vector<uint32_t> mayAlias) {
  Module module;
  KernelDescriptor kernel;
  kernel.name = "add";
  const std::vector<DimExpr> extents{DimExpr::symbol(DimSymbol(0))};
  kernel.symbols.push_back({.name = "n"});
  kernel.inputs.push_back({.extents = extents});
  kernel.inputs.push_back({.extents = extents});
  kernel.outputs.push_back({.extents = extents, .mayAlias = std::move(mayAlias)});
  module.tables.kernels.push_back(kernel);
  return module;
}

constexpr const char* kAdd = R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>, %2: tensor<f32,1>):
  %3: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%1, %2), (%3), ()
  ret (), (%3, %1)
}
)";

TEST_CASE("a kernel writes over an input that dies, where its descriptor allows") {
  const auto reuse = [](Module& module) { reuseInPlace(module, module.functions[0]); };
  CHECK_THAT(after(kAdd, reuse, addKernel({0, 1})), Catch::Contains("= alloc_reuse %2, f32, (%0)"));
  // The only input that may be written over is used later.
  CHECK(after(kAdd, reuse, addKernel({0})) == kAdd);
  CHECK(after(kAdd, reuse, addKernel({})) == kAdd);
}

TEST_CASE("an input that is also read elsewhere by the kernel is not written over") {
  const std::string text = R"(func @f signature<0> {
b0(%0: i64, %1: tensor<f32,1>):
  %3: tensor<f32,1> = alloc_tensor f32, 0, (%0)
  call_kernel kernel<0>, (%1, %1), (%3), ()
  ret (), (%3)
}
)";
  const auto reuse = [](Module& module) { reuseInPlace(module, module.functions[0]); };
  CHECK(after(text, reuse, addKernel({0})) == text);
  CHECK_THAT(after(text, reuse, addKernel({0, 1})), Catch::Contains("= alloc_reuse %1, f32, (%0)"));
}

}  // namespace
}  // namespace baton::lir
