#include "benchmarks/compile_figures.h"

#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/driver/compile.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/printer.h"

namespace baton::benchmarks {

namespace {

using Steady = std::chrono::steady_clock;

double secondsSince(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

/// One kernel of those that networks have, all different: chains of elementwise operators, rows,
/// reductions, arrangement, products.
std::string functionText(int i) {
  const char* const unary[] = {"tanh",    "sigmoid", "exp",   "nn.relu", "sqrt", "negative",
                               "nn.gelu", "abs",     "rsqrt", "log",     "erf",  "ceil"};
  const char* const binary[] = {"add", "multiply", "subtract", "maximum", "divide"};
  const std::string matrix = fmt::format("%x: Tensor[(n, {}), float32]", 16 + 8 * i);
  const std::string two = matrix + fmt::format(", %y: Tensor[(n, {}), float32]", 16 + 8 * i);
  const int kind = i % 10;
  const auto u = [&](int step) { return unary[static_cast<size_t>(i * 7 + step * 5 + i / 12) % 12]; };
  const auto b = [&](int step) { return binary[static_cast<size_t>(i * 3 + step) % 5]; };
  std::string parameters = two;
  std::string body;
  switch (kind) {
    case 0:
      body = "nn.softmax(%x)";
      parameters = matrix;
      break;
    case 1: body = fmt::format("sum({}({}(%x, %y)), axis=[1])", u(0), b(0)); break;
    case 2:
      body = fmt::format("{}(transpose(%x))", u(0));
      parameters = matrix;
      break;
    case 3:
      body = fmt::format("{}(nn.dense(%x, %w))", u(0));
      parameters = matrix + fmt::format(", %w: Tensor[({}, {}), float32]", 32 + i, 16 + 8 * i);
      break;
    case 4: body = "concatenate((%x, %y), axis=1)"; break;
    default: body = fmt::format("{}({}(%x), {}({}(%x, {}(%y))))", b(0), u(0), u(1), b(1), u(2)); break;
  }
  return fmt::format("def @f{}({}) {{ {} }}\n", i, parameters, body);
}

std::string programText(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += functionText(i);
  return text;
}

Row secondsRow(std::string id, std::string what, const std::vector<double>& times, double fraction) {
  Row row{.id = std::move(id), .what = std::move(what), .unit = "s"};
  row.spread = Spread{percentile(times, fraction), percentile(times, 0.1), percentile(times, 0.9)};
  row.seconds = row.spread->median;
  row.accepted = static_cast<int>(times.size());
  return row;
}

Result<driver::CompileOutput> compiled(int count, driver::Emit emit) {
  driver::CompileOptions options;
  options.emit = emit;
  BATON_TRY_ASSIGN(driver::CompileOutput output, driver::compile({"kernels", programText(count)}, options));
  if (output.diagnostics.hasErrors())
    return Error(ErrorCode::CompileError, frontend::render(output.diagnostics, output.sources));
  return output;
}

/// Each kernel by itself, from loop IR to an image.
Result<std::vector<Row>> measureEach(int count) {
  BATON_TRY_ASSIGN(const driver::CompileOutput output, compiled(count, driver::Emit::Loop));
  BATON_TRY_ASSIGN(const std::vector<loop::Kernel> kernels, loop::parseKernels(output.text));
  std::vector<double> times;
  for (const loop::Kernel& kernel : kernels) {
    const Steady::time_point start = Steady::now();
    BATON_TRY_ASSIGN(const codegen::NativeImage image, codegen::compileKernels({&kernel, 1}, {}));
    times.push_back(secondsSince(start));
  }
  return std::vector<Row>{
      secondsRow("kernels.compile.each.median", "one kernel to native code, median", times, 0.5),
      secondsRow("kernels.compile.each.p95", "one kernel to native code, 95th percentile", times, 0.95)};
}

/// The whole compiler, program text to executable, for one CPU level.
Result<std::vector<Row>> measureAll(int count, int samples) {
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const Steady::time_point start = Steady::now();
    BATON_TRY_ASSIGN(const driver::CompileOutput output, compiled(count, driver::Emit::Executable));
    times.push_back(secondsSince(start));
    const auto& kernels = output.program->kernels;
    if (kernels.size() != static_cast<size_t>(count))
      return Error(ErrorCode::Internal, fmt::format("{} functions are {} kernels", count, kernels.size()));
  }
  Row row = secondsRow("kernels.compile.all", fmt::format("{} distinct kernels for one CPU level", count),
                       times, 0.5);
  if (count == 200) {
    row.bar = Bar::AtMost;
    row.limit = 6;
  }
  return std::vector<Row>{row};
}

}  // namespace

std::vector<Figure> compileFigures(const Settings& settings) {
  const int count = settings.isSmoke ? 5 : 200;
  const int samples = settings.isSmoke ? 1 : 3;
  return {{"kernels.compile.each", "time to compile a kernel",
           [=](const Settings&) { return measureEach(count); }},
          {"kernels.compile.all", fmt::format("time to compile {} kernels", count),
           [=](const Settings&) { return measureAll(count, samples); }}};
}

}  // namespace baton::benchmarks
