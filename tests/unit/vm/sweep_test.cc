// Every n-th request for memory refused in turn: a clean error, nothing leaked, and the same
// context works afterwards.
#include "programs.h"
#include "runtime.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

constexpr std::string_view kMixed = R"vmasm(
kind k0 = tensor<f32, 1>
kernel $fill compiled {
  symbol n = operand 0 axis 0
  output f32[n]
  scalar_inputs [f32]
  loop
    "kernel \"fill\" {\n"
    "  symbol n = operand 0 axis 0\n"
    "  output f32[n]\n"
    "  scalar_input f32\n"
    "  scratch f32[n]\n"
    "  for %0 < $n { store tmp0[%0], arg0 }\n"
    "  for %1 < $n {\n"
    "    %2 = load tmp0[%1]\n"
    "    store out0[%1], %2\n"
    "  }\n"
    "}\n"
}
type t0 = "List[Tensor[(?,), float32]]" list {
  "Cons" (f32[?0] r0, adt<t0> r1)
  "Nil" ()
}
constant c0 = f32[2] base64 "AACAPwAAAEA="
entry "mixed" @mixed {
  symbols [m]
  param "n" i64
  param "x" f32[m]
  result adt<t0>
}
fn @mixed (i64, tensor<f32, 1>) -> (adt<t0>) regs s5 r6 {
  r1 = make_adt 1, t0, [], []
  r2 = load_const c0
  r1 = make_adt 0, t0, [r2!, r1!], []
  s1 = const i64, 1
  s2 = const i64, 0
b0:
  s3 = lt.i64 s2, s0
  branch s3, b1, b2
b1:
  s0 = sub.i64 s0, s1
  s4 = const f32, 3
  r2 = alloc_tensor f32, 0, [s0]
  call_kernel $fill, [], [r2], [s4]
  r3 = move r0
  r3 = extend_outer r3!, s0
  drop r3!
  r3 = cell_new_ref k0, r2!
  r4 = make_closure @unwrap, [r3!], []
  r2 = call_closure r4!, [], []
  r1 = make_adt 0, t0, [r2!, r1!], []
  jump b0
b2:
  s4 = const i64, 3000
  s4 = call @deep, [s4], []
  drop r0!
  ret [], [r1!]
}
fn @unwrap closure [cell<k0>] () -> (tensor<f32, 1>) regs s0 r2 {
  r1 = capture_ref r0!, 0
  r0 = cell_read_ref r1!
  ret [], [r0!]
}
fn @deep (i64) -> (i64) regs s3 r0 {
  s1 = const i64, 0
  s2 = eq.i64 s0, s1
  branch s2, b1, b0
b0:
  s1 = const i64, 1
  s2 = sub.i64 s0, s1
  s2 = call @deep, [s2], []
  s0 = add.i64 s2, s1
  ret [s0], []
b1:
  ret [s1], []
}
)vmasm";

void checkResult(const Value& list) {
  const Object* cell = list.object();
  int64_t length = 0;
  for (; cell->tag == 0; cell = cell->slots()[1]) ++length;
  CHECK(length == 101);
}

void sweep(Memory::Kind kind) {
  uint64_t failures = 0;
  for (uint64_t n = 1;; ++n) {
    InstanceOptions options;
    options.threads.threadCount = 1;
    options.memory.kind = kind;
    options.memory.refuseRequest = n;
    const Ref<Instance> instance = require(Instance::create(std::move(options)));
    bool failed = false;
    uint64_t requests = 0;
    {
      // What was refused once is asked again: the same objects must do.
      const auto again = [&](auto&& attempt) {
        auto result = attempt();
        if (result.has_value()) return std::move(result).assume_value();
        REQUIRE_FALSE(failed);
        failed = true;
        CHECK(result.assume_error().code() == ErrorCode::OutOfMemory);
        requests = instance->memory().failing().requestCount();
        instance->memory().failing().refuse(0);
        return require(attempt());
      };
      const Ref<Executable> executable = again([&] { return Executable::load(instance, parse(kMixed)); });
      const Ref<Context> context = again([&] { return Context::create(executable, {}); });
      const std::vector<float> data(5000, 1.0f);
      const int64_t extent = 5000;
      const Ref<Value> x = again(
          [&] { return makeTensor(*instance, DType::F32, {&extent, 1}, std::as_bytes(std::span(data))); });
      Call call(context, *executable->findEntryPoint("mixed"));
      ErrorDetails details;
      const Ref<Value> list = again([&]() -> Result<Ref<Value>> {
        call.reset();
        require(call.setInput(0, Runtime::i64(100), false, details));
        require(call.setInput(1, x, false, details));
        BATON_TRY(call.advance(std::nullopt, details));
        return call.result();
      });
      checkResult(*list);
    }
    instance->trim();
    CHECK(instance->memory().statistics().inUseBytes == 0);
    failures += failed;
    if (!failed) break;
    CHECK(requests >= n);
    REQUIRE(n < 20000);
  }
  CHECK(failures >= (kind == Memory::Kind::System ? 8 : 1));
}

}  // namespace

TEST_CASE("the n-th request to the system fails cleanly, without a pool") { sweep(Memory::Kind::System); }
TEST_CASE("the n-th request to the system fails cleanly, under a pool") { sweep(Memory::Kind::Pool); }

TEST_CASE("memory limits end a call at any size, and the next call works") {
  const Runtime runtime(kMixed);
  const auto x = runtime.tensor({5000}, std::vector<float>(5000, 1.0f));
  uint64_t enough = 0;
  for (uint64_t limit = 0; enough == 0; limit += 997) {
    const auto result = runtime.run("mixed", {Runtime::i64(100), x}, {.memoryBytes = limit});
    if (result.has_value()) {
      checkResult(*result.assume_value());
      enough = limit;
    } else {
      REQUIRE(result.assume_error().code() == ErrorCode::LimitReached);
      REQUIRE(runtime.context->heap().inUseBytes() == 0);
    }
  }
  CHECK(enough > 30000);
}
