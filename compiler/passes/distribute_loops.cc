// Loop distribution: what a counted loop computes of each row of a tensor, and of nothing that
// goes round, is computed for all rows at once before it. A product of one row with a matrix
// reads the whole matrix for little work; the product of all rows reads it once.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/extent_checks.h"
#include "compiler/passes/loops.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::CallOp;
using ir::TypeRef;
using ir::VarId;

/// A loop that runs once for i = 0, 1, ..., extent - 1, and the block that does.
struct CountedLoop {
  VarId counter;
  DimExpr extent;
  BlockId round;
};

/// A value of one round that depends on row i alone.
struct RowValue {
  size_t binding = 0;    ///< in the block of the round
  bool hasLead = false;  ///< an axis of extent 1 comes before those of the row
  bool hasProduct = false;
  bool isRow = false;         ///< the row itself: take
  VarId sameAs = ir::kNoVar;  ///< the same numbers with or without the leading axis
  bool isNeeded = false;
  Atom all = VarId();  ///< of all rows, once it is there
};

class LoopDistributor {
 public:
  LoopDistributor(ir::Module& module, ir::Function& function, const Loops& loops, const Loop& loop,
                  const Definitions& definitions, const ExtentChecks& checks)
      : module_(module),
        function_(function),
        loops_(loops),
        loop_(loop),
        definitions_(definitions),
        checks_(checks) {}
  /// Looks only. Whether there is something to move.
  bool plan();
  /// Number of operators that moved. After plan(), from outer loops to inner ones.
  size_t apply();

 private:
  bool findCounter();
  bool isOutside(const Atom& atom) const { return !atom.isVar() || !loops_.isBoundIn(atom.var(), loop_); }
  bool hasKnownType(const ir::Binding& binding) const;
  RowValue* row(const Atom& atom) {
    if (!atom.isVar()) return nullptr;
    auto at = rows_.find(atom.var());
    return at == rows_.end() ? nullptr : &at->second;
  }
  std::optional<RowValue> classify(size_t index);
  std::optional<RowValue> classifyBroadcast(size_t index, const CallOp& call);
  bool broadcastsOverRow(const Atom& atom, TypeRef result, bool hasLead);
  void materialise(const ir::Binding& binding, RowValue& value, std::vector<ir::Binding>& before);

  ir::Module& module_;
  ir::Function& function_;
  const Loops& loops_;
  const Loop& loop_;
  const Definitions& definitions_;
  const ExtentChecks& checks_;
  CountedLoop counted_;
  std::unordered_map<VarId, RowValue> rows_;  // looked up only
  std::vector<VarId> order_;                  // of them, in program order
  std::unordered_set<VarId> exits_;           // those that are used as they are
  size_t take_ = SIZE_MAX;                    // binding of the first row that is taken
};

/// `if (i < extent) { ... i + 1 ... } else { ... }`, from 0 on, with every way round in the one branch.
bool LoopDistributor::findCounter() {
  const ir::Block& body = function_.block(loop_.body);
  if (loop_.outer.size() != 1) return false;
  const ir::Binding& last = body.bindings.back();  // there is one: a loop jumps to itself
  const auto* branch = std::get_if<ir::If>(&last.rhs);
  if (branch == nullptr || body.result != Atom(last.var)) return false;
  const auto* condition = definitions_.as<CallOp>(branch->condition);
  if (condition == nullptr || (condition->op->name != "less" && condition->op->name != "greater"))
    return false;
  const bool isLess = condition->op->name == "less";
  const Atom counter = definitions_.resolve(condition->args[isLess ? 0 : 1]);
  const Atom end = condition->args[isLess ? 1 : 0];
  if (!counter.isVar() || !isOutside(definitions_.resolve(end))) return false;
  const auto at = std::find(loop_.params.begin(), loop_.params.end(), counter.var());
  const std::optional<DimExpr> extent = extentOf(module_, function_, definitions_, end);
  if (at == loop_.params.end() || !extent) return false;
  const size_t index = static_cast<size_t>(at - loop_.params.begin());
  if (splatOf(module_, definitions_, loop_.outer.front().args[index]) != 0) return false;
  for (const Loop::Jump& jump : loop_.inner) {
    if (jump.block != branch->thenBlock) return false;  // a round that always ends in the next one
    const CallOp* next = definitions_.call(jump.args[index], "add");
    if (next == nullptr) return false;
    const bool isFirst = definitions_.resolve(next->args[0]) == counter;
    if (!isFirst && definitions_.resolve(next->args[1]) != counter) return false;
    const Atom step = next->args[isFirst ? 1 : 0];
    const DType dtype = module_.typeOf(function_, step)->dtype();
    if (splatOf(module_, definitions_, step) != convertScalar(1, DType::I64, dtype)) return false;
  }
  counted_ = {counter.var(), *extent, branch->thenBlock};
  return true;
}

/// Whether extents of the value are known outside of the loop.
bool LoopDistributor::hasKnownType(const ir::Binding& binding) const {
  const TypeRef type = function_.var(binding.var).type;
  if (!type->isTensor()) return false;
  std::vector<DimSymbol> symbols;
  for (const DimExpr& dim : type->dims()) dim.collectSymbols(symbols);
  return std::none_of(symbols.begin(), symbols.end(),
                      [&](DimSymbol symbol) { return loops_.isBoundIn(symbol, loop_); });
}

/// Whether the operand is the same for all rows and lies along the axes of a row only.
bool LoopDistributor::broadcastsOverRow(const Atom& atom, TypeRef result, bool hasLead) {
  const TypeRef type = module_.typeOf(function_, atom);
  if (!isOutside(atom) || !type->isTensor()) return false;
  const size_t rank = result->dims().size() - (hasLead ? 1 : 0);
  if (type->dims().size() <= rank) return true;
  return hasLead && type->dims().size() == rank + 1 && type->dims()[0].asConstant() == 1;
}

std::optional<RowValue> LoopDistributor::classifyBroadcast(size_t index, const CallOp& call) {
  const ir::Binding& binding = function_.block(counted_.round).bindings[index];
  const TypeRef result = function_.var(binding.var).type;
  RowValue value{.binding = index};
  const RowValue* first = nullptr;
  for (const Atom& arg : call.args) {
    const RowValue* operand = row(arg);
    if (operand == nullptr) continue;
    const TypeRef type = module_.typeOf(function_, arg);
    // As many elements as a row has come out.
    if (!std::equal(type->dims().begin(), type->dims().end(), result->dims().begin(), result->dims().end()))
      return std::nullopt;
    if (first != nullptr && first->hasLead != operand->hasLead) return std::nullopt;
    first = operand;
    value.hasLead = operand->hasLead;
    value.hasProduct = value.hasProduct || operand->hasProduct;
  }
  if (first == nullptr) return std::nullopt;
  for (const Atom& arg : call.args)
    if (row(arg) == nullptr && !broadcastsOverRow(arg, result, value.hasLead)) return std::nullopt;
  return value;
}

std::optional<RowValue> LoopDistributor::classify(size_t index) {
  const ir::Binding& binding = function_.block(counted_.round).bindings[index];
  const auto* call = std::get_if<CallOp>(&binding.rhs);
  if (call == nullptr || call->args.empty() || !hasKnownType(binding)) return std::nullopt;
  const std::string_view name = call->op->name;
  const TypeRef result = function_.var(binding.var).type;
  if (name == "take") {
    // The row itself. Its check stays with whatever is taken instead.
    const TypeRef data = module_.typeOf(function_, call->args[0]);
    if (call->attrs.get<int64_t>("axis") != 0 || call->attrs.intOf("batch_dims") != 0 ||
        !isOutside(call->args[0]) || definitions_.resolve(call->args[1]) != Atom(counted_.counter) ||
        data->rank() < 2 || data->dims()[0] != counted_.extent)
      return std::nullopt;
    return RowValue{.binding = index, .isRow = true, .all = call->args[0]};
  }
  if (!binding.obligations.empty() || call->op->failure != ops::FailureKind::Never) return std::nullopt;
  const RowValue* operand = row(call->args[0]);
  if (name == "expand_dims" || name == "reshape" || name == "squeeze") {
    if (operand == nullptr || call->args.size() > 1) return std::nullopt;
    const auto data = module_.typeOf(function_, call->args[0])->dims();
    const auto plain = operand->hasLead ? data.subspan(1) : data;
    const auto found = result->dims();
    RowValue value{.binding = index, .hasProduct = operand->hasProduct, .sameAs = call->args[0].var()};
    if (std::equal(plain.begin(), plain.end(), found.begin(), found.end())) return value;
    value.hasLead = true;
    if (found.size() == plain.size() + 1 && found[0].asConstant() == 1 &&
        std::equal(plain.begin(), plain.end(), found.begin() + 1, found.end()))
      return value;
    return std::nullopt;
  }
  if (name == "nn.dense" || name == "nn.matmul" || name == "nn.bias_add") {
    if (operand == nullptr || !isOutside(call->args[1])) return std::nullopt;
    const size_t rank = result->dims().size() - (operand->hasLead ? 1 : 0);
    if (rank != 1) return std::nullopt;
    RowValue value{.binding = index, .hasLead = operand->hasLead, .hasProduct = true};
    if (name == "nn.bias_add") {
      const int64_t axis = call->attrs.intOf("axis");
      if ((axis < 0 ? axis + result->rank() : axis) != result->rank() - 1) return std::nullopt;
      value.hasProduct = operand->hasProduct;
    } else if (name == "nn.matmul" && call->attrs.boolOf("transpose_a")) {
      return std::nullopt;
    }
    return value;
  }
  const ops::FusionKind kind = call->op->fusion;
  if (kind != ops::FusionKind::Elementwise && kind != ops::FusionKind::Broadcast) return std::nullopt;
  if (std::any_of(
          call->attrs.entries().begin(), call->attrs.entries().end(),
          [](const ir::Attrs::Entry& entry) { return entry.first == "axis" || entry.first == "shape"; }))
    return std::nullopt;
  return classifyBroadcast(index, *call);
}

void LoopDistributor::materialise(const ir::Binding& binding, RowValue& value,
                                  std::vector<ir::Binding>& before) {
  if (value.isRow) return;
  if (value.sameAs != ir::kNoVar) {
    value.all = rows_.at(value.sameAs).all;
    return;
  }
  CallOp call = std::get<CallOp>(binding.rhs);
  for (Atom& arg : call.args)
    if (const RowValue* operand = row(arg)) arg = operand->all;
  if (call.op->name == "nn.bias_add") call.attrs.set("axis", int64_t{1});
  const ir::VarInfo info = function_.var(binding.var);
  std::vector<DimExpr> dims{counted_.extent};
  const auto own = info.type->dims();
  dims.insert(dims.end(), own.begin() + (value.hasLead ? 1 : 0), own.end());
  const VarId all = function_.addVar({.name = info.name + "_all",
                                      .type = module_.types.tensor(info.type->dtype(), std::move(dims)),
                                      .location = info.location});
  before.push_back({all, std::move(call), binding.location, {}});
  value.all = all;
}

bool LoopDistributor::plan() {
  if (!findCounter()) return false;
  const std::vector<ir::Binding>& bindings = function_.block(counted_.round).bindings;
  bool hasProduct = false;
  ExtentChecks::Checked checked;
  for (const ir::Binding& binding : function_.block(loop_.body).bindings) checks_.add(binding, checked);
  for (size_t i = 0; i < bindings.size(); ++i) {
    const bool staysBehind = checks_.mayRelyOn(checked, module_, function_, bindings[i]);
    checks_.add(bindings[i], checked);
    std::optional<RowValue> value = classify(i);
    if (!value || (staysBehind && !value->isRow)) continue;
    if (value->isRow) take_ = std::min(take_, i);
    hasProduct = hasProduct || value->hasProduct;
    rows_.emplace(bindings[i].var, *value);
    order_.push_back(bindings[i].var);
  }
  if (!hasProduct) return false;

  // What is used as it is, and comes from a product, is taken from the result for all rows.
  auto use = [&](const Atom& atom, bool byRow) {
    if (const RowValue* value = row(atom); value != nullptr && value->hasProduct && !byRow)
      exits_.insert(atom.var());
  };
  for (BlockId id : ir::blocksInOrder(function_, loop_.body)) {
    const ir::Block& block = function_.block(id);
    for (const ir::Binding& binding : block.bindings) {
      const bool byRow = rows_.contains(binding.var);
      ir::forEachOperand(binding.rhs, [&](const Atom& atom) { use(atom, byRow); });
    }
    use(block.result, false);
  }
  for (size_t i = order_.size(); i-- > 0;) {
    RowValue& value = rows_.at(order_[i]);
    value.isNeeded = value.isNeeded || exits_.contains(order_[i]);
    if (!value.isNeeded || value.isRow) continue;
    ir::forEachOperand(bindings[value.binding].rhs, [&](const Atom& atom) {
      if (RowValue* operand = row(atom)) operand->isNeeded = true;
    });
  }
  return !exits_.empty();
}

size_t LoopDistributor::apply() {
  std::vector<ir::Binding> bindings = std::move(function_.block(counted_.round).bindings);
  std::vector<ir::Binding> before;
  for (VarId var : order_)
    if (RowValue& value = rows_.at(var); value.isNeeded) materialise(bindings[value.binding], value, before);
  const size_t count = before.size();

  const CallOp take = std::get<CallOp>(bindings[take_].rhs);
  const std::vector<ir::Obligation> check = bindings[take_].obligations;
  std::vector<ir::Binding> done;
  for (ir::Binding& binding : bindings) {
    if (!exits_.contains(binding.var)) {
      done.push_back(std::move(binding));
      continue;
    }
    const RowValue& value = rows_.at(binding.var);
    CallOp own{take.op, take.attrs, {value.all, Atom(counted_.counter)}};
    if (!value.hasLead) {
      done.push_back({binding.var, std::move(own), binding.location, check});
      continue;
    }
    const TypeRef type = function_.var(binding.var).type;
    const auto dims = type->dims().subspan(1);
    const VarId plain = function_.addVar(
        {.name = "row",
         .type = module_.types.tensor(type->dtype(), std::vector<DimExpr>(dims.begin(), dims.end()))});
    done.push_back({plain, std::move(own), binding.location, check});
    const ops::OpDef* expand = ops::OpRegistry::instance().find("expand_dims");
    CallOp lead{expand, ops::defaultAttrs(*expand), {plain}};
    lead.attrs.set("axis", int64_t{0});
    done.push_back({binding.var, std::move(lead), binding.location, {}});
  }
  function_.block(counted_.round).bindings = std::move(done);
  ir::Block& outside = function_.block(loop_.block);
  insert(outside, indexOf(outside, loop_.var), std::move(before));
  return count;
}

Result<void> distributeLoops(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions) {
    if (isFusionGroup(function)) continue;
    const Loops loops(function);
    if (loops.all().empty()) continue;
    const Definitions definitions(function);
    const ExtentChecks checks(function);
    std::vector<LoopDistributor> found;
    for (const Loop& loop : loops.all()) {
      LoopDistributor distributor(module, function, loops, loop, definitions, checks);
      if (distributor.plan()) found.push_back(std::move(distributor));
    }
    for (LoopDistributor& distributor : found) {
      context.count("loops distributed");
      context.count("operators moved", distributor.apply());
    }
  }
  return success();
}

}  // namespace

constinit const PassInfo kDistributeLoopsPass{
    .name = "distribute-loops",
    .summary = "products of the rows of a tensor, one a round, become one product before the loop",
    .documentation =
        R"(Looks at loops of the form `if (i < n) { ... loop(i + 1, ...) } else { ... }` from 0 on, where `n` is the extent of a tensor that does not change, and at `take(x, i, axis=0)` of it. What the round computes from this row and from things that do not change - products with a matrix, biases, elementwise operators - is computed for all rows before the loop, and the round takes its row of the result. So the input product of a recurrent layer that is written word by word becomes one product for the sentence. The bits are the same, since the order of a product does not depend on how many rows there are.

Only chains with a product move, and only operators that cannot fail; loops that may be left earlier than their counter says, and products with what goes round, stay as they are.)",
    .level = 2,
    .requires_ = Property::Joins,
    .run = distributeLoops,
};

}  // namespace baton::passes
