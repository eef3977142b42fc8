// Structural inference: dtypes, ranks, data types and function types of a whole program
// by unification. Operators contribute relations that wait until enough of their inputs
// is known. Functions and local functions are polymorphic in the parameters that they
// declare, and in nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/op.h"
#include "compiler/types/term.h"

namespace baton::types {

/// An operand of a binding, where a polymorphic function may be used. The callee of a
/// direct call has operand kCallee; the result of a block has binding kResult.
struct Occurrence {
  static constexpr uint32_t kCallee = UINT32_MAX;
  static constexpr uint32_t kResult = UINT32_MAX;
  ir::BlockId block;
  uint32_t binding = 0;
  uint32_t operand = 0;
  friend bool operator==(const Occurrence&, const Occurrence&) = default;
};
struct OccurrenceHash {
  size_t operator()(const Occurrence& at) const {
    return (static_cast<size_t>(at.block.value()) * 1000003 + at.binding) * 1000003 + at.operand;
  }
};

/// How messages call a variable: "%x", or "the value" when it has no name.
std::string nameOf(const ir::VarInfo& info);

/// What inference found out about one function.
struct FunctionStructure {
  std::vector<Term> vars;  ///< by VarId
  Term result;
  /// What the generics of a polymorphic function stand for at a use of it, in their order.
  std::unordered_map<Occurrence, std::vector<Term>, OccurrenceHash> instantiations;
};

class Structure {
 public:
  Structure(ir::Module& module, frontend::Diagnostics& diagnostics);

  /// Errors are in the diagnostics; results are usable when there are none.
  void infer();

  TermTable& terms() { return terms_; }
  const FunctionStructure& of(ir::GlobalId id) const { return functions_[id.value()]; }
  /// Of a data type without constructors.
  bool hasNoValues(ir::GlobalId function, ir::Atom atom);

 private:
  friend class OperatorStructure;

  /// Something that waits for unknown terms to become known.
  struct Pending {
    enum class Kind : uint8_t { Operator, Instantiate, Project, RowRank };
    Kind kind;
    uint32_t function = 0;
    ir::BlockId block;
    uint32_t binding = 0;
    std::vector<Term> inputs;  // Operator: as written; Instantiate: the original; Project: the tuple;
                               // RowRank: of rows, of the tensor
    Term result;
    TermEnvironment environment;  // Instantiate
    bool isDone = false;
    SourceLocation location = {};  // Instantiate: of the use
  };
  enum class Outcome : uint8_t { Done, NotYet };

  void declareSignatures();
  void inferBody(uint32_t function);
  void inferBinding(ir::BlockId block, uint32_t index);
  void finishBinding(ir::BlockId block, uint32_t index);
  void inferPattern(ir::PatternId pattern, Term scrutinee);
  void inferLambda(const ir::Binding& binding, const ir::Lambda& lambda);
  void inferArray(ir::BlockId block, uint32_t index, const ir::ArrayOp& rhs);
  Term operand(const ir::Atom& atom, Occurrence at);
  Term constantTerm(const ir::Constant& constant);
  Term globalTerm(ir::GlobalId id, Occurrence at);
  Term instantiate(Term term, const TermEnvironment& environment);
  TermEnvironment freshArguments(const std::vector<ir::TypeVarId>& generics, std::vector<Term>* inOrder);
  /// Constructor fields and the type that they make, with fresh arguments.
  Term constructorTerms(ir::ConstructorRef constructor, std::vector<Term>& fields);
  void callFunction(ir::BlockId block, uint32_t index, Term callee, const std::string& name,
                    const std::vector<ir::Atom>& args);
  /// Reports on failure. `what` is "argument 1 of @f".
  bool require(Term found, Term expected, SourceLocation location, const std::string& what);
  SourceLocation operandLocation(ir::VarId var, size_t operand, SourceLocation fallback) const;

  void add(Pending pending);
  void drain();
  Outcome attempt(Pending& pending);
  Outcome attemptProject(Pending& pending);
  Outcome attemptRowRank(Pending& pending);
  void wait(uint32_t pending);
  void settleInstances();
  void reportUnresolved();

  ir::Module& module_;
  frontend::Diagnostics& diagnostics_;
  TermTable terms_;
  std::vector<FunctionStructure> functions_;
  std::deque<Pending> pending_;
  std::deque<uint32_t> ready_;
  std::unordered_map<Term, std::vector<uint32_t>> waiting_;

  // Of the function whose body is walked.
  uint32_t current_ = 0;
  ir::Function* function_ = nullptr;
  SourceLocation location_;  // of the binding at hand
  struct VarFacts {
    const ir::Rhs* definition = nullptr;
    std::optional<int64_t> firstExtent;                // of a tensor that has axes
    std::vector<std::optional<int64_t>> firstExtents;  // of the elements of an operator's tuple
  };
  std::vector<std::vector<VarFacts>> facts_;                      // by function, by variable
  std::unordered_map<ir::VarId, const ir::Lambda*> polymorphic_;  // outside their own body
};

}  // namespace baton::types
