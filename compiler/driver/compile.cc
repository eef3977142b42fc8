#include "compiler/driver/compile.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "bytecode/container/reader.h"
#include "bytecode/vmasm/printer.h"
#include "compiler/driver/bind_params.h"
#include "compiler/driver/fix_dims.h"
#include "compiler/driver/version.h"
#include "compiler/emit/emit.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/lir/lower/lower.h"
#include "compiler/lir/pipeline.h"
#include "compiler/lir/printer.h"
#include "compiler/passes/instruments.h"
#include "compiler/types/typing.h"
#include "kernels/codegen/codegen.h"
#include "kernels/csource/csource.h"
#include "kernels/loop/printer.h"

namespace baton::driver {

namespace {

using Clock = std::chrono::steady_clock;

class Compiler {
 public:
  Compiler(Source source, const CompileOptions& options) : source_(std::move(source)), options_(options) {}

  Result<CompileOutput> run() {
    BATON_TRY(checkOptions());
    BATON_TRY(runStages());
    out_.sources = module_.sources;
    if (out_.diagnostics.hasErrors()) {
      out_.program.reset();
      out_.text.clear();
    }
    if (options_.timePasses) out_.log += timer_.report(pipeline_) + stageTimes_;
    if (options_.countPasses) out_.log += passes::report(counters_);
    return std::move(out_);
  }

 private:
  Error usage(std::string message) const { return Error(ErrorCode::InvalidArgument, std::move(message)); }

  Result<void> checkOptions() {
    if (options_.level < 0 || options_.level > 3)
      return usage(fmt::format("optimisation level {}; expected 0 to 3", options_.level));
    if (!options_.hasNativeCode && !options_.isPortable)
      return usage("without native code the kernels must be kept as loop IR (portable)");
    if (!options_.passes) {
      pipeline_ = passes::pipelineOf(options_.level);
    } else {
      BATON_TRY_ASSIGN(pipeline_, passes::parsePipeline(*options_.passes));
    }
    // Passes over low-level form share the name space; each pipeline takes its own.
    std::vector<std::string> own;
    for (const std::string& name : options_.disabledPasses) {
      const bool isLir = isLirPass(name);
      if (!isLir) own.push_back(name);
    }
    BATON_TRY(passes::disablePasses(pipeline_, own));
    BATON_TRY_ASSIGN(const passes::Property properties, passes::propertiesAfter(pipeline_));
    const bool isLowered =
        options_.emit != Emit::Ir && options_.emit != Emit::Types && options_.emit != Emit::Lowered;
    const passes::Property missing = passes::without(passes::kLoweringNeeds, properties);
    if (isLowered && missing != passes::Property::None)
      return usage(fmt::format("passes: lowering needs {}", passes::describeMissing(missing)));
    for (const auto* names : {&options_.printBefore, &options_.printAfter})
      for (const std::string& name : *names)
        if (name != "all" && passes::findPass(name) == nullptr && !isLirPass(name))
          return passes::noPassNamed(name);
    return success();
  }

  static bool isLirPass(const std::string& name) {
    for (const lir::PassInfo& pass : lir::allPasses())
      if (pass.name == name) return true;
    return false;
  }

  /// Whether that is all, because of errors or because this is what was asked for.
  bool isDone(Emit emit, std::string (*text)(const ir::Module&)) {
    if (out_.diagnostics.hasErrors()) return true;
    if (options_.emit != emit) return false;
    out_.text = text(module_);
    return true;
  }
  static std::string printModule(const ir::Module& module) {
    ir::PrintOptions options;
    options.constants = true;
    return ir::print(module, options);
  }

  template <class F>
  Result<void> timed(std::string_view stage, F&& f) {
    const Clock::time_point begin = Clock::now();
    BATON_TRY(f());
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    stageTimes_ += fmt::format("{:10.3f} ms  {}\n", ms, stage);
    return success();
  }

  Result<void> runStages() {
    BATON_TRY(timed("parse", [&] { return parse(); }));
    if (isDone(Emit::Ir, printModule)) return success();
    BATON_TRY(bindParams(options_.params, module_, out_.diagnostics));
    out_.hasUnfitWeights = out_.diagnostics.hasErrors();
    if (out_.hasUnfitWeights) return success();
    BATON_TRY(fixDims(options_.dims, module_));
    BATON_TRY(timed("types", [&]() -> Result<void> {
      types::inferTypes(module_, out_.diagnostics);
      return success();
    }));
    if (isDone(Emit::Types, printModule)) return success();
    BATON_TRY(runPasses());
    if (isDone(Emit::Lowered, printModule)) return success();
    lir::Module lowered;
    BATON_TRY(timed("lower", [&] { return lower(lowered); }));
    if (out_.diagnostics.hasErrors()) return success();
    BATON_TRY(timed("lir passes", [&] { return runLirPasses(lowered); }));
    switch (options_.emit) {
      case Emit::Ir:
      case Emit::Types:
      case Emit::Lowered: return success();
      case Emit::Lir: out_.text = lir::print(lowered); return success();
      case Emit::Loop: {
        BATON_TRY_ASSIGN(const auto kernels, emit::kernelsFor(lowered, cpuLevels()[0]));
        for (const loop::Kernel& kernel : kernels) out_.text += loop::print(kernel) + "\n";
        return success();
      }
      case Emit::Schedule: {
        BATON_TRY_ASSIGN(out_.text, emit::printSchedules(lowered, cpuLevels()[0]));
        return success();
      }
      case Emit::Llvm: {
        BATON_TRY_ASSIGN(const auto kernels, emit::kernelsFor(lowered, cpuLevels()[0]));
        BATON_TRY_ASSIGN(out_.text, codegen::printLlvm(kernels, {cpuLevels()[0], nativeOptimisationLevel()}));
        return success();
      }
      case Emit::NativeAssembly: {
        BATON_TRY_ASSIGN(const auto kernels, emit::kernelsFor(lowered, cpuLevels()[0]));
        BATON_TRY_ASSIGN(out_.text,
                         codegen::printAssembly(kernels, {cpuLevels()[0], nativeOptimisationLevel()}));
        return success();
      }
      case Emit::CSource: {
        BATON_TRY_ASSIGN(const auto kernels, emit::kernelsFor(lowered, cpuLevels()[0]));
        out_.text = csource::printSource(kernels).text;
        return success();
      }
      case Emit::Executable:
      case Emit::Vmasm: return timed("emit", [&] { return emitProgram(std::move(lowered)); });
    }
    return success();
  }

  Result<void> parse() {
    if (bytecode::hasContainerMagic(std::as_bytes(std::span(source_.text))))
      return Error(ErrorCode::Malformed,
                   source_.name + ": found an executable or weights, expected program text");
    frontend::ParseOptions options;
    options.entries = options_.entries;
    return frontend::parseProgram(source_.name, std::move(source_.text), options, ops::OpRegistry::instance(),
                                  module_, out_.diagnostics);
  }

  Result<void> runPasses() {
    passes::PassContext context{.diagnostics = out_.diagnostics, .counters = &counters_};
    passes::PassPrinter printer(
        {options_.printBefore, options_.printAfter, options_.printChanged},
        [](const ir::Module& module) { return ir::print(module); },
        [&](const std::string& heading, const std::string& text) {
          out_.log += fmt::format("// {}\n{}\n", heading, text);
        });
    passes::PassVerifier verifier([](ir::Module& module) { return ir::verify(module); });
    std::vector<passes::Instrument*> instruments{&printer};
    if (options_.timePasses) instruments.push_back(&timer_);
    if (options_.verifyEach) {
      BATON_TRY(ir::verify(module_));
      instruments.push_back(&verifier);
    }
    return passes::runPipeline(module_, pipeline_, context, instruments);
  }

  /// What the program cannot have is a diagnostic; what the compiler did wrong is an error.
  Result<void> asDiagnostic(Error error, SourceLocation where) {
    if (error.code() != ErrorCode::CompileError && error.code() != ErrorCode::Unsupported) return error;
    out_.diagnostics.error(where, error.message());
    return success();
  }

  Result<void> lower(lir::Module& lowered) {
    SourceLocation where;
    Result<lir::Module> result = lir::lower(module_, &where);
    if (!result.has_value()) return asDiagnostic(std::move(result).assume_error(), where);
    lowered = std::move(result).assume_value();
    return success();
  }

  Result<void> runLirPasses(lir::Module& lowered) {
    const auto wants = [](const std::vector<std::string>& names, std::string_view name) {
      for (const std::string& wanted : names)
        if (wanted == name || wanted == "all") return true;
      return false;
    };
    lir::PipelineOptions options;
    options.level = options_.level;
    options.disabled = options_.disabledPasses;
    options.verifyEach = options_.verifyEach;
    options.observer = [&](const lir::PassInfo& pass, bool isAfter, const lir::Module& module) {
      if (wants(isAfter ? options_.printAfter : options_.printBefore, pass.name))
        out_.log += fmt::format("# {} {}\n{}\n", isAfter ? "after" : "before", pass.name, lir::print(module));
    };
    Result<void> result = lir::runPipeline(lowered, options);
    if (!result.has_value()) return asDiagnostic(std::move(result).assume_error(), {});
    return success();
  }

  std::vector<std::string> cpuLevels() const {
    return options_.cpuLevels.empty() ? std::vector<std::string>{"native"} : options_.cpuLevels;
  }
  /// "dir/model.relay" is called "model".
  static std::string stem(const std::string& path) {
    const size_t slash = path.rfind('/');
    const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
    const size_t dot = file.rfind('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
  }
  /// Unoptimised kernels would be too slow to test with.
  int nativeOptimisationLevel() const { return options_.level == 0 ? 1 : options_.level; }

  Result<void> emitProgram(lir::Module lowered) {
    if (out_.diagnostics.hasErrors()) return success();
    emit::EmitOptions options;
    if (options_.hasNativeCode) options.cpuLevels = cpuLevels();
    options.isPortable = options_.isPortable;
    options.optimisationLevel = nativeOptimisationLevel();
    options.meta.name = options_.moduleName.empty() ? stem(source_.name) : options_.moduleName;
    options.meta.compilerVersion = std::string("baton ") + kVersion;
    options.meta.flags = fmt::format("-O{}{}", options_.level, options_.isPortable ? " --portable" : "");
    BATON_TRY_ASSIGN(bytecode::Program program, emit::emit(std::move(lowered), options));
    if (program.entryPoints.empty())
      return Error(ErrorCode::CompileError,
                   source_.name + ": there is no function to export: @main, or one without type parameters");
    if (options_.emit == Emit::Vmasm) {
      BATON_TRY_ASSIGN(out_.text, bytecode::printVmasm(program));
      return success();
    }
    out_.program = std::move(program);
    return success();
  }

  Source source_;
  const CompileOptions& options_;
  ir::Module module_;
  CompileOutput out_;
  passes::Pipeline pipeline_;
  passes::PassTimer timer_;
  passes::PassCounters counters_;
  std::string stageTimes_;
};

}  // namespace

std::vector<PassSummary> passSummaries() {
  std::vector<PassSummary> list;
  for (const passes::PassInfo* pass : passes::allPasses())
    list.push_back({pass->name, pass->summary, pass->level});
  for (const lir::PassInfo& pass : lir::allPasses()) {
    // One that runs twice is there twice.
    const bool isListed = std::any_of(list.begin(), list.end(),
                                      [&](const PassSummary& each) { return each.name == pass.name; });
    if (!isListed) list.push_back({pass.name, pass.summary, pass.level});
  }
  return list;
}

Result<CompileOutput> compile(Source source, const CompileOptions& options) {
  return Compiler(std::move(source), options).run();
}

}  // namespace baton::driver
