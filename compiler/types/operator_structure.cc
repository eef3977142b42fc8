#include "compiler/types/operator_structure.h"

#include <fmt/format.h>

namespace baton::types {

OperatorStructure::OperatorStructure(Structure& structure, Structure::Pending& pending)
    : structure_(structure),
      pending_(pending),
      function_(structure.module_.functions[pending.function]),
      binding_(function_.block(pending.block).bindings[pending.binding]),
      call_(std::get<ir::CallOp>(binding_.rhs)) {}

SourceLocation OperatorStructure::locationOf(size_t written) const {
  auto at = function_.operandLocations.find(binding_.var);
  if (at == function_.operandLocations.end() || written >= at->second.size()) return binding_.location;
  return at->second[written];
}

/// The value behind aliases and fields of tuples that are built in the same function.
ir::Atom OperatorStructure::resolve(ir::Atom atom) const {
  const std::vector<Structure::VarFacts>& facts = structure_.facts_[pending_.function];
  while (atom.isVar()) {
    const ir::Rhs* definition = facts[atom.var().value()].definition;
    if (definition == nullptr) return atom;
    if (const ir::AtomRhs* alias = std::get_if<ir::AtomRhs>(definition)) {
      atom = alias->atom;
      continue;
    }
    const ir::Project* project = std::get_if<ir::Project>(definition);
    if (project == nullptr || !project->tuple.isVar()) return atom;
    const ir::Rhs* tuple = facts[project->tuple.var().value()].definition;
    const ir::MakeTuple* made = tuple == nullptr ? nullptr : std::get_if<ir::MakeTuple>(tuple);
    if (made == nullptr || project->index >= made->elements.size()) return atom;
    atom = made->elements[project->index];
  }
  return atom;
}

bool OperatorStructure::collectInputs(std::vector<Term>& waitFor) {
  TermTable& terms = structure_.terms_;
  for (size_t i = 0; i < pending_.inputs.size(); ++i) {
    Term term = terms.find(pending_.inputs[i]);
    if (!call_.op->inputs[i].isList) {
      Term tensor = terms.kind(term) == TermKind::Tensor ? term : terms.anyTensor();
      if (terms.unify(term, tensor)) {
        blamed_ = inputs_.size();
        inputs_.push_back({term, std::nullopt, i});
        report(fmt::format("{}: the {} must be a tensor", call_.op->name, call_.op->inputs[i].name));
        return false;
      }
      inputs_.push_back({terms.find(tensor), resolve(call_.args[i]), i});
      continue;
    }
    if (terms.isUnknown(term)) {
      waitFor.push_back(term);
      return false;
    }
    if (terms.kind(term) != TermKind::Tuple) {
      blamed_ = inputs_.size();
      inputs_.push_back({term, std::nullopt, i});
      report(fmt::format("{}: the {} must be a tuple of tensors", call_.op->name, call_.op->inputs[i].name));
      return false;
    }
    ir::Atom list = resolve(call_.args[i]);
    const ir::Rhs* definition =
        list.isVar() ? structure_.facts_[pending_.function][list.var().value()].definition : nullptr;
    const ir::MakeTuple* made = definition == nullptr ? nullptr : std::get_if<ir::MakeTuple>(definition);
    size_t count = terms.children(term).size();
    for (size_t element = 0; element < count; ++element) {
      Term child = terms.find(terms.children(term)[element]);
      if (terms.kind(child) != TermKind::Tensor && terms.unify(child, terms.anyTensor())) {
        blamed_ = inputs_.size();
        inputs_.push_back({child, std::nullopt, i});
        report(fmt::format("{}: element {} of the {} must be a tensor", call_.op->name, element,
                           call_.op->inputs[i].name));
        return false;
      }
      std::optional<ir::Atom> atom;
      if (made != nullptr && element < made->elements.size()) atom = resolve(made->elements[element]);
      inputs_.push_back({terms.find(child), atom, i});
    }
  }
  return true;
}

Structure::Outcome OperatorStructure::run(std::vector<Term>& waitFor) {
  if (!collectInputs(waitFor)) return failed_ ? Structure::Outcome::Done : Structure::Outcome::NotYet;
  ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  Result<std::optional<ops::StructureResult>> result = call_.op->structure(call, *this);
  if (!result.has_value()) {
    report(result.error().message());
    return Structure::Outcome::Done;
  }
  if (result.value()) {
    apply(*result.value());
    return Structure::Outcome::Done;
  }
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (Term part : {dtypeTerm(i), rankTerm(i)})
      if (structure_.terms_.isUnknown(part)) waitFor.push_back(structure_.terms_.find(part));
  return Structure::Outcome::NotYet;
}

void OperatorStructure::apply(const ops::StructureResult& result) {
  TermTable& terms = structure_.terms_;
  std::vector<Term> tensors;
  for (const ops::TensorStructure& tensor : result.results)
    tensors.push_back(terms.tensor(tensor.dtype, tensor.rank));
  bool isTuple = result.isTuple || tensors.size() != 1;
  if (!isTuple) structure_.facts_[pending_.function][binding_.var.value()].length = result.results[0].length;
  Term term = isTuple ? terms.tuple(std::move(tensors)) : tensors[0];
  structure_.require(term, pending_.result, binding_.location,
                     fmt::format("the result of {}", call_.op->name));
}

std::optional<DType> OperatorStructure::dtype(size_t input) const {
  return structure_.terms_.dtypeOf(dtypeTerm(input));
}

std::optional<int> OperatorStructure::rank(size_t input) const {
  return structure_.terms_.rankOf(rankTerm(input));
}

const ir::Constant* OperatorStructure::constantOf(size_t input) const {
  const std::optional<ir::Atom>& atom = inputs_[input].atom;
  return atom && atom->isConstant() ? &structure_.module_.constant(atom->constant()) : nullptr;
}

std::optional<int64_t> OperatorStructure::length(size_t input) const {
  if (const ir::Constant* constant = constantOf(input))
    return constant->shape.size() == 1 ? std::optional(constant->shape[0]) : std::nullopt;
  const std::optional<ir::Atom>& atom = inputs_[input].atom;
  if (!atom || !atom->isVar()) return std::nullopt;
  return structure_.facts_[pending_.function][atom->var().value()].length;
}

std::optional<std::vector<int64_t>> OperatorStructure::constantInts(size_t input) const {
  const ir::Constant* constant = constantOf(input);
  if (constant == nullptr || constant->shape.size() > 1 || isFloat(constant->dtype) || constant->isExternal())
    return std::nullopt;
  size_t size = static_cast<size_t>(sizeBytes(constant->dtype));
  std::vector<int64_t> values;
  for (size_t at = 0; at + size <= constant->bytes.size(); at += size)
    values.push_back(static_cast<int64_t>(loadScalar(constant->bytes.data() + at, constant->dtype)));
  return values;
}

Error OperatorStructure::mismatch(size_t input, const std::string& expected) const {
  ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  return Error(ErrorCode::CompileError,
               fmt::format("{}: the {} has type {}; expected {}", call_.op->name, ops::inputName(call, input),
                           structure_.terms_.print(inputs_[input].tensor), expected));
}

Result<void> OperatorStructure::requireDType(size_t input, DType dtype) {
  if (!structure_.terms_.unify(dtypeTerm(input), structure_.terms_.dtype(dtype))) return success();
  blame(input);
  return mismatch(input, fmt::format("element type {}", dtypeName(dtype)));
}

Result<void> OperatorStructure::requireRank(size_t input, int rank) {
  if (!structure_.terms_.unify(rankTerm(input), structure_.terms_.rank(rank))) return success();
  blame(input);
  return mismatch(input, fmt::format("rank {}", rank));
}

Result<void> OperatorStructure::requireSameDType(size_t a, size_t b) {
  if (!structure_.terms_.unify(dtypeTerm(a), dtypeTerm(b))) return success();
  ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  blame(b);
  return mismatch(
      b, fmt::format("element type {}, as the {} has", dtypeName(*dtype(a)), ops::inputName(call, a)));
}

Result<void> OperatorStructure::requireSameRank(size_t a, size_t b) {
  if (!structure_.terms_.unify(rankTerm(a), rankTerm(b))) return success();
  ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  blame(b);
  return mismatch(b, fmt::format("rank {}, as the {} has", *rank(a), ops::inputName(call, a)));
}

Result<void> OperatorStructure::provideDType(size_t result, Term dtype) {
  // Only a single result has a type of its own before the relation is done.
  if (result != 0) return success();
  TermTable& terms = structure_.terms_;
  Term term = terms.find(pending_.result);
  Term tensor = terms.kind(term) == TermKind::Tensor ? term : terms.tensor(dtype, terms.unknown());
  bool differs = terms.kind(term) == TermKind::Tensor
                     ? terms.unify(terms.children(tensor)[0], dtype).has_value()
                     : terms.unify(term, tensor).has_value();
  if (!differs) return success();
  return Error(ErrorCode::CompileError, fmt::format("the result of {} has element type {}; expected {}",
                                                    call_.op->name, terms.print(dtype), terms.print(term)));
}

Result<void> OperatorStructure::provideResultDType(size_t result, DType dtype) {
  return provideDType(result, structure_.terms_.dtype(dtype));
}

Result<void> OperatorStructure::provideResultDTypeOf(size_t result, size_t input) {
  return provideDType(result, dtypeTerm(input));
}

void OperatorStructure::report(const std::string& message) {
  failed_ = true;
  SourceLocation location = blamed_ ? locationOf(inputs_[*blamed_].written) : binding_.location;
  std::string detail = blamed_ ? structure_.terms_.print(inputs_[*blamed_].tensor) : std::string();
  structure_.diagnostics_.error(location, message, detail);
}

}  // namespace baton::types
