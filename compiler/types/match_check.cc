// Cases are split on the leftmost column of the matrix of patterns until the first row
// covers a case or no row is left (L. Maranget, "Warnings for pattern matching", 2007).
// Because columns are taken left to right, the choices on the way are the missing value in
// pre-order.
#include "compiler/types/match_check.h"

#include <algorithm>
#include <map>
#include <numeric>
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

/// One choice: a tuple, anything, or a constructor out of a group. Those that no pattern
/// mentions make one group, whose fields are not looked at.
struct Choice {
  ir::TypeDefId definition;
  std::vector<uint32_t> tags;  ///< ascending
  size_t arity = 0;            ///< fields that are looked at, by the choices that follow
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
  /// The first ones, in the order in which constructors are declared.
  std::vector<std::string> missing() const {
    std::vector<Shown> shown;
    for (const std::vector<Choice>& choices : missing_) expand(choices, shown);
    std::sort(shown.begin(), shown.end());
    shown.resize(std::min(shown.size(), kMaxShown));
    std::vector<std::string> texts;
    for (const Shown& each : shown) texts.push_back(print(*each.choices, each.tags));
    return texts;
  }
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
      size_t count = 1;
      for (const Choice& choice : now.choices)
        if (choice.tags.size() > 1 && __builtin_mul_overflow(count, choice.tags.size(), &count))
          count = SIZE_MAX;
      if (__builtin_add_overflow(missingCount_, count, &missingCount_)) missingCount_ = SIZE_MAX;
      missing_.push_back(std::move(now.choices));
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
      std::vector<uint32_t> all(now.rows.size());
      std::iota(all.begin(), all.end(), 0);
      work_.push_back(specialise(now, {{}, {}, splitter->children.size(), true}, all));
      return;
    }
    const ir::TypeDefId id = splitter->constructor.definition;
    const ir::TypeDef& definition = module_.typeDef(id);
    // Rows that mention a constructor, with those that fit any; every row is sorted in once.
    std::map<uint32_t, std::vector<uint32_t>> byTag;
    std::vector<uint32_t> others;
    for (uint32_t i = 0; i < now.rows.size(); ++i) {
      if (const ir::Pattern* pattern = patternOf(now.rows[i])) {
        auto [at, isNew] = byTag.try_emplace(pattern->constructor.tag);
        if (isNew) at->second = others;
        at->second.push_back(i);
        continue;
      }
      others.push_back(i);
      for (auto& [tag, rows] : byTag) rows.push_back(i);
    }
    Choice rest{id, {}, 0, false};
    for (uint32_t tag = 0; tag < definition.constructors.size(); ++tag)
      if (!byTag.contains(tag)) rest.tags.push_back(tag);
    if (!rest.tags.empty()) work_.push_back(specialise(now, std::move(rest), others));
    for (const auto& [tag, rows] : byTag)
      work_.push_back(specialise(now, {id, {tag}, definition.constructors[tag].fields.size(), false}, rows));
  }

  Case specialise(const Case& from, Choice choice, const std::vector<uint32_t>& rows) const {
    Case to;
    to.columns = from.columns - 1 + choice.arity;
    to.choices = from.choices;
    for (uint32_t index : rows) {
      const ir::Pattern* pattern = patternOf(from.rows[index]);
      Row copy = from.rows[index];
      copy.patterns.pop_back();
      for (size_t i = choice.arity; i-- > 0;)
        copy.patterns.push_back(pattern == nullptr ? std::nullopt : std::optional(pattern->children[i]));
      to.rows.push_back(std::move(copy));
    }
    to.choices.push_back(std::move(choice));
    return to;
  }

  /// A missing case with a constructor taken from each group.
  struct Shown {
    std::vector<uint32_t> tags;  ///< by choice with constructors
    const std::vector<Choice>* choices;
    friend bool operator<(const Shown& a, const Shown& b) { return a.tags < b.tags; }
  };

  /// The first kMaxShown ways to take constructors from the groups.
  static void expand(const std::vector<Choice>& choices, std::vector<Shown>& out) {
    std::vector<const Choice*> groups;
    for (const Choice& choice : choices)
      if (!choice.tags.empty()) groups.push_back(&choice);
    std::vector<size_t> picked(groups.size(), 0);
    for (size_t count = 0; count < kMaxShown; ++count) {
      Shown shown{{}, &choices};
      for (size_t i = 0; i < groups.size(); ++i) shown.tags.push_back(groups[i]->tags[picked[i]]);
      out.push_back(std::move(shown));
      size_t i = groups.size();
      while (i > 0 && ++picked[i - 1] == groups[i - 1]->tags.size()) picked[--i] = 0;
      if (i == 0) return;
    }
  }

  std::string print(const std::vector<Choice>& choices, const std::vector<uint32_t>& tags) const {
    std::string text;
    std::vector<size_t> open;  // values still to come inside each parenthesis
    size_t next = 0;           // of tags
    for (const Choice& choice : choices) {
      size_t unseen = 0;  // fields of a constructor that no pattern mentions
      if (!choice.tags.empty()) {
        const ir::Constructor& constructor = module_.constructor({choice.definition, tags[next++]});
        text += constructor.name;
        unseen = constructor.fields.size() - choice.arity;
      } else if (!choice.isTuple) {
        text += '_';
      }
      for (size_t i = 0; i < unseen; ++i) text += i == 0 ? "(_" : ", _";
      if (unseen > 0) text += ')';
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
  std::vector<std::vector<Choice>> missing_;
  size_t missingCount_ = 0;
  size_t steps_ = 0;
};

}  // namespace

void checkMatches(const ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics) {
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (function.body == ir::kNoBlock) continue;
    for (ir::BlockId block : ir::blocksInOrder(function, function.body)) {
      for (const ir::Binding& binding : function.block(block).bindings) {
        const ir::Match* match = std::get_if<ir::Match>(&binding.rhs);
        if (match == nullptr) continue;
        if (match->clauses.empty() && structure.hasNoValues(ir::GlobalId(i), match->scrutinee)) continue;
        MatchChecker checker(module, function, *match);
        if (checker.isTooComplex()) {
          diagnostics.error(binding.location, "match has too many cases to be checked");
          continue;
        }
        if (match->complete && checker.missingCount() > 0) {
          const std::vector<std::string> shown = checker.missing();
          std::string missing = fmt::format("{}", fmt::join(shown, ", "));
          if (checker.missingCount() > shown.size())
            missing += fmt::format(" and {} more", checker.missingCount() - shown.size());
          diagnostics.error(binding.location, "match does not cover every case: missing " + missing);
        }
        for (size_t k = 0; k < match->clauses.size(); ++k)
          if (!checker.isUsed(k))
            diagnostics.warning(function.pattern(match->clauses[k].pattern).location,
                                "clause is never reached: earlier ones cover it");
      }
    }
  }
}

}  // namespace baton::types
