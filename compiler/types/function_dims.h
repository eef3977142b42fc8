// Dims of one function: rounds over its blocks, forward, until nothing changes. Branches,
// joins and local functions that are only called are followed edge by edge (DimJoin);
// function values and cells through what arrives at their type (DimCells).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/dim.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/walk.h"
#include "compiler/types/dim_join.h"
#include "compiler/types/dim_scope.h"
#include "compiler/types/dim_types.h"

namespace baton::types {

class ModuleDims;

/// Something that is called from known places: a function of the module, a join, or a
/// local function that is never a value. Slots of its join are, parameter by parameter,
/// the positions of the type and then the elements of a small integer tensor.
struct Callable {
  ir::VarId binder = ir::kNoVar;    ///< of a local function; kNoVar: a function of the module
  ir::BlockId body = ir::kNoBlock;  ///< of a local function
  bool isGlobal() const { return binder == ir::kNoVar; }
  std::vector<ir::VarId> params;
  std::vector<ir::TypeRef> shapes;    ///< of the parameters, erased
  std::vector<ir::TypeRef> declared;  ///< by parameter; null: not declared
  ir::TypeRef resultShape = nullptr;  ///< erased
  bool isShadow = false;              ///< nothing calls it
  bool trustsData = false;            ///< extents inside data are as declared: they are checked at entry
  std::vector<size_t> valueCounts;    ///< elements kept, by parameter; decided by the first call
  struct SlotOwner {
    ir::VarId param;
    size_t position;  ///< among the slots of the parameter
  };
  std::vector<SlotOwner> slotOwners;  ///< by slot of the join
  std::optional<DimJoin> join;
  size_t resultValueCount = 0;
  std::optional<DimJoin> result;
  Fact resultFact;
};

class FunctionDims {
 public:
  FunctionDims(ModuleDims& module, ir::GlobalId id);

  Callable& callable() { return self_; }
  bool isReached() const { return self_.join && self_.join->isReached(); }
  /// A call from outside the program: extents are as declared or anything.
  void callFromOutside();
  /// A call through a function value.
  void callThroughValue(ir::TypeRef functionType);
  /// A call from another function (or this one). True when it says something new.
  bool addCall(uint64_t edgeId, std::span<const Fact> args);

  /// Rounds until nothing changes here. Others are notified through ModuleDims. Interrupted,
  /// with the function whose result is wanted first, when a call is met whose callee has not
  /// been looked at; then it goes on from there.
  std::optional<ir::GlobalId> run();
  /// Lets the first call that never returns return anything, so that what follows has
  /// types; false when there is none.
  bool forceReturn();
  /// From now on what nothing reaches has types, too: extents there are anything, and
  /// nothing of it counts where it meets what is reached.
  void startShadow();
  /// Once all functions are stable: types, obligations and messages.
  void finish(bool isCertain);

  const ir::Function& function() const { return function_; }

 private:
  friend class OperatorDims;
  enum class SymbolKind : uint8_t { Extent, Fresh, Element, CallResult, Result };

  // Set-up.
  void prepare();
  void findDirectLambdas();
  void ownDeclaredDims(ir::VarId var, ir::TypeRef declared, bool isSymbol);

  // A round (function_dims.cc).
  void startRound();
  std::optional<ir::GlobalId> walkOn();
  void walkLater(ir::BlockId root);
  void finishRound();
  void round();
  bool enterBinding(ir::BlockId block, size_t index);
  void enterChild(ir::BlockId block, size_t index, size_t child, ir::BlockId childBlock);
  void leaveBinding(ir::BlockId block, size_t index);
  void set(ir::VarId var, Fact fact);
  bool enterLambda(const ir::Binding& binding, const ir::Lambda& lambda);
  Fact evaluate(const ir::Binding& binding);
  void checkParameter(ir::BlockId body, ir::VarId var, ir::TypeRef type, size_t position,
                      const DimExpr& found, const DimExpr& written);
  void failsHere(ir::VarId var);
  void cutFailing();
  void finishLambda(const ir::Binding& binding, const ir::Lambda& lambda);

  // Where facts meet (function_dims_joins.cc).
  Fact factFrom(ir::TypeRef shape, const DimJoin::Edge& state, size_t firstSlot, size_t valueCount);
  void createJoin(Callable& callee, std::span<const Fact> args);
  DimJoin::Edge edgeOf(const Callable& callee, std::span<const Fact> args);
  bool updateJoin(Callable& callee, uint64_t edgeId, DimJoin::Edge edge);
  void giveParams(const Callable& callable);
  bool updateResult(Callable& callable, const Fact& fact);
  bool applyResult(Callable& callable, DimJoin::Edge edge);
  bool forceResult(Callable& callee);
  Fact joinBlocks(const ir::Binding& binding, std::span<const ir::BlockId> blocks);

  // Facts about data (function_dims_data.cc).
  Fact factOf(const ir::Atom& atom);
  Fact readable(ir::VarId var, ir::TypeRef type);  ///< `?` of plain positions become symbols of the variable
  /// False when no value can get there.
  bool bindPattern(ir::PatternId pattern, ir::TypeRef scrutinee);
  ir::TypeRef dataType(ir::TypeRef shape, const ir::Construct& rhs);
  Fact construct(const ir::Binding& binding, const ir::Construct& rhs);
  ir::TypeRef unknownData(ir::TypeRef type);  ///< kNoDim to `?`
  Fact refine(ir::VarId var, ir::TypeRef declared, Fact fact, SourceLocation location);
  DimExpr resolveNamed(const DimExpr& dim) const;

  // Arrays (function_dims_arrays.cc).
  Fact arrayOperation(const ir::Binding& binding, const ir::ArrayOp& rhs);
  Fact emptyArray(const ir::Binding& binding);
  void noteRowExtents(ir::ArrayOp& rhs);

  // Calls (function_dims_calls.cc).
  Fact call(const ir::Binding& binding, Callable& callee, std::span<const ir::Atom> args,
            std::string_view name, std::span<const DimConstraint> where);
  Fact callValue(const ir::Binding& binding, const ir::CallValue& rhs);
  bool reachFromAnywhere(Callable& callee);
  /// The binding of a variable; null for parameters and variables of patterns.
  const ir::Binding* definitionOf(ir::VarId var) const;
  ir::Atom resolveAlias(ir::Atom atom) const;
  Callable* localCallable(const ir::Atom& callee);
  bool forceReturn(const ir::Binding& binding);

  // Symbols and checks (function_dims_symbols.cc).
  static uint64_t symbolKey(ir::VarId owner, SymbolKind kind, uint32_t ordinal);
  DimExpr symbol(ir::VarId owner, SymbolKind kind, uint32_t ordinal, std::string_view hint);
  DimExpr extentSymbol(ir::VarId owner, size_t position);
  /// Stands for an element of an integer tensor of rank 0 or 1.
  DimExpr elementSymbol(ir::VarId owner, size_t element, ir::TypeRef type);
  bool isInScope(const DimExpr& dim, ir::VarId at) const;
  bool isOwnedBy(DimSymbol symbol, const Callable& callable) const;
  Result<void> require(const DimExpr& lhs, Relation relation, const DimExpr& rhs, std::string message,
                       std::vector<DimExpr> shown = {});
  void reportFailure(const ir::Binding& binding, const std::string& message, std::optional<size_t> operand);
  void report(SourceLocation location, bool isCertain, const std::string& message, const std::string& detail);
  SourceLocation operandLocation(const ir::Binding& binding, std::optional<size_t> operand) const;
  void changed() { isStable_ = false; }
  /// From here to the end of the block.
  void assumeChecked(const DimConstraint& constraint);

  // Declared types (function_dims_checks.cc).
  /// Messages about an extent {0} where {1} is declared: of the compiler, which prints extents, and of
  /// the run, which prints numbers.
  struct Mismatch {
    std::string certain;
    std::string atRun;
  };
  Mismatch mismatch(const std::string& place, const DimExpr& written, const DimExpr& expected) const;
  struct Demand {
    struct Check {
      ir::Obligation obligation;
      std::string certain;  ///< the message when it certainly fails
    };
    std::vector<DimExpr> dims;
    std::vector<Check> checks;
  };
  Demand demandOf(ir::TypeRef declared, ir::TypeRef type, const std::string& what) const;
  bool isKnownSymbol(DimSymbol symbol) const;
  void checkResult(ir::BlockId body, ir::TypeRef declared, const std::string& what, SourceLocation location,
                   bool isCertain);
  void insertChecks();

  ModuleDims& module_;
  ir::GlobalId id_;
  ir::Function& function_;
  DimScope scope_;
  DimKnowledge knowledge_;             // what has been checked on the way to the binding at hand
  DimKnowledge::Mark everywhere_ = 0;  // and what holds everywhere
  struct SavedKnowledge {
    ir::BlockId block;
    DimKnowledge::Mark before;
  };
  std::vector<SavedKnowledge> saved_;  // of open blocks in which something was checked
  std::vector<ir::BlockId> openBlocks_;
  // Of a round that is under way: the function's own walk, and those of local functions that are
  // looked at when they are called, since nothing was known of the call where they stand.
  std::vector<std::unique_ptr<ir::Walker>> walkers_;
  std::vector<Callable*> calledLocals_;      // whose bodies those are
  std::optional<ir::GlobalId> wantedFirst_;  // what the innermost walk was interrupted for
  Callable* wantedLocal_ = nullptr;
  Callable self_;
  std::vector<Fact> facts_;          // by variable
  std::vector<ir::TypeRef> shapes_;  // by variable, erased
  std::unordered_map<ir::VarId, const ir::Binding*> definitions_;
  std::unordered_map<ir::VarId, ir::Atom> aliases_;  // what they stand for in the end
  std::unordered_map<ir::VarId, const Callable*> paramOf_;
  std::unordered_map<ir::VarId, std::unique_ptr<Callable>> lambdas_;  // direct ones
  std::unordered_map<ir::VarId, DimJoin> branches_;
  std::unordered_map<ir::VarId, std::vector<DimExpr>> tied_;  // elements that got symbols
  std::unordered_map<DimSymbol, DimExpr> named_;              // what a declared name turned out to be
  std::unordered_map<uint64_t, DimSymbol> symbols_;
  std::unordered_map<DimSymbol, ir::VarId> owners_;   // who gives a symbol its value
  std::unordered_map<DimSymbol, ir::VarId> claimed_;  // names that stand for what is found at a variable
  std::vector<bool> isReachedBlock_;                  // in this round
  std::vector<ir::VarId> failing_;                    // by block: the first operator that certainly fails
  ir::BlockId deadBlock_ = ir::kNoBlock;              // nothing in it is looked at
  bool isStable_ = false;
  bool hasShadow_ = false;                  // unreached parts are looked at
  bool isShadow_ = false;                   // the whole function is one
  ir::BlockId shadowBlock_ = ir::kNoBlock;  // the outermost block that is one
  std::vector<bool> isShadowBlock_;
  bool inShadow() const { return isShadow_ || shadowBlock_ != ir::kNoBlock; }
  void arrive(ir::TypeRef functionOrCell, size_t index, ir::TypeRef value);
  std::unordered_map<ir::VarId, ir::Attrs> explicitAttrs_;  // of calls that get others, from the final round
  bool isFinal_ = false;
  bool isCertain_ = false;
  /// Checks of declared types, which come after a binding: the variable, and what must hold.
  struct DeclaredCheck {
    ir::VarId var;         ///< kNoVar: the result of the function; a local function: its result
    ir::TypeRef inferred;  ///< as found, before the declaration counted
    std::vector<ir::Obligation> obligations;
  };
  std::vector<DeclaredCheck> declaredChecks_;
  std::vector<std::pair<ir::BlockId, ir::Obligation>> parameterChecks_;  // at the start of a local function
  std::vector<ir::Obligation>* obligations_ = nullptr;  // of the binding at hand, in the final round
};

}  // namespace baton::types
