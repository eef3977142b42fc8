// nn.softmax and nn.log_softmax.
#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> softmaxStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", SoftmaxAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

}  // namespace baton::ops
