// Bodies of the instructions on references and data: moves, values of data types, closures,
// cells.
#pragma once

#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"

namespace baton::vm {

BATON_EXEC void exec(bytecode::Move v, Frame& f) { define(f.r, v.dst(), take(f.r, v.a())); }
BATON_EXEC void exec(bytecode::Drop v, Frame& f) {
  Object*& slot = f.r[v.a().index()];
  Object* object = slot;
  slot = nullptr;
  f.m->heap->release(object);
}
BATON_EXEC void exec(bytecode::LoadConst v, Frame& f) {
  define(f.r, v.dst(), f.m->constants[v.constant().value()]);
}

/// References first, then scalars, as they stand in the object.
template <class View>
BATON_EXEC bool makeRecord(const View& v, Frame& f, ObjectKind kind, uint32_t tag) {
  const auto references = v.references();
  const auto scalars = v.scalars();
  Object* object = f.m->heap->allocateRecord(kind, tag, references.size(), scalars.size());
  if (!object) [[unlikely]]
    return f.m->failAllocation();
  Object** slots = object->slots();
  for (uint32_t i = 0; i < references.size(); ++i) *slots++ = take(f.r, references[i]);
  auto* to = reinterpret_cast<uint64_t*>(slots);
  for (uint32_t i = 0; i < scalars.size(); ++i) to[i] = f.s[scalars[i].index()];
  define(f.r, v.dst(), object);
  return true;
}
BATON_EXEC bool exec(bytecode::MakeAdt v, Frame& f) {
  if (v.references().empty() && v.scalars().empty() && v.constructor() < kNullaryCount) {
    define(f.r, v.dst(), nullaryAdt(v.constructor()));
    return true;
  }
  return makeRecord(v, f, ObjectKind::Adt, v.constructor());
}
BATON_EXEC bool exec(bytecode::MakeClosure v, Frame& f) {
  return makeRecord(v, f, ObjectKind::Closure, v.function().value());
}

BATON_EXEC void exec(bytecode::GetTag v, Frame& f) {
  Object* value = borrow(f.r, v.value());
  set<int64_t>(f, v.dst(), value->tag);
  finish(*f.m, v.value(), value);
}
BATON_EXEC bool exec(bytecode::GetFieldRef v, Frame& f) {
  Object* value = f.r[v.value().index()];
  if (value->tag != v.constructor()) [[unlikely]]
    return failTag(*f.m, value->tag, v.constructor());
  Object* field = value->slots()[v.slot()];
  retain(field);
  letGo(*f.m, f.r, v.value(), value);
  define(f.r, v.dst(), field);
  return true;
}
BATON_EXEC bool exec(bytecode::GetFieldScalar v, Frame& f) {
  Object* value = f.r[v.value().index()];
  if (value->tag != v.constructor()) [[unlikely]]
    return failTag(*f.m, value->tag, v.constructor());
  f.s[v.dst().index()] = value->scalars()[v.slot()];
  letGo(*f.m, f.r, v.value(), value);
  return true;
}

BATON_EXEC void exec(bytecode::CaptureRef v, Frame& f) {
  Object* closure = borrow(f.r, v.closure());
  Object* captured = closure->slots()[v.slot()];
  retain(captured);
  finish(*f.m, v.closure(), closure);
  define(f.r, v.dst(), captured);
}
BATON_EXEC void exec(bytecode::CaptureScalar v, Frame& f) {
  Object* closure = borrow(f.r, v.closure());
  f.s[v.dst().index()] = closure->scalars()[v.slot()];
  finish(*f.m, v.closure(), closure);
}

BATON_EXEC bool exec(bytecode::CellNewRef v, Frame& f) {
  Cell* cell = f.m->heap->allocateCell(true);
  if (!cell) [[unlikely]]
    return f.m->failAllocation();
  cell->reference = take(f.r, v.value());
  define(f.r, v.dst(), cell);
  return true;
}
BATON_EXEC bool exec(bytecode::CellNewScalar v, Frame& f) {
  Cell* cell = f.m->heap->allocateCell(false);
  if (!cell) [[unlikely]]
    return f.m->failAllocation();
  cell->scalar = f.s[v.value().index()];
  define(f.r, v.dst(), cell);
  return true;
}
template <bool kLeavesIt, class View>
BATON_EXEC bool readCell(const View& v, Frame& f) {
  Cell* cell = asCell(f.r[v.cell().index()]);
  Object* content = cell->reference;
  if (!content) [[unlikely]]
    return failEmptyCell(*f.m);
  if constexpr (kLeavesIt)
    retain(content);
  else
    cell->reference = nullptr;
  letGo(*f.m, f.r, v.cell(), cell);
  define(f.r, v.dst(), content);
  return true;
}
BATON_EXEC bool exec(bytecode::CellReadRef v, Frame& f) { return readCell<true>(v, f); }
BATON_EXEC bool exec(bytecode::CellTakeRef v, Frame& f) { return readCell<false>(v, f); }
BATON_EXEC void exec(bytecode::CellReadScalar v, Frame& f) {
  Object* cell = borrow(f.r, v.cell());
  f.s[v.dst().index()] = asCell(cell)->scalar;
  finish(*f.m, v.cell(), cell);
}
BATON_EXEC void exec(bytecode::CellWriteRef v, Frame& f) {
  Object* value = take(f.r, v.value());
  Object* cell = borrow(f.r, v.cell());
  Object* old = asCell(cell)->reference;
  asCell(cell)->reference = value;
  finish(*f.m, v.cell(), cell);
  if (old) f.m->heap->release(old);
}
BATON_EXEC void exec(bytecode::CellWriteScalar v, Frame& f) {
  Object* cell = borrow(f.r, v.cell());
  asCell(cell)->scalar = f.s[v.value().index()];
  finish(*f.m, v.cell(), cell);
}

}  // namespace baton::vm
