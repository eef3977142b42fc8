// Case of case (Peyton Jones and Santos, "A transformation-based optimiser for Haskell", 1998):
// what looks at the value of a branch or a loop goes to where the value is made. The rest of
// the block becomes a join that the ends of the branch jump to, so nothing is copied.

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/registry.h"
#include "compiler/passes/tail_blocks.h"
#include "compiler/passes/value_flow.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

/// Whether the binding is a branch, or a block with a loop, whose value is a tuple or data.
bool isBoxedBranch(const ir::Function& function, const ir::Binding& binding) {
  const ir::TypeRef type = function.var(binding.var).type;
  return (type->isTuple() || type->isAdt()) &&
         (std::holds_alternative<ir::If>(binding.rhs) || std::holds_alternative<ir::Match>(binding.rhs) ||
          std::holds_alternative<ir::NestedBlock>(binding.rhs));
}

/// Whether extents are named inside of arrays, data or functions: those names may belong to what
/// becomes a join, and no value tells them to whoever gets its result.
bool namesInnerExtents(ir::TypeTable& types, ir::TypeRef type) {
  const ir::TypeRef inner = mapOwnTensors(types, type, [&](ir::TypeRef tensor) {
    return types.tensor(tensor->dtype(),
                        std::vector<DimExpr>(tensor->dims().size(), DimExpr::symbol(ir::kAnyDim)));
  });
  bool found = false;
  ir::forEachSymbol(inner, [&](DimSymbol) { found = true; });
  return found;
}

class CaseOfCase {
 public:
  CaseOfCase(ir::Module& module, ir::Function& function, PassContext& context)
      : module_(module),
        function_(function),
        context_(context),
        flow_(function),
        uses_(useCounts(function)),
        isSeen_(function.blocks.size(), false) {}
  void run();

 private:
  /// A block while it is looked at, from its last binding to its first.
  struct Open {
    BlockId block;
    std::deque<ir::Binding> rest = {};  // what has been looked at, last one first
    size_t movable = 0;                 // how many of them, the first aside, are known to move up
  };

  void process(BlockId block);
  bool moveRest(Open& open, ir::Binding& branch);
  bool moveClauses(Open& open, ir::Binding& branch);
  size_t lookingMatch(const Open& open, VarId value);
  bool mayMoveUp(const ir::Binding& binding);
  ir::Binding restJoin(Open& open, VarId param, size_t count);
  void visitLater(const ir::Binding& binding);
  ir::Binding dispatchJoin(const ir::Match& match, const std::vector<VarId>& clauses, VarId value,
                           ir::TypeRef result, SourceLocation location);
  using Jump = std::function<ir::CallJoin(Atom)>;
  void redirect(const ir::Binding& branch, ir::TypeRef result, const Jump& jump);
  void putLast(Open& open, ir::Binding branch, ir::TypeRef result);
  ir::TypeRef resultOf(BlockId block) { return module_.typeOf(function_, function_.block(block).result); }
  VarId addJoin(const char* name, const std::vector<VarId>& params, ir::TypeRef result) {
    return function_.addVar({.name = name, .type = functionType(module_, function_, params, result)});
  }
  void retype(VarId var, ir::TypeRef result) { function_.var(var) = resultInfo(result); }
  ir::VarInfo resultInfo(ir::TypeRef type) { return {.name = "r", .type = freshDims(module_, type)}; }
  BlockId addBlock() {
    isSeen_.push_back(true);
    return function_.addBlock();
  }

  ir::Module& module_;
  ir::Function& function_;
  PassContext& context_;
  const ValueFlow flow_;
  const std::vector<uint32_t> uses_;            // at the start
  std::optional<eval::SymbolBinders> binders_;  // at the start, once needed
  std::vector<bool> isSeen_;                    // by block: will be looked at, or need not be
  std::vector<BlockId> work_;
};

/// Makes jumps of the ends of the branch: of its blocks, and of what ends where they end.
void CaseOfCase::redirect(const ir::Binding& branch, ir::TypeRef result, const Jump& jump) {
  std::vector<BlockId> ends;
  auto push = [&](BlockId child) { ends.push_back(child); };
  ir::forEachChildBlock(branch.rhs, push);
  while (!ends.empty()) {
    const BlockId id = ends.back();
    ends.pop_back();
    ir::Block& block = function_.block(id);
    for (ir::Binding& binding : block.bindings) {
      auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda == nullptr || !lambda->isJoin) continue;
      ir::VarInfo& join = function_.var(binding.var);
      join.type = functionType(module_, function_, lambda->params, result);
      join.declaredType = nullptr;
      lambda->declaredResult = nullptr;
      ends.push_back(lambda->body);
    }
    if (!block.bindings.empty() && isTailBinding(block, block.bindings.size() - 1)) {
      const ir::Binding& last = block.bindings.back();
      const bool isJump = std::holds_alternative<ir::CallJoin>(last.rhs);
      if (isJump || std::holds_alternative<ir::If>(last.rhs) || std::holds_alternative<ir::Match>(last.rhs)) {
        retype(last.var, result);
        ir::forEachChildBlock(last.rhs, push);
        continue;
      }
    }
    const Atom leaf = block.result;
    const VarId var = append(function_, id, resultInfo(result), jump(leaf), branch.location);
    function_.block(id).result = var;
  }
}

/// The branch, its ends redirected, as what the block ends with. A nested block goes with that:
/// straightenTails puts what is in it where the jumps can leave. Its check comes first of all.
void CaseOfCase::putLast(Open& open, ir::Binding branch, ir::TypeRef result) {
  branch.var = function_.addVar(resultInfo(result));
  function_.block(open.block).result = branch.var;
  visitLater(branch);
  open.movable = open.rest.size() + 1;
  if (!branch.obligations.empty()) open.rest.push_back(checkOf(module_, function_, branch));
  open.rest.push_front(std::move(branch));
}

/// A join of a value that does what comes last in the block.
ir::Binding CaseOfCase::restJoin(Open& open, VarId param, size_t count) {
  ir::Lambda lambda;
  lambda.isJoin = true;
  lambda.params = {param};
  lambda.body = addBlock();
  const ir::Block& outer = function_.block(open.block);
  ir::Block& body = function_.block(lambda.body);
  const auto end = open.rest.begin() + static_cast<ptrdiff_t>(count);
  std::move(std::make_reverse_iterator(end), open.rest.rend(), std::back_inserter(body.bindings));
  open.rest.erase(open.rest.begin(), end);
  body.result = outer.result;
  body.resultLocation = outer.resultLocation;
  const VarId join = addJoin("rest", lambda.params, resultOf(open.block));
  return {join, std::move(lambda), function_.var(param).location, {}};
}

/// The ends jump to a join that has the rest of the block; unbox takes the value apart.
bool CaseOfCase::moveRest(Open& open, ir::Binding& branch) {
  const VarId value = branch.var;
  if (!function_.var(value).type->isTuple() && !flow_.hasOneConstructor(value)) return false;
  const ir::TypeRef result = resultOf(open.block);
  ir::Binding join = restJoin(open, value, open.rest.size());
  redirect(branch, result, [&](Atom leaf) { return ir::CallJoin{join.var, {leaf}}; });
  open.rest.push_front(std::move(join));
  putLast(open, std::move(branch), result);
  return true;
}

/// Whether the binding can run before a branch that it follows: it does nothing but give a
/// value, and no extent inside of the branch is called like one that it gives.
bool CaseOfCase::mayMoveUp(const ir::Binding& binding) {
  const ir::Rhs& rhs = binding.rhs;
  const bool isPure = std::holds_alternative<ir::AtomRhs>(rhs) || std::holds_alternative<ir::CallOp>(rhs) ||
                      std::holds_alternative<ir::MakeTuple>(rhs) ||
                      std::holds_alternative<ir::Construct>(rhs) ||
                      std::holds_alternative<ir::Project>(rhs) || std::holds_alternative<ir::Lambda>(rhs);
  if (!isPure || canFail(function_, binding)) return false;
  if (!binders_) binders_.emplace(function_);
  const std::vector<DimSymbol>& symbols = binders_->boundBy(binding.var);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](DimSymbol symbol) { return binders_->count(symbol) == 1; });
}

/// Where the match stands in the rest that is the only use of the value; the size of the rest when
/// there is none, or what is before it has to come after the branch.
size_t CaseOfCase::lookingMatch(const Open& open, VarId value) {
  const size_t none = open.rest.size();
  if (!function_.var(value).type->isAdt() || uses_[value.value()] != 1) return none;
  for (size_t i = open.rest.size(); i-- > 0;) {
    if (i < open.movable) i = 0;
    const ir::Binding& binding = open.rest[i];
    const auto* match = std::get_if<ir::Match>(&binding.rhs);
    if (match == nullptr || match->scrutinee != Atom(value)) {
      if (!mayMoveUp(binding)) return none;
      continue;
    }
    return binding.obligations.empty() ? i : none;
  }
  return none;
}

/// A join that looks at a value and jumps to the join of its clause, for ends that do not know.
ir::Binding CaseOfCase::dispatchJoin(const ir::Match& match, const std::vector<VarId>& clauses, VarId value,
                                     ir::TypeRef result, SourceLocation location) {
  ir::Match dispatch{value, match.complete, {}};
  for (size_t i = 0; i < clauses.size(); ++i) {
    ir::Pattern pattern = function_.pattern(match.clauses[i].pattern);
    ir::CallJoin jump{clauses[i], {}};
    if (pattern.kind == ir::Pattern::Kind::Constructor) {
      const std::vector<ir::TypeRef> fields =
          module_.fieldTypes(function_.var(value).type, pattern.constructor.tag);
      for (size_t k = 0; k < fields.size(); ++k) {
        ir::Pattern child = function_.pattern(pattern.children[k]);
        if (child.kind == ir::Pattern::Kind::Var) {
          child.var =
              function_.addVar({.name = function_.var(child.var).name, .type = openDims(module_, fields[k])});
          jump.args.emplace_back(child.var);
        }
        pattern.children[k] = function_.addPattern(std::move(child));
      }
    }
    const BlockId block = addBlock();
    const VarId var = append(function_, block, resultInfo(result), std::move(jump), location);
    function_.block(block).result = var;
    dispatch.clauses.push_back({function_.addPattern(std::move(pattern)), block});
  }
  ir::Lambda lambda;
  lambda.isJoin = true;
  lambda.params = {value};
  lambda.body = addBlock();
  const VarId var = append(function_, lambda.body, resultInfo(result), std::move(dispatch), location);
  function_.block(lambda.body).result = var;
  const VarId join = addJoin("look", lambda.params, result);
  return {join, std::move(lambda), location, {}};
}

/// The clauses of the match that looks at the value become joins that the ends jump to.
bool CaseOfCase::moveClauses(Open& open, ir::Binding& branch) {
  const VarId value = branch.var;
  const size_t at = lookingMatch(open, value);
  if (at == open.rest.size()) return false;
  ir::Binding looking = std::move(open.rest[at]);
  const auto match = std::get<ir::Match>(looking.rhs);
  const ir::TypeRef result = resultOf(open.block);
  std::optional<ir::Binding> after;
  if (at > 0 || function_.block(open.block).result != Atom(looking.var)) {
    after = restJoin(open, looking.var, at);
    redirect(looking, result, [&](Atom leaf) { return ir::CallJoin{after->var, {leaf}}; });
  }
  open.rest.pop_front();
  if (after) open.rest.push_front(std::move(*after));

  std::vector<VarId> joins;
  std::vector<size_t> ofTag;  // the clause for a constructor; that of the wildcard, or none
  ofTag.resize(module_.typeDef(function_.var(value).type->definition()).constructors.size(), SIZE_MAX);
  for (size_t i = 0; i < match.clauses.size(); ++i) {
    const ir::Pattern& pattern = function_.pattern(match.clauses[i].pattern);
    ir::Lambda clause;
    clause.isJoin = true;
    clause.body = match.clauses[i].block;
    if (pattern.kind == ir::Pattern::Kind::Wildcard)
      std::replace(ofTag.begin(), ofTag.end(), SIZE_MAX, i);
    else
      ofTag[pattern.constructor.tag] = i;
    ir::forEachPatternVar(function_, match.clauses[i].pattern,
                          [&](VarId field) { clause.params.push_back(field); });
    joins.push_back(addJoin("clause", clause.params, result));
    open.rest.push_front({joins.back(), std::move(clause), looking.location, {}});
  }
  std::optional<ir::Binding> dispatch;
  redirect(branch, result, [&](Atom leaf) {
    const ir::Construct* made = flow_.madeData(leaf);
    if (made == nullptr || ofTag[made->constructor.tag] == SIZE_MAX) {
      if (!dispatch) dispatch = dispatchJoin(match, joins, value, result, looking.location);
      return ir::CallJoin{dispatch->var, {leaf}};
    }
    const size_t index = ofTag[made->constructor.tag];
    ir::CallJoin jump{joins[index], {}};
    const ir::Pattern& pattern = function_.pattern(match.clauses[index].pattern);
    for (size_t k = 0; k < pattern.children.size(); ++k)
      if (function_.pattern(pattern.children[k]).kind == ir::Pattern::Kind::Var)
        jump.args.push_back(made->args[k]);
    return jump;
  });
  if (dispatch) open.rest.push_front(std::move(*dispatch));
  putLast(open, std::move(branch), result);
  return true;
}

void CaseOfCase::visitLater(const ir::Binding& binding) {
  ir::forEachChildBlock(binding.rhs, [&](BlockId child) {
    if (isSeen_[child.value()]) return;
    isSeen_[child.value()] = true;
    work_.push_back(child);
  });
}

/// From the last binding to the first, so that each moves once.
void CaseOfCase::process(BlockId id) {
  Open open{id};
  std::vector<ir::Binding> pending = std::move(function_.block(id).bindings);
  while (!pending.empty()) {
    ir::Binding binding = std::move(pending.back());
    pending.pop_back();
    const bool isTail = open.rest.empty() && function_.block(id).result == Atom(binding.var);
    if (!isTail && isBoxedBranch(function_, binding) && flow_.mayBeMade(binding.var) &&
        flow_.isTakenApart(binding.var) && !namesInnerExtents(module_.types, resultOf(id)) &&
        (moveClauses(open, binding) || moveRest(open, binding))) {
      context_.count("branches that jump to what looks at their values");
      continue;
    }
    visitLater(binding);
    open.rest.push_back(std::move(binding));
  }
  function_.block(id).bindings.assign(std::make_move_iterator(open.rest.rbegin()),
                                      std::make_move_iterator(open.rest.rend()));
}

/// Blocks before those inside of them: a branch that has become the end of its block is not the
/// end of the branch around it, whose ends have been redirected before.
void CaseOfCase::run() {
  work_.push_back(function_.body);
  while (!work_.empty()) {
    const BlockId id = work_.back();
    work_.pop_back();
    process(id);
  }
  straightenTails(function_);
}

Result<void> caseOfCase(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions) {
    if (isFusionGroup(function)) continue;
    straightenTails(function);
    const std::vector<BlockId> blocks = ir::blocksInOrder(function, function.body);
    const bool hasBranch = std::any_of(blocks.begin(), blocks.end(), [&](BlockId id) {
      const ir::Block& block = function.block(id);
      for (size_t i = 0; i < block.bindings.size(); ++i)
        if (!isTailBinding(block, i) && isBoxedBranch(function, block.bindings[i])) return true;
      return false;
    });
    if (hasBranch) CaseOfCase(module, function, context).run();
  }
  return success();
}

}  // namespace

constinit const PassInfo kCaseOfCasePass{
    .name = "case-of-case",
    .summary = "branches that make tuples and data jump to what takes them apart",
    .documentation =
        R"(Looks at branches and loops in mid-block that give a tuple or data, made inside at least in part, which is only taken apart afterwards. What comes after becomes a join that the ends of the branch jump to, each with its own value; the branch is then the end of its block. unbox opens what is passed if it is a tuple, or data of one constructor, so nothing is made.

Data of several constructors that one match of the same block looks at goes further: each clause becomes a join with its variables as parameters, and an end that makes its value jumps to the clause with the fields. Ends that do not know their constructor share one join with the match. What stands between the branch and the match moves up before the branch, where it cannot fail and only gives a value; where something else stands there, the data stays. Nothing is copied.

A value that is stored, returned, captured as a whole or passed to a function stays.)",
    .level = 2,
    .requires_ = Property::FlatMatches | Property::Joins,
    .run = caseOfCase,
};

}  // namespace baton::passes
