#include "compiler/types/structure.h"

#include <fmt/format.h>

#include "compiler/ir/walk.h"
#include "compiler/types/result_location.h"

namespace baton::types {

std::string nameOf(const ir::VarInfo& info) {
  return info.name.empty() ? "the value" : "%" + frontend::shown(info.name);
}

bool Structure::hasNoValues(ir::GlobalId function, ir::Atom atom) {
  if (!atom.isVar()) return false;
  const Term term = of(function).vars[atom.var().value()];
  return terms_.kind(term) == TermKind::Adt &&
         module_.typeDef(ir::TypeDefId(terms_.value(term))).constructors.empty();
}

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
  settleInstances();
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
    if (type != nullptr && type->isTensor() && type->rank() > 0)
      facts[param.value()].firstExtent = type->dims()[0].asConstant();
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
  require(result, functions_[index].result, resultLocation(*function_, function_->body, function_->location),
          fmt::format("the result of @{}", function_->name));
  drain();
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
          require(term, terms_.fromType(declared, {}), pattern.location, nameOf(function_->var(pattern.var)));
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
    if (declared != nullptr && declared->isTensor() && declared->rank() > 0)
      facts_[current_][param.value()].firstExtent = declared->dims()[0].asConstant();
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
                       fmt::format("{} takes {}, found {}", name,
                                   frontend::countOf(params.size(), "argument"), args.size()));
    return;
  }
  for (size_t i = 0; i < args.size(); ++i)
    require(argTerms[i], params[i], operandLocation(binding.var, i, binding.location),
            fmt::format("argument {} of {}", i + 1, name));
  require(declaredResult, result, binding.location, fmt::format("the result of {}", name));
}

void Structure::inferBinding(ir::BlockId block, uint32_t index) {
  const ir::Binding& binding = function_->block(block).bindings[index];
  location_ = binding.location;
  FunctionStructure& structure = functions_[current_];
  VarFacts& facts = facts_[current_][binding.var.value()];
  facts.definition = &binding.rhs;
  Term var = structure.vars[binding.var.value()];
  if (ir::TypeRef declared = function_->var(binding.var).declaredType) {
    Term type = terms_.fromType(declared, {});
    if (terms_.isUnknown(var))
      structure.vars[binding.var.value()] = var = type;
    else
      require(var, type, binding.location, nameOf(function_->var(binding.var)));
    if (declared->isTensor() && declared->rank() > 0) facts.firstExtent = declared->dims()[0].asConstant();
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
                nameOf(s.function_->var(binding.var)));
      VarFacts& facts = s.facts_[s.current_][binding.var.value()];
      if (rhs.atom.isVar() && !facts.firstExtent)
        facts.firstExtent = s.facts_[s.current_][rhs.atom.var().value()].firstExtent;
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
    void operator()(const ir::ArrayOp& rhs) { s.inferArray(block, index, rhs); }
    void operator()(const ir::MakeRef& rhs) {
      s.require(s.terms_.ref(s.operand(rhs.value, occurrence(0))), var, binding.location, "the cell");
    }
    void operator()(const ir::ReadRef& rhs) {
      s.require(s.operand(rhs.cell, occurrence(0)), s.terms_.ref(var), placeOf(0),
                "the argument of ref_read");
    }
    void operator()(const ir::WriteRef& rhs) {
      const Term pointee = s.terms_.unknown();
      s.require(s.operand(rhs.cell, occurrence(0)), s.terms_.ref(pointee), placeOf(0),
                "the argument of ref_write");
      s.require(s.operand(rhs.value, occurrence(1)), pointee, placeOf(1), "the value of ref_write");
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
    auto place = [&](ir::BlockId child) { return resultLocation(*function_, child, binding.location); };
    require(resultOf(branch->thenBlock), var, place(branch->thenBlock), "the first branch");
    require(resultOf(branch->elseBlock), var, place(branch->elseBlock), "the second branch");
  } else if (const ir::Match* match = std::get_if<ir::Match>(&binding.rhs)) {
    for (const ir::Clause& clause : match->clauses)
      require(resultOf(clause.block), var,
              resultLocation(*function_, clause.block, function_->pattern(clause.pattern).location),
              "this clause");
  } else if (const ir::NestedBlock* nested = std::get_if<ir::NestedBlock>(&binding.rhs)) {
    require(resultOf(nested->block), var, resultLocation(*function_, nested->block, binding.location),
            "the block");
  } else if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
    Term result = resultOf(lambda->body);
    if (terms_.kind(var) == TermKind::Function)
      require(result, terms_.children(var).back(), resultLocation(*function_, lambda->body, binding.location),
              "the result of the function");
    if (!lambda->generics.empty()) polymorphic_.emplace(binding.var, lambda);
  }
}

}  // namespace baton::types
