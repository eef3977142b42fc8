// A matrix product written by hand in loop IR: packed weights, a register tile, no scalar
// tails. It shows that local arrays end in registers and that code is at the machine's speed.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <random>

#include "compiled_harness.h"
#include "dims.h"
#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/builder.h"

namespace baton {
namespace {

using loop::Builder;
using loop::Kernel;
using loop::LocalIndex;
using loop::Op;
using loop::Value;
using testing::bytesOf;

constexpr int64_t kPanel = 64;  ///< columns of a panel of packed weights

/// y[m, n] = sum over k of a[m, k] * w[n / 64][k][n % 64], tiles of `rows` x `columns`.
Kernel matmul(int64_t rows, int64_t columns) {
  KernelDescriptor d;
  d.name = "matmul";
  d.symbols = {{.name = "m", .index = 0, .axis = 0},
               {.name = "k", .index = 0, .axis = 1},
               {.name = "p", .index = 1, .axis = 0},
               {.name = "n", .index = 2, .axis = 1}};
  d.inputs = {
      {.dtype = DType::F32, .extents = {sym(0), sym(1)}},
      {.dtype = DType::F32, .alignmentBytes = 64, .extents = {sym(2), sym(1), DimExpr::constant(kPanel)}}};
  d.outputs = {{.dtype = DType::F32, .extents = {sym(0), sym(3)}}};
  Builder b(d);
  const Value m = b.symbol(0);
  const Value k = b.symbol(1);
  const Value n = b.symbol(3);
  // One tile of a known number of rows, from row `top`.
  const auto tile = [&](int64_t tileRows, Value top, Value panel, Value first) {
    const LocalIndex acc = b.local(DType::F32, {tileRows, columns});
    b.serial(k, [&](Value kk) {
      b.unrolled(tileRows, [&](Value r) {
        const Value x = b.load(b.input(0), {top + r, kk});
        b.vectorized(b.i64(columns), [&](Value c) {
          b.set(acc, {r, c}, fma(x, b.load(b.input(1), {panel, kk, first + c}), b.get(acc, {r, c})));
        });
      });
    });
    const Value start = panel * b.i64(kPanel) + first;
    b.unrolled(tileRows, [&](Value r) {
      b.vectorized(b.i64(columns), [&](Value c) {
        // The last panel may have fewer columns than it holds.
        b.ifThen(start + c < n, [&] { b.store(b.output(0), {top + r, start + c}, b.get(acc, {r, c})); });
      });
    });
  };
  b.parallel(b.symbol(2), [&](Value panel) {
    b.serial(b.i64(kPanel / columns), [&](Value part) {
      const Value first = part * b.i64(columns);
      // Rows are split evenly: `blocks` tiles, of which the first `longer` have one row more.
      const Value blocks = b.binary(Op::FloorDiv, m + b.i64(rows - 1), b.i64(rows));
      b.serial(blocks, [&](Value block) {
        const Value top = b.divide(Op::FloorDiv, block * m, blocks, b.message("no blocks"));
        const Value next = b.divide(Op::FloorDiv, (block + b.i64(1)) * m, blocks, b.message("no blocks"));
        for (int64_t r = 1; r <= rows; ++r)
          b.ifThen(equal(next - top, b.i64(r)), [&] { tile(r, top, panel, first); });
      });
    });
  });
  return b.take();
}

struct Problem {
  int64_t m, n, k, panels;
  std::vector<float> a, w;
  Problem(int64_t rows, int64_t columns, int64_t depth)
      : m(rows), n(columns), k(depth), panels((columns + kPanel - 1) / kPanel) {
    std::mt19937 random(5);
    a.resize(static_cast<size_t>(m * k));
    w.resize(static_cast<size_t>(panels * k * kPanel));
    for (float& x : a) x = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    for (float& x : w) x = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  }
  std::vector<int64_t> scalars() const { return {m, k, panels, n}; }
};

TEST_CASE("matmul: a register tile gives what the interpreter gives") {
  std::vector<testing::KernelRun> runs;
  const int64_t shapes[][3] = {{1, 64, 3}, {6, 64, 8}, {7, 128, 5}, {13, 100, 9},
                               {0, 64, 4}, {4, 1, 1},  {3, 70, 0}};
  for (const auto& [m, n, k] : shapes) {
    const Problem p(m, n, k);
    runs.push_back({.inputs = {bytesOf(p.a), bytesOf(p.w)},
                    .outputBytes = {static_cast<size_t>(m * n * 4)},
                    .scalars = p.scalars()});
  }
  CHECK(testing::compareAll(matmul(6, 16), runs) == "");
  CHECK(testing::compareAll(matmul(4, 32), runs) == "");
}

/// Seconds for `count` rounds of twelve independent multiply-adds: what the machine can do now.
double peakSeconds(int64_t count) {
  const auto begin = std::chrono::steady_clock::now();
  __asm__ volatile(
      "1:\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm0\n vfmadd213ps %%ymm15, %%ymm14, %%ymm1\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm2\n vfmadd213ps %%ymm15, %%ymm14, %%ymm3\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm4\n vfmadd213ps %%ymm15, %%ymm14, %%ymm5\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm6\n vfmadd213ps %%ymm15, %%ymm14, %%ymm7\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm8\n vfmadd213ps %%ymm15, %%ymm14, %%ymm9\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm10\n vfmadd213ps %%ymm15, %%ymm14, %%ymm11\n"
      "dec %0\n jnz 1b\n vzeroupper"
      : "+r"(count)
      :
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm14", "xmm15", "cc");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_CASE("matmul: speed", "[.perf]") {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>(6, 16), {5, 16}, {4, 16}, {3, 32}, {2, 32}}) {
    const Kernel kernel = matmul(rows, columns);
    Result<codegen::NativeImage> image = codegen::compileKernels({&kernel, 1}, {.cpu = "native"});
    REQUIRE(image.has_value());
    Result<NativeCode> code = NativeCode::copy(image.value().bytes);
    REQUIRE(code.has_value());
    const BatonKernelFunction run = code.value().entry(image.value().entries[0]).value();
    for (const int64_t m : {1, 4, 6, 16, 26, 64, 128}) {
      const Problem p(m, 3072, 768);
      std::vector<float> y(static_cast<size_t>(p.m * p.n));
      void* w = std::aligned_alloc(64, p.w.size() * 4);
      std::copy(p.w.begin(), p.w.end(), static_cast<float*>(w));
      void* buffers[] = {const_cast<float*>(p.a.data()), w, y.data()};
      std::vector<int64_t> scalars = p.scalars();
      testing::TestContext context;
      double best = 1e9;
      double bestPeak = 1e9;
      constexpr int64_t kRounds = 20000;
      // Interleaved, since other work comes and goes on the machine.
      for (int repeat = 0; repeat < 60; ++repeat) {
        bestPeak = std::min(bestPeak, peakSeconds(kRounds));
        const auto begin = std::chrono::steady_clock::now();
        REQUIRE(run(context.get(), buffers, scalars.data()) == 0);
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
      std::free(w);
      const double speed = 2e-9 * static_cast<double>(p.m * p.n * p.k) / best;
      const double peak = 1e-9 * 12 * 8 * 2 * kRounds / bestPeak;
      WARN("tile " << rows << "x" << columns << " m=" << m << ": " << speed << " GFLOP/s of " << peak << ": "
                   << 100 * speed / peak << " %");
    }
  }
}

}  // namespace
}  // namespace baton
