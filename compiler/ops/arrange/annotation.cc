// Annotations that mean nothing on one device.
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"

namespace baton::ops {

Result<void> identityLegal(ExpandContext& context) {
  context.become({context.input(0)});
  return success();
}

}  // namespace baton::ops
