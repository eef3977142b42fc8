// Array operations of the evaluator.
#include <algorithm>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/limits.h"
#include "compiler/eval/evaluator.h"

namespace baton::eval {
namespace {

using ir::ArrayOperation;

/// What a value of an array counts as, compared with an element of a tensor.
constexpr uint64_t kWorkPerValue = 16;

Error failure(std::string message) { return Error(ErrorCode::ProgramError, std::move(message)); }

/// An index of an element.
Result<size_t> elementIndex(std::span<const Value> elements, const Value& index) {
  const HostTensor& tensor = index.asTensor();
  const auto number = static_cast<int64_t>(loadScalar(tensor.bytes.data(), tensor.dtype));
  if (number < 0 || static_cast<size_t>(number) >= elements.size())
    return failure(fmt::format("index {} is outside of an array of length {}", number, elements.size()));
  return static_cast<size_t>(number);
}

std::string shapeText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// All elements one after another, which must have one shape, the outer extent aside where `isConcat`.
Result<Value> joinElements(std::span<const Value> elements, DType dtype, std::vector<int64_t> row,
                           bool isConcat) {
  const size_t outer = isConcat ? 1 : 0;
  for (size_t axis = 0; axis < row.size(); ++axis) {
    if (row[axis] >= 0) continue;
    if (elements.empty())
      return failure(
          fmt::format("an array without elements does not tell dimension {} of its elements, which is not "
                      "known either",
                      axis + outer));
    row[axis] = elements[0].asTensor().shape[axis + outer];
  }
  HostTensor result;
  result.dtype = dtype;
  int64_t count = isConcat ? 0 : static_cast<int64_t>(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const HostTensor& tensor = elements[i].asTensor();
    if (!std::equal(tensor.shape.begin() + static_cast<ptrdiff_t>(outer), tensor.shape.end(), row.begin(),
                    row.end()))
      return failure(fmt::format("{}: element {} has shape {}, expected {} for a row",
                                 isConcat ? "array_concat" : "array_stack", i, shapeText(tensor.shape),
                                 shapeText(row)));
    if (isConcat && __builtin_add_overflow(count, tensor.shape[0], &count))
      return failure("array_concat: the elements have more rows than 64 bits can count");
    result.bytes.insert(result.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  result.shape.push_back(count);
  result.shape.insert(result.shape.end(), row.begin(), row.end());
  if (!checkedElementCount(result.shape))
    return failure(fmt::format("a tensor cannot have the shape {}", shapeText(result.shape)));
  return Value::tensor(std::move(result));
}

/// Rows [begin, begin + count) of a tensor; one row, of rank one less, when `count` is negative.
Value rowsOf(const HostTensor& tensor, size_t begin, int64_t count) {
  HostTensor rows;
  rows.dtype = tensor.dtype;
  rows.shape.assign(tensor.shape.begin() + 1, tensor.shape.end());
  const size_t rowBytes =
      tensor.shape[0] == 0 ? 0 : tensor.bytes.size() / static_cast<size_t>(tensor.shape[0]);
  const auto first = tensor.bytes.begin() + static_cast<ptrdiff_t>(begin * rowBytes);
  rows.bytes.assign(first,
                    first + static_cast<ptrdiff_t>(rowBytes * (count < 0 ? 1 : static_cast<size_t>(count))));
  if (count >= 0) rows.shape.insert(rows.shape.begin(), count);
  return Value::tensor(std::move(rows));
}

Result<Value> split(const HostTensor& tensor, const HostTensor& counts) {
  int64_t sum = 0;
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < counts.shape[0]; ++i) {
    numbers.push_back(static_cast<int64_t>(loadScalar(counts.bytes.data() + 4 * i, DType::I32)));
    if (numbers.back() < 0) return failure(fmt::format("array_split: count {} is {}", i, numbers.back()));
    sum += numbers.back();
  }
  if (sum != tensor.shape[0])
    return failure(fmt::format("array_split: the counts add up to {}, found {} rows", sum, tensor.shape[0]));
  std::vector<Value> parts;
  size_t begin = 0;
  for (const int64_t count : numbers) {
    parts.push_back(rowsOf(tensor, begin, count));
    begin += static_cast<size_t>(count);
  }
  return Value::array(std::move(parts));
}

}  // namespace

Result<void> Evaluator::work(uint64_t elements) {
  if (elements > options_.maxWork)
    return Error(ErrorCode::LimitReached, fmt::format("more than {} elements", options_.maxWork));
  options_.maxWork -= elements;
  return success();
}

Result<Value> Evaluator::arrayOperation(const ir::ArrayOp& rhs) {
  BATON_TRY_ASSIGN(std::vector<Value> args, readAll(rhs.args));
  switch (rhs.operation) {
    case ArrayOperation::New: return Value::array({});
    case ArrayOperation::Push:
      if (!args[0].growsInPlace()) BATON_TRY(work(args[0].elements().size()));
      return args[0].withPushed(std::move(args[1]));
    case ArrayOperation::Get: {
      BATON_TRY_ASSIGN(const size_t index, elementIndex(args[0].elements(), args[1]));
      return args[0].elements()[index];
    }
    case ArrayOperation::Set: {
      BATON_TRY_ASSIGN(const size_t index, elementIndex(args[0].elements(), args[1]));
      BATON_TRY(work(args[0].elements().size()));
      std::vector<Value> elements(args[0].elements().begin(), args[0].elements().end());
      elements[index] = std::move(args[2]);
      return Value::array(std::move(elements));
    }
    case ArrayOperation::Length: return Value::scalar(DType::I32, args[0].elements().size());
    case ArrayOperation::Stack:
    case ArrayOperation::Concat: {
      for (const Value& element : args[0].elements()) BATON_TRY(work(1 + element.asTensor().bytes.size()));
      const ir::TypeRef type = module_.typeOf(frames_.back().code->function(), rhs.args[0]);
      return joinElements(args[0].elements(), type->element()->dtype(), rhs.rowExtents,
                          rhs.operation == ArrayOperation::Concat);
    }
    case ArrayOperation::Unstack: {
      const HostTensor& tensor = args[0].asTensor();
      if (tensor.shape[0] > kMaxArrayLength)
        return failure(fmt::format("an array cannot have more than {} elements, found {} rows",
                                   kMaxArrayLength, tensor.shape[0]));
      BATON_TRY(work(tensor.bytes.size() + kWorkPerValue * static_cast<uint64_t>(tensor.shape[0])));
      std::vector<Value> rows;
      for (int64_t i = 0; i < tensor.shape[0]; ++i)
        rows.push_back(rowsOf(tensor, static_cast<size_t>(i), -1));
      return Value::array(std::move(rows));
    }
    case ArrayOperation::Split:
      BATON_TRY(work(args[0].asTensor().bytes.size() + kWorkPerValue * args[1].asTensor().bytes.size()));
      return split(args[0].asTensor(), args[1].asTensor());
  }
  return Value();
}

}  // namespace baton::eval
