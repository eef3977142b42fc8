#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "formats/npz.h"
#include "tests/capi/api.h"

using namespace baton::test;

TEST_CASE("entry points describe themselves") {
  const Api api;
  CHECK(std::string(baton_executable_name(api.executable.get())) == "test program");
  CHECK(std::string(baton_executable_cpu_level(api.executable.get())).empty());
  REQUIRE(baton_executable_function_count(api.executable.get()) == 9);
  CHECK(baton_executable_function(api.executable.get(), 9) == nullptr);
  CHECK(baton_executable_find_function(api.executable.get(), "main") == nullptr);
  const baton_function* pair = api.function("pair");
  CHECK(std::string(baton_function_name(pair)) == "pair");
  CHECK(std::string(baton_function_name(baton_executable_function(api.executable.get(), 7))) == "fill");
  CHECK(baton_executable_function(api.executable.get(), 0) == pair);
  CHECK(std::string(baton_function_signature(pair)) ==
        "def @pair(%x: Tensor[(n, 2), float32], %k: int64) -> (Tensor[(n, 2), float32], int64) where n <= 8");
  CHECK(std::string(baton_function_documentation(pair)) == "the arguments as a tuple");
  REQUIRE(baton_function_parameter_count(pair) == 2);
  CHECK(std::string(baton_function_parameter_name(pair, 0)) == "x");
  CHECK(baton_function_parameter_name(pair, 2) == nullptr);
  CHECK(baton_function_find_parameter(pair, "k") == 1);
  CHECK(baton_function_find_parameter(pair, "z") == SIZE_MAX);
  REQUIRE(baton_function_symbol_count(pair) == 1);
  CHECK(std::string(baton_function_symbol_name(pair, 0)) == "n");
  REQUIRE(baton_function_constraint_count(pair) == 1);
  CHECK(std::string(baton_function_constraint(pair, 0)) == "n <= 8");

  const baton_type* x = baton_function_parameter_type(pair, 0);
  CHECK(baton_type_kind(x) == BATON_TENSOR);
  CHECK(baton_type_dtype(x) == BATON_F32);
  REQUIRE(baton_type_rank(x) == 2);
  CHECK(baton_type_extent(x, 0) == -1);
  CHECK(baton_type_extent(x, 1) == 2);
  CHECK(std::string(baton_type_extent_text(x, 0)) == "n");
  CHECK(std::string(baton_type_text(x)) == "Tensor[(n, 2), float32]");
  CHECK(baton_type_kind(baton_function_parameter_type(pair, 1)) == BATON_SCALAR);

  const baton_type* tuple = baton_function_result_type(pair);
  CHECK(baton_type_kind(tuple) == BATON_TUPLE);
  REQUIRE(baton_type_constructor_count(tuple) == 1);
  REQUIRE(baton_type_field_count(tuple, 0) == 2);
  CHECK(std::string(baton_type_text(baton_type_field(tuple, 0, 1))) == "int64");
  const baton_type* list = baton_function_parameter_type(api.function("cons"), 1);
  CHECK(baton_type_is_list(list) == 1);
  CHECK(std::string(baton_type_constructor_name(list, 0)) == "Cons");
  CHECK(baton_type_equal(baton_type_field(list, 0, 1), list) == 1);
  CHECK(baton_type_equal(tuple, list) == 0);
}

TEST_CASE("what is retained outlives its first owner") {
  const std::vector<std::byte> bytes = assemble(kProgram);
  baton_executable* executable = nullptr;
  baton_value* tensor = nullptr;
  {
    const Api api;
    executable = api.executable.get();
    baton_executable_retain(executable);
    baton_instance_retain(api.instance.get());
    tensor = api.parse("2xf32=5 6").release();
    baton_value_retain(tensor);
    baton_value_release(tensor);
    baton_instance_release(api.instance.get());
  }
  CHECK(std::string(baton_executable_name(executable)) == "test program");
  CHECK(Api::format(tensor) == "2xf32=5 6");
  baton_value_release(tensor);
  baton_executable_release(executable);
  baton_executable_retain(nullptr);
  baton_instance_retain(nullptr);
  baton_value_retain(nullptr);
}

TEST_CASE("peak memory is evaluated for given extents") {
  const Api api;
  const int64_t n = 5;
  baton_known known = BATON_UNKNOWN;
  uint64_t bytes = 0;
  ok(baton_function_peak_memory(api.function("pair"), &n, 1, &known, &bytes, nullptr));
  CHECK(known == BATON_EXACT);
  CHECK(bytes == 40);
  CHECK(Failure(baton_function_peak_memory(api.function("pair"), nullptr, 0, &known, &bytes, nullptr))
            .message() == "found 0 values of symbols, expected 1");
  ok(baton_function_peak_memory(api.function("area"), nullptr, 0, &known, &bytes, nullptr));
  CHECK(known == BATON_UNKNOWN);
}

TEST_CASE("executables are loaded from files, descriptors and callbacks") {
  const std::vector<std::byte> bytes = assemble(kProgram);
  char path[] = "/tmp/baton_capi_XXXXXX";
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  REQUIRE(write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));

  const Api api;
  const auto count = [](Owned<baton_executable> loaded) {
    return baton_executable_function_count(loaded.get());
  };
  baton_executable* loaded = nullptr;
  ok(baton_executable_load_file(api.instance.get(), path, nullptr, &loaded));
  CHECK(count(Owned<baton_executable>(loaded)) == 9);
  baton_load_options options = BATON_LOAD_OPTIONS_INIT;
  options.copy = 1;
  options.verify_constants = 1;
  ok(baton_executable_load_file(api.instance.get(), path, &options, &loaded));
  CHECK(count(Owned<baton_executable>(loaded)) == 9);
  ok(baton_executable_load_descriptor(api.instance.get(), descriptor, nullptr, &loaded));
  CHECK(count(Owned<baton_executable>(loaded)) == 9);
  close(descriptor);
  std::remove(path);

  struct Source {
    const std::vector<std::byte>& bytes;
    bool fails;
  } source{bytes, false};
  const baton_read_callback read = [](void* user, uint64_t offset, void* buffer, size_t size) -> int32_t {
    const auto& from = *static_cast<Source*>(user);
    if (from.fails) return 5;
    std::memcpy(buffer, from.bytes.data() + offset, size);
    return 0;
  };
  ok(baton_executable_load_callback(api.instance.get(), read, &source, bytes.size(), nullptr, &loaded));
  CHECK(count(Owned<baton_executable>(loaded)) == 9);
  source.fails = true;
  CHECK(Failure(
            baton_executable_load_callback(api.instance.get(), read, &source, bytes.size(), nullptr, &loaded))
            .message() == "the read callback failed with code 5 at offset 0");
  CHECK(Failure(baton_executable_load_file(api.instance.get(), "/nonexistent/x.vmexe", nullptr, &loaded))
            .code() == BATON_IO);
}

TEST_CASE("damaged bytes are errors, whatever was damaged") {
  const Api api;
  const std::vector<std::byte> good = assemble(kProgram);
  for (size_t i = 0; i < good.size(); i += 7) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{0x41};
    baton_executable* loaded = nullptr;
    const Owned<baton_status> status(
        baton_executable_load_memory(api.instance.get(), bad.data(), bad.size(), nullptr, &loaded));
    // Every byte is under a checksum or is a version, a reserved field or padding that is checked.
    INFO("byte " << i);
    CHECK(status != nullptr);
    CHECK(baton_status_code(status.get()) != BATON_INTERNAL);
    CHECK(std::string(baton_status_message(status.get())) != "");
    if (!status) baton_executable_release(loaded);
  }
  for (size_t size = 0; size < good.size(); size += 101) {
    baton_executable* loaded = nullptr;
    const Failure failed(
        baton_executable_load_memory(api.instance.get(), good.data(), size, nullptr, &loaded));
    CHECK(failed.code() != BATON_INTERNAL);
  }
}

TEST_CASE("memory limits and allocators of an instance are obeyed") {
  baton_instance_options options = BATON_INSTANCE_OPTIONS_INIT;
  options.thread_count = 1;
  options.allocator = "none";
  baton_instance* instance = nullptr;
  CHECK(Failure(baton_instance_create(&options, &instance)).message() ==
        "no allocator none: there are pool and system");
  for (const char* allocator : {"pool", "system"}) {
    options.allocator = allocator;
    options.memory_limit_bytes = 4 << 20;
    ok(baton_instance_create(&options, &instance));
    const Owned<baton_instance> owned(instance);
    const std::vector<float> data(2 << 20);
    const int64_t extent = 2 << 20;
    baton_value* value = nullptr;
    CHECK(Failure(baton_value_create_tensor(instance, BATON_F32, 1, &extent, data.data(), data.size() * 4,
                                            &value))
              .code() != BATON_OK);
    const int64_t small = 1000;
    ok(baton_value_create_tensor(instance, BATON_F32, 1, &small, data.data(), 4000, &value));
    baton_value_release(value);
    baton_memory_statistics statistics = BATON_MEMORY_STATISTICS_INIT;
    baton_instance_trim(instance);
    baton_instance_memory_statistics(instance, &statistics);
    CHECK(statistics.reserved_bytes <= 4 << 20);
  }
}

namespace {

constexpr std::string_view kExternal = R"vmasm(meta {
}
constant c0 = f32[2] external "model::w"
entry "main" @main {
  result f32[2]
}
fn @main () -> (tensor<f32, 1>) regs s0 r1 {
  r0 = load_const c0
  ret [], [r0!]
}
)vmasm";

/// Takes the executable over, runs its function "main" and gives the result as text.
std::string resultOfMain(baton_executable* loaded) {
  const Owned<baton_executable> executable(loaded);
  baton_context* context = nullptr;
  ok(baton_context_create(loaded, nullptr, &context));
  const Owned<baton_context> ownedContext(context);
  baton_call* call = nullptr;
  ok(baton_call_create(context, baton_executable_find_function(loaded, "main"), &call));
  const Owned<baton_call> ownedCall(call);
  ok(baton_call_run(call));
  baton_value* result = nullptr;
  ok(baton_call_result(call, &result));
  return Api::format(Owned<baton_value>(result).get());
}

}  // namespace

TEST_CASE("external parameters come from files by scope and key") {
  const Api api;
  const std::vector<std::byte> bytes = assemble(kExternal);
  const float weights[] = {5, 6};
  char path[] = "/tmp/baton_params_XXXXXX";
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  const auto store = [&](const char* key, std::vector<int64_t> extents) {
    baton::bytecode::Params params;
    baton::bytecode::Constant& tensor = params.tensors.emplace_back();
    tensor.dtype = baton::DType::F32;
    tensor.extents = std::move(extents);
    tensor.externalKey = key;
    tensor.bytes = std::as_bytes(std::span(weights));
    const auto file = baton::bytecode::writeParams(params).value();
    REQUIRE(ftruncate(descriptor, 0) == 0);
    REQUIRE(pwrite(descriptor, file.data(), file.size(), 0) == static_cast<ssize_t>(file.size()));
  };
  baton_executable* loaded = nullptr;
  const auto load = [&](const baton_load_options* options) {
    return baton_executable_load_memory(api.instance.get(), bytes.data(), bytes.size(), options, &loaded);
  };
  CHECK(Failure(load(nullptr)).message() ==
        "parameter model::w is external, and no file was given for scope model");
  store("v", {2});
  baton_parameter_file file = {"model", path};
  baton_load_options options = BATON_LOAD_OPTIONS_INIT;
  options.parameter_files = &file;
  options.parameter_file_count = 1;
  CHECK(Failure(load(&options)).message() == "parameter model::w is not in the file given for scope model");
  store("w", {2, 1});
  CHECK(Failure(load(&options)).message() ==
        "parameter model::w: found float32 of shape (2, 1), expected float32 of shape (2,)");
  for (const char* key : {"w", "model::w"}) {
    store(key, {2});
    ok(load(&options));
    CHECK(resultOfMain(loaded) == "2xf32=5 6");
  }
  close(descriptor);
  std::remove(path);
}

TEST_CASE("external parameters come from arrays of other tools") {
  const Api api;
  const std::vector<std::byte> bytes = assemble(kExternal);
  const float weights[] = {5, 6};
  const auto data = std::as_bytes(std::span(weights));
  char path[] = "/tmp/baton_params_XXXXXX";
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  const auto store = [&](std::span<const std::byte> file) {
    REQUIRE(ftruncate(descriptor, 0) == 0);
    REQUIRE(pwrite(descriptor, file.data(), file.size(), 0) == static_cast<ssize_t>(file.size()));
  };
  const auto safetensors = [&](std::string header) {
    header.insert(0, 8, '\0');
    header[0] = static_cast<char>(header.size() - 8);
    std::vector<std::byte> file(header.size());
    std::memcpy(file.data(), header.data(), header.size());
    file.insert(file.end(), data.begin(), data.end());
    return file;
  };
  baton_parameter_file file = {"model", path};
  baton_load_options options = BATON_LOAD_OPTIONS_INIT;
  options.parameter_files = &file;
  options.parameter_file_count = 1;
  baton_executable* loaded = nullptr;
  const auto load = [&] {
    return baton_executable_load_memory(api.instance.get(), bytes.data(), bytes.size(), &options, &loaded);
  };
  const auto checkLoaded = [&] {
    ok(load());
    CHECK(resultOfMain(loaded) == "2xf32=5 6");
  };
  const auto checkRefused = [&](const std::string& message) {
    const Failure failure(load());
    CHECK(failure.message() == message);
    CHECK(failure.code() == BATON_INCOMPATIBLE);
  };

  const std::vector<baton::NpzEntry> entries = {{"bias", {baton::DType::F64, {}, std::vector<std::byte>(8)}},
                                                {"w", {baton::DType::F32, {2}, {data.begin(), data.end()}}}};
  store(baton::writeNpz(entries).value());
  checkLoaded();
  store(safetensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"));
  checkLoaded();

  store(safetensors(R"({"w":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})"));
  checkRefused("parameter model::w: found int32 of shape (2,), expected float32 of shape (2,)");
  store(safetensors(R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})"));
  checkRefused("parameter model::w: found float32 of shape (1, 2), expected float32 of shape (2,)");
  store(safetensors(R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"));
  checkRefused("parameter model::w is not in the file given for scope model");
  store(safetensors(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"));
  const Failure damaged(load());
  CHECK(damaged.code() == BATON_MALFORMED);
  CHECK(damaged.message() ==
        std::string(path) +
            ": safetensors: tensor \"w\": found bytes 0 to 12, expected a part of the 8 bytes "
            "of data");
  store(data);
  CHECK(Failure(load()).message() ==
        std::string(path) + ": not a .npz, .npy, .safetensors or .vmparams file");
  close(descriptor);
  std::remove(path);
  CHECK(Failure(load()).code() == BATON_IO);
}
