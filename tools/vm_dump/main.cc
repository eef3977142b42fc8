// vm-dump: what is in an executable.
#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "bytecode/container/writer.h"
#include "bytecode/dump/dump.h"
#include "bytecode/vmasm/printer.h"
#include "tools/cli/command.h"
#include "tools/cli/file.h"
#include "tools/cli/program_file.h"

namespace {

using namespace baton;
using namespace baton::tools;

struct Options {
  std::string input;
  bool summary = false;
  bool signature = false;
  bool functions = false;
  bool constants = false;
  bool kernels = false;
  bool memory = false;
  bool sizes = false;
  bool disasm = false;
  bool json = false;
  std::string function;
  std::string blobs;
  std::vector<std::string> dims;
};

Result<std::map<std::string, int64_t>> parseDims(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> dims;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    int64_t value = 0;
    const char* end = text.data() + text.size();
    if (equals == std::string::npos || equals == 0 ||
        std::from_chars(text.data() + equals + 1, end, value).ptr != end || equals + 1 == text.size())
      throw UsageError(fmt::format("--dim {}: expected NAME=NUMBER", text));
    dims[text.substr(0, equals)] = value;
  }
  return dims;
}

Result<std::string> disassemble(const Options& options, const bytecode::Program& program) {
  if (options.function.empty()) return programText(program, options.blobs);
  const std::string name = options.function.substr(options.function.starts_with('@') ? 1 : 0);
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].name == name) return printFunction(program, bytecode::FunctionIndex(i));
  throw UsageError(fmt::format("no function @{} in {}", name, options.input));
}

/// Of the file as given; of text, of the file that it would be.
Result<std::vector<bytecode::SectionSize>> sectionSizes(const Options& options,
                                                        const bytecode::Program& program) {
  BATON_TRY_ASSIGN(std::vector<std::byte> file, readFile(options.input));
  if (!bytecode::hasContainerMagic(file)) {
    BATON_TRY_ASSIGN(file, bytecode::writeExecutable(program));
  }
  return bytecode::readSectionSizes(file);
}

Result<int> dumpWeights(const Options& options) {
  BATON_TRY_ASSIGN(const bytecode::Params params,
                   bytecode::openParams(options.input, {bytecode::OpenMode::Map, true}));
  BATON_TRY(writeTextFile("-", bytecode::dumpParams(params)));
  return kExitOk;
}

Result<int> dump(Options options) {
  if (isParamsFile(options.input)) return dumpWeights(options);
  BATON_TRY_ASSIGN(const bytecode::Program program, readProgram(options.input, options.blobs));
  BATON_TRY_ASSIGN(const auto dims, parseDims(options.dims));
  if (!options.function.empty()) options.disasm = true;
  const bool isSelected = options.signature || options.functions || options.constants || options.kernels ||
                          options.memory || options.sizes || options.disasm || options.json;
  std::string text;
  if (options.summary || !isSelected) text += bytecode::dumpSummary(program);
  if (options.signature) text += bytecode::dumpSignatures(program);
  if (options.functions) text += bytecode::dumpFunctions(program);
  if (options.constants) text += bytecode::dumpConstants(program);
  if (options.kernels) text += bytecode::dumpKernels(program);
  if (options.memory) text += bytecode::dumpMemory(program, dims);
  if (options.sizes) {
    BATON_TRY_ASSIGN(const auto sizes, sectionSizes(options, program));
    text += bytecode::dumpSizes(sizes);
  }
  if (options.disasm) {
    BATON_TRY_ASSIGN(const std::string code, disassemble(options, program));
    text += code;
  }
  if (options.json) {
    BATON_TRY_ASSIGN(const auto sizes, sectionSizes(options, program));
    text += bytecode::dumpJson(program, sizes);
  }
  BATON_TRY(writeTextFile("-", text));
  return kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Command command("vm-dump",
                  "Shows what is in an executable (.vmexe), its text (.vmasm) or weights (.vmparams).",
                  "Examples:\n  vm-dump m.vmexe\n  vm-dump m.vmexe --signature --memory --dim n=128\n"
                  "  vm-dump m.vmexe --disasm > m.vmasm\n  vm-dump m.vmexe -f main");
  CLI::App& app = command.app();
  app.add_option("input", options.input, "the file")->required();
  app.add_flag("--summary", options.summary, "name, counts, sizes (the default)")->group("What to show");
  app.add_flag("--signature", options.signature, "entry points with their types")->group("What to show");
  app.add_flag("--functions", options.functions, "functions with their registers")->group("What to show");
  app.add_flag("--constants", options.constants, "constants with their shapes")->group("What to show");
  app.add_flag("--kernels", options.kernels, "kernels and where their code is")->group("What to show");
  app.add_flag("--memory", options.memory, "peak memory of the entry points")->group("What to show");
  app.add_flag("--sizes", options.sizes, "bytes of each section")->group("What to show");
  app.add_flag("--disasm", options.disasm, "the whole program as text that vm-asm reads")
      ->group("What to show");
  app.add_flag("--json", options.json, "everything but code, as JSON")->group("What to show");
  app.add_option("-f,--function", options.function, "only this function's code")->group("How to show it");
  app.add_option("--blobs", options.blobs, "directory for constants and images of --disasm")
      ->group("How to show it");
  command.addRepeatable("--dim", options.dims, "NAME=NUMBER, for --memory")->group("How to show it");
  return command.run(argc, argv, [&] { return dump(options); });
}
