#include "compiler/passes/registry.h"

#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/alias.h"
#include "compiler/passes/common_operators.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/tail_blocks.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

struct Features {
  FoldLimits* folds = nullptr;  // null: operators stay
  bool sharesCommon = false;
};

/// What a variable is known to hold.
struct Known {
  enum class Kind : uint8_t { Tuple, Data, Bool };
  Kind kind = Kind::Tuple;
  ir::ConstructorRef constructor;          // Data
  std::vector<std::optional<Atom>> parts;  // Tuple, Data; a field may have no name
  bool value = false;                      // Bool
};

/// One walk over a function in program order. Operands are replaced before a binding is
/// looked at, so what was found out above is seen below.
class Simplifier {
 public:
  Simplifier(ir::Module& module, ir::Function& function, ConstantPool& pool, Features features,
             PassContext& context)
      : module_(module),
        function_(function),
        pool_(pool),
        features_(features),
        context_(context),
        substitution_(function),
        aliases_(module, function),
        uses_(useCounts(function)),
        common_(aliases_) {}
  void run();

 private:
  struct Child {
    BlockId block;
    /// What holds inside; the variable and what it holds.
    std::optional<std::pair<VarId, Known>> fact;
    /// The loop whose body it is, or kNoVar.
    VarId loop = ir::kNoVar;
  };
  struct Frame {
    BlockId block;
    VarId loop = ir::kNoVar;
    std::vector<ir::Binding> pending;  // last one first
    std::vector<ir::Binding> out;
    std::vector<Child> children;  // of the binding that was put out last; last one first
    size_t learnedBefore = 0;     // what was found out and put out around the block
    size_t commonBefore = 0;
  };

  void enter(Child child);
  void leave();
  void visit(ir::Binding binding);
  void emit(ir::Binding binding);
  /// To be looked at before what is pending already, the first one first.
  void queue(std::vector<ir::Binding>& bindings);
  bool isTail(const ir::Binding& binding) const;
  /// Puts a block in the place of the binding.
  void splice(ir::Binding binding, BlockId block);
  void alias(ir::Binding binding);
  void visitOperator(ir::Binding binding);
  void visitIf(ir::Binding binding);
  void visitMatch(ir::Binding binding);
  void visitLambda(ir::Binding binding);
  void visitJump(ir::Binding binding);
  void dropKnownObligations(ir::Binding& binding);
  const Known* known(const Atom& atom) const;
  /// The value of a constant condition.
  std::optional<bool> boolOf(const Atom& atom) const;
  void learn(VarId var, Known known);

  ir::Module& module_;
  ir::Function& function_;
  ConstantPool& pool_;
  Features features_;
  PassContext& context_;
  Substitution substitution_;
  AliasTypes aliases_;
  std::vector<uint32_t> uses_;  // at the start
  std::vector<Frame> frames_;
  CommonOperators common_;
  std::unordered_map<VarId, Known> known_;
  std::vector<VarId> learned_;                          // the keys of known_, in order
  std::unordered_map<VarId, ir::Binding> inlineJoins_;  // joins with one jump, until it is met
  std::unordered_set<VarId> jumpedTo_;                  // joins with a jump that was put out
};

const Known* Simplifier::known(const Atom& atom) const {
  if (!atom.isVar()) return nullptr;
  auto at = known_.find(atom.var());
  return at == known_.end() ? nullptr : &at->second;
}

void Simplifier::learn(VarId var, Known known) {
  // What is known already is as good.
  if (known_.try_emplace(var, std::move(known)).second) learned_.push_back(var);
}

void Simplifier::enter(Child child) {
  Frame frame;
  frame.block = child.block;
  frame.loop = child.loop;
  frame.learnedBefore = learned_.size();
  frame.commonBefore = common_.mark();
  frames_.push_back(std::move(frame));
  queue(function_.block(child.block).bindings);
  if (child.fact) learn(child.fact->first, std::move(child.fact->second));
}

void Simplifier::leave() {
  Frame& frame = frames_.back();
  ir::Block& block = function_.block(frame.block);
  block.bindings = std::move(frame.out);
  block.result = substitution_.resolve(block.result);
  // What holds in the block only.
  for (; learned_.size() > frame.learnedBefore; learned_.pop_back()) known_.erase(learned_.back());
  common_.takeBack(frame.commonBefore);
  const VarId loop = frame.loop;
  frames_.pop_back();
  // The jumps that went round may have gone with a branch. Other jumps to it come later.
  if (loop != ir::kNoVar && !jumpedTo_.contains(loop)) {
    ir::Binding& binding = frames_.back().out.back();
    BATON_CHECK(binding.var == loop);
    std::get<ir::Lambda>(binding.rhs).isLoop = false;
  }
}

void Simplifier::queue(std::vector<ir::Binding>& bindings) {
  std::vector<ir::Binding>& pending = frames_.back().pending;
  pending.insert(pending.end(), std::make_move_iterator(bindings.rbegin()),
                 std::make_move_iterator(bindings.rend()));
  bindings.clear();
}

bool Simplifier::isTail(const ir::Binding& binding) const {
  const Frame& frame = frames_.back();
  return frame.pending.empty() && function_.block(frame.block).result == Atom(binding.var);
}

/// What is certain needs no check. (What is certain to fail stays, where it is reached.)
void Simplifier::dropKnownObligations(ir::Binding& binding) {
  std::erase_if(binding.obligations, [&](const ir::Obligation& obligation) {
    const DimExpr difference = aliases_.resolve(obligation.lhs) - aliases_.resolve(obligation.rhs);
    const std::optional<int64_t> constant = difference.asConstant();
    return constant && holds(obligation.relation, *constant, 0);
  });
}

void Simplifier::emit(ir::Binding binding) { frames_.back().out.push_back(std::move(binding)); }

void Simplifier::splice(ir::Binding binding, BlockId id) {
  Frame& frame = frames_.back();
  ir::Block& inner = function_.block(id);
  if (!binding.obligations.empty()) emit(checkOf(module_, function_, binding));
  if (isTail(binding)) {
    function_.block(frame.block).result = inner.result;
  } else {
    if (definesJoin(inner)) {
      // Its joins end with it, so it stays a block.
      emit({binding.var, ir::NestedBlock{id}, binding.location, {}});
      frame.children.push_back({id, std::nullopt});
      return;
    }
    frame.pending.push_back({binding.var, ir::AtomRhs{inner.result}, binding.location, {}});
  }
  queue(inner.bindings);
}

std::optional<bool> Simplifier::boolOf(const Atom& atom) const {
  if (!atom.isConstant()) return std::nullopt;
  const ir::Constant& constant = module_.constant(atom.constant());
  if (constant.dtype != DType::Bool || !constant.shape.empty() || constant.isExternal()) return std::nullopt;
  return constant.bytes.at(0) != std::byte{0};
}

void Simplifier::alias(ir::Binding binding) {
  const Atom atom = std::get<ir::AtomRhs>(binding.rhs).atom;
  if (binding.obligations.empty() && aliases_.unify(binding.var, atom)) {
    substitution_.set(binding.var, atom);
    return;
  }
  if (isTail(binding) && binding.obligations.empty()) {
    function_.block(frames_.back().block).result = atom;
    return;
  }
  if (const Known* same = known(atom)) learn(binding.var, Known(*same));
  // Typing may know a condition as an expression over extents, which the constant does not say.
  if (const std::optional<bool> condition = boolOf(atom))
    learn(binding.var, {.kind = Known::Kind::Bool, .value = *condition});
  emit(std::move(binding));
}

void Simplifier::visitOperator(ir::Binding binding) {
  if (features_.folds != nullptr) {
    if (std::optional<std::vector<Atom>> folded =
            foldOperator(module_, function_, binding, pool_, *features_.folds)) {
      if (function_.var(binding.var).type->isTuple())
        binding.rhs = ir::MakeTuple{std::move(*folded)};
      else
        binding.rhs = ir::AtomRhs{folded->front()};
      binding.obligations.clear();
      context_.count("operators folded");
      frames_.back().pending.push_back(std::move(binding));
      return;
    }
  }
  if (features_.sharesCommon) {
    if (const std::optional<VarId> earlier = common_.findOrAdd(binding)) {
      binding.obligations.clear();
      binding.rhs = ir::AtomRhs{*earlier};
      context_.count("operators shared");
      frames_.back().pending.push_back(std::move(binding));
      return;
    }
  }
  emit(std::move(binding));
}

void Simplifier::visitIf(ir::Binding binding) {
  const auto branch = std::get<ir::If>(binding.rhs);
  std::optional<bool> condition = boolOf(branch.condition);
  if (const Known* fact = known(branch.condition)) condition = fact->value;
  if (condition) {
    splice(std::move(binding), *condition ? branch.thenBlock : branch.elseBlock);
    return;
  }
  auto fact = [&](bool value) -> std::optional<std::pair<VarId, Known>> {
    if (!branch.condition.isVar()) return std::nullopt;
    return std::pair{branch.condition.var(), Known{.kind = Known::Kind::Bool, .value = value}};
  };
  emit(std::move(binding));
  frames_.back().children.push_back({branch.elseBlock, fact(false)});
  frames_.back().children.push_back({branch.thenBlock, fact(true)});
}

void Simplifier::visitMatch(ir::Binding binding) {
  const auto match = std::get<ir::Match>(binding.rhs);
  const Known* fact = known(match.scrutinee);
  if (fact != nullptr && fact->kind == Known::Kind::Data) {
    for (const ir::Clause& clause : match.clauses) {
      const ir::Pattern& pattern = function_.pattern(clause.pattern);
      if (pattern.kind == ir::Pattern::Kind::Tuple || pattern.kind == ir::Pattern::Kind::Var) break;
      if (pattern.kind == ir::Pattern::Kind::Constructor) {
        if (pattern.constructor.tag != fact->constructor.tag) continue;
        std::vector<ir::Binding> fields;
        bool isFlat = true;
        for (size_t i = 0; i < pattern.children.size(); ++i) {
          const ir::Pattern& child = function_.pattern(pattern.children[i]);
          if (child.kind == ir::Pattern::Kind::Wildcard) continue;
          isFlat = isFlat && child.kind == ir::Pattern::Kind::Var && fact->parts[i].has_value();
          if (isFlat) fields.push_back({child.var, ir::AtomRhs{*fact->parts[i]}, binding.location, {}});
        }
        if (!isFlat) break;
        splice(std::move(binding), clause.block);
        if (Frame& frame = frames_.back(); !frame.children.empty()) {
          // It became a nested block: the fields are bound before it.
          frame.pending.push_back(std::move(frame.out.back()));
          frame.out.pop_back();
          frame.children.clear();
        }
        queue(fields);
        return;
      }
      splice(std::move(binding), clause.block);  // a wildcard
      return;
    }
  }
  std::vector<Child> children;
  for (const ir::Clause& clause : match.clauses) {
    Child child{clause.block, std::nullopt};
    const ir::Pattern& pattern = function_.pattern(clause.pattern);
    if (match.scrutinee.isVar() && pattern.kind == ir::Pattern::Kind::Constructor) {
      Known inside{.kind = Known::Kind::Data, .constructor = pattern.constructor};
      for (ir::PatternId id : pattern.children) {
        const ir::Pattern& field = function_.pattern(id);
        inside.parts.push_back(field.kind == ir::Pattern::Kind::Var ? std::optional<Atom>(field.var)
                                                                    : std::nullopt);
      }
      child.fact = std::pair{match.scrutinee.var(), std::move(inside)};
    }
    children.push_back(std::move(child));
  }
  emit(std::move(binding));
  frames_.back().children.assign(std::make_move_iterator(children.rbegin()),
                                 std::make_move_iterator(children.rend()));
}

void Simplifier::visitLambda(ir::Binding binding) {
  const auto& lambda = std::get<ir::Lambda>(binding.rhs);
  if (lambda.isJoin && binding.var.value() < uses_.size()) {
    if (uses_[binding.var.value()] == 0) return;
    if (uses_[binding.var.value()] == 1 && !lambda.isLoop) {
      const VarId var = binding.var;
      inlineJoins_.emplace(var, std::move(binding));
      return;
    }
  }
  const BlockId body = lambda.body;
  const VarId loop = lambda.isLoop ? binding.var : ir::kNoVar;
  emit(std::move(binding));
  frames_.back().children.push_back({body, std::nullopt, loop});
}

void Simplifier::visitJump(ir::Binding binding) {
  auto at = inlineJoins_.find(std::get<ir::CallJoin>(binding.rhs).join);
  if (at == inlineJoins_.end() || !isTail(binding)) {
    BATON_CHECK(at == inlineJoins_.end());
    jumpedTo_.insert(std::get<ir::CallJoin>(binding.rhs).join);
    emit(std::move(binding));
    return;
  }
  const auto call = std::get<ir::CallJoin>(std::move(binding.rhs));
  const auto lambda = std::get<ir::Lambda>(std::move(at->second.rhs));
  inlineJoins_.erase(at);
  splice(std::move(binding), lambda.body);
  std::vector<ir::Binding>& pending = frames_.back().pending;
  for (size_t i = lambda.params.size(); i-- > 0;)
    pending.push_back(
        {lambda.params[i], ir::AtomRhs{call.args[i]}, function_.var(lambda.params[i]).location, {}});
}

void Simplifier::visit(ir::Binding binding) {
  substitution_.apply(binding.rhs);
  if (!binding.obligations.empty()) dropKnownObligations(binding);
  if (std::holds_alternative<ir::AtomRhs>(binding.rhs)) return alias(std::move(binding));
  if (std::holds_alternative<ir::CallOp>(binding.rhs)) return visitOperator(std::move(binding));
  if (std::holds_alternative<ir::If>(binding.rhs)) return visitIf(std::move(binding));
  if (std::holds_alternative<ir::Match>(binding.rhs)) return visitMatch(std::move(binding));
  if (std::holds_alternative<ir::Lambda>(binding.rhs)) return visitLambda(std::move(binding));
  if (std::holds_alternative<ir::CallJoin>(binding.rhs)) return visitJump(std::move(binding));
  if (const auto* nested = std::get_if<ir::NestedBlock>(&binding.rhs)) {
    const BlockId block = nested->block;
    return splice(std::move(binding), block);
  }
  if (const auto* project = std::get_if<ir::Project>(&binding.rhs)) {
    const Known* tuple = known(project->tuple);
    if (tuple != nullptr && tuple->kind == Known::Kind::Tuple) {
      binding.rhs = ir::AtomRhs{*tuple->parts[project->index]};
      return alias(std::move(binding));
    }
  } else if (const auto* tuple = std::get_if<ir::MakeTuple>(&binding.rhs)) {
    Known fact{.kind = Known::Kind::Tuple};
    fact.parts.assign(tuple->elements.begin(), tuple->elements.end());
    learn(binding.var, std::move(fact));
  } else if (const auto* construct = std::get_if<ir::Construct>(&binding.rhs)) {
    Known fact{.kind = Known::Kind::Data, .constructor = construct->constructor};
    fact.parts.assign(construct->args.begin(), construct->args.end());
    learn(binding.var, std::move(fact));
  } else if (auto* call = std::get_if<ir::CallValue>(&binding.rhs);
             call != nullptr && call->callee.isGlobal()) {
    ir::CallGlobal direct{call->callee.global(), std::move(call->args)};
    binding.rhs = std::move(direct);
  }
  emit(std::move(binding));
}

void Simplifier::run() {
  enter({function_.body, std::nullopt});
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (!frame.children.empty()) {
      Child child = std::move(frame.children.back());
      frame.children.pop_back();
      enter(std::move(child));
    } else if (!frame.pending.empty()) {
      ir::Binding binding = std::move(frame.pending.back());
      frame.pending.pop_back();
      visit(std::move(binding));
    } else {
      leave();
    }
  }
  aliases_.apply();
}

Result<void> runAll(ir::Module& module, PassContext& context, Features features) {
  ConstantPool pool(module);
  for (ir::Function& function : module.functions) {
    straightenTails(function);
    Simplifier(module, function, pool, features, context).run();
  }
  return success();
}

Result<void> propagate(ir::Module& module, PassContext& context) { return runAll(module, context, {}); }

Result<void> foldConstants(ir::Module& module, PassContext& context) {
  FoldLimits limits{context.option("max-bytes"), context.option("max-elements")};
  return runAll(module, context, {.folds = &limits});
}

Result<void> eliminateCommon(ir::Module& module, PassContext& context) {
  return runAll(module, context, {.sharesCommon = true});
}

constexpr PassOption kFoldConstantsOptions[] = {
    {"max-bytes", 4096, "bytes of the results of an operator whose operands have fewer"},
    {"max-elements", 100000000, "elements that operators read, make and multiply, over all"},
};

}  // namespace

constinit const PassInfo kPropagatePass{
    .name = "propagate",
    .summary = "aliases, known tuples, constructors and conditions",
    .documentation =
        R"(Walks a function once in program order and replaces aliases, fields of known tuples, clauses of known constructors (made above, or looked at by an enclosing match), branches of known conditions; puts joins with one jump and blocks without joins in line; calls functions of the module directly where they are called as values; drops obligations that hold for certain.

Two names for one value may differ in the symbols of their types: if a symbol gets its value from the alias alone, it becomes what the original says, everywhere, unless that is a large expression; otherwise the alias stays.)",
    .level = 1,
    .run = propagate,
};

constinit const PassInfo kFoldConstantsPass{
    .name = "fold-constants",
    .summary = "propagate, and run operators on constants",
    .documentation =
        R"(Is propagate, and runs operators on constants with their reference versions, and takes results whose elements typing knows as numbers. An operation that fails stays where it is, and a result that is larger than its operands is stored only if it is small.)",
    .level = 1,
    .options = kFoldConstantsOptions,
    .run = foldConstants,
};

constinit const PassInfo kEliminateCommonPass{
    .name = "eliminate-common",
    .summary = "propagate, and share operators with the same operands",
    .documentation =
        R"(Is propagate, and shares operators with the same operands, attributes and checks, where the first is in scope. Operators read no cells, so writes in between do not matter; what is computed in one branch is not shared with the other.)",
    .level = 2,
    .run = eliminateCommon,
};

}  // namespace baton::passes
