#include "benchmarks/gemm.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "benchmarks/native_kernel.h"
#include "benchmarks/peak_share.h"
#include "benchmarks/random_data.h"
#include "benchmarks/twins/twins.h"

namespace baton::benchmarks {

namespace {

/// x, the weights one after the other, and a result.
struct GemmMemory {
  GemmSize size;
  Memory x;
  Memory weights;
  Memory y;
  int count;

  GemmMemory(const GemmSize& wanted, int weightCount, uint64_t seed)
      : size(wanted),
        x(static_cast<size_t>(size.rows * size.inner) * sizeof(float)),
        weights(static_cast<size_t>(weightCount) * weightBytes()),
        y(static_cast<size_t>(size.rows * size.columns) * sizeof(float)),
        count(weightCount) {
    fillFloats(x.as<float>(), seed);
    fillFloats(weights.as<float>(), seed + 1, 1 / std::sqrt(static_cast<float>(size.inner)));
  }

  size_t weightBytes() const { return static_cast<size_t>(size.columns * size.inner) * sizeof(float); }
  void* weight(uint64_t i) const {
    return static_cast<char*>(weights.data()) + i % static_cast<uint64_t>(count) * weightBytes();
  }
};

/// The kernel for any number of rows, compiled when it is first needed.
class DenseKernel {
 public:
  Result<NativeKernel> get() {
    if (!kernel_) {
      BATON_TRY_ASSIGN(
          kernel_, NativeKernel::compile("def @main(%x: Tensor[(m, 768), float32], %w: Tensor[(12, 768, 64), "
                                         "float32]) { nn.dense_packed(%x, %w, units=768) }"));
    }
    return NativeKernel(*kernel_);
  }

 private:
  std::optional<NativeKernel> kernel_;
};

Result<std::vector<Row>> measureDense(const std::string& id, const std::string& what, DenseKernel& dense,
                                      int64_t rows, const Settings& settings) {
  BATON_TRY_ASSIGN(const NativeKernel kernel, dense.get());
  const GemmMemory memory({rows, 768, 768}, 1, settings.seed);
  const Operand operands[] = {
      {DType::F32, {rows, 768}}, {DType::F32, {12, 768, 64}}, {DType::F32, {rows, 768}}};
  void* const buffers[] = {memory.x.data(), memory.weights.data(), memory.y.data()};
  BATON_TRY_ASSIGN(BoundKernel bound, BoundKernel::bind(kernel, operands, buffers));

  if (bound.run() != BATON_KERNEL_OK) return Error(ErrorCode::Internal, id + ": the kernel failed");
  const Memory expected(memory.y.sizeBytes());
  void* const twinBuffers[] = {memory.x.data(), memory.weights.data(), expected.data()};
  const int64_t extents[] = {rows, 768, 768};
  twins()->packedGemm(twinBuffers, extents);
  if (std::memcmp(expected.data(), memory.y.data(), expected.sizeBytes()) != 0)
    return Error(ErrorCode::Internal, id + ": not the bits of the twin");

  const std::optional<double> bar = rows >= 16 ? std::optional(0.8) : std::nullopt;
  return std::vector<Row>{peakShare(id, what, bound, memory.size.flops(), bar, settings)};
}

}  // namespace

Workload gemmTwin(const GemmSize& size, int weights) {
  auto memory = std::make_shared<GemmMemory>(size, weights, 1);
  return {"written product", [memory, next = uint64_t{0}](uint64_t runs) mutable {
            const GemmSize& size = memory->size;
            const int64_t extents[] = {size.rows, size.columns, size.inner};
            for (uint64_t i = 0; i < runs; ++i) {
              void* const buffers[] = {memory->x.data(), memory->weight(next++), memory->y.data()};
              twins()->packedGemm(buffers, extents);
            }
          }};
}

std::vector<Figure> gemmFigures(const Settings& settings) {
  std::vector<Figure> figures;
  if (twins() == nullptr) return figures;
  auto dense = std::make_shared<DenseKernel>();
  for (int64_t rows = 1; rows <= 128; ++rows) {
    if (settings.isSmoke && rows != 1 && rows != 23) continue;
    const std::string id = fmt::format("kernels.dense.M{}", rows);
    const std::string what =
        fmt::format("dense 768x768, {} rows, packed and hot: part of the FMA peak", rows);
    figures.push_back({id, what, [=](const Settings& s) { return measureDense(id, what, *dense, rows, s); }});
  }
  return figures;
}

}  // namespace baton::benchmarks
