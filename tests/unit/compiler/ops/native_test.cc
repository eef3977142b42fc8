// Every operator, and random groups, as native code give the bits of the reference versions, fail
// where those fail, and touch no memory but their own. Few rounds, compiled as one image; the
// interpreter has many (property_test.cc).
#include <array>
#include <catch2/catch.hpp>
#include <optional>

#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "tests/effort.h"
#include "tests/unit/compiler/ops/kernel_case.h"
#include "tests/unit/compiler/ops/random_tensors.h"
#include "tests/unit/compiler/ops/rounds.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

namespace {

void runCases(KernelCases& cases) {
  const std::vector<loop::Kernel> kernels = kernelsOf(cases);
  codegen::CodegenOptions options;
  options.optimisationLevel = 1;
  const auto image = codegen::compileKernels(kernels, options);
  if (!image) FAIL(image.assume_error().message());
  const auto code = NativeCode::copy(image.assume_value().bytes);
  REQUIRE(code);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto function = code.assume_value().entry(image.assume_value().entries[i]);
    REQUIRE(function);
    runCase(cases[i], function.assume_value());
  }
  cases.clear();
}

}  // namespace

TEST_CASE("every operator: native code and reference version agree") {
  const Rounds some = rounds(3);
  size_t total = 0;
  KernelCases cases;
  for (const OpDef* op : loweredOperators()) {
    uint64_t kept = 0;
    for (uint64_t round = some.first; round < some.first + 7 * some.count && kept < some.count; ++round) {
      std::optional<KernelCase> each =
          kernelCase(*op, makeCase(*op, round), Unknown::in(round), isNarrowIn(round / 2));
      if (!each) continue;
      each->text += " round " + std::to_string(round);
      cases.push_back(*std::move(each));
      ++kept;
      ++total;
      if (cases.size() == 500) runCases(cases);
    }
  }
  runCases(cases);
  CHECK(total > 85 * some.count);
}

TEST_CASE("every operator: native code spends no time on tensors without elements") {
  const Rounds some = rounds(4);
  KernelCases cases;
  for (const OpDef* op : loweredOperators())
    for (uint64_t round = some.first; round < some.first + some.count; ++round) {
      const std::optional<Case> c = withoutElements(makeCase(*op, round), round);
      std::optional<KernelCase> each =
          c ? kernelCase(*op, *c, round % 4 != 0, isNarrowIn(round / 2)) : std::nullopt;
      if (each) cases.push_back(*std::move(each));
    }
  CHECK(cases.size() > 60 * some.count / 4);
  runCases(cases);
}

TEST_CASE("results without elements: native code and reference version agree") {
  KernelCases cases = casesWithoutElements();
  runCases(cases);
}

TEST_CASE("every operator of static, of unknown and of mixed extents has code for every CPU level") {
  for (const char* level : {"x86-64-v3", "x86-64-v4", "armv8-a"}) {
    const bool isNarrow = codegen::hasNarrowVectors(level).value();
    KernelCases cases;
    for (const OpDef* op : loweredOperators())
      for (const uint64_t mix : {0, 1, 2}) {
        // Under sanitizers one of them each, since what makes the code of a level is the same for all.
        if (kIsCoarse && mix != (isNarrow ? 1 : 0)) continue;
        std::optional<KernelCase> each;
        for (uint64_t round = 0; round < 20 && !each; ++round)
          each = kernelCase(*op, makeCase(*op, round), Unknown::in(4 * round + mix), isNarrow);
        INFO(op->name);
        REQUIRE(each);
        cases.push_back(*std::move(each));
      }
    codegen::CodegenOptions options{.cpu = level, .optimisationLevel = kIsCoarse ? 0 : 1};
    const auto image = codegen::compileKernels(kernelsOf(cases), options);
    if (!image) FAIL(level << ": " << image.assume_error().message());
    CHECK(image.assume_value().entries.size() == cases.size());
  }
}

TEST_CASE("what is chosen by comparisons of halves needs no library") {
  Random random(1);
  KernelCases cases;
  const Case boxes{{random.tensor(DType::F16, {1, 3, 2}), random.tensor(DType::F16, {1, 8}),
                    random.tensor(DType::F16, {1, 2, 4})},
                   {}};
  const OpDef& op = *OpRegistry::instance().find("vision.multibox_decode");
  cases.push_back(kernelCase(op, boxes, false, false).value());
  runCases(cases);
}

TEST_CASE("random groups: native code and one by one agree") {
  const Rounds some = rounds(80);
  KernelCases cases;
  for (uint64_t seed = some.first; seed < some.first + some.count; ++seed) {
    std::optional<KernelCase> each = kernelCaseOfGroup(seed);
    if (!each) continue;
    cases.push_back(*std::move(each));
    if (cases.size() == 200) runCases(cases);
  }
  CHECK(!cases.empty());
  runCases(cases);
}

TEST_CASE("transposes of extents around those of squares and blocks stay inside their operands") {
  Random random(1);
  const OpDef& op = *OpRegistry::instance().find("transpose");
  for (const DType dtype : {DType::I8, DType::F16, DType::F32, DType::F64}) {
    if (kIsCoarse && dtype != DType::F32) continue;
    KernelCases cases;
    for (const int64_t rows : {0, 1, 7, 8, 17, 64, 73})
      for (const int64_t columns : {1, 4, 8, 9, 65, 80}) {
        const bool isSymbolic = (rows + columns) % 3 != 0;
        Case flat{{random.tensor(dtype, {rows, columns})}, {}};
        flat.attrs.set("axes", std::vector<int64_t>{1, 0});
        cases.push_back(kernelCase(op, flat, isSymbolic, false).value());
        // The axis that is read along is not next to the last one of the result.
        Case deep{{random.tensor(dtype, {rows, 3, columns})}, {}};
        deep.attrs.set("axes", std::vector<int64_t>{2, 1, 0});
        cases.push_back(kernelCase(op, deep, isSymbolic, false).value());
      }
    runCases(cases);
  }
}

TEST_CASE("products of extents around those of tiles stay inside their operands") {
  Random random(1);
  uint64_t count = 0;
  for (const DType dtype : {DType::I8, DType::F16, DType::F32, DType::F64})
    for (const std::string name : {"nn.dense", "nn.matmul", "nn.batch_matmul"})
      for (const bool isNarrow : {false, true}) {
        const OpDef& op = *OpRegistry::instance().find(name);
        const bool isBatched = name == "nn.batch_matmul";
        // One kernel for all extents, and kernels for the ones where a tile is a part of a row.
        KernelCases fixed;
        KernelCases symbolic;
        if (kIsCoarse && (dtype != DType::F16 || name != "nn.dense")) continue;
        for (const int64_t rows : {0, 1, 2, 6, 7, 13})
          for (const int64_t inner : {0, 1})
            for (const int64_t columns : {0, 1, 17, 64, 65, 130}) {
              if (++count % 2 == 0 && columns != 1 && columns != 64) continue;
              std::vector<int64_t> left = {rows, inner};
              std::vector<int64_t> right = {columns, inner};
              if (isBatched) left.insert(left.begin(), 2);
              if (isBatched) right.insert(right.begin(), 2);
              Case c{{random.tensor(dtype, left), random.tensor(dtype, right)}, {}};
              if (name != "nn.dense") c.attrs.set("transpose_b", true);
              symbolic.push_back(kernelCase(op, c, true, isNarrow).value());
              if (inner == 1 && (rows == 7 || rows == 13) && (columns == 1 || columns == 64))
                fixed.push_back(kernelCase(op, c, false, isNarrow).value());
            }
        const auto image =
            codegen::compileKernels(std::array{symbolic[0].lowered.kernel}, {.optimisationLevel = 1});
        REQUIRE(image);
        const auto code = NativeCode::copy(image.assume_value().bytes);
        REQUIRE(code);
        const auto function = code.assume_value().entry(image.assume_value().entries[0]);
        REQUIRE(function);
        for (KernelCase& each : symbolic) runCase(each, function.assume_value());
        runCases(fixed);
      }
}

TEST_CASE("sums that are longer than what is made of them at a time have the bits of one sequence") {
  Random random(1);
  KernelCases cases;
  const auto add = [&](const char* name, std::vector<int64_t> left, std::vector<int64_t> right,
                       bool isSymbolic, int64_t window) {
    Case c{{random.tensor(DType::F32, left), random.tensor(DType::F32, right)}, {}};
    if (window > 0) c.attrs.set("kernel_size", std::vector<int64_t>{window, window});
    cases.push_back(kernelCase(*OpRegistry::instance().find(name), c, isSymbolic, false).value());
  };
  // Steps around a multiple of a chunk; the rows are parts of a task, one task, or more.
  for (const bool isSymbolic : {false, true}) {
    for (const int64_t steps : {2047, 2048, 2049})
      for (const int64_t rows : {7, 96}) {
        if (kIsCoarse && (steps != 2049 || rows != 7)) continue;
        add("nn.dense", {rows, steps}, {17, steps}, isSymbolic, 0);
      }
    for (const int64_t channels : {255, 256, 300}) {
      if (kIsCoarse && channels != 300) continue;
      add("nn.conv2d", {1, channels, 3, 5}, {17, channels, 1, 1}, isSymbolic, 1);
      add("nn.conv2d", {1, channels, 3, 5}, {9, channels, 3, 3}, isSymbolic, 3);
    }
  }
  add("nn.conv2d", {1, 257, 11, 9}, {9, 257, 1, 1}, false, 1);
  runCases(cases);
}
