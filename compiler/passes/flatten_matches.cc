// Decision trees in the manner of Maranget ("Compiling Pattern Matching to Good Decision
// Trees", 2008): a node holds the clauses that may still apply as rows of tests yet to be
// made; it tests the first value that the first row needs, once, and each outcome is a
// node with the rows that agree with it. A row without tests is a leaf.

#include "compiler/passes/registry.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::PatternId;
using ir::VarId;

constexpr uint32_t kNone = UINT32_MAX;

/// A constructor pattern that is still to be tested against a value.
struct Test {
  Atom value;
  PatternId pattern;
};

struct Row {
  std::vector<Test> tests;
  uint32_t bound = kNone;  ///< newest of the variables bound on the way, into Tree::bounds_
  uint32_t clause = 0;
};

/// A pattern variable and the value that it stands for; a list through `previous`.
struct Bound {
  VarId var;
  Atom value;
  uint32_t previous;
};

struct Node {
  BlockId block;
  std::vector<Row> rows;
};

struct Leaf {
  BlockId block;
  uint32_t bound;
};

struct Replacement {
  std::vector<ir::Binding> bindings;
  /// The result of the block, where it is not the variable of the match any more.
  std::optional<Atom> result;
};

/// The decision tree of one match.
class Tree {
 public:
  Tree(ir::Module& module, ir::Function& function, PassContext& context, Substitution& substitution,
       ir::Binding match)
      : module_(module),
        function_(function),
        context_(context),
        substitution_(substitution),
        binding_(std::move(match)),
        match_(std::get<ir::Match>(binding_.rhs)),
        leaves_(match_.clauses.size()) {}

  /// What takes the place of the binding in its block. `isTail` says that the binding is
  /// the last one of its block and its result.
  Replacement build(bool isTail);

 private:
  void process(Node node);
  void addPattern(BlockId block, Row& row, Atom value, PatternId pattern);
  Atom project(BlockId block, Atom tuple, uint32_t index);
  void split(Node& node);
  VarId fieldVar(const std::vector<PatternId>& patterns, uint32_t index, ir::TypeRef type);
  void missing(const ir::TypeDef& definition, const std::vector<bool>& covered);
  std::vector<Bound> boundOf(uint32_t newest) const;
  void finishClause(uint32_t clause, std::vector<ir::Binding>& joins);
  ir::VarInfo resultInfo() const;

  ir::Module& module_;
  ir::Function& function_;
  PassContext& context_;
  Substitution& substitution_;
  ir::Binding binding_;
  ir::Match& match_;
  std::vector<Node> work_;
  std::vector<Bound> bounds_;
  std::vector<std::vector<Leaf>> leaves_;  ///< by clause
  /// Projections made in the block that is being worked on, by tuple and index.
  std::unordered_map<uint64_t, VarId> projections_;
};

ir::VarInfo Tree::resultInfo() const {
  const ir::VarInfo& result = function_.var(binding_.var);
  return {.name = result.name, .type = freshDims(module_, result.type), .location = result.location};
}

Atom Tree::project(BlockId block, Atom tuple, uint32_t index) {
  const uint64_t key = uint64_t{tuple.var().value()} << 32 | index;
  if (auto at = projections_.find(key); at != projections_.end()) return at->second;
  ir::TypeRef type = module_.typeOf(function_, tuple)->elements()[index];
  const VarId var =
      append(function_, block, {.name = fmt::format("p{}", index), .type = openDims(module_, type)},
             ir::Project{tuple, index}, binding_.location);
  projections_.emplace(key, var);
  return var;
}

/// Puts what `pattern` asks of `value` into the row: variables are bound, tuples opened,
/// constructors become tests.
void Tree::addPattern(BlockId block, Row& row, Atom value, PatternId root) {
  std::vector<Test> stack{{value, root}};
  while (!stack.empty()) {
    const Test test = stack.back();
    stack.pop_back();
    const ir::Pattern pattern = function_.pattern(test.pattern);
    switch (pattern.kind) {
      case ir::Pattern::Kind::Wildcard: break;
      case ir::Pattern::Kind::Var:
        bounds_.push_back({pattern.var, test.value, row.bound});
        row.bound = static_cast<uint32_t>(bounds_.size() - 1);
        break;
      case ir::Pattern::Kind::Constructor: row.tests.push_back(test); break;
      case ir::Pattern::Kind::Tuple:
        for (size_t i = pattern.children.size(); i-- > 0;) {
          if (function_.pattern(pattern.children[i]).kind == ir::Pattern::Kind::Wildcard) continue;
          stack.push_back({project(block, test.value, static_cast<uint32_t>(i)), pattern.children[i]});
        }
        break;
    }
  }
}

/// A variable for a field, typed and named after the first of the patterns for it that is a variable.
VarId Tree::fieldVar(const std::vector<PatternId>& patterns, uint32_t index, ir::TypeRef type) {
  for (PatternId pattern : patterns) {
    const ir::Pattern& child = function_.pattern(function_.pattern(pattern).children[index]);
    if (child.kind == ir::Pattern::Kind::Var) return function_.addVar(function_.var(child.var));
  }
  return function_.addVar({.name = fmt::format("f{}", index), .type = openDims(module_, type)});
}

void Tree::missing(const ir::TypeDef& definition, const std::vector<bool>& covered) {
  std::string list;
  for (size_t tag = 0; tag < covered.size(); ++tag)
    if (!covered[tag]) list += (list.empty() ? "" : ", ") + definition.constructors[tag].name;
  context_.diagnostics.error(
      binding_.location, fmt::format("match does not cover {} of {}; write match? if that is meant to fail",
                                     list, definition.name));
}

void Tree::split(Node& node) {
  const Atom value = node.rows.front().tests.front().value;
  const ir::TypeRef type = module_.typeOf(function_, value);
  BATON_CHECK(type->isAdt());
  const ir::TypeDefId definitionId = type->definition();
  const size_t constructorCount = module_.typeDef(definitionId).constructors.size();

  auto testOf = [&](const Row& row) {
    return std::find_if(row.tests.begin(), row.tests.end(),
                        [&](const Test& test) { return test.value == value; });
  };
  // The rows that each outcome agrees with, in order: each row is sorted in once.
  std::vector<bool> covered(constructorCount, false);
  std::map<uint32_t, std::vector<uint32_t>> byTag;
  std::vector<uint32_t> untested;
  for (uint32_t i = 0; i < node.rows.size(); ++i) {
    const auto at = testOf(node.rows[i]);
    if (at == node.rows[i].tests.end()) {
      untested.push_back(i);
      for (auto& [tag, rows] : byTag) rows.push_back(i);
      continue;
    }
    const uint32_t tag = function_.pattern(at->pattern).constructor.tag;
    auto [rows, isNew] = byTag.try_emplace(tag);
    if (isNew) rows->second = untested;
    rows->second.push_back(i);
    covered[tag] = true;
  }

  ir::Match flat{value, true, {}};
  std::vector<Node> children;
  for (const auto& [tag, rows] : byTag) {
    const std::vector<ir::TypeRef> fields = module_.fieldTypes(type, tag);
    std::vector<PatternId> patterns;  // that ask for the constructor
    for (uint32_t row : rows)
      if (auto at = testOf(node.rows[row]); at != node.rows[row].tests.end()) patterns.push_back(at->pattern);
    // A variable for each field that some row looks at.
    std::vector<VarId> fieldVars(fields.size(), ir::kNoVar);
    for (PatternId asking : patterns)
      for (uint32_t i = 0; i < fields.size(); ++i) {
        if (fieldVars[i] != ir::kNoVar) continue;
        if (function_.pattern(function_.pattern(asking).children[i]).kind == ir::Pattern::Kind::Wildcard)
          continue;
        fieldVars[i] = fieldVar(patterns, i, fields[i]);
      }
    ir::Pattern flatPattern{.kind = ir::Pattern::Kind::Constructor,
                            .constructor = {definitionId, tag},
                            .location = binding_.location};
    for (VarId var : fieldVars)
      flatPattern.children.push_back(
          function_.addPattern(var == ir::kNoVar ? ir::Pattern{.kind = ir::Pattern::Kind::Wildcard}
                                                 : ir::Pattern{.kind = ir::Pattern::Kind::Var, .var = var}));
    Node child{function_.addBlock(), {}};
    flat.clauses.push_back({function_.addPattern(std::move(flatPattern)), child.block});
    projections_.clear();
    for (uint32_t index : rows) {
      const Row& row = node.rows[index];
      auto at = testOf(row);
      if (at == row.tests.end()) {
        child.rows.push_back(row);
        continue;
      }
      const ir::Pattern pattern = function_.pattern(at->pattern);
      // The tests of the fields come where the test of the value stood.
      Row rest{{}, row.bound, row.clause};
      rest.tests.assign(row.tests.begin(), at);
      for (uint32_t i = 0; i < fields.size(); ++i)
        if (fieldVars[i] != ir::kNoVar) addPattern(child.block, rest, fieldVars[i], pattern.children[i]);
      rest.tests.insert(rest.tests.end(), at + 1, row.tests.end());
      child.rows.push_back(std::move(rest));
    }
    children.push_back(std::move(child));
  }
  if (std::find(covered.begin(), covered.end(), false) != covered.end()) {
    if (!untested.empty()) {
      Node child{function_.addBlock(), {}};
      for (uint32_t row : untested) child.rows.push_back(std::move(node.rows[row]));
      flat.clauses.push_back(
          {function_.addPattern({.kind = ir::Pattern::Kind::Wildcard, .location = binding_.location}),
           child.block});
      children.push_back(std::move(child));
    } else {
      if (match_.complete) missing(module_.typeDef(definitionId), covered);
      flat.complete = false;
    }
  }
  const VarId var = append(function_, node.block, resultInfo(), std::move(flat), binding_.location);
  function_.block(node.block).result = var;
  for (size_t i = children.size(); i-- > 0;) work_.push_back(std::move(children[i]));
}

void Tree::process(Node node) {
  const Row& first = node.rows.front();
  if (first.tests.empty())
    leaves_[first.clause].push_back({node.block, first.bound});
  else
    split(node);
}

std::vector<Bound> Tree::boundOf(uint32_t newest) const {
  std::vector<Bound> list;
  for (uint32_t i = newest; i != kNone; i = bounds_[i].previous) list.push_back(bounds_[i]);
  std::reverse(list.begin(), list.end());
  return list;
}

/// Gives the leaves of a clause its body: one leaf takes the block itself, several jump to
/// a join that has it.
void Tree::finishClause(uint32_t clause, std::vector<ir::Binding>& joins) {
  const std::vector<Leaf>& leaves = leaves_[clause];
  if (leaves.empty()) return;
  const BlockId body = match_.clauses[clause].block;
  if (leaves.size() == 1) {
    ir::Block& block = function_.block(leaves[0].block);
    for (const Bound& bound : boundOf(leaves[0].bound)) {
      const ir::VarInfo& info = function_.var(bound.var);
      const bool isSame = bound.value.isVar() && function_.var(bound.value.var()).type == info.type &&
                          function_.var(bound.value.var()).valueDims == info.valueDims;
      if (isSame)
        substitution_.set(bound.var, bound.value);
      else
        block.bindings.push_back({bound.var, ir::AtomRhs{bound.value}, info.location, {}});
    }
    ir::Block& from = function_.block(body);
    std::move(from.bindings.begin(), from.bindings.end(), std::back_inserter(block.bindings));
    from.bindings.clear();
    block.result = from.result;
    return;
  }
  // Every way to a clause binds all of its variables; the order of one is taken for all.
  ir::Lambda lambda;
  lambda.isJoin = true;
  lambda.body = body;
  for (const Bound& bound : boundOf(leaves[0].bound)) lambda.params.push_back(bound.var);
  const ir::TypeRef type = functionType(module_, function_, lambda.params, function_.var(binding_.var).type);
  const VarId join = function_.addVar({.name = fmt::format("clause{}", clause), .type = type});
  for (const Leaf& leaf : leaves) {
    std::unordered_map<VarId, Atom> values;
    for (const Bound& bound : boundOf(leaf.bound)) values.emplace(bound.var, bound.value);
    ir::CallJoin jump{join, {}};
    for (VarId param : lambda.params) jump.args.push_back(values.at(param));
    const VarId result = append(function_, leaf.block, resultInfo(), std::move(jump), binding_.location);
    function_.block(leaf.block).result = result;
  }
  joins.push_back({join, std::move(lambda), binding_.location, {}});
}

Replacement Tree::build(bool isTail) {
  const BlockId root = function_.addBlock();
  if (!match_.clauses.empty()) {
    Node node{root, {}};
    for (uint32_t clause = 0; clause < match_.clauses.size(); ++clause) {
      Row row{{}, kNone, clause};
      addPattern(root, row, match_.scrutinee, match_.clauses[clause].pattern);
      const bool isIrrefutable = row.tests.empty();
      node.rows.push_back(std::move(row));
      if (isIrrefutable) break;  // the clauses below are never reached
    }
    work_.push_back(std::move(node));
  } else {
    // Nothing to try: reaching it is an error, unless the type has no values at all.
    const ir::TypeRef type = module_.typeOf(function_, match_.scrutinee);
    const bool hasValues = !type->isAdt() || !module_.typeDef(type->definition()).constructors.empty();
    if (match_.complete && hasValues)
      context_.diagnostics.error(binding_.location,
                                 "match without clauses covers nothing; write match? if that is meant");
    const VarId var =
        append(function_, root, resultInfo(), ir::Match{match_.scrutinee, false, {}}, binding_.location);
    function_.block(root).result = var;
  }
  const uint64_t maxNodes = context_.option("max-nodes");
  uint64_t nodeCount = 0;
  while (!work_.empty()) {
    Node node = std::move(work_.back());
    work_.pop_back();
    if (++nodeCount > maxNodes) {
      context_.diagnostics.error(
          binding_.location,
          fmt::format("the patterns of this match need more than {} tests; split it in two", maxNodes));
      return {};
    }
    process(std::move(node));
  }

  std::vector<ir::Binding> joins;
  for (uint32_t clause = 0; clause < leaves_.size(); ++clause) finishClause(clause, joins);

  Replacement replacement;
  std::vector<ir::Binding>& bindings = replacement.bindings;
  if (!binding_.obligations.empty()) bindings.push_back(checkOf(module_, function_, binding_));
  std::move(joins.begin(), joins.end(), std::back_inserter(bindings));
  if (!isTail && !joins.empty()) {
    // Joins end with the block that defines them, so the match gets one of its own.
    std::vector<ir::Binding> inner(
        std::make_move_iterator(bindings.end() - static_cast<ptrdiff_t>(joins.size())),
        std::make_move_iterator(bindings.end()));
    bindings.resize(bindings.size() - joins.size());
    insert(function_.block(root), 0, std::move(inner));
    bindings.push_back({binding_.var, ir::NestedBlock{root}, binding_.location, {}});
    return replacement;
  }
  ir::Block& block = function_.block(root);
  std::move(block.bindings.begin(), block.bindings.end(), std::back_inserter(bindings));
  block.bindings.clear();
  const bool endsInMatch = !bindings.empty() && block.result == Atom(bindings.back().var) &&
                           std::holds_alternative<ir::Match>(bindings.back().rhs);
  if (endsInMatch)
    bindings.back().var = binding_.var;
  else if (isTail)
    replacement.result = block.result;
  else
    bindings.push_back({binding_.var, ir::AtomRhs{block.result}, binding_.location, {}});
  return replacement;
}

/// Whether the match already has the form that this pass makes.
bool isFlat(const ir::Module& module, const ir::Function& function, const ir::Match& match) {
  if (match.clauses.empty()) return !match.complete;
  std::vector<bool> covered;
  bool hasWildcard = false;
  for (const ir::Clause& clause : match.clauses) {
    if (hasWildcard) return false;
    const ir::Pattern& pattern = function.pattern(clause.pattern);
    if (pattern.kind == ir::Pattern::Kind::Wildcard) {
      hasWildcard = true;
      continue;
    }
    if (pattern.kind != ir::Pattern::Kind::Constructor) return false;
    covered.resize(module.typeDef(pattern.constructor.definition).constructors.size());
    if (covered[pattern.constructor.tag]) return false;
    covered[pattern.constructor.tag] = true;
    for (PatternId child : pattern.children) {
      const ir::Pattern::Kind kind = function.pattern(child).kind;
      if (kind != ir::Pattern::Kind::Var && kind != ir::Pattern::Kind::Wildcard) return false;
    }
  }
  if (covered.empty()) return false;  // a wildcard alone
  const bool coversAll = std::find(covered.begin(), covered.end(), false) == covered.end();
  if (hasWildcard) return match.complete && !coversAll;
  return match.complete == coversAll;
}

void flatten(ir::Module& module, ir::Function& function, PassContext& context) {
  Substitution substitution(function);
  std::vector<BlockId> work{function.body};
  while (!work.empty()) {
    const BlockId id = work.back();
    work.pop_back();
    std::vector<ir::Binding> pending = std::move(function.block(id).bindings);
    std::reverse(pending.begin(), pending.end());
    std::vector<ir::Binding> done;
    while (!pending.empty()) {
      ir::Binding binding = std::move(pending.back());
      pending.pop_back();
      const ir::Match* match = std::get_if<ir::Match>(&binding.rhs);
      if (match == nullptr || isFlat(module, function, *match)) {
        ir::forEachChildBlock(binding.rhs, [&](BlockId child) { work.push_back(child); });
        done.push_back(std::move(binding));
        continue;
      }
      const bool isTail = pending.empty() && function.block(id).result == Atom(binding.var);
      Replacement replacement =
          Tree(module, function, context, substitution, std::move(binding)).build(isTail);
      if (context.diagnostics.hasErrors()) return;
      std::move(replacement.bindings.rbegin(), replacement.bindings.rend(), std::back_inserter(pending));
      if (replacement.result) function.block(id).result = *replacement.result;
    }
    function.block(id).bindings = std::move(done);
  }
  substitution.apply(function);
}

Result<void> flattenMatches(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions) {
    flatten(module, function, context);
    if (context.diagnostics.hasErrors()) break;
  }
  return success();
}

constexpr PassOption kFlattenMatchesOptions[] = {
    {"max-nodes", 100000, "nodes of the decision trees of one match; a match that needs more is refused"},
};

}  // namespace

constinit const PassInfo kFlattenMatchesPass{
    .name = "flatten-matches",
    .summary = "nested patterns to decision trees of flat matches",
    .documentation =
        R"(Compiles nested patterns to decision trees (Maranget 2008): a node holds the clauses that may still apply as rows of outstanding tests, tests the first value that the first row needs, once, and splits, so a tag is looked at once on any path. Tuples are opened with projections. A clause that several leaves lead to becomes a join whose parameters are its variables.

A match that says it is complete and is not is refused with the missing constructors; `match?` stays incomplete exactly where it can fail. Clauses are tried in the order of the text.)",
    .establishes = Property::FlatMatches,
    .options = kFlattenMatchesOptions,
    .run = flattenMatches,
};

}  // namespace baton::passes
