// Who calls whom, and in which order to look at functions so that callees come first.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

struct CallGraph {
  explicit CallGraph(const ir::Module& module);
  /// Callees before callers, as far as there is no recursion.
  std::vector<ir::GlobalId> order;
  /// By function: functions that reach one another have the same, and stand together in `order`.
  std::vector<uint32_t> group;
  std::vector<bool> isRecursive;      ///< by function: calls itself, directly or not
  std::vector<uint32_t> directCalls;  ///< by function: places that call it
  std::vector<bool> isValue;          ///< by function: is used as a value somewhere
};

}  // namespace baton::passes
