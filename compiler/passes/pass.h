// What a pass is: a plain function over a module, and the record by which the pass
// manager, the commands and the documentation know it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"

namespace baton::passes {

/// What holds of a module; a set of bits. A pass names what it needs, what it brings
/// about, and what it leaves standing.
enum class Property : uint32_t {
  None = 0,
  FlatMatches = 1U << 0,  ///< clauses are constructors over variables and wildcards, or one last wildcard
  Joins = 1U << 1,        ///< local functions that are only tail-called are joins; self tail calls are loops
  Lifted = 1U << 2,       ///< a local function that is left escapes
  Fused = 1U << 3,        ///< fusion groups are functions with attribute Primitive
  Legal = 1U << 4,        ///< no operator is left that is written with others
  All = 0xffffffffU,
};
constexpr Property operator|(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr Property operator&(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}
constexpr Property without(Property a, Property b) {
  return static_cast<Property>(static_cast<uint32_t>(a) & ~static_cast<uint32_t>(b));
}
constexpr bool includes(Property all, Property some) { return (all & some) == some; }

/// How messages and the documentation call a property.
struct PropertyName {
  Property property;
  std::string_view name;  ///< "flat matches"
  std::string_view meaning;
};
std::span<const PropertyName> propertyNames();
/// "flat matches, joins".
std::string describe(Property properties);

/// What lowering to the low-level form starts from.
inline constexpr Property kLoweringNeeds =
    Property::Legal | Property::FlatMatches | Property::Joins | Property::Lifted;

/// A number that a pass takes: `inline{max-bindings=24}` in the text of a pipeline. Options
/// bound work and growth; they never change what a program means.
struct PassOption {
  std::string_view name;  ///< "max-bindings"
  uint64_t defaultValue = 0;
  std::string_view
      documentation;  ///< a phrase: "bindings of a function that is put in line wherever it is called"
};

struct PassInfo;

/// What passes did, by pass and event, over a whole run.
using PassCounters = std::map<std::pair<std::string_view, std::string_view>, uint64_t>;

/// What a pass gets besides the module.
struct PassContext {
  frontend::Diagnostics& diagnostics;
  PassCounters* counters = nullptr;        ///< null: nobody counts
  const PassInfo* pass = nullptr;          ///< that runs; set by runPass
  std::span<const uint64_t> options = {};  ///< of that pass, in the order of its record

  /// The value of an option of the pass that runs.
  uint64_t option(std::string_view name) const;
  /// Notes that something was done, for those who look on: "calls put in line".
  void count(std::string_view event, uint64_t times = 1);
};

/// Changes the module and leaves it well typed. What is wrong with the user's program goes
/// to the diagnostics (and the module is then of no use); a returned error is a defect.
using PassFunction = Result<void> (*)(ir::Module&, PassContext&);

/// Level of a pass that lowers and is not optional.
inline constexpr int kMandatory = 0;

/// The record of a pass. It stands beside the pass; passes.def lists them all.
struct PassInfo {
  std::string_view name;           ///< "flatten-matches"
  std::string_view summary;        ///< a phrase, for lists
  std::string_view documentation;  ///< paragraphs for docs/passes.md: what it does and what it does not do
  int level = kMandatory;          ///< lowest -O level that runs it
  Property requires_ = Property::None;
  Property establishes = Property::None;
  Property preserves = Property::All;
  std::span<const PassOption> options = {};
  PassFunction run = nullptr;
  bool isMandatory() const { return level == kMandatory; }
};

}  // namespace baton::passes
