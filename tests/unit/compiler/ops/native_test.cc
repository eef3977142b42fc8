// Kernels as native code: every operator, and random groups, give the bits of the reference
// versions. Few rounds, compiled as one image; the interpreter has many (property_test.cc).
#include <catch2/catch.hpp>
#include <memory>

#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/printer.h"
#include "tests/unit/compiler/ops/operator_cases.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;

TEST_CASE("every operator: native code and reference version agree") {
  struct Prepared {
    PreparedCase what;
    std::string text;
    LoweredKernel lowered;
  };
  std::vector<std::unique_ptr<Prepared>> cases;
  std::vector<loop::Kernel> kernels;
  for (const OpDef* op : OpRegistry::instance().all()) {
    for (uint64_t round = 0, kept = 0; round < 20 && kept < 3; ++round) {
      auto prepared = std::make_unique<Prepared>();
      const Case c = makeCase(*op, round);
      prepare(prepared->what, *op, c, round % 2 == 1);
      if (prepared->what.program.typeError() || prepared->what.broken || prepared->what.expected.error)
        continue;
      prepared->text = describe(*op, c);
      auto lowered = prepared->what.program.lower();
      REQUIRE(lowered);
      prepared->lowered = std::move(lowered).assume_value();
      prepared->lowered.kernel.descriptor.name += std::to_string(cases.size());
      kernels.push_back(prepared->lowered.kernel);
      cases.push_back(std::move(prepared));
      ++kept;
    }
  }
  codegen::CodegenOptions options;
  options.optimisationLevel = 1;
  const auto image = codegen::compileKernels(kernels, options);
  if (!image) FAIL(image.assume_error().message());
  const auto code = NativeCode::copy(image.assume_value().bytes);
  REQUIRE(code);
  for (size_t i = 0; i < cases.size(); ++i) {
    Prepared& prepared = *cases[i];
    const auto function = code.assume_value().entry(image.assume_value().entries[i]);
    REQUIRE(function);
    const Outcome& expected = prepared.what.expected;
    const Outcome found =
        prepared.what.program.run(prepared.lowered, prepared.what.inputs, expected, function.assume_value());
    INFO(prepared.text);
    if (found.error) FAIL_CHECK(*found.error);
    for (size_t k = 0; k < found.results.size(); ++k) {
      const std::string differs = difference(expected.results[k], found.results[k]);
      if (!differs.empty()) FAIL_CHECK(differs << "\n" << loop::print(prepared.lowered.kernel));
    }
  }
  CHECK(cases.size() > 250);
}
