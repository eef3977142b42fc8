// ProgramBuilder: collects the parts of a Program. Equal kinds, signatures, messages and
// constants become one; functions can be referred to before they have code.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/isa/encoder.h"
#include "bytecode/program.h"

namespace baton::bytecode {

/// What is known of a function before its code.
struct FunctionHeader {
  std::string name;  ///< unique in the program
  Signature signature;
  bool isClosure = false;
  std::vector<Kind> captures;  ///< references first, then scalars
};

class ProgramBuilder {
 public:
  ProgramBuilder() = default;
  ProgramBuilder(const ProgramBuilder&) = delete;
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;

  Meta& meta() { return program_.meta; }

  /// Kinds of cell contents, for Kind::cell and KindRef operands.
  KindIndex addKind(const Kind& kind);
  SignatureIndex addSignature(const Signature& signature);
  const Signature& signature(SignatureIndex index) const { return program_.signatures[index.value()]; }
  MessageIndex addMessage(std::string_view text);

  /// Not deduplicated: equal types with different names are different types. A type that
  /// refers to itself is added empty first and filled through `type`.
  TypeIndex addType(TypeDef type = {});
  TypeDef& type(TypeIndex index) { return program_.types[index.value()]; }
  /// Gives the fields of every constructor their bank, slot and the counts of each, from
  /// their types: references first, then scalars, in declared order within a bank.
  void layOutFields(TypeIndex index);

  /// Declares a function; its number is the order of declaration.
  FunctionIndex declareFunction(FunctionHeader header);
  /// Gives a declared function its code; once for each, in any order.
  void defineFunction(FunctionIndex index, uint32_t scalarRegisterCount, uint32_t referenceRegisterCount,
                      std::vector<uint64_t> code);
  void defineFunction(FunctionIndex index, uint32_t scalarRegisterCount, uint32_t referenceRegisterCount,
                      Encoder& encoder) {
    defineFunction(index, scalarRegisterCount, referenceRegisterCount, encoder.finish());
  }

  void addEntryPoint(EntryPoint entryPoint);

  /// Copies the bytes. Inline constants equal in type, layout and bytes become one.
  ConstantIndex addConstant(DType dtype, std::vector<int64_t> extents, std::span<const std::byte> bytes,
                            std::string layout = {});
  /// `key` is "scope::key"; equal keys become one.
  ConstantIndex addExternalConstant(DType dtype, std::vector<int64_t> extents, std::string key,
                                    std::string layout = {});

  /// Names are unique. `loop` is the kernel's loop-IR text, or empty.
  KernelIndex addKernel(KernelDescriptor descriptor, std::string loop = {});
  /// `entryOffsets` has one entry per kernel; checked by finish(). Copies the bytes.
  void addImage(std::string level, std::vector<std::string> requiredFeatures,
                std::vector<uint32_t> entryOffsets, std::span<const std::byte> bytes);

  /// Source of what follows in the function from word `pc` on.
  void addPosition(FunctionIndex function, uint32_t pc, std::string_view file, uint32_t line, uint32_t column,
                   std::string_view name);


  /// The Program; the builder is empty afterwards. Every declared function must have code.
  Program finish();

 private:
  struct KindOrder {
    bool operator()(const Kind& a, const Kind& b) const;
  };
  struct SignatureOrder {
    bool operator()(const Signature& a, const Signature& b) const;
  };
  using StringTable = std::unordered_map<std::string, uint32_t>;

  static uint32_t intern(StringTable& table, std::vector<std::string>& list, std::string_view text);

  Program program_;
  std::vector<std::vector<uint64_t>> codes_;
  std::vector<bool> isDefined_;
  std::map<Kind, KindIndex, KindOrder> kinds_;
  std::map<Signature, SignatureIndex, SignatureOrder> signatures_;
  StringTable messages_, files_, names_, externalKeys_;
  std::unordered_multimap<uint64_t, uint32_t> constantsByHash_;
  bool hasLoops_ = false;
};

}  // namespace baton::bytecode
