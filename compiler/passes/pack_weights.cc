#include "compiler/passes/registry.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/lowering/packed_weight.h"

namespace baton::passes {
namespace {

Result<void> packWeights(ir::Module& module, PassContext& context) {
  const auto minRows = static_cast<int64_t>(std::min<uint64_t>(context.option("min-rows"), INT64_MAX));
  const ops::OpDef* packedOp = ops::OpRegistry::instance().find("nn.dense_packed");
  BATON_CHECK(packedOp != nullptr);
  std::map<ir::ConstantId, ir::ConstantId> packed;
  for (ir::Function& function : module.functions)
    for (ir::BlockId id : ir::blocksInOrder(function, function.body))
      for (ir::Binding& binding : function.block(id).bindings) {
        auto* call = std::get_if<ir::CallOp>(&binding.rhs);
        if (call == nullptr || call->op->name != "nn.dense" || !call->args[1].isConstant()) continue;
        const ir::ConstantId weight = call->args[1].constant();
        const ir::Constant& constant = module.constant(weight);
        if (constant.isExternal() || constant.shape[0] < minRows) continue;
        const int64_t rows = constant.shape[0];
        auto at = packed.find(weight);
        if (at == packed.end()) {
          BATON_TRY_ASSIGN(ir::Constant panels, ops::packDenseWeight(constant));
          // It is no constant of the weights file any more.
          if (!panels.name.empty()) panels.name += "_packed";
          panels.externalKey.clear();
          at = packed.emplace(weight, module.addConstant(std::move(panels))).first;
        }
        ir::Attrs attrs;
        attrs.set("units", rows);
        if (const ir::AttrValue* type = call->attrs.find("out_dtype")) attrs.set("out_dtype", *type);
        context.count("products with packed weights");
        *call = ir::CallOp{packedOp, std::move(attrs), {call->args[0], at->second}};
      }
  return success();
}

constexpr PassOption kPackWeightsOptions[] = {
    {"min-rows", 16, "rows of a weight that is packed; narrower ones would be mostly filling"},
};

}  // namespace

constinit const PassInfo kPackWeightsPass{
    .name = "pack-weights",
    .summary = "constant weights of matrix products in panels",
    .documentation =
        R"(Rewrites `nn.dense` with a constant weight to `nn.dense_packed`, whose weight is stored in panels of 64 rows. A weight that several products use is packed once; one that is not bound to a file, and one with few rows, stays as it is.)",
    .level = 2,
    .options = kPackWeightsOptions,
    .run = packWeights,
};

}  // namespace baton::passes
