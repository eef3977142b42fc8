// What a pass is: a plain function over a module, and the record by which the pass
// manager, `vm-opt` and the documentation know it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Sizes at which passes stop. They bound work and growth, never meaning.
struct PassLimits {
  /// Nodes of the decision trees of one match.
  size_t maxMatchNodes = 100000;
  /// Bindings of a function that is inlined wherever it is called.
  size_t maxInlineBindings = 24;
  /// Bindings that inlining may add to one function.
  size_t maxInlineGrowth = 4000;
  /// Copies of functions for known arguments, in all.
  size_t maxCallCopies = 256;
  /// Bytes of the results of a folded operator, when its operands have fewer.
  size_t maxFoldedBytes = 4096;
  /// Evaluation steps for one folded call.
  uint64_t maxFoldSteps = 100000;
  /// Operators of one fused group.
  size_t maxGroupOps = 256;
};

struct PassContext {
  PassLimits limits;
  frontend::Diagnostics& diagnostics;
};

/// Changes the module and leaves it well typed. What is wrong with the user's program goes
/// to the diagnostics (and the module is then of no use); a returned error is a defect.
using PassFunction = Result<void> (*)(ir::Module&, PassContext&);

/// Level of a pass that lowers and is not optional.
inline constexpr int kMandatory = 0;

struct PassInfo {
  std::string_view name;  ///< "flatten-matches"
  std::string_view summary;
  int level = kMandatory;  ///< lowest -O level that runs it
  Property requires_ = Property::None;
  Property establishes = Property::None;
  Property preserves = Property::All;
  PassFunction run = nullptr;
  bool isMandatory() const { return level == kMandatory; }
};

}  // namespace baton::passes
