#include "benchmarks/convolution_figures.h"

#include <cmath>
#include <random>

#include <fmt/format.h>

#include "benchmarks/native_kernel.h"
#include "benchmarks/peak_share.h"
#include "benchmarks/random_data.h"
#include "benchmarks/twins/twins.h"

namespace baton::benchmarks {

namespace {

constexpr int64_t kPanel = 64;

/// A square window over a square picture, with as much padding as keeps its size.
struct Convolution {
  int64_t from;    ///< channels
  int64_t to;      ///< channels, a multiple of kPanel
  int64_t size;    ///< rows and columns of the data
  int64_t window;  ///< rows and columns: 1 or 3
  int64_t stride;

  int64_t padding() const { return window / 2; }
  int64_t resultSize() const { return (size + 2 * padding() - window) / stride + 1; }
  double flops() const {
    return 2.0 * static_cast<double>(from * to * window * window * resultSize() * resultSize());
  }
  std::string name() const {
    return fmt::format("{0}x{0}.{1}x{2}x{2}.{3}{4}", window, from, size, to, stride == 1 ? "" : ".s2");
  }
  std::string text() const {
    return fmt::format(
        "def @main(%x: Tensor[(1, {0}, {1}, {1}), float32], %w: Tensor[({2}, {0}, {3}, {3}, 64), float32]) "
        "{{ "
        "nn.conv2d(%x, %w, channels={4}, kernel_size=[{3}, {3}], padding=[{5}, {5}], strides=[{6}, {6}], "
        "kernel_layout=\"OIHW64o\") }}",
        from, size, to / kPanel, window, to, padding(), stride);
  }
};

/// What an element must be: fused multiply-adds over channels, then the window; padding is multiplied.
float element(const Convolution& c, std::span<const float> x, std::span<const float> w, int64_t o,
              int64_t row, int64_t column) {
  float sum = 0;
  for (int64_t i = 0; i < c.from; ++i)
    for (int64_t r = 0; r < c.window; ++r)
      for (int64_t s = 0; s < c.window; ++s) {
        const int64_t y = row * c.stride + r - c.padding();
        const int64_t z = column * c.stride + s - c.padding();
        const bool isInside = y >= 0 && y < c.size && z >= 0 && z < c.size;
        const float value = isInside ? x[static_cast<size_t>((i * c.size + y) * c.size + z)] : 0.0f;
        const int64_t at = (((o / kPanel * c.from + i) * c.window + r) * c.window + s) * kPanel + o % kPanel;
        sum = std::fma(value, w[static_cast<size_t>(at)], sum);
      }
  return sum;
}

Result<std::vector<Row>> measure(const std::string& id, const std::string& what, const Convolution& c,
                                 const Settings& settings) {
  BATON_TRY_ASSIGN(const NativeKernel kernel, NativeKernel::compile(c.text()));
  const Operand operands[] = {{DType::F32, {1, c.from, c.size, c.size}},
                              {DType::F32, {c.to / kPanel, c.from, c.window, c.window, kPanel}},
                              {DType::F32, {1, c.to, c.resultSize(), c.resultSize()}}};
  const Memory x(operands[0].sizeBytes());
  const Memory w(operands[1].sizeBytes());
  const Memory y(operands[2].sizeBytes());
  fillFloats(x.as<float>(), settings.seed);
  fillFloats(w.as<float>(), settings.seed + 1,
             1 / std::sqrt(static_cast<float>(c.from * c.window * c.window)));
  void* const buffers[] = {x.data(), w.data(), y.data()};
  BATON_TRY_ASSIGN(BoundKernel bound, BoundKernel::bind(kernel, operands, buffers));
  if (bound.run() != BATON_KERNEL_OK) return Error(ErrorCode::Internal, id + ": the kernel failed");
  std::mt19937_64 random(settings.seed);
  const int64_t size = c.resultSize();
  for (int i = 0; i < 200; ++i) {
    // Every other one at a border.
    const auto place = [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(size)); };
    const int64_t row = i % 4 == 0 ? 0 : i % 4 == 2 ? size - 1 : place();
    const int64_t column = place();
    const auto o = static_cast<int64_t>(random() % static_cast<uint64_t>(c.to));
    const float expected = element(c, x.as<float>(), w.as<float>(), o, row, column);
    if (y.as<float>()[static_cast<size_t>((o * size + row) * size + column)] != expected)
      return Error(ErrorCode::Internal, id + ": not the bits of plain loops");
  }
  return std::vector<Row>{peakShare(id, what, bound, c.flops(), 0.6, settings)};
}

}  // namespace

std::vector<Figure> convolutionFigures(const Settings& settings) {
  std::vector<Figure> figures;
  if (twins() == nullptr) return figures;
  std::vector<Convolution> convolutions = {{64, 64, 56, 3, 1},    {128, 128, 56, 3, 2},  {128, 128, 28, 3, 1},
                                           {256, 256, 14, 3, 1},  {512, 512, 7, 3, 1},   {64, 256, 56, 1, 1},
                                           {256, 64, 56, 1, 1},   {512, 128, 28, 1, 1},  {256, 512, 56, 1, 2},
                                           {256, 1024, 14, 1, 1}, {1024, 256, 14, 1, 1}, {512, 2048, 7, 1, 1},
                                           {2048, 512, 7, 1, 1}};
  if (settings.isSmoke) convolutions = {{16, 64, 7, 3, 1}};
  for (const Convolution& c : convolutions) {
    const std::string id = "kernels.conv2d." + c.name();
    const std::string what = fmt::format("convolution {}: part of the FMA peak", c.name());
    figures.push_back({id, what, [=](const Settings& s) { return measure(id, what, c, s); }});
  }
  return figures;
}

}  // namespace baton::benchmarks
