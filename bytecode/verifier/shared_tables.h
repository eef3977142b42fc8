// What the flow analysis of all functions shares: kinds of everything that instructions refer
// to, by bank, made once, so that checking an instruction costs no more than its own length.
#pragma once

#include <vector>

#include "bytecode/message_template.h"
#include "bytecode/program.h"
#include "bytecode/verifier/kinds_table.h"
#include "bytecode/verifier/stamps.h"

namespace baton::bytecode {

/// A list of kinds, cut into banks.
struct SplitKinds {
  std::vector<Kind> scalars;
  std::vector<Kind> references;

  SplitKinds() = default;
  explicit SplitKinds(const std::vector<Kind>& kinds) {
    for (const Kind& kind : kinds) (kind.isScalar() ? scalars : references).push_back(kind);
  }
  const std::vector<Kind>& of(RegisterBank bank) const {
    return bank == RegisterBank::Scalar ? scalars : references;
  }
};

struct KernelKinds {
  std::vector<Kind> inputs, outputs, scalarInputs, scalarOutputs;
};

/// Of a program whose tables keep the rules.
class SharedTables {
 public:
  explicit SharedTables(const Program& program);

  KindsTable kinds;
  StatePool pool;
  Stamps stamps;
  /// Steps of the analysis so far, beside those that StatePool counts.
  uint64_t work = 0;

  const SplitKinds& params(SignatureIndex index) const { return params_[index.value()]; }
  const SplitKinds& results(SignatureIndex index) const { return results_[index.value()]; }
  const SplitKinds& captures(FunctionIndex index) const { return captures_[index.value()]; }
  /// By slot.
  const SplitKinds& fields(uint32_t type, uint32_t constructor) const { return fields_[type][constructor]; }
  const KernelKinds& kernel(KernelIndex index) const { return kernels_[index.value()]; }
  const std::vector<MessagePlace>& places(MessageIndex index) const { return places_[index.value()]; }

 private:
  std::vector<SplitKinds> params_, results_, captures_;
  std::vector<std::vector<SplitKinds>> fields_;
  std::vector<KernelKinds> kernels_;
  std::vector<std::vector<MessagePlace>> places_;
};

}  // namespace baton::bytecode
