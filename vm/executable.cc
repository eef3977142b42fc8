#include "vm/executable.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "bytecode/isa/instruction.h"
#include "bytecode/verifier/verifier.h"
#include "vm/tensor_text.h"

namespace baton::vm {

namespace {

/// What tail calls of a function stage above its window.
struct Staging {
  uint32_t scalars = 0;
  uint32_t references = 0;
};

Staging findStaging(std::span<const uint64_t> code) {
  Staging most;
  const auto add = [&](uint32_t scalars, uint32_t references) {
    most.scalars = std::max(most.scalars, scalars);
    most.references = std::max(most.references, references);
  };
  while (!code.empty()) {
    const bytecode::InstructionView view{code.data()};
    if (view.opcode() == bytecode::Opcode::TailCall) {
      const bytecode::TailCall call{code.data()};
      add(call.scalars().size(), call.references().size());
    } else if (view.opcode() == bytecode::Opcode::TailCallClosure) {
      const bytecode::TailCallClosure call{code.data()};
      add(call.scalars().size(), call.references().size() + 1);
    }
    code = code.subspan(bytecode::instructionWordCount(code).value());  // verified
  }
  return most;
}

}  // namespace

Result<Ref<Executable>> Executable::load(Ref<Instance> instance, bytecode::Program program,
                                         const LoadOptions& options, std::vector<ScopedParams> params) {
  BATON_TRY(bytecode::verify(program));
  Ref<Executable> executable = adopt(new Executable);
  executable->instance_ = std::move(instance);
  executable->program_ = std::move(program);
  executable->params_ = std::move(params);
  BATON_TRY(executable->bind(options));
  return executable;
}

Result<void> Executable::bind(const LoadOptions& options) {
  makeFunctions();
  BATON_TRY(makeConstants());
  BATON_TRY_ASSIGN(kernels_, KernelTable::bind(program_, *instance_, options));
  types_ = std::make_unique<TypeTable>(*this, program_);
  for (const bytecode::EntryPoint& declared : program_.entryPoints)
    entryPoints_.push_back(std::make_unique<EntryPoint>(*this, declared, *types_));
  return success();
}

void Executable::makeFunctions() {
  functions_.reserve(program_.functions.size());
  for (const bytecode::Function& function : program_.functions) {
    const std::span<const uint64_t> code(program_.code.data() + function.codeOffset, function.codeSize);
    const Staging staging = findStaging(code);
    functions_.push_back({.code = code.data(),
                          .scalarCount = function.scalarRegisterCount,
                          .referenceCount = function.referenceRegisterCount,
                          .scalarNeed = function.scalarRegisterCount + staging.scalars,
                          .referenceNeed = function.referenceRegisterCount + staging.references});
  }
}

Result<std::span<const std::byte>> Executable::findExternal(const bytecode::Constant& constant,
                                                            const ExternalIndex& index) const {
  const std::string_view key = constant.externalKey;
  const size_t separator = key.find("::");
  const std::string_view scope = key.substr(0, separator);
  const std::string_view name = separator == std::string_view::npos ? key : key.substr(separator + 2);
  bool hasScope = false;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].scope != scope) continue;
    hasScope = true;
    // The first one that has either name.
    const auto byName = index[i].find(name);
    const auto byKey = index[i].find(key);
    const bytecode::Constant* found = byName == index[i].end() ? nullptr : byName->second;
    if (byKey != index[i].end() && (found == nullptr || byKey->second < found)) found = byKey->second;
    if (found != nullptr) {
      const bytecode::Constant& tensor = *found;
      if (tensor.dtype != constant.dtype || tensor.extents != constant.extents)
        return Error(ErrorCode::Incompatible,
                     fmt::format("parameter {}: found {} of shape {}, expected {} of shape {}", key,
                                 dtypeName(tensor.dtype), shapeText(tensor.extents),
                                 dtypeName(constant.dtype), shapeText(constant.extents)));
      if (tensor.layout != constant.layout)
        return Error(
            ErrorCode::Unsupported,
            fmt::format(
                "parameter {}: found layout \"{}\", expected \"{}\"; it cannot be repacked when loaded", key,
                tensor.layout, constant.layout));
      return tensor.bytes;
    }
  }
  return Error(ErrorCode::Incompatible,
               hasScope
                   ? fmt::format("parameter {} is not in the file given for scope {}", key, scope)
                   : fmt::format("parameter {} is external, and no file was given for scope {}", key, scope));
}

Result<void> Executable::makeConstants() {
  size_t bytes = 0;
  for (const bytecode::Constant& constant : program_.constants)
    bytes += sizeof(Tensor) + 8 * constant.extents.size();
  constantObjects_.reset(new std::byte[bytes]);
  std::byte* next = constantObjects_.get();
  ExternalIndex index(params_.size());
  for (size_t i = 0; i < params_.size(); ++i)
    for (const bytecode::Constant& tensor : params_[i].params.tensors)
      index[i].emplace(tensor.externalKey, &tensor);
  for (const bytecode::Constant& constant : program_.constants) {
    std::span<const std::byte> elements = constant.bytes;
    if (constant.source == bytecode::ConstantSource::External) {
      BATON_TRY_ASSIGN(elements, findExternal(constant, index));
    }
    const auto rank = static_cast<uint32_t>(constant.extents.size());
    auto* tensor = reinterpret_cast<Tensor*>(next);
    next += sizeof(Tensor) + 8 * rank;
    new (&tensor->count) std::atomic<Count>(kImmortalCount);
    tensor->kind = ObjectKind::Tensor;
    tensor->sizeClass = 0;
    tensor->slotCount = 1;
    tensor->tag = TensorTag::pack(constant.dtype, rank, 0, TensorTag::kReadOnly);
    tensor->scratch = 0;
    tensor->owner = nullptr;
    tensor->data = const_cast<std::byte*>(elements.data());
    tensor->blockBytes = 0;
    std::ranges::copy(constant.extents, tensor->extents());
    constants_.push_back(tensor);
  }
  return success();
}

const EntryPoint* Executable::findEntryPoint(std::string_view name) const {
  const auto found = std::ranges::find(entryPoints_, name,
                                       [](const auto& entry) -> std::string_view { return entry->name(); });
  return found == entryPoints_.end() ? nullptr : found->get();
}

uint32_t Executable::instructionStart(uint32_t function, uint32_t pc) const {
  const bytecode::Function& declared = program_.functions[function];
  std::span<const uint64_t> code(program_.code.data() + declared.codeOffset, declared.codeSize);
  uint32_t start = 0;
  for (;;) {
    const uint32_t words = bytecode::instructionWordCount(code.subspan(start)).value();
    if (pc < start + words) return start;
    start += words;
  }
}

void Executable::locate(uint32_t function, uint32_t pc, std::vector<ProgramLocation>& frames) const {
  using Position = bytecode::DebugInfo::Position;
  const std::string& name = program_.functions[function].name;
  const bytecode::DebugInfo& debug = program_.debug;
  const std::vector<Position>& positions = debug.positions;
  const auto after = std::ranges::upper_bound(
      positions, std::pair(function, pc), {},
      [](const Position& position) { return std::pair(position.function.value(), position.pc); });
  const bool isKnown = after != positions.begin() && std::prev(after)->function.value() == function &&
                       std::prev(after)->line != 0;
  if (!isKnown) {
    frames.push_back({.function = name, .pc = pc});
    return;
  }
  for (const bytecode::DebugInfo::Place* place = &*std::prev(after); place;) {
    const auto* site = place->inlinedAt == 0 ? nullptr : &debug.inlineSites[place->inlinedAt - 1];
    frames.push_back({.function = site ? debug.names[site->name] : name,
                      .pc = pc,
                      .file = debug.files[place->file],
                      .line = place->line,
                      .column = place->column});
    place = site;
  }
}

}  // namespace baton::vm
