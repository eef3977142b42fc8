#include "tests/unit/compiler/ops/prepared_case.h"

#include "compiler/ops/reference_call.h"

namespace baton::ops::test {

bool isTooLarge(const Outcome& outcome) {
  return outcome.error && outcome.error->find("too large") != std::string::npos;
}

void prepare(PreparedCase& prepared, const OpDef& op, const Case& c, Unknown unknown) {
  GroupProgram& program = prepared.program;
  std::vector<Tensor>& inputs = prepared.inputs;
  std::vector<Handle> args;
  size_t axis = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor& input = c.inputs[i];
    if (i < c.isConstant.size() && c.isConstant[i]) {
      args.push_back(program.constant(input));
      continue;
    }
    // An element of which the value is a dim has a symbol of its own, so their number is known.
    const bool hasValues = i < 32 && (op.valueInputs >> i & 1) != 0;
    std::vector<DimExpr> extents;
    for (const int64_t extent : input.shape) {
      const bool isUnknown = unknown.at(axis++) && !hasValues;
      extents.push_back(isUnknown ? program.symbol("n") : DimExpr::constant(extent));
    }
    std::optional<std::vector<DimExpr>> values;
    if (hasValues) {
      values.emplace();
      for (int64_t k = elementCount(input.shape); k > 0; --k) values->push_back(program.symbol("v"));
    }
    args.push_back(program.param(input.dtype, std::move(extents), std::move(values)));
    inputs.push_back(input);
  }
  for (const Handle& result : program.calls(op.name, args, c.attrs)) program.result(result);
  if (program.typeError()) return;
  prepared.expected = program.evaluate(inputs);
  prepared.broken = program.checkObligations(inputs);
}

}  // namespace baton::ops::test
