// nn.batch_flatten.
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> batchFlattenStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (rank == 0) return opError(call, "the data is a scalar; expected rank 1 or more");
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, 2);
}

Result<std::vector<TensorDims>> batchFlattenDims(const OpCall&, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  return std::vector<TensorDims>{{{data[0], product(std::span(data).subspan(1))}}};
}

Result<void> batchFlattenLegal(ExpandContext& context) {
  ir::Attrs attrs;
  attrs.set("newshape", std::vector<DimExpr>{DimExpr(), DimExpr::constant(-1)});
  BATON_TRY_ASSIGN(const TensorId result, context.make("reshape", attrs, {context.input(0)}));
  context.become({result});
  return success();
}

}  // namespace baton::ops
