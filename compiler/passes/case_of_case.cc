// Case of case: what comes after a branch and takes its result apart becomes a join, so that every
// way through the branch goes on where its own tuple or constructor is known.

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/registry.h"
#include "compiler/passes/tail_blocks.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

/// Bindings between a branch and the match of its result.
constexpr size_t kMaxBetween = 100;

/// How a variable is used, over the whole function.
struct ResultUses {
  uint32_t projections = 0;
  uint32_t matches = 0;
  uint32_t others = 0;
};

/// The blocks that end where a right-hand side ends.
struct Tails {
  std::vector<BlockId> leaves;   ///< whose result is a value of their own
  std::vector<VarId> passing;    ///< whose value is that of what comes after them
  std::vector<BlockId> blocks;   ///< all of them
  bool endsInParameter = false;  ///< a leaf gives a parameter of one of the joins
};

/// Whether it gives what blocks inside of it give.
bool givesWhatBlocksGive(const ir::Rhs& rhs) {
  return std::holds_alternative<ir::If>(rhs) || std::holds_alternative<ir::Match>(rhs) ||
         std::holds_alternative<ir::NestedBlock>(rhs);
}

class CaseOfCase {
 public:
  CaseOfCase(ir::Module& module, ir::Function& function, PassContext& context)
      : module_(module),
        function_(function),
        context_(context),
        maxJoins_(context.option("max-joins")),
        maxParts_(context.option("max-parts")) {}
  void run();

 private:
  void look();
  Tails tailsOf(std::vector<BlockId> roots) const;
  const ir::Construct* constructOf(Atom atom) const {
    return atom.isVar() && atom.var().value() < constructs_.size() && constructs_[atom.var().value()]
               ? &*constructs_[atom.var().value()]
               : nullptr;
  }
  bool isTuple(Atom atom) const {
    return atom.isVar() && atom.var().value() < tuples_.size() && tuples_[atom.var().value()];
  }
  bool tryAt(BlockId id, size_t index);
  std::optional<size_t> matchOf(const ir::Block& block, size_t index) const;
  void continueTuple(BlockId id, size_t index, const Tails& tails);
  void continueData(BlockId id, size_t index, size_t matchIndex, const Tails& tails);
  void chooseCase(BlockId leaf, const ir::Match& match, const std::vector<ir::Binding>& cases,
                  ir::TypeRef result, SourceLocation location);
  VarId addJoin(std::vector<ir::Binding>& bindings, const char* name, std::vector<VarId> params, BlockId body,
                ir::TypeRef result, SourceLocation location);
  void jump(BlockId block, VarId join, std::vector<Atom> args, ir::TypeRef result, SourceLocation location);
  void retype(const Tails& tails, ir::TypeRef result);
  void endWith(BlockId id, ir::Binding branch, ir::TypeRef result);

  ir::Module& module_;
  ir::Function& function_;
  PassContext& context_;
  const uint64_t maxJoins_;
  const uint64_t maxParts_;
  uint64_t joinCount_ = 0;
  // By variable, as it was at the start. Later uses as a whole come from earlier ones.
  std::vector<ResultUses> uses_;
  std::vector<std::optional<ir::Construct>> constructs_;
  std::vector<bool> tuples_;
  std::vector<BlockId> work_;
};

void CaseOfCase::look() {
  uses_.resize(function_.vars.size());
  constructs_.resize(function_.vars.size());
  tuples_.resize(function_.vars.size());
  auto whole = [&](const Atom& atom) {
    if (atom.isVar()) ++uses_[atom.var().value()].others;
  };
  for (BlockId id : ir::blocksInOrder(function_, function_.body)) {
    const ir::Block& block = function_.block(id);
    for (const ir::Binding& binding : block.bindings) {
      if (const auto* made = std::get_if<ir::Construct>(&binding.rhs))
        constructs_[binding.var.value()] = *made;
      tuples_[binding.var.value()] = std::holds_alternative<ir::MakeTuple>(binding.rhs);
      if (const auto* project = std::get_if<ir::Project>(&binding.rhs);
          project != nullptr && project->tuple.isVar())
        ++uses_[project->tuple.var().value()].projections;
      else if (const auto* match = std::get_if<ir::Match>(&binding.rhs);
               match != nullptr && match->scrutinee.isVar())
        ++uses_[match->scrutinee.var().value()].matches;
      else
        ir::forEachOperand(binding.rhs, whole);
    }
    whole(block.result);
  }
}

Tails CaseOfCase::tailsOf(std::vector<BlockId> roots) const {
  Tails tails;
  std::unordered_set<VarId> parameters;  // of the joins
  std::vector<BlockId> work = std::move(roots);
  while (!work.empty()) {
    const BlockId id = work.back();
    work.pop_back();
    tails.blocks.push_back(id);
    const ir::Block& block = function_.block(id);
    for (const ir::Binding& binding : block.bindings)
      if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs); lambda != nullptr && lambda->isJoin) {
        parameters.insert(lambda->params.begin(), lambda->params.end());
        work.push_back(lambda->body);
      }
    if (block.bindings.empty() || !isTailBinding(block, block.bindings.size() - 1)) {
      tails.leaves.push_back(id);
      continue;
    }
    const ir::Binding& last = block.bindings.back();
    if (givesWhatBlocksGive(last.rhs) || std::holds_alternative<ir::CallJoin>(last.rhs)) {
      tails.passing.push_back(last.var);
      ir::forEachChildBlock(last.rhs, [&](BlockId child) { work.push_back(child); });
    } else {
      tails.leaves.push_back(id);
    }
  }
  for (BlockId leaf : tails.leaves) {
    const Atom value = function_.block(leaf).result;
    tails.endsInParameter |= value.isVar() && parameters.contains(value.var());
  }
  return tails;
}

/// The position of the match that takes the data apart that the binding at `index` gives, if what
/// comes before it may as well come before the binding.
std::optional<size_t> CaseOfCase::matchOf(const ir::Block& block, size_t index) const {
  // What a nested block has checked holds after it, and may be relied on.
  const bool mayMove = !std::holds_alternative<ir::NestedBlock>(block.bindings[index].rhs);
  const size_t end = std::min(block.bindings.size(), index + 1 + kMaxBetween);
  for (size_t i = index + 1; i < end; ++i) {
    const ir::Binding& binding = block.bindings[i];
    if (const auto* match = std::get_if<ir::Match>(&binding.rhs);
        match != nullptr && match->scrutinee == Atom(block.bindings[index].var))
      return binding.obligations.empty() ? std::optional(i) : std::nullopt;
    const bool isPure = std::holds_alternative<ir::AtomRhs>(binding.rhs) ||
                        std::holds_alternative<ir::CallOp>(binding.rhs) ||
                        std::holds_alternative<ir::MakeTuple>(binding.rhs) ||
                        std::holds_alternative<ir::Construct>(binding.rhs) ||
                        std::holds_alternative<ir::Project>(binding.rhs);
    if (!mayMove || !isPure || canFail(function_, binding)) return std::nullopt;
  }
  return std::nullopt;
}

VarId CaseOfCase::addJoin(std::vector<ir::Binding>& bindings, const char* name, std::vector<VarId> params,
                          BlockId body, ir::TypeRef result, SourceLocation location) {
  const ir::TypeRef type = functionType(module_, function_, params, result);
  const VarId join = function_.addVar({.name = name, .type = type, .location = location});
  ir::Lambda lambda;
  lambda.params = std::move(params);
  lambda.body = body;
  lambda.isJoin = true;
  bindings.push_back({join, std::move(lambda), location, {}});
  ++joinCount_;
  return join;
}

/// Ends the block with a jump.
void CaseOfCase::jump(BlockId block, VarId join, std::vector<Atom> args, ir::TypeRef result,
                      SourceLocation location) {
  const VarId var = append(function_, block, {.name = "r", .type = freshDims(module_, result)},
                           ir::CallJoin{join, std::move(args)}, location);
  function_.block(block).result = var;
}

/// What ended with the value of a branch ends with that of what comes after it.
void CaseOfCase::retype(const Tails& tails, ir::TypeRef result) {
  for (VarId var : tails.passing) {
    ir::VarInfo& info = function_.var(var);
    info.type = freshDims(module_, result);
    info.declaredType = nullptr;
    info.valueDims.reset();
  }
  for (BlockId block : tails.blocks)
    for (ir::Binding& binding : function_.block(block).bindings) {
      auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda == nullptr || !lambda->isJoin) continue;
      lambda->declaredResult = nullptr;
      function_.var(binding.var).type = functionType(module_, function_, lambda->params, result);
    }
}

/// Puts the branch at the end of the block, as its result.
void CaseOfCase::endWith(BlockId id, ir::Binding branch, ir::TypeRef result) {
  ir::Block& block = function_.block(id);
  if (const auto* nested = std::get_if<ir::NestedBlock>(&branch.rhs)) {
    ir::Block& inner = function_.block(nested->block);
    std::move(inner.bindings.begin(), inner.bindings.end(), std::back_inserter(block.bindings));
    inner.bindings.clear();
    block.result = inner.result;
    return;
  }
  branch.var =
      function_.addVar({.name = "r", .type = freshDims(module_, result), .location = branch.location});
  block.result = branch.var;
  block.bindings.push_back(std::move(branch));
}

void CaseOfCase::continueTuple(BlockId id, size_t index, const Tails& tails) {
  const BlockId body = function_.addBlock();
  ir::Block& block = function_.block(id);
  ir::Block& rest = function_.block(body);
  const auto begin = block.bindings.begin() + static_cast<ptrdiff_t>(index);
  rest.bindings.assign(std::make_move_iterator(begin + 1), std::make_move_iterator(block.bindings.end()));
  rest.result = block.result;
  rest.resultLocation = block.resultLocation;
  ir::Binding branch = std::move(*begin);
  block.bindings.erase(begin, block.bindings.end());

  const ir::TypeRef result = module_.typeOf(function_, rest.result);
  const VarId join = addJoin(block.bindings, "rest", {branch.var}, body, result, branch.location);
  for (BlockId leaf : tails.leaves) jump(leaf, join, {function_.block(leaf).result}, result, branch.location);
  retype(tails, result);
  endWith(id, std::move(branch), result);
}

/// Ends a block, whose result is matched, with a jump to the case that takes it.
void CaseOfCase::chooseCase(BlockId leaf, const ir::Match& match, const std::vector<ir::Binding>& cases,
                            ir::TypeRef result, SourceLocation location) {
  const Atom value = function_.block(leaf).result;
  if (const ir::Construct* made = constructOf(value)) {
    for (size_t i = 0; i < match.clauses.size(); ++i) {
      const ir::Pattern& pattern = function_.pattern(match.clauses[i].pattern);
      std::vector<Atom> args;
      if (pattern.kind == ir::Pattern::Kind::Constructor) {
        if (pattern.constructor.tag != made->constructor.tag) continue;
        for (size_t k = 0; k < pattern.children.size(); ++k)
          if (function_.pattern(pattern.children[k]).kind == ir::Pattern::Kind::Var)
            args.push_back(made->args[k]);
      }
      jump(leaf, cases[i].var, std::move(args), result, location);
      return;
    }
  }
  ir::Match again{value, match.complete, {}};
  const ir::TypeRef type = module_.typeOf(function_, value);
  for (size_t i = 0; i < match.clauses.size(); ++i) {
    ir::Pattern pattern = function_.pattern(match.clauses[i].pattern);
    std::vector<Atom> args;
    if (pattern.kind == ir::Pattern::Kind::Constructor) {
      const std::vector<ir::TypeRef> fields = module_.fieldTypes(type, pattern.constructor.tag);
      for (size_t k = 0; k < pattern.children.size(); ++k) {
        ir::Pattern field = function_.pattern(pattern.children[k]);
        if (field.kind == ir::Pattern::Kind::Var) {
          const ir::VarInfo& old = function_.var(field.var);
          field.var = function_.addVar(
              {.name = old.name, .type = openDims(module_, fields[k]), .location = old.location});
          args.push_back(field.var);
        }
        pattern.children[k] = function_.addPattern(std::move(field));
      }
    }
    const BlockId block = function_.addBlock();
    jump(block, cases[i].var, std::move(args), result, location);
    again.clauses.push_back({function_.addPattern(std::move(pattern)), block});
  }
  const VarId var =
      append(function_, leaf, {.name = "r", .type = freshDims(module_, result)}, std::move(again), location);
  function_.block(leaf).result = var;
}

void CaseOfCase::continueData(BlockId id, size_t index, size_t matchIndex, const Tails& tails) {
  std::vector<ir::Binding> bindings = std::move(function_.block(id).bindings);
  const Atom end = function_.block(id).result;
  const SourceLocation endLocation = function_.block(id).resultLocation;
  ir::Binding branch = std::move(bindings[index]);
  ir::Binding matching = std::move(bindings[matchIndex]);
  const auto match = std::get<ir::Match>(std::move(matching.rhs));
  const ir::TypeRef result = module_.typeOf(function_, end);

  std::vector<ir::Binding> before;
  for (size_t i = 0; i < matchIndex; ++i)
    if (i != index) before.push_back(std::move(bindings[i]));
  if (matchIndex + 1 < bindings.size() || end != Atom(matching.var)) {
    const BlockId body = function_.addBlock();
    ir::Block& rest = function_.block(body);
    rest.bindings.assign(std::make_move_iterator(bindings.begin() + static_cast<ptrdiff_t>(matchIndex) + 1),
                         std::make_move_iterator(bindings.end()));
    rest.result = end;
    rest.resultLocation = endLocation;
    const VarId after = addJoin(before, "rest", {matching.var}, body, result, matching.location);
    std::vector<BlockId> clauses;
    for (const ir::Clause& clause : match.clauses) clauses.push_back(clause.block);
    const Tails ends = tailsOf(std::move(clauses));
    for (BlockId leaf : ends.leaves)
      jump(leaf, after, {function_.block(leaf).result}, result, matching.location);
    retype(ends, result);
  }
  std::vector<ir::Binding> cases;
  for (const ir::Clause& clause : match.clauses) {
    std::vector<VarId> params;
    ir::forEachPatternVar(function_, clause.pattern, [&](VarId var) { params.push_back(var); });
    addJoin(cases, "case", std::move(params), clause.block, result, matching.location);
  }
  for (BlockId leaf : tails.leaves) chooseCase(leaf, match, cases, result, matching.location);
  std::move(cases.begin(), cases.end(), std::back_inserter(before));
  function_.block(id).bindings = std::move(before);
  retype(tails, result);
  endWith(id, std::move(branch), result);
}

bool CaseOfCase::tryAt(BlockId id, size_t index) {
  const ir::Block& block = function_.block(id);
  const ir::Binding& binding = block.bindings[index];
  const ir::TypeRef type = function_.var(binding.var).type;
  if (!(type->isTuple() || type->isAdt()) || binding.var.value() >= uses_.size()) return false;
  if (!givesWhatBlocksGive(binding.rhs) || !binding.obligations.empty() || joinCount_ >= maxJoins_)
    return false;
  const ResultUses& uses = uses_[binding.var.value()];
  if (uses.others > 0 || uses.projections + uses.matches == 0) return false;
  std::vector<BlockId> roots;
  ir::forEachChildBlock(binding.rhs, [&](BlockId child) { roots.push_back(child); });
  const Tails tails = tailsOf(std::move(roots));
  auto isMade = [&](BlockId leaf) {
    const Atom value = function_.block(leaf).result;
    return isTuple(value) || constructOf(value) != nullptr;
  };
  if (!tails.endsInParameter && std::none_of(tails.leaves.begin(), tails.leaves.end(), isMade)) return false;
  if (type->isTuple()) {
    if (uses.matches > 0 || type->elements().size() > maxParts_) return false;
    continueTuple(id, index, tails);
  } else {
    const std::optional<size_t> at = uses.matches == 1 ? matchOf(block, index) : std::nullopt;
    if (!at) return false;
    const auto& match = std::get<ir::Match>(block.bindings[*at].rhs);
    if (match.clauses.empty() || match.clauses.size() * tails.leaves.size() > maxParts_) return false;
    continueData(id, index, *at, tails);
  }
  context_.count("branches continued");
  return true;
}

void CaseOfCase::run() {
  look();
  work_.push_back(function_.body);
  while (!work_.empty()) {
    const BlockId id = work_.back();
    work_.pop_back();
    for (size_t i = 0; i < function_.block(id).bindings.size(); ++i)
      if (tryAt(id, i)) break;
    for (const ir::Binding& binding : function_.block(id).bindings)
      ir::forEachChildBlock(binding.rhs, [&](BlockId child) { work_.push_back(child); });
  }
}

Result<void> caseOfCase(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions) {
    if (isFusionGroup(function)) continue;
    straightenTails(function);
    CaseOfCase(module, function, context).run();
  }
  return success();
}

constexpr PassOption kCaseOfCaseOptions[] = {
    {"max-joins", 200, "joins that are made in one function, whose blocks are then nested as deep"},
    {"max-parts", 64, "elements of a tuple, or clauses times ways through a branch"},
};

}  // namespace

constinit const PassInfo kCaseOfCasePass{
    .name = "case-of-case",
    .summary = "what takes the result of a branch apart becomes joins that the branch jumps to",
    .documentation =
        R"(Looks at an `if`, a match or a loop in mid-block whose tuple is only projected from, or whose data is looked at by one match of the same block. What comes after it becomes a join, and every way through the branch ends with a jump to it; the clauses of the match become a join each, and a way that ends with a constructor jumps to the clause that takes it. Nothing is copied. So data that is made in a branch and looked at right after is never made, and unbox opens tuples that go round in a loop and are taken apart after it.

A branch whose result is also used as a whole stays, and so does one none of whose ways makes the tuple or data. Operators between the branch and the match come before the branch, where they cannot fail; else it stays.)",
    .level = 2,
    .requires_ = Property::FlatMatches,
    .options = kCaseOfCaseOptions,
    .run = caseOfCase,
};

}  // namespace baton::passes
