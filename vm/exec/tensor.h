// Bodies of the tensor and kernel instructions; most of their work is out of line.
#pragma once

#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"

namespace baton::vm {

BATON_EXEC bool exec(bytecode::AllocTensor v, Frame& f) { return allocTensor(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::AllocStorage v, Frame& f) { return allocStorage(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::TensorAt v, Frame& f) { return tensorAt(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::AllocReuse v, Frame& f) { return allocReuse(v, *f.m, f.s, f.r); }
BATON_EXEC void exec(bytecode::Dim v, Frame& f) {
  Object* tensor = borrow(f.r, v.tensor());
  set<int64_t>(f, v.dst(), asTensor(tensor)->extents()[v.axis()]);
  finish(*f.m, v.tensor(), tensor);
}
BATON_EXEC bool exec(bytecode::ExpectTensor v, Frame& f) { return expectTensor(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::Reshape v, Frame& f) { return reshape(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::SliceOuter v, Frame& f) { return sliceOuter(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::IndexOuter v, Frame& f) { return indexOuter(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::StoreOuter v, Frame& f) { return storeOuter(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::StoreOuterScalar v, Frame& f) { return storeOuterScalar(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::ExtendOuter v, Frame& f) { return extendOuter(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::LoadScalar v, Frame& f) { return loadScalarFrom(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::BoxScalar v, Frame& f) { return boxScalar(v, *f.m, f.s, f.r); }

BATON_EXEC bool exec(bytecode::CallKernel v, Frame& f) {
  const int64_t charge = callKernel(v, *f.m, f.s, f.r, f.fuel);
  if (charge < 0) [[unlikely]]
    return false;
  f.fuel -= charge;
  return true;
}

}  // namespace baton::vm
