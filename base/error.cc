#include "base/error.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace baton {

const char* errorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument: return "invalid argument";
    case ErrorCode::Io: return "i/o error";
    case ErrorCode::Malformed: return "malformed input";
    case ErrorCode::Incompatible: return "incompatible";
    case ErrorCode::VerifyFailed: return "verification failed";
    case ErrorCode::OutOfMemory: return "out of memory";
    case ErrorCode::LimitReached: return "limit reached";
    case ErrorCode::DeadlineExceeded: return "deadline exceeded";
    case ErrorCode::Cancelled: return "cancelled";
    case ErrorCode::ProgramError: return "program error";
    case ErrorCode::CompileError: return "compile error";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Internal: return "internal error";
  }
  return "unknown error";
}

Error::Error(ErrorCode code, std::string message, std::source_location where)
    : payload_(new Payload{code, std::move(message), {}, {where}}) {}

Error& Error::passed(std::source_location where) & {
  payload_->trail.push_back(where);
  return *this;
}

Error& Error::at(ProgramLocation location) & {
  payload_->programTrail.push_back(std::move(location));
  return *this;
}

Error Error::withContext(const std::string& context) && {
  payload_->message = context + ": " + payload_->message;
  return std::move(*this);
}

Error Error::clone() const {
  Error copy;
  copy.payload_ = std::make_unique<Payload>(*payload_);
  return copy;
}

std::string Error::describe() const {
  std::string text = fmt::format("{}: {}", errorCodeName(code()), message());
  const std::vector<ProgramLocation>& frames = programTrail();
  for (size_t i = 0; i < frames.size();) {
    const ProgramLocation& frame = frames[i];
    if (frame.file.empty())
      text += fmt::format("\n  in @{} at pc {}", frame.function, frame.pc);
    else
      text += fmt::format("\n  in @{} at {}:{}:{}", frame.function, frame.file, frame.line, frame.column);
    // Recursion that went deep is one line.
    size_t same = 1;
    while (i + same < frames.size() && frames[i + same].function == frame.function &&
           frames[i + same].pc == frame.pc)
      ++same;
    if (same > 1) text += fmt::format(", {} frames", same);
    i += same;
  }
  return text;
}

void checkFailed(const char* condition, std::source_location where) {
  std::fprintf(stderr, "baton: internal check failed: %s (%s:%u)\n", condition, where.file_name(),
               where.line());
  std::abort();
}

}  // namespace baton
