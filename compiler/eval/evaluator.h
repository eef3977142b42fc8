// The evaluator: runs typed IR, before or after any pass, with the reference versions of
// the operators. It is slow and it is the meaning of a program: what it gives, every
// compiled form gives. It also checks what types claim of extents, so a wrong claim of
// typing or of a pass is found here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "compiler/eval/code.h"
#include "compiler/eval/value.h"
#include "compiler/ir/ir.h"

namespace baton::eval {

struct EvaluatorOptions {
  uint64_t maxSteps = UINT64_MAX;               ///< bindings, over all calls
  uint64_t maxFrames = UINT64_MAX;              ///< calls within calls
  uint64_t maxWork = UINT64_MAX;                ///< elements read and made, over all calls; see reference.h
  std::map<std::string, HostTensor> externals;  ///< by key: what `param` constants stand for
};

/// Not for use by several threads at once. The module must not change while it exists.
/// Values that hold cells must not outlive it: it empties all cells when it goes, so that
/// cycles through them go, too.
class Evaluator {
 public:
  explicit Evaluator(ir::Module& module, EvaluatorOptions options = {});
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Calls a function of the module. Arguments that do not have the types of the parameters,
  /// extents and constraints included, are InvalidArgument; a failing program is
  /// ProgramError with the trail of calls; LimitReached; Internal where a value does not
  /// have the type of its variable.
  Result<Value> call(ir::GlobalId function, std::vector<Value> arguments);

  /// A function of the module as a value.
  Value functionValue(ir::GlobalId function);
  uint64_t steps() const { return steps_; }

 private:
  struct Frame {
    const FunctionCode* code;
    const Unit* unit;
    size_t slotBase;
    size_t extentBase;
    size_t positionBase;
  };
  struct Position {
    ir::BlockId block;
    uint32_t next = 0;  ///< binding that runs next, or waits for a block or call
  };

  const FunctionCode& codeOf(ir::GlobalId function);
  Result<void> checkArguments(const ir::Function& function, const std::vector<Value>& arguments);

  Result<Value> run();
  Result<void> step(const ir::Binding& binding);
  Result<void> enter(const FunctionCode& code, const Unit& unit, std::vector<Value> arguments,
                     const Value* closure);
  Result<void> enterCall(const FunctionCode& code, const Unit& unit, std::vector<Value> arguments,
                         const Value* closure);
  Result<void> jump(const ir::CallJoin& call);
  Result<void> callOperator(const ir::Binding& binding, const ir::CallOp& call);
  Result<Value> arrayOperation(const ir::ArrayOp& rhs);
  /// Takes from what may still be done.
  Result<void> work(uint64_t elements);
  Result<void> matchClauses(const ir::Match& match);
  /// Binds the variables of the pattern; false when it does not fit.
  Result<bool> tryPattern(ir::PatternId pattern, const Value& value);
  /// The current binding gets its value, and the next one is up.
  Result<void> finish(Value value);
  Result<void> assign(ir::VarId var, Value value);
  Result<void> checkClaims(ir::VarId var, const Value& value);
  Result<void> checkObligations(const ir::Binding& binding);
  Result<Value> read(const ir::Atom& atom);
  Result<std::vector<Value>> readAll(std::span<const ir::Atom> atoms);
  Result<Value> constantValue(ir::ConstantId id);
  Value makeClosure(const ir::Binding& binding, const ir::Lambda& lambda);
  void push(ir::BlockId block) { positions_.push_back({block, 0}); }

  std::optional<int64_t>* extents() { return extents_.data() + frames_.back().extentBase; }
  std::optional<int64_t> extent(DimSymbol symbol);
  Result<int64_t> evaluate(const DimExpr& expr);
  Error located(Error error);
  Error claimError(ir::VarId var, const std::string& what);

  ir::Module& module_;
  EvaluatorOptions options_;
  std::unordered_map<ir::GlobalId, std::unique_ptr<FunctionCode>> codes_;
  std::unordered_map<ir::ConstantId, Value> constants_;
  std::vector<Frame> frames_;
  std::vector<Value> slots_;
  std::vector<std::optional<int64_t>> extents_;
  std::vector<Position> positions_;
  std::vector<Value> cells_;
  size_t cellsAtLastSweep_ = 0;
  uint64_t steps_ = 0;
  Value result_;  // of the outermost call
};

}  // namespace baton::eval
