// dft and stft: products with matrices of cosines and sines.
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

Result<std::optional<StructureResult>> dftStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireSameRank(0, 1));
  const std::optional<int> rank = context.rank(0);
  if (rank == 0) return opError(call, "the real part is a scalar; expected rank 1 or more");
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return StructureResult{{{*dtype, *rank}, {*dtype, *rank}}, true};
}
Result<std::vector<TensorDims>> dftDims(const OpCall&, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  const std::vector<DimExpr> other = copyDims(context, 1);
  context.blame(1);
  for (size_t d = 0; d < other.size(); ++d) {
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, result.extents[d], other[d],
                     fmt::format("dft: dimension {} of the real part ({{0}}) does not match that of "
                                 "the imaginary part ({{1}})",
                                 d)));
  }
  return std::vector<TensorDims>{result, result};
}

namespace {

/// The lengths that a call of stft states; the structure has looked at them.
struct Pieces {
  int64_t length;
  int64_t hop;
  int64_t window;
  int64_t frequencies;
};
Pieces piecesOf(const OpCall& call) {
  const StftAttrs attrs{*call.attrs};
  const int64_t n = attrs.nFft();
  return {n, attrs.hopLength().value_or(std::max<int64_t>(n / 4, 1)), attrs.winLength().value_or(n),
          attrs.onesided() ? n / 2 + 1 : n};
}

}  // namespace

Result<std::optional<StructureResult>> stftStructure(const OpCall& call, StructureContext& context) {
  const Pieces pieces = piecesOf(call);
  constexpr int64_t kMost = 1 << 20;
  if (pieces.length < 1 || pieces.length > kMost)
    return opError(call, fmt::format("n_fft is {}; expected 1 to {}", pieces.length, kMost));
  if (pieces.hop < 1) return opError(call, fmt::format("hop_length is {}; expected 1 or more", pieces.hop));
  if (pieces.window < 1 || pieces.window > pieces.length)
    return opError(call,
                   fmt::format("win_length is {}; expected 1 to n_fft, {}", pieces.window, pieces.length));
  if (call.inputCount > 1) {
    BATON_TRY(context.requireSameDType(0, 1));
    BATON_TRY(context.requireRank(1, 1));
  }
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (rank && *rank != 1 && *rank != 2)
    return opError(call, fmt::format("the data has rank {}; expected 1 or 2", *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank + 2);
}
Result<std::vector<TensorDims>> stftDims(const OpCall& call, DimsContext& context) {
  const Pieces pieces = piecesOf(call);
  TensorDims result{copyDims(context, 0)};
  const DimExpr count = result.extents.back();
  const DimExpr length = DimExpr::constant(pieces.length);
  BATON_TRY(context.require(count, Relation::Ge, length,
                            "stft: the data has {0} elements; expected n_fft, {1}, or more"));
  if (call.inputCount > 1) {
    context.blame(1);
    BATON_TRY(context.require(DimExpr(context.dims(1)[0]), Relation::Eq, DimExpr::constant(pieces.window),
                              "stft: the window has {0} elements; expected {1}"));
  }
  result.extents.back() = DimExpr::constant(pieces.frequencies);
  result.extents.push_back(floorDiv(count - length, DimExpr::constant(pieces.hop)) + one());
  result.extents.push_back(DimExpr::constant(2));
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

/// Matrices of (frequencies, elements), in the type of accumulation.
struct Transform {
  TensorId cosines;
  TensorId sines;
};

class FourierExpansion : public WideExpansion {
 public:
  explicit FourierExpansion(ExpandContext& context) : WideExpansion(context), context_(context) {}

  /// `frequencies` and `length` are int64 scalars. Angles are of j * k modulo the length, so they are small.
  Result<Transform> transform(TensorId frequencies, TensorId length) {
    BATON_TRY_ASSIGN(const TensorId rows, counted(frequencies));
    BATON_TRY_ASSIGN(const TensorId columns, counted(length));
    BATON_TRY_ASSIGN(const TensorId column, context_.reshape(rows, {context_.dims(rows)[0], one()}));
    BATON_TRY_ASSIGN(const TensorId products, apply("multiply", {column, columns}));
    BATON_TRY_ASSIGN(const TensorId turns, apply("floor_mod", {products, length}));
    BATON_TRY_ASSIGN(const TensorId wideTurns, context_.cast(turns, DType::F64));
    BATON_TRY_ASSIGN(const TensorId wideLength, context_.cast(length, DType::F64));
    BATON_TRY_ASSIGN(const TensorId scaled,
                     apply("multiply", {wideTurns, context_.scalar(DType::F64, 2 * std::numbers::pi)}));
    BATON_TRY_ASSIGN(const TensorId angles, apply("divide", {scaled, wideLength}));
    BATON_TRY_ASSIGN(const TensorId cosines, apply("cos", {angles}));
    BATON_TRY_ASSIGN(const TensorId sines, apply("sin", {angles}));
    BATON_TRY_ASSIGN(const TensorId real, wide(cosines));
    BATON_TRY_ASSIGN(const TensorId imaginary, wide(sines));
    return Transform{real, imaginary};
  }

 private:
  Result<TensorId> counted(TensorId count) {
    return context_.make("arange", {},
                         {context_.scalar(DType::I64, 0), count, context_.scalar(DType::I64, 1)});
  }

  ExpandContext& context_;
};

}  // namespace

Result<void> dftLegal(ExpandContext& context) {
  const bool isInverse = DftAttrs{*context.call().attrs}.inverse();
  FourierExpansion e(context);
  BATON_TRY_ASSIGN(const TensorId real, e.input(0));
  BATON_TRY_ASSIGN(const TensorId imaginary, e.input(1));
  BATON_TRY_ASSIGN(const TensorId length, context.extentOf(real, context.rank(real) - 1));
  BATON_TRY_ASSIGN(const Transform by, e.transform(length, length));
  BATON_TRY_ASSIGN(const TensorId realCosines, e.apply("nn.dense", {real, by.cosines}));
  BATON_TRY_ASSIGN(const TensorId realSines, e.apply("nn.dense", {real, by.sines}));
  BATON_TRY_ASSIGN(const TensorId imaginaryCosines, e.apply("nn.dense", {imaginary, by.cosines}));
  BATON_TRY_ASSIGN(const TensorId imaginarySines, e.apply("nn.dense", {imaginary, by.sines}));
  BATON_TRY_ASSIGN(TensorId first, e.apply(isInverse ? "subtract" : "add", {realCosines, imaginarySines}));
  BATON_TRY_ASSIGN(TensorId second, e.apply(isInverse ? "add" : "subtract", {imaginaryCosines, realSines}));
  if (isInverse) {
    BATON_TRY_ASSIGN(const TensorId count, e.wide(length));
    BATON_TRY_ASSIGN(first, e.apply("divide", {first, count}));
    BATON_TRY_ASSIGN(second, e.apply("divide", {second, count}));
  }
  BATON_TRY_ASSIGN(first, e.narrow(first));
  BATON_TRY_ASSIGN(second, e.narrow(second));
  context.become({first, second});
  return success();
}

Result<void> stftLegal(ExpandContext& context) {
  const Pieces pieces = piecesOf(context.call());
  FourierExpansion e(context);
  BATON_TRY_ASSIGN(const TensorId data, e.input(0));
  const auto last = static_cast<int64_t>(context.rank(data)) - 1;
  ir::Attrs windows;
  windows.set("axis", last);
  windows.set("window_shape", std::vector<int64_t>{pieces.length});
  windows.set("strides", std::vector<int64_t>{pieces.hop});
  BATON_TRY_ASSIGN(TensorId parts, context.make("sliding_window", windows, {data}));
  std::optional<TensorId> window;
  if (context.call().inputCount > 1) {
    BATON_TRY_ASSIGN(window, e.input(1));
  } else if (pieces.window < pieces.length) {
    ir::Attrs ones;
    ones.set("shape", std::vector<DimExpr>{DimExpr::constant(pieces.window)});
    ones.set("dtype", e.type());
    BATON_TRY_ASSIGN(window, context.make("ones", ones, {}));
  }
  if (pieces.window < pieces.length) {
    const int64_t before = (pieces.length - pieces.window) / 2;
    ir::Attrs around;
    around.set("pad_width", std::vector<int64_t>{before, pieces.length - pieces.window - before});
    BATON_TRY_ASSIGN(window, context.make("nn.pad", around, {*window, e.number(0)}));
  }
  if (window) {
    BATON_TRY_ASSIGN(parts, e.apply("multiply", {parts, *window}));
  }
  BATON_TRY_ASSIGN(const Transform by,
                   e.transform(context.scalar(DType::I64, static_cast<double>(pieces.frequencies)),
                               context.scalar(DType::I64, static_cast<double>(pieces.length))));
  BATON_TRY_ASSIGN(TensorId real, e.apply("nn.dense", {parts, by.cosines}));
  BATON_TRY_ASSIGN(const TensorId sines, e.apply("nn.dense", {parts, by.sines}));
  BATON_TRY_ASSIGN(TensorId imaginary, e.apply("negative", {sines}));
  if (StftAttrs{*context.call().attrs}.normalized()) {
    BATON_TRY_ASSIGN(const TensorId root, e.apply("sqrt", {e.number(static_cast<double>(pieces.length))}));
    BATON_TRY_ASSIGN(real, e.apply("divide", {real, root}));
    BATON_TRY_ASSIGN(imaginary, e.apply("divide", {imaginary, root}));
  }
  ir::Attrs side;
  side.set("axis", int64_t{-1});
  BATON_TRY_ASSIGN(const TensorId both, context.make("stack", side, {real, imaginary}));
  ir::Attrs order;
  order.set("axes", last == 0 ? std::vector<int64_t>{1, 0, 2} : std::vector<int64_t>{0, 2, 1, 3});
  BATON_TRY_ASSIGN(const TensorId ordered, context.make("transpose", order, {both}));
  BATON_TRY_ASSIGN(const TensorId result, e.narrow(ordered));
  context.become({result});
  return success();
}

namespace {

/// Sums over k of x(k) times the cosine and the sine for frequency j.
template <class T, class X>
std::array<T, 2> plainTransform(int64_t j, int64_t length, X&& x) {
  std::array<T, 2> sums{};
  for (int64_t k = 0; k < length; ++k) {
    const auto turns = static_cast<double>(j * k % length);
    const double angle = turns * (2 * std::numbers::pi) / static_cast<double>(length);
    sums[0] = std::fma(x(k), static_cast<T>(math::cos(angle)), sums[0]);
    sums[1] = std::fma(x(k), static_cast<T>(math::sin(angle)), sums[1]);
  }
  return sums;
}

template <class T>
T plainElement(const ReferenceCall& call, size_t input, int64_t at) {
  const DType type = call.inputs[input].dtype;
  return scalarFromBits<T>(convertScalar(call.load(input, at), type, accumulationType(type)));
}
template <class T>
void storePlain(const ReferenceCall& call, size_t result, int64_t at, T value) {
  const DType type = call.results[result].dtype;
  call.store(result, at, convertScalar(scalarBits(value), accumulationType(type), type));
}

template <class T>
void plainDft(ReferenceCall& call) {
  const bool isInverse = DftAttrs{*call.call.attrs}.inverse();
  const int64_t n = call.inputs[0].shape.back();
  for (int64_t at = 0; at < elementCount(call.inputs[0].shape); ++at) {
    const int64_t row = at / n * n;
    const auto [rc, rs] =
        plainTransform<T>(at % n, n, [&](int64_t k) { return plainElement<T>(call, 0, row + k); });
    const auto [ic, is] =
        plainTransform<T>(at % n, n, [&](int64_t k) { return plainElement<T>(call, 1, row + k); });
    const T count = static_cast<T>(n);
    storePlain(call, 0, at, isInverse ? (rc - is) / count : rc + is);
    storePlain(call, 1, at, isInverse ? (ic + rs) / count : ic - rs);
  }
}

template <class T>
void plainStft(ReferenceCall& call) {
  const Pieces pieces = piecesOf(call.call);
  const bool isNormal = StftAttrs{*call.call.attrs}.normalized();
  const int64_t count = call.inputs[0].shape.back();
  const int64_t before = (pieces.length - pieces.window) / 2;
  const auto window = [&](int64_t k) {
    if (k < before || k >= before + pieces.window) return T{0};
    return call.inputs.size() > 1 ? plainElement<T>(call, 1, k - before) : T{1};
  };
  int64_t at = 0;
  const auto result = std::span<const int64_t>(call.results[0].shape);
  const bool isRow = call.inputs[0].shape.size() == 2;
  forEachPosition(result.first(result.size() - 1), [&](std::span<const int64_t> index) {
    const int64_t start = (isRow ? index[0] * count : 0) + index[index.size() - 1] * pieces.hop;
    auto [re, im] = plainTransform<T>(index[index.size() - 2], pieces.length, [&](int64_t k) {
      return plainElement<T>(call, 0, start + k) * window(k);
    });
    im = -im;
    const T root = std::sqrt(static_cast<T>(pieces.length));
    storePlain(call, 0, at++, isNormal ? re / root : re);
    storePlain(call, 0, at++, isNormal ? im / root : im);
  });
}

}  // namespace

Result<void> dftReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainDft<double>(call) : plainDft<float>(call);
  return success();
}
Result<void> stftReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainStft<double>(call) : plainStft<float>(call);
  return success();
}

}  // namespace baton::ops
