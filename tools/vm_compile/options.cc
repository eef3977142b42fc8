#include "tools/vm_compile/options.h"

#include <charconv>

namespace baton::tools {

namespace {

struct EmitName {
  const char* name;
  baton_compile_emit emit;
};
constexpr EmitName kEmitNames[] = {
    {"vmexe", BATON_COMPILE_EMIT_VMEXE},       {"ir", BATON_COMPILE_EMIT_IR},
    {"types", BATON_COMPILE_EMIT_TYPES},       {"lowered", BATON_COMPILE_EMIT_LOWERED},
    {"lir", BATON_COMPILE_EMIT_LIR},           {"loop", BATON_COMPILE_EMIT_LOOP},
    {"llvm", BATON_COMPILE_EMIT_LLVM},         {"asm", BATON_COMPILE_EMIT_ASM},
    {"vmasm", BATON_COMPILE_EMIT_VMASM},       {"c", BATON_COMPILE_EMIT_C},
    {"schedule", BATON_COMPILE_EMIT_SCHEDULE},
};

std::vector<std::string> emitNames() {
  std::vector<std::string> names;
  for (const EmitName& known : kEmitNames) names.emplace_back(known.name);
  return names;
}

std::string checkDim(const std::string& text) { return dimOf(text) ? "" : text + ": expected NAME=EXTENT"; }

}  // namespace

void addOptions(Command& command, CompileCommandOptions& options) {
  CLI::App& app = command.app();
  app.add_option("input", options.input, "program text, - for standard input");
  app.add_option("-o,--output", options.output,
                 "where to write; default: the input's name with .vmexe, text to standard output");
  app.add_option("-O,--optimise", options.level, "optimisation level, 0 to 3")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  command
      .addRepeatable("--cpu", options.cpuLevels,
                     "native, x86-64-v3, x86-64-v4 or armv8-a; one image each (default: native)")
      ->group("Kernels");
  app.add_flag("--portable", options.isPortable, "keep the kernels as loop IR, too")->group("Kernels");
  app.add_flag("--no-native-code", options.hasNoNativeCode, "kernels as loop IR only")->group("Kernels");
  command
      .addRepeatable("--params", options.params,
                     ".npz, .npy, .safetensors or .vmparams file with values for `param @w`")
      ->group("Program");
  command.addRepeatable("--entry", options.entries, "function to export besides @main")->group("Program");
  command.addRepeatable("--dim", options.dims, "NAME=EXTENT: fixes a named extent of an exported function")
      ->check(checkDim)
      ->group("Program");
  app.add_option("--emit", options.emit,
                 "ir, types, lowered, lir, schedule, loop, llvm, asm, c, vmasm or vmexe")
      ->check(CLI::IsMember(emitNames()))
      ->group("Looking inside")
      ->capture_default_str();
  command
      .addRepeatable("--print-before", options.printBefore,
                     "passes whose input goes to standard error, or all")
      ->delimiter(',')
      ->group("Looking inside");
  command
      .addRepeatable("--print-after", options.printAfter,
                     "passes whose output goes to standard error, or all")
      ->delimiter(',')
      ->group("Looking inside");
  app.add_flag("--print-changed", options.printChanged,
               "output of every pass that changed something, to standard error")
      ->group("Looking inside");
  app.add_flag("--time-passes", options.timePasses, "times, to standard error")->group("Looking inside");
  app.add_flag("--pass-counters", options.countPasses, "what the passes did, to standard error")
      ->group("Looking inside");
  app.add_flag("--verify-each", options.verifyEach, "check the program after every pass")
      ->group("Looking inside");
  app.add_option("--passes", options.passes, "pipeline to run instead of that of the level")
      ->group("Looking inside");
  app.add_flag("--list-passes", options.listPasses, "lists all passes")->group("Looking inside");
  command.addRepeatable("--disable-pass", options.disabledPasses, "passes to leave out")
      ->delimiter(',')
      ->group("Looking inside");
}

baton_compile_emit emitOf(const std::string& name) {
  for (const EmitName& known : kEmitNames)
    if (name == known.name) return known.emit;
  return BATON_COMPILE_EMIT_VMEXE;
}

std::optional<std::pair<std::string, int64_t>> dimOf(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return std::nullopt;
  int64_t extent = 0;
  const char* end = text.data() + text.size();
  const auto [after, status] = std::from_chars(text.data() + equals + 1, end, extent);
  if (status != std::errc() || after != end || extent < 0) return std::nullopt;
  return std::pair(text.substr(0, equals), extent);
}

std::string defaultOutput(const CompileCommandOptions& options) {
  if (options.emit != "vmexe" || options.input == "-") return "-";
  const size_t slash = options.input.rfind('/');
  const size_t dot = options.input.rfind('.');
  const bool hasExtension =
      dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot != 0;
  return (hasExtension ? options.input.substr(0, dot) : options.input) + ".vmexe";
}

}  // namespace baton::tools
