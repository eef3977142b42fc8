#include "compiler/passes/document_passes.h"

#include <fmt/format.h>

#include "compiler/passes/pipeline.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

constexpr std::string_view kOpening = R"(# Passes

<!-- Made from the records of the passes: `vm-opt --document-passes > docs/passes.md`. -->

Between typing and the low-level form the compiler works on one representation: typed blocks of bindings (`compiler/ir`). A pass is a function over a module; it leaves a module that is well typed and means the same. [adding-a-pass.md](adding-a-pass.md) walks through one.

## What "means the same" is

The evaluator (`compiler/eval`) defines it: it walks the IR with the reference versions of the operators. Where it gives a value, every level gives that value, bit for bit (all NaNs are one). Where it fails, a level fails, too, or gives a value if only what does not matter failed. An operation that can fail may vanish where its result is not used or cannot change what is; none that can fail is made to run on a path that did not run it. Only cells have effects; writes stay and keep their order.

The evaluator also compares each value with the type of its variable: every extent that a type states, constant, symbolic or composite, is checked as the value is bound. A pass that claims too much is found by any program that gets there.

## Pipelines

What runs in which order is text, for `--passes` of `vm-compile` and `vm-opt` and for the levels alike:

| text | what |
|---|---|
| `inline` | a pass |
| `inline{max-bindings=10,max-size=500}` | a pass with options; they bound work and growth and never change what a program means |
| `propagate, inline` | one after the other |
| `repeat(propagate, inline)` | again while a round changes something, at most 3 times |
| `repeat{max-rounds=10}(propagate, inline)` | at most 10 times; repetitions may be nested, 8 deep |
| `O2` | all that `-O2` runs |

```sh
cat > twice.relay <<'END'
def @twice(%f: fn(int32) -> int32, %x: int32) -> int32 { %f(%f(%x)) }
def @main(%x: int32) -> int32 { @twice(fn (%y: int32) -> int32 { %y * 3 }, %x) }
END
vm-opt twice.relay --passes 'repeat(inline{max-bindings=8}, propagate), dead-functions'
vm-opt twice.relay -O3 --disable-pass inline --verify-each --time-passes --pass-counters
vm-opt twice.relay --print-before fuse --print-after inline,fuse
vm-compile twice.relay --passes 'O1, eliminate-common' --print-changed
vm-compile --list-passes
```

`--passes` runs a pipeline instead of that of a level. `--disable-pass` leaves a pass out. `--print-before`, `--print-after` and `--print-changed` show the program as passes see it, `--time-passes` shows the pipeline as a tree with times, `--pass-counters` what the passes did, and `--verify-each` holds the program against the rules of the IR after every pass and names the pass that broke one.

A pass may need that something holds of the module, which another pass brings about; a pipeline in which it does not is refused before anything runs:

```console
$ vm-opt twice.relay --passes 'propagate, fuse'
vm-opt: pass 'fuse' needs legal operators (legalize), flat matches (flatten-matches), joins (make-loops), lifted functions (lift-lambdas) before it
Run with --help for more information.
$ vm-opt twice.relay --passes 'propagate, inlin'
vm-opt: passes, column 12: no pass named 'inlin'; did you mean inline?
  propagate, inlin
             ^
Run with --help for more information.
```

)";

static_assert(kDefaultRounds == 3 && kMaxPipelineNesting == 8, "the opening names them");

std::string table(std::span<const PassOption> options) {
  std::string text = "| option | default | what |\n|---|---|---|\n";
  for (const PassOption& option : options)
    text += fmt::format("| `{}` | {} | {} |\n", option.name, option.defaultValue, option.documentation);
  return text;
}

std::string levelOf(const PassInfo& pass) {
  return pass.isMandatory() ? "mandatory" : fmt::format("from -O{}", pass.level);
}

}  // namespace

std::string documentPasses() {
  std::string text(kOpening);
  text += "| property | what holds |\n|---|---|\n";
  for (const PropertyName& each : propertyNames())
    text += fmt::format("| {} | {} |\n", each.name, each.meaning);
  text += fmt::format("\nLowering to the low-level form needs {}.\n\n", describe(kLoweringNeeds));
  text += "| level | pipeline |\n|---|---|\n";
  for (int level = 0; level <= 3; ++level)
    text += fmt::format("| -O{} | `{}` |\n", level, print(pipelineOf(level)));
  text += "\n## All passes\n\n";
  for (const PassInfo* pass : allPasses())
    text += fmt::format("* [{}](#{}): {}\n", pass->name, pass->name, pass->summary);
  for (const PassInfo* pass : allPasses()) {
    text += fmt::format("\n### {}\n\n{}; {}", pass->name, pass->summary, levelOf(*pass));
    if (pass->requires_ != Property::None) text += fmt::format("; needs {}", describe(pass->requires_));
    if (pass->establishes != Property::None)
      text += fmt::format("; establishes {}", describe(pass->establishes));
    const Property lost = without(Property::All, pass->preserves);
    if (!describe(lost).empty()) text += fmt::format("; does not preserve {}", describe(lost));
    text += fmt::format(".\n\n{}\n", pass->documentation);
    if (!pass->options.empty()) text.append("\n").append(table(pass->options));
  }
  return text;
}

std::string listPasses() {
  std::string text;
  for (const PassInfo* pass : allPasses())
    text += fmt::format("{:<20} {}  {}\n", pass->name,
                        pass->isMandatory() ? "always" : fmt::format("-O{}   ", pass->level), pass->summary);
  return text;
}

}  // namespace baton::passes
