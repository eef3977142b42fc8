// Symbolic dims: extents as expressions over symbols, in a normal form in which equal
// expressions have equal representations. A DimExpr is a sum of products of symbols and
// opaque terms (floor_div, floor_mod, ceil_div, min, max), with int64 coefficients.
// ceil_div by a constant is kept as the floor_div that equals it, and printed as ceil_div.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strong_index.h"

namespace baton {

struct DimSymbolTag;
/// A symbol; what its number means (and its name) is its owner's affair.
using DimSymbol = StrongIndex<DimSymbolTag>;

enum class DimOp : uint8_t {
  FloorDiv = 0,
  FloorMod = 1,
  CeilDiv = 2,
  Min = 3,
  Max = 4,
  /// Stands for an operation that was not kept: its coefficients exceed int64, or it exceeds
  /// the limits below. The operands are constants that fingerprint what it was; evaluation
  /// is an error. Who meets one (`isTooLarge`) takes a fresh symbol or reports it.
  TooLarge = 5,
};

/// Opaque terms within opaque terms: what bounds recursion over expressions.
inline constexpr uint32_t kMaxDimDepth = 64;
/// Terms and factors of an expression, opaque operands included.
inline constexpr uint32_t kMaxDimSize = 4096;

struct DimOpaque;

/// An immutable value; copying shares, and is safe between threads. Arithmetic whose
/// coefficients would overflow int64, or whose result would exceed the limits above, gives
/// a DimOp::TooLarge term, and evaluation then reports it.
class DimExpr {
 public:
  struct Factor;
  struct Term;
  struct Rep;  ///< private to dim*.cc

  DimExpr() = default;  ///< zero
  static DimExpr constant(int64_t value);
  static DimExpr symbol(DimSymbol symbol);
  static DimExpr opaque(DimOp op, const DimExpr& a, const DimExpr& b);  ///< simplifies where it can

  std::optional<int64_t> asConstant() const;
  /// The symbol, when the expression is one symbol and nothing else.
  std::optional<DimSymbol> asSymbol() const;
  bool isConstant() const { return asConstant().has_value(); }
  bool isZero() const { return rep_ == nullptr; }
  /// Whether a DimOp::TooLarge is anywhere inside.
  bool isTooLarge() const;

  friend DimExpr operator+(const DimExpr& a, const DimExpr& b);
  friend DimExpr operator-(const DimExpr& a, const DimExpr& b);
  friend DimExpr operator*(const DimExpr& a, const DimExpr& b);
  /// Structural, which in normal form is equality for every value of the symbols
  /// (the converse does not hold for opaque terms).
  friend bool operator==(const DimExpr& a, const DimExpr& b);
  friend std::strong_ordering operator<=>(const DimExpr& a, const DimExpr& b);
  size_t hash() const;

  /// One factor of a product: a symbol (opaque == nullptr) or an opaque operation.
  struct Factor {
    DimSymbol symbol;
    std::shared_ptr<const DimOpaque> opaque;
  };
  struct Term {
    int64_t coefficient;
    std::vector<Factor> factors;  ///< sorted; empty for the constant term
  };
  /// Sorted, no two with equal factors, no zero coefficients.
  std::span<const Term> terms() const;

  /// The operation, when the expression is one opaque term and nothing else.
  const DimOpaque* asOpaque() const;

  /// Appends the symbols that `out` lacks, in order of appearance, opaque terms included.
  void collectSymbols(std::vector<DimSymbol>& out) const;
  /// Replaces symbols; `f` returns nothing to leave one alone.
  DimExpr substitute(const std::function<std::optional<DimExpr>(DimSymbol)>& f) const;
  /// Value under an assignment; an error when it exceeds int64 (what lies between is exact),
  /// on division by zero and for an unknown symbol.
  Result<int64_t> evaluate(const std::function<std::optional<int64_t>(DimSymbol)>& f) const;
  /// As in program text: "4*m + 2", "floor_div(n, 2)"; a sum of negative terms alone begins
  /// with a minus ("-n - 2").
  std::string print(const std::function<std::string(DimSymbol)>& name) const;

 private:
  std::shared_ptr<const Rep> rep_;  // null: zero
  friend struct DimNormaliser;
};

struct DimOpaque {
  DimOp op;
  DimExpr a, b;
};

inline DimExpr floorDiv(const DimExpr& a, const DimExpr& b) { return DimExpr::opaque(DimOp::FloorDiv, a, b); }
inline DimExpr floorMod(const DimExpr& a, const DimExpr& b) { return DimExpr::opaque(DimOp::FloorMod, a, b); }
inline DimExpr ceilDiv(const DimExpr& a, const DimExpr& b) { return DimExpr::opaque(DimOp::CeilDiv, a, b); }
inline DimExpr min(const DimExpr& a, const DimExpr& b) { return DimExpr::opaque(DimOp::Min, a, b); }
inline DimExpr max(const DimExpr& a, const DimExpr& b) { return DimExpr::opaque(DimOp::Max, a, b); }

/// What a nest of one operation, as min(a, min(b, c)), is made of, sorted; the expression itself
/// when it is none.
std::vector<DimExpr> operandsOf(DimOp op, const DimExpr& expr);

const char* dimOpName(DimOp op);  ///< "floor_div"
/// The operation on numbers; nothing on division by zero or overflow.
std::optional<int64_t> applyDimOp(DimOp op, int64_t a, int64_t b);

enum class Relation : uint8_t { Eq = 0, Ne = 1, Lt = 2, Le = 3, Gt = 4, Ge = 5 };
const char* relationName(Relation relation);  ///< "=="
bool holds(Relation relation, int64_t a, int64_t b);

/// `lhs relation rhs`, as written after `where`.
struct DimConstraint {
  DimExpr lhs;
  Relation relation = Relation::Eq;
  DimExpr rhs;
  friend bool operator==(const DimConstraint&, const DimConstraint&) = default;
};

enum class Truth : uint8_t { False, True, Unknown };

/// Closed interval; int64 limits mean "no bound".
struct DimRange {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  friend bool operator==(const DimRange&, const DimRange&) = default;
};

/// What is known of symbols: ranges (an extent symbol is >= 0), equalities, divisibility, and
/// inequalities between expressions. Decides equality and order of expressions, or says that
/// it is unknown; never guesses. All statements are about the assignments under which the
/// constraints hold and both sides have a value (see evaluate). A value; copies are independent.
/// What a constraint or a question costs depends on what is known of the symbols in it, not on
/// how much is known in all.
class DimKnowledge {
 public:
  /// Declares an extent: it is >= 0. Declarations hold whatever is taken back.
  void addExtent(DimSymbol symbol) { declare(symbol, {0, INT64_MAX}); }
  /// Declares all values that a new symbol may have.
  void declare(DimSymbol symbol, DimRange range);
  /// Takes a constraint as given. An error (ProgramError) when it contradicts what is known;
  /// the knowledge is then unchanged. That no error comes does not prove that it can hold.
  Result<void> assume(const DimConstraint& constraint);
  DimRange rangeOf(const DimExpr& expr) const;
  /// The expression with known equalities substituted and with operations that the knowledge
  /// decides resolved: equal wherever the constraints hold.
  DimExpr canonical(const DimExpr& expr) const;
  Truth decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const;

  /// A point to return to, before or at which the knowledge is then: constraints that were
  /// assumed since are taken back, the last one first.
  using Mark = size_t;
  Mark mark() const { return log_.size(); }
  void rollback(Mark mark);

 private:
  friend class DimProver;
  friend class DimAssumption;

  /// What is known of a symbol, or of an opaque term that has canonical operands.
  struct AtomFacts {
    DimExpr::Factor atom;
    DimRange declared;    ///< of a symbol; never taken back
    DimRange range;       ///< within `declared`
    int64_t modulus = 1;  ///< the value is `residue` modulo this
    int64_t residue = 0;
    std::optional<DimExpr> equals;
  };
  struct Fact {
    enum class Kind : uint8_t { NonNegative, NonZero };
    Kind kind = Kind::NonNegative;
    DimExpr expr;  ///< is >= 0, or != 0
    bool holds = true;
  };
  /// How to take back a step.
  struct Step {
    enum class Kind : uint8_t { ChangedAtom, AddedFact, DroppedFact };
    Kind kind;
    uint32_t index;
  };
  struct AtomHash {
    size_t operator()(const DimExpr::Factor& atom) const;
  };
  struct AtomEqual {
    bool operator()(const DimExpr::Factor& a, const DimExpr::Factor& b) const;
  };

  const AtomFacts* find(const DimExpr::Factor& atom) const;
  uint32_t indexOf(const DimExpr::Factor& atom);  ///< made where there is none
  void change(uint32_t atom, AtomFacts facts);
  void addFact(Fact::Kind kind, DimExpr expr);
  void dropFact(uint32_t index);
  /// By symbol, what mentions it: positions in facts_ or atoms_, in order.
  using Mentions = std::unordered_map<DimSymbol, std::vector<uint32_t>>;
  static void mention(Mentions& mentions, const DimExpr& expr, uint32_t index);
  static void unmention(Mentions& mentions, const DimExpr& expr);  ///< the latest one
  static std::vector<uint32_t> sorted(std::vector<uint32_t> indices);
  /// Facts that mention one of the symbols of the expression, in the order in which they came.
  std::vector<uint32_t> factsAbout(const DimExpr& expr) const;
  /// Opaque atoms that do, and atoms that are equal to an expression that does.
  std::vector<uint32_t> atomsAbout(const DimExpr& expr) const;

  std::vector<AtomFacts> atoms_;
  std::unordered_map<DimExpr::Factor, uint32_t, AtomHash, AtomEqual> byAtom_;  // into atoms_
  std::vector<Fact> facts_;
  Mentions inFacts_;
  Mentions inAtoms_;   // in opaque ones
  Mentions inEquals_;  // in what atoms are equal to
  std::vector<Step> log_;
  std::vector<AtomFacts> before_;  // of the changed atoms in log_
};

}  // namespace baton
