// Cases are split on the leftmost column of the matrix of patterns until the first row
// covers a case or no row is left (L. Maranget, "Warnings for pattern matching", 2007).
// Because columns are taken left to right, the choices on the way are the missing value in
// pre-order.
#include "compiler/types/match_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/walk.h"

namespace baton::types {
namespace {

/// A match whose cases are more than these is refused: it could not be compiled sensibly.
constexpr size_t kMaxSteps = 50000;
constexpr size_t kMaxShown = 5;

/// One choice: a constructor, a tuple, or anything.
struct Choice {
  std::optional<ir::ConstructorRef> constructor;
  size_t arity = 0;
  bool isTuple = false;
};

class MatchChecker {
 public:
  MatchChecker(const ir::Module& module, const ir::Function& function, const ir::Match& match)
      : module_(module), function_(function), isUsed_(match.clauses.size(), false) {
    Case all;
    all.columns = 1;
    for (size_t i = 0; i < match.clauses.size(); ++i) all.rows.push_back({i, {match.clauses[i].pattern}});
    work_.push_back(std::move(all));
    while (!work_.empty() && ++steps_ <= kMaxSteps) {
      Case next = std::move(work_.back());
      work_.pop_back();
      step(std::move(next));
    }
  }

  bool isTooComplex() const { return steps_ > kMaxSteps; }
  bool isUsed(size_t clause) const { return isUsed_[clause]; }
  const std::vector<std::string>& missing() const { return missing_; }
  size_t missingCount() const { return missingCount_; }

 private:
  /// Patterns still to be matched, the next one last; nothing: anything matches.
  struct Row {
    size_t clause;
    std::vector<std::optional<ir::PatternId>> patterns;
  };
  struct Case {
    std::vector<Row> rows;
    size_t columns = 0;
    std::vector<Choice> choices;
  };

  const ir::Pattern* patternOf(const Row& row) const {
    if (!row.patterns.back()) return nullptr;
    const ir::Pattern& pattern = function_.pattern(*row.patterns.back());
    bool matchesAnything =
        pattern.kind == ir::Pattern::Kind::Wildcard || pattern.kind == ir::Pattern::Kind::Var;
    return matchesAnything ? nullptr : &pattern;
  }

  bool coversAll(const Row& row) const {
    return std::all_of(row.patterns.begin(), row.patterns.end(), [&](const std::optional<ir::PatternId>& id) {
      if (!id) return true;
      ir::Pattern::Kind kind = function_.pattern(*id).kind;
      return kind == ir::Pattern::Kind::Wildcard || kind == ir::Pattern::Kind::Var;
    });
  }

  void step(Case now) {
    if (now.rows.empty()) {
      now.choices.resize(now.choices.size() + now.columns);
      if (missingCount_++ < kMaxShown) missing_.push_back(print(now.choices));
      return;
    }
    if (coversAll(now.rows[0])) {
      isUsed_[now.rows[0].clause] = true;
      return;
    }
    const ir::Pattern* splitter = nullptr;
    for (const Row& row : now.rows)
      if (splitter == nullptr) splitter = patternOf(row);
    if (splitter == nullptr) {
      for (Row& row : now.rows) row.patterns.pop_back();
      now.choices.emplace_back();
      --now.columns;
      work_.push_back(std::move(now));
      return;
    }
    if (splitter->kind == ir::Pattern::Kind::Tuple) {
      Choice tuple{std::nullopt, splitter->children.size(), true};
      work_.push_back(specialise(now, tuple));
      return;
    }
    const ir::TypeDef& definition = module_.typeDef(splitter->constructor.definition);
    // Pushed in reverse, so that cases come in the order of declaration.
    for (uint32_t tag = static_cast<uint32_t>(definition.constructors.size()); tag-- > 0;) {
      Choice choice{ir::ConstructorRef{splitter->constructor.definition, tag},
                    definition.constructors[tag].fields.size(), false};
      work_.push_back(specialise(now, choice));
    }
  }

  Case specialise(const Case& from, const Choice& choice) const {
    Case to;
    to.columns = from.columns - 1 + choice.arity;
    to.choices = from.choices;
    to.choices.push_back(choice);
    for (const Row& row : from.rows) {
      const ir::Pattern* pattern = patternOf(row);
      bool fits = pattern == nullptr || choice.isTuple || pattern->constructor == *choice.constructor;
      if (!fits) continue;
      Row copy = row;
      copy.patterns.pop_back();
      for (size_t i = choice.arity; i-- > 0;)
        copy.patterns.push_back(pattern == nullptr ? std::nullopt : std::optional(pattern->children[i]));
      to.rows.push_back(std::move(copy));
    }
    return to;
  }

  std::string print(const std::vector<Choice>& choices) const {
    std::string text;
    std::vector<size_t> open;  // values still to come inside each parenthesis
    for (const Choice& choice : choices) {
      if (choice.constructor) text += module_.constructor(*choice.constructor).name;
      if (!choice.constructor && !choice.isTuple) text += '_';
      if (choice.arity > 0 || choice.isTuple) text += '(';
      if (choice.arity > 0) {
        open.push_back(choice.arity);
        continue;
      }
      if (choice.isTuple) text += ')';
      while (!open.empty() && --open.back() == 0) {
        text += ')';
        open.pop_back();
      }
      if (!open.empty()) text += ", ";
    }
    return text;
  }

  const ir::Module& module_;
  const ir::Function& function_;
  std::vector<Case> work_;
  std::vector<bool> isUsed_;
  std::vector<std::string> missing_;
  size_t missingCount_ = 0;
  size_t steps_ = 0;
};

}  // namespace

void checkMatches(const ir::Module& module, frontend::Diagnostics& diagnostics) {
  for (const ir::Function& function : module.functions) {
    if (function.body == ir::kNoBlock) continue;
    for (ir::BlockId block : ir::blocksInOrder(function, function.body)) {
      for (const ir::Binding& binding : function.block(block).bindings) {
        const ir::Match* match = std::get_if<ir::Match>(&binding.rhs);
        if (match == nullptr) continue;
        MatchChecker checker(module, function, *match);
        if (checker.isTooComplex()) {
          diagnostics.error(binding.location, "match has too many cases to be checked");
          continue;
        }
        if (match->complete && checker.missingCount() > 0) {
          std::string missing = fmt::format("{}", fmt::join(checker.missing(), ", "));
          if (checker.missingCount() > checker.missing().size())
            missing += fmt::format(" and {} more", checker.missingCount() - checker.missing().size());
          diagnostics.error(binding.location, "match does not cover every case: missing " + missing);
        }
        for (size_t i = 0; i < match->clauses.size(); ++i)
          if (!checker.isUsed(i))
            diagnostics.warning(function.pattern(match->clauses[i].pattern).location,
                                "clause is never reached: earlier ones cover it");
      }
    }
  }
}

}  // namespace baton::types
