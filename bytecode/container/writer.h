// Writers of `.vmexe` and `.vmparams`. The same content gives the same bytes.
#pragma once

#include <functional>
#include <vector>

#include "base/error.h"
#include "bytecode/container/params.h"
#include "bytecode/program.h"

namespace baton::bytecode {

/// Takes the next bytes of the file.
using ByteSink = std::function<Result<void>(std::span<const std::byte> bytes)>;

/// InvalidArgument when the program cannot be stored: code that is not the functions' code
/// one after the other, loops or entry offsets that do not go with the kernels.
Result<void> writeExecutable(const Program& program, const ByteSink& sink);
Result<std::vector<std::byte>> writeExecutable(const Program& program);

/// InvalidArgument when a tensor is not inline or a key occurs twice.
Result<void> writeParams(const Params& params, const ByteSink& sink);
Result<std::vector<std::byte>> writeParams(const Params& params);

}  // namespace baton::bytecode
