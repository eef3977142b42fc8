#include "benchmarks/kernel_figures.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/compile_figures.h"
#include "benchmarks/convolution_figures.h"
#include "benchmarks/gemm.h"
#include "benchmarks/kernel_cases.h"
#include "benchmarks/limits.h"
#include "benchmarks/order_figures.h"
#include "benchmarks/random_data.h"

namespace baton::benchmarks {

namespace {

/// The limit that a case comes closest to: its bytes, or its operations.
Workload limitOf(const KernelCase& c, const SamplerOptions& options) {
  const double bytes = c.bytesRead + c.bytesWritten;
  std::vector<Workload> limits;
  const bool onlyReads = c.bytesWritten < 0.05 * bytes;
  limits.push_back(onlyReads ? readLoop(bytes) : copyLoop(bytes));
  double most = roughSeconds(limits[0], options);
  if (!onlyReads && c.isLong) {
    const Workload streamed = streamLoop(bytes);
    const double took = roughSeconds(streamed, options);
    if (took < most) {
      limits[0] = streamed;
      most = took;
    }
  }
  const auto lanes = static_cast<double>(twins()->lanes);
  if (c.operations > 0) limits.push_back(issueLoop(c.operations / lanes));
  if (c.divisions > 0) limits.push_back(divideLoop(c.divisions / lanes));
  size_t slowest = 0;
  for (size_t i = 1; i < limits.size(); ++i) {
    const double took = roughSeconds(limits[i], options);
    if (took > most) {
      most = took;
      slowest = i;
    }
  }
  return limits[slowest];
}

/// Operands with their memory, the same for all versions of a kernel; a second output to compare bits.
struct CaseMemory {
  std::vector<Memory> inputs;
  std::vector<Memory> outputs;
  Memory twinOutput;

  CaseMemory(const KernelCase& c, uint64_t seed) {
    for (const Operand& operand : c.inputs) {
      inputs.emplace_back(operand.sizeBytes());
      if (operand.dtype == DType::F32)
        fillFloats(inputs.back().as<float>(), seed++);
      else
        fillIndices(inputs.back().as<int32_t>(), seed++, c.inputs[0].extents[0]);
    }
    for (const Operand& operand : c.outputs) outputs.emplace_back(operand.sizeBytes());
    twinOutput = Memory(c.outputs[0].sizeBytes());
  }

  std::vector<void*> buffers(const KernelCase& c) const {
    std::vector<void*> all;
    for (const Memory& memory : inputs) all.push_back(memory.data());
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!c.outputs[i].extents.empty()) all.push_back(outputs[i].data());
    return all;
  }
  std::vector<void*> twinBuffers(const Memory& output) const {
    std::vector<void*> all;
    for (const Memory& memory : inputs) all.push_back(memory.data());
    all.push_back(output.data());
    return all;
  }
};

Result<BoundKernel> boundKernel(const KernelCase& c, bool isDynamic, const CaseMemory& memory) {
  BATON_TRY_ASSIGN(const NativeKernel kernel, NativeKernel::compile(c.text(isDynamic)));
  std::vector<Operand> operands = c.inputs;
  for (const Operand& output : c.outputs)
    if (!output.extents.empty()) operands.push_back(output);
  return BoundKernel::bind(kernel, operands, memory.buffers(c));
}

/// Runs it once and compares with what the twin has written.
Result<void> checkBits(const KernelCase& c, BoundKernel& kernel, const CaseMemory& memory) {
  if (kernel.run() != BATON_KERNEL_OK) return Error(ErrorCode::Internal, c.id + ": the kernel failed");
  bool isSame = false;
  if (c.outputs[0].extents.empty()) {
    const auto bits = static_cast<uint32_t>(kernel.scalarOutput(0));
    isSame = std::memcmp(&bits, memory.twinOutput.data(), sizeof bits) == 0;
  } else {
    isSame =
        std::memcmp(memory.outputs[0].data(), memory.twinOutput.data(), memory.twinOutput.sizeBytes()) == 0;
  }
  if (!isSame) return Error(ErrorCode::Internal, c.id + ": not the bits of the twin");
  return success();
}

Workload repeated(std::string name, BoundKernel& kernel) {
  return {std::move(name), [&kernel](uint64_t runs) {
            for (uint64_t i = 0; i < runs; ++i) kernel.run();
          }};
}

Result<std::vector<Row>> measureCase(const KernelCase& c, const Settings& settings) {
  const CaseMemory memory(c, settings.seed);
  const Twin twin = twins()->*c.twin;
  twin(memory.twinBuffers(memory.twinOutput).data(), c.twinExtents.data());
  BATON_TRY_ASSIGN(BoundKernel fixed, boundKernel(c, false, memory));
  BATON_TRY(checkBits(c, fixed, memory));
  BATON_TRY_ASSIGN(BoundKernel dynamic, boundKernel(c, true, memory));
  BATON_TRY(checkBits(c, dynamic, memory));

  const std::vector<void*> twinBuffers = memory.twinBuffers(memory.outputs[0]);
  const SamplerOptions options = settings.sampling(c.isLong);
  const Workload limit = limitOf(c, options);
  const Workload workloads[] = {repeated("static", fixed),
                                repeated("dynamic", dynamic),
                                {"twin", [&](uint64_t runs) {
                                   for (uint64_t i = 0; i < runs; ++i)
                                     twin(twinBuffers.data(), c.twinExtents.data());
                                 }}};
  const Rounds rounds = sampleRounds(workloads, limit, options);
  Row toTwin = rowOf(c.id + ".twin", c.what + ": speed of the twin reached", rounds,
                     [](const Round& r) { return r.workloads[2] / r.workloads[0]; });
  toTwin.bar = Bar::AtLeast;
  toTwin.limit = 0.85;
  const Row toLimit = rowOf(c.id + ".limit", fmt::format("{}: part of the limit ({})", c.what, limit.name),
                            rounds, [](const Round& r) { return r.limit / r.workloads[0]; });
  Row toStatic = rowOf(
      c.id + ".dynamic", c.what + ": dynamic extents to static ones", rounds,
      [](const Round& r) { return r.workloads[1] / r.workloads[0]; }, 1);
  toStatic.bar = Bar::AtMost;
  toStatic.limit = 1.03;
  return std::vector<Row>{toTwin, toLimit, toStatic};
}

}  // namespace

std::vector<Figure> kernelFigures(const Settings& settings) {
  std::vector<Figure> figures;
  if (twins() != nullptr)
    for (KernelCase& c : kernelCases(settings)) {
      const std::string id = c.id;
      const std::string what = c.what;
      figures.push_back({id, what, [c = std::move(c)](const Settings& s) { return measureCase(c, s); }});
    }
  for (auto* const more : {gemmFigures, convolutionFigures, orderFigures, compileFigures})
    for (Figure& figure : more(settings)) figures.push_back(std::move(figure));
  return figures;
}

}  // namespace baton::benchmarks
