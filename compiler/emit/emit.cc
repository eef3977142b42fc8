#include "compiler/emit/emit.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "bytecode/owned_bytes.h"
#include "bytecode/verifier/verifier.h"
#include "compiler/emit/encode.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/printer.h"

namespace baton::emit {

namespace {

/// Files and names of the debug section, each once.
class DebugWriter {
 public:
  DebugWriter(const lir::Module& module, bytecode::DebugInfo& debug)
      : module_(module),
        debug_(debug),
        files_(module.files.size(), kUnset),
        names_(module.names.size(), kUnset),
        sites_(module.inlineSites.size(), 0) {
    names_[0] = 0;
    debug_.names.emplace_back();
  }

  /// Everything that add() will meet comes here before: in text, the sites are first.
  void addSites(const EncodedFunction::Position& position) { site(position.location.inlinedAt); }

  void add(bytecode::FunctionIndex function, const EncodedFunction::Position& position) {
    bytecode::DebugInfo::Position& entry = debug_.positions.emplace_back();
    static_cast<bytecode::DebugInfo::Place&>(entry) =
        place(position.location, intern(names_, position.name.value(), module_.names, debug_.names));
    entry.function = function;
    entry.pc = position.pc;
  }

 private:
  bytecode::DebugInfo::Place place(const SourceLocation& location, uint32_t name) {
    bytecode::DebugInfo::Place place;
    if (location.file < files_.size())
      place.file = intern(files_, location.file, module_.files, debug_.files);
    place.line = location.line;
    place.column = location.column;
    place.name = name;
    place.inlinedAt = site(location.inlinedAt);
    return place;
  }

  /// Number of a site in the debug section, which has those that code is at.
  uint32_t site(uint32_t inlinedAt) {
    std::vector<uint32_t> inner;
    for (; inlinedAt != 0 && sites_[inlinedAt - 1] == 0;
         inlinedAt = module_.inlineSites[inlinedAt - 1].call.inlinedAt)
      inner.push_back(inlinedAt - 1);
    uint32_t number = inlinedAt == 0 ? 0 : sites_[inlinedAt - 1];
    for (size_t i = inner.size(); i-- > 0;) {
      const InlineSite& source = module_.inlineSites[inner[i]];
      const auto [name, isNew] =
          functionNames_.try_emplace(source.function, static_cast<uint32_t>(debug_.names.size()));
      if (isNew) debug_.names.push_back(source.function);
      debug_.inlineSites.push_back(place(source.call, name->second));
      number = sites_[inner[i]] = static_cast<uint32_t>(debug_.inlineSites.size());
    }
    return number;
  }

  static constexpr uint32_t kUnset = std::numeric_limits<uint32_t>::max();
  static uint32_t intern(std::vector<uint32_t>& known, uint32_t index, const std::vector<std::string>& from,
                         std::vector<std::string>& to) {
    if (known[index] == kUnset) {
      known[index] = static_cast<uint32_t>(to.size());
      to.push_back(from[index]);
    }
    return known[index];
  }

  const lir::Module& module_;
  bytecode::DebugInfo& debug_;
  std::vector<uint32_t> files_;
  std::vector<uint32_t> names_;
  std::vector<uint32_t> sites_;  // 1 + index in the debug section; 0: not there
  std::unordered_map<std::string, uint32_t> functionNames_;
};

Result<void> addCode(const lir::Module& module, bytecode::Program& program) {
  DebugWriter debug(module, program.debug);
  std::vector<std::vector<EncodedFunction::Position>> positions;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const lir::Function& source = module.functions[i];
    EncodedFunction encoded = encode(source);
    if (program.code.size() + encoded.code.size() > std::numeric_limits<uint32_t>::max())
      return Error(ErrorCode::Unsupported, "the program's code exceeds 2^32 words");
    bytecode::Function& function = program.functions.emplace_back();
    function.name = source.name;
    function.signature = source.signature;
    function.isClosure = source.isClosure;
    function.captures = source.captures;
    function.scalarRegisterCount = source.registerCount[0];
    function.referenceRegisterCount = source.registerCount[1];
    function.codeOffset = static_cast<uint32_t>(program.code.size());
    function.codeSize = static_cast<uint32_t>(encoded.code.size());
    program.code.insert(program.code.end(), encoded.code.begin(), encoded.code.end());
    for (const EncodedFunction::Position& position : encoded.positions) debug.addSites(position);
    positions.push_back(std::move(encoded.positions));
  }
  for (uint32_t i = 0; i < positions.size(); ++i)
    for (const EncodedFunction::Position& position : positions[i])
      debug.add(bytecode::FunctionIndex(i), position);
  return success();
}

bool isCompiled(const loop::Kernel& kernel) { return kernel.descriptor.source == KernelSource::Compiled; }

Result<void> addKernels(const lir::Module& module, const EmitOptions& options, bytecode::Program& program) {
  if (std::none_of(module.kernels.begin(), module.kernels.end(), isCompiled)) return success();
  for (const std::string& level : options.cpuLevels) {
    BATON_TRY_ASSIGN(const std::vector<loop::Kernel> kernels, kernelsFor(module, level));
    BATON_TRY_ASSIGN(codegen::NativeImage compiled,
                     codegen::compileKernels(kernels, {level, options.optimisationLevel}));
    bytecode::NativeImage& image = program.images.emplace_back();
    image.level = compiled.level;
    image.requiredFeatures = std::move(compiled.requiredFeatures);
    size_t next = 0;
    for (const loop::Kernel& kernel : module.kernels) {
      const uint64_t entry = isCompiled(kernel) ? compiled.entries[next++] : bytecode::NativeImage::kNoEntry;
      if (isCompiled(kernel) && entry >= bytecode::NativeImage::kNoEntry)
        return Error(ErrorCode::Unsupported, fmt::format("the native image for {} exceeds 4 GiB", level));
      image.entryOffsets.push_back(static_cast<uint32_t>(entry));
    }
    auto owned = std::make_unique<bytecode::OwnedBytes>(std::span<const std::byte>(compiled.bytes));
    image.bytes = owned->bytes();
    program.storage.push_back(std::move(owned));
  }
  if (options.isPortable)
    for (const loop::Kernel& kernel : module.kernels)
      program.loops.push_back(isCompiled(kernel) ? loop::print(kernel) : std::string());
  return success();
}

}  // namespace

Result<std::vector<loop::Kernel>> kernelsFor(const lir::Module& module, const std::string& cpuLevel) {
  BATON_TRY_ASSIGN(const bool isNarrow, codegen::hasNarrowVectors(cpuLevel));
  std::vector<loop::Kernel> kernels = module.kernels;
  if (isNarrow)
    for (const auto& [index, kernel] : module.narrowKernels) kernels[index] = kernel;
  std::erase_if(kernels, std::not_fn(isCompiled));
  return kernels;
}

Result<std::string> printSchedules(const lir::Module& module, const std::string& cpuLevel) {
  BATON_TRY_ASSIGN(const bool isNarrow, codegen::hasNarrowVectors(cpuLevel));
  std::string text;
  for (const auto& [index, each] : module.unscheduled) {
    const schedule::Schedule& own = isNarrow && each.narrowSchedule ? *each.narrowSchedule : each.schedule;
    text += fmt::format("{}\n{}\n", loop::print(each.kernel), schedule::print(own));
  }
  return text;
}

Result<bytecode::Program> emit(lir::Module module, const EmitOptions& options) {
  bytecode::Program program = std::move(module.tables);
  program.meta = options.meta;
  program.meta.targets = options.cpuLevels;
  BATON_TRY(addCode(module, program));
  BATON_TRY(addKernels(module, options, program));
  const std::vector<bytecode::Violation> violations = bytecode::findViolations(program, 1);
  if (!violations.empty())
    return Error(ErrorCode::Internal, fmt::format("the compiled program does not verify: {}",
                                                  bytecode::describeViolation(program, violations[0])));
  return program;
}

}  // namespace baton::emit
