// Terms of operands: constants, and fresh copies of what is polymorphic.
#include "compiler/types/structure.h"

namespace baton::types {

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
        add({Pending::Kind::Instantiate, current_, {}, 0, {term}, copy, environment, false, location_});
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
      case TermKind::Array: copy = terms_.array(children[0]); break;
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

}  // namespace baton::types
