// What the commands exit with; docs/commands.md has the table.
#pragma once

#include "base/error.h"

namespace baton::tools {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,    ///< mismatch, program error, errors in a program's text
  kExitUsage = 2,      ///< a command line that makes no sense
  kExitBadFile = 3,    ///< a file that cannot be read, loaded or verified
  kExitLimit = 4,      ///< a limit was reached, or memory ran out
  kExitDeadline = 5,   ///< deadline or cancellation
  kExitInternal = 70,  ///< a defect of ours
};

ExitCode exitCodeOf(ErrorCode code);

}  // namespace baton::tools
