// An executable: a verified program, ready to run. Immutable and shared by all threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/container/params.h"
#include "bytecode/program.h"
#include "vm/call_stack.h"
#include "vm/entry_point.h"
#include "vm/instance.h"
#include "vm/kernel_binding.h"
#include "vm/type_info.h"

namespace baton::vm {

/// Where external constants "scope::key" come from.
struct ScopedParams {
  std::string scope;
  bytecode::Params params;  ///< tensors by "key", or by "scope::key"
};

struct LoadOptions {
  /// Machine code of the file may run; without it, kernels are interpreted.
  bool useNativeCode = true;
  /// Take the image of this CPU level; empty: the best that this machine can run.
  std::string cpuLevel;
};

class Executable final : public Retainable {
 public:
  /// Verifies the program and binds what it names.
  static Result<Ref<Executable>> load(Ref<Instance> instance, bytecode::Program program,
                                      const LoadOptions& options = {}, std::vector<ScopedParams> params = {});

  Instance& instance() const { return *instance_; }
  const bytecode::Program& program() const { return program_; }
  const FunctionCode* functions() const { return functions_.data(); }
  Object* const* constants() const { return constants_.data(); }
  const KernelTable& kernels() const { return *kernels_; }
  const std::vector<std::unique_ptr<EntryPoint>>& entryPoints() const { return entryPoints_; }
  const EntryPoint* findEntryPoint(std::string_view name) const;
  const TypeTable& types() const { return *types_; }

  uint32_t functionIndex(const FunctionCode& function) const {
    return static_cast<uint32_t>(&function - functions_.data());
  }
  /// Adds where in the program a word of a function is: the function, after those that were inlined
  /// into it, innermost first.
  void locate(uint32_t function, uint32_t pc, std::vector<ProgramLocation>& frames) const;
  /// First word of the instruction that `pc` is in.
  uint32_t instructionStart(uint32_t function, uint32_t pc) const;

 private:
  Executable() = default;
  Result<void> bind(const LoadOptions& options);
  Result<void> makeConstants();
  /// By file of parameters, the first tensor of each name.
  using ExternalIndex = std::vector<std::unordered_map<std::string_view, const bytecode::Constant*>>;
  Result<std::span<const std::byte>> findExternal(const bytecode::Constant& constant,
                                                  const ExternalIndex& index) const;
  void makeFunctions();

  Ref<Instance> instance_;
  bytecode::Program program_;
  std::vector<ScopedParams> params_;
  std::vector<FunctionCode> functions_;
  std::unique_ptr<std::byte[]> constantObjects_;
  std::vector<Object*> constants_;
  std::unique_ptr<KernelTable> kernels_;
  std::unique_ptr<TypeTable> types_;
  std::vector<std::unique_ptr<EntryPoint>> entryPoints_;
};

}  // namespace baton::vm
