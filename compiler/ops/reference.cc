// Runs the reference version of a call: types and shapes by its relations, on numbers, then
// its plain loops.
#include "compiler/ops/reference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "compiler/ops/call_contexts.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/work.h"

namespace baton::ops {

namespace {

KnownInput knownOf(const TensorView& tensor) {
  KnownInput known{tensor.dtype, {}, std::nullopt, std::nullopt};
  for (const int64_t extent : tensor.shape) known.dims.push_back(DimExpr::constant(extent));
  if (isFloat(tensor.dtype)) {
    if (tensor.shape.empty())
      known.constantFloat = scalarFromBits<double>(
          convertScalar(loadScalar(tensor.data, tensor.dtype), tensor.dtype, DType::F64));
    return known;
  }
  const int64_t count = elementCount(tensor.shape);
  if (tensor.shape.size() > 1 || count > 64) return known;
  known.values.emplace();
  for (int64_t i = 0; i < count; ++i)
    known.values->push_back(DimExpr::constant(static_cast<int64_t>(loadScalar(
        tensor.data + static_cast<size_t>(i) * static_cast<size_t>(sizeBytes(tensor.dtype)), tensor.dtype))));
  return known;
}

Error asProgramError(const Error& error) { return Error(ErrorCode::ProgramError, error.message()); }

Result<void> runScalars(const OpDef& op, const OpCall& call, std::span<const TensorView> inputs,
                        ReferenceResult& result, DimsContext& relations) {
  std::vector<DType> types;
  for (const TensorView& input : inputs) types.push_back(input.dtype);
  const ScalarReferenceCall scalarCall{call, types, result.dtype};
  uint64_t work = 0;  // has been paid for
  ReferenceCall tensors{call, inputs, std::span(&result, 1), relations, work};
  std::vector<uint64_t> values(inputs.size());
  std::optional<Error> failure;
  int64_t linear = 0;
  forEachPosition(result.shape, [&](std::span<const int64_t> index) {
    if (failure) return;
    for (size_t i = 0; i < inputs.size(); ++i)
      values[i] = tensors.load(i, broadcastIndex(inputs[i].shape, index));
    Result<uint64_t> element = op.scalarReference(scalarCall, values);
    if (!element)
      failure = std::move(element).assume_error();
    else
      tensors.store(0, linear++, element.assume_value());
  });
  if (failure) return std::move(*failure);
  return success();
}

Result<void> pay(const OpCall& call, uint64_t needed, uint64_t& work) {
  if (needed > work)
    return Error(ErrorCode::LimitReached, fmt::format("{}: more than {} elements", call.op->name, work));
  work -= needed;
  return success();
}

/// An error where the elements of that shape are too many to be made.
Result<void> checkSize(const OpCall& call, const ReferenceResult& result) {
  const std::optional<int64_t> count = checkedElementCount(result.shape);
  const std::optional<int64_t> size =
      count ? checkedMul<int64_t>(*count, sizeBytes(result.dtype)) : std::nullopt;
  if (!size || *size > (int64_t{1} << 40))
    return Error(ErrorCode::OutOfMemory, fmt::format("{}: the result is too large", call.op->name));
  return success();
}

void makeElements(ReferenceResult& result) {
  result.bytes.resize(static_cast<size_t>(elementCount(result.shape) * sizeBytes(result.dtype)));
}

}  // namespace

Result<void> ReferenceCall::allocate(size_t result, std::vector<int64_t> shape) const {
  results[result].shape = std::move(shape);
  BATON_TRY(checkSize(call, results[result]));
  BATON_TRY(pay(call, static_cast<uint64_t>(elementCount(results[result].shape)), work));
  makeElements(results[result]);
  return success();
}

uint64_t ReferenceCall::load(size_t input, int64_t linear) const {
  const TensorView& tensor = inputs[input];
  return loadScalar(tensor.data + linear * sizeBytes(tensor.dtype), tensor.dtype);
}

uint64_t ReferenceCall::load(size_t input, std::span<const int64_t> index) const {
  return load(input, linearIndex(inputs[input].shape, index));
}

void ReferenceCall::store(size_t result, int64_t linear, uint64_t bits) const {
  ReferenceResult& tensor = results[result];
  storeScalar(tensor.bytes.data() + linear * sizeBytes(tensor.dtype), tensor.dtype, bits);
}

void ReferenceCall::store(size_t result, std::span<const int64_t> index, uint64_t bits) const {
  store(result, linearIndex(results[result].shape, index), bits);
}

int64_t elementCount(std::span<const int64_t> shape) {
  const std::optional<int64_t> count = checkedElementCount(shape);
  BATON_CHECK(count.has_value());
  return *count;
}

int64_t linearIndex(std::span<const int64_t> shape, std::span<const int64_t> index) {
  BATON_CHECK(shape.size() == index.size());
  int64_t linear = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    BATON_CHECK(index[axis] >= 0 && index[axis] < shape[axis]);
    linear = linear * shape[axis] + index[axis];
  }
  return linear;
}

void forEachPosition(std::span<const int64_t> shape, const std::function<void(std::span<const int64_t>)>& f) {
  if (elementCount(shape) == 0) return;
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    f(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

void forEachColumn(const ReferenceCall& call, size_t axis,
                   const std::function<void(std::vector<int64_t>& at, std::span<const uint64_t> column)>& f) {
  std::vector<int64_t> starts(call.inputs[0].shape.begin(), call.inputs[0].shape.end());
  const int64_t count = std::exchange(starts[axis], 1);
  if (count == 0) return;
  forEachPosition(starts, [&](std::span<const int64_t> start) {
    std::vector<int64_t> at(start.begin(), start.end());
    std::vector<uint64_t> column;
    for (; at[axis] < count; ++at[axis]) column.push_back(call.load(0, at));
    at[axis] = 0;
    f(at, column);
  });
}

std::vector<int64_t> broadcastIndex(std::span<const int64_t> shape, std::span<const int64_t> index) {
  std::vector<int64_t> own(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
  for (size_t axis = 0; axis < own.size(); ++axis)
    if (shape[axis] == 1) own[axis] = 0;
  return own;
}

Error programError(const OpCall& call, const std::string& message) {
  return Error(ErrorCode::ProgramError, fmt::format("{}: {}", call.op->name, message));
}

Result<std::vector<ReferenceResult>> evaluateReference(const OpDef& op, const ir::Attrs& attrs,
                                                       std::span<const TensorView> inputs) {
  uint64_t work = UINT64_MAX;
  return evaluateReference(op, attrs, inputs, work);
}

Result<std::vector<ReferenceResult>> evaluateReference(const OpDef& op, const ir::Attrs& attrs,
                                                       std::span<const TensorView> inputs, uint64_t& work) {
  std::vector<KnownInput> known;
  for (const TensorView& input : inputs) known.push_back(knownOf(input));
  const OpCall call{&op, &attrs, inputs.size()};
  KnownStructure structure(known);
  auto types = op.structure(call, structure);
  if (!types) return asProgramError(types.assume_error());
  if (!types.assume_value())
    return Error(ErrorCode::Internal, fmt::format("{}: no structure for known inputs", op.name));
  const DimKnowledge knowledge;
  KnownDims relations(known, knowledge, 0);
  auto dims = op.dims(call, relations);
  if (!dims) return asProgramError(dims.assume_error());
  // Everything is known, but a product of extents may exceed 64 bits beside one of 0.
  if (!relations.open().empty())
    return Error(ErrorCode::ProgramError, fmt::format("{}: the extents are too large", op.name));

  std::vector<ReferenceResult> results;
  std::vector<KnownInput> made;
  for (size_t i = 0; i < types.assume_value()->results.size(); ++i) {
    ReferenceResult result;
    result.dtype = types.assume_value()->results[i].dtype;
    made.push_back({result.dtype, {}, std::nullopt, std::nullopt});
    for (const DimExpr& extent : dims.assume_value()[i].extents) {
      // The reference version finds an extent that is left open, and pays for it then.
      const bool isOpen = !extent.isConstant() && !extent.isTooLarge();
      const std::optional<int64_t> number = isOpen ? 0 : extent.asConstant();
      if (!number || *number < 0)
        return Error(ErrorCode::ProgramError,
                     fmt::format("{}: the shape of the result is too large", op.name));
      result.shape.push_back(*number);
      made.back().dims.push_back(DimExpr::constant(*number));
    }
    BATON_TRY(checkSize(call, result));
    results.push_back(std::move(result));
  }
  BATON_TRY(pay(call, workOf(call, known, made), work));
  for (ReferenceResult& result : results) makeElements(result);
  if (op.scalarReference != nullptr) {
    BATON_TRY(runScalars(op, call, inputs, results[0], relations));
  } else {
    ReferenceCall reference{call, inputs, results, relations, work};
    BATON_TRY(op.reference(reference));
  }
  return results;
}

}  // namespace baton::ops
