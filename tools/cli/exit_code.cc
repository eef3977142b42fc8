#include "tools/cli/exit_code.h"

namespace baton::tools {

ExitCode exitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::ProgramError:
    case ErrorCode::CompileError: return kExitFailure;
    case ErrorCode::Io:
    case ErrorCode::Malformed:
    case ErrorCode::Incompatible:
    case ErrorCode::VerifyFailed:
    case ErrorCode::Unsupported: return kExitBadFile;
    case ErrorCode::OutOfMemory:
    case ErrorCode::LimitReached: return kExitLimit;
    case ErrorCode::DeadlineExceeded:
    case ErrorCode::Cancelled: return kExitDeadline;
    case ErrorCode::Internal: return kExitInternal;
  }
  return kExitInternal;
}

}  // namespace baton::tools
