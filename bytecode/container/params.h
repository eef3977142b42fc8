// The content of a `.vmparams` file: tensors by key.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace baton::bytecode {

struct Params {
  Meta meta;
  /// Inline; `externalKey` is the key, unique.
  std::vector<Constant> tensors;
  std::vector<std::unique_ptr<ByteStorage>> storage;
};

}  // namespace baton::bytecode
