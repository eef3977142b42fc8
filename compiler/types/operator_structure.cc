#include "compiler/types/operator_structure.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/call_contexts.h"

namespace baton::types {
namespace {

/// "the weight", "element 2 of the data"
std::string theInput(const ops::OpCall& call, size_t input) {
  const std::string name = ops::inputName(call, input);
  return name.starts_with("element ") ? name : "the " + name;
}

}  // namespace

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
        const bool isTuple = terms.kind(term) == TermKind::Tuple;
        report(fmt::format("{}: the {} must be a tensor{}", call_.op->name, call_.op->inputs[i].name,
                           isTuple ? ", found a tuple, of which .0 is the first field" : ""));
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
    for (const ops::TensorStructure& made : result.value()->results)
      if (made.rank > kMaxRank) {
        report(fmt::format("{}: the result has rank {}; expected {} at most", call_.op->name, made.rank,
                           kMaxRank));
        return Structure::Outcome::Done;
      }
    apply(*result.value());
    return Structure::Outcome::Done;
  }
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (Term part : {dtypeTerm(i), rankTerm(i)})
      if (structure_.terms_.isUnknown(part)) waitFor.push_back(structure_.terms_.find(part));
  return Structure::Outcome::NotYet;
}

/// First extents of the results on which ranks may depend, as far as those of the inputs tell. What
/// the dims relation finds wrong here it finds again when extents are inferred.
std::vector<std::optional<int64_t>> OperatorStructure::firstExtentsOf(
    const ops::StructureResult& result) const {
  std::vector<std::optional<int64_t>> extents(result.results.size());
  const auto mayDecide = [](const ops::TensorStructure& tensor) {
    return tensor.rank == 1 || (tensor.rank > 1 && isInteger(tensor.dtype));
  };
  if (std::none_of(result.results.begin(), result.results.end(), mayDecide)) return extents;
  auto next = static_cast<uint32_t>(structure_.module_.dimSymbols.size());
  std::vector<ops::KnownInput> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::optional<int> inputRank = rank(i);
    if (!inputRank) return extents;
    ops::KnownInput known{.dtype = dtype(i).value_or(DType::F32)};  // extents seldom depend on it
    for (int axis = 0; axis < *inputRank; ++axis) known.dims.push_back(DimExpr::symbol(DimSymbol(next++)));
    if (const std::optional<int64_t> first = length(i)) known.dims[0] = DimExpr::constant(*first);
    if (const std::optional<std::vector<int64_t>> values = constantInts(i)) {
      known.values.emplace();
      for (int64_t value : *values) known.values->push_back(DimExpr::constant(value));
    }
    inputs.push_back(std::move(known));
  }
  const DimKnowledge nothing;
  ops::KnownDims context(inputs, nothing, next);
  const Result<std::vector<ops::TensorDims>> dims =
      call_.op->dims({call_.op, &call_.attrs, inputs_.size()}, context);
  if (!dims.has_value()) return extents;
  for (size_t i = 0; i < extents.size(); ++i)
    if (mayDecide(result.results[i])) extents[i] = dims.value()[i].extents[0].asConstant();
  return extents;
}

void OperatorStructure::apply(const ops::StructureResult& result) {
  TermTable& terms = structure_.terms_;
  std::vector<Term> tensors;
  for (const ops::TensorStructure& tensor : result.results)
    tensors.push_back(terms.tensor(tensor.dtype, tensor.rank));
  bool isTuple = result.isTuple || tensors.size() != 1;
  Structure::VarFacts& facts = structure_.facts_[pending_.function][binding_.var.value()];
  std::vector<std::optional<int64_t>> extents = firstExtentsOf(result);
  if (isTuple)
    facts.firstExtents = std::move(extents);
  else if (!facts.firstExtent)
    facts.firstExtent = extents[0];
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
    return constant->shape.empty() ? std::nullopt : std::optional(constant->shape[0]);
  const std::optional<ir::Atom>& atom = inputs_[input].atom;
  if (!atom || !atom->isVar()) return std::nullopt;
  const std::vector<Structure::VarFacts>& facts = structure_.facts_[pending_.function];
  const Structure::VarFacts& of = facts[atom->var().value()];
  if (of.firstExtent || of.definition == nullptr) return of.firstExtent;
  const ir::Project* project = std::get_if<ir::Project>(of.definition);
  if (project == nullptr || !project->tuple.isVar()) return std::nullopt;
  const auto& extents = facts[project->tuple.var().value()].firstExtents;
  return project->index < extents.size() ? extents[project->index] : std::nullopt;
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

/// As it was declared, with the extents, where it was.
std::string OperatorStructure::printInput(size_t input) const {
  const std::optional<ir::Atom>& atom = inputs_[input].atom;
  const ir::TypeRef declared = atom && atom->isVar() ? function_.var(atom->var()).declaredType : nullptr;
  if (declared != nullptr && !declared->isOpen()) return ir::print(structure_.module_, declared);
  return structure_.terms_.print(inputs_[input].tensor);
}

Error OperatorStructure::mismatch(size_t input, const std::string& expected) const {
  ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  return Error(ErrorCode::CompileError, fmt::format("{}: {} has type {}; expected {}", call_.op->name,
                                                    theInput(call, input), printInput(input), expected));
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
  return mismatch(b, fmt::format("element type {}, as {} has", dtypeName(*dtype(a)), theInput(call, a)));
}

Result<void> OperatorStructure::requireSameRank(size_t a, size_t b) {
  if (!structure_.terms_.unify(rankTerm(a), rankTerm(b))) return success();
  ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  blame(b);
  return mismatch(b, fmt::format("rank {}, as {} has", *rank(a), theInput(call, a)));
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

std::string OperatorStructure::whatIsMissing() {
  std::vector<Term> waitFor;
  bool isKnown = collectInputs(waitFor);
  for (size_t i = 0; isKnown && i < inputs_.size(); ++i) isKnown = dtype(i) && rank(i);
  if (!isKnown)
    return fmt::format("{}: the types of its inputs are not known; annotate them", call_.op->name);
  // Types are all that it needs, but for a shape that is a tensor.
  const ops::OpCall call{call_.op, &call_.attrs, inputs_.size()};
  std::string shape = "shape";
  for (size_t i = 0; i < inputs_.size(); ++i)
    if ((call_.op->valueInputs >> i & 1) != 0 && rank(i) == 1 && !length(i)) shape = ops::inputName(call, i);
  return fmt::format(
      "{}: the rank of the result is the length of the {}, which is not known; bind it with its type first, "
      "as in "
      "`let %shape: Tensor[(3,), int64] = ...;`",
      call_.op->name, shape);
}

void OperatorStructure::report(const std::string& message) {
  failed_ = true;
  SourceLocation location = blamed_ ? locationOf(inputs_[*blamed_].written) : binding_.location;
  std::string detail = blamed_ ? printInput(*blamed_) : std::string();
  structure_.diagnostics_.error(location, message, detail);
}

}  // namespace baton::types
