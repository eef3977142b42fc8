// Bodies of the instructions on arrays; what changes or makes one is out of line.
#pragma once

#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"

namespace baton::vm {

BATON_EXEC void exec(bytecode::ArrayNew v, Frame& f) { define(f.r, v.dst(), emptyArray()); }

BATON_EXEC void exec(bytecode::ArrayLength v, Frame& f) {
  Object* array = borrow(f.r, v.array());
  set<int64_t>(f, v.dst(), asArray(array)->length);
  finish(*f.m, v.array(), array);
}

BATON_EXEC bool exec(bytecode::ArrayGetRef v, Frame& f) {
  Array* array = asArray(f.r[v.array().index()]);
  const uint64_t index = f.s[v.index().index()];
  if (index >= array->length) [[unlikely]]
    return failElement(*f.m, static_cast<int64_t>(index), *array);
  Object* element = array->references()[index];
  retain(element);
  if (v.array().isLastUse()) {
    f.r[v.array().index()] = nullptr;
    f.m->heap->release(array);
  }
  define(f.r, v.dst(), element);
  return true;
}
BATON_EXEC bool exec(bytecode::ArrayGetScalar v, Frame& f) {
  Array* array = asArray(f.r[v.array().index()]);
  const uint64_t index = f.s[v.index().index()];
  if (index >= array->length) [[unlikely]]
    return failElement(*f.m, static_cast<int64_t>(index), *array);
  f.s[v.dst().index()] = array->data[index];
  if (v.array().isLastUse()) {
    f.r[v.array().index()] = nullptr;
    f.m->heap->release(array);
  }
  return true;
}

BATON_EXEC bool exec(bytecode::ArrayPushRef v, Frame& f) { return arrayPush(v, *f.m, f.r); }
BATON_EXEC bool exec(bytecode::ArrayPushScalar v, Frame& f) { return arrayPush(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::ArraySetRef v, Frame& f) { return arraySet(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::ArraySetScalar v, Frame& f) { return arraySet(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::StackArray v, Frame& f) { return stackArray(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::ConcatArray v, Frame& f) { return concatArray(v, *f.m, f.s, f.r); }
BATON_EXEC bool exec(bytecode::UnstackArray v, Frame& f) { return unstackArray(v, *f.m, f.r); }
BATON_EXEC bool exec(bytecode::SplitArray v, Frame& f) { return splitArray(v, *f.m, f.r); }

}  // namespace baton::vm
