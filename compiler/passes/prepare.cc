#include "compiler/passes/prepare.h"

namespace baton::passes {

Result<void> prepare(ir::Module& module, PassContext&) {
  for (ir::Function& function : module.functions) {
    function.attrs.erase("Primitive");
    for (ir::Block& block : function.blocks)
      for (ir::Binding& binding : block.bindings)
        if (auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) lambda->attrs.erase("Primitive");
  }
  return success();
}

}  // namespace baton::passes
