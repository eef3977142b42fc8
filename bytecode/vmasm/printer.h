// Printer of `.vmasm` text (docs/vmasm.md). Parsing what it prints gives the same program,
// byte for byte when written; this holds for programs that break rules of the verifier too.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "bytecode/program.h"

namespace baton::bytecode {

struct VmasmPrintOptions {
  /// Takes the bytes of a constant or an image away; the text then says `file "name"`. Without
  /// it they are printed as base64.
  std::function<Result<void>(const std::string& name, std::span<const std::byte> bytes)> writeBlob;
};

Result<std::string> printVmasm(const Program& program, const VmasmPrintOptions& options = {});

/// One function's text alone, for `vm-dump --disasm -f` and messages; not meant to be parsed.
std::string printFunction(const Program& program, FunctionIndex function);

class Printer;

/// Prints single instructions on one line: "s1 = add.i64 s0, s2". Targets are word offsets
/// ("+12"). The program must outlive it.
class InstructionPrinter {
 public:
  explicit InstructionPrinter(const Program& program);
  ~InstructionPrinter();
  std::string print(FunctionIndex function, uint32_t pc) const;

 private:
  std::unique_ptr<Printer> printer_;
};

/// The same for one; for many, keep a printer.
std::string printInstruction(const Program& program, FunctionIndex function, uint32_t pc);

/// "tensor<f32, 2>".
std::string printKind(const Program& program, const Kind& kind);
/// "f32[n, 4]"; `symbolNames` as in EntryPoint::symbols.
std::string printValueType(const ValueType& type, const std::vector<std::string>& symbolNames);
/// "4*n + 2".
std::string printDim(const DimExpr& expr, const std::vector<std::string>& symbolNames);

}  // namespace baton::bytecode
