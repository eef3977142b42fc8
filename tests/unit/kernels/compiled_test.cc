// What each form of loop IR computes, interpreted and compiled: whatever compareAll of the harness is.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "compiled_harness.h"
#include "dims.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/parser.h"

namespace baton {
namespace {

using loop::BufferIndex;
using loop::Builder;
using loop::Kernel;
using loop::LocalIndex;
using loop::Op;
using loop::ReduceOp;
using loop::Value;
using testing::bytesOf;
using testing::compareAll;
using testing::KernelRun;
using testing::vectorDescriptor;

/// Extents at which vectors, blocks and partials begin and end.
const int64_t kExtents[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257, 1009};

Kernel parsed(const std::string& text) {
  Result<Kernel> kernel = loop::parseKernel(text);
  if (!kernel.has_value()) FAIL(kernel.error().message());
  return std::move(kernel).value();
}

/// Values of every kind: zeroes, denormals, infinities, NaN, and mostly ordinary ones.
std::vector<std::byte> randomElements(DType type, int64_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(count) * static_cast<size_t>(sizeBytes(type)));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random();
    if (isFloat(type)) {
      const double choices[] = {0.0, -0.0, 1e-42, -3e38, INFINITY, -INFINITY, NAN, 1.0};
      const double value = random() % 8 == 0 ? choices[random() % 8]
                                             : static_cast<double>(static_cast<int64_t>(bits)) / (1ull << 60);
      bits = convertScalar(scalarBits(value), DType::F64, type);
    }
    if (type == DType::Bool) bits &= 1;
    storeScalar(bytes.data() + i * sizeBytes(type), type, bits);
  }
  return bytes;
}

TEST_CASE("compiled: elementwise operations of every type in lanes") {
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    if (type == DType::F16 || type == DType::BF16) continue;
    std::vector<Op> ops;
    for (int o = static_cast<int>(Op::Add); o <= static_cast<int>(Op::Fma); ++o) {
      const auto op = static_cast<Op>(o);
      if (!isIntegerDivision(op) && op != Op::Cast && op != Op::Bitcast && op != Op::Select &&
          loop::isInClass(type, loop::opInfo(op).types))
        ops.push_back(op);
    }
    KernelDescriptor d = vectorDescriptor(type, type, 3, ops.size());
    for (size_t i = 0; i < ops.size(); ++i)
      if (loop::isComparison(ops[i])) d.outputs[i].dtype = DType::Bool;
    Builder b(d);
    b.vectorized(b.symbol(0), [&](Value i) {
      const Value x = b.load(b.input(0), {i});
      const Value y = b.load(b.input(1), {i});
      const Value z = b.load(b.input(2), {i});
      for (uint32_t o = 0; o < ops.size(); ++o) {
        const int arity = loop::opInfo(ops[o]).arity;
        b.store(b.output(o), {i},
                arity == 1   ? b.unary(ops[o], x)
                : arity == 2 ? b.binary(ops[o], x, y)
                             : b.fma(x, y, z));
      }
    });
    const Kernel kernel = b.take();
    std::vector<KernelRun> runs;
    for (const int64_t n : kExtents) {
      KernelRun run;
      for (uint32_t i = 0; i < 3; ++i)
        run.inputs.push_back(randomElements(type, n, 7 * i + static_cast<uint32_t>(n)));
      for (const KernelOperand& output : d.outputs)
        run.outputBytes.push_back(static_cast<size_t>(n * sizeBytes(output.dtype)));
      run.scalars = {n};
      runs.push_back(run);
    }
    INFO(dtypeName(type));
    CHECK(compareAll(kernel, runs) == "");
  }
}

TEST_CASE("compiled: extremes of a number that is known, and of one that is not") {
  const double constants[] = {0.0, -0.0, 1.5, -1.5, INFINITY, -INFINITY, NAN, 1e-42};
  for (const DType type : {DType::F32, DType::F64}) {
    std::vector<double> numbers = {-2, -1.5, 0.25, 1.5, 3, 1e-42, -1e-42};
    numbers.insert(numbers.end(), std::begin(constants), std::end(constants));
    numbers.push_back(-NAN);
    Builder b(vectorDescriptor(type, type, 1, 4 * std::size(constants)));
    b.vectorized(b.symbol(0), [&](Value i) {
      const Value x = b.load(b.input(0), {i});
      uint32_t next = 0;
      for (const double constant : constants)
        for (const Op op : {Op::Max, Op::Min}) {
          b.store(b.output(next++), {i}, b.binary(op, x, b.constant(type, constant)));
          b.store(b.output(next++), {i}, b.binary(op, b.constant(type, constant), x));
        }
    });
    KernelRun run{.scalars = {static_cast<int64_t>(numbers.size())}};
    run.inputs.emplace_back(numbers.size() * static_cast<size_t>(sizeBytes(type)));
    for (size_t i = 0; i < numbers.size(); ++i)
      storeScalar(run.inputs[0].data() + i * static_cast<size_t>(sizeBytes(type)), type,
                  convertScalar(scalarBits(numbers[i]), DType::F64, type));
    run.outputBytes.assign(4 * std::size(constants), run.inputs[0].size());
    CHECK(compareAll(b.take(), {run}) == "");
  }
}

TEST_CASE("compiled: casts and bit casts between all types") {
  for (int from = 0; from < kDTypeCount; ++from) {
    const auto type = static_cast<DType>(from);
    KernelDescriptor d = vectorDescriptor(type, DType::Bool, 1, kDTypeCount);
    for (int to = 0; to < kDTypeCount; ++to)
      d.outputs[static_cast<size_t>(to)].dtype = static_cast<DType>(to);
    std::vector<DType> sameSize;
    for (int to = 1; to < kDTypeCount; ++to)
      if (type != DType::Bool && sizeBytes(static_cast<DType>(to)) == sizeBytes(type)) {
        sameSize.push_back(static_cast<DType>(to));
        d.outputs.push_back({.dtype = static_cast<DType>(to), .extents = {sym(0)}});
      }
    Builder b(d);
    b.vectorized(b.symbol(0), [&](Value i) {
      const Value x = b.load(b.input(0), {i});
      for (uint32_t to = 0; to < kDTypeCount; ++to)
        b.store(b.output(to), {i}, cast(x, static_cast<DType>(to)));
      for (uint32_t j = 0; j < sameSize.size(); ++j)
        b.store(b.output(kDTypeCount + j), {i}, bitcast(x, sameSize[j]));
    });
    const Kernel kernel = b.take();
    std::vector<KernelRun> runs;
    std::vector<std::vector<std::byte>> inputs = {randomElements(type, 37, 1), randomElements(type, 4001, 2)};
    if (sizeBytes(type) == 2) {  // every value there is
      std::vector<uint16_t> all(65536);
      for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
      inputs.push_back(bytesOf(all));
    }
    if (sizeBytes(type) == 4 && isFloat(type)) {  // around every half-way point of f16 and bf16
      std::vector<uint32_t> hard;
      for (uint64_t high = 0; high < 0x10000; high += 3)
        for (const uint32_t low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0x1000u, 0x0FFFu, 0xFFFFu})
          hard.push_back(static_cast<uint32_t>(high << 16) | low);
      inputs.push_back(bytesOf(hard));
    }
    if (sizeBytes(type) == 8) {
      std::vector<uint64_t> hard;
      for (int shift = 0; shift < 64; ++shift)
        for (const uint64_t seed :
             {0x1ull, 0x3ull, 0x5ull, 0xFFull, 0x1FFull, 0x181ull, 0x17FFFull, 0x18001ull, 0x1010000001ull})
          for (const int64_t nudge : {-1, 0, 1})
            hard.push_back((seed << shift) + static_cast<uint64_t>(nudge));
      if (isFloat(type)) {
        std::mt19937_64 random(9);
        for (int i = 0; i < 20000; ++i) {  // halves of f32 denormals, halves of f16, their neighbours
          const float base = std::bit_cast<float>(static_cast<uint32_t>(random()));
          if (!std::isfinite(base) || base == 0) continue;
          const double middle =
              static_cast<double>(base) + std::ldexp(1.0, std::ilogb(base) - (i % 3 == 0   ? 11
                                                                              : i % 3 == 1 ? 8
                                                                                           : 24));
          hard.push_back(std::bit_cast<uint64_t>(middle));
          hard.push_back(std::bit_cast<uint64_t>(middle) + 1);
          hard.push_back(std::bit_cast<uint64_t>(middle) - 1);
        }
      }
      inputs.push_back(bytesOf(hard));
    }
    for (const auto& input : inputs) {
      const auto n = static_cast<int64_t>(input.size()) / sizeBytes(type);
      KernelRun run{.inputs = {input}, .scalars = {n}};
      for (const KernelOperand& output : d.outputs)
        run.outputBytes.push_back(static_cast<size_t>(n * sizeBytes(output.dtype)));
      runs.push_back(run);
    }
    INFO(dtypeName(type));
    CHECK(compareAll(kernel, runs) == "");
  }
}

TEST_CASE("compiled: transcendentals in lanes are those of the interpreter") {
  Value (*const functions[])(Value) = {loop::exp,   loop::log,   loop::tanh, loop::sigmoid, loop::erf,
                                       loop::rsqrt, loop::sin,   loop::cos,  loop::tan,     loop::asin,
                                       loop::acos,  loop::atan,  loop::sinh, loop::cosh,    loop::asinh,
                                       loop::acosh, loop::atanh, loop::log2, loop::log10};
  constexpr size_t kOutputs = std::size(functions) + 1;
  for (const DType type : {DType::F32, DType::F64}) {
    Builder b(vectorDescriptor(type, type, 1, kOutputs));
    for (uint32_t r = 0; r < kOutputs; ++r)
      b.vectorized(b.symbol(0), [&](Value i) {
        const Value x = b.load(b.input(0), {i});
        const Value y = b.load(b.input(0), {b.symbol(0) - b.i64(1) - i});
        b.store(b.output(r), {i}, r + 1 < kOutputs ? functions[r](x) : pow(x, y));
      });
    const Kernel kernel = b.take();
    std::vector<KernelRun> runs;
    for (const int64_t n : {1, 7, 8, 21, 20011}) {
      KernelRun run{.inputs = {randomElements(type, n, 5)}, .scalars = {n}};
      run.outputBytes.assign(kOutputs, static_cast<size_t>(n * sizeBytes(type)));
      runs.push_back(run);
    }
    if (type == DType::F32) {
      std::vector<uint32_t> dense;
      for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 80021) dense.push_back(static_cast<uint32_t>(bits));
      KernelRun run{.inputs = {bytesOf(dense)}, .scalars = {static_cast<int64_t>(dense.size())}};
      run.outputBytes.assign(kOutputs, dense.size() * 4);
      runs.push_back(run);
    }
    CHECK(compareAll(kernel, runs) == "");
  }
}

TEST_CASE("compiled: reductions of every kind over a row") {
  for (const DType type : {DType::F32, DType::F64, DType::I32, DType::U8, DType::I64}) {
    KernelDescriptor d = vectorDescriptor(type, type, 1, 0);
    d.scalarOutputs = {type, type, type, type, DType::I64, DType::I64, DType::Bool, DType::Bool, type};
    Builder b(d);
    const Value n = b.symbol(0);
    const auto element = [&](Value i) { return b.load(b.input(0), {i}); };
    const ReduceOp ops[] = {ReduceOp::Sum, ReduceOp::Prod,   ReduceOp::Max,
                            ReduceOp::Min, ReduceOp::ArgMax, ReduceOp::ArgMin};
    for (uint32_t o = 0; o < 6; ++o) b.setScalar(o, b.reduce(ops[o], n, element));
    const Value zero = b.constant(type, 0);
    b.setScalar(6, b.reduce(ReduceOp::All, n, [&](Value i) { return notEqual(element(i), zero); }));
    b.setScalar(7, b.reduce(ReduceOp::Any, n, [&](Value i) { return equal(element(i), zero); }));
    // A heavier body: sum of a polynomial.
    b.setScalar(8, b.reduce(ReduceOp::Sum, n, [&](Value i) {
      Value x = element(i);
      for (int j = 0; j < 12; ++j) x = x * x + element(i) - b.constant(type, j);
      return x;
    }));
    const Kernel kernel = b.take();
    std::vector<KernelRun> runs;
    for (const int64_t count :
         {0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 1000, 4095, 4096, 4097, 8191, 8192, 12289, 20000})
      for (uint32_t seed = 0; seed < 3; ++seed) {
        std::vector<std::byte> input = randomElements(type, count, seed);
        if (seed > 0 && isFloat(type)) {  // ordinary values only, so that the order shows
          std::mt19937_64 random(seed);
          for (int64_t i = 0; i < count; ++i)
            storeScalar(input.data() + i * sizeBytes(type), type,
                        convertScalar(scalarBits(std::ldexp(static_cast<double>(random() % 2001) - 1000.0,
                                                            static_cast<int>(random() % 20) - 19)),
                                      DType::F64, type));
        }
        runs.push_back({.inputs = {input}, .scalars = {count, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
      }
    INFO(dtypeName(type));
    CHECK(compareAll(kernel, runs) == "");
  }
}

TEST_CASE("compiled: the extremes of a row with zeroes of both signs, or a NaN anywhere") {
  for (const DType type : {DType::F32, DType::F64}) {
    KernelDescriptor d = vectorDescriptor(type, type, 1, 0);
    d.scalarOutputs = {type, type, type, type};
    Builder b(d);
    uint32_t next = 0;
    for (const ReduceOp op : {ReduceOp::Max, ReduceOp::Min})
      for (const int more : {0, 12})  // a light body and a heavy one
        b.setScalar(next++, b.reduce(op, b.symbol(0), [&](Value i) {
          Value x = b.load(b.input(0), {i});
          for (int j = 0; j < more; ++j) x = x * b.constant(type, 1.0);
          return x;
        }));
    std::vector<KernelRun> runs;
    const auto add = [&](int64_t count, double value, int64_t at, double other) {
      KernelRun run{.scalars = {count, 0, 0, 0, 0}};
      run.inputs.emplace_back(static_cast<size_t>(count * sizeBytes(type)));
      for (int64_t i = 0; i < count; ++i)
        storeScalar(run.inputs[0].data() + i * sizeBytes(type), type,
                    convertScalar(scalarBits(i == at ? other : value), DType::F64, type));
      runs.push_back(std::move(run));
    };
    for (const int64_t count : {1, 7, 8, 9, 31, 33, 64, 75})
      for (int64_t at = 0; at < count; at += count < 20 ? 1 : 5)
        for (const auto& [value, other] :
             {std::pair(0.0, -0.0), std::pair(-0.0, 0.0), std::pair(-1.0, -0.0), std::pair(1.0, 0.0),
              std::pair(2.0, static_cast<double>(NAN)), std::pair(-0.0, static_cast<double>(-NAN)),
              std::pair(-3.0, static_cast<double>(-INFINITY))})
          add(count, value, at, other);
    CHECK(compareAll(b.take(), runs) == "");
  }
}

TEST_CASE("compiled: reductions over several axes and inside lanes") {
  KernelDescriptor d;
  d.name = "axes";
  d.symbols = {{.name = "b", .index = 0, .axis = 0},
               {.name = "m", .index = 0, .axis = 1},
               {.name = "n", .index = 0, .axis = 2}};
  d.inputs = {{.dtype = DType::F32, .extents = {sym(0), sym(1), sym(2)}}};
  d.outputs = {{.dtype = DType::F32, .extents = {sym(1)}},
               {.dtype = DType::F32, .extents = {sym(1), sym(2)}},
               {.dtype = DType::F32, .extents = {sym(1), sym(2)}},
               {.dtype = DType::I64, .extents = {sym(1), sym(2)}},
               {.dtype = DType::F32, .extents = {sym(1), sym(2)}}};
  Builder b(d);
  const Value batch = b.symbol(0);
  const Value rows = b.symbol(1);
  const Value columns = b.symbol(2);
  b.serial(rows, [&](Value i) {
    const Value extents[] = {batch, columns};
    b.store(b.output(0), {i}, b.reduce(ReduceOp::Sum, extents, [&](std::span<const Value> v) {
      return b.load(b.input(0), {v[0], i, v[1]});
    }));
    b.vectorized(columns, [&](Value j) {
      const auto element = [&](Value k) { return b.load(b.input(0), {k, i, j}); };
      b.store(b.output(1), {i, j}, b.reduce(ReduceOp::Sum, batch, element));
      b.store(b.output(2), {i, j}, b.reduce(ReduceOp::Max, batch, element));
      b.store(b.output(3), {i, j}, b.reduce(ReduceOp::ArgMin, batch, element));
      // A heavier body.
      b.store(b.output(4), {i, j}, b.reduce(ReduceOp::Sum, batch, [&](Value k) {
        Value x = element(k);
        for (int step = 0; step < 12; ++step) x = x * element(k) - b.constant(DType::F32, step);
        return x;
      }));
    });
  });
  const Kernel kernel = b.take();
  std::vector<KernelRun> runs;
  const int64_t shapes[][3] = {{0, 2, 3},    {1, 1, 1},     {3, 2, 5},    {5, 3, 70}, {100, 2, 9},
                               {37, 1, 131}, {4200, 1, 11}, {3, 0, 4},    {3, 2, 0},  {64, 1, 9},
                               {65, 1, 8},   {4096, 1, 8},  {12300, 1, 1}};
  for (const auto& [x, y, z] : shapes) {
    std::mt19937 random(3);
    std::vector<float> input(static_cast<size_t>(x * y * z));
    for (float& value : input)
      value = std::ldexp(static_cast<float>(random() % 2001) - 1000.0f, static_cast<int>(random() % 10) - 10);
    runs.push_back({.inputs = {bytesOf(input)},
                    .outputBytes = {static_cast<size_t>(y * 4), static_cast<size_t>(y * z * 4),
                                    static_cast<size_t>(y * z * 4), static_cast<size_t>(y * z * 8),
                                    static_cast<size_t>(y * z * 4)},
                    .scalars = {x, y, z}});
  }
  CHECK(compareAll(kernel, runs) == "");
}

TEST_CASE("compiled: gathers, scatters, branches and locals in lanes") {
  const Kernel kernel = parsed(R"(kernel "mixed" {
    symbol n = operand 0 axis 0
    symbol m = operand 1 axis 0
    input i64[n]
    input f32[m]
    output f32[n]
    output f32[n, 2]
    output u8[n]
    scratch f32[n]
    vectorized %0 < $n {
      %1 = load in0[%0]
      %2 = sub i64 $m, 1
      %3 = max i64 %1, 0
      %4 = min i64 %3, %2
      %5 = load in1[%4]
      store tmp0[%0], %5
      %6 = gt f32 %5, f32(0)
      local l0 f32
      local l1 i64[3]
      if %6 {
        %7 = sqrt f32 %5
        set l0, %7
        unrolled %8 < 3 { set l1[%8], %4 }
        if %6 { store out1[%0, 1], %7 }
      } else {
        %9 = neg f32 %5
        set l0, %9
        store out1[%0, 0], %9
      }
      %10 = get l0
      %11 = get l1[2]
      %12 = cast f32 %11
      %13 = add f32 %10, %12
      store out0[%0], %13
      %14 = sub i64 %1, %0
      %15 = cast u8 %14
      %16 = eq i64 %14, 3
      %17 = select u8 %16, u8(7), %15
      store out2[%0], %17
    }
    for %18 < $n {
      %19 = load tmp0[%18]
      %20 = load out0[%18]
      %21 = add f32 %19, %20
      store out0[%18], %21
    }
  })");
  std::vector<KernelRun> runs;
  for (const int64_t n : kExtents) {
    std::mt19937_64 random(11);
    std::vector<int64_t> indices(static_cast<size_t>(n));
    for (int64_t& index : indices) index = static_cast<int64_t>(random() % 40) - 10;
    std::vector<float> table(23);
    for (float& value : table) value = static_cast<float>(static_cast<int64_t>(random() % 200) - 100) / 8;
    runs.push_back(
        {.inputs = {bytesOf(indices), bytesOf(table)},
         .outputBytes = {static_cast<size_t>(n * 4), static_cast<size_t>(n * 8), static_cast<size_t>(n)},
         .scalars = {n, 23}});
  }
  CHECK(compareAll(kernel, runs) == "");
}

TEST_CASE("compiled: parallel loops, failures and divisions") {
  const Kernel kernel = parsed(R"(kernel "parallel" {
    symbol m = operand 0 axis 0
    symbol n = operand 0 axis 1
    input i32[m, n]
    output i32[m, n]
    scalar_input i32
    scalar_output i64
    message "division by zero"
    message "row {0} holds {1}"
    local l0 i64[2]
    set l0[1], 5
    %0 = mul i64 $m, 2
    parallel %1 < $m grain 3 {
      %2 = get l0[1]
      %3 = add i64 %2, %0
      vectorized %4 < $n {
        %5 = load in0[%1, %4]
        %6 = floordiv i32 %5, arg0 or_fail 0
        %7 = cast i32 %3
        %8 = add i32 %6, %7
        store out0[%1, %4], %8
      }
      %9 = reduce any (%10 < $n) { %11 = load in0[%1, %10] %12 = eq i32 %11, i32(-77) yield %12 }
      if %9 { %13 = cast i64 %9 fail 1, %1, %13 }
    }
    set_scalar 0, %0
  })");
  std::vector<KernelRun> runs;
  for (const int32_t divisor : {3, -3, 1, 0, -1})
    for (const int32_t special : {5, -77, INT32_MIN}) {
      std::vector<int32_t> input = {7, -7, 8, -8, 0, 1, 2, 3, 4, special, 9, 10};
      runs.push_back({.inputs = {bytesOf(input)}, .outputBytes = {48}, .scalars = {4, 3, divisor, 0}});
    }
  runs.push_back({.inputs = {{}}, .outputBytes = {0}, .scalars = {0, 3, 0, 0}});
  CHECK(compareAll(kernel, runs) == "");
}

TEST_CASE("compiled: maximum of f16 operands keeps NaN beside zero") {
  // LLVM narrows this to f16, and vectorises it.
  Builder b(vectorDescriptor(DType::F16, DType::F16, 2));
  b.serial(b.symbol(0), [&](Value i) {
    const Value x = cast(b.load(b.input(0), {i}), DType::F32);
    const Value y = cast(b.load(b.input(1), {i}), DType::F32);
    b.store(b.output(0), {i}, cast(max(x, y) + b.f32(4), DType::F16));
  });
  std::vector<uint16_t> x;
  std::vector<uint16_t> y;
  for (int repeat = 0; repeat < 5; ++repeat)
    for (const uint16_t p : {0x0000, 0x8000, 0x7E00, 0xFE00, 0x3C00, 0xFC00, 0x0001})
      for (const uint16_t q : {0x0000, 0x8000, 0x7E00, 0xFE00, 0x3C00, 0xFC00, 0x0001}) {
        x.push_back(p);
        y.push_back(q);
      }
  const size_t bytes = x.size() * 2;
  CHECK(compareAll(b.take(), {{.inputs = {bytesOf(x), bytesOf(y)},
                               .outputBytes = {bytes},
                               .scalars = {static_cast<int64_t>(x.size())}}}) == "");
}

}  // namespace
}  // namespace baton
