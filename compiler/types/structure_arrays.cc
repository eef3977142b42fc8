// Structure of array operations.
#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/types/structure.h"

namespace baton::types {

using ir::ArrayOperation;

void Structure::inferArray(ir::BlockId block, uint32_t index, const ir::ArrayOp& rhs) {
  const ir::Binding& binding = function_->block(block).bindings[index];
  const Term var = functions_[current_].vars[binding.var.value()];
  const std::string_view name = ir::infoOf(rhs.operation).name;
  std::vector<Term> args;
  for (uint32_t i = 0; i < rhs.args.size(); ++i) args.push_back(operand(rhs.args[i], {block, index, i}));
  const auto argument = [&](size_t i, Term expected) {
    require(args[i], expected, operandLocation(binding.var, i, binding.location),
            fmt::format("argument {} of {}", i + 1, name));
  };
  const auto result = [&](Term found) {
    require(found, var, binding.location, fmt::format("the result of {}", name));
  };
  /// A tensor, and tensors that are its rows.
  const auto rows = [&](Term& tensor, Term& row) {
    const Term dtype = terms_.unknown();
    const Term rowRank = terms_.unknown();
    const Term rank = terms_.unknown();
    tensor = terms_.tensor(dtype, rank);
    row = terms_.tensor(dtype, rowRank);
    add({Pending::Kind::RowRank, current_, block, index, {rowRank, rank}, rank, {}, false});
  };
  const Term element = terms_.unknown();
  switch (rhs.operation) {
    case ArrayOperation::New: return result(terms_.array(element));
    case ArrayOperation::Push:
      argument(0, terms_.array(element));
      argument(1, element);
      return result(args[0]);
    case ArrayOperation::Get:
      argument(0, terms_.array(element));
      argument(1, terms_.tensor(DType::I32, 0));
      return result(element);
    case ArrayOperation::Set:
      argument(0, terms_.array(element));
      argument(1, terms_.tensor(DType::I32, 0));
      argument(2, element);
      return result(args[0]);
    case ArrayOperation::Length:
      argument(0, terms_.array(element));
      return result(terms_.tensor(DType::I32, 0));
    case ArrayOperation::Stack:
    case ArrayOperation::Unstack: {
      Term tensor, row;
      rows(tensor, row);
      const bool isStack = rhs.operation == ArrayOperation::Stack;
      argument(0, isStack ? terms_.array(row) : tensor);
      return result(isStack ? tensor : terms_.array(row));
    }
    case ArrayOperation::Concat:
    case ArrayOperation::Split: {
      // Whatever has groups of rows has rows.
      Term tensor, row;
      rows(tensor, row);
      const bool isConcat = rhs.operation == ArrayOperation::Concat;
      argument(0, isConcat ? terms_.array(tensor) : tensor);
      if (!isConcat) argument(1, terms_.tensor(DType::I32, 1));
      return result(isConcat ? tensor : terms_.array(tensor));
    }
  }
}

/// A tensor has one dimension more than its rows.
Structure::Outcome Structure::attemptRowRank(Pending& pending) {
  const std::optional<int> row = terms_.rankOf(pending.inputs[0]);
  const std::optional<int> tensor = terms_.rankOf(pending.inputs[1]);
  if (!row && !tensor) return Outcome::NotYet;
  const ir::Binding& binding =
      module_.functions[pending.function].block(pending.block).bindings[pending.binding];
  const std::string_view name = ir::infoOf(std::get<ir::ArrayOp>(binding.rhs).operation).name;
  if (tensor == 0)
    diagnostics_.error(binding.location, fmt::format("{}: a scalar has no rows", name));
  else if (row && tensor && *tensor != *row + 1)
    diagnostics_.error(binding.location,
                       fmt::format("{}: rows of rank {} make a tensor of rank {}; expected rank {}", name,
                                   *row, *row + 1, *tensor));
  else if (row && *row >= kMaxRank)
    diagnostics_.error(binding.location, fmt::format("{}: the result has rank {}; expected {} at most", name,
                                                     *row + 1, kMaxRank));
  else if (row)
    static_cast<void>(terms_.unify(pending.inputs[1], terms_.rank(*row + 1)));
  else
    static_cast<void>(terms_.unify(pending.inputs[0], terms_.rank(*tensor - 1)));
  return Outcome::Done;
}

}  // namespace baton::types
