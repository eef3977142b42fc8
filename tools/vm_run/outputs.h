// What becomes of the result of a run: printed, written to files, held against expectations.
#pragma once

#include <string>
#include <vector>

#include "tools/vm_run/handles.h"
#include "tools/vm_run/options.h"

namespace baton::tools {

/// The elements of a result tuple, or the one result.
Result<std::vector<Value>> splitResult(baton_value* result);

/// Throws UsageError when --output and --expect cannot go with what the function returns.
void checkOutputOptions(const baton_function* function, const RunOptions& options);

/// Prints the results, or writes them where --output and --outputs-npz say.
Result<void> writeOutputs(const std::vector<Value>& results, const RunOptions& options);

/// Compares with --expect and --expect-npz; prints [SUCCESS] or [FAILED] and where they differ.
/// True when nothing was expected.
Result<bool> checkExpectations(baton_instance* instance, const baton_function* function,
                               const std::vector<Value>& results, const RunOptions& options);

}  // namespace baton::tools
