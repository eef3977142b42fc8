// Inside of the C interface: handles are the runtime's own objects, errors become statuses,
// and no exception gets out.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "baton/baton.h"
#include "vm/call.h"
#include "vm/value.h"

struct baton_call {
  baton_call(baton::vm::Ref<baton::vm::Context> context, const baton::vm::EntryPoint& entry)
      : call(std::move(context), entry) {}
  baton::vm::Call call;
  std::vector<baton::ProgramLocation> frames;  // as baton_call_frame_count found them
};

namespace baton::vm::capi {

inline const Instance* unwrap(const baton_instance* handle) {
  return reinterpret_cast<const Instance*>(handle);
}
inline Instance* unwrap(baton_instance* handle) { return reinterpret_cast<Instance*>(handle); }
inline const Executable* unwrap(const baton_executable* handle) {
  return reinterpret_cast<const Executable*>(handle);
}
inline const EntryPoint* unwrap(const baton_function* handle) {
  return reinterpret_cast<const EntryPoint*>(handle);
}
inline const TypeInfo* unwrap(const baton_type* handle) { return reinterpret_cast<const TypeInfo*>(handle); }
inline const Value* unwrap(const baton_value* handle) { return reinterpret_cast<const Value*>(handle); }
inline Value* unwrap(baton_value* handle) { return reinterpret_cast<Value*>(handle); }
inline const Context* unwrap(const baton_context* handle) { return reinterpret_cast<const Context*>(handle); }
inline Context* unwrap(baton_context* handle) { return reinterpret_cast<Context*>(handle); }

inline const baton_type* wrap(const TypeInfo& type) { return reinterpret_cast<const baton_type*>(&type); }
inline const baton_function* wrap(const EntryPoint& entry) {
  return reinterpret_cast<const baton_function*>(&entry);
}
/// Gives the reference to the caller.
template <class Handle, class T>
Handle* give(Ref<T> object) {
  return reinterpret_cast<Handle*>(const_cast<std::remove_const_t<T>*>(object.detach()));
}

/// Never null: without memory for it, a status that says so and is not released.
baton_status* makeStatus(Error error, const ErrorDetails& details = {}) noexcept;
baton_status* outOfMemoryStatus() noexcept;

/// Runs `f`, which returns Result<void>; what goes wrong becomes a status.
template <class F>
baton_status* guarded(F&& f) noexcept {
  try {
    Result<void> result = f();
    return result.has_value() ? nullptr : makeStatus(std::move(result).assume_error());
  } catch (const std::bad_alloc&) {
    return outOfMemoryStatus();
  } catch (const std::exception& failure) {
    return makeStatus(Error(ErrorCode::Internal, failure.what()));
  }
}
/// With details of the error, which `f` fills in.
template <class F>
baton_status* guardedWithDetails(F&& f) noexcept {
  try {
    ErrorDetails details;
    Result<void> result = f(details);
    return result.has_value() ? nullptr : makeStatus(std::move(result).assume_error(), details);
  } catch (const std::bad_alloc&) {
    return outOfMemoryStatus();
  } catch (const std::exception& failure) {
    return makeStatus(Error(ErrorCode::Internal, failure.what()));
  }
}

/// For functions that cannot fail otherwise: `f`, or `fallback` without memory.
template <class T, class F>
T guardedOr(T fallback, F&& f) noexcept {
  try {
    return f();
  } catch (const std::exception&) {
    return fallback;
  }
}

inline Error missing(const char* what) {
  return Error(ErrorCode::InvalidArgument, std::string(what) + " is NULL");
}

/// Options as the caller knows them over the defaults: what an older caller lacks keeps its default.
template <class T>
T readOptions(const T* given, T options) {
  if (!given) return options;
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(T)));
  options.struct_size = sizeof(T);
  return options;
}

/// Fills in what the caller has room for.
template <class T>
void writeStruct(T* out, T filled) {
  const size_t size = std::min(out->struct_size, sizeof(T));
  filled.struct_size = out->struct_size;
  std::memcpy(out, &filled, size);
}

inline void writeStatistics(const MemoryStatistics& from, baton_memory_statistics* out) {
  writeStruct(out, {sizeof(baton_memory_statistics), from.inUseBytes, from.reservedBytes, from.peakInUseBytes,
                    from.peakReservedBytes, from.allocationCount, from.releaseCount,
                    from.systemAllocationCount, from.cacheHitCount});
}

inline void writeFrame(const ProgramLocation& from, baton_frame* out) {
  writeStruct(
      out, {sizeof(baton_frame), from.function.c_str(), from.pc, from.file.c_str(), from.line, from.column});
}

}  // namespace baton::vm::capi
