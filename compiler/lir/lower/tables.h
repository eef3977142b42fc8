// The tables of the executable while it is being made: equal entries become one.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

class Tables {
 public:
  explicit Tables(Module& module) : module_(module) {}
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  KindIndex kind(const Kind& kind);
  SignatureIndex signature(bytecode::Signature signature);
  MessageIndex message(std::string_view text);
  NameId name(std::string_view text);
  /// A constant of rank >= 1. Takes the bytes of a large one, so each is asked for once.
  ConstantIndex constant(ir::Constant& constant);
  /// `base`, or `base` with a number, that no function has.
  std::string functionName(const std::string& base);

 private:
  using StringTable = std::unordered_map<std::string, uint32_t>;

  Module& module_;
  StringTable messages_;
  StringTable names_ = {{"", 0}};
  StringTable externalKeys_;
  std::unordered_set<std::string> functionNames_;
  StringTable nextNumber_;
  std::unordered_map<std::string, uint32_t> kinds_, signatures_;  // by text
  std::unordered_multimap<size_t, uint32_t> constantsByHash_;
};

}  // namespace baton::lir
