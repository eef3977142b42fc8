// The back ends of baton-tblgen: each writes one generated file from parsed records.
#pragma once

#include <string>

namespace llvm {
class RecordKeeper;
class raw_ostream;
}  // namespace llvm

namespace baton::tblgen {

/// The first line of a generated file.
void emitNotice(const char* source, llvm::raw_ostream& os);

void emitOpcodes(llvm::RecordKeeper& records, llvm::raw_ostream& os);
void emitInstructionViews(llvm::RecordKeeper& records, llvm::raw_ostream& os);
void emitDescriptors(llvm::RecordKeeper& records, llvm::raw_ostream& os);
void emitIsaDocs(llvm::RecordKeeper& records, llvm::raw_ostream& os);

void emitOpAttrs(llvm::RecordKeeper& records, llvm::raw_ostream& os);
void emitOpDeclarations(llvm::RecordKeeper& records, llvm::raw_ostream& os);
void emitOpTable(llvm::RecordKeeper& records, llvm::raw_ostream& os);
/// `programs`: the folder of programs with values for operators, `operators_*.relay`.
void emitOpDocs(llvm::RecordKeeper& records, const std::string& programs, llvm::raw_ostream& os);

}  // namespace baton::tblgen
