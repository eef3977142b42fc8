// Arrays: values that never change for those who still hold them, and are changed in place for
// the last one that does.
#include "array_programs.h"
#include "plain_allocator.h"
#include "runtime.h"
#include "vm/cycles.h"
#include "vm/share.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::test;

namespace {

struct ArrayRuntime : Runtime {
  explicit ArrayRuntime(bool useSwitch = false) : Runtime(kArrays, {.useSwitch = useSwitch}) {}

  const TypeInfo& parameter(std::string_view entry, size_t index) const {
    return executable->findEntryPoint(entry)->parameters()[index].type;
  }
  Ref<Value> numbers(const std::vector<int64_t>& elements) const {
    std::vector<Ref<Value>> values;
    for (const int64_t each : elements) values.push_back(i64(each));
    return array(parameter("set", 0), values);
  }
  Ref<Value> rowsOf(const std::vector<std::vector<float>>& elements) const {
    std::vector<Ref<Value>> values;
    for (const auto& each : elements) values.push_back(tensor({static_cast<int64_t>(each.size())}, each));
    return array(parameter("get", 0), values);
  }
  Ref<Value> array(const TypeInfo& type, const std::vector<Ref<Value>>& elements) const {
    std::vector<Value*> pointers;
    for (const Ref<Value>& each : elements) pointers.push_back(each.get());
    return require(makeArray(*instance, type, pointers));
  }
};

/// The array after the one before.
std::pair<Ref<Value>, Ref<Value>> both(const Ref<Value>& pair) {
  return {fieldOf(*pair, 0), fieldOf(*pair, 1)};
}

std::vector<int64_t> numbersIn(const Value& array) {
  const vm::Array* object = asArray(array.object());
  return {object->data, object->data + object->length};
}

std::vector<std::vector<float>> rowsIn(const Value& array) {
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < asArray(array.object())->length; ++i)
    rows.push_back(elements<float>(*elementOf(array, i)));
  return rows;
}

using Rows = std::vector<std::vector<float>>;

}  // namespace

TEST_CASE("arrays of scalars and of references, in both dispatch loops") {
  for (const bool useSwitch : {false, true}) {
    const ArrayRuntime runtime(useSwitch);
    CHECK(runtime.runI64("sum", {Runtime::i64(0)}) == 0);
    CHECK(runtime.runI64("sum", {Runtime::i64(1)}) == 0);
    CHECK(runtime.runI64("sum", {Runtime::i64(1000)}) == 499500);

    const Ref<Value> rows = require(runtime.run("rows", {Runtime::i64(3), runtime.tensor({2}, {1, 2})}));
    CHECK(rowsIn(*rows) == Rows{{1, 2}, {1, 2}, {1, 2}});
    CHECK(rowsIn(*require(runtime.run("rows", {Runtime::i64(0), runtime.tensor({2}, {1, 2})}))).empty());
    CHECK(runtime.runI64("length", {rows}) == 3);
    CHECK(runtime.runI64("get_number", {runtime.numbers({4, 5, 6}), Runtime::i64(2)}) == 6);
    const Ref<Value> row = require(runtime.run("get", {runtime.rowsOf({{1}, {2, 3}, {}}), Runtime::i64(1)}));
    CHECK(elements<float>(*row) == std::vector<float>{2, 3});

    const Ref<Value> nested = require(runtime.run("nested", {Runtime::i64(3)}));
    REQUIRE(asArray(nested->object())->length == 3);
    CHECK(numbersIn(*elementOf(*nested, 0)) == std::vector<int64_t>{0});
    CHECK(numbersIn(*elementOf(*nested, 2)) == std::vector<int64_t>{0, 1, 2});
  }
}

TEST_CASE("an array that is still held does not change") {
  const ArrayRuntime runtime(GENERATE(false, true));
  const Ref<Value> numbers = runtime.numbers({1, 2, 3});
  const auto [before, after] = both(require(runtime.run("set", {numbers, Runtime::i64(1), Runtime::i64(9)})));
  CHECK(numbersIn(*before) == std::vector<int64_t>{1, 2, 3});
  CHECK(numbersIn(*after) == std::vector<int64_t>{1, 9, 3});
  CHECK(numbersIn(*numbers) == std::vector<int64_t>{1, 2, 3});

  const Ref<Value> rows = runtime.rowsOf({{1}, {2, 3}});
  const auto [shorter, longer] = both(require(runtime.run("push", {rows, runtime.tensor({1}, {7})})));
  CHECK(rowsIn(*shorter) == Rows{{1}, {2, 3}});
  CHECK(rowsIn(*longer) == Rows{{1}, {2, 3}, {7}});
  const auto [old, changed] =
      both(require(runtime.run("set_row", {rows, Runtime::i64(0), runtime.tensor({0}, {})})));
  CHECK(rowsIn(*old) == Rows{{1}, {2, 3}});
  CHECK(rowsIn(*changed) == Rows{{}, {2, 3}});
  CHECK(runtime.context->heap().inUseBytes() > 0);  // of the values that are held here
}

TEST_CASE("a hundred thousand pushes are made in place") {
  const ArrayRuntime runtime(GENERATE(false, true));
  constexpr int64_t kCount = 100000;
  runtime.runI64("sum", {Runtime::i64(10)});
  const Heap& heap = runtime.context->heap();
  const uint64_t before = runtime.context->memoryStatistics().allocationCount;
  runtime.context->heap().resetPeak();
  CHECK(runtime.runI64("sum", {Runtime::i64(kCount)}) == kCount * (kCount - 1) / 2);
  // Blocks double: a few dozen, and at most the old and the new one at once.
  CHECK(runtime.context->memoryStatistics().allocationCount - before < 40);
  CHECK(heap.peakInUseBytes() < uint64_t{8} * kCount * 4);
  CHECK(heap.inUseBytes() == 0);

  runtime.context->heap().resetPeak();
  const Ref<Value> rows = require(runtime.run("rows", {Runtime::i64(kCount), runtime.tensor({1}, {1})}));
  CHECK(asArray(rows->object())->length == kCount);
  CHECK(heap.peakInUseBytes() < uint64_t{8} * kCount * 4);
}

TEST_CASE("what leaves a context and is donated to it again is changed in place, elements of others or not") {
  const ArrayRuntime runtime(GENERATE(false, true));
  const Ref<Value> x = runtime.tensor({1}, {3});
  Ref<Value> rows = require(runtime.run("rows", {Runtime::i64(100), x}));
  const EntryPoint& entry = *runtime.executable->findEntryPoint("push");
  Call call(runtime.context, entry);
  ErrorDetails details;
  require(call.setInput(0, std::move(rows), true, details));
  require(call.setInput(1, x, false, details));
  require(call.advance(std::nullopt, details));
  const auto [before, after] = both(require(call.result()));
  CHECK(asArray(before->object())->length == 100);
  CHECK(asArray(after->object())->length == 101);
}

TEST_CASE("an index that is no element's is a program error with both numbers") {
  const ArrayRuntime runtime(GENERATE(false, true));
  const Ref<Value> numbers = runtime.numbers({1, 2, 3});
  const Ref<Value> rows = runtime.rowsOf({{1}});
  CHECK(messageOf(runtime.run("get_number", {numbers, Runtime::i64(3)})) ==
        "index 3 is outside of an array of length 3");
  CHECK(messageOf(runtime.run("get_number", {numbers, Runtime::i64(-1)})) ==
        "index -1 is outside of an array of length 3");
  CHECK(messageOf(runtime.run("get_number", {runtime.numbers({}), Runtime::i64(0)})) ==
        "index 0 is outside of an array of length 0");
  CHECK(messageOf(runtime.run("get", {rows, Runtime::i64(INT64_MIN)})) ==
        "index -9223372036854775808 is outside of an array of length 1");
  CHECK(messageOf(runtime.run("set", {numbers, Runtime::i64(3), Runtime::i64(0)})) ==
        "index 3 is outside of an array of length 3");
  CHECK(messageOf(runtime.run("set_row", {rows, Runtime::i64(1), runtime.tensor({1}, {0})})) ==
        "index 1 is outside of an array of length 1");
  CHECK(runtime.context->heap().inUseBytes() == 0);
}

TEST_CASE("a stack has the elements as rows, which must be alike") {
  const ArrayRuntime runtime(GENERATE(false, true));
  const auto any = Runtime::i64(-1);
  const Ref<Value> stack = require(runtime.run("stack", {runtime.rowsOf({{1, 2}, {3, 4}, {5, 6}}), any}));
  CHECK(std::vector<int64_t>(stack->extents().begin(), stack->extents().end()) == std::vector<int64_t>{3, 2});
  CHECK(elements<float>(*stack) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(messageOf(runtime.run("stack", {runtime.rowsOf({{1, 2}, {3}}), any})) ==
        "array_stack: element 1 has shape (1,), expected (2,)");
  CHECK(messageOf(runtime.run("stack", {runtime.rowsOf({{1, 2}}), Runtime::i64(3)})) ==
        "array_stack: element 0 has shape (2,), expected (3,)");
  const Ref<Value> empty = require(runtime.run("stack", {runtime.rowsOf({}), Runtime::i64(4)}));
  CHECK(std::vector<int64_t>(empty->extents().begin(), empty->extents().end()) == std::vector<int64_t>{0, 4});
  CHECK(messageOf(runtime.run("stack", {runtime.rowsOf({}), any})) ==
        "an array without elements does not tell dimension 0 of its elements, which is not known either");
  const Ref<Value> narrow = require(runtime.run("stack", {runtime.rowsOf({{}, {}}), any}));
  CHECK(std::vector<int64_t>(narrow->extents().begin(), narrow->extents().end()) ==
        std::vector<int64_t>{2, 0});
  CHECK(elements<int64_t>(*require(runtime.run("stack_numbers", {runtime.numbers({7, -8})}))) ==
        std::vector<int64_t>{7, -8});
  CHECK(require(runtime.run("stack_numbers", {runtime.numbers({})}))->extents()[0] == 0);
}

TEST_CASE("tensors come from arrays of their parts and go there") {
  const ArrayRuntime runtime(GENERATE(false, true));
  CHECK(elements<float>(*require(runtime.run("concat", {runtime.rowsOf({{1}, {}, {2, 3}})}))) ==
        std::vector<float>{1, 2, 3});
  CHECK(require(runtime.run("concat", {runtime.rowsOf({})}))->extents()[0] == 0);

  const Ref<Value> x = runtime.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(rowsIn(*require(runtime.run("unstack", {x}))) == Rows{{1, 2}, {3, 4}, {5, 6}});
  CHECK(rowsIn(*require(runtime.run("unstack", {runtime.tensor({0, 2}, {})}))).empty());

  const auto counts = [&](const std::vector<int32_t>& numbers) {
    const auto extent = static_cast<int64_t>(numbers.size());
    return require(
        makeTensor(*runtime.instance, DType::I32, {&extent, 1}, std::as_bytes(std::span(numbers))));
  };
  const Ref<Value> parts = require(runtime.run("split", {x, counts({2, 0, 1})}));
  CHECK(rowsIn(*parts) == Rows{{1, 2, 3, 4}, {}, {5, 6}});
  CHECK(elementOf(*parts, 1)->extents()[1] == 2);
  CHECK(messageOf(runtime.run("split", {x, counts({2})})) ==
        "array_split: the counts add up to 2, found 3 rows");
  CHECK(messageOf(runtime.run("split", {x, counts({4, -1})})) == "array_split: count 1 is -1");
  const Ref<Value> whole = require(runtime.run("concat_rows", {parts, Runtime::i64(-1)}));
  CHECK(elements<float>(*whole) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(messageOf(runtime.run(
            "concat_rows",
            {runtime.array(runtime.parameter("concat_rows", 0), {x, runtime.tensor({1, 3}, {1, 2, 3})}),
             Runtime::i64(-1)})) == "array_concat: element 1 has shape (1, 3), expected (?, 2)");
  CHECK(messageOf(runtime.run("concat_rows",
                              {runtime.array(runtime.parameter("concat_rows", 0), {}), Runtime::i64(-1)})) ==
        "an array without elements does not tell dimension 1 of its elements, which is not known either");
}

TEST_CASE("arrays as values: made, compared, written and read") {
  const ArrayRuntime runtime(GENERATE(false, true));
  const TypeInfo& type = runtime.parameter("set", 0);
  CHECK(type.kind == TypeKind::Array);
  CHECK(type.text == "Array[int64]");
  CHECK(type.element().kind == TypeKind::Scalar);
  const Ref<Value> numbers = runtime.numbers({1, 2});
  CHECK(isEqual(*numbers, *runtime.numbers({1, 2})));
  CHECK_FALSE(isEqual(*numbers, *runtime.numbers({1})));
  CHECK_FALSE(isEqual(*numbers, *runtime.numbers({1, 3})));
  CHECK(isEqual(*runtime.numbers({}), *runtime.numbers({})));
  CHECK_FALSE(isEqual(*runtime.rowsOf({{1}}), *runtime.rowsOf({{1, 2}})));
  CHECK(isEqual(*runtime.rowsOf({{1}, {}}), *runtime.rowsOf({{1}, {}})));

  const TextValue text = require(toText(*numbers));
  CHECK(isEqual(*require(fromText(*runtime.instance, &type, text)), *numbers));
  const Ref<Value> nested = require(runtime.run("nested", {Runtime::i64(4)}));
  const TextValue nestedText = require(toText(*nested));
  CHECK(isEqual(*require(fromText(*runtime.instance, nested->type(), nestedText)), *nested));

  const Ref<Value> wrong = runtime.tensor({1}, {1});
  Value* pointer = wrong.get();
  const auto refused = makeArray(*runtime.instance, type, {&pointer, 1});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.assume_error().message() == "element 0: found float32 of shape (1,), expected int64");
}

TEST_CASE("arrays in the heap are freed without recursion, shared whole, and may end cycles") {
  PlainAllocator allocator;
  NoOwner owner;
  Heap* heap = std::move(Heap::create(allocator, allocator, owner)).assume_value();
  Object* inner = heap->allocateArray(true, 1);
  for (int i = 0; i < 1000000; ++i) {
    vm::Array* outer = heap->allocateArray(true, 1);
    outer->references()[outer->length++] = inner;
    inner = outer;
  }
  heap->release(inner);
  CHECK(heap->inUseBytes() == 0);

  vm::Array* large = heap->allocateArray(true, 10000);
  CHECK(large->blockBytes == 80000);
  for (int i = 0; i < 10000; ++i)
    large->references()[large->length++] = heap->allocateRecord(ObjectKind::Adt, 0, 0, 1);
  Object* root = large;
  CHECK(share(*heap, root, nullptr) == ShareOutcome::Done);
  for (Object* element : large->slotSpan()) REQUIRE(element->isShared());
  CHECK(heap->makePrivate(large));
  CHECK_FALSE(large->isShared());
  heap->release(large);
  CHECK(heap->inUseBytes() == 0);

  vm::Array* holder = heap->allocateArray(true, 2);
  holder->references()[holder->length++] = heap->allocateRecord(ObjectKind::Adt, 0, 0, 1);
  holder->references()[holder->length++] = heap->allocateCell(false);
  root = holder;
  std::vector<uint32_t> path;
  CHECK(share(*heap, root, nullptr, &path) == ShareOutcome::HoldsCell);
  CHECK(path == std::vector<uint32_t>{1});
  heap->release(holder);
  CHECK(heap->cells() == nullptr);
  CHECK(heap->inUseBytes() == 0);

  // A cell and the array in it hold each other.
  vm::Array* round = heap->allocateArray(true, 1);
  Cell* cell = heap->allocateCell(true);
  round->references()[round->length++] = cell;
  cell->reference = round;
  CHECK(heap->inUseBytes() > 0);
  // An empty one that somebody holds stays.
  Cell* empty = heap->allocateCell(true);
  empty->reference = nullptr;
  collectCycles(*heap);
  CHECK(heap->cells() == empty);
  heap->release(empty);
  CHECK(heap->inUseBytes() == 0);

  // What is left goes with the heap, blocks of arrays included.
  vm::Array* left = heap->allocateArray(false, 5000);
  left->length = 5000;
  heap->abandon();
  CHECK(allocator.openBytes == 0);
}

TEST_CASE("the n-th request for memory of a program on arrays fails cleanly") {
  bool isDone = false;
  for (uint64_t n = 1; !isDone; ++n) {
    REQUIRE(n < 5000);
    InstanceOptions options;
    options.threads.threadCount = 1;
    options.memory.kind = Memory::Kind::System;
    const Ref<Instance> instance = require(Instance::create(std::move(options)));
    {
      const Runtime runtime(kArrays, {}, instance);
      const Ref<Value> x = runtime.tensor({3000, 2}, std::vector<float>(6000, 2));
      instance->memory().failing().refuse(n);
      const auto attempt = [&]() -> Result<void> {
        BATON_TRY_ASSIGN(const Ref<Value> rows, runtime.run("unstack", {x}));
        BATON_TRY_ASSIGN(const Ref<Value> pair, runtime.run("push", {rows, elementOf(*rows, 0)}));
        BATON_TRY_ASSIGN(const Ref<Value> stack, runtime.run("stack", {fieldOf(*pair, 1), Runtime::i64(-1)}));
        CHECK(stack->extents()[0] == 3001);
        BATON_TRY_ASSIGN(const Ref<Value> sum, runtime.run("sum", {Runtime::i64(5000)}));
        CHECK(element<int64_t>(*sum) == 12497500);
        return success();
      };
      const Result<void> result = attempt();
      isDone = result.has_value();
      if (!isDone) {
        CHECK(result.assume_error().code() == ErrorCode::OutOfMemory);
        instance->memory().failing().refuse(0);
        require(attempt());
      }
    }
    instance->trim();
    CHECK(instance->memory().statistics().inUseBytes == 0);
  }
}

TEST_CASE("a memory limit ends the growth of an array, and the next call works") {
  const ArrayRuntime runtime(GENERATE(false, true));
  const auto failed = runtime.run("sum", {Runtime::i64(100000)}, {.memoryBytes = 500000});
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.assume_error().code() == ErrorCode::LimitReached);
  CHECK(runtime.context->heap().inUseBytes() == 0);
  CHECK(runtime.runI64("sum", {Runtime::i64(1000)}, {.memoryBytes = 500000}) == 499500);
}
