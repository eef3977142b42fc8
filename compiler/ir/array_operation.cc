#include "compiler/ir/array_operation.h"

#include <array>
#include <utility>

namespace baton::ir {

namespace {
// In the order of the enumeration.
constexpr std::array<std::pair<ArrayOperation, ArrayOperationInfo>, 9> kOperations{{
    {ArrayOperation::New, {"array_new", 0, false}},
    {ArrayOperation::Push, {"array_push", 2, false}},
    {ArrayOperation::Get, {"array_get", 2, true}},
    {ArrayOperation::Set, {"array_set", 3, true}},
    {ArrayOperation::Length, {"array_length", 1, false}},
    {ArrayOperation::Stack, {"array_stack", 1, true}},
    {ArrayOperation::Concat, {"array_concat", 1, true}},
    {ArrayOperation::Unstack, {"array_unstack", 1, false}},
    {ArrayOperation::Split, {"array_split", 2, true}},
}};
}  // namespace

const ArrayOperationInfo& infoOf(ArrayOperation operation) {
  return kOperations[static_cast<size_t>(operation)].second;
}

const ArrayOperation* findArrayOperation(std::string_view name) {
  for (const auto& [operation, info] : kOperations)
    if (info.name == name) return &operation;
  return nullptr;
}

}  // namespace baton::ir
