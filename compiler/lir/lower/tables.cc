#include "compiler/lir/lower/tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "bytecode/owned_bytes.h"
#include "compiler/lir/printer.h"

namespace baton::lir {

namespace {
constexpr size_t kSmallConstantBytes = 4096;

/// A key of an executable has a scope: "params", for which vm-run takes files, where the program names none.
std::string scopedKey(const std::string& key) {
  return key.find("::") == std::string::npos ? "params::" + key : key;
}

}  // namespace

KindIndex Tables::kind(const Kind& kind) {
  std::vector<Kind>& kinds = module_.tables.kinds;
  const auto [found, isNew] = kinds_.try_emplace(print(kind), static_cast<uint32_t>(kinds.size()));
  if (isNew) kinds.push_back(kind);
  return KindIndex(found->second);
}

SignatureIndex Tables::signature(bytecode::Signature signature) {
  std::string key;
  for (const Kind& kind : signature.params) key += print(kind) + ",";
  key += "->";
  for (const Kind& kind : signature.results) key += print(kind) + ",";
  std::vector<bytecode::Signature>& signatures = module_.tables.signatures;
  const auto [found, isNew] = signatures_.try_emplace(key, static_cast<uint32_t>(signatures.size()));
  if (isNew) signatures.push_back(std::move(signature));
  return SignatureIndex(found->second);
}

MessageIndex Tables::message(std::string_view text) {
  std::vector<std::string>& messages = module_.tables.messages;
  const auto [found, isNew] =
      messages_.try_emplace(std::string(text), static_cast<uint32_t>(messages.size()));
  if (isNew) messages.emplace_back(text);
  return MessageIndex(found->second);
}

NameId Tables::name(std::string_view text) {
  const auto [found, isNew] =
      names_.try_emplace(std::string(text), static_cast<uint32_t>(module_.names.size()));
  if (isNew) module_.names.emplace_back(text);
  return NameId(found->second);
}

ConstantIndex Tables::constant(ir::Constant& constant) {
  std::vector<bytecode::Constant>& constants = module_.tables.constants;
  const auto index = static_cast<uint32_t>(constants.size());
  if (constant.isExternal()) {
    std::string key = scopedKey(constant.externalKey);
    const auto [found, isNew] = externalKeys_.try_emplace(key, index);
    if (isNew) {
      bytecode::Constant& added = constants.emplace_back();
      added.dtype = constant.dtype;
      added.extents = constant.shape;
      added.source = bytecode::ConstantSource::External;
      added.externalKey = std::move(key);
    }
    return ConstantIndex(found->second);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
  const size_t hash = std::hash<std::string_view>()(bytes);
  const auto [begin, end] = constantsByHash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const bytecode::Constant& other = constants[it->second];
    if (other.dtype == constant.dtype && other.extents == constant.shape &&
        std::equal(other.bytes.begin(), other.bytes.end(), constant.bytes.begin(), constant.bytes.end()))
      return ConstantIndex(it->second);
  }
  auto owned = std::make_unique<bytecode::OwnedBytes>(std::span<const std::byte>(constant.bytes));
  // Weights may be most of the memory; what is small may still be wanted by kernels.
  if (constant.bytes.size() > kSmallConstantBytes) constant.bytes = {};
  bytecode::Constant& added = constants.emplace_back();
  added.dtype = constant.dtype;
  added.extents = constant.shape;
  added.bytes = owned->bytes();
  module_.tables.storage.push_back(std::move(owned));
  constantsByHash_.emplace(hash, index);
  return ConstantIndex(index);
}

std::string Tables::functionName(const std::string& base) {
  std::string name = base;
  uint32_t& next = nextNumber_[base];
  while (!functionNames_.insert(name).second) name = fmt::format("{}_{}", base, ++next);
  return name;
}

}  // namespace baton::lir
