// A program from text, loaded and ready to be called, for tests at the level of calls.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/vmasm/parser.h"
#include "vm/call.h"
#include "vm/value_data.h"

namespace baton::vm::test {

/// The value, or a test failure with the error's description.
template <class T>
T require(Result<T> result) {
  if (!result.has_value()) FAIL(result.assume_error().describe());
  return std::move(result).assume_value();
}
inline void require(Result<void> result) {
  if (!result.has_value()) FAIL(result.assume_error().describe());
}

inline Ref<Instance> makeInstance(Memory::Kind kind = Memory::Kind::Pool) {
  InstanceOptions options;
  options.threads.threadCount = 1;
  options.memory.kind = kind;
  return require(Instance::create(std::move(options)));
}

inline bytecode::Program parse(std::string_view text) {
  return require(bytecode::parseVmasm(std::string("vmasm 1\nmeta {\n}\n") + std::string(text)));
}

/// The message of a program error.
inline std::string messageOf(const Result<Ref<Value>>& result) {
  REQUIRE_FALSE(result.has_value());
  CHECK(result.assume_error().code() == ErrorCode::ProgramError);
  return result.assume_error().message();
}

/// Reads one element of a tensor or scalar.
template <class T>
T element(const Value& value, size_t index = 0) {
  T result;
  std::memcpy(&result, static_cast<const std::byte*>(value.elements()) + index * sizeof(T), sizeof(T));
  return result;
}

template <class T>
std::vector<T> elements(const Value& value) {
  std::vector<T> result(value.sizeBytes() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), value.elements(), value.sizeBytes());
  return result;
}

struct Runtime {
  explicit Runtime(std::string_view text, ContextOptions contextOptions = {}, Ref<Instance> given = {})
      : instance(given ? given : makeInstance()),
        executable(require(Executable::load(instance, parse(text)))),
        context(require(Context::create(executable, contextOptions))) {}

  Ref<Value> tensor(std::vector<int64_t> extents, const std::vector<float>& data) const {
    Object* object = require(instance->values().make([&](Heap& heap) -> Object* {
      Tensor* made = heap.allocateTensor(DType::F32, 0, extents, data.size() * sizeof(float));
      if (made && !data.empty()) std::memcpy(made->data, data.data(), data.size() * sizeof(float));
      return made;
    }));
    return Value::tensor(object);
  }
  static Ref<Value> i64(int64_t value) { return Value::scalar(DType::I64, static_cast<uint64_t>(value)); }

  std::unique_ptr<Call> call(std::string_view entry, const std::vector<Ref<Value>>& inputs = {},
                             const CallLimits& limits = {}) const {
    const EntryPoint* point = executable->findEntryPoint(entry);
    REQUIRE(point != nullptr);
    auto made = std::make_unique<Call>(context, *point);
    ErrorDetails details;
    for (size_t i = 0; i < inputs.size(); ++i) require(made->setInput(i, inputs[i], false, details));
    require(made->setLimits(limits));
    return made;
  }
  Result<Ref<Value>> run(std::string_view entry, const std::vector<Ref<Value>>& inputs = {},
                         const CallLimits& limits = {}) const {
    const std::unique_ptr<Call> made = call(entry, inputs, limits);
    ErrorDetails details;
    BATON_TRY(made->advance(std::nullopt, details));
    return made->result();
  }
  int64_t runI64(std::string_view entry, const std::vector<Ref<Value>>& inputs = {},
                 const CallLimits& limits = {}) const {
    return element<int64_t>(*require(run(entry, inputs, limits)));
  }

  Ref<Instance> instance;
  Ref<Executable> executable;
  Ref<Context> context;
};

}  // namespace baton::vm::test
