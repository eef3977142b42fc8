// baton-tblgen: TableGen with the project's own back ends.
#include "tools/tblgen/backends.h"

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/InitLLVM.h>
#include <llvm/TableGen/Main.h>
#include <llvm/TableGen/Record.h>

namespace {

enum class Action { Opcodes, Instructions, Descriptors, IsaDocs };

llvm::cl::opt<Action> action(
    llvm::cl::desc("What to write:"),
    llvm::cl::values(clEnumValN(Action::Opcodes, "gen-opcodes", "the list of opcodes"),
                     clEnumValN(Action::Instructions, "gen-instrs", "typed views and encoders"),
                     clEnumValN(Action::Descriptors, "gen-descs", "constexpr descriptors"),
                     clEnumValN(Action::IsaDocs, "gen-isa-docs", "the reference page")));

bool runAction(llvm::raw_ostream& os, llvm::RecordKeeper& records) {
  switch (action) {
    case Action::Opcodes: baton::tblgen::emitOpcodes(records, os); break;
    case Action::Instructions: baton::tblgen::emitInstructionViews(records, os); break;
    case Action::Descriptors: baton::tblgen::emitDescriptors(records, os); break;
    case Action::IsaDocs: baton::tblgen::emitIsaDocs(records, os); break;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Baton's TableGen back ends\n");
  return llvm::TableGenMain(argv[0], &runAction);
}
