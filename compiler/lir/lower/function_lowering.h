// Lowering of one function: walks its blocks with an explicit stack of tasks and appends
// instructions to blocks of the low-level form.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/lir/lir.h"
#include "compiler/lir/lower/kernel_table.h"
#include "compiler/lir/lower/module_lowering.h"
#include "compiler/lir/lower/scoped_map.h"
#include "compiler/lir/lower/value.h"
#include "compiler/lir/operands.h"
#include "compiler/ops/direct.h"

namespace baton::lir {

class FunctionLowering {
 public:
  FunctionLowering(ModuleLowering& module, const PendingFunction& pending);

  Result<void> run();
  /// Where it failed.
  SourceLocation location() const { return location_; }

 private:
  Result<void> lowerBody();
  void callWrapped();
  void bindCaptures(const ClosureSource& closure);

  //===-- Values (values.cc) -------------------------------------------------===//

  struct TupleValue {
    std::vector<Value> elements;
    std::vector<ir::TypeRef> types;
  };
  struct DimsValue {
    DType dtype = DType::I64;
    bool isScalar = false;
    std::vector<DimExpr> elements;
  };
  struct ValueHash {
    size_t operator()(const Value& value) const {
      return std::hash<uint64_t>()(uint64_t{value.index} << 8 | static_cast<uint64_t>(value.form));
    }
  };

  Value valueOf(const ir::Atom& atom) const;
  ir::TypeRef typeOf(const ir::Atom& atom);
  /// The value in one register, made where that is needed.
  Result<Register> toRegister(Value value, ir::TypeRef type);
  Result<Register> toRegister(const ir::Atom& atom) { return toRegister(valueOf(atom), typeOf(atom)); }
  Result<Register> leafRegister(Value value, ir::TypeRef type);
  Result<Register> materialiseDims(const DimsValue& dims);
  Value addTuple(std::vector<Value> elements, std::vector<ir::TypeRef> types);
  Value addDims(DimsValue dims);
  /// Elements of a value of tuple type.
  std::vector<Value> elementsOf(Value value, ir::TypeRef tuple);
  Register field(Register object, ir::TypeRef type, uint32_t constructor, size_t index,
                 ir::TypeRef fieldType);
  Result<Register> makeObject(TypeIndex type, uint32_t constructor, std::span<const Value> fields,
                              std::span<const ir::TypeRef> types, Kind kind);

  /// How a variable is passed to a block: taken apart into registers.
  struct Leaf {
    Kind kind;
    ir::TypeRef type = nullptr;  ///< null for an element of a shape
    uint32_t index = 0;          ///< of the element of a tuple or shape
  };
  std::vector<Leaf> leavesOf(ir::TypeRef type, const std::optional<std::vector<DimExpr>>& valueDims);
  std::vector<Leaf> leavesOf(ir::VarId var);
  Result<void> appendLeaves(Value value, ir::TypeRef type, std::span<const Leaf> leaves,
                            std::vector<Register>& out);
  Value fromLeaves(ir::VarId var, std::span<const Leaf> leaves, std::span<const Register> registers);
  static Kind shapeElementKind() { return Kind::scalar(DType::I64); }

  /// Gives a variable its value and learns what it tells about dims.
  void bind(ir::VarId var, Value value);

  //===-- Dims (dims.cc) -----------------------------------------------------===//

  bool tellsSymbols(ir::TypeRef tuple) const;
  void learnSymbols(ir::TypeRef type, Value value);
  void learnElements(ir::VarId var, Value value);
  bool isKnown(DimSymbol symbol) const { return symbols_.find(symbol) != nullptr; }
  bool isKnown(const DimExpr& expr) const;
  enum class DimUse : uint8_t { Extent, Number };
  /// An i64 register. An extent is an error at run time when it is negative or too large; a
  /// number may be negative.
  Result<Register> dim(const DimExpr& expr, DimUse use);
  Result<Register> dimSum(const DimExpr& expr, DimUse use);
  /// `replaced`, a factor of the term, counts as `part`.
  Result<Register> dimProduct(const DimExpr::Term& term, int64_t coefficient, DimUse use,
                              const DimExpr::Factor* replaced, Register part);
  const DimExpr::Factor* factorOfEitherSign(const DimExpr::Term& term) const;
  Register partOfSign(Register value, bool positive);
  Result<Register> dimOpaque(const DimOpaque& opaque);
  Result<std::vector<Register>> extentsOf(ir::TypeRef tensor);
  Result<void> checkObligations(const ir::Binding& binding);
  std::string symbolName(DimSymbol symbol) const;

  //===-- Operators and kernels (operators.cc) ------------------------------===//

  Result<void> callOperator(const ir::Binding& binding);
  Result<void> computeOwnExtents(const ir::Binding& binding);
  Result<bool> tryDirect(const ir::Binding& binding);
  Result<void> scalarOperator(const ir::Binding& binding, const ops::ScalarRecipe& recipe);
  Result<void> view(const ir::Binding& binding);
  Result<Register> outerIndex(const ir::Binding& binding, const ir::Atom& index, Register extent);
  struct KernelResults {
    Value value;
    std::vector<Register> tensors;  // allocated
    std::vector<Register> scalars;  // not yet defined
  };
  Result<KernelResults> allocateResults(ir::TypeRef type);
  /// Computes the extents of the result, or those of an operand have been: one of them fails.
  Result<void> allocateUnreached(const ir::Binding& binding);
  Result<void> callKernel(const ir::Binding& binding, const KernelCall& call);

  //===-- Calls and data (calls.cc, arrays.cc) -----------------------------------------===//

  struct Arguments {
    std::vector<Register> scalars;
    std::vector<Register> references;
  };
  Result<Arguments> arguments(std::span<const ir::Atom> atoms);
  Result<void> callGlobal(const ir::Binding& binding, const ir::CallGlobal& call, bool isTail);
  Result<void> callValue(const ir::Binding& binding, const ir::CallValue& call, bool isTail);
  /// Result registers for a call; the variable is bound to them.
  Arguments results(ir::VarId var, std::vector<Register>& leaves);
  Result<void> construct(const ir::Binding& binding, const ir::Construct& construct);
  Result<void> makeClosure(const ir::Binding& binding, const ir::Lambda& lambda);
  std::vector<DimSymbol> symbolsInside(const ir::Lambda& lambda, const std::vector<ir::VarId>& free) const;
  Result<void> makeCell(const ir::Binding& binding, const ir::MakeRef& make);
  Result<void> readCell(const ir::Binding& binding, const ir::ReadRef& read);
  Result<void> writeCell(const ir::Binding& binding, const ir::WriteRef& write);
  Result<void> arrayOperation(const ir::Binding& binding, const ir::ArrayOp& rhs);

  //===-- Control flow (control.cc) -----------------------------------------===//

  /// Where the result of a block goes.
  struct Destination {
    bool isReturn = false;
    BlockId block = lir::kNoBlock;  ///< otherwise: the block that goes on,
    ir::VarId var = ir::kNoVar;     ///< the variable that it binds,
    uint32_t leaves = 0;            ///< and how it is passed, in continuations_
  };
  static constexpr size_t kScopeCount = 4;
  struct Task {
    enum class Kind : uint8_t { Start, Resume, LeaveScope };
    Kind kind = Kind::Start;
    ir::BlockId source;
    size_t index = 0;  ///< Resume: the binding to go on with
    BlockId block;
    Destination destination;
    Destination bound;                     ///< Resume: what was waited for
    size_t marks[kScopeCount] = {};        ///< LeaveScope
    ir::VarId join = ir::kNoVar;           ///< Start: the join whose body it is
    std::optional<ir::PatternId> pattern;  ///< Start: bound to the scrutinee
    Value scrutinee;
    ir::TypeRef scrutineeType = nullptr;
  };
  Result<void> runTasks();
  Result<void> start(const Task& task);
  Result<void> resume(const Task& task);
  /// Lowers bindings from `index` on; leaves tasks where control flow goes elsewhere.
  Result<void> lowerBindings(ir::BlockId source, size_t index, const Destination& destination);
  Result<void> lowerSimple(const ir::Binding& binding);
  Result<void> deliver(const ir::Atom& result, const Destination& destination);
  Destination continuation(ir::VarId var, ir::BlockId source, size_t next, const Destination& outer,
                           bool isTail);
  Result<void> branch(const ir::If& branch, const Destination& destination);
  Result<void> match(const ir::Match& match, const Destination& destination);
  struct TagTarget {
    uint32_t tag;
    BlockId block;
  };
  /// Where fewer than one constructor in so many has a clause of its own, the tag is searched among
  /// those: a table for each of many matches would grow with the square of the program.
  static constexpr size_t kSparse = 8;
  void switchTag(Register object, ir::TypeRef type, size_t constructorCount,
                 const std::vector<TagTarget>& named, std::optional<BlockId> otherwise);
  void searchTag(Register object, std::vector<TagTarget> named, BlockId otherwise);
  void startLater(ir::BlockId source, BlockId block, const Destination& destination);
  void defineJoin(ir::VarId var, const ir::Lambda& join, const Destination& destination);
  Result<void> jumpToJoin(const ir::CallJoin& call);
  Result<void> bindPattern(ir::PatternId pattern, Value scrutinee, ir::TypeRef type);
  void failHere(std::string_view message);
  bool isInTail(const ir::Binding& binding, ir::BlockId source, size_t index) const;

  //===-- Instructions -------------------------------------------------------===//

  void emit(Opcode opcode, std::initializer_list<Operand> operands);
  Register newRegister(Kind kind) { return out_.addRegister(kind); }
  Register emitDef(Opcode opcode, Kind kind, std::initializer_list<Operand> operandsAfter);
  /// By mnemonic; one result, scalar operands.
  Register emitScalar(std::string_view mnemonic, Kind kind, std::initializer_list<Register> operands);
  Register scalarConstant(DType dtype, uint64_t bits);
  Register castTo(Register reg, DType from, DType to);
  BlockId newBlock() { return out_.addBlock(); }
  Error unsupported(std::string message) const;

  ModuleLowering& module_;
  const PendingFunction& pending_;
  const ir::Function& function_;
  Function out_;
  BlockId current_ = kEntryBlock;
  SourceLocation location_;
  NameId name_;
  ir::TypeRef resultType_ = nullptr;

  std::unordered_map<ir::VarId, Value> values_;
  std::vector<TupleValue> tuples_;
  std::vector<DimsValue> dims_;
  struct JoinInfo {
    BlockId block;
    std::vector<ir::VarId> params;
    std::vector<std::vector<Leaf>> leaves;
  };
  std::unordered_map<ir::VarId, JoinInfo> joins_;
  std::vector<std::vector<Leaf>> continuations_;

  struct ConstantKey {
    DType dtype;
    uint64_t bits;
    friend bool operator==(const ConstantKey&, const ConstantKey&) = default;
  };
  struct ConstantHash {
    size_t operator()(const ConstantKey& key) const {
      return std::hash<uint64_t>()(key.bits * 31 + static_cast<uint64_t>(key.dtype));
    }
  };
  struct DimKeyHash {
    size_t operator()(const std::pair<DimExpr, DimUse>& key) const {
      return key.first.hash() * 2 + static_cast<size_t>(key.second);
    }
  };
  // What was computed, in the scopes that see it.
  ScopedMap<DimSymbol, Register> symbols_;
  std::unordered_set<DimSymbol> elementSymbols_;  ///< what they stand for may be negative
  ScopedMap<std::pair<DimExpr, DimUse>, Register, DimKeyHash> dimRegisters_;
  ScopedMap<Value, Register, ValueHash> materialised_;
  ScopedMap<ConstantKey, Register, ConstantHash> scalarConstants_;

  std::vector<Task> tasks_;
};

}  // namespace baton::lir
