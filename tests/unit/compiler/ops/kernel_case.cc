#include "tests/unit/compiler/ops/kernel_case.h"

#include <catch2/catch.hpp>

#include "kernels/loop/printer.h"

namespace baton::ops::test {

namespace {

/// What a kernel that fails has for its results are tensors of the shapes that the types say.
void finish(KernelCase& each, bool isNarrow) {
  INFO(each.text);
  if (each.expected.error) each.expected.results = each.program->emptyResults(each.inputs);
  auto lowered = each.program->lower(isNarrow);
  REQUIRE(lowered);
  each.lowered = std::move(lowered).assume_value();
}

}  // namespace

bool isNarrowIn(uint64_t round) { return round % 2 == 1; }

std::optional<KernelCase> kernelCase(const OpDef& op, const Case& c, Unknown unknown, bool isNarrow) {
  KernelCase each;
  each.call = std::make_unique<PreparedCase>();
  each.program = &each.call->program;
  prepare(*each.call, op, c, unknown);
  if (each.program->typeError() || each.call->broken || isTooLarge(each.call->expected)) return std::nullopt;
  each.inputs = each.call->inputs;
  each.expected = each.call->expected;
  each.text = describe(op, c) + unknown.text();
  finish(each, isNarrow);
  return each;
}

std::optional<KernelCase> kernelCaseOfGroup(uint64_t seed) {
  KernelCase each;
  each.group = randomGroup(seed);
  if (each.group == nullptr || each.group->broken) return std::nullopt;
  each.program = &each.group->program;
  each.inputs = each.group->inputs;
  each.expected = each.group->expected;
  each.text = each.group->text;
  finish(each, isNarrowIn(seed));
  return each;
}

std::vector<loop::Kernel> kernelsOf(const KernelCases& cases) {
  std::vector<loop::Kernel> kernels;
  for (const KernelCase& each : cases) {
    kernels.push_back(each.lowered.kernel);
    kernels.back().descriptor.name += std::to_string(kernels.size());
  }
  return kernels;
}

void runCase(KernelCase& each, const KernelRunner& kernel) {
  INFO(each.text);
  for (const auto side : GuardedBuffer::kSides) {
    const Outcome found = each.program->run(each.lowered, each.inputs, each.expected, kernel, side);
    CHECK(found.error.has_value() == each.expected.error.has_value());
    if (found.error && !each.expected.error) FAIL_CHECK(*found.error);
    if (found.error) continue;
    for (size_t k = 0; k < found.results.size(); ++k) {
      const std::string differs = difference(each.expected.results[k], found.results[k]);
      if (!differs.empty()) FAIL_CHECK(differs << "\n" << loop::print(each.lowered.kernel));
    }
  }
}

KernelCases casesWithoutElements() {
  Random random(1);
  KernelCases cases;
  const auto add = [&](const char* name, Case c) {
    for (const bool isSymbolic : {false, true})
      cases.push_back(kernelCase(*OpRegistry::instance().find(name), c, isSymbolic, false).value());
  };
  // Its scratch would have more bytes than there are numbers if its last extent were not 0.
  const int64_t large = int64_t{1} << 50;
  add("nn.softmax", {{random.tensor(DType::F16, {large, large + 1, 0})}, {}});
  // Rows of a product are all places along the first axes.
  Case product{{random.tensor(DType::F32, {large, large, 0}), random.tensor(DType::F32, {0, 0})}, {}};
  add("nn.dense", product);
  // What would be packed for each batch has elements, the result has none.
  Case batches{{random.tensor(DType::I64, {large, 0, 1}), random.tensor(DType::I64, {1, 1, 1})}, {}};
  batches.attrs.set("transpose_b", true);
  add("nn.batch_matmul", batches);
  Case turned{{random.tensor(DType::I64, {large, 1, 0}), random.tensor(DType::I64, {1, 1})}, {}};
  turned.attrs.set("transpose_a", true);
  turned.attrs.set("transpose_b", true);
  add("nn.matmul", turned);
  // Row pointers that are wrong.
  const Tensor indices = tensorOf(DType::I64, {2}, {0, 0});
  const Tensor pointers = tensorOf(DType::I64, {3}, {0, 99, 2});
  Case sparse{{random.tensor(DType::F32, {0, 4}), random.tensor(DType::F32, {2}), indices, pointers}, {}};
  add("nn.sparse_dense", sparse);
  sparse.attrs.set("sparse_lhs", true);
  add("nn.sparse_dense", sparse);
  return cases;
}

}  // namespace baton::ops::test
