// vm-asm: text to executable.
#include <cstdio>

#include "bytecode/container/writer.h"
#include "bytecode/verifier/verifier.h"
#include "tools/cli/command.h"
#include "tools/cli/file.h"
#include "tools/cli/program_file.h"

namespace {

using namespace baton;
using namespace baton::tools;

struct Options {
  std::string input;
  std::string output;
  std::string blobs;
  bool skipsVerification = false;
};

Result<int> assemble(const Options& options) {
  BATON_TRY_ASSIGN(const bytecode::Program program, readProgram(options.input, options.blobs));
  if (!options.skipsVerification) {
    const auto violations = bytecode::findViolations(program);
    for (const std::string& text : describeViolations(program, violations))
      std::fprintf(stderr, "%s: %s\n", options.input.c_str(), text.c_str());
    if (!violations.empty()) return kExitBadFile;
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> file, bytecode::writeExecutable(program));
  BATON_TRY(writeFile(options.output, file));
  return kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Command command("vm-asm", "Assembles the text of a program (.vmasm) to an executable (.vmexe).",
                  "Examples:\n  vm-asm m.vmasm -o m.vmexe\n  vm-asm m.vmasm -o m.vmexe --blobs weights/");
  CLI::App& app = command.app();
  app.add_option("input", options.input, "the text; - is standard input")->required();
  app.add_option("-o,--output", options.output, "the executable; - is standard output")->required();
  app.add_option("--blobs", options.blobs, "directory of the files that the text names");
  app.add_flag("--no-verify", options.skipsVerification, "also write a program that breaks rules");
  return command.run(argc, argv, [&] { return assemble(options); });
}
