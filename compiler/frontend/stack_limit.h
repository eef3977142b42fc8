// How deep the stack of this thread may still grow: recursive descent is bounded by it as well as
// by a number of levels, since a caller's thread may have any size and a sanitizer any frames.
#pragma once

#include <cstdint>

namespace baton::frontend {

class StackLimit {
 public:
  /// Of the thread that makes it.
  StackLimit();

  /// Whether less is left than what one more level and an error message need.
  bool isNear() const;

 private:
  uintptr_t lowest_ = 0;  ///< address that must not be passed; 0 when it is not known
};

}  // namespace baton::frontend
