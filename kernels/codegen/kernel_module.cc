#include "kernels/codegen/kernel_module.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>

#include "kernels/codegen/function_emitter.h"

namespace baton::codegen {

namespace {

class ModuleBuilder {
 public:
  ModuleBuilder(llvm::LLVMContext& context, llvm::TargetMachine& machine, const CpuTarget& target)
      : context_(context), target_(target), module_(std::make_unique<llvm::Module>("kernels", context)) {
    module_->setTargetTriple(machine.getTargetTriple().str());
    module_->setDataLayout(machine.createDataLayout());
    module_->setPICLevel(llvm::PICLevel::BigPIC);
  }

  Result<std::unique_ptr<llvm::Module>> run(const ModulePart& part) {
    for (size_t i = 0; i < part.kernels.size(); ++i) BATON_TRY(kernel(part.kernels[i], part.first + i));
    if (part.hasMemoryRoutines) memoryRoutines();
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*module_, &stream))
      return Error(ErrorCode::Internal, fmt::format("generated LLVM IR is not valid: {}", problem));
    return std::move(module_);
  }

 private:
  llvm::Function* newFunction(llvm::FunctionType* type, const std::string& name, bool isEntry) {
    auto* const function = llvm::Function::Create(
        type, isEntry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage, name, *module_);
    if (isEntry) function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    function->addFnAttr("target-cpu", target_.llvmCpu);
    function->addFnAttr("tune-cpu", target_.llvmTune);
    function->addFnAttr("target-features", target_.llvmFeatures);
    function->addFnAttr("frame-pointer", "none");
    function->addFnAttr("no-builtins");
    function->addFnAttr("no-trapping-math", "true");
    if (target_.floatLanes == 16) {
      function->addFnAttr("prefer-vector-width", "512");
      function->addFnAttr("min-legal-vector-width", "512");
    }
    function->addFnAttr(llvm::Attribute::NoUnwind);
    return function;
  }

  /// For each buffer, the scopes that say which other buffers it does not overlap.
  void scopes(KernelShared& shared) {
    const loop::Kernel& k = shared.kernel;
    llvm::MDBuilder metadata(context_);
    llvm::MDNode* const domain = metadata.createAnonymousAliasScopeDomain("kernel");
    std::vector<llvm::MDNode*> all;
    for (uint32_t i = 0; i < k.bufferCount(); ++i)
      all.push_back(metadata.createAnonymousAliasScope(domain, fmt::format("buffer{}", i)));
    const auto mayOverlap = [&](uint32_t a, uint32_t b) {
      const auto inputs = static_cast<uint32_t>(k.descriptor.inputs.size());
      const auto outputs = static_cast<uint32_t>(k.descriptor.outputs.size());
      const auto lists = [&](uint32_t output, uint32_t input) {
        if (output < inputs || output >= inputs + outputs || input >= inputs) return false;
        const std::vector<uint32_t>& aliases = k.descriptor.outputs[output - inputs].mayAlias;
        return std::find(aliases.begin(), aliases.end(), input) != aliases.end();
      };
      return a == b || lists(a, b) || lists(b, a);
    };
    for (uint32_t i = 0; i < k.bufferCount(); ++i) {
      std::vector<llvm::Metadata*> others;
      for (uint32_t j = 0; j < k.bufferCount(); ++j)
        if (!mayOverlap(i, j)) others.push_back(all[j]);
      shared.ownScope.push_back(llvm::MDNode::get(context_, {all[i]}));
      shared.otherScopes.push_back(llvm::MDNode::get(context_, others));
    }
  }

  Result<void> kernel(const loop::Kernel& kernel, size_t index) {
    KernelShared shared{.kernel = kernel, .module = *module_, .nativeLanes = target_.floatLanes};
    scopes(shared);
    shared.newFunction = [&](llvm::FunctionType* type, const char* name) {
      return newFunction(type, fmt::format("{}.{}", entryName(index), name), false);
    };
    llvm::Type* const ptr = llvm::PointerType::getUnqual(context_);
    auto* const type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context_), {ptr, ptr, ptr}, false);
    FunctionEmitter emitter(shared, newFunction(type, entryName(index), true), false);
    emitter.emitKernel();
    if (!shared.error.empty()) return Error(ErrorCode::Unsupported, shared.error);
    return success();
  }

  /// A routine of one piece of assembly: to, from (or the byte), count.
  void memoryRoutine(const char* name, llvm::Type* second, const char* assembly, const char* constraints) {
    llvm::Type* const ptr = llvm::PointerType::getUnqual(context_);
    llvm::Type* const i64 = llvm::Type::getInt64Ty(context_);
    auto* const type = llvm::FunctionType::get(ptr, {ptr, second, i64}, false);
    llvm::Function* const function = newFunction(type, name, true);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::OptimizeNone);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "entry", function));
    auto* const results = llvm::StructType::get(context_, {ptr, i64, i64});
    auto* const asmType = llvm::FunctionType::get(results, {ptr, second, i64}, false);
    b.CreateCall(asmType, llvm::InlineAsm::get(asmType, assembly, constraints, true),
                 {function->getArg(0), function->getArg(1), function->getArg(2)});
    b.CreateRet(function->getArg(0));
  }

  /// memcpy, memmove and memset byte by byte: what LLVM does not write in place is rare.
  void plainMemoryRoutine(const char* name, bool isSet, bool mayOverlap) {
    llvm::Type* const ptr = llvm::PointerType::getUnqual(context_);
    llvm::Type* const byte = llvm::Type::getInt8Ty(context_);
    llvm::Type* const i64 = llvm::Type::getInt64Ty(context_);
    llvm::Type* const second = isSet ? llvm::Type::getInt32Ty(context_) : ptr;
    llvm::Function* const function =
        newFunction(llvm::FunctionType::get(ptr, {ptr, second, i64}, false), name, true);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::OptimizeNone);
    llvm::Value* const to = function->getArg(0);
    llvm::Value* const from = function->getArg(1);
    llvm::Value* const count = function->getArg(2);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "entry", function));
    llvm::Value* const zero = b.getInt64(0);
    // Backwards when the source lies below.
    llvm::Value* const isBackwards = mayOverlap ? b.CreateICmpULT(from, to) : b.getFalse();
    llvm::BasicBlock* const entry = b.GetInsertBlock();
    auto* const head = llvm::BasicBlock::Create(context_, "head", function);
    auto* const body = llvm::BasicBlock::Create(context_, "body", function);
    auto* const rest = llvm::BasicBlock::Create(context_, "rest", function);
    b.CreateBr(head);
    b.SetInsertPoint(head);
    llvm::PHINode* const done = b.CreatePHI(i64, 2);
    done->addIncoming(zero, entry);
    b.CreateCondBr(b.CreateICmpULT(done, count), body, rest);
    b.SetInsertPoint(body);
    llvm::Value* const last = b.CreateSub(b.CreateSub(count, b.getInt64(1)), done);
    llvm::Value* const at = b.CreateSelect(isBackwards, last, done);
    llvm::Value* const value =
        isSet ? b.CreateTrunc(from, byte) : b.CreateLoad(byte, b.CreateGEP(byte, from, at));
    b.CreateStore(value, b.CreateGEP(byte, to, at));
    done->addIncoming(b.CreateAdd(done, b.getInt64(1)), body);
    b.CreateBr(head);
    b.SetInsertPoint(rest);
    b.CreateRet(to);
  }

  void memoryRoutines() {
    if (!module_->getTargetTriple().starts_with("x86_64")) {
      plainMemoryRoutine("memset", true, false);
      plainMemoryRoutine("memcpy", false, false);
      plainMemoryRoutine("memmove", false, true);
      return;
    }
    llvm::Type* const ptr = llvm::PointerType::getUnqual(context_);
    llvm::Type* const i32 = llvm::Type::getInt32Ty(context_);
    const char* const three = "={rdi},={rsi},={rcx},0,1,2,~{memory},~{dirflag},~{fpsr},~{flags}";
    memoryRoutine("memset", i32, "rep stosb",
                  "={rdi},={rax},={rcx},0,1,2,~{memory},~{dirflag},~{fpsr},~{flags}");
    memoryRoutine("memcpy", ptr, "rep movsb", three);
    // Backwards when the source lies below and reaches into the destination.
    memoryRoutine("memmove", ptr,
                  "cmp %rdi, %rsi\n\tjae 1f\n\tlea -1(%rdi,%rcx), %rdi\n\tlea -1(%rsi,%rcx), %rsi\n\tstd\n\t"
                  "rep movsb\n\tcld\n\tjmp 2f\n1:\n\trep movsb\n2:",
                  three);
  }

  llvm::LLVMContext& context_;
  const CpuTarget& target_;
  std::unique_ptr<llvm::Module> module_;
};

}  // namespace

std::string entryName(size_t index) { return fmt::format("kernel_{}", index); }

Result<std::unique_ptr<llvm::Module>> makeModule(llvm::LLVMContext& context, llvm::TargetMachine& machine,
                                                 const ModulePart& part, const CpuTarget& target) {
  return ModuleBuilder(context, machine, target).run(part);
}

}  // namespace baton::codegen
