#include "compiler/ir/array_operation.h"

#include <iterator>

namespace baton::ir {

namespace {
constexpr ArrayOperationInfo kOperations[] = {
    {"array_new", 0, false},      // New
    {"array_push", 2, false},     // Push
    {"array_get", 2, true},       // Get
    {"array_set", 3, true},       // Set
    {"array_length", 1, false},   // Length
    {"array_stack", 1, true},     // Stack
    {"array_concat", 1, true},    // Concat
    {"array_unstack", 1, false},  // Unstack
    {"array_split", 2, true},     // Split
};
static_assert(std::size(kOperations) == static_cast<size_t>(ArrayOperation::Split) + 1);
}  // namespace

const ArrayOperationInfo& infoOf(ArrayOperation operation) {
  return kOperations[static_cast<size_t>(operation)];
}

std::span<const ArrayOperationInfo> allArrayOperations() { return kOperations; }

std::optional<ArrayOperation> findArrayOperation(std::string_view name) {
  for (size_t i = 0; i < std::size(kOperations); ++i)
    if (kOperations[i].name == name) return static_cast<ArrayOperation>(i);
  return std::nullopt;
}

}  // namespace baton::ir
