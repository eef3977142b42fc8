// Handles that release themselves, and checks that show an error's text.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "tests/capi/programs.h"

namespace baton::test {

struct Releaser {
  void operator()(baton_instance* p) const { baton_instance_release(p); }
  void operator()(baton_executable* p) const { baton_executable_release(p); }
  void operator()(baton_context* p) const { baton_context_release(p); }
  void operator()(baton_call* p) const { baton_call_release(p); }
  void operator()(baton_value* p) const { baton_value_release(p); }
  void operator()(baton_status* p) const { baton_status_release(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Releaser>;

inline void ok(baton_status* status) {
  const Owned<baton_status> owned(status);
  if (status) FAIL(baton_status_description(status));
}
/// A failure that was expected.
struct Failure {
  explicit Failure(baton_status* s) : status(s) { REQUIRE(status != nullptr); }
  baton_code code() const { return baton_status_code(status.get()); }
  std::string message() const { return baton_status_message(status.get()); }
  std::string detail(const char* key) const {
    const char* found = baton_status_detail(status.get(), key);
    return found ? found : "(none)";
  }
  Owned<baton_status> status;
};

struct Api {
  explicit Api(std::string_view program = kProgram,
               baton_context_options contextOptions = BATON_CONTEXT_OPTIONS_INIT) {
    baton_instance_options options = BATON_INSTANCE_OPTIONS_INIT;
    options.thread_count = 1;
    baton_instance* madeInstance = nullptr;
    ok(baton_instance_create(&options, &madeInstance));
    instance.reset(madeInstance);
    const std::vector<std::byte> bytes = assemble(program);
    baton_executable* loaded = nullptr;
    ok(baton_executable_load_memory(madeInstance, bytes.data(), bytes.size(), nullptr, &loaded));
    executable.reset(loaded);
    baton_context* madeContext = nullptr;
    ok(baton_context_create(loaded, &contextOptions, &madeContext));
    context.reset(madeContext);
  }

  const baton_function* function(const char* name) const {
    const baton_function* found = baton_executable_find_function(executable.get(), name);
    REQUIRE(found != nullptr);
    return found;
  }
  Owned<baton_value> parse(const std::string& text, const baton_type* type = nullptr) const {
    baton_value* value = nullptr;
    ok(baton_value_parse(instance.get(), type, text.data(), text.size(), nullptr, &value));
    return Owned<baton_value>(value);
  }
  static std::string format(const baton_value* value) {
    char* text = nullptr;
    ok(baton_value_format(value, 0, &text, nullptr));
    std::string copy = text;
    baton_string_release(text);
    return copy;
  }
  Owned<baton_call> call(const char* name) const {
    baton_call* made = nullptr;
    ok(baton_call_create(context.get(), function(name), &made));
    return Owned<baton_call>(made);
  }
  /// Inputs as text, the result as text.
  std::string run(const char* name, const std::vector<std::string>& inputs) const {
    const Owned<baton_call> made = call(name);
    for (size_t i = 0; i < inputs.size(); ++i)
      ok(baton_call_set_input(made.get(), i,
                              parse(inputs[i], baton_function_parameter_type(function(name), i)).get()));
    ok(baton_call_run(made.get()));
    baton_value* result = nullptr;
    ok(baton_call_result(made.get(), &result));
    return format(Owned<baton_value>(result).get());
  }
  Failure fail(const char* name, const std::vector<std::string>& inputs) const {
    const Owned<baton_call> made = call(name);
    for (size_t i = 0; i < inputs.size(); ++i) {
      baton_value* value = nullptr;
      const baton_type* type = baton_function_parameter_type(function(name), i);
      const bool isData = baton_type_kind(type) == BATON_ADT || baton_type_kind(type) == BATON_TUPLE ||
                          baton_type_kind(type) == BATON_ARRAY;
      ok(baton_value_parse(instance.get(), isData ? type : nullptr, inputs[i].data(), inputs[i].size(),
                           nullptr, &value));
      const Owned<baton_value> owned(value);
      if (baton_status* status = baton_call_set_input(made.get(), i, value)) return Failure(status);
    }
    return Failure(baton_call_run(made.get()));
  }

  Owned<baton_instance> instance;
  Owned<baton_executable> executable;
  Owned<baton_context> context;
};

}  // namespace baton::test
