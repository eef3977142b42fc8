#include "bytecode/builder.h"

#include <algorithm>
#include <tuple>

#include <xxhash.h>

#include "base/error.h"
#include "bytecode/owned_bytes.h"

namespace baton::bytecode {

namespace {

auto orderKey(const Kind& kind) {
  return std::tuple(kind.tag, kind.dtype, kind.rank, kind.device, kind.index,
                    kind.function ? int64_t{kind.function->value()} : -1);
}

bool kindLess(const Kind& a, const Kind& b) { return orderKey(a) < orderKey(b); }

std::span<const std::byte> keepCopy(Program& program, std::span<const std::byte> bytes) {
  auto owned = std::make_unique<OwnedBytes>(bytes);
  const std::span<const std::byte> kept = owned->bytes();
  program.storage.push_back(std::move(owned));
  return kept;
}

}  // namespace

bool ProgramBuilder::KindOrder::operator()(const Kind& a, const Kind& b) const { return kindLess(a, b); }

bool ProgramBuilder::SignatureOrder::operator()(const Signature& a, const Signature& b) const {
  const auto less = [](const std::vector<Kind>& x, const std::vector<Kind>& y) {
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), kindLess);
  };
  if (less(a.params, b.params)) return true;
  if (less(b.params, a.params)) return false;
  return less(a.results, b.results);
}

uint32_t ProgramBuilder::intern(StringTable& table, std::vector<std::string>& list, std::string_view text) {
  const auto [found, isNew] = table.try_emplace(std::string(text), static_cast<uint32_t>(list.size()));
  if (isNew) list.emplace_back(text);
  return found->second;
}

KindIndex ProgramBuilder::addKind(const Kind& kind) {
  const auto [found, isNew] =
      kinds_.try_emplace(kind, KindIndex(static_cast<uint32_t>(program_.kinds.size())));
  if (isNew) program_.kinds.push_back(kind);
  return found->second;
}

SignatureIndex ProgramBuilder::addSignature(const Signature& signature) {
  const auto [found, isNew] =
      signatures_.try_emplace(signature, SignatureIndex(static_cast<uint32_t>(program_.signatures.size())));
  if (isNew) program_.signatures.push_back(signature);
  return found->second;
}

MessageIndex ProgramBuilder::addMessage(std::string_view text) {
  return MessageIndex(intern(messages_, program_.messages, text));
}

TypeIndex ProgramBuilder::addType(TypeDef type) {
  program_.types.push_back(std::move(type));
  return TypeIndex(static_cast<uint32_t>(program_.types.size() - 1));
}

void ProgramBuilder::layOutFields(TypeIndex index) {
  for (Constructor& constructor : type(index).constructors) {
    constructor.referenceCount = constructor.scalarCount = 0;
    for (Field& field : constructor.fields) {
      field.isScalar = kindOf(field.type).isScalar();
      field.slot = field.isScalar ? constructor.scalarCount++ : constructor.referenceCount++;
    }
  }
}

FunctionIndex ProgramBuilder::declareFunction(FunctionHeader header) {
  Function function;
  function.name = std::move(header.name);
  function.signature = addSignature(header.signature);
  function.isClosure = header.isClosure;
  function.captures = std::move(header.captures);
  program_.functions.push_back(std::move(function));
  codes_.emplace_back();
  isDefined_.push_back(false);
  return FunctionIndex(static_cast<uint32_t>(program_.functions.size() - 1));
}

void ProgramBuilder::defineFunction(FunctionIndex index, uint32_t scalarRegisterCount,
                                    uint32_t referenceRegisterCount, std::vector<uint64_t> code) {
  BATON_CHECK(!isDefined_[index.value()]);
  isDefined_[index.value()] = true;
  program_.functions[index.value()].scalarRegisterCount = scalarRegisterCount;
  program_.functions[index.value()].referenceRegisterCount = referenceRegisterCount;
  codes_[index.value()] = std::move(code);
}

void ProgramBuilder::addEntryPoint(EntryPoint entryPoint) {
  program_.entryPoints.push_back(std::move(entryPoint));
}

ConstantIndex ProgramBuilder::addConstant(DType dtype, std::vector<int64_t> extents,
                                          std::span<const std::byte> bytes, std::string layout) {
  const uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  const auto [begin, end] = constantsByHash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Constant& other = program_.constants[it->second];
    if (other.dtype == dtype && other.extents == extents && other.layout == layout &&
        std::equal(bytes.begin(), bytes.end(), other.bytes.begin(), other.bytes.end()))
      return ConstantIndex(it->second);
  }
  const auto index = static_cast<uint32_t>(program_.constants.size());
  Constant constant;
  constant.dtype = dtype;
  constant.extents = std::move(extents);
  constant.layout = std::move(layout);
  constant.bytes = keepCopy(program_, bytes);
  program_.constants.push_back(std::move(constant));
  constantsByHash_.emplace(hash, index);
  return ConstantIndex(index);
}

ConstantIndex ProgramBuilder::addExternalConstant(DType dtype, std::vector<int64_t> extents, std::string key,
                                                  std::string layout) {
  const auto [found, isNew] =
      externalKeys_.try_emplace(key, static_cast<uint32_t>(program_.constants.size()));
  if (isNew) {
    Constant constant;
    constant.dtype = dtype;
    constant.extents = std::move(extents);
    constant.layout = std::move(layout);
    constant.source = ConstantSource::External;
    constant.externalKey = std::move(key);
    program_.constants.push_back(std::move(constant));
  }
  return ConstantIndex(found->second);
}

KernelIndex ProgramBuilder::addKernel(KernelDescriptor descriptor, std::string loop) {
  hasLoops_ |= !loop.empty();
  program_.kernels.push_back(std::move(descriptor));
  program_.loops.push_back(std::move(loop));
  return KernelIndex(static_cast<uint32_t>(program_.kernels.size() - 1));
}

void ProgramBuilder::addImage(std::string level, std::vector<std::string> requiredFeatures,
                              std::vector<uint32_t> entryOffsets, std::span<const std::byte> bytes) {
  NativeImage image;
  image.level = std::move(level);
  image.requiredFeatures = std::move(requiredFeatures);
  image.entryOffsets = std::move(entryOffsets);
  image.bytes = keepCopy(program_, bytes);
  program_.images.push_back(std::move(image));
}

void ProgramBuilder::addPosition(FunctionIndex function, uint32_t pc, std::string_view file, uint32_t line,
                                 uint32_t column, std::string_view name) {
  intern(names_, program_.debug.names, "");  // name 0 is the empty one
  DebugInfo::Position& position = program_.debug.positions.emplace_back();
  position.function = function;
  position.pc = pc;
  position.file = intern(files_, program_.debug.files, file);
  position.line = line;
  position.column = column;
  position.name = intern(names_, program_.debug.names, name);
}

Program ProgramBuilder::finish() {
  for (size_t i = 0; i < codes_.size(); ++i) {
    BATON_CHECK(isDefined_[i]);
    program_.functions[i].codeOffset = static_cast<uint32_t>(program_.code.size());
    program_.functions[i].codeSize = static_cast<uint32_t>(codes_[i].size());
    program_.code.insert(program_.code.end(), codes_[i].begin(), codes_[i].end());
  }
  for (const NativeImage& image : program_.images)
    BATON_CHECK(image.entryOffsets.size() == program_.kernels.size());
  if (!hasLoops_) program_.loops.clear();
  std::stable_sort(program_.debug.positions.begin(), program_.debug.positions.end(),
                   [](const DebugInfo::Position& a, const DebugInfo::Position& b) {
                     return std::tuple(a.function, a.pc) < std::tuple(b.function, b.pc);
                   });
  Program result = std::move(program_);
  program_ = Program();
  codes_.clear();
  isDefined_.clear();
  kinds_.clear();
  signatures_.clear();
  messages_.clear();
  files_.clear();
  names_.clear();
  externalKeys_.clear();
  constantsByHash_.clear();
  hasLoops_ = false;
  return result;
}

}  // namespace baton::bytecode
