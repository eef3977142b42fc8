// Every n-th request for ordinary memory refused in turn, through the whole of the C interface: each
// function reports BATON_OUT_OF_MEMORY or does what it should, nothing is leaked, and the same
// objects do when they are asked again. Requests through the allocators have their own sweep.
#include <algorithm>
#include <cstdlib>
#include <new>

#include "tests/capi/api.h"
#include "tests/unit/vm/mixed_program.h"

using namespace baton::test;

namespace {

/// What the replaced operator new does. One thread.
struct HeapProbe {
  bool isArmed = false;  ///< the library is at work: requests are counted, and their memory
  bool hasFailed = false;
  uint64_t requests = 0;
  uint64_t refused = 0;  ///< the number of the request to refuse, from then on; 0: none
  int64_t live = 0;      ///< blocks of the library
};
HeapProbe probe;

/// Before every block.
struct alignas(16) BlockHeader {
  void* base;
  bool isCounted;
};

void* request(size_t size, size_t alignment) noexcept {
  if (probe.isArmed && ++probe.requests >= probe.refused && probe.refused != 0) {
    probe.hasFailed = true;
    return nullptr;
  }
  const size_t offset = std::max(sizeof(BlockHeader), alignment);
  auto* base =
      static_cast<std::byte*>(std::aligned_alloc(offset, (offset + size + offset - 1) / offset * offset));
  if (!base) return nullptr;
  new (base + offset - sizeof(BlockHeader)) BlockHeader{base, probe.isArmed};
  probe.live += probe.isArmed;
  return base + offset;
}
void* requestOrThrow(size_t size, size_t alignment) {
  if (void* memory = request(size, alignment)) return memory;
  throw std::bad_alloc();
}
void giveBack(void* memory) noexcept {
  if (!memory) return;
  const auto* header = reinterpret_cast<BlockHeader*>(static_cast<std::byte*>(memory) - sizeof(BlockHeader));
  probe.live -= header->isCounted;
  std::free(header->base);
}

}  // namespace

void* operator new(size_t size) { return requestOrThrow(size, 0); }
void* operator new[](size_t size) { return requestOrThrow(size, 0); }
void* operator new(size_t size, std::align_val_t a) { return requestOrThrow(size, static_cast<size_t>(a)); }
void* operator new[](size_t size, std::align_val_t a) { return requestOrThrow(size, static_cast<size_t>(a)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return request(size, 0); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return request(size, 0); }
void* operator new(size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return request(size, static_cast<size_t>(a));
}
void operator delete(void* memory) noexcept { giveBack(memory); }
void operator delete[](void* memory) noexcept { giveBack(memory); }
void operator delete(void* memory, size_t) noexcept { giveBack(memory); }
void operator delete[](void* memory, size_t) noexcept { giveBack(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { giveBack(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { giveBack(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { giveBack(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { giveBack(memory); }

namespace {

/// Calls what returns a status; if memory is refused, calls it again with enough.
template <class F>
void attempt(const char* what, F&& call) {
  const auto callArmed = [&] {
    probe.isArmed = true;
    baton_status* status = call();
    probe.isArmed = false;
    return status;
  };
  baton_status* status = callArmed();
  if (!status) return;
  INFO(what << ": " << baton_status_description(status));
  REQUIRE(probe.hasFailed);
  REQUIRE(probe.refused != 0);
  REQUIRE(baton_status_code(status) == BATON_OUT_OF_MEMORY);
  REQUIRE(std::string(baton_status_message(status)) != "");
  baton_status_release(status);
  probe.refused = 0;
  ok(callArmed());
}

constexpr std::string_view kList = "[2xf32=1 2, 3xf32=nan -0 3, 0xf32=]";

/// Load, describe, make values of every kind, run, read the result in every way.
void useEverything(const std::vector<std::byte>& file) {
  baton_instance_options instanceOptions = BATON_INSTANCE_OPTIONS_INIT;
  instanceOptions.thread_count = 1;
  baton_instance* madeInstance = nullptr;
  attempt("instance", [&] { return baton_instance_create(&instanceOptions, &madeInstance); });
  const Owned<baton_instance> instance(madeInstance);

  baton_executable* loaded = nullptr;
  attempt("load", [&] {
    return baton_executable_load_memory(madeInstance, file.data(), file.size(), nullptr, &loaded);
  });
  const Owned<baton_executable> executable(loaded);
  const baton_function* function = baton_executable_find_function(loaded, "mixed");
  REQUIRE(function != nullptr);
  CHECK(std::string(baton_function_documentation(function)) == "Everything.");
  const baton_type* listType = baton_function_parameter_type(function, 2);

  baton_context* madeContext = nullptr;
  attempt("context", [&] { return baton_context_create(loaded, nullptr, &madeContext); });
  const Owned<baton_context> context(madeContext);

  baton_value* value = nullptr;
  const int64_t turns = 3;
  attempt("scalar", [&] { return baton_value_create_scalar(madeInstance, BATON_I64, &turns, &value); });
  const Owned<baton_value> n(value);
  const float data[] = {1, 1, 1, 1};
  const int64_t extent = 4;
  attempt("tensor", [&] {
    return baton_value_create_tensor(madeInstance, BATON_F32, 1, &extent, data, sizeof data, &value);
  });
  Owned<baton_value> x(value);
  attempt("parse", [&] {
    return baton_value_parse(madeInstance, listType, kList.data(), kList.size(), nullptr, &value);
  });
  const Owned<baton_value> parsed(value);
  baton_value* items[] = {x.get(), x.get()};
  attempt("list", [&] { return baton_value_create_list(madeInstance, listType, items, 2, &value); });
  const Owned<baton_value> list(value);
  attempt("data", [&] {
    baton_value* fields[] = {x.get(), parsed.get()};
    return baton_value_create_adt(madeInstance, listType, 0, fields, 2, &value);
  });
  const Owned<baton_value> given(value);

  DLManagedTensorVersioned* exported = nullptr;
  attempt("to dlpack", [&] { return baton_value_to_dlpack(x.get(), &exported); });
  attempt("from dlpack", [&] { return baton_value_from_dlpack(madeInstance, exported, &value); });
  const Owned<baton_value> imported(value);

  baton_call* madeCall = nullptr;
  attempt("call", [&] { return baton_call_create(madeContext, function, &madeCall); });
  const Owned<baton_call> call(madeCall);
  baton_call_limits limits = BATON_CALL_LIMITS_INIT;
  limits.timeout_nanoseconds = uint64_t{60} * 1'000'000'000;
  attempt("limits", [&] { return baton_call_set_limits(madeCall, &limits); });
  const auto setInputs = [&]() -> baton_status* {
    baton_call_reset(madeCall);
    if (baton_status* status = baton_call_set_input_by_name(madeCall, "n", n.get())) return status;
    if (baton_status* status = baton_call_set_input(madeCall, 1, imported.get())) return status;
    return baton_call_set_input(madeCall, 2, given.get());
  };
  attempt("run", [&]() -> baton_status* {
    if (baton_status* status = setInputs()) return status;
    return baton_call_run(madeCall);
  });
  attempt("result", [&] { return baton_call_result(madeCall, &value); });
  const Owned<baton_value> result(value);

  char* text = nullptr;
  attempt("format", [&] { return baton_value_format(result.get(), 0, &text, nullptr); });
  CHECK(std::string(text) ==
        "([0xf32=, 1xf32=3, 2xf32=3 3, 2xf32=1 2, 4xf32=1 1 1 1, 2xf32=1 2, 3xf32=nan -0 3, 0xf32=], "
        "4xf32=3 3 3 3, i64=3000)");
  baton_string_release(text);
  attempt("field", [&] { return baton_value_field(result.get(), 1, &value); });
  const Owned<baton_value> threes(value);
  CHECK(static_cast<const float*>(baton_value_data(threes.get()))[3] == 3);
  CHECK(static_cast<const float*>(baton_value_data(x.get()))[3] == 1);

  // An error of the program is as good as a result: it is made, or memory is the error.
  probe.isArmed = true;
  baton_status* mismatch = baton_call_set_input(madeCall, 0, x.get());
  probe.isArmed = false;
  REQUIRE(mismatch != nullptr);
  if (baton_status_code(mismatch) != BATON_OUT_OF_MEMORY)
    CHECK(baton_status_code(mismatch) == BATON_INVALID_ARGUMENT);
  baton_status_release(mismatch);
}

}  // namespace

TEST_CASE("the n-th request for ordinary memory fails cleanly, whatever was asked for") {
  const std::vector<std::byte> file = assemble("meta {\n}\n" + std::string(kMixed));
  for (int i = 0; i < 2; ++i) useEverything(file);  // what is made once per process is there now
  uint64_t n = 0;
  do {
    ++n;
    INFO("request " << n);
    const int64_t live = probe.live;
    probe.requests = 0;
    probe.refused = n;
    probe.hasFailed = false;
    useEverything(file);
    probe.refused = 0;
    REQUIRE(probe.live == live);
    REQUIRE(n < 100000);
  } while (probe.hasFailed);
  CHECK(n > 500);
}
