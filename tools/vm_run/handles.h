// Owners of the C API's handles, and its statuses as Errors.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "baton/baton.h"

namespace baton::tools {

struct ReleaseHandle {
  void operator()(baton_instance* instance) const { baton_instance_release(instance); }
  void operator()(baton_executable* executable) const { baton_executable_release(executable); }
  void operator()(baton_context* context) const { baton_context_release(context); }
  void operator()(baton_call* call) const { baton_call_release(call); }
  void operator()(baton_value* value) const { baton_value_release(value); }
  void operator()(char* text) const { baton_string_release(text); }
};
using Instance = std::unique_ptr<baton_instance, ReleaseHandle>;
using Executable = std::unique_ptr<baton_executable, ReleaseHandle>;
using Context = std::unique_ptr<baton_context, ReleaseHandle>;
using Call = std::unique_ptr<baton_call, ReleaseHandle>;
using Value = std::unique_ptr<baton_value, ReleaseHandle>;

/// Takes the status over: success for NULL, else an Error with code, message and frames.
Result<void> check(baton_status* status);

/// `value` as text; tensors beyond `elementLimit` elements (0: none) are cut.
Result<std::string> formatValue(const baton_value* value, size_t elementLimit);

}  // namespace baton::tools
