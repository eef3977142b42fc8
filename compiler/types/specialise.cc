#include "compiler/types/specialise.h"

#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/ir/type_walk.h"
#include "compiler/types/specialise_function.h"

namespace baton::types {
namespace {

/// Whether a function relies on more than the structure of its arguments.
bool hasDemands(const ir::Function& function) {
  if (!function.where.empty()) return true;
  bool found = false;
  for (ir::VarId param : function.params)
    if (ir::TypeRef declared = function.var(param).declaredType)
      ir::forEachOwnTensor(declared, [&](ir::TypeRef tensor) {
        for (const DimExpr& dim : tensor->dims()) found = found || dim.asSymbol() != ir::kAnyDim;
      });
  return found;
}

class Specialiser {
 public:
  Specialiser(ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics)
      : module_(module), structure_(structure), diagnostics_(diagnostics) {}

  void run() {
    for (const ir::Function& function : module_.functions) {
      usedNames_.insert(function.name);
      globals_.push_back({function.params, function.generics, hasDemands(function)});
    }
    copies_.resize(module_.functions.size(), 0);
    for (size_t i = 0; i < module_.functions.size(); ++i) {
      const ir::Function& function = module_.functions[i];
      if (!function.isExported) continue;
      if (!function.generics.empty())
        diagnostics_.error(function.location,
                           fmt::format("@{} is exported, so it cannot have type parameters",
                                       frontend::shown(function.name)));
      else if (hasKnownParameters(ir::GlobalId(static_cast<uint32_t>(i))))
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
    size_t wantedBy = kNoInstance;
  };
  static constexpr size_t kNoInstance = SIZE_MAX;

  /// Whether one instance of the function leads to the next, again and again: its types grow
  /// without end. Many instances that others want are no sign of that.
  bool isEndless(ir::GlobalId original) const {
    constexpr size_t kMaxNested = 8;
    size_t nested = 0;
    for (size_t i = current_; i != kNoInstance && nested < kMaxNested; i = instances_[i].wantedBy)
      nested += instances_[i].original == original;
    return nested == kMaxNested;
  }

  /// Callers outside know no more than what is declared or follows from the body.
  bool hasKnownParameters(ir::GlobalId id) {
    const ir::Function& function = module_.function(id);
    bool ok = true;
    for (ir::VarId param : function.params) {
      const Term term = structure_.of(id).vars[param.value()];
      if (!structure_.terms().hasUnknown(term)) continue;
      const ir::VarInfo& info = function.var(param);
      diagnostics_.error(info.location,
                         fmt::format("the type of %{} is not known, and @{} is exported; annotate it",
                                     frontend::shown(info.name), frontend::shown(function.name)),
                         structure_.terms().print(term));
      ok = false;
    }
    return ok;
  }

  ir::GlobalId instanceOf(ir::GlobalId original, std::vector<ir::TypeRef> arguments,
                          SourceLocation location) {
    std::vector<uint32_t> key{original.value()};
    for (ir::TypeRef argument : arguments) key.push_back(argument->id());
    auto [entry, isNew] =
        byKey_.try_emplace(std::move(key), ir::GlobalId(static_cast<uint32_t>(instances_.size())));
    if (!isNew) return entry->second;
    const std::string& name = module_.function(original).name;
    size_t copy = copies_[original.value()]++;
    if (copy >= kMaxInstances && isEndless(original)) {
      if (!diagnostics_.hasErrors())
        diagnostics_.error(location, fmt::format("@{} calls itself, directly or not, with ever more types",
                                                 frontend::shown(name)));
      return entry->second;
    }
    std::string unique = name;
    for (size_t i = copy; copy > 0 && !usedNames_.insert(unique).second; ++i)
      unique = fmt::format("{}_{}", name, i);
    instances_.push_back({original, std::move(arguments), std::move(unique), current_});
    return entry->second;
  }

  void build(size_t index) {
    Instance instance = instances_[index];
    current_ = index;
    ir::Function& original = module_.function(instance.original);
    // A function without generics has one instance, and is not needed after it; its name
    // and place are, for messages.
    ir::Function function;
    if (original.generics.empty()) {
      std::string name = original.name;
      SourceLocation location = original.location;
      function = std::move(original);
      original.name = std::move(name);
      original.location = location;
    } else {
      function = original;
    }
    TypeArguments arguments;
    for (size_t i = 0; i < function.generics.size(); ++i)
      arguments.emplace(function.generics[i], instance.arguments[i]);
    function.generics.clear();
    FunctionSpecialiser specialiser(
        module_, structure_, globals_, structure_.of(instance.original), diagnostics_,
        [this](ir::GlobalId id, std::vector<ir::TypeRef> types, SourceLocation location) {
          return instanceOf(id, std::move(types), location);
        });
    specialiser.run(function, std::move(arguments));
    function.name = instance.name;
    built_.push_back(std::move(function));
  }

  ir::Module& module_;
  Structure& structure_;
  frontend::Diagnostics& diagnostics_;
  std::map<std::vector<uint32_t>, ir::GlobalId> byKey_;
  std::vector<Instance> instances_;
  size_t current_ = kNoInstance;  // the one that is built
  std::vector<GlobalInfo> globals_;
  std::vector<size_t> copies_;  // by original
  std::unordered_set<std::string> usedNames_;
  std::vector<ir::Function> built_;
};

}  // namespace

void specialise(ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics) {
  Specialiser(module, structure, diagnostics).run();
}

}  // namespace baton::types
