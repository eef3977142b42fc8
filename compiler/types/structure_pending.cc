// What waits until terms are known: operators, fields of tuples, uses of functions whose
// types are still open.
#include <fmt/format.h>

#include "compiler/types/operator_structure.h"
#include "compiler/types/structure.h"

namespace baton::types {

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
  if (pending.kind == Pending::Kind::RowRank) return attemptRowRank(pending);
  Term original = terms_.find(pending.inputs[0]);
  if (terms_.isUnknown(original)) return Outcome::NotYet;
  pending.isDone = true;
  Term copy = instantiate(original, pending.environment);
  if (terms_.unify(copy, pending.result))
    diagnostics_.error(pending.location, fmt::format("a use of a function needs type {}; it has {}",
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
    diagnostics_.error(binding.location,
                       fmt::format("field {} of a tuple that has {}", index,
                                   frontend::countOf(terms_.children(tuple).size(), "field")),
                       terms_.print(tuple));
  } else {
    require(terms_.children(tuple)[index], pending.result, binding.location, fmt::format("field {}", index));
  }
  return Outcome::Done;
}

// What a polymorphic function leaves open without declaring it has one type for all uses.
void Structure::settleInstances() {
  for (size_t i = 0; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.kind != Pending::Kind::Instantiate || pending.isDone) continue;
    pending.isDone = true;
    require(pending.result, pending.inputs[0], pending.location,
            "a parameter or result that is not annotated");
    drain();
  }
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
    if (std::holds_alternative<ir::CallOp>(binding.rhs))
      diagnostics_.error(binding.location, OperatorStructure(*this, pending).whatIsMissing(), inputs);
    else if (const ir::ArrayOp* array = std::get_if<ir::ArrayOp>(&binding.rhs))
      diagnostics_.error(binding.location,
                         fmt::format("{}: the rank of its tensors is not known; annotate it",
                                     ir::infoOf(array->operation).name));
    else
      diagnostics_.error(binding.location, "the type of the tuple is not known; annotate it", inputs);
  }
}

}  // namespace baton::types
