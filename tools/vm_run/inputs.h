// The arguments of a run: from value text, from an .npz, or random.
#pragma once

#include <vector>

#include "formats/array.h"
#include "tools/vm_run/handles.h"
#include "tools/vm_run/options.h"

namespace baton::tools {

/// One value per parameter, in order. Errors name the parameter, what was found and what its
/// type is.
Result<std::vector<Value>> makeInputs(baton_instance* instance, const baton_function* function,
                                      const RunOptions& options);

/// Of the array's dtype and shape.
Result<Value> makeTensor(baton_instance* instance, const Array& array);

/// Reads value text, with "@name" as a file of the current folder: an array, or, when it is all
/// of the text, value text. Text that is no value is a UsageError that begins with `what`.
Result<Value> parseValue(baton_instance* instance, const baton_type* type, const std::string& text,
                         const std::string& what);

}  // namespace baton::tools
