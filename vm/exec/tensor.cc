#include "vm/exec/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/limits.h"
#include "vm/message.h"
#include "vm/tensor_text.h"

namespace baton::vm {

namespace {

using Extents = bytecode::OperandList<ScalarOperand>;

/// Extents of an instruction, with the bytes of a tensor that has them.
struct Shape {
  int64_t extents[kMaxRank];
  uint32_t rank;
  uint64_t sizeBytes;
  std::span<const int64_t> span() const { return {extents, rank}; }
};

/// False, with an error, when the extents are negative or too large together.
bool readShape(Shape& shape, Machine& m, Extents operands, const uint64_t* s, DType dtype) {
  shape.rank = std::min<uint32_t>(operands.size(), kMaxRank);
  bool isNegative = false;
  int64_t bytes = sizeBytes(dtype);
  bool overflows = false;
  for (uint32_t i = 0; i < shape.rank; ++i) {
    const auto extent = static_cast<int64_t>(s[operands[i].index()]);
    shape.extents[i] = extent;
    isNegative |= extent < 0;
    overflows |= __builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (!isNegative && !overflows) [[likely]] {
    shape.sizeBytes = static_cast<uint64_t>(bytes);
    return true;
  }
  const std::optional<int64_t> count = checkedElementCount(shape.span());
  if (count == 0) {  // an extent of zero makes nothing of the others
    shape.sizeBytes = 0;
    return true;
  }
  return m.failProgram(fmt::format("a tensor cannot have the shape {}: {}", shapeText(shape.span()),
                                   isNegative ? "an extent is negative" : "its size exceeds 64 bits"));
}

uint64_t rowBytesOf(const Tensor& tensor) {
  uint64_t bytes = static_cast<uint64_t>(sizeBytes(tensor.dtype()));
  for (uint32_t axis = 1; axis < tensor.rank(); ++axis)
    bytes *= static_cast<uint64_t>(tensor.extents()[axis]);
  return bytes;
}

/// Room for extents in the object itself.
uint32_t rankCapacity(const Tensor& tensor) {
  const auto* base = reinterpret_cast<const std::byte*>(&tensor);
  const bool isInline = tensor.owner == nullptr && tensor.blockBytes == 0;
  if (!isInline) return tensor.rank();
  return static_cast<uint32_t>((tensor.data - base - static_cast<ptrdiff_t>(sizeof(Tensor))) / 8);
}

/// A view of `source` at `data`, with extents to be filled in; takes over the reference to
/// `source` and may return it itself. Null when memory is refused (the reference is kept).
Tensor* viewOf(Machine& m, Tensor* source, uint32_t rank, std::byte* data) {
  const bool mayChange = source->isUnique() && rank <= rankCapacity(*source) &&
                         (source->blockBytes == 0 || data == source->data);
  if (mayChange) {
    source->data = data;
    source->tag = TensorTag::pack(source->dtype(), rank, source->device(), source->flags());
    return source;
  }
  Object* owner = source->owner ? source->owner : source;
  Tensor* view = m.heap->allocateView(source->dtype(), source->device(), rank,
                                      source->flags() & TensorTag::kReadOnly, owner, data);
  if (!view) return nullptr;
  if (owner != source) {
    retain(owner);
    // The extents are still needed by callers: they have copied them before.
    m.heap->release(source);
  }
  return view;
}

/// After a refused allocation: what was taken is given up.
bool failHolding(Machine& m, Object* object) {
  m.failAllocation();
  m.heap->release(object);
  return false;
}

bool failIndex(Machine& m, const char* what, int64_t index, int64_t extent) {
  return m.failProgram(fmt::format("{} {} is outside of an extent of {}", what, index, extent));
}

/// Programs read by index where they take elements or rows: in the words of the operator's kernels.
bool failTake(Machine& m, int64_t index, int64_t extent) {
  return m.failProgram(fmt::format("take: an index is out of range: {} for an extent of {}", index, extent));
}

/// `target` itself when it may be written in place, else a copy; takes over the reference.
/// Null, with an error, when memory is refused.
Tensor* writable(Machine& m, Tensor* target) {
  if (target->isWritableInPlace()) return target;
  const uint64_t bytes = target->sizeBytes();
  Tensor* copy = m.heap->allocateTensor(target->dtype(), target->device(), target->shape(), bytes);
  if (!copy) {
    failHolding(m, target);
    return nullptr;
  }
  std::memcpy(copy->data, target->data, bytes);
  m.heap->release(target);
  return copy;
}

}  // namespace

bool allocTensor(bytecode::AllocTensor v, Machine& m, const uint64_t* s, Object** r) try {
  Shape shape;
  if (!readShape(shape, m, v.extents(), s, v.dtype())) return false;
  Tensor* tensor = m.heap->allocateTensor(v.dtype(), v.device(), shape.span(), shape.sizeBytes);
  if (!tensor) return m.failAllocation();
  define(r, v.dst(), tensor);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool allocStorage(bytecode::AllocStorage v, Machine& m, const uint64_t* s, Object** r) try {
  const auto size = static_cast<int64_t>(s[v.sizeBytes().index()]);
  if (size < 0) return m.failProgram(fmt::format("a storage cannot have {} bytes", size));
  if (v.alignmentLog2() > 20)
    return m.failProgram(fmt::format("an alignment of 2^{} is not supported", v.alignmentLog2()));
  Storage* storage = m.heap->allocateStorage(static_cast<uint64_t>(size), uint64_t{1} << v.alignmentLog2());
  if (!storage) return m.failAllocation();
  define(r, v.dst(), storage);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool tensorAt(bytecode::TensorAt v, Machine& m, const uint64_t* s, Object** r) try {
  Shape shape;
  if (!readShape(shape, m, v.extents(), s, v.dtype())) return false;
  Storage* storage = asStorage(r[v.storage().index()]);
  const uint64_t offset = s[v.offsetBytes().index()];
  if (offset > storage->sizeBytes || shape.sizeBytes > storage->sizeBytes - offset)
    return m.failProgram(
        fmt::format("a tensor of {} bytes at offset {} does not fit into a storage of {} bytes",
                    shape.sizeBytes, static_cast<int64_t>(offset), storage->sizeBytes));
  if (offset % static_cast<uint64_t>(sizeBytes(v.dtype())) != 0)
    return m.failProgram(fmt::format("offset {} is no multiple of the {} bytes of a {}", offset,
                                     sizeBytes(v.dtype()), dtypeName(v.dtype())));
  Tensor* tensor = m.heap->allocateView(v.dtype(), 0, shape.rank, 0, storage, storage->data + offset);
  if (!tensor) return m.failAllocation();
  std::copy_n(shape.extents, shape.rank, tensor->extents());
  take(r, v.storage());
  define(r, v.dst(), tensor);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool allocReuse(bytecode::AllocReuse v, Machine& m, const uint64_t* s, Object** r) try {
  Shape shape;
  if (!readShape(shape, m, v.extents(), s, v.dtype())) return false;
  Tensor* source = asTensor(r[v.source().index()]);
  const bool fits = source->isWritableInPlace() && std::ranges::equal(source->shape(), shape.span()) &&
                    sizeBytes(source->dtype()) == sizeBytes(v.dtype());
  Tensor* tensor;
  if (fits && source->dtype() == v.dtype() && !source->isShared()) {
    retain(source);
    tensor = source;
  } else if (fits) {
    Object* owner = source->owner ? source->owner : source;
    tensor = m.heap->allocateView(v.dtype(), source->device(), shape.rank, TensorTag::kReused, owner,
                                  source->data);
    if (!tensor) return m.failAllocation();
    retain(owner);
    std::copy_n(shape.extents, shape.rank, tensor->extents());
  } else {
    tensor = m.heap->allocateTensor(v.dtype(), source->device(), shape.span(), shape.sizeBytes);
    if (!tensor) return m.failAllocation();
  }
  letGo(m, r, v.source(), source);
  define(r, v.dst(), tensor);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool expectTensor(bytecode::ExpectTensor v, Machine& m, const uint64_t* s, Object** r) try {
  Object* object = r[v.tensor().index()];
  const Tensor* tensor = asTensor(object);
  const Extents expected = v.extents();
  bool holds = expected.size() == tensor->rank();
  for (uint32_t axis = 0; holds && axis < expected.size(); ++axis) {
    const auto extent = static_cast<int64_t>(s[expected[axis].index()]);
    holds = extent < 0 || extent == tensor->extents()[axis];
  }
  if (!holds) {
    std::string wanted;
    for (uint32_t axis = 0; axis < expected.size(); ++axis) {
      const auto extent = static_cast<int64_t>(s[expected[axis].index()]);
      wanted += axis == 0 ? "" : ", ";
      wanted += extent < 0 ? "?" : fmt::format("{}", extent);
    }
    return m.failProgram(fmt::format("{}: found shape {}, expected ({}{})",
                                     m.program->messages[v.message().value()], shapeText(tensor->shape()),
                                     wanted, expected.size() == 1 ? "," : ""));
  }
  letGo(m, r, v.tensor(), object);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool reshape(bytecode::Reshape v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* source = asTensor(r[v.source().index()]);
  Shape shape;
  if (!readShape(shape, m, v.extents(), s, source->dtype())) return false;
  if (shape.sizeBytes != source->sizeBytes())
    return m.failProgram(fmt::format("a tensor of shape {} cannot be reshaped to {}",
                                     shapeText(source->shape()), shapeText(shape.span())));
  source = asTensor(take(r, v.source()));
  Tensor* view = viewOf(m, source, shape.rank, source->data);
  if (!view) return failHolding(m, source);
  std::copy_n(shape.extents, shape.rank, view->extents());
  define(r, v.dst(), view);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool sliceOuter(bytecode::SliceOuter v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* source = asTensor(r[v.source().index()]);
  const auto start = static_cast<int64_t>(s[v.start().index()]);
  const auto count = static_cast<int64_t>(s[v.count().index()]);
  const int64_t extent = source->extents()[0];
  if (start < 0 || count < 0 || start > extent || count > extent - start)
    return m.failProgram(fmt::format("rows {} to {} are outside of an extent of {}", start,
                                     static_cast<uint64_t>(start) + static_cast<uint64_t>(count), extent));
  source = asTensor(take(r, v.source()));
  const uint32_t rank = source->rank();
  std::byte* data = source->data + static_cast<uint64_t>(start) * rowBytesOf(*source);
  int64_t extents[kMaxRank];
  std::copy_n(source->extents(), rank, extents);
  extents[0] = count;
  Tensor* view = viewOf(m, source, rank, data);
  if (!view) return failHolding(m, source);
  std::copy_n(extents, rank, view->extents());
  define(r, v.dst(), view);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool indexOuter(bytecode::IndexOuter v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* source = asTensor(r[v.source().index()]);
  const auto index = static_cast<int64_t>(s[v.index().index()]);
  const int64_t extent = source->extents()[0];
  if (index < 0 || index >= extent) return failTake(m, index, extent);
  source = asTensor(take(r, v.source()));
  const uint32_t rank = source->rank() - 1;
  std::byte* data = source->data + static_cast<uint64_t>(index) * rowBytesOf(*source);
  int64_t extents[kMaxRank];
  std::copy_n(source->extents() + 1, rank, extents);
  Tensor* view = viewOf(m, source, rank, data);
  if (!view) return failHolding(m, source);
  std::copy_n(extents, rank, view->extents());
  define(r, v.dst(), view);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool storeOuter(bytecode::StoreOuter v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* target = asTensor(r[v.target().index()]);
  Object* rowObject = r[v.row().index()];
  const Tensor* row = asTensor(rowObject);
  const auto index = static_cast<int64_t>(s[v.index().index()]);
  if (index < 0 || index >= target->extents()[0]) return failIndex(m, "row", index, target->extents()[0]);
  if (!std::ranges::equal(target->shape().subspan(1), row->shape()))
    return m.failProgram(fmt::format("a row of shape {} cannot be stored into a tensor of shape {}",
                                     shapeText(row->shape()), shapeText(target->shape())));
  const uint64_t rowBytes = rowBytesOf(*target);
  target = writable(m, asTensor(take(r, v.target())));
  if (!target) return false;
  std::memmove(target->data + static_cast<uint64_t>(index) * rowBytes, row->data, rowBytes);
  letGo(m, r, v.row(), rowObject);
  define(r, v.dst(), target);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool storeOuterScalar(bytecode::StoreOuterScalar v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* target = asTensor(r[v.target().index()]);
  const auto index = static_cast<int64_t>(s[v.index().index()]);
  if (index < 0 || index >= target->extents()[0]) return failIndex(m, "index", index, target->extents()[0]);
  target = writable(m, asTensor(take(r, v.target())));
  if (!target) return false;
  storeScalar(target->data + index * sizeBytes(target->dtype()), target->dtype(), s[v.value().index()]);
  define(r, v.dst(), target);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool extendOuter(bytecode::ExtendOuter v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* source = asTensor(r[v.source().index()]);
  const auto extent = static_cast<int64_t>(s[v.extent().index()]);
  int64_t extents[kMaxRank];
  const uint32_t rank = source->rank();
  std::copy_n(source->extents(), rank, extents);
  extents[0] = extent;
  const std::optional<int64_t> count = checkedElementCount({extents, rank});
  const std::optional<int64_t> bytes =
      count ? checkedMul<int64_t>(*count, sizeBytes(source->dtype())) : std::nullopt;
  if (!bytes)
    return m.failProgram(fmt::format("a tensor of shape {} cannot be extended to {} rows",
                                     shapeText(source->shape()), extent));
  source = asTensor(take(r, v.source()));
  const auto needed = static_cast<uint64_t>(*bytes);
  const uint64_t kept = std::min(needed, source->sizeBytes());
  if (source->owner == nullptr && source->isWritableInPlace() && !source->isShared()) {
    const auto inlineOffset = static_cast<uint64_t>(source->data - reinterpret_cast<std::byte*>(source));
    const uint64_t capacity = source->blockBytes != 0 ? source->blockBytes
                              : source->sizeClass < kSizeClassCount
                                  ? kSizeClassBytes[source->sizeClass] - inlineOffset
                                  : kept;
    if (needed > capacity && !m.heap->growTensor(source, std::max(needed, 2 * kept), kept))
      return failHolding(m, source);
    source->extents()[0] = extent;
    define(r, v.dst(), source);
    return true;
  }
  Tensor* copy = m.heap->allocateTensor(source->dtype(), source->device(), {extents, rank}, needed);
  if (!copy) return failHolding(m, source);
  std::memcpy(copy->data, source->data, kept);
  m.heap->release(source);
  define(r, v.dst(), copy);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool loadScalarFrom(bytecode::LoadScalar v, Machine& m, uint64_t* s, Object** r) try {
  Object* object = r[v.tensor().index()];
  const Tensor* tensor = asTensor(object);
  const Extents indices = v.indices();
  int64_t position = 0;
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    const auto index = static_cast<int64_t>(s[indices[axis].index()]);
    const int64_t extent = tensor->extents()[axis];
    if (index < 0 || index >= extent) return failTake(m, index, extent);
    position = position * extent + index;
  }
  s[v.dst().index()] = loadScalar(tensor->data + position * sizeBytes(tensor->dtype()), tensor->dtype());
  letGo(m, r, v.tensor(), object);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool boxScalar(bytecode::BoxScalar v, Machine& m, const uint64_t* s, Object** r) try {
  Tensor* tensor = m.heap->allocateTensor(v.dtype(), 0, {}, static_cast<uint64_t>(sizeBytes(v.dtype())));
  if (!tensor) return m.failAllocation();
  storeScalar(tensor->data, v.dtype(), s[v.value().index()]);
  define(r, v.dst(), tensor);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

}  // namespace baton::vm
