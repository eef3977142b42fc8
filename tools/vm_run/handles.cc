#include "tools/vm_run/handles.h"

namespace baton::tools {

Result<void> check(baton_status* status) {
  if (status == nullptr) return success();
  Error error(static_cast<ErrorCode>(baton_status_code(status)), baton_status_message(status));
  for (size_t i = 0; i < baton_status_frame_count(status); ++i) {
    baton_frame frame = BATON_FRAME_INIT;
    baton_status_frame(status, i, &frame);
    error.at({frame.function, frame.pc, frame.file, frame.line, frame.column});
  }
  baton_status_release(status);
  return error;
}

Result<std::string> formatValue(const baton_value* value, size_t elementLimit) {
  char* text = nullptr;
  size_t length = 0;
  BATON_TRY(check(baton_value_format(value, elementLimit, &text, &length)));
  const std::unique_ptr<char, ReleaseHandle> owned(text);
  return std::string(text, length);
}

}  // namespace baton::tools
