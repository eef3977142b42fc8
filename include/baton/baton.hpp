// The runtime for C++ programs: thin owners of the handles of baton.h, nothing else. Errors
// are thrown as baton::api::Error; the library itself throws nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "baton/baton.h"

namespace baton::api {

/// A frame of the program that was running when an error occurred.
struct Frame {
  std::string function;
  uint32_t pc = 0;
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// what() is the whole description; the parts are there too.
class Error : public std::runtime_error {
 public:
  explicit Error(const baton_status* status)
      : std::runtime_error(baton_status_description(status)),
        code_(baton_status_code(status)),
        message_(baton_status_message(status)) {
    for (size_t i = 0; i < baton_status_frame_count(status); ++i) {
      baton_frame frame = BATON_FRAME_INIT;
      baton_status_frame(status, i, &frame);
      frames_.push_back({frame.function, frame.pc, frame.file, frame.line, frame.column});
    }
  }
  baton_code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::vector<Frame>& frames() const { return frames_; }

 private:
  baton_code code_;
  std::string message_;
  std::vector<Frame> frames_;
};

/// Throws what a function of the C interface returned, if it is an error.
inline void check(baton_status* status) {
  if (!status) return;
  const std::unique_ptr<baton_status, void (*)(baton_status*)> owned(status, &baton_status_release);
  throw Error(status);
}

/// A counted handle: copies share.
template <class Handle, void (*kRetain)(Handle*), void (*kRelease)(Handle*)>
class Shared {
 public:
  Shared() = default;
  /// Takes over the caller's reference.
  explicit Shared(Handle* handle) : handle_(handle) {}
  Shared(const Shared& other) : handle_(other.handle_) { kRetain(handle_); }
  Shared(Shared&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Shared() { kRelease(handle_); }

  Handle* get() const { return handle_; }
  /// Gives the reference to the caller.
  Handle* release() { return std::exchange(handle_, nullptr); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle* handle_ = nullptr;
};

/// The dtype of a C++ element type.
template <class T>
constexpr baton_dtype dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return BATON_BOOL;
  else if constexpr (std::is_same_v<T, float>)
    return BATON_F32;
  else if constexpr (std::is_same_v<T, double>)
    return BATON_F64;
  else {
    static_assert(std::is_integral_v<T>, "no dtype for this type");
    constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<baton_dtype>((std::is_signed_v<T> ? BATON_I8 : BATON_U8) + kLog);
  }
}

class Instance : public Shared<baton_instance, &baton_instance_retain, &baton_instance_release> {
 public:
  using Shared::Shared;
  static Instance create(const baton_instance_options& options = BATON_INSTANCE_OPTIONS_INIT) {
    baton_instance* made = nullptr;
    check(baton_instance_create(&options, &made));
    return Instance(made);
  }
  baton_memory_statistics memoryStatistics() const {
    baton_memory_statistics statistics = BATON_MEMORY_STATISTICS_INIT;
    baton_instance_memory_statistics(get(), &statistics);
    return statistics;
  }
  void trim() const { baton_instance_trim(get()); }
};

class Value : public Shared<baton_value, &baton_value_retain, &baton_value_release> {
 public:
  using Shared::Shared;

  template <class T>
  static Value tensor(const Instance& instance, const std::vector<int64_t>& extents,
                      const std::vector<T>& data) {
    if constexpr (std::is_same_v<T, bool>) {
      // A vector<bool> holds bits, a tensor bytes.
      const std::vector<uint8_t> bytes(data.begin(), data.end());
      return tensor(instance, extents, dtypeOf<bool>(), bytes.data(), bytes.size());
    } else {
      return tensor(instance, extents, dtypeOf<T>(), data.data(), data.size() * sizeof(T));
    }
  }
  /// Of any element type: copies the bytes, row-major.
  static Value tensor(const Instance& instance, const std::vector<int64_t>& extents, baton_dtype dtype,
                      const void* data, size_t sizeBytes) {
    baton_value* made = nullptr;
    check(baton_value_create_tensor(instance.get(), dtype, extents.size(), extents.data(), data, sizeBytes,
                                    &made));
    return Value(made);
  }
  template <class T>
  static Value scalar(const Instance& instance, T value) {
    baton_value* made = nullptr;
    check(baton_value_create_scalar(instance.get(), dtypeOf<T>(), &value, &made));
    return Value(made);
  }
  /// Takes the tensor over.
  static Value fromDlpack(const Instance& instance, DLManagedTensorVersioned* tensor) {
    baton_value* made = nullptr;
    check(baton_value_from_dlpack(instance.get(), tensor, &made));
    return Value(made);
  }
  static Value parse(const Instance& instance, std::string_view text, const baton_type* type = nullptr,
                     const baton_file_source* files = nullptr) {
    baton_value* made = nullptr;
    check(baton_value_parse(instance.get(), type, text.data(), text.size(), files, &made));
    return Value(made);
  }
  static Value data(const Instance& instance, const baton_type* type, size_t constructor,
                    const std::vector<Value>& fields) {
    baton_value* made = nullptr;
    const std::vector<baton_value*> handles = handlesOf(fields);
    check(baton_value_create_adt(instance.get(), type, constructor, handles.data(), handles.size(), &made));
    return Value(made);
  }
  static Value list(const Instance& instance, const baton_type* type, const std::vector<Value>& items) {
    baton_value* made = nullptr;
    const std::vector<baton_value*> handles = handlesOf(items);
    check(baton_value_create_list(instance.get(), type, handles.data(), handles.size(), &made));
    return Value(made);
  }
  static Value array(const Instance& instance, const baton_type* type, const std::vector<Value>& elements) {
    baton_value* made = nullptr;
    const std::vector<baton_value*> handles = handlesOf(elements);
    check(baton_value_create_array(instance.get(), type, handles.data(), handles.size(), &made));
    return Value(made);
  }

  baton_kind kind() const { return baton_value_kind(get()); }
  baton_dtype dtype() const { return baton_value_dtype(get()); }
  std::vector<int64_t> extents() const {
    const int64_t* first = baton_value_extents(get());
    return {first, first + baton_value_rank(get())};
  }
  /// The elements of a tensor or scalar; an error when they are of another type.
  template <class T>
  std::vector<T> elements() const {
    if (kind() != BATON_TENSOR && kind() != BATON_SCALAR)
      throw std::invalid_argument("the value is no tensor");
    if (dtype() != dtypeOf<T>())
      throw std::invalid_argument(std::string("the elements are of type ") + baton_dtype_name(dtype()));
    const T* first = static_cast<const T*>(baton_value_data(get()));
    return std::vector<T>(first, first + baton_value_size_bytes(get()) / sizeof(T));
  }
  std::string constructor() const {
    const char* name = baton_value_constructor_name(get());
    return name ? name : "";
  }
  size_t fieldCount() const { return baton_value_field_count(get()); }
  Value field(size_t index) const {
    baton_value* made = nullptr;
    check(baton_value_field(get(), index, &made));
    return Value(made);
  }
  /// Of an array; 0 for other values.
  size_t length() const { return baton_value_length(get()); }
  /// Of an array.
  Value element(size_t index) const {
    baton_value* made = nullptr;
    check(baton_value_element(get(), index, &made));
    return Value(made);
  }
  /// The caller calls the deleter.
  DLManagedTensorVersioned* toDlpack() const {
    DLManagedTensorVersioned* made = nullptr;
    check(baton_value_to_dlpack(get(), &made));
    return made;
  }
  std::string format(size_t elementLimit = 0) const {
    char* text = nullptr;
    size_t length = 0;
    check(baton_value_format(get(), elementLimit, &text, &length));
    const std::unique_ptr<char, void (*)(char*)> owned(text, &baton_string_release);
    return std::string(text, length);
  }
  friend bool operator==(const Value& a, const Value& b) { return baton_value_equal(a.get(), b.get()) != 0; }

 private:
  static std::vector<baton_value*> handlesOf(const std::vector<Value>& values) {
    std::vector<baton_value*> handles;
    for (const Value& value : values) handles.push_back(value.get());
    return handles;
  }
};

class Executable : public Shared<baton_executable, &baton_executable_retain, &baton_executable_release> {
 public:
  using Shared::Shared;
  static Executable load(const Instance& instance, const std::string& path,
                         const baton_load_options& options = BATON_LOAD_OPTIONS_INIT) {
    baton_executable* loaded = nullptr;
    check(baton_executable_load_file(instance.get(), path.c_str(), &options, &loaded));
    return Executable(loaded);
  }
  static Executable load(const Instance& instance, const void* data, size_t size,
                         const baton_load_options& options = BATON_LOAD_OPTIONS_INIT) {
    baton_executable* loaded = nullptr;
    check(baton_executable_load_memory(instance.get(), data, size, &options, &loaded));
    return Executable(loaded);
  }
  /// Null when there is none of this name; lives as long as the executable.
  const baton_function* find(const std::string& name) const {
    return baton_executable_find_function(get(), name.c_str());
  }
};

/// One thread at a time.
class Context {
 public:
  explicit Context(const Executable& executable,
                   const baton_context_options& options = BATON_CONTEXT_OPTIONS_INIT)
      : executable_(executable) {
    baton_context* made = nullptr;
    check(baton_context_create(executable.get(), &options, &made));
    context_.reset(made);
  }
  baton_context* get() const { return context_.get(); }
  const Executable& executable() const { return executable_; }

 private:
  struct Releaser {
    void operator()(baton_context* context) const { baton_context_release(context); }
  };
  Executable executable_;
  std::unique_ptr<baton_context, Releaser> context_;
};

/// One invocation of an entry point.
class Call {
 public:
  /// Throws std::invalid_argument when the executable has no such function.
  Call(const Context& context, const std::string& function) {
    const baton_function* found = context.executable().find(function);
    if (!found) throw std::invalid_argument("no function @" + function);
    baton_call* made = nullptr;
    check(baton_call_create(context.get(), found, &made));
    call_.reset(made);
  }
  baton_call* get() const { return call_.get(); }

  Call& set(size_t index, const Value& value) {
    check(baton_call_set_input(get(), index, value.get()));
    return *this;
  }
  Call& set(const std::string& name, const Value& value) {
    check(baton_call_set_input_by_name(get(), name.c_str(), value.get()));
    return *this;
  }
  /// The program may update the value in place if nobody else holds it.
  Call& donate(size_t index, Value value) {
    check(baton_call_donate_input(get(), index, value.get()));
    static_cast<void>(value.release());
    return *this;
  }
  Call& limit(const baton_call_limits& limits) {
    check(baton_call_set_limits(get(), &limits));
    return *this;
  }
  /// Runs to the end and gives the result.
  Value run() {
    check(baton_call_run(get()));
    return result();
  }
  baton_call_state step(uint64_t instructionCount) {
    baton_call_state state = BATON_CALL_READY;
    check(baton_call_step(get(), instructionCount, &state));
    return state;
  }
  baton_call_state resume() {
    baton_call_state state = BATON_CALL_READY;
    check(baton_call_resume(get(), &state));
    return state;
  }
  void suspend() { baton_call_suspend(get()); }
  void cancel() { baton_call_cancel(get()); }
  void reset() { baton_call_reset(get()); }
  baton_call_state state() const { return baton_call_get_state(get()); }
  Value result() const {
    baton_value* value = nullptr;
    check(baton_call_result(get(), &value));
    return Value(value);
  }

 private:
  struct Releaser {
    void operator()(baton_call* call) const { baton_call_release(call); }
  };
  std::unique_ptr<baton_call, Releaser> call_;
};

/// Inputs in, result out.
inline Value run(const Context& context, const std::string& function, const std::vector<Value>& inputs) {
  Call call(context, function);
  for (size_t i = 0; i < inputs.size(); ++i) call.set(i, inputs[i]);
  return call.run();
}

}  // namespace baton::api
