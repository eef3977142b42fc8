#include "tests/capi/api.h"
#include "tests/effort.h"

using namespace baton::test;

namespace {

/// A DLPack tensor over memory of the test that counts its deletions.
struct Lent {
  std::vector<float> data;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int deletions = 0;
  DLManagedTensorVersioned managed{};

  Lent(std::vector<float> d, std::vector<int64_t> s, std::vector<int64_t> st = {})
      : data(std::move(d)), shape(std::move(s)), strides(std::move(st)) {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Lent*>(self->manager_ctx)->deletions;
    };
    managed.dl_tensor = {data.data(),
                         {kDLCPU, 0},
                         static_cast<int32_t>(shape.size()),
                         {kDLFloat, 32, 1},
                         shape.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
  }
};

}  // namespace

TEST_CASE("DLPack tensors come in without a copy and are given back once") {
  Lent lent({1, 2, 3, 4, 5, 6}, {3, 2});
  {
    const Api api;
    baton_value* value = nullptr;
    ok(baton_value_from_dlpack(api.instance.get(), &lent.managed, &value));
    Owned<baton_value> owned(value);
    CHECK(baton_value_data(value) == lent.data.data());
    const Owned<baton_call> call = api.call("pair");
    ok(baton_call_set_input(call.get(), 0, value));
    ok(baton_call_set_input(call.get(), 1, api.parse("i64=1").get()));
    ok(baton_call_run(call.get()));
    baton_value* result = nullptr;
    ok(baton_call_result(call.get(), &result));
    const Owned<baton_value> tuple(result);
    baton_value* field = nullptr;
    ok(baton_value_field(result, 0, &field));
    const Owned<baton_value> same(field);
    CHECK(baton_value_data(field) == lent.data.data());
    owned.reset();
    CHECK(lent.deletions == 0);
  }
  CHECK(lent.deletions == 1);
}

TEST_CASE("an imported tensor is never written to") {
  Lent lent({1, 2, 3, 4}, {4});
  const Api api;
  baton_value* value = nullptr;
  ok(baton_value_from_dlpack(api.instance.get(), &lent.managed, &value));
  const Owned<baton_call> call = api.call("bump");
  ok(baton_call_donate_input(call.get(), 0, value));
  ok(baton_call_run(call.get()));
  baton_value* result = nullptr;
  ok(baton_call_result(call.get(), &result));
  CHECK(Api::format(Owned<baton_value>(result).get()) == "4xf32=1 9 3 4");
  CHECK(lent.data == std::vector<float>{1, 2, 3, 4});
  CHECK(lent.deletions == 1);
}

TEST_CASE("strided and rank-0 DLPack tensors are copied, others refused") {
  const Api api;
  Lent transposed({1, 2, 3, 4, 5, 6}, {2, 3}, {1, 2});
  baton_value* value = nullptr;
  ok(baton_value_from_dlpack(api.instance.get(), &transposed.managed, &value));
  CHECK(Api::format(Owned<baton_value>(value).get()) == "2x3xf32=1 3 5 2 4 6");
  CHECK(transposed.deletions == 1);
  Lent scalar({7}, {});
  ok(baton_value_from_dlpack(api.instance.get(), &scalar.managed, &value));
  CHECK(baton_value_kind(value) == BATON_SCALAR);
  CHECK(Api::format(Owned<baton_value>(value).get()) == "f32=7");
  CHECK(scalar.deletions == 1);
  Lent offset({1, 2, 3, 4}, {2});
  offset.managed.dl_tensor.byte_offset = 8;
  ok(baton_value_from_dlpack(api.instance.get(), &offset.managed, &value));
  CHECK(Api::format(Owned<baton_value>(value).get()) == "2xf32=3 4");

  Lent old({1}, {1});
  old.managed.version = {2, 0};
  CHECK(Failure(baton_value_from_dlpack(api.instance.get(), &old.managed, &value)).code() ==
        BATON_INCOMPATIBLE);
  Lent device({1}, {1});
  device.managed.dl_tensor.device.device_type = kDLCUDA;
  CHECK(Failure(baton_value_from_dlpack(api.instance.get(), &device.managed, &value)).code() ==
        BATON_UNSUPPORTED);
  Lent complex({1, 2}, {1});
  complex.managed.dl_tensor.dtype = {kDLComplex, 64, 1};
  CHECK(Failure(baton_value_from_dlpack(api.instance.get(), &complex.managed, &value)).code() ==
        BATON_UNSUPPORTED);
  Lent negative({1}, {-1});
  CHECK(Failure(baton_value_from_dlpack(api.instance.get(), &negative.managed, &value)).code() ==
        BATON_INVALID_ARGUMENT);
  for (const Lent* refused : {&old, &device, &complex, &negative}) CHECK(refused->deletions == 0);
}

TEST_CASE("results go out as DLPack tensors that outlive everything") {
  DLManagedTensorVersioned* out = nullptr;
  {
    const Api api;
    const Owned<baton_call> call = api.call("constant");
    ok(baton_call_run(call.get()));
    baton_value* result = nullptr;
    ok(baton_call_result(call.get(), &result));
    const Owned<baton_value> owned(result);
    ok(baton_value_to_dlpack(result, &out));
    CHECK(out->dl_tensor.data == baton_value_data(result));
  }
  CHECK(out->version.major == 1);
  CHECK((out->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
  CHECK(out->dl_tensor.ndim == 1);
  CHECK(out->dl_tensor.shape[0] == 2);
  CHECK(out->dl_tensor.dtype.code == kDLFloat);
  CHECK(out->dl_tensor.dtype.bits == 32);
  CHECK(static_cast<const float*>(out->dl_tensor.data)[1] == 2.0f);
  out->deleter(out);
}

TEST_CASE("values tell their type, shape and size") {
  const Api api;
  const Owned<baton_value> tensor = api.parse("2x3xi16=1 2 3 4 5 6");
  CHECK(baton_value_kind(tensor.get()) == BATON_TENSOR);
  CHECK(baton_value_type(tensor.get()) == nullptr);
  CHECK(baton_value_dtype(tensor.get()) == BATON_I16);
  REQUIRE(baton_value_rank(tensor.get()) == 2);
  CHECK(baton_value_extents(tensor.get())[0] == 2);
  CHECK(baton_value_extents(tensor.get())[1] == 3);
  CHECK(baton_value_size_bytes(tensor.get()) == 12);
  const Owned<baton_value> empty = api.parse("0x3xf64=");
  CHECK(baton_value_size_bytes(empty.get()) == 0);
  CHECK(baton_value_extents(empty.get())[0] == 0);
  const Owned<baton_value> scalar = api.parse("bf16=1.5");
  CHECK(baton_value_dtype(scalar.get()) == BATON_BF16);
  CHECK(baton_value_rank(scalar.get()) == 0);
  CHECK(baton_value_size_bytes(scalar.get()) == 2);
  const baton_type* shape = baton_function_parameter_type(api.function("area"), 0);
  const Owned<baton_value> circle = api.parse("Circle(f32=2)", shape);
  CHECK(baton_type_equal(baton_value_type(circle.get()), shape) == 1);
  CHECK(baton_value_size_bytes(circle.get()) == 0);
  CHECK(baton_value_extents(circle.get()) == nullptr);
  CHECK(baton_value_type(nullptr) == nullptr);
  CHECK(baton_value_extents(nullptr) == nullptr);
}

TEST_CASE("dtypes have sizes and names") {
  const std::pair<const char*, size_t> expected[] = {
      {"bool", 1},     {"int8", 1},    {"int16", 2},  {"int32", 4},  {"int64", 8},
      {"uint8", 1},    {"uint16", 2},  {"uint32", 4}, {"uint64", 8}, {"float16", 2},
      {"bfloat16", 2}, {"float32", 4}, {"float64", 8}};
  for (int number = 0; number < 13; ++number) {
    const auto dtype = static_cast<baton_dtype>(number);
    CHECK(std::string(baton_dtype_name(dtype)) == expected[number].first);
    CHECK(baton_dtype_size(dtype) == expected[number].second);
  }
  CHECK(baton_dtype_name(static_cast<baton_dtype>(13)) == nullptr);
  CHECK(baton_dtype_size(static_cast<baton_dtype>(13)) == 0);
}

TEST_CASE("values are taken apart by constructor and field") {
  const Api api;
  const baton_type* shape = baton_function_parameter_type(api.function("area"), 0);
  const Owned<baton_value> square = api.parse("Square(f32=3, bool=true)", shape);
  CHECK(baton_value_kind(square.get()) == BATON_ADT);
  CHECK(baton_value_constructor(square.get()) == 1);
  CHECK(std::string(baton_value_constructor_name(square.get())) == "Square");
  REQUIRE(baton_value_field_count(square.get()) == 2);
  baton_value* field = nullptr;
  ok(baton_value_field(square.get(), 1, &field));
  CHECK(Api::format(Owned<baton_value>(field).get()) == "bool=true");
  CHECK(Failure(baton_value_field(square.get(), 2, &field)).message() ==
        "field 2 out of range: the value has 2");

  const Owned<baton_value> side = api.parse("f32=3");
  const Owned<baton_value> filled = api.parse("bool=true");
  baton_value* fields[] = {side.get(), filled.get()};
  baton_value* made = nullptr;
  ok(baton_value_create_adt(api.instance.get(), shape, 1, fields, 2, &made));
  const Owned<baton_value> same(made);
  CHECK(baton_value_equal(same.get(), square.get()) == 1);
  CHECK(Failure(baton_value_create_adt(api.instance.get(), shape, 0, fields, 2, &made)).message() ==
        "Circle has 1 field, found 2");
  baton_value* swapped[] = {filled.get(), side.get()};
  CHECK(Failure(baton_value_create_adt(api.instance.get(), shape, 1, swapped, 2, &made)).message() ==
        "field 0 of Square: found bool of shape (), expected float32");
  CHECK(Failure(baton_value_create_adt(api.instance.get(), shape, 2, fields, 2, &made)).message() ==
        "constructor 2 out of range: Shape has 2");
}

TEST_CASE("a list of a million items is made, formatted, compared and freed") {
  const Api api;
  const baton_type* list = baton_function_parameter_type(api.function("cons"), 1);
  const Owned<baton_value> item = api.parse("1x2xf32=1 2");
  std::vector<baton_value*> items(baton::effort(1'000'000, 50'000), item.get());
  baton_value* made = nullptr;
  ok(baton_value_create_list(api.instance.get(), list, items.data(), items.size(), &made));
  const Owned<baton_value> first(made);
  ok(baton_value_create_list(api.instance.get(), list, items.data(), items.size(), &made));
  const Owned<baton_value> second(made);
  CHECK(baton_value_equal(first.get(), second.get()) == 1);
  const std::string text = Api::format(first.get());
  CHECK(text.substr(0, 30) == "[1x2xf32=1 2, 1x2xf32=1 2, 1x2");
  items.pop_back();
  ok(baton_value_create_list(api.instance.get(), list, items.data(), items.size(), &made));
  CHECK(baton_value_equal(first.get(), Owned<baton_value>(made).get()) == 0);
}

TEST_CASE("arrays are made from elements and taken apart by number") {
  const Api api;
  const baton_type* type = baton_function_parameter_type(api.function("append"), 1);
  CHECK(baton_type_kind(type) == BATON_ARRAY);
  CHECK(std::string(baton_type_text(type)) == "Array[Tensor[(n,), float32]]");
  CHECK(std::string(baton_type_text(baton_type_element(type))) == "Tensor[(n,), float32]");
  CHECK(baton_type_element(baton_type_element(type)) == nullptr);
  CHECK(baton_type_element(nullptr) == nullptr);
  CHECK(baton_type_constructor_count(type) == 0);
  CHECK(baton_type_is_list(type) == 0);

  const Owned<baton_value> row = api.parse("2xf32=1 2");
  const Owned<baton_value> number = api.parse("f32=1");
  baton_value* elements[] = {row.get(), row.get()};
  baton_value* made = nullptr;
  ok(baton_value_create_array(api.instance.get(), type, elements, 2, &made));
  const Owned<baton_value> array(made);
  CHECK(baton_value_kind(array.get()) == BATON_ARRAY);
  CHECK(baton_value_type(array.get()) == type);
  CHECK(baton_value_length(array.get()) == 2);
  CHECK(baton_value_length(row.get()) == 0);
  CHECK(baton_value_field_count(array.get()) == 0);
  CHECK(baton_value_rank(array.get()) == 0);
  CHECK(Api::format(array.get()) == "[2xf32=1 2, 2xf32=1 2]");
  CHECK(baton_value_equal(array.get(), api.parse("[2xf32=1 2, 2xf32=1 2]", type).get()) == 1);
  CHECK(baton_value_equal(array.get(), api.parse("[2xf32=1 2]", type).get()) == 0);
  baton_value* element = nullptr;
  ok(baton_value_element(array.get(), 1, &element));
  CHECK(Api::format(Owned<baton_value>(element).get()) == "2xf32=1 2");
  CHECK(Failure(baton_value_element(array.get(), 2, &element)).message() ==
        "element 2 out of range: the value has 2");
  elements[1] = number.get();
  CHECK(Failure(baton_value_create_array(api.instance.get(), type, elements, 2, &made)).message() ==
        "element 1: found float32 of shape (), expected Tensor[(n,), float32]");
  CHECK(Failure(baton_value_create_array(api.instance.get(),
                                         baton_function_parameter_type(api.function("cons"), 1), elements, 1,
                                         &made))
            .message() == "List[Tensor[(?, 2), float32]] is not an array");
  ok(baton_value_create_array(api.instance.get(), type, nullptr, 0, &made));
  CHECK(Api::format(Owned<baton_value>(made).get()) == "[]");

  CHECK(api.run("append", {"2xf32=3 4", "[2xf32=1 2]"}) == "[2xf32=1 2, 2xf32=3 4]");
  CHECK(api.run("append", {"0xf32=", "[]"}) == "[0xf32=]");
  CHECK(api.fail("append", {"2xf32=3 4", "[2xf32=1 2, 3xf32=1 2 3]"}).message() ==
        "argument %xs: element 1: dimension 0 is 3, but n was bound to 2 by dimension 0 of argument %x");
}

TEST_CASE("equality compares bits, and takes all NaNs for one") {
  const Api api;
  const auto equal = [&](const char* a, const char* b) {
    return baton_value_equal(api.parse(a).get(), api.parse(b).get()) == 1;
  };
  CHECK(equal("2xf32=1 nan", "2xf32=1 nan"));
  CHECK_FALSE(equal("1xf32=0", "1xf32=-0"));
  CHECK_FALSE(equal("1xf32=0", "1xi32=0"));
  CHECK_FALSE(equal("1x2xf32=0 0", "2x1xf32=0 0"));
  CHECK(equal("f64=nan", "f64=nan"));
  CHECK_FALSE(equal("i64=1", "i64=2"));
  const uint32_t odd = 0xFFC00001;
  baton_value* value = nullptr;
  const int64_t extent = 1;
  ok(baton_value_create_tensor(api.instance.get(), BATON_F32, 1, &extent, &odd, 4, &value));
  CHECK(baton_value_equal(Owned<baton_value>(value).get(), api.parse("1xf32=nan").get()) == 1);
}

TEST_CASE("sizes, dtypes and NULLs are refused politely") {
  const Api api;
  const int64_t extents[] = {2, -1};
  baton_value* value = nullptr;
  CHECK(Failure(baton_value_create_tensor(api.instance.get(), BATON_F32, 2, extents, nullptr, 0, &value))
            .message() == "a tensor cannot have the shape (2, -1)");
  const int64_t huge[] = {INT64_MAX, 2};
  CHECK(
      Failure(baton_value_create_tensor(api.instance.get(), BATON_F32, 2, huge, nullptr, 0, &value)).code() ==
      BATON_INVALID_ARGUMENT);
  CHECK(Failure(baton_value_create_tensor(api.instance.get(), BATON_F32, 1, extents, extents, 9, &value))
            .message() == "found 9 bytes, expected 8 for shape (2,) of float32");
  CHECK(Failure(baton_value_create_scalar(api.instance.get(), static_cast<baton_dtype>(99), extents, &value))
            .message() == "no dtype has number 99");
  CHECK(Failure(baton_value_parse(nullptr, nullptr, "i64=1", 5, nullptr, &value)).message() ==
        "instance is NULL");
  CHECK(Failure(baton_value_parse(api.instance.get(), nullptr, "(i64=1, i64=2)", 14, nullptr, &value))
            .message() == "a tuple of 2 needs a type to be read as a value");
  CHECK(baton_value_rank(nullptr) == 0);
  CHECK(baton_value_data(nullptr) == nullptr);
  baton_value_release(nullptr);
}

TEST_CASE("files of value text go through the caller's callbacks") {
  const Api api;
  struct Files {
    int opened = 0, closed = 0;
    float raw[2] = {3, 4};
  } state;
  baton_file_source files = BATON_FILE_SOURCE_INIT;
  files.user = &state;
  files.open = [](void* user, const char* name, const void** data, size_t* size) -> int32_t {
    if (std::string(name) != "x.bin") return 2;
    auto& f = *static_cast<Files*>(user);
    ++f.opened;
    *data = f.raw;
    *size = sizeof f.raw;
    return 0;
  };
  files.close = [](void* user, const void*, size_t) { ++static_cast<Files*>(user)->closed; };
  baton_value* value = nullptr;
  ok(baton_value_parse(api.instance.get(), nullptr, "2xf32=@x.bin", 12, &files, &value));
  CHECK(Api::format(Owned<baton_value>(value).get()) == "2xf32=3 4");
  CHECK(state.opened == 1);
  CHECK(state.closed == 1);
  CHECK(Failure(baton_value_parse(api.instance.get(), nullptr, "2xf32=@y.bin", 12, &files, &value)).code() ==
        BATON_IO);
}
