// Message templates of `check` and `fail`: "{0:f32}" is the place of value 0, of dtype f32;
// "{0}" is an i64.
// Everything else stands for itself.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace baton::bytecode {

struct MessagePlace {
  size_t begin;  ///< of the place in the text
  size_t end;
  uint32_t value;  ///< number of the value
  DType dtype;
};

/// In order of the text.
std::vector<MessagePlace> messagePlaces(std::string_view text);

}  // namespace baton::bytecode
