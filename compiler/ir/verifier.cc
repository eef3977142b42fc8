// Form and scopes; types are in verify_types.cc.
#include "compiler/ir/verifier.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/ir/verify_types.h"
#include "compiler/ir/walk.h"

namespace baton::ir {
namespace {

constexpr std::string_view kRules[] = {
    "index",        // indices lie inside their arenas
    "tree",         // every block and pattern is used once, and blocks do not contain themselves
    "bound-once",   // every variable is bound in one place
    "scope",        // uses stand where the variable is bound
    "operands",     // numbers of operands fit operators, functions and constructors
    "attributes",   // operators have the attributes of their schema
    "join-value",   // a join is only called, by CallJoin, and CallJoin calls joins
    "join-tail",    // a join is called in tail position of the block that defines it
    "join-loop",    // a join is a loop exactly if its body calls it
    "specialised",  // no type parameters are left
    "types",        // types of operands and results agree, extents aside
    "dims",         // every symbol of a type gets its value from a variable in scope
};

class FunctionVerifier {
 public:
  FunctionVerifier(Module& module, const Function& function) : module_(module), function_(function) {}

  Result<void> run() {
    if (!isBlock(function_.body)) return fail("index", "the body is no block of the function");
    blockUses_.assign(function_.blocks.size(), 0);
    patternUses_.assign(function_.patterns.size(), 0);
    boundCount_.assign(function_.vars.size(), 0);
    inScope_.assign(function_.vars.size(), false);
    // Indices and the tree first: walks rely on both.
    BATON_TRY(checkTree());
    for (VarId param : function_.params) BATON_TRY(bind(param));
    for (VarId param : function_.params) inScope_[param.value()] = true;
    return checkScopes();
  }

 private:
  Error fail(std::string_view rule, const std::string& message) const {
    return Error(ErrorCode::VerifyFailed, fmt::format("{}: @{}: {}", rule, function_.name, message));
  }
  std::string nameOf(VarId var) const {
    const std::string& name = function_.var(var).name;
    return name.empty() ? fmt::format("%<{}>", var.value()) : "%" + name;
  }
  bool isBlock(BlockId id) const { return id.value() < function_.blocks.size(); }
  bool isVar(VarId id) const { return id.value() < function_.vars.size(); }

  Result<void> checkAtom(const Atom& atom) const {
    bool isValid = atom.isVar()        ? isVar(atom.var())
                   : atom.isConstant() ? atom.constant().value() < module_.constants.size()
                                       : atom.global().value() < module_.functions.size();
    if (!isValid) return fail("index", "an operand names nothing that exists");
    return success();
  }

  Result<void> checkPattern(PatternId root) {
    std::vector<PatternId> stack{root};
    while (!stack.empty()) {
      PatternId id = stack.back();
      stack.pop_back();
      if (id.value() >= function_.patterns.size()) return fail("index", "a pattern does not exist");
      if (++patternUses_[id.value()] > 1) return fail("tree", "a pattern is used twice");
      const Pattern& pattern = function_.pattern(id);
      if (pattern.kind == Pattern::Kind::Var && !isVar(pattern.var))
        return fail("index", "a pattern binds a variable that does not exist");
      if (pattern.kind == Pattern::Kind::Constructor) {
        BATON_TRY(checkConstructor(pattern.constructor, pattern.children.size()));
      }
      stack.insert(stack.end(), pattern.children.begin(), pattern.children.end());
    }
    return success();
  }

  Result<void> checkConstructor(ConstructorRef ref, size_t count) const {
    if (ref.definition.value() >= module_.typeDefs.size() ||
        ref.tag >= module_.typeDef(ref.definition).constructors.size())
      return fail("index", "a constructor does not exist");
    const Constructor& constructor = module_.constructor(ref);
    if (constructor.fields.size() != count)
      return fail("operands", fmt::format("constructor {} has {} fields, found {}", constructor.name,
                                          constructor.fields.size(), count));
    return success();
  }

  Result<void> checkTree() {
    for (VarId param : function_.params)
      if (!isVar(param)) return fail("index", "a parameter does not exist");
    std::vector<BlockId> stack{function_.body};
    while (!stack.empty()) {
      BlockId id = stack.back();
      stack.pop_back();
      if (!isBlock(id)) return fail("index", "a block does not exist");
      if (++blockUses_[id.value()] > 1)
        return fail("tree", fmt::format("block {} is used twice", id.value()));
      for (const Binding& binding : function_.block(id).bindings) {
        if (!isVar(binding.var)) return fail("index", "a binding has a variable that does not exist");
        BATON_TRY(checkRhs(binding));
        forEachChildBlock(binding.rhs, [&](BlockId child) { stack.push_back(child); });
      }
      BATON_TRY(checkAtom(function_.block(id).result));
    }
    return success();
  }

  Result<void> checkRhs(const Binding& binding) {
    std::vector<Atom> operands;
    forEachOperand(binding.rhs, [&](const Atom& atom) { operands.push_back(atom); });
    for (const Atom& atom : operands) BATON_TRY(checkAtom(atom));
    if (const CallOp* call = std::get_if<CallOp>(&binding.rhs)) return checkOperator(*call);
    if (const CallGlobal* call = std::get_if<CallGlobal>(&binding.rhs)) {
      if (call->callee.value() >= module_.functions.size())
        return fail("index", "a called function does not exist");
      const Function& callee = module_.function(call->callee);
      if (callee.params.size() != call->args.size())
        return fail("operands", fmt::format("@{} takes {} arguments, found {}", callee.name,
                                            callee.params.size(), call->args.size()));
    }
    if (const ArrayOp* array = std::get_if<ArrayOp>(&binding.rhs)) {
      const ArrayOperationInfo& info = infoOf(array->operation);
      if (array->args.size() != info.operandCount)
        return fail("operands", fmt::format("{} takes {} arguments, found {}", info.name, info.operandCount,
                                            array->args.size()));
    }
    if (const CallJoin* jump = std::get_if<CallJoin>(&binding.rhs))
      if (!isVar(jump->join)) return fail("index", "a called join does not exist");
    if (const Construct* made = std::get_if<Construct>(&binding.rhs))
      return checkConstructor(made->constructor, made->args.size());
    if (const Match* match = std::get_if<Match>(&binding.rhs))
      for (const Clause& clause : match->clauses) BATON_TRY(checkPattern(clause.pattern));
    if (const Lambda* lambda = std::get_if<Lambda>(&binding.rhs))
      for (VarId param : lambda->params)
        if (!isVar(param)) return fail("index", "a parameter does not exist");
    return success();
  }

  Result<void> checkOperator(const CallOp& call) const {
    if (call.op == nullptr) return fail("index", "a call of no operator");
    const std::vector<ops::InputSpec>& inputs = call.op->inputs;
    size_t required = 0;
    for (const ops::InputSpec& input : inputs) required += input.isOptional || input.isList ? 0 : 1;
    bool hasList = !inputs.empty() && inputs.back().isList;
    if (call.args.size() < required || (!hasList && call.args.size() > inputs.size()))
      return fail("operands", fmt::format("{} cannot take {} inputs", call.op->name, call.args.size()));
    for (const ops::AttrSpec& spec : call.op->attrs)
      if (call.attrs.find(spec.name) == nullptr)
        return fail("attributes", fmt::format("{} lacks {}", call.op->name, spec.name));
    if (call.attrs.entries().size() != call.op->attrs.size())
      return fail("attributes", fmt::format("{} has {} attributes, found {}", call.op->name,
                                            call.op->attrs.size(), call.attrs.entries().size()));
    return success();
  }

  Result<void> bind(VarId var) {
    if (++boundCount_[var.value()] > 1) return fail("bound-once", nameOf(var) + " is bound twice");
    return success();
  }

  Result<void> use(const Atom& atom, BlockId where) const {
    if (!atom.isVar()) return success();
    if (joins_.contains(atom.var()))
      return fail("join-value", nameOf(atom.var()) + " is a join and is used as a value");
    if (!inScope_[atom.var().value()])
      return fail("scope", fmt::format("{} is used in block {}, where it is not bound", nameOf(atom.var()),
                                       where.value()));
    return success();
  }

  /// A jump may leave blocks only where they are the last thing of what holds them, up to
  /// the block that defines the join.
  Result<void> checkJump(const CallJoin& jump, BlockId block, size_t index, VarId var) {
    auto join = joins_.find(jump.join);
    if (join == joins_.end())
      return fail("join-value", nameOf(jump.join) + " is called as a join and is none");
    if (!inScope_[jump.join.value()])
      return fail("scope", nameOf(jump.join) + " is called where it is not bound");
    if (join->second.lambda->params.size() != jump.args.size())
      return fail("operands", fmt::format("{} takes {} arguments, found {}", nameOf(jump.join),
                                          join->second.lambda->params.size(), jump.args.size()));
    auto isTail = [&](BlockId in, size_t at, VarId result) {
      const Block& body = function_.block(in);
      return at + 1 == body.bindings.size() && body.result == Atom(result);
    };
    Error notTail =
        fail("join-tail", fmt::format("{} is not called in tail position of its block", nameOf(jump.join)));
    for (size_t depth = open_.size(); depth-- > 0;) {
      if (!isTail(block, index, var)) return notTail;
      if (block == join->second.home) return success();
      if (depth == 0) break;
      const OpenBlock& child = open_[depth];
      const Binding& holder = function_.block(child.parent).bindings[child.binding];
      block = child.parent;
      index = child.binding;
      var = holder.var;
      const Lambda* lambda = std::get_if<Lambda>(&holder.rhs);
      if (std::holds_alternative<NestedBlock>(holder.rhs) || (lambda != nullptr && !lambda->isJoin))
        return notTail;
      if (lambda == nullptr) continue;
      // The end of a join's body is the end of the block that defines the join.
      if (block == join->second.home) return success();
      index = function_.block(block).bindings.size() - 1;
      const Atom& result = function_.block(block).result;
      if (!result.isVar() || function_.block(block).bindings[index].var != result.var()) return notTail;
      var = result.var();
    }
    return notTail;
  }

  Result<void> checkScopes() {
    Result<void> outcome = success();
    auto check = [&](Result<void> result) {
      if (outcome.has_value() && !result.has_value()) outcome = std::move(result);
    };
    std::vector<std::vector<VarId>> bound;  // by open block, to be taken out of scope
    std::vector<VarId> waiting;             // of the child block that is entered next
    auto enterScope = [&](VarId var) {
      inScope_[var.value()] = true;
      bound.back().push_back(var);
    };
    OpenBlock next{kNoBlock, 0};
    WalkCallbacks callbacks;
    callbacks.enterBlock = [&](BlockId) {
      open_.push_back(next);
      bound.emplace_back();
      for (VarId var : waiting) enterScope(var);
      waiting.clear();
    };
    callbacks.enterBinding = [&](BlockId block, size_t index) {
      if (!outcome.has_value()) return false;
      const Binding& binding = function_.block(block).bindings[index];
      check(bind(binding.var));
      forEachOperand(binding.rhs, [&](const Atom& atom) { check(use(atom, block)); });
      if (const CallJoin* jump = std::get_if<CallJoin>(&binding.rhs)) {
        check(checkJump(*jump, block, index, binding.var));
        auto join = joins_.find(jump->join);
        if (join != joins_.end() && openJoins_.contains(jump->join)) join->second.callsItself = true;
      }
      if (const Lambda* lambda = std::get_if<Lambda>(&binding.rhs)) {
        if (lambda->isJoin) {
          joins_.emplace(binding.var, Join{lambda, block, false});
          openJoins_.insert(binding.var);
        }
        for (VarId param : lambda->params) check(bind(param));
        enterScope(binding.var);  // a local function may call itself
      }
      if (const Match* match = std::get_if<Match>(&binding.rhs))
        for (const Clause& clause : match->clauses)
          forEachPatternVar(function_, clause.pattern, [&](VarId var) { check(bind(var)); });
      return outcome.has_value();
    };
    callbacks.enterChild = [&](BlockId block, size_t index, size_t child, BlockId) {
      const Rhs& rhs = function_.block(block).bindings[index].rhs;
      next = {block, index};
      if (const Lambda* lambda = std::get_if<Lambda>(&rhs)) waiting = lambda->params;
      if (const Match* match = std::get_if<Match>(&rhs))
        forEachPatternVar(function_, match->clauses[child].pattern,
                          [&](VarId var) { waiting.push_back(var); });
    };
    callbacks.leaveBinding = [&](BlockId block, size_t index) {
      const Binding& binding = function_.block(block).bindings[index];
      if (const Lambda* lambda = std::get_if<Lambda>(&binding.rhs)) {
        openJoins_.erase(binding.var);
        auto join = joins_.find(binding.var);
        if (join != joins_.end() && join->second.callsItself != lambda->isLoop)
          check(fail("join-loop", fmt::format("{} {}", nameOf(binding.var),
                                              lambda->isLoop ? "does not call itself but is a loop"
                                                             : "calls itself but is no loop")));
        return;
      }
      enterScope(binding.var);
    };
    callbacks.leaveBlock = [&](BlockId block) {
      if (outcome.has_value()) check(use(function_.block(block).result, block));
      for (VarId var : bound.back()) inScope_[var.value()] = false;
      bound.pop_back();
      open_.pop_back();
    };
    walk(function_, function_.body, callbacks);
    return outcome;
  }

  struct Join {
    const Lambda* lambda;
    BlockId home;
    bool callsItself;
  };
  struct OpenBlock {
    BlockId parent;
    size_t binding;
  };

  Module& module_;
  const Function& function_;
  std::vector<uint32_t> blockUses_;
  std::vector<uint32_t> patternUses_;
  std::vector<uint32_t> boundCount_;
  std::vector<bool> inScope_;
  std::unordered_map<VarId, Join> joins_;
  std::unordered_set<VarId> openJoins_;
  std::vector<OpenBlock> open_;
};

}  // namespace

std::span<const std::string_view> verifierRules() { return kRules; }

Result<void> verify(Module& module, const VerifyOptions& options) {
  for (const Function& function : module.functions) BATON_TRY(FunctionVerifier(module, function).run());
  if (!options.isTyped) return success();
  for (const Function& function : module.functions) {
    BATON_TRY(verifyTypes(module, function));
    BATON_TRY(verifyDims(module, function));
  }
  return success();
}

}  // namespace baton::ir
