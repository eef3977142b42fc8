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
#include "compiler/passes/edit.h"
#include "compiler/passes/loops.h"

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
ir::CallOp packedCall(const ir::CallOp& call, int64_t rows, ir::Atom panels) {
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

/// Weights that only the run tells, in panels before the loops whose rounds take them.
class LoopWeights {
 public:
  LoopWeights(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), loops_(function) {}

  /// How many products have their weight in panels now.
  size_t run(int64_t minRows) {
    size_t count = 0;
    for (const ir::BlockId id : ir::blocksInOrder(function_, function_.body))
      for (size_t i = 0; i < function_.block(id).bindings.size(); ++i) {
        const auto* call = std::get_if<ir::CallOp>(&function_.block(id).bindings[i].rhs);
        if (call == nullptr || call->op->name != "nn.dense") continue;
        const ir::Atom weight = call->args[1];
        const Loop* const loop = outermostLoop(id, weight);
        if (loop == nullptr) continue;
        const ir::TypeRef type = module_.typeOf(function_, weight);
        const std::optional<int64_t> rows = type->dims()[0].asConstant();
        const std::optional<int64_t> inner = type->dims()[1].asConstant();
        if (!rows || !inner || *rows < minRows) continue;
        ir::CallOp packed =
            packedCall(*call, *rows, panelsBefore(*loop, weight, {type->dtype(), *rows, *inner}));
        function_.block(id).bindings[i].rhs = std::move(packed);
        ++count;
      }
    for (auto& [loop, bindings] : before_) {
      ir::Block& home = function_.block(loop->block);
      insert(home, indexOf(home, loop->var), std::move(bindings));
    }
    return count;
  }

 private:
  struct Matrix {
    DType dtype;
    int64_t rows;
    int64_t columns;
  };

  /// The outermost loop around a block in which the weight does not change, if the block runs in rounds of it
  /// or of a loop inside that are followed by another.
  const Loop* outermostLoop(ir::BlockId block, ir::Atom weight) const {
    const Loop* outermost = nullptr;
    for (const Loop& loop : loops_.all()) {
      if (!loops_.isInside(block, loop.body) || (weight.isVar() && loops_.isBoundIn(weight.var(), loop)))
        continue;
      if (outermost == nullptr) outermost = &loop;
      if (loops_.isInRounds(block, loop)) return outermost;
    }
    return nullptr;
  }

  ir::VarId panelsBefore(const Loop& loop, ir::Atom weight, const Matrix& matrix) {
    std::vector<ir::Binding>& out = before_[&loop];
    for (const auto& [known, panels] : panels_[&loop])
      if (known == weight) return panels;
    const auto add = [&](std::string_view name, ir::Atom data, std::string_view key,
                         std::vector<int64_t> value, const std::vector<int64_t>& shape) {
      const ops::OpDef* op = ops::OpRegistry::instance().find(name);
      ir::CallOp call{op, ops::defaultAttrs(*op), {data}};
      call.attrs.set(std::string(key), std::move(value));
      std::vector<DimExpr> dims;
      for (const int64_t extent : shape) dims.push_back(DimExpr::constant(extent));
      const ir::VarId var =
          function_.addVar({.name = "", .type = module_.types.tensor(matrix.dtype, std::move(dims))});
      out.push_back({var, std::move(call), {}, {}});
      return var;
    };
    constexpr int64_t kWidth = ops::kPanelColumns;
    const int64_t count = (matrix.rows + kWidth - 1) / kWidth;
    const int64_t columns = matrix.columns;
    ir::Atom rows = weight;
    if (const int64_t more = count * kWidth - matrix.rows; more > 0)
      rows = add("nn.pad", rows, "pad_width", {0, more, 0, 0}, {count * kWidth, columns});
    rows = add("reshape", rows, "newshape", {count, kWidth, columns}, {count, kWidth, columns});
    const ir::VarId panels = add("transpose", rows, "axes", {0, 2, 1}, {count, columns, kWidth});
    panels_[&loop].emplace_back(weight, panels);
    return panels;
  }

  ir::Module& module_;
  ir::Function& function_;
  const Loops loops_;
  std::map<const Loop*, std::vector<ir::Binding>> before_;
  std::map<const Loop*, std::vector<std::pair<ir::Atom, ir::VarId>>> panels_;
};

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
  size_t inLoops = 0;
  for (ir::Function& function : module.functions)
    if (!isFusionGroup(function)) inLoops += LoopWeights(module, function).run(minRows);
  if (inLoops > 0) context.count("products with weights packed before a loop", inLoops);
  return success();
}

constexpr PassOption kPackWeightsOptions[] = {
    {"min-rows", 16, "rows of a weight that is packed; narrower ones would be mostly filling"},
};

}  // namespace

constinit const PassInfo kPackWeightsPass{
    .name = "pack-weights",
    .summary = "weights of products and convolutions in panels",
    .documentation =
        R"(Rewrites `nn.dense` with a constant weight to `nn.dense_packed`, whose weight is stored in panels of 64 rows, and a convolution in one group with a constant weight in `OIHW` or the like to one in `OIHW64o`. A weight that several products use is packed once; one with few rows stays as it is. So does one that only the run tells, unless products of a loop take it in every round: that is packed before the loop.)",
    .level = 2,
    .options = kPackWeightsOptions,
    .run = packWeights,
};

}  // namespace baton::passes
