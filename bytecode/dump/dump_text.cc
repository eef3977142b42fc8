#include <algorithm>

#include <fmt/format.h>

#include "bytecode/dump/dump.h"
#include "bytecode/vmasm/printer.h"

namespace baton::bytecode {

namespace {

std::string bytesText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

uint64_t constantBytes(const Program& program) {
  uint64_t bytes = 0;
  for (const Constant& constant : program.constants) bytes += constant.bytes.size();
  return bytes;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string constraintText(const DimConstraint& constraint, const std::vector<std::string>& symbols) {
  return fmt::format("{} {} {}", printDim(constraint.lhs, symbols), relationName(constraint.relation),
                     printDim(constraint.rhs, symbols));
}

std::string kindsText(const Program& program, const std::vector<Kind>& kinds) {
  std::vector<std::string> parts;
  for (const Kind& kind : kinds) parts.push_back(printKind(program, kind));
  return "(" + joined(parts, ", ") + ")";
}

const char* sourceText(KernelSource source) {
  switch (source) {
    case KernelSource::Compiled: return "compiled";
    case KernelSource::Library: return "library";
    case KernelSource::External: return "external";
  }
  return "?";
}

}  // namespace

std::string describeType(const Program& program, const ValueType& type,
                         const std::vector<std::string>& symbolNames,
                         std::span<const EntryPoint::View> views) {
  if (type.view && *type.view < views.size()) return views[*type.view].name;
  switch (type.tag) {
    case ValueType::Tag::Adt:
    case ValueType::Tag::Array:
      if (type.type.value() < program.types.size()) return program.types[type.type.value()].name;
      break;
    case ValueType::Tag::Closure:
      if (type.signature.value() < program.signatures.size()) {
        const Signature& signature = program.signatures[type.signature.value()];
        return "fn " + kindsText(program, signature.params) + " -> " + kindsText(program, signature.results);
      }
      break;
    case ValueType::Tag::Tensor:
    case ValueType::Tag::Cell: break;
  }
  return printValueType(type, symbolNames);
}

std::string dumpSummary(const Program& program) {
  const auto line = [](const char* what, const std::string& value) {
    return fmt::format("{:<14}{}\n", what, value);
  };
  std::vector<std::string> levels;
  for (const NativeImage& image : program.images) levels.push_back(image.level);
  size_t external = 0;
  for (const Constant& constant : program.constants) external += constant.source == ConstantSource::External;
  std::vector<std::string> entries;
  for (const EntryPoint& entry : program.entryPoints) entries.push_back("@" + entry.name);

  std::string text;
  text += line("name", program.meta.name);
  text += line("compiler", program.meta.compilerVersion);
  text += line("flags", program.meta.flags);
  text += line("targets", joined(program.meta.targets, ", "));
  text += line("entry points", joined(entries, ", "));
  text +=
      line("functions", fmt::format("{}, {} words of code", program.functions.size(), program.code.size()));
  text += line("types", fmt::format("{}", program.types.size()));
  text +=
      line("constants", fmt::format("{}, {}{}", program.constants.size(), bytesText(constantBytes(program)),
                                    external ? fmt::format(", {} external", external) : ""));
  text += line("kernels",
               fmt::format("{}{}", program.kernels.size(), program.loops.empty() ? "" : ", with loop IR"));
  text += line("images", levels.empty() ? "none" : joined(levels, ", "));
  text += line("debug", program.debug.positions.empty() ? "no" : "yes");
  text += line("tests", fmt::format("{}", program.tests.size()));
  return text;
}

std::string dumpSignatures(const Program& program) {
  std::string text;
  for (const EntryPoint& entry : program.entryPoints) {
    if (!entry.documentation.empty()) text += "/// " + entry.documentation + "\n";
    std::vector<std::string> params;
    for (const EntryPoint::Parameter& parameter : entry.parameters)
      params.push_back(parameter.name + ": " +
                       describeType(program, parameter.type, entry.symbols, entry.views));
    text += fmt::format("@{}({}) -> {}", entry.name, joined(params, ", "),
                        describeType(program, entry.result, entry.symbols, entry.views));
    std::vector<std::string> constraints;
    for (const DimConstraint& constraint : entry.constraints)
      constraints.push_back(constraintText(constraint, entry.symbols));
    if (!constraints.empty()) text += " where " + joined(constraints, ", ");
    text += "\n";
  }
  return text;
}

std::string dumpFunctions(const Program& program) {
  std::string text = fmt::format("{:>5} {:>8} {:>6} {:>6}  {}\n", "#", "words", "s", "r", "function");
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    std::string signature;
    if (function.signature.value() < program.signatures.size()) {
      const Signature& known = program.signatures[function.signature.value()];
      signature = kindsText(program, known.params) + " -> " + kindsText(program, known.results);
    }
    const std::string captures =
        function.isClosure ? " captures " + kindsText(program, function.captures) : "";
    text +=
        fmt::format("{:>5} {:>8} {:>6} {:>6}  @{}{}{}\n", i, function.codeSize, function.scalarRegisterCount,
                    function.referenceRegisterCount, function.name, signature, captures);
  }
  return text;
}

std::string dumpConstants(const Program& program) {
  std::string text = fmt::format("{:>5} {:>12}  {}\n", "#", "bytes", "constant");
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const Constant& constant = program.constants[i];
    const std::string layout = constant.layout.empty() ? "" : ", layout " + constant.layout;
    const std::string where =
        constant.source == ConstantSource::External ? ", external " + constant.externalKey : std::string();
    text += fmt::format("{:>5} {:>12}  {}[{}]{}{}\n", i, constant.bytes.size(),
                        dtypeShortName(constant.dtype), fmt::join(constant.extents, ", "), layout, where);
  }
  return text;
}

std::string dumpParams(const Params& params) {
  std::string text = fmt::format("{:>12}  {}\n", "bytes", "tensor");
  for (const Constant& tensor : params.tensors)
    text += fmt::format("{:>12}  {}: {}[{}]{}\n", tensor.bytes.size(), tensor.externalKey,
                        dtypeShortName(tensor.dtype), fmt::join(tensor.extents, ", "),
                        tensor.layout.empty() ? "" : ", layout " + tensor.layout);
  return text;
}

std::string dumpKernels(const Program& program) {
  std::string text;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    const KernelDescriptor& kernel = program.kernels[i];
    std::vector<std::string> symbols;
    for (const KernelSymbol& symbol : kernel.symbols) symbols.push_back(symbol.name);
    const auto operands = [&](const std::vector<KernelOperand>& list, const std::vector<DType>& scalars) {
      std::vector<std::string> parts;
      for (const KernelOperand& operand : list) {
        ValueType type;
        type.dtype = operand.dtype;
        type.extents = operand.extents;
        parts.push_back(printValueType(type, symbols));
      }
      for (DType dtype : scalars) parts.emplace_back(dtypeShortName(dtype));
      return "(" + joined(parts, ", ") + ")";
    };
    text += fmt::format("{:>5} ${}{} -> {}, {}", i, kernel.name, operands(kernel.inputs, kernel.scalarInputs),
                        operands(kernel.outputs, kernel.scalarOutputs), sourceText(kernel.source));
    for (const NativeImage& image : program.images)
      if (i < image.entryOffsets.size() && image.entryOffsets[i] != NativeImage::kNoEntry)
        text += fmt::format(", {} at {:#x}", image.level, image.entryOffsets[i]);
    if (i < program.loops.size() && !program.loops[i].empty()) text += ", loop IR";
    for (const DimConstraint& constraint : kernel.constraints)
      text += ", where " + constraintText(constraint, symbols);
    text += "\n";
  }
  return text;
}

std::string dumpMemory(const Program& program, const std::map<std::string, int64_t>& dims) {
  std::string text = fmt::format("constants {}\n", bytesText(constantBytes(program)));
  for (const EntryPoint& entry : program.entryPoints) {
    const EntryPoint::PeakMemory& peak = entry.peakMemory;
    text += fmt::format("@{} peak ", entry.name);
    switch (peak.known) {
      case EntryPoint::PeakMemory::Known::Unknown: text += "unknown: " + peak.reason + "\n"; continue;
      case EntryPoint::PeakMemory::Known::Exact: text += "exactly "; break;
      case EntryPoint::PeakMemory::Known::Bound: text += "at most "; break;
    }
    text += printDim(peak.bytes, entry.symbols) + " bytes";
    const auto value = peak.bytes.evaluate([&](DimSymbol symbol) -> std::optional<int64_t> {
      if (symbol.value() >= entry.symbols.size()) return std::nullopt;
      const auto found = dims.find(entry.symbols[symbol.value()]);
      return found == dims.end() ? std::nullopt : std::optional(found->second);
    });
    if (value.has_value() && !peak.bytes.isConstant())
      text += fmt::format(" = {}", bytesText(static_cast<uint64_t>(std::max<int64_t>(value.value(), 0))));
    text += "\n";
  }
  return text;
}

std::string dumpSizes(const std::vector<SectionSize>& sizes) {
  std::string text = fmt::format("{:>12} {:>12}  {}\n", "offset", "bytes", "section");
  uint64_t end = 0;
  for (const SectionSize& section : sizes) {
    text += fmt::format("{:>12} {:>12}  {}\n", section.offset, section.sizeBytes, section.name);
    end = section.offset + section.sizeBytes;
  }
  return text + fmt::format("{:>12} {:>12}  {}\n", "", end, "in all");
}

}  // namespace baton::bytecode
