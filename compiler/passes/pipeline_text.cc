// The text form of pipelines, and those of the -O levels.
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "compiler/frontend/suggest.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

constexpr std::string_view kRepeat = "repeat";
constexpr std::string_view kRounds = "max-rounds";

// clang-format off: a line a stage
constexpr std::string_view kLevels[] = {
    "prepare, dead-functions, legalize, flatten-matches, contify, lift-lambdas, make-loops",

    "prepare, dead-functions, legalize, flatten-matches, "
    "propagate, reduce-eta, inline, propagate, dead-functions, "
    "contify, lift-lambdas, contify-groups, make-loops, dead-functions, "
    // Loops are no recursion any more, so functions that have them can be inlined.
    "propagate, inline, fold-constants, simplify-algebra, static-operands, fold-constants, dead-code, "
    "dead-functions",

    "prepare, dead-functions, legalize, flatten-matches, "
    "propagate, reduce-eta, inline, propagate, dead-functions, "
    "contify, known-calls, lift-lambdas, contify-groups, make-loops, dead-functions, "
    "propagate, inline, known-arguments, repeat(case-of-case, unbox, propagate, dead-code), "
    "fold-constants, evaluate-calls, simplify-algebra, static-operands, fold-constants, dead-code, "
    "hoist-invariants, distribute-loops, eliminate-common, dead-code, pack-weights, fuse, dead-functions",

    "prepare, dead-functions, legalize, flatten-matches, "
    // What is known early decides which functions are known where they are passed.
    "propagate, reduce-eta, inline, propagate, specialise-calls, dead-functions, "
    "contify, known-calls, lift-lambdas, contify-groups, make-loops, dead-functions, "
    "propagate, inline, known-arguments, repeat(case-of-case, unbox, propagate, dead-code), "
    "fold-constants, evaluate-calls, simplify-algebra, static-operands, fold-constants, dead-code, "
    "hoist-invariants, distribute-loops, eliminate-common, dead-code, pack-weights, fuse, dead-functions",
};
// clang-format on

class PipelineParser {
 public:
  explicit PipelineParser(std::string_view text) : text_(text) {}

  Result<Pipeline> run() {
    std::vector<PipelineStep> open;  // repetitions around what is being read
    Pipeline done;
    auto steps = [&]() -> Pipeline& { return open.empty() ? done : open.back().body; };
    skipSpace();
    bool expectsStep = at_ < text_.size();
    while (true) {
      // What is repeated may be nothing.
      const bool isEmpty = peek() == ')' && !open.empty() && steps().empty();
      if (expectsStep && !isEmpty) {
        const size_t start = at_;
        BATON_TRY_ASSIGN(const std::string_view name, word("a pass"));
        if (name == kRepeat) {
          BATON_TRY_ASSIGN(PipelineStep step, repetition(start, open.size()));
          open.push_back(std::move(step));
          continue;
        }
        BATON_TRY(addNamed(start, name, steps()));
      }
      expectsStep = false;
      if (peek() == ',') {
        ++at_;
        skipSpace();
        expectsStep = true;
      } else if (peek() == ')' && !open.empty()) {
        ++at_;
        skipSpace();
        PipelineStep step = std::move(open.back());
        open.pop_back();
        steps().push_back(std::move(step));
      } else {
        break;
      }
    }
    if (!open.empty()) return fail(at_, fmt::format("expected ',' or ')', found {}", found()));
    if (at_ < text_.size()) return fail(at_, fmt::format("expected ',' or the end, found {}", found()));
    return done;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string found() const { return at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end"; }
  void skipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  Error fail(size_t at, const std::string& message) const {
    // The line of the mistake, with a caret below.
    const size_t begin = at == 0 ? 0 : text_.substr(0, at).rfind('\n') + 1;
    const size_t end = std::min(text_.find('\n', begin), text_.size());
    std::string_view line = text_.substr(begin, end - begin);
    std::string blank(at - begin, ' ');
    for (size_t i = 0; i < blank.size(); ++i)
      if (line[i] == '\t') blank[i] = '\t';
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("passes, column {}: {}\n  {}\n  {}^", at - begin + 1, message, line, blank));
  }

  Result<std::string_view> word(std::string_view what) {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      ++at_;
    if (at_ == start) return fail(start, fmt::format("expected {}, found {}", what, found()));
    const std::string_view name = text_.substr(start, at_ - start);
    skipSpace();
    return name;
  }

  Result<void> expect(char c) {
    if (peek() != c) return fail(at_, fmt::format("expected '{}', found {}", c, found()));
    ++at_;
    skipSpace();
    return success();
  }

  /// What stands in braces, if anything does, over the defaults in `values`.
  Result<void> options(std::string_view owner, std::span<const PassOption> known,
                       std::vector<uint64_t>& values) {
    if (peek() != '{') return success();
    std::vector<bool> isSet(known.size(), false);
    do {
      ++at_;
      skipSpace();
      const size_t start = at_;
      BATON_TRY_ASSIGN(const std::string_view name, word("an option"));
      size_t index = 0;
      while (index < known.size() && known[index].name != name) ++index;
      if (index == known.size()) {
        frontend::NearestName nearest(name);
        for (const PassOption& option : known) nearest.consider(option.name);
        return fail(start, fmt::format("{} has no option '{}'{}", owner, name, nearest.text()));
      }
      if (isSet[index]) return fail(start, fmt::format("option '{}' is set twice", name));
      isSet[index] = true;
      BATON_TRY(expect('='));
      const size_t numberAt = at_;
      BATON_TRY_ASSIGN(const std::string_view number, word("a number"));
      const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), values[index]);
      if (status != std::errc() || end != number.data() + number.size())
        return fail(numberAt, fmt::format("expected a number, found '{}'", number));
    } while (peek() == ',');
    return expect('}');
  }

  /// What comes before the body of a repetition.
  Result<PipelineStep> repetition(size_t start, size_t depth) {
    if (depth == kMaxPipelineNesting)
      return fail(start, fmt::format("repetitions are nested more than {} deep", kMaxPipelineNesting));
    const PassOption known[] = {{kRounds, kDefaultRounds, ""}};
    std::vector<uint64_t> values{kDefaultRounds};
    BATON_TRY(options(kRepeat, known, values));
    BATON_TRY(expect('('));
    return PipelineStep{.maxRounds = values[0]};
  }

  Result<void> addNamed(size_t start, std::string_view name, Pipeline& steps) {
    if (name.size() == 2 && name[0] == 'O' && name[1] >= '0' && name[1] <= '3') {
      for (PipelineStep& step : pipelineOf(name[1] - '0')) steps.push_back(std::move(step));
      return success();
    }
    const PassInfo* pass = findPass(name);
    if (pass == nullptr) {
      frontend::NearestName nearest(name);
      nearest.consider(kRepeat);
      for (const PassInfo* each : allPasses()) nearest.consider(each->name);
      return fail(start, fmt::format("no pass named '{}'{}", name, nearest.text()));
    }
    PipelineStep step = stepOf(*pass);
    BATON_TRY(options(name, pass->options, step.options));
    steps.push_back(std::move(step));
    return success();
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<Pipeline> parsePipeline(std::string_view text) { return PipelineParser(text).run(); }

std::string print(const Pipeline& pipeline) {
  std::string text;
  for (const PipelineStep& step : pipeline) {
    if (!text.empty()) text += ", ";
    if (step.pass == nullptr) {
      text += kRepeat;
      if (step.maxRounds != kDefaultRounds) text += fmt::format("{{{}={}}}", kRounds, step.maxRounds);
      text += "(" + print(step.body) + ")";  // the nesting has a limit
      continue;
    }
    text += step.pass->name;
    std::string options;
    for (size_t i = 0; i < step.options.size(); ++i)
      if (step.options[i] != step.pass->options[i].defaultValue)
        options +=
            fmt::format("{}{}={}", options.empty() ? "" : ",", step.pass->options[i].name, step.options[i]);
    if (!options.empty()) text += "{" + options + "}";
  }
  return text;
}

std::string_view pipelineText(int level) {
  BATON_CHECK(level >= 0 && level <= 3);
  return kLevels[level];
}

Pipeline pipelineOf(int level) {
  Result<Pipeline> pipeline = parsePipeline(pipelineText(level));
  BATON_CHECK(pipeline.has_value());
  return std::move(pipeline).assume_value();
}

}  // namespace baton::passes
