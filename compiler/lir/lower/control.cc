// Blocks, branches, matches and joins. Whatever nests becomes a task on a stack; the values
// and dims that a task computes are forgotten when its scope ends.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/lir/lower/function_lowering.h"

namespace baton::lir {

Result<void> FunctionLowering::runTasks() {
  while (!tasks_.empty()) {
    const Task task = std::move(tasks_.back());
    tasks_.pop_back();
    switch (task.kind) {
      case Task::Kind::Start: BATON_TRY(start(task)); break;
      case Task::Kind::Resume: BATON_TRY(resume(task)); break;
      case Task::Kind::LeaveScope:
        symbols_.restore(task.marks[0]);
        dimRegisters_.restore(task.marks[1]);
        materialised_.restore(task.marks[2]);
        scalarConstants_.restore(task.marks[3]);
        break;
    }
  }
  return success();
}

Result<void> FunctionLowering::start(const Task& task) {
  Task leave;
  leave.kind = Task::Kind::LeaveScope;
  leave.marks[0] = symbols_.mark();
  leave.marks[1] = dimRegisters_.mark();
  leave.marks[2] = materialised_.mark();
  leave.marks[3] = scalarConstants_.mark();
  tasks_.push_back(std::move(leave));
  current_ = task.block;
  if (task.join != ir::kNoVar) {
    const JoinInfo& join = joins_.at(task.join);
    const std::vector<Register> registers = out_.block(join.block).params;
    size_t next = 0;
    for (size_t i = 0; i < join.params.size(); ++i) {
      const std::vector<Leaf>& leaves = join.leaves[i];
      bind(join.params[i],
           fromLeaves(join.params[i], leaves, std::span(registers).subspan(next, leaves.size())));
      next += leaves.size();
    }
  }
  if (task.pattern) BATON_TRY(bindPattern(*task.pattern, task.scrutinee, task.scrutineeType));
  return lowerBindings(task.source, 0, task.destination);
}

Result<void> FunctionLowering::resume(const Task& task) {
  current_ = task.block;
  const std::vector<Register> registers = out_.block(task.block).params;
  bind(task.bound.var, fromLeaves(task.bound.var, continuations_[task.bound.leaves], registers));
  return lowerBindings(task.source, task.index, task.destination);
}

void FunctionLowering::startLater(ir::BlockId source, BlockId block, const Destination& destination) {
  Task task;
  task.source = source;
  task.block = block;
  task.destination = destination;
  tasks_.push_back(std::move(task));
}

/// Where the blocks of a binding deliver: what follows the binding, or in tail position
/// wherever the block around it delivers.
FunctionLowering::Destination FunctionLowering::continuation(ir::VarId var, ir::BlockId source, size_t next,
                                                             const Destination& outer, bool isTail) {
  if (isTail) return outer;
  Destination destination;
  destination.block = newBlock();
  destination.var = var;
  destination.leaves = static_cast<uint32_t>(continuations_.size());
  continuations_.push_back(leavesOf(var));
  for (const Leaf& leaf : continuations_.back())
    out_.block(destination.block).params.push_back(newRegister(leaf.kind));
  Task task;
  task.kind = Task::Kind::Resume;
  task.source = source;
  task.index = next;
  task.block = destination.block;
  task.destination = outer;
  task.bound = destination;
  tasks_.push_back(std::move(task));
  return destination;
}

bool FunctionLowering::isInTail(const ir::Binding& binding, ir::BlockId source, size_t index) const {
  const ir::Block& block = function_.block(source);
  return index + 1 == block.bindings.size() && block.result == ir::Atom(binding.var);
}

Result<void> FunctionLowering::lowerBindings(ir::BlockId source, size_t index,
                                             const Destination& destination) {
  const ir::Block& block = function_.block(source);
  for (; index < block.bindings.size(); ++index) {
    const ir::Binding& binding = block.bindings[index];
    if (binding.location.isKnown()) location_ = binding.location;
    const auto* op = std::get_if<ir::CallOp>(&binding.rhs);
    name_ =
        module_.tables.name(op != nullptr ? op->op->name : std::string_view(function_.var(binding.var).name));
    BATON_TRY(checkObligations(binding));
    const bool isTail = isInTail(binding, source, index);
    if (const auto* inner = std::get_if<ir::If>(&binding.rhs)) {
      const Destination to = continuation(binding.var, source, index + 1, destination, isTail);
      return branch(*inner, to);
    }
    if (const auto* inner = std::get_if<ir::Match>(&binding.rhs)) {
      const Destination to = continuation(binding.var, source, index + 1, destination, isTail);
      return match(*inner, to);
    }
    if (const auto* inner = std::get_if<ir::NestedBlock>(&binding.rhs)) {
      const Destination to = continuation(binding.var, source, index + 1, destination, isTail);
      startLater(inner->block, current_, to);
      return success();
    }
    if (const auto* call = std::get_if<ir::CallJoin>(&binding.rhs)) return jumpToJoin(*call);
    if (isTail && destination.isReturn) {
      // Groups are kernels, not functions: nothing to leave to.
      if (const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs);
          call != nullptr && !isFusionGroup(module_.source.function(call->callee)))
        return callGlobal(binding, *call, true);
      if (const auto* call = std::get_if<ir::CallValue>(&binding.rhs)) return callValue(binding, *call, true);
    }
    const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
    if (lambda != nullptr && lambda->isJoin)
      defineJoin(binding.var, *lambda, destination);
    else
      BATON_TRY(lowerSimple(binding));
  }
  return deliver(block.result, destination);
}

Result<void> FunctionLowering::lowerSimple(const ir::Binding& binding) {
  const ir::Rhs& rhs = binding.rhs;
  if (const auto* alias = std::get_if<ir::AtomRhs>(&rhs)) {
    bind(binding.var, valueOf(alias->atom));
    return success();
  }
  if (const auto* tuple = std::get_if<ir::MakeTuple>(&rhs)) {
    std::vector<Value> elements;
    std::vector<ir::TypeRef> types;
    for (const ir::Atom& element : tuple->elements) {
      elements.push_back(valueOf(element));
      types.push_back(typeOf(element));
    }
    bind(binding.var, addTuple(std::move(elements), std::move(types)));
    return success();
  }
  if (const auto* project = std::get_if<ir::Project>(&rhs)) {
    const Value tuple = valueOf(project->tuple);
    const ir::TypeRef type = typeOf(project->tuple);
    bind(binding.var, tuple.form == Value::Form::Tuple ? tuples_[tuple.index].elements[project->index]
                                                       : Value::of(field(tuple.reg(), type, 0, project->index,
                                                                         type->elements()[project->index])));
    return success();
  }
  if (std::holds_alternative<ir::CallOp>(rhs)) return callOperator(binding);
  if (const auto* call = std::get_if<ir::CallGlobal>(&rhs)) return callGlobal(binding, *call, false);
  if (const auto* call = std::get_if<ir::CallValue>(&rhs)) return callValue(binding, *call, false);
  if (const auto* data = std::get_if<ir::Construct>(&rhs)) return construct(binding, *data);
  if (const auto* lambda = std::get_if<ir::Lambda>(&rhs)) return makeClosure(binding, *lambda);
  if (const auto* array = std::get_if<ir::ArrayOp>(&rhs)) return arrayOperation(binding, *array);
  if (const auto* make = std::get_if<ir::MakeRef>(&rhs)) return makeCell(binding, *make);
  if (const auto* read = std::get_if<ir::ReadRef>(&rhs)) return readCell(binding, *read);
  return writeCell(binding, std::get<ir::WriteRef>(rhs));
}

Result<void> FunctionLowering::deliver(const ir::Atom& result, const Destination& destination) {
  const Value value = valueOf(result);
  const ir::TypeRef type = typeOf(result);
  std::vector<Register> registers;
  if (!destination.isReturn) {
    const std::vector<Leaf> leaves = continuations_[destination.leaves];
    BATON_TRY(appendLeaves(value, type, leaves, registers));
    emit(Opcode::Jump, {destination.block, registers});
    return success();
  }
  BATON_TRY(appendLeaves(value, type, leavesOf(type, std::nullopt), registers));
  Arguments results;
  for (Register reg : registers)
    (out_.bankOf(reg) == Bank::Scalar ? results.scalars : results.references).push_back(reg);
  emit(Opcode::Ret, {results.scalars, results.references});
  return success();
}

Result<void> FunctionLowering::branch(const ir::If& branch, const Destination& destination) {
  BATON_TRY_ASSIGN(const Register condition, toRegister(branch.condition));
  const BlockId thenBlock = newBlock();
  const BlockId elseBlock = newBlock();
  emit(Opcode::Branch, {condition, thenBlock, elseBlock});
  startLater(branch.elseBlock, elseBlock, destination);
  startLater(branch.thenBlock, thenBlock, destination);
  return success();
}

Result<void> FunctionLowering::match(const ir::Match& match, const Destination& destination) {
  const ir::TypeRef type = typeOf(match.scrutinee);
  const Value scrutinee = valueOf(match.scrutinee);
  const size_t constructorCount =
      type->isAdt() ? module_.source.typeDef(type->definition()).constructors.size() : 1;
  std::vector<TagTarget> named;
  std::unordered_set<uint32_t> tags;
  std::optional<BlockId> otherwise;
  std::vector<Task> arms;
  for (const ir::Clause& clause : match.clauses) {
    if (otherwise) break;
    const ir::Pattern& pattern = function_.pattern(clause.pattern);
    Task task;
    task.source = clause.block;
    task.block = newBlock();
    task.destination = destination;
    task.pattern = clause.pattern;
    task.scrutinee = scrutinee;
    task.scrutineeType = type;
    if (pattern.kind == ir::Pattern::Kind::Constructor) {
      if (!tags.insert(pattern.constructor.tag).second) continue;
      named.push_back({pattern.constructor.tag, task.block});
    } else {
      otherwise = task.block;
    }
    arms.push_back(std::move(task));
  }
  if (constructorCount == 0) {  // no value can get here
    failHere("match of a value that cannot be");
  } else if (otherwise && named.empty()) {
    emit(Opcode::Jump, {*otherwise, std::vector<Register>()});
  } else {
    Register object = kNoRegister;
    if (constructorCount != 1) {
      BATON_TRY_ASSIGN(object, toRegister(scrutinee, type));
    }
    if (otherwise && named.size() < constructorCount / kSparse)
      searchTag(object, std::move(named), *otherwise);
    else
      switchTag(object, type, constructorCount, named, otherwise);
  }
  for (size_t i = arms.size(); i-- > 0;) tasks_.push_back(std::move(arms[i]));
  return success();
}

void FunctionLowering::switchTag(Register object, ir::TypeRef type, size_t constructorCount,
                                 const std::vector<TagTarget>& named, std::optional<BlockId> otherwise) {
  std::vector<BlockId> targets(constructorCount, otherwise.value_or(lir::kNoBlock));
  for (const TagTarget& target : named) targets[target.tag] = target.block;
  std::vector<uint32_t> missing;
  for (uint32_t tag = 0; tag < targets.size(); ++tag)
    if (targets[tag] == lir::kNoBlock) {
      targets[tag] = newBlock();
      missing.push_back(tag);
    }
  if (targets.size() == 1)
    emit(Opcode::Jump, {targets[0], std::vector<Register>()});
  else
    emit(Opcode::SwitchTag, {object, std::span<const BlockId>(targets)});
  for (uint32_t tag : missing) {
    current_ = targets[tag];
    failHere(fmt::format(
        "match: no clause for {}",
        type->isAdt() ? module_.source.typeDef(type->definition()).constructors[tag].name : "the value"));
  }
}

/// By halves. Constants of the blocks in which the search goes on are for them alone, and each end
/// of it has a block of its own on the way to the others' clause, where drops may stand.
void FunctionLowering::searchTag(Register object, std::vector<TagTarget> named, BlockId otherwise) {
  std::sort(named.begin(), named.end(), [](const TagTarget& a, const TagTarget& b) { return a.tag < b.tag; });
  const Kind number = Kind::scalar(DType::I64);
  const Register tag = emitDef(Opcode::GetTag, number, {object});
  struct Range {
    BlockId block;
    size_t begin;
    size_t end;
  };
  std::vector<Range> work{{current_, 0, named.size()}};
  while (!work.empty()) {
    const Range range = work.back();
    work.pop_back();
    current_ = range.block;
    const size_t middle = range.begin + (range.end - range.begin) / 2;
    const Register bound =
        emitDef(Opcode::Const, number, {DType::I64, Operand::immediate(named[middle].tag)});
    const bool isOne = range.end - range.begin == 1;
    const Register is = emitScalar(isOne ? "eq.i64" : "lt.i64", Kind::scalar(DType::Bool), {tag, bound});
    if (isOne) {
      const BlockId others = newBlock();
      emit(Opcode::Branch, {is, named[middle].block, others});
      current_ = others;
      emit(Opcode::Jump, {otherwise, std::vector<Register>()});
      continue;
    }
    const BlockId below = newBlock();
    const BlockId above = newBlock();
    emit(Opcode::Branch, {is, below, above});
    work.push_back({above, middle, range.end});
    work.push_back({below, range.begin, middle});
  }
}

void FunctionLowering::failHere(std::string_view message) {
  emit(Opcode::Fail, {module_.tables.message(message), std::vector<Register>()});
}

Result<void> FunctionLowering::bindPattern(ir::PatternId id, Value scrutinee, ir::TypeRef type) {
  const ir::Pattern& pattern = function_.pattern(id);
  const auto bindChild = [&](ir::PatternId child, const auto& value) -> Result<void> {
    const ir::Pattern& inner = function_.pattern(child);
    if (inner.kind == ir::Pattern::Kind::Wildcard) return success();
    if (inner.kind != ir::Pattern::Kind::Var)
      return Error(ErrorCode::Internal, "a nested pattern was left for the lowering");
    bind(inner.var, value(function_.var(inner.var).type));
    return success();
  };
  switch (pattern.kind) {
    case ir::Pattern::Kind::Wildcard: break;
    case ir::Pattern::Kind::Var: bind(pattern.var, scrutinee); break;
    case ir::Pattern::Kind::Constructor: {
      BATON_TRY_ASSIGN(const Register object, toRegister(scrutinee, type));
      for (size_t i = 0; i < pattern.children.size(); ++i)
        BATON_TRY(bindChild(pattern.children[i], [&](ir::TypeRef fieldType) {
          return Value::of(field(object, type, pattern.constructor.tag, i, fieldType));
        }));
      break;
    }
    case ir::Pattern::Kind::Tuple: {
      const std::vector<Value> elements = elementsOf(scrutinee, type);
      for (size_t i = 0; i < pattern.children.size(); ++i)
        BATON_TRY(bindChild(pattern.children[i], [&](ir::TypeRef) { return elements[i]; }));
      break;
    }
  }
  return success();
}

// The body is lowered after the rest of the block that defines it: joins are called at the very
// end of that, so all that the block computes on the way is there.
void FunctionLowering::defineJoin(ir::VarId var, const ir::Lambda& join, const Destination& destination) {
  JoinInfo info;
  info.block = newBlock();
  info.params = join.params;
  for (ir::VarId param : join.params) {
    info.leaves.push_back(leavesOf(param));
    for (const Leaf& leaf : info.leaves.back())
      out_.block(info.block).params.push_back(newRegister(leaf.kind));
  }
  Task task;
  task.source = join.body;
  task.block = info.block;
  task.destination = destination;
  task.join = var;
  joins_[var] = std::move(info);
  tasks_.push_back(std::move(task));
}

Result<void> FunctionLowering::jumpToJoin(const ir::CallJoin& call) {
  const auto found = joins_.find(call.join);
  BATON_CHECK(found != joins_.end());
  std::vector<Register> registers;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const std::vector<Leaf> leaves = found->second.leaves[i];
    BATON_TRY(appendLeaves(valueOf(call.args[i]), typeOf(call.args[i]), leaves, registers));
  }
  emit(Opcode::Jump, {found->second.block, registers});
  return success();
}

}  // namespace baton::lir
