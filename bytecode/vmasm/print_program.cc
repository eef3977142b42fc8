// Text of everything but code, and the order of it all.
#include <fmt/format.h>

#include "bytecode/vmasm/base64.h"
#include "bytecode/vmasm/printer_impl.h"
#include "bytecode/vmasm/token.h"

namespace baton::bytecode {

namespace {

constexpr size_t kBytesPerLine = 72;

template <class T>
std::vector<std::string_view> namesOf(const std::vector<T>& entries) {
  std::vector<std::string_view> names;
  for (const T& entry : entries) names.push_back(entry.name);
  return names;
}

const char* sourceName(KernelSource source) {
  switch (source) {
    case KernelSource::Compiled: return "compiled";
    case KernelSource::Library: return "library";
    case KernelSource::External: return "external";
  }
  return "?";
}

const char* knownName(EntryPoint::PeakMemory::Known known) {
  switch (known) {
    case EntryPoint::PeakMemory::Known::Unknown: return "unknown";
    case EntryPoint::PeakMemory::Known::Exact: return "exact";
    case EntryPoint::PeakMemory::Known::Bound: return "bound";
  }
  return "?";
}

std::string stringList(const std::vector<std::string>& strings) {
  std::string text;
  for (const std::string& one : strings) text += (text.empty() ? "" : ", ") + escapeString(one);
  return "[" + text + "]";
}

std::string dtypeList(const std::vector<DType>& dtypes) {
  std::string text;
  for (DType dtype : dtypes) text += fmt::format("{}{}", text.empty() ? "" : ", ", dtypeShortName(dtype));
  return "[" + text + "]";
}

/// One string a line of the text.
std::string longString(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    end = end == std::string_view::npos ? text.size() : end + 1;
    result += "\n    " + escapeString(text.substr(at, end - at));
    at = end;
  }
  return result.empty() ? " \"\"" : result;
}

}  // namespace

Printer::Printer(const Program& program, VmasmPrintOptions options)
    : program_(program),
      options_(std::move(options)),
      functions_('@', namesOf(program.functions)),
      kernels_('$', namesOf(program.kernels)),
      messages_(program.messages),
      files_(program.debug.files),
      names_(program.debug.names) {
  std::map<std::string, SignatureIndex> first;
  for (uint32_t i = 0; i < program.signatures.size(); ++i)
    firstEqualSignature_.push_back(
        first.try_emplace(signature(program.signatures[i]), SignatureIndex(i)).first->second);
}

Result<void> Printer::bytes(const std::string& blobName, std::span<const std::byte> bytes) {
  if (options_.writeBlob) {
    BATON_TRY(options_.writeBlob(blobName, bytes));
    out_ += " file " + escapeString(blobName) + "\n";
    return success();
  }
  out_ += " base64";
  if (bytes.empty()) out_ += " \"\"";
  for (size_t at = 0; at < bytes.size(); at += kBytesPerLine) {
    out_ += "\n  \"";
    appendBase64(out_, bytes.subspan(at, std::min(kBytesPerLine, bytes.size() - at)));
    out_ += '"';
  }
  out_ += '\n';
  return success();
}

void Printer::meta() {
  const Meta& meta = program_.meta;
  if (meta.name.empty() && meta.compilerVersion.empty() && meta.flags.empty() && meta.targets.empty()) return;
  out_ += "meta {\n";
  if (!meta.name.empty()) out_ += "  name " + escapeString(meta.name) + "\n";
  if (!meta.compilerVersion.empty()) out_ += "  compiler " + escapeString(meta.compilerVersion) + "\n";
  if (!meta.flags.empty()) out_ += "  flags " + escapeString(meta.flags) + "\n";
  for (const std::string& target : meta.targets) out_ += "  target " + escapeString(target) + "\n";
  out_ += "}\n";
}

bool Printer::signaturesMustBeDeclared() const {
  uint32_t collected = 0;
  for (const Function& function : program_.functions) {
    const uint32_t index = function.signature.value();
    if (index > collected) return true;
    if (index == collected) ++collected;
  }
  if (collected != program_.signatures.size()) return true;
  for (uint32_t i = 0; i < collected; ++i)
    if (firstEqualSignature_[i].value() != i) return true;
  // A reference by number reads better, and in any order of the text, with a declaration.
  for (const Kind& kind : program_.kinds)
    if (kind.tag == KindTagValue::Closure) return true;
  for (const Signature& signature : program_.signatures)
    for (const auto* list : {&signature.params, &signature.results})
      for (const Kind& kind : *list)
        if (kind.tag == KindTagValue::Closure) return true;
  for (const TypeDef& type : program_.types)
    for (const Constructor& constructor : type.constructors)
      for (const Field& field : constructor.fields)
        if (field.type.tag == ValueType::Tag::Closure) return true;
  return false;
}

void Printer::tables() {
  for (size_t i = 0; i < program_.kinds.size(); ++i)
    out_ += fmt::format("kind k{} = {}\n", i, kind(program_.kinds[i]));
  if (signaturesMustBeDeclared())
    for (size_t i = 0; i < program_.signatures.size(); ++i)
      out_ += fmt::format("signature sig{} = {}\n", i, signature(program_.signatures[i]));
  const auto declare = [&](const char* what, const char* prefix, const StringTableText& table,
                           const std::vector<std::string>& list) {
    if (!table.mustBeDeclared()) return;
    for (size_t i = 0; i < list.size(); ++i)
      out_ += fmt::format("{} {}{} = {}\n", what, prefix, i, escapeString(list[i]));
  };
  declare("message", "m", messages_, program_.messages);
  declare("source", "#", files_, program_.debug.files);
  declare("label", "#", names_, program_.debug.names);
  for (size_t i = 0; i < program_.debug.inlineSites.size(); ++i)
    out_ += fmt::format("site {} = {}\n", i, place(program_.debug.inlineSites[i]));
}

void Printer::type(uint32_t index) {
  const TypeDef& type = program_.types[index];
  out_ += fmt::format("type t{} = {}{}{}{} {{\n", index, escapeString(type.name),
                      type.isTuple ? " tuple" : "", type.isList ? " list" : "", type.isArray ? " array" : "");
  for (const Constructor& constructor : type.constructors) {
    out_ += "  " + escapeString(constructor.name) + " (";
    uint32_t references = 0;
    uint32_t scalars = 0;
    for (size_t i = 0; i < constructor.fields.size(); ++i) {
      const Field& field = constructor.fields[i];
      ++(field.isScalar ? scalars : references);
      out_ += fmt::format("{}{} {}{}", i == 0 ? "" : ", ", valueType(field.type, {}),
                          field.isScalar ? 's' : 'r', field.slot);
    }
    out_ += ")";
    if (references != constructor.referenceCount || scalars != constructor.scalarCount)
      out_ += fmt::format(" counts r{} s{}", constructor.referenceCount, constructor.scalarCount);
    out_ += "\n";
  }
  out_ += "}\n";
}

Result<void> Printer::constant(uint32_t index) {
  const Constant& constant = program_.constants[index];
  std::string extents;
  for (int64_t extent : constant.extents)
    extents += fmt::format("{}{}", extents.empty() ? "[" : ", ", extent);
  if (!extents.empty()) extents += "]";
  out_ += fmt::format("constant c{} = {}{}", index, dtypeShortName(constant.dtype), extents);
  if (!constant.layout.empty()) out_ += " layout " + escapeString(constant.layout);
  switch (constant.source) {
    case ConstantSource::External:
      out_ += " external " + escapeString(constant.externalKey) + "\n";
      return success();
    case ConstantSource::Inline: return bytes(fmt::format("c{}.bin", index), constant.bytes);
  }
  return success();
}

void Printer::kernelOperand(const char* what, const KernelOperand& operand,
                            const std::vector<std::string>& symbols) {
  out_ += fmt::format("  {} {}{}", what, dtypeShortName(operand.dtype), extents(operand.extents, symbols));
  if (operand.device != 0) out_ += fmt::format(" device {}", operand.device);
  if (operand.alignmentBytes != 1) out_ += fmt::format(" align {}", operand.alignmentBytes);
  if (!operand.mayAlias.empty()) {
    std::string list;
    for (uint32_t input : operand.mayAlias) list += fmt::format("{}{}", list.empty() ? "" : ", ", input);
    out_ += " alias [" + list + "]";
  }
  if (operand.independentAxis) out_ += fmt::format(" independent {}", *operand.independentAxis);
  out_ += "\n";
}

void Printer::kernel(uint32_t index) {
  const KernelDescriptor& kernel = program_.kernels[index];
  std::vector<std::string> names;
  for (const KernelSymbol& symbol : kernel.symbols) names.push_back(symbol.name);
  const std::vector<std::string> symbols = symbolTexts(names);
  out_ += fmt::format("kernel {} {} {{\n", kernels_.declaration(index), sourceName(kernel.source));
  for (const KernelSymbol& symbol : kernel.symbols) {
    const bool fromOperand = symbol.from == KernelSymbol::From::Operand;
    out_ += fmt::format("  symbol {} = {} {}",
                        isIdentifier(symbol.name) ? symbol.name : escapeString(symbol.name),
                        fromOperand ? "operand" : "scalar", symbol.index);
    if (fromOperand || symbol.axis != 0) out_ += fmt::format(" axis {}", symbol.axis);
    out_ += "\n";
  }
  for (const KernelOperand& operand : kernel.inputs) kernelOperand("input", operand, symbols);
  for (const KernelOperand& operand : kernel.outputs) kernelOperand("output", operand, symbols);
  if (!kernel.scalarInputs.empty()) out_ += "  scalar_inputs " + dtypeList(kernel.scalarInputs) + "\n";
  if (!kernel.scalarOutputs.empty()) out_ += "  scalar_outputs " + dtypeList(kernel.scalarOutputs) + "\n";
  for (const std::string& message : kernel.messages) out_ += "  message " + escapeString(message) + "\n";
  constraints(kernel.constraints, symbols);
  if (!program_.loops.empty() && index < program_.loops.size())
    out_ += "  loop" + longString(program_.loops[index]) + "\n";
  out_ += "}\n";
}

Result<void> Printer::image(uint32_t index) {
  const NativeImage& image = program_.images[index];
  std::string entries;
  for (uint32_t offset : image.entryOffsets) {
    entries += entries.empty() ? "" : ", ";
    entries += offset == NativeImage::kNoEntry ? "none" : fmt::format("{}", offset);
  }
  out_ += fmt::format("image {} features {} entries [{}]", escapeString(image.level),
                      stringList(image.requiredFeatures), entries);
  return bytes(fmt::format("image{}.bin", index), image.bytes);
}

void Printer::entryPoint(const EntryPoint& entryPoint) {
  const std::vector<std::string> symbols = symbolTexts(entryPoint.symbols);
  out_ += fmt::format("entry {} {} {{\n", escapeString(entryPoint.name),
                      functions_.reference(entryPoint.function.value()));
  if (!entryPoint.documentation.empty()) out_ += "  doc " + escapeString(entryPoint.documentation) + "\n";
  if (!entryPoint.symbols.empty()) {
    std::string list;
    for (const std::string& symbol : entryPoint.symbols)
      list += (list.empty() ? "" : ", ") + (isIdentifier(symbol) ? symbol : escapeString(symbol));
    out_ += "  symbols [" + list + "]\n";
  }
  constraints(entryPoint.constraints, symbols);
  for (size_t i = 0; i < entryPoint.views.size(); ++i) {
    const EntryPoint::View& view = entryPoint.views[i];
    out_ += fmt::format("  view v{} = {} t{} {{", i, escapeString(view.name), view.type.value());
    for (const std::vector<ValueType>& fields : view.fields) {
      std::string list;
      for (const ValueType& field : fields) list += (list.empty() ? "" : ", ") + valueType(field, symbols);
      out_ += " (" + list + ")";
    }
    out_ += " }\n";
  }
  for (const EntryPoint::Parameter& parameter : entryPoint.parameters)
    out_ += fmt::format("  param {} {}\n", escapeString(parameter.name), valueType(parameter.type, symbols));
  out_ += fmt::format("  result {}{}\n", entryPoint.resultIsSplit ? "split " : "",
                      valueType(entryPoint.result, symbols));
  const EntryPoint::PeakMemory& peak = entryPoint.peakMemory;
  out_ += fmt::format("  peak {}", knownName(peak.known));
  if (!peak.bytes.isZero())
    out_ += " bytes " + peak.bytes.print([&](DimSymbol symbol) {
      return symbol.value() < symbols.size() ? symbols[symbol.value()] : fmt::format("?{}", symbol.value());
    });
  if (!peak.reason.empty()) out_ += " " + escapeString(peak.reason);
  out_ += "\n}\n";
}

void Printer::positions() {
  for (const DebugInfo::Position& one : program_.debug.positions)
    out_ += fmt::format("position {} {} {}\n", one.function.value(), one.pc, place(one));
}

void Printer::tests() {
  for (const TestCase& test : program_.tests)
    out_ += fmt::format("test {} entry {} inputs {} output {}\n", escapeString(test.name),
                        escapeString(test.entryPoint), stringList(test.inputs), escapeString(test.output));
}

Result<void> Printer::program() {
  collectUses();
  inlinePositions_ = positionsFitInline();
  out_ += "vmasm 1\n";
  meta();
  tables();
  for (uint32_t i = 0; i < program_.types.size(); ++i) type(i);
  for (uint32_t i = 0; i < program_.constants.size(); ++i) BATON_TRY(constant(i));
  for (uint32_t i = 0; i < program_.kernels.size(); ++i) kernel(i);
  for (uint32_t i = 0; i < program_.images.size(); ++i) BATON_TRY(image(i));
  for (const EntryPoint& one : program_.entryPoints) entryPoint(one);
  uint64_t end = 0;
  for (uint32_t i = 0; i < program_.functions.size(); ++i) {
    function(FunctionIndex(i), end);
    end += program_.functions[i].codeSize;
  }
  if (!inlinePositions_) positions();
  tests();
  return success();
}

Result<std::string> printVmasm(const Program& program, const VmasmPrintOptions& options) {
  Printer printer(program, options);
  BATON_TRY(printer.program());
  return printer.take();
}

}  // namespace baton::bytecode
