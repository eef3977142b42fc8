// Every n-th request for memory refused in turn: a clean error, nothing leaked, and the same
// context works afterwards.
#include <algorithm>

#include "mixed_program.h"
#include "runtime.h"
#include "vm/value_data.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

using baton::test::kMixed;

constexpr int64_t kTurns = 100;
constexpr int64_t kExtent = 5000;

/// The elements of the result: n + 1 tensors before the one given, threes, the depth.
void checkResult(const Value& result, int64_t listLength) {
  const Object* cell = result.object()->slots()[0];
  int64_t length = 0;
  for (; cell->tag == 0; cell = cell->slots()[1]) {
    const auto* tensor = reinterpret_cast<const Tensor*>(cell->slots()[0]);
    if (length < kTurns) {
      REQUIRE(tensor->shape()[0] == length);
      if (length > 0) REQUIRE(reinterpret_cast<const float*>(tensor->data)[length - 1] == 3);
    }
    ++length;
  }
  CHECK(length == listLength);
  const auto* threes = reinterpret_cast<const Tensor*>(result.object()->slots()[1]);
  CHECK(threes->shape()[0] == kExtent);
  CHECK(std::count(reinterpret_cast<const float*>(threes->data),
                   reinterpret_cast<const float*>(threes->data) + kExtent, 3.0f) == kExtent);
  CHECK(result.object()->scalars()[0] == 3000);
}

constexpr int64_t kGivenLength = 50;

/// [1xf32=0, 2xf32=0 0, ...]
TextValue makeGivenList() {
  std::vector<TextValue> items;
  for (int64_t i = 1; i <= kGivenLength; ++i)
    items.push_back(TextValue::tensor({DType::F32, {i}, std::vector<std::byte>(4 * static_cast<size_t>(i))}));
  return TextValue::list(std::move(items));
}

void sweep(Memory::Kind kind) {
  const TextValue givenList = makeGivenList();
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
      const EntryPoint& entry = *executable->findEntryPoint("mixed");
      const std::vector<float> data(kExtent, 1.0f);
      const auto makeX = [&] {
        return makeTensor(*instance, DType::F32, {&kExtent, 1}, std::as_bytes(std::span(data)));
      };
      const Ref<Value> x = again(makeX);
      const Ref<Value> given =
          again([&] { return fromText(*instance, &entry.parameters()[2].type, givenList); });
      Call call(context, entry);
      const bool isDonated = n % 2 == 0;  // then the result is made in x's memory
      const Ref<Value> result = again([&]() -> Result<Ref<Value>> {
        ErrorDetails details;
        call.reset();
        require(call.setInput(0, Runtime::i64(kTurns), false, details));
        if (isDonated) {
          BATON_TRY_ASSIGN(Ref<Value> fresh, makeX());
          require(call.setInput(1, std::move(fresh), true, details));
        } else {
          require(call.setInput(1, x, false, details));
        }
        require(call.setInput(2, given, false, details));
        BATON_TRY(call.advance(std::nullopt, details));
        return call.result();
      });
      checkResult(*result, kTurns + 1 + kGivenLength);
      // What was passed without donating it is as it was.
      CHECK(elements<float>(*x) == data);
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
  const auto x = runtime.tensor({kExtent}, std::vector<float>(kExtent, 1.0f));
  const auto given =
      require(fromText(*runtime.instance, &runtime.executable->findEntryPoint("mixed")->parameters()[2].type,
                       TextValue::list({})));
  uint64_t enough = 0;
  for (uint64_t limit = 0; enough == 0; limit += 997) {
    const auto result = runtime.run("mixed", {Runtime::i64(kTurns), x, given}, {.memoryBytes = limit});
    if (result.has_value()) {
      checkResult(*result.assume_value(), kTurns + 1);
      enough = limit;
    } else {
      REQUIRE(result.assume_error().code() == ErrorCode::LimitReached);
      REQUIRE(runtime.context->heap().inUseBytes() == 0);
    }
  }
  CHECK(enough > 30000);
}
