#include "compiler/passes/registry.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/lowering/packed_weight.h"
#include "compiler/ops/lowering/product_nest.h"

namespace baton::passes {
namespace {

/// A convolution whose weight could be in panels: one with the output channels first, and all in one group.
bool isPlainConvolution(const ir::CallOp& call) {
  static constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"nn.conv1d", "OIW"}, {"nn.conv2d", "OIHW"}, {"nn.conv3d", "OIDHW"}};
  return std::any_of(std::begin(kPlain), std::end(kPlain), [&](const auto& plain) {
    return call.op->name == plain.first && call.attrs.stringOf("kernel_layout") == plain.second &&
           call.attrs.intOf("groups") == 1;
  });
}

/// The same call of a weight in panels.
ir::CallOp packedCall(const ir::CallOp& call, int64_t rows, ir::ConstantId panels) {
  ir::CallOp packed = call;
  packed.args[1] = panels;
  if (call.op->name == "nn.dense") {
    packed.op = ops::OpRegistry::instance().find("nn.dense_packed");
    packed.attrs = {};
    packed.attrs.set("units", rows);
    if (const ir::AttrValue* type = call.attrs.find("out_dtype")) packed.attrs.set("out_dtype", *type);
    return packed;
  }
  packed.attrs.set("channels", rows);
  packed.attrs.set("kernel_layout",
                   call.attrs.stringOf("kernel_layout") + std::to_string(ops::kPanelColumns) + "o");
  return packed;
}

Result<void> packWeights(ir::Module& module, PassContext& context) {
  const auto minRows = static_cast<int64_t>(std::min<uint64_t>(context.option("min-rows"), INT64_MAX));
  std::map<ir::ConstantId, ir::ConstantId> packed;
  for (ir::Function& function : module.functions)
    for (ir::BlockId id : ir::blocksInOrder(function, function.body))
      for (ir::Binding& binding : function.block(id).bindings) {
        auto* call = std::get_if<ir::CallOp>(&binding.rhs);
        if (call == nullptr || (call->op->name != "nn.dense" && !isPlainConvolution(*call)) ||
            !call->args[1].isConstant())
          continue;
        const ir::ConstantId weight = call->args[1].constant();
        const ir::Constant& constant = module.constant(weight);
        if (constant.isExternal() || constant.shape[0] < minRows) continue;
        const int64_t rows = constant.shape[0];
        auto at = packed.find(weight);
        if (at == packed.end()) {
          BATON_TRY_ASSIGN(ir::Constant panels, ops::packWeight(constant));
          // It is no constant of the weights file any more.
          if (!panels.name.empty()) panels.name += "_packed";
          panels.externalKey.clear();
          at = packed.emplace(weight, module.addConstant(std::move(panels))).first;
        }
        context.count("products with packed weights");
        *call = packedCall(*call, rows, at->second);
      }
  return success();
}

constexpr PassOption kPackWeightsOptions[] = {
    {"min-rows", 16, "rows of a weight that is packed; narrower ones would be mostly filling"},
};

}  // namespace

constinit const PassInfo kPackWeightsPass{
    .name = "pack-weights",
    .summary = "constant weights of products and convolutions in panels",
    .documentation =
        R"(Rewrites `nn.dense` with a constant weight to `nn.dense_packed`, whose weight is stored in panels of 64 rows, and a convolution in one group with a constant weight in `OIHW` or the like to one in `OIHW64o`. A weight that several products use is packed once; one that is not bound to a file, and one with few rows, stays as it is.)",
    .level = 2,
    .options = kPackWeightsOptions,
    .run = packWeights,
};

}  // namespace baton::passes
