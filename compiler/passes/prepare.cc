#include "compiler/passes/registry.h"

namespace baton::passes {

namespace {

Result<void> prepare(ir::Module& module, PassContext&) {
  for (ir::Function& function : module.functions) {
    function.attrs.erase(ir::kFusionGroupAttr);
    for (ir::Block& block : function.blocks)
      for (ir::Binding& binding : block.bindings)
        if (auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) lambda->attrs.erase(ir::kFusionGroupAttr);
  }
  return success();
}

}  // namespace

constinit const PassInfo kPreparePass{
    .name = "prepare",
    .summary = "drop what dumps of other compilers say about kernels",
    .documentation = R"(Drops the attribute `Primitive` that dumps of other compilers carry.)",
    .run = prepare,
};

}  // namespace baton::passes
