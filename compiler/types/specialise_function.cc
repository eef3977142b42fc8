#include "compiler/types/specialise_function.h"

#include <fmt/format.h>

#include "compiler/ir/walk.h"

namespace baton::types {

void FunctionSpecialiser::run(ir::Function& function, TypeArguments arguments) {
  function_ = &function;
  for (uint32_t i = 0; i < function.blocks.size(); ++i) origins_.push_back(ir::BlockId(i));
  environments_.push_back({std::move(arguments), {}});
  for (ir::VarId param : function.params)
    if (!giveType(param, environments_[0])) return;
  std::optional<ir::TypeRef> result = structure_.terms().toType(found_.result, environments_[0].arguments);
  if (!result) {
    diagnostics_.error(function.location,
                       fmt::format("the type of the result of @{} is not known; annotate it", function.name));
    return;
  }
  if ((*result)->isOpen()) {
    diagnostics_.error(
        function.location,
        fmt::format("the type of the result of @{} depends on type parameters of another function; "
                    "annotate it",
                    function.name));
    return;
  }
  function.result = *result;
  function.declaredResult = substituted(function.declaredResult, environments_[0]);
  work_.emplace_back(function.body, 0);
  while (!work_.empty() && !diagnostics_.hasErrors()) {
    auto [root, environment] = work_.back();
    work_.pop_back();
    rewriteTree(root, environment);
  }
  if (diagnostics_.hasErrors()) return;
  placeInstances();
  dropFlattened();
  // What is bound nowhere any more.
  for (ir::VarInfo& info : function.vars)
    if (info.type == nullptr) info.type = module_.types.unit();
}

ir::TypeRef FunctionSpecialiser::substituted(ir::TypeRef type, const Environment& environment) {
  if (type == nullptr || environment.arguments.empty()) return type;
  return module_.types.rewrite(type, [&](ir::TypeRef leaf) -> ir::TypeRef {
    if (leaf->kind() != ir::TypeKind::Var) return leaf;
    auto known = environment.arguments.find(leaf->variable());
    return known == environment.arguments.end() ? leaf : known->second;
  });
}

bool FunctionSpecialiser::giveType(ir::VarId var, const Environment& environment) {
  ir::VarInfo& info = function_->var(var);
  Term term = terms_[var.value()];
  std::optional<ir::TypeRef> type = structure_.terms().toType(term, environment.arguments);
  if (!type) {
    diagnostics_.error(info.location, fmt::format("the type of {} is not known; annotate it", nameOf(info)),
                       structure_.terms().print(term));
    return false;
  }
  if ((*type)->isOpen()) {
    diagnostics_.error(
        info.location,
        fmt::format("the type of {} depends on type parameters of another function; annotate it",
                    nameOf(info)),
        structure_.terms().print(term));
    return false;
  }
  if ((*type)->writtenSize() > kMaxTypeSize) {
    diagnostics_.error(
        info.location,
        environment.arguments.empty()
            ? fmt::format("the type of {} has more than {} parts", nameOf(info), kMaxTypeSize)
            : fmt::format("@{} is used with ever larger types: that of {} has more than {} parts",
                          frontend::shown(function_->name), nameOf(info), kMaxTypeSize));
    return false;
  }
  info.type = *type;
  info.declaredType = substituted(info.declaredType, environment);
  return true;
}

void FunctionSpecialiser::rewriteTree(ir::BlockId root, size_t environment) {
  std::vector<ir::BlockId> stack{root};
  while (!stack.empty() && !diagnostics_.hasErrors()) {
    ir::BlockId block = stack.back();
    stack.pop_back();
    std::vector<ir::BlockId> children;
    rewriteBlock(block, environment, children);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
}

std::vector<ir::TypeRef> FunctionSpecialiser::typesAt(Occurrence at, const Environment& environment) {
  std::vector<ir::TypeRef> types;
  auto known = found_.instantiations.find(at);
  if (known == found_.instantiations.end()) return types;
  for (Term term : known->second) {
    std::optional<ir::TypeRef> type = structure_.terms().toType(term, environment.arguments);
    // A tensor of which nothing is known is one that never exists.
    types.push_back(type ? *type : module_.types.unit());
  }
  return types;
}

// A function that relies on extents becomes a value behind a local function that calls
// it: what it relies on is checked at that call.
ir::Atom FunctionSpecialiser::checkedValue(ir::GlobalId original, std::vector<ir::TypeRef> types,
                                           SourceLocation location, std::vector<ir::Binding>& before) {
  const GlobalInfo& info = globals_[original.value()];
  const FunctionStructure& found = structure_.of(original);
  TypeArguments arguments;
  for (size_t i = 0; i < types.size(); ++i) arguments.emplace(info.generics[i], types[i]);
  auto typeOf = [&](Term term) {
    std::optional<ir::TypeRef> type = structure_.terms().toType(term, arguments);
    return type ? *type : module_.types.unit();
  };
  auto addVar = [&](const char* name, ir::TypeRef type) {
    ir::VarInfo var;
    var.name = name;
    var.type = type;
    var.location = location;
    terms_.push_back(structure_.terms().unknown());
    return function_->addVar(std::move(var));
  };
  ir::Lambda lambda;
  std::vector<ir::TypeRef> params;
  for (ir::VarId param : info.params) {
    params.push_back(typeOf(found.vars[param.value()]));
    lambda.params.push_back(addVar("a", params.back()));
  }
  ir::TypeRef resultType = typeOf(found.result);
  ir::VarId result = addVar("", resultType);
  ir::VarId function = addVar("f", module_.types.function(std::move(params), resultType));
  lambda.body = function_->addBlock();
  origins_.push_back(ir::kNoBlock);
  std::vector<ir::Atom> args(lambda.params.begin(), lambda.params.end());
  ir::GlobalId callee = globalInstance_(original, std::move(types), location);
  ir::Block& body = function_->block(lambda.body);
  body.bindings.push_back({result, ir::CallGlobal{callee, std::move(args)}, location, {}});
  body.result = result;
  before.push_back({function, std::move(lambda), location, {}});
  return function;
}

void FunctionSpecialiser::rewriteAtom(ir::Atom& atom, Occurrence at, size_t environment,
                                      SourceLocation location, std::vector<ir::Binding>& before) {
  const Environment& here = environments_[environment];
  if (atom.isGlobal()) {
    ir::GlobalId original = atom.global();
    std::vector<ir::TypeRef> types = typesAt(at, here);
    atom = globals_[original.value()].hasDemands ? checkedValue(original, std::move(types), location, before)
                                                 : globalInstance_(original, std::move(types), location);
  } else if (atom.isVar()) {
    auto self = here.self.find(atom.var());
    if (self != here.self.end())
      atom = self->second;
    else if (templates_.contains(atom.var()))
      atom = instanceOf(atom.var(), typesAt(at, here));
  }
}

void FunctionSpecialiser::rewriteBlock(ir::BlockId id, size_t environment,
                                       std::vector<ir::BlockId>& children) {
  ir::BlockId origin = origins_[id.value()];
  std::vector<ir::Binding> bindings = std::move(function_->block(id).bindings);
  std::vector<ir::Binding> out;
  out.reserve(bindings.size());
  for (uint32_t index = 0; index < bindings.size(); ++index) {
    ir::Binding& binding = bindings[index];
    ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs);
    if (lambda != nullptr && !lambda->generics.empty()) {
      templates_.emplace(binding.var, Template{*lambda, environment, binding.location, {}, {}});
      function_->var(binding.var).type = nullptr;
      out.push_back(std::move(binding));
      continue;
    }
    const Environment& here = environments_[environment];
    if (!giveType(binding.var, here)) return;
    if (lambda != nullptr) {
      for (ir::VarId param : lambda->params)
        if (!giveType(param, here)) return;
      lambda->declaredResult = substituted(lambda->declaredResult, here);
    }
    if (const ir::Match* match = std::get_if<ir::Match>(&binding.rhs))
      for (const ir::Clause& clause : match->clauses)
        ir::forEachPatternVar(*function_, clause.pattern, [&](ir::VarId var) { giveType(var, here); });
    uint32_t operand = 0;
    ir::forEachOperand(binding.rhs, [&](ir::Atom& atom) {
      rewriteAtom(atom, {origin, index, operand++}, environment, binding.location, out);
    });
    if (ir::CallGlobal* call = std::get_if<ir::CallGlobal>(&binding.rhs))
      call->callee = globalInstance_(
          call->callee, typesAt({origin, index, Occurrence::kCallee}, environments_[environment]),
          binding.location);
    if (ir::CallOp* call = std::get_if<ir::CallOp>(&binding.rhs)) flattenList(*call, binding, out);
    if (ir::MakeTuple* tuple = std::get_if<ir::MakeTuple>(&binding.rhs))
      tuples_[binding.var] = tuple->elements;
    ir::forEachChildBlock(binding.rhs, [&](ir::BlockId child) { children.push_back(child); });
    out.push_back(std::move(binding));
  }
  ir::Atom result = function_->block(id).result;
  rewriteAtom(result, {origin, Occurrence::kResult, 0}, environment, function_->location, out);
  function_->block(id).bindings = std::move(out);
  function_->block(id).result = result;
}

ir::VarId FunctionSpecialiser::instanceOf(ir::VarId var, std::vector<ir::TypeRef> types) {
  Template& from = templates_.at(var);
  std::vector<uint32_t> key;
  for (ir::TypeRef type : types) key.push_back(type->id());
  auto known = from.byTypes.find(key);
  if (known != from.byTypes.end()) return known->second;
  if (from.instances.size() == kMaxInstances) {
    if (!from.isReported)
      diagnostics_.error(from.location,
                         fmt::format("{} is used with ever more types", nameOf(function_->var(var))));
    from.isReported = true;
    return var;
  }
  ir::VarInfo info = function_->var(var);
  ir::VarId instance = function_->addVar(std::move(info));
  terms_.push_back(terms_[var.value()]);
  from.byTypes.emplace(std::move(key), instance);
  Environment inside = environments_[from.environment];
  for (size_t i = 0; i < types.size(); ++i)
    inside.arguments.insert_or_assign(from.lambda.generics[i], types[i]);
  inside.self.insert_or_assign(var, instance);
  environments_.push_back(std::move(inside));
  const Environment& here = environments_.back();
  giveType(instance, here);
  ir::Lambda copy = clone(from.lambda);
  for (ir::VarId param : copy.params) giveType(param, here);
  copy.declaredResult = substituted(copy.declaredResult, here);
  copy.generics.clear();
  work_.emplace_back(copy.body, environments_.size() - 1);
  from.instances.push_back({instance, std::move(copy), from.location, {}});
  return instance;
}

// A copy with variables, blocks and patterns of its own. Nothing in the original has been
// rewritten, so that what inference says of it holds for the copy.
ir::Lambda FunctionSpecialiser::clone(const ir::Lambda& lambda) {
  std::unordered_map<ir::VarId, ir::VarId> vars;
  std::unordered_map<ir::BlockId, ir::BlockId> blocks;
  auto copyVar = [&](ir::VarId var) {
    ir::VarInfo info = function_->var(var);
    ir::VarId copy = function_->addVar(std::move(info));
    terms_.push_back(terms_[var.value()]);
    auto places = function_->operandLocations.find(var);
    if (places != function_->operandLocations.end()) {
      std::vector<SourceLocation> copied = places->second;
      function_->operandLocations.emplace(copy, std::move(copied));
    }
    vars.emplace(var, copy);
    return copy;
  };
  auto renamed = [&](ir::VarId var) {
    auto known = vars.find(var);
    return known == vars.end() ? var : known->second;
  };
  auto renameAtom = [&](ir::Atom& atom) {
    if (atom.isVar()) atom = renamed(atom.var());
  };
  std::vector<ir::BlockId> originals = ir::blocksInOrder(*function_, lambda.body);
  for (ir::BlockId original : originals) {
    ir::BlockId copy = function_->addBlock();
    blocks.emplace(original, copy);
    origins_.push_back(origins_[original.value()]);
  }
  ir::Lambda result = lambda;
  for (ir::VarId& param : result.params) param = copyVar(param);
  result.body = blocks.at(lambda.body);
  // Parents come before their children, so that what a block uses has its copy.
  for (ir::BlockId original : originals) {
    std::vector<ir::Binding> bindings = function_->block(original).bindings;
    for (ir::Binding& binding : bindings) {
      binding.var = copyVar(binding.var);
      ir::forEachOperand(binding.rhs, renameAtom);
      if (ir::CallJoin* jump = std::get_if<ir::CallJoin>(&binding.rhs)) jump->join = renamed(jump->join);
      if (ir::If* branch = std::get_if<ir::If>(&binding.rhs)) {
        branch->thenBlock = blocks.at(branch->thenBlock);
        branch->elseBlock = blocks.at(branch->elseBlock);
      } else if (ir::NestedBlock* nested = std::get_if<ir::NestedBlock>(&binding.rhs)) {
        nested->block = blocks.at(nested->block);
      } else if (ir::Lambda* inner = std::get_if<ir::Lambda>(&binding.rhs)) {
        for (ir::VarId& param : inner->params) param = copyVar(param);
        inner->body = blocks.at(inner->body);
      } else if (ir::Match* match = std::get_if<ir::Match>(&binding.rhs)) {
        for (ir::Clause& clause : match->clauses) {
          clause.block = blocks.at(clause.block);
          // Pre-order over the pattern; children get their copies' indices afterwards.
          ir::PatternId root = clause.pattern;
          std::vector<std::pair<ir::PatternId, ir::PatternId>> copied;
          std::unordered_map<ir::PatternId, ir::PatternId> byOriginal;
          std::vector<ir::PatternId> stack{root};
          while (!stack.empty()) {
            ir::PatternId id = stack.back();
            stack.pop_back();
            ir::Pattern pattern = function_->pattern(id);
            if (pattern.kind == ir::Pattern::Kind::Var) pattern.var = copyVar(pattern.var);
            stack.insert(stack.end(), pattern.children.begin(), pattern.children.end());
            ir::PatternId copy = function_->addPattern(std::move(pattern));
            byOriginal.emplace(id, copy);
          }
          for (const auto& [id, copy] : byOriginal)
            for (ir::PatternId& child : function_->patterns[copy.value()].children)
              child = byOriginal.at(child);
          clause.pattern = byOriginal.at(root);
        }
      }
    }
    ir::Block& copy = function_->block(blocks.at(original));
    copy.bindings = std::move(bindings);
    copy.result = function_->block(original).result;
    renameAtom(copy.result);
  }
  return result;
}

/// The tuple of an input list becomes its elements, by projection where they are not at hand.
void FunctionSpecialiser::flattenList(ir::CallOp& call, const ir::Binding& binding,
                                      std::vector<ir::Binding>& out) {
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
    terms_.push_back(structure_.terms().unknown());
    out.push_back({var, ir::Project{list, static_cast<uint32_t>(i)}, binding.location, {}});
    call.args.push_back(var);
  }
}

/// Tuples that were written for input lists only.
void FunctionSpecialiser::dropFlattened() {
  auto use = [&](const ir::Atom& atom) {
    if (atom.isVar()) flattened_.erase(atom.var());
  };
  if (flattened_.empty()) return;
  for (const ir::Block& block : function_->blocks) {
    for (const ir::Binding& binding : block.bindings) ir::forEachOperand(binding.rhs, use);
    use(block.result);
  }
  for (ir::Block& block : function_->blocks)
    std::erase_if(block.bindings,
                  [&](const ir::Binding& binding) { return flattened_.contains(binding.var); });
}

void FunctionSpecialiser::placeInstances() {
  if (templates_.empty()) return;
  for (ir::Block& block : function_->blocks) {
    std::vector<ir::Binding> out;
    for (ir::Binding& binding : block.bindings) {
      auto found = templates_.find(binding.var);
      if (found == templates_.end()) {
        out.push_back(std::move(binding));
        continue;
      }
      for (ir::Binding& instance : found->second.instances) out.push_back(std::move(instance));
      // Its body is not part of the function any more.
      std::vector<ir::BlockId> dead = ir::blocksInOrder(*function_, found->second.lambda.body);
      for (ir::BlockId id : dead) dead_.push_back(id);
    }
    block.bindings = std::move(out);
  }
  for (ir::BlockId id : dead_) function_->block(id).bindings.clear();
}

}  // namespace baton::types
