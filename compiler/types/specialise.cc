#include "compiler/types/specialise.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/ir/walk.h"

namespace baton::types {
namespace {

/// More copies of one function than any sensible program needs: polymorphic recursion.
constexpr size_t kMaxInstances = 256;
/// Pairs of pairs of pairs ... have types that could not even be written down.
constexpr uint64_t kMaxTypeSize = 100000;

using TypeArguments = std::unordered_map<ir::TypeVarId, ir::TypeRef>;

class Specialiser {
 public:
  Specialiser(ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics)
      : module_(module), structure_(structure), diagnostics_(diagnostics) {}

  void run() {
    for (const ir::Function& function : module_.functions) usedNames_.insert(function.name);
    copies_.resize(module_.functions.size(), 0);
    for (size_t i = 0; i < module_.functions.size(); ++i) {
      const ir::Function& function = module_.functions[i];
      if (!function.isExported) continue;
      if (!function.generics.empty())
        diagnostics_.error(function.location,
                           fmt::format("@{} is exported, so it cannot have type parameters", function.name));
      else
        instanceOf(ir::GlobalId(static_cast<uint32_t>(i)), {}, function.location);
    }
    for (size_t next = 0; next < instances_.size() && !diagnostics_.hasErrors(); ++next) build(next);
    if (diagnostics_.hasErrors()) return;
    module_.functions = std::move(built_);
  }

 private:
  struct Instance {
    ir::GlobalId original;
    std::vector<ir::TypeRef> arguments;
    std::string name;
  };

  ir::GlobalId instanceOf(ir::GlobalId original, std::vector<ir::TypeRef> arguments,
                          SourceLocation location) {
    std::vector<uint32_t> key{original.value()};
    for (ir::TypeRef argument : arguments) key.push_back(argument->id());
    auto [entry, isNew] =
        byKey_.try_emplace(std::move(key), ir::GlobalId(static_cast<uint32_t>(instances_.size())));
    if (!isNew) return entry->second;
    const std::string& name = module_.function(original).name;
    size_t copy = copies_[original.value()]++;
    if (copy >= kMaxInstances) {
      if (copy == kMaxInstances)
        diagnostics_.error(location,
                           fmt::format("@{} calls itself, directly or not, with ever more types", name));
      return entry->second;
    }
    std::string unique = name;
    for (size_t i = copy; copy > 0 && !usedNames_.insert(unique).second; ++i)
      unique = fmt::format("{}_{}", name, i);
    instances_.push_back({original, std::move(arguments), std::move(unique)});
    return entry->second;
  }

  void build(size_t index) {
    Instance instance = instances_[index];
    ir::Function& original = module_.function(instance.original);
    const FunctionStructure& structure = structure_.of(instance.original);
    // A function without generics has one instance, and is not needed after it.
    ir::Function function = original.generics.empty() ? std::move(original) : original;
    if (function.generics.empty()) {
      original.name = instance.name;  // for messages
      original.location = function.location;
    }
    arguments_.clear();
    for (size_t i = 0; i < function.generics.size(); ++i)
      arguments_.emplace(function.generics[i], instance.arguments[i]);
    function.name = instance.name;
    giveTypes(function, structure, instance);
    function.generics.clear();
    if (diagnostics_.hasErrors()) return;
    function_ = &function;
    current_ = &structure;
    tuples_.clear();
    flattened_.clear();
    for (size_t block = 0; block < function.blocks.size(); ++block)
      rewriteBlock(ir::BlockId(static_cast<uint32_t>(block)));
    dropFlattened(function);
    built_.push_back(std::move(function));
  }

  void giveTypes(ir::Function& function, const FunctionStructure& structure, const Instance& instance) {
    auto substitute = [&](ir::TypeRef& type) {
      if (type != nullptr) type = module_.types.substitute(type, function.generics, instance.arguments);
    };
    for (size_t v = 0; v < function.vars.size(); ++v) {
      ir::VarInfo& info = function.vars[v];
      std::optional<ir::TypeRef> type = structure_.terms().toType(structure.vars[v], arguments_);
      if (!type) {
        if (!diagnostics_.hasErrors())
          diagnostics_.error(info.location,
                             fmt::format("the type of %{} is not known; annotate it", info.name),
                             structure_.terms().print(structure.vars[v]));
        return;
      }
      if ((*type)->writtenSize() > kMaxTypeSize) {
        diagnostics_.error(info.location,
                           fmt::format("the type of %{} has more than {} parts", info.name, kMaxTypeSize));
        return;
      }
      info.type = *type;
      substitute(info.declaredType);
    }
    std::optional<ir::TypeRef> result = structure_.terms().toType(structure.result, arguments_);
    if (!result) {
      diagnostics_.error(
          function.location,
          fmt::format("the type of the result of @{} is not known; annotate it", function.name));
      return;
    }
    function.result = *result;
    substitute(function.declaredResult);
    for (ir::Block& block : function.blocks)
      for (ir::Binding& binding : block.bindings)
        if (ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
          substitute(lambda->declaredResult);
          if (!lambda->generics.empty()) {
            diagnostics_.error(
                binding.location,
                "a local function with type parameters is not supported; make it a global one");
            return;
          }
        }
  }

  ir::GlobalId specialised(ir::GlobalId callee, Occurrence at, SourceLocation location) {
    std::vector<ir::TypeRef> arguments;
    auto known = current_->instantiations.find(at);
    if (known != current_->instantiations.end())
      for (Term term : known->second) {
        std::optional<ir::TypeRef> type = structure_.terms().toType(term, arguments_);
        // A tensor of which nothing is known is one that never exists.
        arguments.push_back(type ? *type : module_.types.unit());
      }
    return instanceOf(callee, std::move(arguments), location);
  }

  void rewriteAtom(ir::Atom& atom, Occurrence at, SourceLocation location) {
    if (atom.isGlobal()) atom = specialised(atom.global(), at, location);
  }

  void rewriteBlock(ir::BlockId id) {
    std::vector<ir::Binding> bindings = std::move(function_->block(id).bindings);
    std::vector<ir::Binding> out;
    out.reserve(bindings.size());
    for (uint32_t index = 0; index < bindings.size(); ++index) {
      ir::Binding& binding = bindings[index];
      uint32_t operand = 0;
      ir::forEachOperand(
          binding.rhs, [&](ir::Atom& atom) { rewriteAtom(atom, {id, index, operand++}, binding.location); });
      if (ir::CallGlobal* call = std::get_if<ir::CallGlobal>(&binding.rhs))
        call->callee = specialised(call->callee, {id, index, Occurrence::kCallee}, binding.location);
      if (ir::CallOp* call = std::get_if<ir::CallOp>(&binding.rhs)) flattenList(*call, binding, out);
      if (ir::MakeTuple* tuple = std::get_if<ir::MakeTuple>(&binding.rhs))
        tuples_[binding.var] = tuple->elements;
      out.push_back(std::move(binding));
    }
    ir::Block& block = function_->block(id);
    block.bindings = std::move(out);
    rewriteAtom(block.result, {id, Occurrence::kResult, 0}, function_->location);
  }

  /// The tuple of an input list becomes its elements, by projection where they are not at hand.
  void flattenList(ir::CallOp& call, const ir::Binding& binding, std::vector<ir::Binding>& out) {
    const std::vector<ops::InputSpec>& inputs = call.op->inputs;
    if (inputs.empty() || !inputs.back().isList || call.args.size() != inputs.size()) return;
    ir::Atom list = call.args.back();
    BATON_CHECK(list.isVar());
    call.args.pop_back();
    auto known = tuples_.find(list.var());
    std::vector<SourceLocation>& places = function_->operandLocations[binding.var];
    SourceLocation place = places.size() == inputs.size() ? places.back() : binding.location;
    places.resize(call.args.size(), binding.location);
    ir::TypeRef type = function_->var(list.var()).type;
    for (size_t i = 0; i < type->elements().size(); ++i) {
      places.push_back(place);
      if (known != tuples_.end()) {
        flattened_.insert(list.var());
        call.args.push_back(known->second[i]);
        continue;
      }
      ir::VarInfo info;
      info.type = type->elements()[i];
      info.location = binding.location;
      ir::VarId var = function_->addVar(std::move(info));
      out.push_back({var, ir::Project{list, static_cast<uint32_t>(i)}, binding.location, {}});
      call.args.push_back(var);
    }
  }

  /// Tuples that were written for input lists only.
  void dropFlattened(ir::Function& function) {
    auto use = [&](const ir::Atom& atom) {
      if (atom.isVar()) flattened_.erase(atom.var());
    };
    if (flattened_.empty()) return;
    for (const ir::Block& block : function.blocks) {
      for (const ir::Binding& binding : block.bindings) ir::forEachOperand(binding.rhs, use);
      use(block.result);
    }
    for (ir::Block& block : function.blocks)
      std::erase_if(block.bindings,
                    [&](const ir::Binding& binding) { return flattened_.contains(binding.var); });
  }

  ir::Module& module_;
  Structure& structure_;
  frontend::Diagnostics& diagnostics_;
  std::map<std::vector<uint32_t>, ir::GlobalId> byKey_;
  std::vector<Instance> instances_;
  std::vector<size_t> copies_;  // by original
  std::unordered_set<std::string> usedNames_;
  std::vector<ir::Function> built_;
  TypeArguments arguments_;
  ir::Function* function_ = nullptr;
  const FunctionStructure* current_ = nullptr;
  std::unordered_map<ir::VarId, std::vector<ir::Atom>> tuples_;  // of the function being built
  std::unordered_set<ir::VarId> flattened_;
};

}  // namespace

void specialise(ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics) {
  Specialiser(module, structure, diagnostics).run();
}

}  // namespace baton::types
