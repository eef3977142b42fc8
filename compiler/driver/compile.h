// The whole compiler as one function: program text and options in, an executable (or the
// text of an intermediate form) and diagnostics out. No file is opened and nothing is
// printed; include/baton/compiler.h and the commands are thin layers over this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"
#include "compiler/frontend/diagnostic.h"

namespace baton::driver {

/// What comes out.
enum class Emit : uint8_t {
  Executable,      ///< a bytecode::Program, and its bytes
  Ir,              ///< as parsed, before typing
  Types,           ///< typed, before any pass
  Lowered,         ///< the IR after all passes, which lowering starts from
  Lir,             ///< after the passes of its own, registers allocated
  Loop,            ///< loop IR of every kernel, for the first CPU level
  Llvm,            ///< LLVM IR of every kernel, for the first CPU level
  Vmasm,           ///< the executable as text
  NativeAssembly,  ///< of every kernel, for the first CPU level
  CSource,         ///< of every kernel, as tiled for the first CPU level
  Schedule,        ///< loop IR of every kernel before its loops were scheduled, and the schedule
};

/// Program text; what it imports is built in.
struct Source {
  std::string name;  ///< as diagnostics name it
  std::string text;
};

/// Bytes of a weights file (.npz, .npy, .safetensors or .vmparams); borrowed for the duration of the call.
struct Params {
  std::string name;
  std::span<const std::byte> bytes;
};

struct CompileOptions {
  int level = 3;                       ///< 0 to 3
  std::vector<std::string> cpuLevels;  ///< "native", "x86-64-v3", ...; empty: native
  bool isPortable = false;             ///< keep the kernels as loop IR, too
  bool hasNativeCode = true;           ///< false: loop IR only (needs isPortable)
  std::vector<Params> params;          ///< values for `param @w`
  std::vector<std::string> entries;    ///< functions to export besides @main, as in ParseOptions
  std::vector<std::pair<std::string, int64_t>> dims;  ///< named extents of entry points to fix
  std::optional<std::string> passes;                  ///< text of a pipeline; none: that of the level
  std::vector<std::string> disabledPasses;
  std::vector<std::string> printBefore;  ///< passes by name; "all" for every one
  std::vector<std::string> printAfter;
  bool printChanged = false;  ///< after every pass that changed something
  bool verifyEach = false;
  bool timePasses = false;
  bool countPasses = false;
  Emit emit = Emit::Executable;
  std::string moduleName;  ///< of the executable's meta; empty: of the source
};

struct CompileOutput {
  std::optional<bytecode::Program> program;  ///< Emit::Executable
  std::string text;                          ///< the other kinds
  frontend::Diagnostics diagnostics;         ///< warnings, and the errors when it failed
  bool hasUnfitWeights = false;              ///< the errors are about the weights that were given
  std::vector<ir::SourceFile> sources;       ///< that the diagnostics' locations refer to
  std::string log;  ///< of printBefore and the like, and of timePasses and countPasses
};

/// A pass that the compiler has: those over the IR first, then those over the low-level form.
struct PassSummary {
  std::string_view name;
  std::string_view summary;
  int level = 0;
};
std::vector<PassSummary> passSummaries();

/// Errors in the program are diagnostics, and the result then has neither program nor
/// text. An Error is something else: options that make no sense (InvalidArgument), a
/// weights file that cannot be read, or a defect of ours (Internal).
Result<CompileOutput> compile(Source source, const CompileOptions& options);

}  // namespace baton::driver
