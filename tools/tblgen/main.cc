// baton-tblgen: TableGen with the project's own back ends.
#include "tools/tblgen/backends.h"

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/InitLLVM.h>
#include <llvm/TableGen/Main.h>
#include <llvm/TableGen/Record.h>

namespace {

enum class Action { Opcodes, Instructions, Descriptors, IsaDocs, OpAttrs, OpDeclarations, OpTable, OpDocs };

llvm::cl::opt<Action> action(
    llvm::cl::desc("What to write:"),
    llvm::cl::values(clEnumValN(Action::Opcodes, "gen-opcodes", "the list of opcodes"),
                     clEnumValN(Action::Instructions, "gen-instrs", "typed views and encoders"),
                     clEnumValN(Action::Descriptors, "gen-descs", "constexpr descriptors"),
                     clEnumValN(Action::IsaDocs, "gen-isa-docs", "the reference page of the instruction set"),
                     clEnumValN(Action::OpAttrs, "gen-op-attrs", "typed accessors of operator attributes"),
                     clEnumValN(Action::OpDeclarations, "gen-op-decls",
                                "functions that operator records name"),
                     clEnumValN(Action::OpTable, "gen-op-table", "the table of operators"),
                     clEnumValN(Action::OpDocs, "gen-op-docs", "the reference page of the operators")));

bool runAction(llvm::raw_ostream& os, llvm::RecordKeeper& records) {
  switch (action) {
    case Action::Opcodes: baton::tblgen::emitOpcodes(records, os); break;
    case Action::Instructions: baton::tblgen::emitInstructionViews(records, os); break;
    case Action::Descriptors: baton::tblgen::emitDescriptors(records, os); break;
    case Action::IsaDocs: baton::tblgen::emitIsaDocs(records, os); break;
    case Action::OpAttrs: baton::tblgen::emitOpAttrs(records, os); break;
    case Action::OpDeclarations: baton::tblgen::emitOpDeclarations(records, os); break;
    case Action::OpTable: baton::tblgen::emitOpTable(records, os); break;
    case Action::OpDocs: baton::tblgen::emitOpDocs(records, os); break;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Baton's TableGen back ends\n");
  return llvm::TableGenMain(argv[0], &runAction);
}
