// Our declaration of DLPack against the one of the system, where the two overlap. Theirs is
// of an older version, so it goes into a namespace of its own.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>

#if __has_include(<dlpack/dlpack.h>)
namespace theirs {
#include <dlpack/dlpack.h>
}  // namespace theirs
#undef DLPACK_EXTERN_C
#define BATON_TEST_HAS_DLPACK 1
#endif

#include "baton/dlpack.h"

TEST_CASE("the versioned structure has the layout of DLPack 1.x") {
  CHECK(offsetof(DLManagedTensorVersioned, version) == 0);
  CHECK(offsetof(DLManagedTensorVersioned, manager_ctx) == 8);
  CHECK(offsetof(DLManagedTensorVersioned, deleter) == 16);
  CHECK(offsetof(DLManagedTensorVersioned, flags) == 24);
  CHECK(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);
  CHECK(sizeof(DLTensor) == 48);
  CHECK(kDLBool == 6);
  CHECK(kDLBfloat == 4);
}

#if defined(BATON_TEST_HAS_DLPACK)
TEST_CASE("tensor and type have the layout of the system's header") {
  CHECK(sizeof(DLTensor) == sizeof(theirs::DLTensor));
  CHECK(offsetof(DLTensor, data) == offsetof(theirs::DLTensor, data));
  CHECK(offsetof(DLTensor, device) == offsetof(theirs::DLTensor, device));
  CHECK(offsetof(DLTensor, ndim) == offsetof(theirs::DLTensor, ndim));
  CHECK(offsetof(DLTensor, dtype) == offsetof(theirs::DLTensor, dtype));
  CHECK(offsetof(DLTensor, shape) == offsetof(theirs::DLTensor, shape));
  CHECK(offsetof(DLTensor, strides) == offsetof(theirs::DLTensor, strides));
  CHECK(offsetof(DLTensor, byte_offset) == offsetof(theirs::DLTensor, byte_offset));
  CHECK(sizeof(DLDataType) == sizeof(theirs::DLDataType));
  CHECK(static_cast<int>(kDLCPU) == static_cast<int>(theirs::kDLCPU));
  CHECK(static_cast<int>(kDLFloat) == static_cast<int>(theirs::kDLFloat));
}
#endif
