#include "vm/exec/out_of_line.h"

namespace baton::vm {

int64_t callKernel(bytecode::CallKernel, Machine& m, uint64_t*, Object**, int64_t) {
  m.fail(ErrorCode::Unsupported, "kernels cannot be called yet");
  return -1;
}

}  // namespace baton::vm
