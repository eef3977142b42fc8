#include <cstdlib>
#include <vector>

#include "formats/value_text.h"
#include "vm/capi/handles.h"
#include "vm/value_data.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

namespace {

Result<DType> checkDType(baton_dtype dtype) {
  if (static_cast<unsigned>(dtype) >= kDTypeCount)
    return Error(ErrorCode::InvalidArgument,
                 "no dtype has number " + std::to_string(static_cast<int>(dtype)));
  return static_cast<DType>(dtype);
}

Result<std::vector<Value*>> unwrapAll(baton_value* const* handles, size_t count) {
  if (!handles && count != 0) return missing("the array of values");
  std::vector<Value*> values;
  for (size_t i = 0; i < count; ++i) {
    if (!handles[i]) return Error(ErrorCode::InvalidArgument, "value " + std::to_string(i) + " is NULL");
    values.push_back(unwrap(handles[i]));
  }
  return values;
}

/// Reads whole files through the caller's callbacks.
FileReader fileReader(const baton_file_source& source) {
  if (!source.open) return {};
  return [&source](const std::string& name) -> Result<std::vector<std::byte>> {
    const void* data = nullptr;
    size_t size = 0;
    if (const int32_t code = source.open(source.user, name.c_str(), &data, &size); code != 0)
      return Error(ErrorCode::Io, "cannot read @" + name + ": code " + std::to_string(code));
    struct Closer {
      const baton_file_source& source;
      const void* data;
      size_t size;
      ~Closer() {
        if (source.close) source.close(source.user, data, size);
      }
    } const closer{source, data, size};
    const auto* bytes = static_cast<const std::byte*>(data);
    return std::vector<std::byte>(bytes, bytes + size);
  };
}

}  // namespace

extern "C" {

void baton_value_retain(baton_value* value) {
  if (value) unwrap(value)->retain();
}

void baton_value_release(baton_value* value) {
  if (value) unwrap(value)->release();
}

baton_status* baton_value_create_tensor(baton_instance* instance, baton_dtype dtype, size_t rank,
                                        const int64_t* extents, const void* data, size_t size_bytes,
                                        baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if (!out) return missing("out");
    if ((!extents && rank != 0) || (!data && size_bytes != 0)) return missing("extents or data");
    BATON_TRY_ASSIGN(const DType checked, checkDType(dtype));
    BATON_TRY_ASSIGN(Ref<Value> value, makeTensor(*unwrap(instance), checked, {extents, rank},
                                                  {static_cast<const std::byte*>(data), size_bytes}));
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

baton_status* baton_value_create_scalar(baton_instance* instance, baton_dtype dtype, const void* data,
                                        baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if (!out || !data) return missing("data or out");
    BATON_TRY_ASSIGN(const DType checked, checkDType(dtype));
    *out = give<baton_value>(Value::scalar(checked, loadScalar(data, checked)));
    return success();
  });
}

baton_status* baton_value_create_adt(baton_instance* instance, const baton_type* type, size_t constructor,
                                     baton_value* const* fields, size_t field_count, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if (!type || !out) return missing("type or out");
    BATON_TRY_ASSIGN(const std::vector<Value*> values, unwrapAll(fields, field_count));
    BATON_TRY_ASSIGN(Ref<Value> value, makeData(*unwrap(instance), *unwrap(type), constructor, values));
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

baton_status* baton_value_create_list(baton_instance* instance, const baton_type* type,
                                      baton_value* const* items, size_t item_count, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if (!type || !out) return missing("type or out");
    BATON_TRY_ASSIGN(const std::vector<Value*> values, unwrapAll(items, item_count));
    BATON_TRY_ASSIGN(Ref<Value> value, makeList(*unwrap(instance), *unwrap(type), values));
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

baton_status* baton_value_create_array(baton_instance* instance, const baton_type* type,
                                       baton_value* const* elements, size_t length, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if (!type || !out) return missing("type or out");
    BATON_TRY_ASSIGN(const std::vector<Value*> values, unwrapAll(elements, length));
    BATON_TRY_ASSIGN(Ref<Value> value, makeArray(*unwrap(instance), *unwrap(type), values));
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

baton_kind baton_value_kind(const baton_value* value) {
  return value ? static_cast<baton_kind>(unwrap(value)->kind()) : BATON_TENSOR;
}

const baton_type* baton_value_type(const baton_value* value) {
  return value && unwrap(value)->type() ? wrap(*unwrap(value)->type()) : nullptr;
}

baton_dtype baton_value_dtype(const baton_value* value) {
  return value && unwrap(value)->isTensorLike() ? static_cast<baton_dtype>(unwrap(value)->dtype())
                                                : BATON_BOOL;
}

size_t baton_value_rank(const baton_value* value) { return value ? unwrap(value)->extents().size() : 0; }

const int64_t* baton_value_extents(const baton_value* value) {
  return baton_value_rank(value) != 0 ? unwrap(value)->extents().data() : nullptr;
}

size_t baton_value_size_bytes(const baton_value* value) { return value ? unwrap(value)->sizeBytes() : 0; }

const void* baton_value_data(const baton_value* value) { return value ? unwrap(value)->elements() : nullptr; }

size_t baton_value_constructor(const baton_value* value) {
  return value && unwrap(value)->type() && unwrap(value)->type()->isData() ? unwrap(value)->object()->tag : 0;
}

const char* baton_value_constructor_name(const baton_value* value) {
  return baton_type_constructor_name(baton_value_type(value), baton_value_constructor(value));
}

size_t baton_value_field_count(const baton_value* value) {
  return baton_type_field_count(baton_value_type(value), baton_value_constructor(value));
}

baton_status* baton_value_field(const baton_value* value, size_t field, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!value || !out) return missing("value or out");
    if (field >= baton_value_field_count(value))
      return Error(ErrorCode::InvalidArgument, "field " + std::to_string(field) +
                                                   " out of range: the value has " +
                                                   std::to_string(baton_value_field_count(value)));
    *out = give<baton_value>(fieldOf(*unwrap(value), field));
    return success();
  });
}

size_t baton_value_length(const baton_value* value) {
  return value && unwrap(value)->kind() == TypeKind::Array ? asArray(unwrap(value)->object())->length : 0;
}

baton_status* baton_value_element(const baton_value* value, size_t index, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!value || !out) return missing("value or out");
    if (index >= baton_value_length(value))
      return Error(ErrorCode::InvalidArgument, "element " + std::to_string(index) +
                                                   " out of range: the value has " +
                                                   std::to_string(baton_value_length(value)));
    *out = give<baton_value>(elementOf(*unwrap(value), index));
    return success();
  });
}

int baton_value_equal(const baton_value* a, const baton_value* b) {
  return guardedOr(0, [&] { return a && b && isEqual(*unwrap(a), *unwrap(b)) ? 1 : 0; });
}

baton_status* baton_value_parse(baton_instance* instance, const baton_type* type, const char* text,
                                size_t text_length, const baton_file_source* files, baton_value** out) {
  return guarded([&]() -> Result<void> {
    if (!instance) return missing("instance");
    if ((!text && text_length != 0) || !out) return missing("text or out");
    const baton_file_source none = BATON_FILE_SOURCE_INIT;
    const baton_file_source source = readOptions(files, none);
    BATON_TRY_ASSIGN(const TextValue parsed,
                     parseValue(std::string_view(text, text_length), fileReader(source)));
    BATON_TRY_ASSIGN(Ref<Value> value, fromText(*unwrap(instance), type ? unwrap(type) : nullptr, parsed));
    *out = give<baton_value>(std::move(value));
    return success();
  });
}

baton_status* baton_value_format(const baton_value* value, size_t element_limit, char** out,
                                 size_t* out_length) {
  return guarded([&]() -> Result<void> {
    if (!value || !out) return missing("value or out");
    BATON_TRY_ASSIGN(const TextValue described, toText(*unwrap(value)));
    const std::string text = formatValue(described, element_limit);
    char* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy) return Error(ErrorCode::OutOfMemory, "no memory for the text of a value");
    std::memcpy(copy, text.c_str(), text.size() + 1);
    *out = copy;
    if (out_length) *out_length = text.size();
    return success();
  });
}

}  // extern "C"
