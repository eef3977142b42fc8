// Arrays. What a register gives up at its last use and nobody else holds is changed in place;
// everything else is copied, so an array that is still in use never changes.
#include "vm/exec/array.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "vm/tensor_text.h"

namespace baton::vm {

namespace {

using RowExtents = bytecode::OperandList<ScalarOperand>;

uint32_t grownCapacity(uint32_t needed, uint32_t length) {
  constexpr uint32_t kLeast = 4;
  const uint64_t doubled = uint64_t{2} * length;
  return static_cast<uint32_t>(
      std::min<uint64_t>(std::max<uint64_t>({needed, doubled, kLeast}), kMaxArrayLength));
}

/// A copy that holds its elements as well; null when memory is refused.
Array* copyArray(Heap& heap, Array* array, bool holdsReferences, uint32_t capacity) {
  Array* copy = heap.allocateArray(holdsReferences, capacity);
  if (!copy) return nullptr;
  if (array->length != 0) std::memcpy(copy->data, array->data, uint64_t{8} * array->length);
  copy->length = array->length;
  for (Object* element : copy->slotSpan()) retain(element);
  return copy;
}

/// The array of an owned operand, with room for `needed` elements, to be changed by the caller:
/// itself where nobody else can see that, else a copy. The register is left as `take` leaves it.
/// Null, and an error in the machine, when memory is refused: then the register is as it was.
Array* takeChangeable(Machine& m, Object** r, ReferenceOperand operand, bool holdsReferences,
                      uint32_t needed) {
  Object*& slot = r[operand.index()];
  Array* array = asArray(slot);
  if (operand.isLastUse() && array->isUnique() && m.heap->makePrivate(array)) {
    if (needed > array->capacity && !m.heap->growArray(array, grownCapacity(needed, array->length))) {
      m.failAllocation();
      return nullptr;
    }
    slot = nullptr;
    return array;
  }
  const uint32_t capacity = needed > array->length ? grownCapacity(needed, array->length) : array->length;
  Array* copy = copyArray(*m.heap, array, holdsReferences, capacity);
  if (!copy) {
    m.failAllocation();
    return nullptr;
  }
  if (operand.isLastUse()) {
    slot = nullptr;
    m.heap->release(array);
  }
  return copy;
}

bool checkPush(Machine& m, const Array* array) {
  if (array->length < kMaxArrayLength) [[likely]]
    return true;
  return m.failProgram(fmt::format("an array cannot have more than {} elements", kMaxArrayLength));
}

/// Shape of a row of what is made of the elements of an array.
struct RowShape {
  int64_t extents[bytecode::kMaxRank];
  uint32_t rank;
  std::span<const int64_t> span() const { return {extents, rank}; }
};

/// Reads the extents of a row; negative ones are those of the elements, whose extents from
/// `firstAxis` on are a row's.
bool readRow(RowShape& row, Machine& m, Array* array, RowExtents operands, const uint64_t* s,
             uint32_t firstAxis) {
  row.rank = operands.size();
  for (uint32_t axis = 0; axis < row.rank; ++axis) {
    row.extents[axis] = static_cast<int64_t>(s[operands[axis].index()]);
    if (row.extents[axis] >= 0) continue;
    if (array->length == 0)
      return m.failProgram(
          fmt::format("an array without elements does not tell dimension {} of its elements, which is not "
                      "known either",
                      axis + firstAxis));
    row.extents[axis] = asTensor(array->references()[0])->extents()[firstAxis + axis];
  }
  return true;
}

/// A tensor of so many rows; null, with an error, when it would be too large or memory is refused.
Tensor* allocateRows(Machine& m, DType dtype, int64_t count, const RowShape& row) {
  int64_t extents[bytecode::kMaxRank + 1];
  extents[0] = count;
  std::copy_n(row.extents, row.rank, extents + 1);
  const std::span<const int64_t> shape(extents, row.rank + 1);
  const std::optional<int64_t> elements = checkedElementCount(shape);
  const std::optional<int64_t> bytes =
      elements ? checkedMul<int64_t>(*elements, sizeBytes(dtype)) : std::nullopt;
  if (!bytes) {
    m.failProgram(fmt::format("a tensor cannot have the shape {}", shapeText(shape)));
    return nullptr;
  }
  Tensor* tensor = m.heap->allocateTensor(dtype, 0, shape, static_cast<uint64_t>(*bytes));
  if (!tensor) m.failAllocation();
  return tensor;
}

bool failShape(Machine& m, const char* what, uint32_t index, const Tensor& element, const RowShape& row) {
  std::vector<std::string> expected;
  if (element.rank() > row.rank) expected.emplace_back("?");
  for (const int64_t extent : row.span()) expected.push_back(std::to_string(extent));
  return m.failProgram(fmt::format("{}: element {} has shape {}, expected ({}{})", what, index,
                                   shapeText(element.shape()), fmt::join(expected, ", "),
                                   expected.size() == 1 ? "," : ""));
}

void finishArray(Machine& m, Object** r, ReferenceOperand operand, Object* object) {
  if (!operand.isLastUse()) return;
  r[operand.index()] = nullptr;
  m.heap->release(object);
}

/// Rows [begin, begin + count) of a tensor as a view of it, of rank one less if `dropsAxis`.
Tensor* viewRows(Machine& m, Tensor* source, uint64_t offsetBytes, int64_t count, bool dropsAxis) {
  Object* owner = source->owner ? source->owner : source;
  const uint32_t rank = source->rank() - (dropsAxis ? 1 : 0);
  Tensor* view =
      m.heap->allocateView(source->dtype(), source->device(), rank, source->flags() & TensorTag::kReadOnly,
                           owner, source->data + offsetBytes);
  if (!view) return nullptr;
  retain(owner);
  std::copy_n(source->extents() + (dropsAxis ? 1 : 0), rank, view->extents());
  if (!dropsAxis) view->extents()[0] = count;
  return view;
}

uint64_t bytesOfRow(const Tensor& tensor) {
  uint64_t bytes = static_cast<uint64_t>(sizeBytes(tensor.dtype()));
  for (int64_t extent : tensor.shape().subspan(1)) bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

}  // namespace

bool failElement(Machine& m, int64_t index, const Array& array) try {
  return m.failProgram(fmt::format("index {} is outside of an array of length {}", index, array.length));
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool arrayPush(bytecode::ArrayPushRef v, Machine& m, Object** r) try {
  const Array* before = asArray(r[v.array().index()]);
  if (!checkPush(m, before)) return false;
  Array* array = takeChangeable(m, r, v.array(), true, before->length + 1);
  if (!array) return false;
  array->references()[array->length++] = take(r, v.value());
  define(r, v.dst(), array);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool arrayPush(bytecode::ArrayPushScalar v, Machine& m, const uint64_t* s, Object** r) try {
  const Array* before = asArray(r[v.array().index()]);
  if (!checkPush(m, before)) return false;
  Array* array = takeChangeable(m, r, v.array(), false, before->length + 1);
  if (!array) return false;
  array->data[array->length++] = s[v.value().index()];
  define(r, v.dst(), array);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool arraySet(bytecode::ArraySetRef v, Machine& m, const uint64_t* s, Object** r) try {
  const Array* before = asArray(r[v.array().index()]);
  const uint64_t index = s[v.index().index()];
  if (index >= before->length) return failElement(m, static_cast<int64_t>(index), *before);
  Array* array = takeChangeable(m, r, v.array(), true, before->length);
  if (!array) return false;
  Object* old = array->references()[index];
  array->references()[index] = take(r, v.value());
  m.heap->release(old);
  define(r, v.dst(), array);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool arraySet(bytecode::ArraySetScalar v, Machine& m, const uint64_t* s, Object** r) try {
  const Array* before = asArray(r[v.array().index()]);
  const uint64_t index = s[v.index().index()];
  if (index >= before->length) return failElement(m, static_cast<int64_t>(index), *before);
  Array* array = takeChangeable(m, r, v.array(), false, before->length);
  if (!array) return false;
  array->data[index] = s[v.value().index()];
  define(r, v.dst(), array);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool stackArray(bytecode::StackArray v, Machine& m, const uint64_t* s, Object** r) try {
  Array* array = asArray(r[v.array().index()]);
  RowShape row;
  if (!readRow(row, m, array, v.extents(), s, 0)) return false;
  if (row.rank != 0)
    for (uint32_t i = 0; i < array->length; ++i) {
      const Tensor& element = *asTensor(array->references()[i]);
      if (!std::ranges::equal(element.shape(), row.span()))
        return failShape(m, "array_stack", i, element, row);
    }
  Tensor* tensor = allocateRows(m, v.dtype(), array->length, row);
  if (!tensor) return false;
  std::byte* to = tensor->data;
  if (row.rank == 0) {
    const auto width = sizeBytes(v.dtype());
    for (uint32_t i = 0; i < array->length; ++i, to += width) storeScalar(to, v.dtype(), array->data[i]);
  } else if (tensor->sizeBytes() != 0) {
    const uint64_t rowBytes = tensor->sizeBytes() / array->length;
    for (uint32_t i = 0; i < array->length; ++i, to += rowBytes)
      std::memcpy(to, asTensor(array->references()[i])->data, rowBytes);
  }
  finishArray(m, r, v.array(), array);
  define(r, v.dst(), tensor);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool concatArray(bytecode::ConcatArray v, Machine& m, const uint64_t* s, Object** r) try {
  Array* array = asArray(r[v.array().index()]);
  RowShape row;
  if (!readRow(row, m, array, v.extents(), s, 1)) return false;
  int64_t count = 0;
  bool overflows = false;
  for (uint32_t i = 0; i < array->length; ++i) {
    const Tensor& element = *asTensor(array->references()[i]);
    if (!std::ranges::equal(element.shape().subspan(1), row.span()))
      return failShape(m, "array_concat", i, element, row);
    overflows |= __builtin_add_overflow(count, element.extents()[0], &count);
  }
  if (overflows) return m.failProgram("array_concat: the elements have more rows than 64 bits can count");
  Tensor* tensor = allocateRows(m, v.dtype(), count, row);
  if (!tensor) return false;
  std::byte* to = tensor->data;
  for (uint32_t i = 0; i < array->length; ++i) {
    const Tensor& element = *asTensor(array->references()[i]);
    const uint64_t bytes = element.sizeBytes();
    if (bytes != 0) std::memcpy(to, element.data, bytes);
    to += bytes;
  }
  finishArray(m, r, v.array(), array);
  define(r, v.dst(), tensor);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool unstackArray(bytecode::UnstackArray v, Machine& m, Object** r) try {
  Tensor* source = asTensor(r[v.source().index()]);
  const int64_t count = source->extents()[0];
  if (count > kMaxArrayLength)
    return m.failProgram(
        fmt::format("an array cannot have more than {} elements, found {} rows", kMaxArrayLength, count));
  const bool holdsReferences = source->rank() > 1;
  Array* array = m.heap->allocateArray(holdsReferences, static_cast<uint32_t>(count));
  if (!array) return m.failAllocation();
  const uint64_t rowBytes = bytesOfRow(*source);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t offset = static_cast<uint64_t>(i) * rowBytes;
    if (!holdsReferences) {
      array->data[array->length++] = loadScalar(source->data + offset, source->dtype());
      continue;
    }
    Tensor* view = viewRows(m, source, offset, 0, true);
    if (!view) {
      m.failAllocation();
      m.heap->release(array);
      return false;
    }
    array->references()[array->length++] = view;
  }
  finishArray(m, r, v.source(), source);
  define(r, v.dst(), array);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool splitArray(bytecode::SplitArray v, Machine& m, Object** r) try {
  Tensor* source = asTensor(r[v.source().index()]);
  Object* countsObject = r[v.counts().index()];
  const Tensor& counts = *asTensor(countsObject);
  const int64_t partCount = counts.extents()[0];
  if (partCount > kMaxArrayLength)
    return m.failProgram(fmt::format("an array cannot have more than {} elements, found {} counts",
                                     kMaxArrayLength, partCount));
  const auto countAt = [&](int64_t i) {
    return static_cast<int64_t>(loadScalar(counts.data + i * 4, DType::I32));
  };
  int64_t sum = 0;
  for (int64_t i = 0; i < partCount; ++i) {
    if (countAt(i) < 0) return m.failProgram(fmt::format("array_split: count {} is {}", i, countAt(i)));
    sum += countAt(i);
  }
  if (sum != source->extents()[0])
    return m.failProgram(
        fmt::format("array_split: the counts add up to {}, found {} rows", sum, source->extents()[0]));
  Array* array = m.heap->allocateArray(true, static_cast<uint32_t>(partCount));
  if (!array) return m.failAllocation();
  const uint64_t rowBytes = bytesOfRow(*source);
  int64_t begin = 0;
  for (int64_t i = 0; i < partCount; ++i) {
    Tensor* view = viewRows(m, source, static_cast<uint64_t>(begin) * rowBytes, countAt(i), false);
    if (!view) {
      m.failAllocation();
      m.heap->release(array);
      return false;
    }
    array->references()[array->length++] = view;
    begin += countAt(i);
  }
  finishArray(m, r, v.counts(), countsObject);
  finishArray(m, r, v.source(), source);
  define(r, v.dst(), array);
  return true;
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

}  // namespace baton::vm
