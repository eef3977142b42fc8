// Tensors from and to DLPack, without copies where their memory allows it.
#include "baton/dlpack.h"

#include <cstring>
#include <vector>

#include "base/checked_math.h"
#include "base/limits.h"
#include "vm/capi/handles.h"
#include "vm/value_data.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

namespace {

struct TypeRow {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};
constexpr TypeRow kTypes[] = {
    {DType::Bool, kDLBool, 8},  {DType::I8, kDLInt, 8},       {DType::I16, kDLInt, 16},
    {DType::I32, kDLInt, 32},   {DType::I64, kDLInt, 64},     {DType::U8, kDLUInt, 8},
    {DType::U16, kDLUInt, 16},  {DType::U32, kDLUInt, 32},    {DType::U64, kDLUInt, 64},
    {DType::F16, kDLFloat, 16}, {DType::BF16, kDLBfloat, 16}, {DType::F32, kDLFloat, 32},
    {DType::F64, kDLFloat, 64},
};

Result<DType> dtypeOf(DLDataType type) {
  if (type.lanes == 1)
    for (const TypeRow& row : kTypes)
      if (row.code == type.code && row.bits == type.bits) return row.dtype;
  return Error(ErrorCode::Unsupported, "DLPack type code " + std::to_string(type.code) + " with " +
                                           std::to_string(type.bits) + " bits and " +
                                           std::to_string(type.lanes) + " lanes is no dtype");
}

bool isDense(const DLTensor& tensor) {
  if (!tensor.strides) return true;
  int64_t expected = 1;
  for (int32_t axis = tensor.ndim; axis-- > 0;) {
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

/// Elements of a strided tensor in row-major order.
std::vector<std::byte> gather(const DLTensor& tensor, const std::byte* base, DType dtype, size_t count) {
  const auto width = static_cast<size_t>(sizeBytes(dtype));
  std::vector<std::byte> elements(count * width);
  std::vector<int64_t> index(static_cast<size_t>(tensor.ndim), 0);
  for (size_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * tensor.strides[axis];
    std::memcpy(elements.data() + i * width, base + offset * static_cast<int64_t>(width), width);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < tensor.shape[axis]) break;
      index[axis] = 0;
    }
  }
  return elements;
}

void releaseImported(void* context) {
  auto* managed = static_cast<DLManagedTensorVersioned*>(context);
  if (managed->deleter) managed->deleter(managed);
}

/// What an exported tensor holds on to.
struct Exported {
  DLManagedTensorVersioned managed{};
  Ref<Value> value;
  std::vector<int64_t> shape;
};

Result<Ref<Value>> import(Instance& instance, DLManagedTensorVersioned* managed, bool& isAdopted) {
  isAdopted = false;
  if (managed->version.major != DLPACK_MAJOR_VERSION)
    return Error(ErrorCode::Incompatible, "DLPack version " + std::to_string(managed->version.major) + "." +
                                              std::to_string(managed->version.minor) + ", expected 1.x");
  const DLTensor& tensor = managed->dl_tensor;
  if (tensor.device.device_type != kDLCPU)
    return Error(ErrorCode::Unsupported, "DLPack device " + std::to_string(tensor.device.device_type) +
                                             ": only memory of the host is taken");
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank)
    return Error(ErrorCode::InvalidArgument,
                 "rank " + std::to_string(tensor.ndim) + ", at most 32 is possible");
  BATON_TRY_ASSIGN(const DType dtype, dtypeOf(tensor.dtype));
  const std::span<const int64_t> extents(tensor.shape, static_cast<size_t>(tensor.ndim));
  const std::optional<int64_t> count = checkedElementCount(extents);
  const auto width = static_cast<size_t>(sizeBytes(dtype));
  const std::optional<int64_t> bytes = count ? checkedMul(*count, static_cast<int64_t>(width)) : std::nullopt;
  if (!bytes)
    return Error(ErrorCode::InvalidArgument, "the extents of the DLPack tensor are negative or too large");
  if (!tensor.data && *bytes != 0) return missing("the data of the DLPack tensor");
  auto* base = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  const std::span<const std::byte> elements(base, static_cast<size_t>(*bytes));
  if (tensor.strides && !isDense(tensor))
    return makeTensor(instance, dtype, extents, gather(tensor, base, dtype, static_cast<size_t>(*count)));
  const bool isOddBool = dtype == DType::Bool && std::ranges::any_of(elements, [](std::byte element) {
                           return element > std::byte{1};
                         });
  if (tensor.ndim == 0 || *bytes == 0 || isOddBool || reinterpret_cast<uintptr_t>(base) % width != 0)
    return makeTensor(instance, dtype, extents, elements);
  isAdopted = true;
  return adoptTensor(instance, dtype, extents, base, &releaseImported, managed);
}

}  // namespace

extern "C" {

baton_status* baton_value_from_dlpack(baton_instance* instance, DLManagedTensorVersioned* tensor,
                                      baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if (!tensor || !out) return missing("tensor or out");
    bool isAdopted = false;
    BATON_TRY_ASSIGN(Ref<Value> value, import(*unwrap(instance), tensor, isAdopted));
    if (!isAdopted) releaseImported(tensor);
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

baton_status* baton_value_to_dlpack(baton_value* value, DLManagedTensorVersioned** out) {
  return guarded([&]() -> Result<void> {
    if (!value || !out) return missing("value or out");
    Value* source = unwrap(value);
    if (!source->isTensorLike())
      return Error(ErrorCode::InvalidArgument, "a value of type " + source->type()->text + " is no tensor");
    auto exported = std::make_unique<Exported>();
    exported->value = Ref<Value>(source);
    exported->shape.assign(source->extents().begin(), source->extents().end());
    const TypeRow& row = *std::ranges::find(kTypes, source->dtype(), &TypeRow::dtype);
    DLManagedTensorVersioned& managed = exported->managed;
    managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.manager_ctx = exported.get();
    managed.deleter = [](DLManagedTensorVersioned* self) {
      delete static_cast<Exported*>(self->manager_ctx);
    };
    managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
    managed.dl_tensor = {.data = const_cast<void*>(source->elements()),
                         .device = {kDLCPU, 0},
                         .ndim = static_cast<int32_t>(exported->shape.size()),
                         .dtype = {row.code, row.bits, 1},
                         .shape = exported->shape.data(),
                         .strides = nullptr,
                         .byte_offset = 0};
    *out = &exported.release()->managed;
    return success();
  });
}

}  // extern "C"
