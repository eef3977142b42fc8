#include "bytecode/verifier/shared_tables.h"

namespace baton::bytecode {

namespace {

std::vector<Kind> kindsOf(const std::vector<KernelOperand>& operands) {
  std::vector<Kind> kinds;
  for (const KernelOperand& operand : operands)
    kinds.push_back(
        Kind::tensor(operand.dtype, static_cast<uint8_t>(operand.extents.size()), operand.device));
  return kinds;
}

std::vector<Kind> kindsOf(const std::vector<DType>& dtypes) {
  std::vector<Kind> kinds;
  for (DType dtype : dtypes) kinds.push_back(Kind::scalar(dtype));
  return kinds;
}

SplitKinds fieldsOf(const Constructor& constructor) {
  SplitKinds fields;
  fields.scalars.resize(constructor.scalarCount);
  fields.references.resize(constructor.referenceCount);
  for (const Field& field : constructor.fields)
    (field.isScalar ? fields.scalars : fields.references)[field.slot] = kindOf(field.type);
  return fields;
}

}  // namespace

SharedTables::SharedTables(const Program& program) {
  for (const Signature& signature : program.signatures) {
    params_.emplace_back(signature.params);
    results_.emplace_back(signature.results);
  }
  for (const Function& function : program.functions) captures_.emplace_back(function.captures);
  for (const TypeDef& type : program.types) {
    auto& constructors = fields_.emplace_back();
    for (const Constructor& constructor : type.constructors) constructors.push_back(fieldsOf(constructor));
  }
  for (const KernelDescriptor& kernel : program.kernels)
    kernels_.push_back({kindsOf(kernel.inputs), kindsOf(kernel.outputs), kindsOf(kernel.scalarInputs),
                        kindsOf(kernel.scalarOutputs)});
  for (const std::string& message : program.messages) places_.push_back(messagePlaces(message));
}

}  // namespace baton::bytecode
