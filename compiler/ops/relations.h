// What the type relations of several families share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

inline DimExpr one() { return DimExpr::constant(1); }

/// "<operator>: <message>".
Error opError(const OpCall& call, const std::string& message);

/// Runs before the relation of every operator: the number of inputs and their known dtypes.
Result<void> checkInputs(const OpCall& call, StructureContext& context);

template <StructureFunction kRelation>
Result<std::optional<StructureResult>> checkedStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkInputs(call, context));
  return kRelation(call, context);
}

inline StructureResult oneResult(DType dtype, int rank) { return {{{dtype, rank}}, false}; }

/// The type of the first result: what an attribute gives, else that of an input. The context is told at once;
/// nothing where the input's is not known yet.
Result<std::optional<DType>> givenOrInputDType(StructureContext& context, std::optional<DType> given,
                                               size_t input = 0);

/// In [0, rank); an error that names `what` ("axis") and the valid range otherwise.
Result<int> normaliseAxis(const OpCall& call, std::string_view what, int64_t axis, int rank);

/// The number of a DimExpr that is one, where an attribute must be.
std::optional<std::vector<int64_t>> asConstants(std::span<const DimExpr> dims);

/// "({0}, {1})": placeholders for `count` dims from number `first` on.
std::string shapePlaceholders(size_t first, size_t count);

/// The extent that two broadcast to. Where neither is known to be 1, other than 1, or equal
/// to the other, it is the greater one, or 0 when one of them is. An obligation where it is
/// not certain that they do.
Result<DimExpr> broadcastExtent(DimsContext& context, const DimExpr& a, const DimExpr& b,
                                const std::string& message, std::vector<DimExpr> shown);

/// The shape that several inputs broadcast to, aligned at their last dimensions.
Result<std::vector<DimExpr>> broadcastShapes(const OpCall& call, DimsContext& context,
                                             std::span<const size_t> inputs);

/// Where the shape of a result comes from: an attribute, or an input when that is null.
struct ShapeSource {
  const std::vector<DimExpr>* attribute;
  size_t input;
  std::string_view what;  ///< "shape"
};
/// Number of dims; nothing while the input is not known.
Result<std::optional<int>> shapeRank(const OpCall& call, StructureContext& context,
                                     const ShapeSource& source);
/// The dims themselves, as they are (nothing is required of their signs).
Result<std::vector<DimExpr>> shapeElements(const OpCall& call, DimsContext& context,
                                           const ShapeSource& source);
/// The same as extents: an obligation that none is negative.
Result<std::vector<DimExpr>> shapeExtents(const OpCall& call, DimsContext& context,
                                          const ShapeSource& source);

/// |a - b|, as a dim: zero exactly where the two are equal.
DimExpr distance(const DimExpr& a, const DimExpr& b);

/// Requires that two dims are equal and gives the one that says more.
Result<DimExpr> requireEqual(DimsContext& context, const DimExpr& a, const DimExpr& b, std::string message);

/// Of a reshape whose attribute names extents: the attributes that list all extents of its result. A name
/// that turns out to be 0 or -1 is an extent, where such a number would be more. Nothing for any other call.
std::optional<ir::Attrs> explicitReshape(const OpCall& call, const TensorDims& result);

/// Extents of an input, as a copy that outlives further calls.
inline std::vector<DimExpr> copyDims(const DimsContext& context, size_t input) {
  const auto dims = context.dims(input);
  return {dims.begin(), dims.end()};
}

/// The extents of a set of axes, multiplied.
DimExpr product(std::span<const DimExpr> dims);

/// Number of elements of a result whose elements may be kept as dims: rank 0 or 1, short.
std::optional<size_t> valueCount(const TensorDims& result);

/// Whether an element expression is sure to be representable in an integer type.
bool fitsDType(const DimsContext& context, const DimExpr& expr, DType dtype);

}  // namespace baton::ops
