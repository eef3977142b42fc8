// Legalisation: an operator that is made of others (Lowering = Legal in its record) is written
// with those, so that nothing after it has to know the operator.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/call_contexts.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/fold.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::TypeRef;
using ir::VarId;
using ops::TensorId;

const ir::CallOp* compositeCall(const ir::Binding& binding) {
  const auto* call = std::get_if<ir::CallOp>(&binding.rhs);
  return call != nullptr && call->op->legal != nullptr ? call : nullptr;
}

/// What is checked before the binding, or contradicts what is known: then it is never reached.
void assumeChecks(const std::vector<ir::Obligation>& obligations, DimKnowledge& knowledge) {
  for (const ir::Obligation& check : obligations)
    static_cast<void>(knowledge.assume({check.lhs, check.relation, check.rhs}).has_value());
}

/// One call, written with other operators.
class Expansion final : public ops::ExpandContext {
 public:
  /// `knowledge` has the checks of the binding; those of what is written are added.
  Expansion(ir::Module& module, ir::Function& function, ConstantPool& pool, DimKnowledge& knowledge,
            ir::Binding binding)
      : module_(module),
        function_(function),
        pool_(pool),
        knowledge_(knowledge),
        binding_(std::move(binding)),
        composite_(std::get<ir::CallOp>(binding_.rhs)),
        call_{composite_.op, &composite_.attrs, composite_.args.size()},
        type_(function.var(binding_.var).type) {
    for (const Atom& arg : composite_.args) addTensor(arg);
  }

  /// Bindings in order, which may call such operators themselves. The last one binds the
  /// variable of the call; the first has its checks.
  Result<std::vector<ir::Binding>> run() {
    BATON_TRY(composite_.op->legal(*this));
    ir::Binding last{binding_.var, {}, binding_.location, {}};
    if (type_->isTuple()) {
      ir::MakeTuple tuple;
      for (const TensorId result : results_) tuple.elements.push_back(atom(result));
      last.rhs = std::move(tuple);
    } else {
      last.rhs = ir::AtomRhs{atom(results_.at(0))};
    }
    BATON_TRY(checkTypes());
    // What was made last needs no second name, unless the names of its extents come with that.
    if (!made_.empty() && !type_->isTuple() && atom(results_[0]) == Atom(made_.back().var) &&
        typeOf(results_[0]) == type_)
      made_.back().var = binding_.var;
    else
      made_.push_back(std::move(last));
    std::vector<ir::Obligation>& first = made_.front().obligations;
    first.insert(first.begin(), std::make_move_iterator(binding_.obligations.begin()),
                 std::make_move_iterator(binding_.obligations.end()));
    return std::move(made_);
  }

  const ops::OpCall& call() const override { return call_; }
  TensorId input(size_t index) const override { return TensorId(static_cast<uint32_t>(index)); }
  DType resultType(size_t result) const override { return resultAt(result)->dtype(); }
  std::vector<DimExpr> resultDims(size_t result) const override;
  DType dtype(TensorId tensor) const override { return typeOf(tensor)->dtype(); }
  std::vector<DimExpr> dims(TensorId tensor) const override { return dimsOf(typeOf(tensor)); }
  void become(std::vector<TensorId> results) override { results_ = std::move(results); }

  TensorId scalar(DType dtype, double value) override {
    ir::Constant constant{.dtype = dtype};
    constant.bytes.resize(static_cast<size_t>(sizeBytes(dtype)));
    storeScalar(constant.bytes.data(), dtype, convertScalar(scalarBits(value), DType::F64, dtype));
    return addTensor(pool_.add(std::move(constant)));
  }

  Result<std::vector<TensorId>> makeAll(std::string_view name, const ir::Attrs& attrs,
                                        const std::vector<TensorId>& inputs) override {
    const ops::OpDef* op = ops::OpRegistry::instance().find(name);
    BATON_CHECK(op != nullptr);
    return makeCall(*op, attrs, inputs);
  }

  Result<std::vector<TensorId>> repeat(TensorId rows, const std::vector<TensorId>& states,
                                       const Round& round) override;

 private:
  static std::vector<DimExpr> dimsOf(TypeRef type) { return {type->dims().begin(), type->dims().end()}; }
  TypeRef resultAt(size_t result) const { return type_->isTuple() ? type_->elements()[result] : type_; }
  Atom atom(TensorId tensor) const { return tensors_.at(tensor.value()); }
  TypeRef typeOf(TensorId tensor) const { return module_.typeOf(function_, atom(tensor)); }

  TensorId addTensor(Atom atom) {
    tensors_.push_back(atom);
    return TensorId(static_cast<uint32_t>(tensors_.size() - 1));
  }

  VarId bind(TypeRef type, std::optional<std::vector<DimExpr>> values, ir::Rhs rhs,
             std::vector<ir::Obligation> obligations = {}) {
    const VarId var = function_.addVar({.name = function_.var(binding_.var).name,
                                        .type = type,
                                        .valueDims = std::move(values),
                                        .location = binding_.location});
    made_.push_back({var, std::move(rhs), binding_.location, std::move(obligations)});
    return var;
  }

  Result<std::vector<TensorId>> makeCall(const ops::OpDef& op, const ir::Attrs& attrs,
                                         const std::vector<TensorId>& inputs);
  /// The body of the local function that goes through the rounds, and calls itself for the next one.
  Result<ir::BlockId> makeRounds(const std::vector<VarId>& params, VarId self, TypeRef result, TensorId count,
                                 const Round& round);
  VarId bindArray(TypeRef type, ir::ArrayOperation operation, std::vector<Atom> args) {
    return bind(type, std::nullopt, ir::ArrayOp{operation, std::move(args), {}});
  }
  /// Symbols that the relations of a call made: they are of the module from now on.
  void adoptSymbols(const ops::KnownDims& relations, const std::vector<Atom>& args);
  Result<void> checkTypes() const;

  ir::Module& module_;
  ir::Function& function_;
  ConstantPool& pool_;
  DimKnowledge& knowledge_;
  ir::Binding binding_;
  const ir::CallOp& composite_;
  const ops::OpCall call_;
  const TypeRef type_;
  std::vector<Atom> tensors_;
  std::vector<TensorId> results_;
  std::vector<ir::Binding> made_;
};

/// In terms of the operands: what is written comes before the result, and with it the symbols that only
/// the result has.
std::vector<DimExpr> Expansion::resultDims(size_t result) const {
  std::vector<DimExpr> dims = dimsOf(resultAt(result));
  std::vector<DimSymbol> given;
  for (const Atom& arg : composite_.args) {
    const ops::KnownInput input = ops::knownOperand(module_, function_, arg);
    for (const DimExpr& dim : input.dims) dim.collectSymbols(given);
    for (const DimExpr& value : input.values.value_or(std::vector<DimExpr>())) value.collectSymbols(given);
  }
  const auto isGiven = [&](const DimExpr& dim) {
    std::vector<DimSymbol> symbols;
    dim.collectSymbols(symbols);
    return std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol symbol) {
      return std::find(given.begin(), given.end(), symbol) != given.end();
    });
  };
  if (std::all_of(dims.begin(), dims.end(), isGiven)) return dims;
  const std::vector<ops::TensorDims> found = ops::dimsFromOperands(module_, function_, composite_);
  for (size_t axis = 0; axis < dims.size() && !found.empty(); ++axis)
    if (!isGiven(dims[axis]) && isGiven(found[result].extents[axis]))
      dims[axis] = found[result].extents[axis];
  return dims;
}

Result<std::vector<TensorId>> Expansion::makeCall(const ops::OpDef& op, const ir::Attrs& attrs,
                                                  const std::vector<TensorId>& inputs) {
  ir::CallOp call{&op, ops::completeAttrs(op, attrs), {}};
  std::vector<ops::KnownInput> known;
  for (const TensorId input : inputs) {
    call.args.push_back(atom(input));
    known.push_back(ops::knownOperand(module_, function_, atom(input)));
    for (const DimExpr& dim : known.back().dims)
      static_cast<void>(knowledge_.assume({dim, Relation::Ge, DimExpr()}).has_value());
  }
  ops::KnownDims relations(known, knowledge_, static_cast<uint32_t>(module_.dimSymbols.size()),
                           ops::CertainFailure::StaysOpen);
  BATON_TRY_ASSIGN(ops::CallResults results, inferCall({&op, &call.attrs, inputs.size()}, known, relations));
  adoptSymbols(relations, call.args);
  std::vector<ir::Obligation> checks;
  for (const ops::OpenRequirement& open : relations.open())
    checks.push_back(
        {open.constraint.lhs, open.constraint.relation, open.constraint.rhs, open.message, open.shown});
  assumeChecks(checks, knowledge_);

  std::vector<TypeRef> types;
  for (ops::KnownInput& result : results.tensors)
    types.push_back(module_.types.tensor(result.dtype, std::move(result.dims)));
  if (!results.isTuple)
    return std::vector{
        addTensor(bind(types[0], std::move(results.tensors[0].values), std::move(call), std::move(checks)))};
  const VarId tuple = bind(module_.types.tuple(types), std::nullopt, std::move(call), std::move(checks));
  std::vector<TensorId> parts;
  for (uint32_t i = 0; i < types.size(); ++i)
    parts.push_back(addTensor(bind(types[i], std::nullopt, ir::Project{tuple, i})));
  return parts;
}

void Expansion::adoptSymbols(const ops::KnownDims& relations, const std::vector<Atom>& args) {
  for (const std::string& name : relations.freshNames()) module_.dimSymbols.add(name);
  for (const auto& [input, symbols] : relations.elementSymbols())
    if (args[input].isVar()) function_.var(args[input].var()).valueDims = symbols;
}

/// A local function that calls itself at its end. Rows are collected in an array. It is never empty: what an
/// empty array stacks to may not be known.
Result<std::vector<TensorId>> Expansion::repeat(TensorId rows, const std::vector<TensorId>& states,
                                                const Round& round) {
  const DimExpr count = dims(rows)[0];
  BATON_TRY_ASSIGN(const TensorId countTensor, extentOf(rows, 0));
  const TypeRef arrayType = module_.types.array(module_.types.erased(typeOf(states.at(0))));
  std::vector<VarId> params{function_.addVar({.name = "i", .type = module_.types.scalar(DType::I64)})};
  std::vector<TypeRef> types;
  std::vector<Atom> args{atom(scalar(DType::I64, 0))};
  for (const TensorId state : states) {
    types.push_back(typeOf(state));
    params.push_back(function_.addVar({.name = "state", .type = types.back()}));
    args.push_back(atom(state));
  }
  types.push_back(arrayType);
  params.push_back(function_.addVar({.name = "rows", .type = arrayType}));
  const VarId nothing = bindArray(arrayType, ir::ArrayOperation::New, {});
  args.push_back(bindArray(arrayType, ir::ArrayOperation::Push, {nothing, args[1]}));

  const TypeRef resultType = module_.types.tuple(types);
  const VarId self =
      function_.addVar({.name = "rounds", .type = functionType(module_, function_, params, resultType)});
  BATON_TRY_ASSIGN(const ir::BlockId body, makeRounds(params, self, resultType, countTensor, round));
  made_.push_back({self, ir::Lambda{.params = params, .body = body}, binding_.location, {}});
  const VarId last = bind(resultType, std::nullopt, ir::CallValue{self, std::move(args)});

  std::vector<TensorId> results;
  for (uint32_t i = 0; i < states.size(); ++i)
    results.push_back(addTensor(bind(types[i], std::nullopt, ir::Project{last, i})));
  const VarId collected =
      bind(arrayType, std::nullopt, ir::Project{last, static_cast<uint32_t>(states.size())});
  // All rows, the one that is there before the first round among them.
  const std::vector<DimExpr> row = dims(states[0]);
  std::vector<DimExpr> all;
  std::vector<int64_t> rowExtents;
  for (size_t axis = 0; axis <= row.size(); ++axis)
    all.push_back(DimExpr::symbol(module_.dimSymbols.add("rows")));
  for (const DimExpr& extent : row) rowExtents.push_back(extent.asConstant().value_or(-1));
  const VarId stacked = bind(module_.types.tensor(dtype(states[0]), std::move(all)), std::nullopt,
                             ir::ArrayOp{ir::ArrayOperation::Stack, {collected}, std::move(rowExtents)});
  ir::Attrs attrs;
  attrs.set("begin", std::vector<DimExpr>{DimExpr::constant(1)});
  BATON_TRY_ASSIGN(const TensorId made, make("strided_slice", attrs, {addTensor(stacked)}));
  std::vector<DimExpr> extents{count};
  extents.insert(extents.end(), row.begin(), row.end());
  BATON_TRY_ASSIGN(const TensorId sequence, reshape(made, std::move(extents)));
  results.push_back(sequence);
  return results;
}

Result<ir::BlockId> Expansion::makeRounds(const std::vector<VarId>& params, VarId self, TypeRef result,
                                          TensorId count, const Round& round) {
  std::vector<ir::Binding> outside = std::exchange(made_, {});
  const DimKnowledge::Mark mark = knowledge_.mark();
  const TensorId number = addTensor(params[0]);
  std::vector<TensorId> states;
  for (size_t i = 1; i + 1 < params.size(); ++i) states.push_back(addTensor(params[i]));

  BATON_TRY_ASSIGN(const std::vector<TensorId> next, round(number, states));
  BATON_TRY_ASSIGN(const TensorId following, make("add", {}, {number, scalar(DType::I64, 1)}));
  std::vector<Atom> args{atom(following)};
  for (size_t i = 0; i < states.size(); ++i) {
    // One type for all rounds: an extent may have two names.
    const bool isSame = typeOf(next.at(i)) == typeOf(states[i]);
    BATON_TRY_ASSIGN(const TensorId state,
                     isSame ? Result<TensorId>(next[i]) : reshape(next[i], dims(states[i])));
    args.push_back(atom(state));
  }
  const TypeRef arrayType = function_.var(params.back()).type;
  args.push_back(bindArray(arrayType, ir::ArrayOperation::Push, {params.back(), args[1]}));
  const VarId called = bind(result, std::nullopt, ir::CallValue{self, std::move(args)});
  const ir::BlockId goOn = function_.addBlock();
  function_.block(goOn).bindings = std::exchange(made_, {});
  function_.block(goOn).result = called;

  ir::MakeTuple last;
  for (size_t i = 1; i < params.size(); ++i) last.elements.emplace_back(params[i]);
  const VarId given = bind(result, std::nullopt, std::move(last));
  const ir::BlockId end = function_.addBlock();
  function_.block(end).bindings = std::exchange(made_, {});
  function_.block(end).result = given;

  BATON_TRY_ASSIGN(const TensorId isLeft, make("less", {}, {number, count}));
  const VarId chosen = bind(result, std::nullopt, ir::If{atom(isLeft), goOn, end});
  const ir::BlockId body = function_.addBlock();
  function_.block(body).bindings = std::exchange(made_, std::move(outside));
  function_.block(body).result = chosen;
  knowledge_.rollback(mark);
  return body;
}

/// What was written gives tensors of the types that typing found, extents aside: those it may
/// name in another way.
Result<void> Expansion::checkTypes() const {
  const size_t count = type_->isTuple() ? type_->elements().size() : 1;
  bool fits = results_.size() == count;
  for (size_t i = 0; fits && i < count; ++i)
    fits = module_.types.erased(typeOf(results_[i])) == module_.types.erased(resultAt(i));
  if (fits) return success();
  return Error(ErrorCode::Internal,
               fmt::format("{}: written with operators that give another type", composite_.op->name));
}

class Legalizer {
 public:
  Legalizer(ir::Module& module, ir::Function& function, ConstantPool& pool, PassContext& context)
      : module_(module), function_(function), pool_(pool), context_(context) {}

  Result<void> run() {
    const std::vector<ir::BlockId> blocks = ir::blocksInOrder(function_, function_.body);
    const bool hasWork = std::any_of(blocks.begin(), blocks.end(), [&](ir::BlockId id) {
      const std::vector<ir::Binding>& bindings = function_.block(id).bindings;
      return std::any_of(bindings.begin(), bindings.end(), compositeCall);
    });
    if (!hasWork) return success();
    knowledge_ = entryKnowledge(function_).value_or(DimKnowledge());
    Result<void> result = success();
    ir::walk(function_, function_.body,
             {.enterBlock = [&](ir::BlockId) { open_.push_back({knowledge_.mark(), {}}); },
              .enterBinding =
                  [&](ir::BlockId id, size_t index) {
                    const ir::Binding& binding = function_.block(id).bindings[index];
                    assumeChecks(binding.obligations, knowledge_);
                    if (result.has_value() && compositeCall(binding) != nullptr)
                      result = expand(binding, index);
                    return true;
                  },
              .enterChild = {},
              .leaveBinding = {},
              .leaveBlock = [&](ir::BlockId id) { leave(function_.block(id)); }});
    return result;
  }

 private:
  /// A block that is walked: what was known before it, and what takes the place of its bindings.
  struct Open {
    DimKnowledge::Mark mark;
    std::vector<std::pair<size_t, std::vector<ir::Binding>>> replaced;
  };

  Result<void> expand(const ir::Binding& binding, size_t index) {
    std::vector<ir::Binding> pending{binding};
    std::vector<ir::Binding> done;
    while (!pending.empty()) {
      ir::Binding next = std::move(pending.back());
      pending.pop_back();
      if (compositeCall(next) == nullptr) {
        done.push_back(std::move(next));
        continue;
      }
      Expansion expansion(module_, function_, pool_, knowledge_, std::move(next));
      BATON_TRY_ASSIGN(std::vector<ir::Binding> made, expansion.run());
      context_.count("operators written with others");
      pending.insert(pending.end(), std::make_move_iterator(made.rbegin()),
                     std::make_move_iterator(made.rend()));
    }
    open_.back().replaced.emplace_back(index, std::move(done));
    return success();
  }

  void leave(ir::Block& block) {
    Open open = std::move(open_.back());
    open_.pop_back();
    knowledge_.rollback(open.mark);
    if (open.replaced.empty()) return;
    std::vector<ir::Binding> bindings;
    size_t from = 0;
    const auto keep = [&](size_t end) {
      for (; from < end; ++from) bindings.push_back(std::move(block.bindings[from]));
    };
    for (auto& [index, made] : open.replaced) {
      keep(index);
      for (ir::Binding& binding : made) bindings.push_back(std::move(binding));
      ++from;
    }
    keep(block.bindings.size());
    block.bindings = std::move(bindings);
  }

  ir::Module& module_;
  ir::Function& function_;
  ConstantPool& pool_;
  PassContext& context_;
  DimKnowledge knowledge_;
  std::vector<Open> open_;
};

Result<void> legalize(ir::Module& module, PassContext& context) {
  ConstantPool pool(module);
  for (ir::Function& function : module.functions) BATON_TRY(Legalizer(module, function, pool, context).run());
  return success();
}

}  // namespace

constinit const PassInfo kLegalizePass{
    .name = "legalize",
    .summary = "operators that are made of others become those",
    .documentation =
        R"(Writes each call of an operator that is made of others with those, until only operators are left that have kernels of their own: `cast_like` becomes `cast`, `nn.batch_flatten` becomes `reshape`, and what says on which device a value is wanted becomes the value. Such an operator has types and a reference version, with which the evaluator runs programs as they were written; no pass after this one and no part of the lowering knows it. `operators.md` says which ones are. One that goes over a sequence (`lstm`) becomes a local function that calls itself for the next step, like a loop that a program has.

Types of what is written follow from the relations of its operators. The checks of the call stay with the first of them, and an operator gets a check of its own where what the call checked does not imply it. Places in the program are those of the call.

`nn.softmax` and the like stay: they are expanded inside of a kernel. `annotation.stop_fusion` stays: it is a view of its operand that `fuse` does not look through.)",
    .establishes = Property::Legal,
    .run = legalize,
};

}  // namespace baton::passes
