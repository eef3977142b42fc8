// The samples of a batch have the bits that each has alone: whatever tiles, lanes and tails a batch is cut
// into.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "tests/effort.h"
#include "tests/unit/compiler/ops/kernel_case.h"
#include "tests/unit/compiler/ops/random_tensors.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

namespace {

using Ints = std::vector<int64_t>;

/// A call on samples along the first axis of some inputs. Operators that are written with others are as
/// those.
struct Batch {
  const char* name;
  std::vector<Ints> samples;  ///< shapes of a sample in the first inputs
  std::vector<Ints> shared;   ///< of the inputs after those
  std::vector<std::pair<const char*, ir::AttrValue>> attrs = {};
};

const std::vector<Batch>& batches() {
  static const std::vector<Batch> all = {
      {"tanh", {{67}}, {}},
      {"nn.gelu", {{67}}, {}},
      {"add", {{5, 3}}, {{5, 1}}},
      {"sum", {{700}}, {}, {{"axis", Ints{1}}}},
      {"sum", {{3, 67}}, {}, {{"axis", Ints{1}}}},
      {"mean", {{5, 31}}, {}, {{"axis", Ints{1, 2}}}},
      {"max", {{67}}, {}, {{"axis", Ints{-1}}}},
      {"argmax", {{67}}, {}, {{"axis", Ints{1}}}},
      {"cumsum", {{67}}, {}, {{"axis", int64_t{1}}}},
      {"nn.softmax", {{67}}, {}},
      {"nn.log_softmax", {{9, 5}}, {}, {{"axis", int64_t{1}}}},
      {"nn.lrn", {{9, 3, 3}}, {}},
      {"nn.dense", {{33}}, {{65, 33}}},
      {"nn.dense", {{700}}, {{17, 700}}},
      {"nn.matmul", {{33}}, {{33, 20}}},
      {"nn.batch_matmul", {{5, 33}, {19, 33}}, {}, {{"transpose_b", true}}},
      {"nn.conv1d", {{3, 19}}, {{17, 3, 3}}, {{"padding", Ints{1, 1}}}},
      {"nn.conv2d", {{9, 7, 5}}, {{17, 9, 3, 3}}, {{"kernel_size", Ints{3, 3}}, {"padding", Ints{1, 1}}}},
      {"nn.conv2d", {{16, 4, 5}}, {{20, 16, 1, 1}}, {{"kernel_size", Ints{1, 1}}}},
      {"nn.conv2d", {{4, 7, 5}}, {{4, 1, 3, 3}}, {{"kernel_size", Ints{3, 3}}, {"groups", int64_t{4}}}},
      {"nn.conv2d_transpose", {{3, 4, 5}}, {{3, 4, 3, 3}}, {{"strides", Ints{2, 2}}}},
      {"nn.max_pool2d", {{3, 9, 7}}, {}, {{"pool_size", Ints{3, 3}}, {"strides", Ints{2, 2}}}},
      {"nn.avg_pool2d", {{3, 9, 7}}, {}, {{"pool_size", Ints{3, 3}}, {"padding", Ints{1, 1}}}},
      {"image.resize2d",
       {{3, 5, 4}},
       {},
       {{"size", std::vector<DimExpr>{DimExpr::constant(7), DimExpr::constant(6)}}}},
      {"transpose", {{9, 17}}, {}, {{"axes", Ints{0, 2, 1}}}},
  };
  return all;
}

Tensor sampleOf(const Tensor& batch, int64_t sample) {
  Tensor out = batch;
  const auto bytes = static_cast<std::ptrdiff_t>(batch.bytes.size()) / batch.shape[0];
  out.shape[0] = 1;
  out.bytes.assign(batch.bytes.begin() + sample * bytes, batch.bytes.begin() + (sample + 1) * bytes);
  return out;
}

/// The call on a whole batch, and then on some of its samples, of which the reference version gave the
/// former.
KernelCases casesOf(const Batch& batch, Unknown unknown) {
  constexpr int64_t kSamples = 7;
  Random random(1);
  Case whole;
  for (Ints shape : batch.samples) {
    shape.insert(shape.begin(), kSamples);
    whole.inputs.push_back(random.tensor(DType::F32, shape));
  }
  for (const Ints& shape : batch.shared) whole.inputs.push_back(random.tensor(DType::F32, shape));
  for (const auto& [name, value] : batch.attrs) whole.attrs.set(name, value);
  const OpDef& op = *OpRegistry::instance().find(batch.name);
  KernelCases cases;
  cases.push_back(kernelCase(op, whole, unknown, false).value());
  for (const int64_t sample : {int64_t{0}, kSamples - 1}) {
    Case one = whole;
    for (size_t i = 0; i < batch.samples.size(); ++i) one.inputs[i] = sampleOf(whole.inputs[i], sample);
    cases.push_back(kernelCase(op, one, unknown, false).value());
    const std::vector<Tensor>& expected = cases[0].expected.results;
    for (size_t k = 0; k < expected.size(); ++k)
      cases.back().expected.results[k] = sampleOf(expected[k], sample);
  }
  return cases;
}

}  // namespace

TEST_CASE("a sample has the same bits alone and in a batch") {
  for (const Batch& batch : batches())
    for (const bool isUnknown : {false, true}) {
      if (kIsCoarse && !isUnknown) continue;
      KernelCases cases = casesOf(batch, isUnknown);
      std::vector<loop::Kernel> kernels = kernelsOf(cases);
      // With unknown extents, one kernel is that of all; else the samples have one.
      kernels.resize(isUnknown ? 1 : 2);
      const auto image = codegen::compileKernels(kernels, {.optimisationLevel = 1});
      REQUIRE(image);
      const auto code = NativeCode::copy(image.assume_value().bytes);
      REQUIRE(code);
      for (size_t i = 0; i < cases.size(); ++i) {
        const size_t kernel = std::min(i, kernels.size() - 1);
        const auto function = code.assume_value().entry(image.assume_value().entries[kernel]);
        REQUIRE(function);
        runCase(cases[i], function.assume_value());
      }
    }
}
