#include <algorithm>
#include <cstdlib>

#include "vm/capi/handles.h"

using namespace baton;
using namespace baton::vm;
using namespace baton::vm::capi;

struct baton_status {
  Error error;
  std::string description;
  ErrorDetails details;
};

namespace {
/// The one status that needs no memory is told by its address.
constinit char noMemory = 0;

bool isNoMemory(const baton_status* status) { return reinterpret_cast<const char*>(status) == &noMemory; }
const baton_status* real(const baton_status* status) {
  return status && !isNoMemory(status) ? status : nullptr;
}
}  // namespace

namespace baton::vm::capi {

baton_status* outOfMemoryStatus() noexcept { return reinterpret_cast<baton_status*>(&noMemory); }

baton_status* makeStatus(Error error, const ErrorDetails& details) noexcept {
  try {
    std::string description = error.describe();
    return new baton_status{std::move(error), std::move(description), details};
  } catch (const std::exception&) {
    return outOfMemoryStatus();
  }
}

}  // namespace baton::vm::capi

extern "C" {

const char* baton_version(void) { return "0.1.0"; }

baton_code baton_status_code(const baton_status* status) {
  if (isNoMemory(status)) return BATON_OUT_OF_MEMORY;
  return status ? static_cast<baton_code>(status->error.code()) : BATON_OK;
}

const char* baton_code_name(baton_code code) {
  return code == BATON_OK ? "ok" : errorCodeName(static_cast<ErrorCode>(code));
}

const char* baton_status_message(const baton_status* status) {
  if (isNoMemory(status)) return "out of memory";
  return status ? status->error.message().c_str() : "";
}

const char* baton_status_description(const baton_status* status) {
  if (isNoMemory(status)) return "out of memory";
  return status ? status->description.c_str() : "";
}

const char* baton_status_detail(const baton_status* status, const char* key) {
  if (!real(status) || !key) return nullptr;
  const auto found = std::ranges::find(status->details, key, &std::pair<std::string, std::string>::first);
  return found == status->details.end() ? nullptr : found->second.c_str();
}

size_t baton_status_frame_count(const baton_status* status) {
  return real(status) ? status->error.programTrail().size() : 0;
}

void baton_status_frame(const baton_status* status, size_t index, baton_frame* frame) {
  if (!frame || index >= baton_status_frame_count(status)) return;
  writeFrame(status->error.programTrail()[index], frame);
}

void baton_status_release(baton_status* status) {
  if (real(status)) delete status;
}

void baton_string_release(char* text) { std::free(text); }

}  // extern "C"
