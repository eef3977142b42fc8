#include "vm/capi/handles.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

static_assert(static_cast<int>(TypeKind::Tensor) == BATON_TENSOR &&
              static_cast<int>(TypeKind::Scalar) == BATON_SCALAR &&
              static_cast<int>(TypeKind::Tuple) == BATON_TUPLE &&
              static_cast<int>(TypeKind::Adt) == BATON_ADT &&
              static_cast<int>(TypeKind::Closure) == BATON_CLOSURE &&
              static_cast<int>(TypeKind::Ref) == BATON_REF &&
              static_cast<int>(TypeKind::Array) == BATON_ARRAY);
static_assert(static_cast<int>(DType::Bool) == BATON_BOOL && static_cast<int>(DType::I64) == BATON_I64 &&
              static_cast<int>(DType::U64) == BATON_U64 && static_cast<int>(DType::F64) == BATON_F64);

namespace {
const bytecode::Constructor* constructorOf(const baton_type* type, size_t constructor) {
  if (!type || !unwrap(type)->isData()) return nullptr;
  const auto& constructors = unwrap(type)->definition->constructors;
  return constructor < constructors.size() ? &constructors[constructor] : nullptr;
}
}  // namespace

extern "C" {

size_t baton_dtype_size(baton_dtype dtype) {
  return static_cast<unsigned>(dtype) < kDTypeCount
             ? static_cast<size_t>(sizeBytes(static_cast<DType>(dtype)))
             : 0;
}

const char* baton_dtype_name(baton_dtype dtype) {
  // The names are literals, hence zero-terminated.
  return static_cast<unsigned>(dtype) < kDTypeCount ? dtypeName(static_cast<DType>(dtype)).data() : nullptr;
}

baton_kind baton_type_kind(const baton_type* type) {
  return type ? static_cast<baton_kind>(unwrap(type)->kind) : BATON_TENSOR;
}

const char* baton_type_text(const baton_type* type) { return type ? unwrap(type)->text.c_str() : ""; }

int baton_type_equal(const baton_type* a, const baton_type* b) {
  return guardedOr(0, [&] { return a && b && isSameType(*unwrap(a), *unwrap(b)) ? 1 : 0; });
}

baton_dtype baton_type_dtype(const baton_type* type) {
  const bool has = type && (unwrap(type)->kind == TypeKind::Tensor || unwrap(type)->kind == TypeKind::Scalar);
  return has ? static_cast<baton_dtype>(unwrap(type)->dtype) : BATON_BOOL;
}

size_t baton_type_rank(const baton_type* type) { return type ? unwrap(type)->rank() : 0; }

int64_t baton_type_extent(const baton_type* type, size_t axis) {
  return axis < baton_type_rank(type) ? unwrap(type)->extents[axis] : -1;
}

const char* baton_type_extent_text(const baton_type* type, size_t axis) {
  return axis < baton_type_rank(type) ? unwrap(type)->extentTexts[axis].c_str() : nullptr;
}

size_t baton_type_constructor_count(const baton_type* type) {
  return type && unwrap(type)->isData() ? unwrap(type)->definition->constructors.size() : 0;
}

const char* baton_type_constructor_name(const baton_type* type, size_t constructor) {
  const bytecode::Constructor* found = constructorOf(type, constructor);
  return found ? found->name.c_str() : nullptr;
}

size_t baton_type_field_count(const baton_type* type, size_t constructor) {
  const bytecode::Constructor* found = constructorOf(type, constructor);
  return found ? found->fields.size() : 0;
}

const baton_type* baton_type_field(const baton_type* type, size_t constructor, size_t field) {
  if (field >= baton_type_field_count(type, constructor)) return nullptr;
  return wrap((*unwrap(type)->fields)[constructor][field]);
}

const baton_type* baton_type_element(const baton_type* type) {
  return type && unwrap(type)->isArray() ? wrap(unwrap(type)->element()) : nullptr;
}

int baton_type_is_list(const baton_type* type) { return type && unwrap(type)->isList() ? 1 : 0; }

}  // extern "C"
