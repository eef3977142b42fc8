#include "compiler/types/structure.h"

#include <fmt/format.h>

#include "compiler/ir/walk.h"
#include "compiler/types/operator_structure.h"

namespace baton::types {

Structure::Structure(ir::Module& module, frontend::Diagnostics& diagnostics)
    : module_(module), diagnostics_(diagnostics), terms_(module) {
  terms_.setBindHook([this](Term from, Term) {
    auto waiters = waiting_.find(from);
    if (waiters == waiting_.end()) return;
    ready_.insert(ready_.end(), waiters->second.begin(), waiters->second.end());
    waiting_.erase(waiters);
  });
}

void Structure::infer() {
  declareSignatures();
  for (uint32_t i = 0; i < module_.functions.size(); ++i) inferBody(i);
  drain();
  reportUnresolved();
}

void Structure::declareSignatures() {
  functions_.resize(module_.functions.size());
  facts_.resize(module_.functions.size());
  for (size_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& function = module_.functions[i];
    FunctionStructure& structure = functions_[i];
    for (size_t v = 0; v < function.vars.size(); ++v) structure.vars.push_back(terms_.unknown());
    facts_[i].resize(function.vars.size());
    for (ir::VarId param : function.params)
      if (ir::TypeRef type = function.var(param).declaredType)
        structure.vars[param.value()] = terms_.fromType(type, {});
    structure.result =
        function.declaredResult != nullptr ? terms_.fromType(function.declaredResult, {}) : terms_.unknown();
  }
}

SourceLocation Structure::operandLocation(ir::VarId var, size_t operand, SourceLocation fallback) const {
  auto at = function_->operandLocations.find(var);
  if (at == function_->operandLocations.end() || operand >= at->second.size()) return fallback;
  return at->second[operand];
}

bool Structure::require(Term found, Term expected, SourceLocation location, const std::string& what) {
  std::optional<std::pair<Term, Term>> conflict = terms_.unify(found, expected);
  if (!conflict) return true;
  if (terms_.isUnknown(conflict->first)) {
    diagnostics_.error(location, fmt::format("{} would have a type that contains itself", what));
    return false;
  }
  diagnostics_.error(location, fmt::format("{} has type {}; expected {}", what, terms_.print(found),
                                           terms_.print(expected)));
  return false;
}

void Structure::inferBody(uint32_t index) {
  current_ = index;
  function_ = &module_.functions[index];
  polymorphic_.clear();
  if (function_->body == ir::kNoBlock) return;
  std::vector<VarFacts>& facts = facts_[index];
  for (ir::VarId param : function_->params) {
    ir::TypeRef type = function_->var(param).declaredType;
    if (type != nullptr && type->isTensor() && type->rank() == 1)
      facts[param.value()].length = type->dims()[0].asConstant();
  }
  ir::WalkCallbacks callbacks;
  callbacks.enterBinding = [&](ir::BlockId block, size_t binding) {
    inferBinding(block, static_cast<uint32_t>(binding));
    drain();
    return true;
  };
  callbacks.enterChild = [&](ir::BlockId block, size_t binding, size_t child, ir::BlockId) {
    const ir::Binding& parent = function_->block(block).bindings[binding];
    if (const ir::Match* match = std::get_if<ir::Match>(&parent.rhs)) {
      Term scrutinee = operand(match->scrutinee, {block, static_cast<uint32_t>(binding), 0});
      inferPattern(match->clauses[child].pattern, scrutinee);
      drain();
    }
  };
  callbacks.leaveBinding = [&](ir::BlockId block, size_t binding) {
    finishBinding(block, static_cast<uint32_t>(binding));
    drain();
  };
  ir::walk(*function_, function_->body, callbacks);
  const ir::Block& body = function_->block(function_->body);
  Term result = operand(body.result, {function_->body, Occurrence::kResult, 0});
  require(result, functions_[index].result, function_->location,
          fmt::format("the result of @{}", function_->name));
  drain();
}

Term Structure::constantTerm(const ir::Constant& constant) {
  return terms_.tensor(constant.dtype, static_cast<int>(constant.shape.size()));
}

TermEnvironment Structure::freshArguments(const std::vector<ir::TypeVarId>& generics,
                                          std::vector<Term>* inOrder) {
  TermEnvironment environment;
  for (ir::TypeVarId generic : generics) {
    Term term = terms_.unknown();
    environment.emplace(generic, term);
    if (inOrder != nullptr) inOrder->push_back(term);
  }
  return environment;
}

Term Structure::globalTerm(ir::GlobalId id, Occurrence at) {
  const ir::Function& callee = module_.function(id);
  std::vector<Term> params;
  for (ir::VarId param : callee.params) params.push_back(functions_[id.value()].vars[param.value()]);
  Term term = terms_.function(std::move(params), functions_[id.value()].result);
  if (callee.generics.empty()) return term;
  std::vector<Term>& arguments = functions_[current_].instantiations[at];
  arguments.clear();
  return instantiate(term, freshArguments(callee.generics, &arguments));
}

Term Structure::operand(const ir::Atom& atom, Occurrence at) {
  switch (atom.kind()) {
    case ir::Atom::Kind::Constant: return constantTerm(module_.constant(atom.constant()));
    case ir::Atom::Kind::Global: return globalTerm(atom.global(), at);
    case ir::Atom::Kind::Var: break;
  }
  Term term = functions_[current_].vars[atom.var().value()];
  auto lambda = polymorphic_.find(atom.var());
  if (lambda == polymorphic_.end()) return term;
  std::vector<Term>& arguments = functions_[current_].instantiations[at];
  arguments.clear();
  return instantiate(term, freshArguments(lambda->second->generics, &arguments));
}

// A copy in which the generics of the environment are replaced. What is still unknown in
// the original may turn out to hold generics: the copy of it waits.
Term Structure::instantiate(Term root, const TermEnvironment& environment) {
  std::unordered_map<Term, Term> done;
  root = terms_.find(root);
  std::vector<Term> stack{root};
  while (!stack.empty()) {
    Term term = stack.back();
    if (done.contains(term)) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    std::vector<Term> children(terms_.children(term).begin(), terms_.children(term).end());
    for (Term& child : children) {
      child = terms_.find(child);
      if (done.contains(child)) continue;
      stack.push_back(child);
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    for (Term& child : children) child = done.at(child);
    Term copy = term;
    switch (terms_.kind(term)) {
      case TermKind::Unknown: {
        copy = terms_.unknown();
        add({Pending::Kind::Instantiate, current_, {}, 0, {term}, copy, environment, false});
        break;
      }
      case TermKind::Rigid: {
        auto known = environment.find(ir::TypeVarId(terms_.value(term)));
        if (known != environment.end()) copy = known->second;
        break;
      }
      case TermKind::Tensor: copy = terms_.tensor(children[0], children[1]); break;
      case TermKind::Tuple: copy = terms_.tuple(std::move(children)); break;
      case TermKind::Function: {
        Term result = children.back();
        children.pop_back();
        copy = terms_.function(std::move(children), result);
        break;
      }
      case TermKind::Adt: copy = terms_.adt(ir::TypeDefId(terms_.value(term)), std::move(children)); break;
      case TermKind::Ref: copy = terms_.ref(children[0]); break;
      case TermKind::Link:
      case TermKind::DType:
      case TermKind::Rank: break;
    }
    done.emplace(term, copy);
  }
  return done.at(root);
}

Term Structure::constructorTerms(ir::ConstructorRef constructor, std::vector<Term>& fields) {
  const ir::TypeDef& definition = module_.typeDef(constructor.definition);
  std::vector<Term> arguments;
  TermEnvironment environment = freshArguments(definition.generics, &arguments);
  for (ir::TypeRef field : definition.constructors[constructor.tag].fields)
    fields.push_back(terms_.fromType(field, environment));
  return terms_.adt(constructor.definition, std::move(arguments));
}

void Structure::inferPattern(ir::PatternId root, Term scrutinee) {
  std::vector<std::pair<ir::PatternId, Term>> stack{{root, scrutinee}};
  while (!stack.empty()) {
    auto [id, term] = stack.back();
    stack.pop_back();
    const ir::Pattern& pattern = function_->pattern(id);
    std::vector<Term> children;
    switch (pattern.kind) {
      case ir::Pattern::Kind::Wildcard: break;
      case ir::Pattern::Kind::Var: {
        functions_[current_].vars[pattern.var.value()] = term;
        if (ir::TypeRef declared = function_->var(pattern.var).declaredType)
          require(term, terms_.fromType(declared, {}), pattern.location,
                  fmt::format("%{}", function_->var(pattern.var).name));
        break;
      }
      case ir::Pattern::Kind::Constructor: {
        Term type = constructorTerms(pattern.constructor, children);
        require(term, type, pattern.location,
                fmt::format("the value matched by {}", module_.constructor(pattern.constructor).name));
        break;
      }
      case ir::Pattern::Kind::Tuple: {
        for (size_t i = 0; i < pattern.children.size(); ++i) children.push_back(terms_.unknown());
        require(term, terms_.tuple(children), pattern.location, "the value matched by a tuple");
        break;
      }
    }
    for (size_t i = pattern.children.size(); i-- > 0;) stack.emplace_back(pattern.children[i], children[i]);
  }
}

void Structure::inferLambda(const ir::Binding& binding, const ir::Lambda& lambda) {
  FunctionStructure& structure = functions_[current_];
  std::vector<Term> params;
  for (ir::VarId param : lambda.params) {
    ir::TypeRef declared = function_->var(param).declaredType;
    if (declared != nullptr) structure.vars[param.value()] = terms_.fromType(declared, {});
    if (declared != nullptr && declared->isTensor() && declared->rank() == 1)
      facts_[current_][param.value()].length = declared->dims()[0].asConstant();
    params.push_back(structure.vars[param.value()]);
  }
  Term result =
      lambda.declaredResult != nullptr ? terms_.fromType(lambda.declaredResult, {}) : terms_.unknown();
  Term type = terms_.function(std::move(params), result);
  require(type, structure.vars[binding.var.value()], binding.location, "the function");
}

void Structure::callFunction(ir::BlockId block, uint32_t index, Term callee, const std::string& name,
                             const std::vector<ir::Atom>& args) {
  const ir::Binding& binding = function_->block(block).bindings[index];
  Term result = functions_[current_].vars[binding.var.value()];
  bool isValue = std::holds_alternative<ir::CallValue>(binding.rhs);
  std::vector<Term> argTerms;
  for (size_t i = 0; i < args.size(); ++i)
    argTerms.push_back(operand(args[i], {block, index, static_cast<uint32_t>(i + (isValue ? 1 : 0))}));
  if (terms_.kind(callee) != TermKind::Function) {
    Term expected = terms_.function(argTerms, result);
    require(callee, expected, binding.location, name);
    return;
  }
  std::vector<Term> params(terms_.children(callee).begin(), terms_.children(callee).end());
  Term declaredResult = params.back();
  params.pop_back();
  if (params.size() != args.size()) {
    diagnostics_.error(binding.location,
                       fmt::format("{} takes {} arguments, found {}", name, params.size(), args.size()));
    return;
  }
  for (size_t i = 0; i < args.size(); ++i)
    require(argTerms[i], params[i], operandLocation(binding.var, i, binding.location),
            fmt::format("argument {} of {}", i + 1, name));
  require(declaredResult, result, binding.location, fmt::format("the result of {}", name));
}

void Structure::inferBinding(ir::BlockId block, uint32_t index) {
  const ir::Binding& binding = function_->block(block).bindings[index];
  FunctionStructure& structure = functions_[current_];
  VarFacts& facts = facts_[current_][binding.var.value()];
  facts.definition = &binding.rhs;
  Term var = structure.vars[binding.var.value()];
  if (ir::TypeRef declared = function_->var(binding.var).declaredType) {
    Term type = terms_.fromType(declared, {});
    if (terms_.isUnknown(var))
      structure.vars[binding.var.value()] = var = type;
    else
      require(var, type, binding.location, fmt::format("%{}", function_->var(binding.var).name));
    if (declared->isTensor() && declared->rank() == 1) facts.length = declared->dims()[0].asConstant();
  }
  auto at = [&](uint32_t operand) { return Occurrence{block, index, operand}; };
  auto place = [&](size_t operand) { return operandLocation(binding.var, operand, binding.location); };
  struct Visitor {
    Structure& s;
    ir::BlockId block;
    uint32_t index;
    const ir::Binding& binding;
    Term var;
    decltype(at)& occurrence;
    decltype(place)& placeOf;

    void operator()(const ir::AtomRhs& rhs) {
      s.require(s.operand(rhs.atom, occurrence(0)), var, binding.location,
                fmt::format("%{}", s.function_->var(binding.var).name));
      VarFacts& facts = s.facts_[s.current_][binding.var.value()];
      if (rhs.atom.isVar() && !facts.length)
        facts.length = s.facts_[s.current_][rhs.atom.var().value()].length;
    }
    void operator()(const ir::CallOp& rhs) {
      Pending pending{Pending::Kind::Operator, s.current_, block, index, {}, var, {}, false};
      for (size_t i = 0; i < rhs.args.size(); ++i)
        pending.inputs.push_back(s.operand(rhs.args[i], occurrence(static_cast<uint32_t>(i))));
      s.add(std::move(pending));
    }
    void operator()(const ir::CallGlobal& rhs) {
      Term callee = s.globalTerm(rhs.callee, occurrence(Occurrence::kCallee));
      s.callFunction(block, index, callee, "@" + s.module_.function(rhs.callee).name, rhs.args);
    }
    void operator()(const ir::CallValue& rhs) {
      std::string name = "the function";
      if (rhs.callee.isVar() && !s.function_->var(rhs.callee.var()).name.empty())
        name = "%" + s.function_->var(rhs.callee.var()).name;
      s.callFunction(block, index, s.operand(rhs.callee, occurrence(0)), name, rhs.args);
    }
    void operator()(const ir::CallJoin& rhs) {
      s.callFunction(block, index, s.functions_[s.current_].vars[rhs.join.value()],
                     "%" + s.function_->var(rhs.join).name, rhs.args);
    }
    void operator()(const ir::Construct& rhs) {
      std::vector<Term> fields;
      Term type = s.constructorTerms(rhs.constructor, fields);
      const std::string& name = s.module_.constructor(rhs.constructor).name;
      for (size_t i = 0; i < fields.size(); ++i)
        s.require(s.operand(rhs.args[i], occurrence(static_cast<uint32_t>(i))), fields[i], placeOf(i),
                  fmt::format("field {} of {}", i + 1, name));
      s.require(type, var, binding.location, fmt::format("the value made by {}", name));
    }
    void operator()(const ir::MakeTuple& rhs) {
      std::vector<Term> elements;
      for (size_t i = 0; i < rhs.elements.size(); ++i)
        elements.push_back(s.operand(rhs.elements[i], occurrence(static_cast<uint32_t>(i))));
      s.require(s.terms_.tuple(std::move(elements)), var, binding.location, "the tuple");
    }
    void operator()(const ir::Project& rhs) {
      s.add({Pending::Kind::Project,
             s.current_,
             block,
             index,
             {s.operand(rhs.tuple, occurrence(0))},
             var,
             {},
             false});
    }
    void operator()(const ir::If& rhs) {
      s.require(s.operand(rhs.condition, occurrence(0)), s.terms_.tensor(DType::Bool, 0), placeOf(0),
                "the condition");
    }
    void operator()(const ir::Match&) {}
    void operator()(const ir::Lambda& rhs) { s.inferLambda(binding, rhs); }
    void operator()(const ir::NestedBlock&) {}
    void operator()(const ir::MakeRef& rhs) {
      s.require(s.terms_.ref(s.operand(rhs.value, occurrence(0))), var, binding.location, "the cell");
    }
    void operator()(const ir::ReadRef& rhs) {
      s.require(s.operand(rhs.cell, occurrence(0)), s.terms_.ref(var), placeOf(0),
                "the argument of ref_read");
    }
    void operator()(const ir::WriteRef& rhs) {
      Term value = s.operand(rhs.value, occurrence(1));
      s.require(s.operand(rhs.cell, occurrence(0)), s.terms_.ref(value), placeOf(0),
                "the argument of ref_write");
      s.require(s.terms_.tuple({}), var, binding.location, "the result of ref_write");
    }
  };
  std::visit(Visitor{*this, block, index, binding, var, at, place}, binding.rhs);
}

// When the blocks of a binding are done their results meet.
void Structure::finishBinding(ir::BlockId block, uint32_t index) {
  const ir::Binding& binding = function_->block(block).bindings[index];
  Term var = functions_[current_].vars[binding.var.value()];
  auto resultOf = [&](ir::BlockId child) {
    return operand(function_->block(child).result, {child, Occurrence::kResult, 0});
  };
  if (const ir::If* branch = std::get_if<ir::If>(&binding.rhs)) {
    require(resultOf(branch->thenBlock), var, binding.location, "the first branch");
    require(resultOf(branch->elseBlock), var, binding.location, "the second branch");
  } else if (const ir::Match* match = std::get_if<ir::Match>(&binding.rhs)) {
    for (const ir::Clause& clause : match->clauses)
      require(resultOf(clause.block), var, function_->pattern(clause.pattern).location, "this clause");
  } else if (const ir::NestedBlock* nested = std::get_if<ir::NestedBlock>(&binding.rhs)) {
    require(resultOf(nested->block), var, binding.location, "the block");
  } else if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
    Term result = resultOf(lambda->body);
    if (terms_.kind(var) == TermKind::Function)
      require(result, terms_.children(var).back(), binding.location, "the result of the function");
    if (!lambda->generics.empty()) polymorphic_.emplace(binding.var, lambda);
  }
}

void Structure::add(Pending pending) {
  uint32_t index = static_cast<uint32_t>(pending_.size());
  pending_.push_back(std::move(pending));
  if (pending_.back().kind == Pending::Kind::Instantiate)
    wait(index);
  else
    ready_.push_back(index);
}

void Structure::wait(uint32_t index) {
  for (Term term : pending_[index].inputs) {
    term = terms_.find(term);
    if (terms_.isUnknown(term)) waiting_[term].push_back(index);
  }
}

void Structure::drain() {
  while (!ready_.empty()) {
    uint32_t index = ready_.front();
    ready_.pop_front();
    Pending& pending = pending_[index];
    if (pending.isDone) continue;
    if (pending.kind == Pending::Kind::Operator) {
      std::vector<Term> waitFor;
      pending.isDone = OperatorStructure(*this, pending).run(waitFor) == Outcome::Done;
      if (pending.isDone) continue;
      for (Term term : waitFor) {
        term = terms_.find(term);
        // What was bound meanwhile is a reason to try again at once.
        if (terms_.isUnknown(term))
          waiting_[term].push_back(index);
        else
          ready_.push_back(index);
      }
      continue;
    }
    pending.isDone = attempt(pending) == Outcome::Done;
    if (!pending.isDone) wait(index);
  }
}

Structure::Outcome Structure::attempt(Pending& pending) {
  if (pending.kind == Pending::Kind::Project) return attemptProject(pending);
  Term original = terms_.find(pending.inputs[0]);
  if (terms_.isUnknown(original)) return Outcome::NotYet;
  pending.isDone = true;
  Term copy = instantiate(original, pending.environment);
  if (terms_.unify(copy, pending.result))
    diagnostics_.error({}, fmt::format("a use of a function needs type {}; it has {}",
                                       terms_.print(pending.result), terms_.print(copy)));
  return Outcome::Done;
}

Structure::Outcome Structure::attemptProject(Pending& pending) {
  Term tuple = terms_.find(pending.inputs[0]);
  if (terms_.isUnknown(tuple)) return Outcome::NotYet;
  const ir::Function& function = module_.functions[pending.function];
  const ir::Binding& binding = function.block(pending.block).bindings[pending.binding];
  uint32_t index = std::get<ir::Project>(binding.rhs).index;
  if (terms_.kind(tuple) != TermKind::Tuple) {
    diagnostics_.error(binding.location, fmt::format("field {} of a value that is no tuple", index),
                       terms_.print(tuple));
  } else if (index >= terms_.children(tuple).size()) {
    diagnostics_.error(
        binding.location,
        fmt::format("field {} of a tuple that has {} fields", index, terms_.children(tuple).size()),
        terms_.print(tuple));
  } else {
    require(terms_.children(tuple)[index], pending.result, binding.location, fmt::format("field {}", index));
  }
  return Outcome::Done;
}

// One message per function: what follows from an unknown type is not worth more.
void Structure::reportUnresolved() {
  if (diagnostics_.hasErrors()) return;
  std::vector<bool> reported(module_.functions.size(), false);
  for (Pending& pending : pending_) {
    if (pending.isDone || pending.kind == Pending::Kind::Instantiate || reported[pending.function]) continue;
    reported[pending.function] = true;
    const ir::Function& function = module_.functions[pending.function];
    const ir::Binding& binding = function.block(pending.block).bindings[pending.binding];
    std::string inputs;
    for (Term input : pending.inputs) inputs += (inputs.empty() ? "" : ", ") + terms_.print(input);
    if (const ir::CallOp* call = std::get_if<ir::CallOp>(&binding.rhs))
      diagnostics_.error(
          binding.location,
          fmt::format("{}: the types of its inputs are not known; annotate them", call->op->name), inputs);
    else
      diagnostics_.error(binding.location, "the type of the tuple is not known; annotate it", inputs);
  }
}

}  // namespace baton::types
