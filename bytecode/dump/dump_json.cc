#include <nlohmann/json.hpp>

#include "bytecode/dump/dump.h"
#include "bytecode/vmasm/printer.h"

namespace baton::bytecode {

namespace {

using Json = nlohmann::ordered_json;

Json kindsJson(const Program& program, const std::vector<Kind>& kinds) {
  Json list = Json::array();
  for (const Kind& kind : kinds) list.push_back(printKind(program, kind));
  return list;
}

Json constraintsJson(const std::vector<DimConstraint>& constraints, const std::vector<std::string>& symbols) {
  Json list = Json::array();
  for (const DimConstraint& constraint : constraints)
    list.push_back(printDim(constraint.lhs, symbols) + " " + relationName(constraint.relation) + " " +
                   printDim(constraint.rhs, symbols));
  return list;
}

Json entryJson(const Program& program, const EntryPoint& entry) {
  Json params = Json::array();
  for (const EntryPoint::Parameter& parameter : entry.parameters)
    params.push_back({{"name", parameter.name},
                      {"type", describeType(program, parameter.type, entry.symbols, entry.views)}});
  constexpr const char* kKnown[] = {"unknown", "exact", "bound"};
  Json peak = {{"known", kKnown[static_cast<int>(entry.peakMemory.known)]}};
  if (entry.peakMemory.known == EntryPoint::PeakMemory::Known::Unknown)
    peak["reason"] = entry.peakMemory.reason;
  else
    peak["bytes"] = printDim(entry.peakMemory.bytes, entry.symbols);
  return {
      {"name", entry.name},       {"documentation", entry.documentation},
      {"symbols", entry.symbols}, {"constraints", constraintsJson(entry.constraints, entry.symbols)},
      {"parameters", params},     {"result", describeType(program, entry.result, entry.symbols, entry.views)},
      {"peak_memory", peak}};
}

Json functionJson(const Program& program, const Function& function) {
  Json json = {{"name", function.name},
               {"words", function.codeSize},
               {"scalar_registers", function.scalarRegisterCount},
               {"reference_registers", function.referenceRegisterCount}};
  if (function.signature.value() < program.signatures.size()) {
    const Signature& signature = program.signatures[function.signature.value()];
    json["parameters"] = kindsJson(program, signature.params);
    json["results"] = kindsJson(program, signature.results);
  }
  if (function.isClosure) json["captures"] = kindsJson(program, function.captures);
  return json;
}

Json constantJson(const Constant& constant) {
  Json json = {{"dtype", dtypeShortName(constant.dtype)},
               {"shape", constant.extents},
               {"bytes", constant.bytes.size()}};
  if (!constant.layout.empty()) json["layout"] = constant.layout;
  if (constant.source == ConstantSource::External) json["external"] = constant.externalKey;
  return json;
}

Json kernelJson(const Program& program, size_t index) {
  const KernelDescriptor& kernel = program.kernels[index];
  std::vector<std::string> symbols;
  for (const KernelSymbol& symbol : kernel.symbols) symbols.push_back(symbol.name);
  const auto operands = [&](const std::vector<KernelOperand>& list) {
    Json json = Json::array();
    for (const KernelOperand& operand : list) {
      ValueType type;
      type.dtype = operand.dtype;
      type.extents = operand.extents;
      json.push_back({{"type", printValueType(type, symbols)}, {"alignment", operand.alignmentBytes}});
    }
    return json;
  };
  const auto scalars = [](const std::vector<DType>& list) {
    Json json = Json::array();
    for (DType dtype : list) json.push_back(dtypeShortName(dtype));
    return json;
  };
  constexpr const char* kSources[] = {"compiled", "library", "external"};
  Json levels = Json::array();
  for (const NativeImage& image : program.images)
    if (index < image.entryOffsets.size() && image.entryOffsets[index] != NativeImage::kNoEntry)
      levels.push_back(image.level);
  return {{"name", kernel.name},
          {"source", kSources[static_cast<int>(kernel.source)]},
          {"inputs", operands(kernel.inputs)},
          {"outputs", operands(kernel.outputs)},
          {"scalar_inputs", scalars(kernel.scalarInputs)},
          {"scalar_outputs", scalars(kernel.scalarOutputs)},
          {"constraints", constraintsJson(kernel.constraints, symbols)},
          {"images", levels},
          {"has_loop", index < program.loops.size() && !program.loops[index].empty()}};
}

}  // namespace

std::string dumpJson(const Program& program, const std::vector<SectionSize>& sizes) {
  Json json;
  json["name"] = program.meta.name;
  json["compiler"] = program.meta.compilerVersion;
  json["flags"] = program.meta.flags;
  json["targets"] = program.meta.targets;
  json["entry_points"] = Json::array();
  for (const EntryPoint& entry : program.entryPoints)
    json["entry_points"].push_back(entryJson(program, entry));
  json["functions"] = Json::array();
  for (const Function& function : program.functions)
    json["functions"].push_back(functionJson(program, function));
  json["constants"] = Json::array();
  for (const Constant& constant : program.constants) json["constants"].push_back(constantJson(constant));
  json["kernels"] = Json::array();
  for (size_t i = 0; i < program.kernels.size(); ++i) json["kernels"].push_back(kernelJson(program, i));
  json["images"] = Json::array();
  for (const NativeImage& image : program.images)
    json["images"].push_back(
        {{"level", image.level}, {"features", image.requiredFeatures}, {"bytes", image.bytes.size()}});
  json["sections"] = Json::array();
  for (const SectionSize& section : sizes)
    json["sections"].push_back(
        {{"name", section.name}, {"offset", section.offset}, {"bytes", section.sizeBytes}});
  // Names come from the file and need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace baton::bytecode
