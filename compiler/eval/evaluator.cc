#include "compiler/eval/evaluator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/eval/entry_check.h"
#include "compiler/ir/printer.h"
#include "compiler/ops/reference.h"

namespace baton::eval {
namespace {

using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

/// Frames of the program that an error lists.
constexpr size_t kMaxTrail = 16;

}  // namespace

Evaluator::Evaluator(ir::Module& module, EvaluatorOptions options)
    : module_(module), options_(std::move(options)) {}

Evaluator::~Evaluator() {
  for (const Value& cell : cells_) cell.setContent({});
}

const FunctionCode& Evaluator::codeOf(GlobalId function) {
  std::unique_ptr<FunctionCode>& code = codes_[function];
  if (code == nullptr) code = std::make_unique<FunctionCode>(module_.function(function));
  return *code;
}

Value Evaluator::functionValue(GlobalId function) {
  auto* object = new Object;
  object->kind = Object::Kind::Closure;
  object->code = {function, module_.function(function).body};
  return Value(object);
}

Result<Value> Evaluator::call(GlobalId id, std::vector<Value> arguments) {
  frames_.clear();
  slots_.clear();
  extents_.clear();
  positions_.clear();
  const ir::Function& function = module_.function(id);
  BATON_TRY(checkEntryArguments(module_, function, arguments));
  const FunctionCode& code = codeOf(id);
  BATON_TRY(enter(code, code.unitOf(function.body), std::move(arguments), nullptr));
  return run();
}

Error Evaluator::located(Error error) {
  size_t positionEnd = positions_.size();
  for (size_t i = frames_.size(); i-- > 0 && frames_.size() - i <= kMaxTrail;) {
    const Frame& frame = frames_[i];
    ProgramLocation location;
    location.function = frame.code->function().name;
    if (positionEnd > frame.positionBase) {
      const Position& position = positions_[positionEnd - 1];
      const ir::Block& block = frame.code->function().block(position.block);
      if (position.next < block.bindings.size()) {
        const SourceLocation& where = block.bindings[position.next].location;
        location.line = where.line;
        location.column = where.column;
        if (where.file < module_.sources.size()) location.file = module_.sources[where.file].name;
      }
    }
    positionEnd = frame.positionBase;
    error.at(std::move(location));
  }
  return error;
}

Error Evaluator::claimError(VarId var, const std::string& what) {
  const ir::Function& function = frames_.back().code->function();
  const ir::VarInfo& info = function.var(var);
  return located(Error(ErrorCode::Internal, fmt::format("%{} has type {}, but {}", info.name,
                                                        ir::print(module_, info.type), what)));
}

std::optional<int64_t> Evaluator::extent(DimSymbol symbol) {
  const uint32_t slot = frames_.back().code->extentSlot(symbol);
  if (slot == kNoSlot) return std::nullopt;
  return extents()[slot];
}

Result<int64_t> Evaluator::evaluate(const DimExpr& expr) {
  return expr.evaluate([&](DimSymbol symbol) { return extent(symbol); });
}

Result<void> Evaluator::enter(const FunctionCode& code, const Unit& unit, std::vector<Value> arguments,
                              const Value* closure) {
  if (frames_.size() >= options_.maxFrames)
    return located(
        Error(ErrorCode::LimitReached, fmt::format("more than {} calls within calls", options_.maxFrames)));
  BATON_CHECK(arguments.size() == unit.params.size());
  frames_.push_back({&code, &unit, slots_.size(), extents_.size(), positions_.size()});
  slots_.resize(slots_.size() + unit.slotCount);
  extents_.resize(extents_.size() + code.extentCount());
  push(unit.body);
  if (closure != nullptr && unit.self != ir::kNoVar) {
    const Object& object = *closure->object();
    for (size_t i = 0; i < unit.extentSlots.size(); ++i) extents()[unit.extentSlots[i]] = object.extents[i];
    Value* slots = slots_.data() + frames_.back().slotBase;
    slots[code.slotOf(unit, unit.self)] = *closure;
    for (size_t i = 0; i < unit.captures.size(); ++i)
      slots[code.slotOf(unit, unit.captures[i])] = object.fields[i];
  }
  for (size_t i = 0; i < arguments.size(); ++i) BATON_TRY(assign(unit.params[i], std::move(arguments[i])));
  return success();
}

/// A call whose result is the result of its frame takes the place of the frame.
Result<void> Evaluator::enterCall(const FunctionCode& code, const Unit& unit, std::vector<Value> arguments,
                                  const Value* closure) {
  const Frame frame = frames_.back();
  const Position& position = positions_.back();
  const ir::Block& block = frame.code->function().block(position.block);
  const bool isTail = position.next + 1 == block.bindings.size() &&
                      block.result == ir::Atom(block.bindings[position.next].var) &&
                      frame.code->isUnitTail(position.block);
  const Value keep = closure == nullptr ? Value() : *closure;
  if (isTail) {
    slots_.resize(frame.slotBase);
    extents_.resize(frame.extentBase);
    positions_.resize(frame.positionBase);
    frames_.pop_back();
  }
  return enter(code, unit, std::move(arguments), closure == nullptr ? nullptr : &keep);
}

Result<Value> Evaluator::run() {
  while (true) {
    const Frame& frame = frames_.back();
    const Position position = positions_.back();
    const ir::Block& block = frame.code->function().block(position.block);
    if (position.next < block.bindings.size()) {
      if (++steps_ > options_.maxSteps)
        return located(Error(ErrorCode::LimitReached, fmt::format("more than {} steps", options_.maxSteps)));
      BATON_TRY(step(block.bindings[position.next]));
      continue;
    }
    BATON_TRY_ASSIGN(Value value, read(block.result));
    positions_.pop_back();
    if (positions_.size() > frame.positionBase) {
      BATON_TRY(finish(std::move(value)));
      continue;
    }
    slots_.resize(frame.slotBase);
    extents_.resize(frame.extentBase);
    frames_.pop_back();
    if (frames_.empty()) return value;
    BATON_TRY(finish(std::move(value)));
  }
}

Result<void> Evaluator::finish(Value value) {
  const Position& position = positions_.back();
  const VarId var = frames_.back().code->function().block(position.block).bindings[position.next].var;
  BATON_TRY(assign(var, std::move(value)));
  ++positions_.back().next;
  return success();
}

Result<void> Evaluator::assign(VarId var, Value value) {
  const Frame& frame = frames_.back();
  if (frame.code->hasExtents(var)) BATON_TRY(checkClaims(var, value));
  slots_[frame.slotBase + frame.code->slotOf(*frame.unit, var)] = std::move(value);
  return success();
}

/// Gives symbols that the variable binds their values, and compares everything else that
/// its type says.
Result<void> Evaluator::checkClaims(VarId var, const Value& value) {
  const FunctionCode& code = *frames_.back().code;
  const ir::VarInfo& info = code.function().var(var);
  for (uint32_t slot : code.bindsOf(var)) extents()[slot].reset();
  struct Claim {
    const DimExpr* expr;
    int64_t found;
  };
  std::vector<Claim> later;
  std::string wrong;
  auto claim = [&](const DimExpr& expr, int64_t found) {
    if (std::optional<int64_t> constant = expr.asConstant()) {
      if (*constant != found) wrong = fmt::format("an extent or element is {}", found);
    } else if (std::optional<DimSymbol> symbol = expr.asSymbol(); symbol && *symbol != ir::kAnyDim) {
      std::optional<int64_t>& known = extents()[code.extentSlot(*symbol)];
      if (!known)
        known = found;
      else if (known != found)
        wrong = fmt::format("where it says {} ({}), found {}", ir::print(module_, expr), *known, found);
    } else if (!symbol) {
      later.push_back({&expr, found});
    }
  };
  std::vector<std::pair<ir::TypeRef, const Value*>> stack{{info.type, &value}};
  while (!stack.empty()) {
    auto [type, part] = stack.back();
    stack.pop_back();
    if (type->isTensor()) {
      if (!part->isTensor()) return claimError(var, "the value is no tensor");
      const HostTensor& tensor = part->asTensor();
      if (tensor.dtype != type->dtype() || tensor.shape.size() != type->dims().size())
        return claimError(
            var, fmt::format("the value is a {} of rank {}", dtypeName(tensor.dtype), tensor.shape.size()));
      for (size_t axis = 0; axis < tensor.shape.size(); ++axis) claim(type->dims()[axis], tensor.shape[axis]);
    } else if (type->isTuple()) {
      if (!part->isTuple() || part->fields().size() != type->elements().size())
        return claimError(var, "the value is no such tuple");
      for (size_t i = type->elements().size(); i-- > 0;)
        stack.emplace_back(type->elements()[i], &part->fields()[i]);
    }
  }
  if (info.valueDims && value.isTensor()) {
    const HostTensor& tensor = value.asTensor();
    const size_t size = static_cast<size_t>(sizeBytes(tensor.dtype));
    if (info.valueDims->size() * size != tensor.bytes.size())
      return claimError(var, fmt::format("{} elements are claimed", info.valueDims->size()));
    for (size_t i = 0; i < info.valueDims->size(); ++i)
      claim((*info.valueDims)[i],
            static_cast<int64_t>(convertScalar(loadScalar(tensor.bytes.data() + i * size, tensor.dtype),
                                               tensor.dtype, DType::I64)));
  }
  for (const Claim& each : later) {
    Result<int64_t> expected = evaluate(*each.expr);
    // A symbol without a value here is bound by nobody: then nothing is claimed.
    if (expected.has_value() && expected.assume_value() != each.found)
      wrong = fmt::format("where it says {} ({}), found {}", ir::print(module_, *each.expr),
                          expected.assume_value(), each.found);
  }
  if (!wrong.empty()) return claimError(var, wrong);
  return success();
}

Result<void> Evaluator::checkObligations(const ir::Binding& binding) {
  for (const ir::Obligation& obligation : binding.obligations) {
    BATON_TRY_ASSIGN(const int64_t lhs, evaluate(obligation.lhs));
    BATON_TRY_ASSIGN(const int64_t rhs, evaluate(obligation.rhs));
    if (holds(obligation.relation, lhs, rhs)) continue;
    std::vector<std::string> shown;
    if (obligation.shown.empty()) {
      shown = {std::to_string(lhs), std::to_string(rhs)};
    } else {
      for (const DimExpr& expr : obligation.shown) {
        Result<int64_t> value = evaluate(expr);
        shown.push_back(value.has_value() ? std::to_string(value.assume_value()) : std::string("?"));
      }
    }
    return located(Error(ErrorCode::ProgramError, ops::formatDimMessage(obligation.message, shown)));
  }
  return success();
}

Result<Value> Evaluator::constantValue(ir::ConstantId id) {
  Value& cached = constants_[id];
  if (cached) return cached;
  const ir::Constant& constant = module_.constant(id);
  if (constant.isExternal()) {
    auto at = options_.externals.find(constant.externalKey);
    if (at == options_.externals.end())
      return located(Error(ErrorCode::InvalidArgument, fmt::format("no value for param @{} (key {})",
                                                                   constant.name, constant.externalKey)));
    cached = Value::tensor(at->second);
  } else {
    cached = Value::tensor({constant.dtype, constant.shape, constant.bytes});
  }
  return cached;
}

Result<Value> Evaluator::read(const ir::Atom& atom) {
  switch (atom.kind()) {
    case ir::Atom::Kind::Constant: return constantValue(atom.constant());
    case ir::Atom::Kind::Global: return functionValue(atom.global());
    case ir::Atom::Kind::Var: break;
  }
  const Frame& frame = frames_.back();
  const uint32_t slot = frame.code->slotOf(*frame.unit, atom.var());
  if (slot == kNoSlot || !slots_[frame.slotBase + slot])
    return located(Error(ErrorCode::Internal, fmt::format("%{} is used before it has a value",
                                                          frame.code->function().var(atom.var()).name)));
  return slots_[frame.slotBase + slot];
}

Result<std::vector<Value>> Evaluator::readAll(std::span<const ir::Atom> atoms) {
  std::vector<Value> values;
  values.reserve(atoms.size());
  for (const ir::Atom& atom : atoms) {
    BATON_TRY_ASSIGN(Value value, read(atom));
    values.push_back(std::move(value));
  }
  return values;
}

Value Evaluator::makeClosure(const ir::Binding&, const ir::Lambda& lambda) {
  const Frame& frame = frames_.back();
  const Unit& unit = frame.code->unitOf(lambda.body);
  auto* object = new Object;
  object->kind = Object::Kind::Closure;
  // The frame's function is found by its address: it is one of the module's.
  object->code = {GlobalId(static_cast<uint32_t>(&frame.code->function() - module_.functions.data())),
                  lambda.body};
  for (VarId capture : unit.captures)
    object->fields.push_back(slots_[frame.slotBase + frame.code->slotOf(*frame.unit, capture)]);
  for (uint32_t slot : unit.extentSlots) object->extents.push_back(extents()[slot]);
  return Value(object);
}

Result<void> Evaluator::jump(const ir::CallJoin& call) {
  const FunctionCode& code = *frames_.back().code;
  const JoinCode& join = code.join(call.join);
  BATON_TRY_ASSIGN(std::vector<Value> arguments, readAll(call.args));
  // Leaves blocks up to the one that the join belongs to; the join's body ends where it ends.
  auto belongs = [&](BlockId block) {
    for (; block != ir::kNoBlock; block = code.definerOf(block))
      if (block == join.definer) return true;
    return false;
  };
  while (!belongs(positions_.back().block)) {
    positions_.pop_back();
    BATON_CHECK(positions_.size() > frames_.back().positionBase);
  }
  positions_.back() = {join.body, 0};
  for (size_t i = 0; i < arguments.size(); ++i) BATON_TRY(assign(join.params[i], std::move(arguments[i])));
  return success();
}

Result<void> Evaluator::callOperator(const ir::Binding& binding, const ir::CallOp& call) {
  BATON_TRY_ASSIGN(std::vector<Value> arguments, readAll(call.args));
  std::vector<ops::TensorView> inputs;
  for (const Value& argument : arguments) {
    if (!argument.isTensor())
      return located(Error(ErrorCode::Internal, fmt::format("{}: an operand is no tensor", call.op->name)));
    const HostTensor& tensor = argument.asTensor();
    inputs.push_back({tensor.dtype, tensor.shape, tensor.bytes.data()});
  }
  // Extents in attributes become numbers.
  std::optional<ir::Attrs> numeric;
  for (const auto& [name, value] : call.attrs.entries())
    if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value)) {
      std::vector<DimExpr> numbers;
      for (const DimExpr& dim : *dims) {
        BATON_TRY_ASSIGN(const int64_t number, evaluate(dim));
        numbers.push_back(DimExpr::constant(number));
      }
      if (!numeric) numeric = call.attrs;
      numeric->set(name, std::move(numbers));
    }
  Result<std::vector<HostTensor>> outputs =
      ops::evaluateReference(*call.op, numeric ? *numeric : call.attrs, inputs, options_.maxWork);
  if (!outputs.has_value()) return located(std::move(outputs).assume_error());
  std::vector<Value> results;
  for (HostTensor& output : outputs.assume_value()) results.push_back(Value::tensor(std::move(output)));
  if (frames_.back().code->function().var(binding.var).type->isTuple())
    return finish(Value::tuple(std::move(results)));
  BATON_CHECK(results.size() == 1);
  return finish(std::move(results[0]));
}

Result<bool> Evaluator::tryPattern(ir::PatternId root, const Value& value) {
  const ir::Function& function = frames_.back().code->function();
  std::vector<std::pair<ir::PatternId, const Value*>> stack{{root, &value}};
  std::vector<std::pair<VarId, const Value*>> bound;
  while (!stack.empty()) {
    const auto [id, part] = stack.back();
    stack.pop_back();
    const ir::Pattern& pattern = function.pattern(id);
    switch (pattern.kind) {
      case ir::Pattern::Kind::Wildcard: break;
      case ir::Pattern::Kind::Var: bound.emplace_back(pattern.var, part); break;
      case ir::Pattern::Kind::Constructor:
        BATON_CHECK(part->isData());
        if (part->constructor().tag != pattern.constructor.tag) return false;
        [[fallthrough]];
      case ir::Pattern::Kind::Tuple:
        for (size_t i = pattern.children.size(); i-- > 0;)
          stack.emplace_back(pattern.children[i], &part->fields()[i]);
        break;
    }
  }
  for (const auto& [var, part] : bound) BATON_TRY(assign(var, *part));
  return true;
}

Result<void> Evaluator::matchClauses(const ir::Match& match) {
  BATON_TRY_ASSIGN(Value scrutinee, read(match.scrutinee));
  for (const ir::Clause& clause : match.clauses) {
    BATON_TRY_ASSIGN(const bool fits, tryPattern(clause.pattern, scrutinee));
    if (!fits) continue;
    push(clause.block);
    return success();
  }
  const std::string name =
      scrutinee.isData() ? module_.constructor(scrutinee.constructor()).name : "the value";
  if (match.complete)
    return located(
        Error(ErrorCode::Internal, fmt::format("match: no clause for {}, though it is complete", name)));
  return located(Error(ErrorCode::ProgramError, fmt::format("match?: no clause for {}", name)));
}

Result<void> Evaluator::step(const ir::Binding& binding) {
  if (!binding.obligations.empty()) BATON_TRY(checkObligations(binding));
  struct Visitor {
    Evaluator& self;
    const ir::Binding& binding;

    Result<void> operator()(const ir::AtomRhs& rhs) {
      BATON_TRY_ASSIGN(Value value, self.read(rhs.atom));
      return self.finish(std::move(value));
    }
    Result<void> operator()(const ir::CallOp& rhs) { return self.callOperator(binding, rhs); }
    Result<void> operator()(const ir::CallGlobal& rhs) {
      BATON_TRY_ASSIGN(std::vector<Value> arguments, self.readAll(rhs.args));
      const FunctionCode& code = self.codeOf(rhs.callee);
      return self.enterCall(code, code.unitOf(code.function().body), std::move(arguments), nullptr);
    }
    Result<void> operator()(const ir::CallValue& rhs) {
      BATON_TRY_ASSIGN(Value callee, self.read(rhs.callee));
      BATON_TRY_ASSIGN(std::vector<Value> arguments, self.readAll(rhs.args));
      if (!callee.isFunction())
        return self.located(Error(ErrorCode::Internal, "what is called is no function"));
      const CodeId id = callee.object()->code;
      const FunctionCode& code = self.codeOf(id.function);
      return self.enterCall(code, code.unitOf(id.body), std::move(arguments), &callee);
    }
    Result<void> operator()(const ir::CallJoin& rhs) { return self.jump(rhs); }
    Result<void> operator()(const ir::Construct& rhs) {
      BATON_TRY_ASSIGN(std::vector<Value> fields, self.readAll(rhs.args));
      return self.finish(Value::data(rhs.constructor, std::move(fields)));
    }
    Result<void> operator()(const ir::MakeTuple& rhs) {
      BATON_TRY_ASSIGN(std::vector<Value> fields, self.readAll(rhs.elements));
      return self.finish(Value::tuple(std::move(fields)));
    }
    Result<void> operator()(const ir::Project& rhs) {
      BATON_TRY_ASSIGN(Value tuple, self.read(rhs.tuple));
      return self.finish(tuple.fields()[rhs.index]);
    }
    Result<void> operator()(const ir::If& rhs) {
      BATON_TRY_ASSIGN(Value condition, self.read(rhs.condition));
      self.push(condition.asBool() ? rhs.thenBlock : rhs.elseBlock);
      return success();
    }
    Result<void> operator()(const ir::Match& rhs) { return self.matchClauses(rhs); }
    Result<void> operator()(const ir::Lambda& rhs) {
      if (!rhs.isJoin) return self.finish(self.makeClosure(binding, rhs));
      ++self.positions_.back().next;
      return success();
    }
    Result<void> operator()(const ir::NestedBlock& rhs) {
      self.push(rhs.block);
      return success();
    }
    Result<void> operator()(const ir::ArrayOp& rhs) {
      Result<Value> value = self.arrayOperation(rhs);
      if (!value.has_value()) return self.located(std::move(value).assume_error());
      return self.finish(std::move(value).assume_value());
    }
    Result<void> operator()(const ir::MakeRef& rhs) {
      BATON_TRY_ASSIGN(Value content, self.read(rhs.value));
      Value cell = Value::cell(std::move(content));
      if (self.cells_.size() > 2 * self.cellsAtLastSweep_ + 1024) {
        std::erase_if(self.cells_, [](const Value& each) { return each.object()->references == 1; });
        self.cellsAtLastSweep_ = self.cells_.size();
      }
      self.cells_.push_back(cell);
      return self.finish(std::move(cell));
    }
    Result<void> operator()(const ir::ReadRef& rhs) {
      BATON_TRY_ASSIGN(Value cell, self.read(rhs.cell));
      return self.finish(cell.content());
    }
    Result<void> operator()(const ir::WriteRef& rhs) {
      BATON_TRY_ASSIGN(Value cell, self.read(rhs.cell));
      BATON_TRY_ASSIGN(Value content, self.read(rhs.value));
      cell.setContent(std::move(content));
      return self.finish(Value::tuple({}));
    }
  };
  return std::visit(Visitor{*this, binding}, binding.rhs);
}

}  // namespace baton::eval
