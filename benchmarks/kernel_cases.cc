#include "benchmarks/kernel_cases.h"

#include <cmath>

#include <fmt/format.h>

#include "benchmarks/operation_count.h"

namespace baton::benchmarks {

namespace {

/// A size, and whether extents are a little less and odd.
struct Size {
  const char* name;
  int64_t bytes;
  bool isOdd;

  int64_t elements() const { return bytes / 4 - (isOdd ? 1 : 0); }
};

constexpr Size kSizes[] = {{"256KiB", 256 << 10, false},
                           {"256KiB_odd", 256 << 10, true},
                           {"8MiB", 8 << 20, false},
                           {"8MiB_odd", 8 << 20, true},
                           {"256MiB", 256 << 20, false}};
constexpr Size kSmokeSizes[] = {{"4KiB", 4 << 10, false}, {"4KiB_odd", 4 << 10, true}};
constexpr int64_t kLongBytes = 64 << 20;

std::string vectorType(int64_t n, bool isDynamic) {
  return fmt::format("Tensor[({},), float32]", isDynamic ? "n" : std::to_string(n));
}
std::string matrixType(int64_t n, int64_t m, bool isDynamic) {
  return isDynamic ? "Tensor[(n, m), float32]" : fmt::format("Tensor[({}, {}), float32]", n, m);
}
Operand floats(std::vector<int64_t> extents) { return {DType::F32, std::move(extents)}; }

class CaseMaker {
 public:
  CaseMaker(std::vector<KernelCase>& cases, const Size& size) : cases_(cases), size_(size) {}

  /// f of `inputs` vectors, named %a, %b, ...
  void chain(const std::string& name, const std::string& expression, int inputs, Twin Twins::* twin,
             OperationCount perElement) {
    const int64_t n = size_.elements();
    KernelCase c = start(name, fmt::format("{} of {} elements", name, n));
    c.text = [=](bool isDynamic) {
      std::string parameters;
      for (int i = 0; i < inputs; ++i)
        parameters += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", static_cast<char>('a' + i),
                                  vectorType(n, isDynamic));
      return fmt::format("def @main({}) {{ {} }}", parameters, expression);
    };
    c.inputs.assign(static_cast<size_t>(inputs), floats({n}));
    c.outputs = {floats({n})};
    c.twin = twin;
    c.twinExtents = {n};
    finish(std::move(c), perElement, n);
  }

  /// Of a vector to a scalar.
  void whole(const std::string& name, Twin Twins::* twin, OperationCount perElement) {
    const int64_t n = size_.elements();
    KernelCase c = start(name, fmt::format("{} of {} elements", name, n));
    c.text = [=](bool isDynamic) {
      return fmt::format("def @main(%x: {}) {{ {}(%x) }}", vectorType(n, isDynamic), name);
    };
    c.inputs = {floats({n})};
    c.outputs = {floats({})};
    c.twin = twin;
    c.twinExtents = {n};
    finish(std::move(c), perElement, n);
  }

  /// Of a matrix with rows of 768, or 767.
  void rows(const std::string& name, const std::string& expression, bool keepsShape, bool keepsRows,
            Twin Twins::* twin, OperationCount perElement, const std::vector<std::string>& vectors = {}) {
    const int64_t m = size_.isOdd ? 767 : 768;
    const int64_t n = std::max<int64_t>(size_.bytes / (4 * 768), 3);
    KernelCase c = start(name, fmt::format("{} of {}x{}", name, n, m));
    c.text = [=](bool isDynamic) {
      std::string parameters = "%x: " + matrixType(n, m, isDynamic);
      for (const std::string& vector : vectors)
        parameters +=
            fmt::format(", %{}: Tensor[({},), float32]", vector, isDynamic ? "m" : std::to_string(m));
      return fmt::format("def @main({}) {{ {} }}", parameters, expression);
    };
    c.inputs = {floats({n, m})};
    for (size_t i = 0; i < vectors.size(); ++i) c.inputs.push_back(floats({m}));
    c.outputs = {keepsShape ? floats({n, m}) : floats({keepsRows ? n : m})};
    c.twin = twin;
    c.twinExtents = {n, m};
    finish(std::move(c), perElement, n * m);
  }

  void transpose() {
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(size_.bytes / 4)));
    const int64_t n = size_.isOdd ? side - 1 + side % 2 : side;
    const int64_t m = size_.isOdd ? n + 2 : side;
    KernelCase c = start("transpose", fmt::format("transpose of {}x{}", n, m));
    c.text = [=](bool isDynamic) {
      return fmt::format("def @main(%x: {}) {{ transpose(%x) }}", matrixType(n, m, isDynamic));
    };
    c.inputs = {floats({n, m})};
    c.outputs = {floats({m, n})};
    c.twin = &Twins::transpose;
    c.twinExtents = {n, m};
    finish(std::move(c), {}, n * m);
  }

  /// As many rows as there are, in random order.
  void take() {
    const int64_t m = size_.isOdd ? 767 : 768;
    const int64_t n = std::max<int64_t>(size_.bytes / (4 * 768), 3);
    KernelCase c = start("take", fmt::format("take of {0} rows of {0}x{1}", n, m));
    c.text = [=](bool isDynamic) {
      return fmt::format("def @main(%x: {}, %i: Tensor[({},), int32]) {{ take(%x, %i, axis=0) }}",
                         matrixType(n, m, isDynamic), isDynamic ? "k" : std::to_string(n));
    };
    c.inputs = {floats({n, m}), {DType::I32, {n}}};
    c.outputs = {floats({n, m})};
    c.twin = &Twins::take;
    c.twinExtents = {n, m, n};
    finish(std::move(c), {}, n * m);
  }

 private:
  KernelCase start(const std::string& name, std::string what) const {
    KernelCase c;
    c.id = fmt::format("kernels.{}.{}", name, size_.name);
    c.what = std::move(what);
    c.isLong = size_.bytes >= kLongBytes;
    return c;
  }
  void finish(KernelCase c, OperationCount perElement, int64_t elements) {
    c.bytesRead = 0;
    for (const Operand& each : c.inputs) c.bytesRead += static_cast<double>(each.sizeBytes());
    c.bytesWritten = static_cast<double>(c.outputs[0].sizeBytes());
    c.operations = perElement.operations * static_cast<double>(elements);
    c.divisions = perElement.divisions * static_cast<double>(elements);
    cases_.push_back(std::move(c));
  }

  std::vector<KernelCase>& cases_;
  const Size& size_;
};

OperationCount sum(std::initializer_list<OperationCount> parts) {
  OperationCount total;
  for (const OperationCount& part : parts) {
    total.operations += part.operations;
    total.divisions += part.divisions;
  }
  return total;
}

void addCases(std::vector<KernelCase>& cases, const Size& size) {
  const OperationCount exp = countOperations([](auto a, auto x) { math::exp(a, x); });
  const OperationCount tanh = countOperations([](auto a, auto x) { math::tanh(a, x); });
  const OperationCount sigmoid = countOperations([](auto a, auto x) { math::sigmoid(a, x); });
  const OperationCount erf = countOperations([](auto a, auto x) { math::erf(a, x); });
  CaseMaker make(cases, size);
  make.chain("relu", "nn.relu(%a * %b + %c)", 3, &Twins::scaledRelu, {3, 0});
  make.chain("gelu", "nn.gelu(%a)", 1, &Twins::gelu, sum({erf, {4, 0}}));
  make.chain("lstm", "sigmoid(%a) * %b + sigmoid(%c) * tanh(%d)", 4, &Twins::lstmCell,
             sum({sigmoid, sigmoid, tanh, {3, 0}}));
  make.whole("sum", &Twins::sum, {1, 0});
  make.whole("max", &Twins::max, {3, 0});
  make.rows("row_sums", "sum(%x, axis=[1])", false, true, &Twins::rowSums, {1, 0});
  make.rows("row_maxima", "max(%x, axis=[1])", false, true, &Twins::rowMaxima, {3, 0});
  make.rows("column_sums", "sum(%x, axis=[0])", false, false, &Twins::columnSums, {1, 0});
  make.transpose();
  make.take();
  make.rows("softmax", "nn.softmax(%x)", true, true, &Twins::softmax, sum({exp, {3 + 1 + 1 + 1, 1}}));
  make.rows("layer_norm", "nn.layer_norm(%x, %gamma, %beta)", true, true, &Twins::layerNorm, {8, 0},
            {"gamma", "beta"});
}

}  // namespace

std::vector<KernelCase> kernelCases(const Settings& settings) {
  std::vector<KernelCase> cases;
  if (settings.isSmoke) {
    for (const Size& size : kSmokeSizes) addCases(cases, size);
    return cases;
  }
  for (const Size& size : kSizes) addCases(cases, size);
  return cases;
}

}  // namespace baton::benchmarks
